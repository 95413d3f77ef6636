"""Steps on rows that no process holds all at once: on disk here, or on an engine's workers.

Rows are numbered. If there are persons, the rows of each are brought together, and each answer
chooses those that count. Then the rows of each group are brought together, and answers are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._keys.group_names import Names
from ..._typing import AnyArray, IntArray
from ...errors import FastexpError
from ...grouped.contribution import RowKeys, persons_of
from ...grouped.segments import Segments
from ..disk import spill
from .answers import naming
from .draws import counted, together
from .parts import Part, as_floats
from .reader import Reader
from .scope import CoreCall, Results


class Steps:
    """The steps of one call.

    floats: for each reading, whether its records are floats, which are stored as int64, bit by bit.
    Empty: the first part that has rows determines it.
    """

    def __init__(self, call: CoreCall, reader: Reader, floats: Sequence[bool] = ()) -> None:
        self._call, self.reader, self._floats = call, reader, list(floats)

    def numbered(self, part: Part) -> spill.SpillPart:
        """The rows, with the number of their group and the answers that they count for."""
        if not self._floats and part.codes.size:  # an empty part has no type
            self._floats = [values.dtype.kind == "f" for values in part.records]
        counts = np.zeros(part.codes.size, np.int64)
        for answer, reading in enumerate(self.reader.readings):
            missing = part.missing[reading]
            counts |= 1 << answer if missing is None else np.where(missing, 0, 1 << answer)
        floats = self._floats or [False] * len(part.records)
        records = [
            as_floats(values).view(np.int64) if is_float else values
            for values, is_float in zip(part.records, floats, strict=True)
        ]
        persons = None
        if part.persons is not None:
            persons = spill.Persons(*persons_of(part.persons))
        return spill.SpillPart(part.codes, counts, records, persons)

    def bounded(self, part: spill.SpillPart, names: Names) -> spill.SpillPart:
        """The rows of whole persons; rows beyond an answer's limits do not count for it."""
        if part.persons is None:
            raise FastexpError("rows without persons where persons are bounded: please report this")
        rows = RowKeys(part.codes, names, part.persons.ids, part.persons.words)
        counts = np.zeros_like(part.counts)
        for answer, reading in enumerate(self.reader.readings):
            codes = np.where(part.counts >> answer & 1 == 1, part.codes, -1)
            with naming(self._call.answers[answer].column):
                codes = counted(self._call, answer, rows, codes, self.records(part, reading))
            counts |= np.where(codes >= 0, 1 << answer, 0)
        return part._replace(counts=counts)

    def records(self, part: spill.SpillPart, reading: int) -> AnyArray:
        """The records of a reading, as mechanisms take them."""
        return self.of_bits(part.values[reading], reading)

    def of_bits(self, values: IntArray, reading: int) -> AnyArray:
        """Values of a reading, as mechanisms take them: floats from their bits."""
        return values.view(np.float64) if self._floats and self._floats[reading] else values

    def draw(self, results: Results, part: spill.SpillPart, names: Names, groups: range) -> None:
        """Draw answers for these groups; `part` has all of their rows, in the order of groups."""
        first, last = groups.start, groups.stop
        if first == last:
            return
        range_names = names.taken(np.arange(first, last))
        for reading, answers in together(self._call, self.reader):
            counts = part.counts >> answers[0] & 1 == 1
            sizes = np.bincount(part.codes[counts] - first, minlength=last - first)
            offsets = np.concatenate([[0], np.cumsum(sizes)])
            values = np.ascontiguousarray(self.records(part, reading)[counts])
            with naming(self._call.answers[answers[0]].column):
                results.draw(answers, Segments(values, offsets), range_names, first)
