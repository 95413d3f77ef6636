"""Answers of rows that do not fit into memory: sorted on disk, by person and by group.

Where persons are bounded, the rows of each come together first, and each answer says which of
them count; then the rows of each group come together, and answers are drawn for ranges of
groups. A group that is larger than the memory is answered in passes over its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._keys.group_keys import numbered
from ..._keys.group_names import Names, chosen
from ..._typing import AnyArray, IntArray
from ...errors import FastexpError, ParameterError
from ...grouped.contribution import Rows
from ...grouped.segments import Segments
from ..disk import spill
from ..disk.folders import private_folder
from .answers import naming
from .call import Call, Results
from .draws import counted, together
from .parts import Held, Part, as_floats
from .reader import Reader

if TYPE_CHECKING:
    from ..disk.memory import Room

NONE = np.zeros(0, np.int64)
LARGE = (
    "one group has more rows than fit into memory, which {} cannot go through in parts: raise "
    "memory (the limit on rows of paths, relations and Dask)"
)


def beyond_memory(
    call: Call, reader: Reader, held: Held, rest: Iterator[Sequence[Any]], room: Room
) -> tuple[Names, list[Any]]:
    """The groups in order, and each answer for all of them.

    `held` is what was read so far, `rest` the parts that were not.
    """
    parts = chain(_let_go(held), (reader.part(columns) for columns in rest))
    with (
        private_folder(room.temp) as folder,
        closing(_Disk(call, reader, folder, room.memory)) as disk,
    ):
        for part in parts:
            disk.add(part.of_groups())
        names, order = reader.groups.numbering()
        results = disk.draws(names if order is None else _in_arrival_order(names, order))
    return names, results.answers(order)


def _let_go(held: Held) -> Iterator[Part]:
    held.parts.reverse()
    while held.parts:
        yield held.parts.pop()


def _in_arrival_order(names: Names, order: IntArray) -> Names:
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    return chosen(names, place)


class _Disk:
    """Rows on disk, and which of them each answer counts.

    Memory is split in thirds: rows that are not written yet, rows that are handed out, and what
    is computed from these.
    """

    def __init__(self, call: Call, reader: Reader, folder: str, memory: int) -> None:
        self._call, self._reader = call, reader
        self._floats: list[bool] = []  # of each reading
        persons = call.query.person is not None
        self._spill = spill.Spill(folder, memory // 3, reader.count, persons=persons)
        self._most = max(1, memory // 3 // self._spill.row_bytes)

    def close(self) -> None:
        """Give up all rows."""
        self._spill.close()

    def add(self, part: Part) -> None:
        """Take the rows of listed groups."""
        if not part.codes.size:  # an empty part has no type: later ones may be integers
            return
        if not self._floats:
            self._floats = [values.dtype.kind == "f" for values in part.records]
        counts = np.zeros(part.codes.size, np.int64)
        for answer, reading in enumerate(self._reader.of):
            missing = part.missing[reading]
            counts |= 1 << answer if missing is None else np.where(missing, 0, 1 << answer)
        records = [
            as_floats(values).view(np.int64) if floats else values
            for values, floats in zip(part.records, self._floats, strict=True)
        ]
        persons = None
        if part.persons is not None:
            ids, people = numbered([part.persons], "person")
            persons = spill.Persons(ids, people.name_words())
        self._spill.add(spill.Part(part.codes, counts, records, persons))

    def draws(self, names: Names) -> Results:
        """Draws of all answers, for groups in the order of their numbers."""
        if self._call.query.person is not None:
            for part in self._spill.by_person(self._most):
                self._spill.keep(part._replace(counts=self._bounded(part, names)))
        results, first, long = self._call.results(names.size), 0, []
        for rows in self._spill.by_group(self._most):
            if isinstance(rows, spill.LongGroup):
                long.append(rows.code)
                continue
            last = int(rows.codes[-1]) + 1
            self._draw(results, rows, names, first, last)
            first = last
        nothing = spill.Part(NONE, NONE, [NONE] * self._reader.count)
        self._draw(results, nothing, names, first, names.size)
        for code in long:
            for answer in range(len(self._call.answers)):
                results.put(answer, code, self._in_passes(answer, code))
        return results

    def _bounded(self, part: spill.Part, names: Names) -> IntArray:
        """What rows of whole persons count for, once each answer has bounded them."""
        if part.persons is None:
            raise FastexpError("rows without persons where persons are bounded: please report this")
        rows = Rows(part.codes, names, part.persons.ids, part.persons.words)
        counts = np.zeros_like(part.counts)
        for answer, reading in enumerate(self._reader.of):
            codes = np.where(part.counts >> answer & 1 == 1, part.codes, -1)
            with naming(self._call.answers[answer].column):
                codes = counted(self._call, answer, rows, codes, self._records(part, reading))
            counts |= np.where(codes >= 0, 1 << answer, 0)
        return counts

    def _records(self, part: spill.Part, reading: int) -> AnyArray:
        values = part.values[reading]
        return values.view(np.float64) if self._floats and self._floats[reading] else values

    def _draw(
        self, results: Results, part: spill.Part, names: Names, first: int, last: int
    ) -> None:
        """Answers for groups first..last - 1, of which these are all rows, in order."""
        if first == last:
            return
        some = chosen(names, np.arange(first, last))
        for reading, answers in together(self._call, self._reader):
            counts = part.counts >> answers[0] & 1 == 1
            sizes = np.bincount(part.codes[counts] - first, minlength=last - first)
            offsets = np.concatenate([[0], np.cumsum(sizes)])
            values = np.ascontiguousarray(self._records(part, reading)[counts])
            with naming(self._call.answers[answers[0]].column):
                results.draw(answers, Segments(values, offsets), some, first)

    def _in_passes(self, answer: int, code: int) -> Any:
        """A release for one group, whose records are read anew in each pass."""
        call, reading = self._call, self._reader.of[answer]
        mechanism = call.answers[answer].mechanism

        def records() -> Iterator[AnyArray]:
            for values in self._spill.group(code, reading, answer):
                yield values.view(np.float64) if self._floats[reading] else values

        with naming(call.answers[answer].column):
            index = mechanism._streamed(records, call.threads) if call.fresh else None
        if index is None:
            name = repr(mechanism) if call.fresh else "a key, a sample, a law or accuracy"
            raise ParameterError(LARGE.format(name))
        return index
