"""One pass over the rows: in memory if they fit, else sorted on disk, by person and then by group.

On disk, if there are persons, the rows of each are first brought together, and each answer chooses
those that count. Then the rows of each group are brought together, and answers are drawn for ranges
of groups. A group that is larger than the memory is answered in passes over its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._intake.unsorted import Unsorted
from ..._keys.group_keys import Codes
from ..._keys.group_names import Names
from ..._typing import AnyArray
from ...errors import ParameterError
from ...grouped.contribution import RowKeys, persons_of
from ...grouped.intake import grouped
from ..disk import spill
from ..disk.folders import private_folder
from .answers import naming
from .draws import counted, together
from .parts import Held, Part
from .reader import Reader
from .scope import Call, Results
from .steps import Steps

if TYPE_CHECKING:
    from ..disk.memory import Room

NO_ROWS = np.zeros(0, np.int64)
LARGE = (
    "one group has more rows than fit into memory, and {} cannot process a group in parts: raise "
    "memory (the limit for rows of paths, relations and Dask)"
)


def read_and_draw(
    call: Call, parts: Iterator[Sequence[Any]], room: Room | None
) -> tuple[Names, list[Any]]:
    """Return the groups in order, and each answer for all of them.

    room: the memory for rows, and the folder for rows that do not fit; None: all stay in memory.
    """
    reader = Reader(call)
    held = Held(reader.none(), streamed=room is not None)
    for columns in parts:
        held.add(reader.part(columns))
        if room is not None and held.bytes > room.memory:
            return beyond_memory(call, reader, held, parts, room)
    part = held.joined()
    names, order = reader.numbering()
    codes = part.codes
    if order is not None:  # groups from the data were numbered in the order of reading
        codes = np.append(np.argsort(order), -1)[codes]
    rows = RowKeys(codes, names, *(() if part.persons is None else persons_of(part.persons)))
    results = call.results(names.size)
    is_alone = call.released and call.fresh and not call.query.by and part.persons is None
    for reading, answers in together(call, reader):
        values, missing = part.records[reading], part.missing[reading]
        if is_alone:
            answers = _not_drawn_alone(call, results, answers, values, missing)
            if not answers:
                continue
        present = codes if missing is None else np.where(missing, -1, codes)
        with naming(call.answers[answers[0]].column):
            counted_codes = counted(call, answers[0], rows, present, values)
            segments = grouped(
                results.ranks(answers), values, Codes(counted_codes), names.size, call.threads
            )
            results.draw(answers, segments, names)
    return names, results.answers(None)


def _not_drawn_alone(
    call: Call, results: Results, answers: list[int], values: AnyArray, missing: AnyArray | None
) -> list[int]:
    """Draw answers as their mechanisms draw without groups; return those that cannot be drawn so.

    Fewer kernels are compiled for such a draw than for draws by group.
    """
    records, others = values if missing is None else values[~missing], []
    for answer in answers:
        with naming(call.answers[answer].column):
            index = call.answers[answer].mechanism._streamed(records, call.threads)
        if index is None:
            others.append(answer)
        else:
            results.put(answer, 0, index)
    return others


def beyond_memory(
    call: Call, reader: Reader, held: Held, rest: Iterator[Sequence[Any]], room: Room
) -> tuple[Names, list[Any]]:
    """Return the groups in order, and each answer for all of them, with rows on disk.

    `held` has the parts that were read so far, `rest` the columns of those that were not.
    """
    held_parts = (held.parts.pop(0) for _ in range(len(held.parts)))  # frees each part in turn
    parts = chain(held_parts, (reader.part(columns) for columns in rest))
    with (
        private_folder(room.temp) as folder,
        closing(_Disk(call, reader, folder, room.memory)) as disk,
    ):
        for part in parts:
            disk.add(part.of_groups())
        names, order = reader.numbering()
        results = disk.draws(names if order is None else names.taken(np.argsort(order)))
    return names, results.answers(order)


class _Disk:
    """Rows on disk, and which of them each answer counts.

    One third of the memory is for rows that are not written yet, one for rows that are read back,
    and one for what is computed from these.
    """

    def __init__(self, call: Call, reader: Reader, folder: str, memory: int) -> None:
        self._call, self._steps = call, Steps(call, reader)
        persons = call.query.person is not None
        self._spill = spill.Spill(folder, memory // 3, reader.count, persons=persons)
        self._most = max(1, memory // 3 // self._spill.row_bytes)
        self._nothing = spill.SpillPart(NO_ROWS, NO_ROWS, [NO_ROWS] * reader.count)

    def close(self) -> None:
        self._spill.close()

    def add(self, part: Part) -> None:
        if part.codes.size:
            self._spill.add(self._steps.numbered(part))

    def draws(self, names: Names) -> Results:
        if self._call.query.person is not None:
            for part in self._spill.by_person(self._most):
                self._spill.keep(self._steps.bounded(part, names))
        results, first, long = self._call.results(names.size), 0, []
        for rows in self._spill.by_group(self._most):
            if isinstance(rows, int):
                long.append(rows)
                continue
            last = int(rows.codes[-1]) + 1
            self._steps.draw(results, rows, names, range(first, last))
            first = last
        self._steps.draw(results, self._nothing, names, range(first, names.size))
        for code in long:
            for answer in range(len(self._call.answers)):
                results.put(answer, code, *self._in_passes(answer, code))
        return results

    def _in_passes(self, answer: int, code: int) -> tuple[Any, int]:
        """A draw, and the number of records that it is from."""
        call, reading = self._call, self._steps.reader.readings[answer]
        mechanism = call.answers[answer].mechanism

        def records() -> Iterator[AnyArray]:
            for values in self._spill.group(code, reading, answer):
                yield self._steps.of_bits(values, reading)

        with naming(call.answers[answer].column):
            source = Unsorted(records, call.threads)
            index = mechanism._streamed(source, call.threads) if call.fresh else None
        if index is None:
            name = repr(mechanism) if call.fresh else "a key, a sample, a law or accuracy"
            raise ParameterError(LARGE.format(name))
        return index, source.total()
