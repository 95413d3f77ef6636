"""One pass over the rows: in memory as far as they fit, else sorted on disk, by person and group.

On disk, where persons are bounded, the rows of each come together first, and each answer says
which of them count; then the rows of each group come together, and answers are drawn for ranges
of groups. A group that is larger than the memory is answered in passes over its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._keys.group_keys import Codes, numbered
from ..._keys.group_names import Names
from ..._typing import AnyArray, IntArray
from ...errors import FastexpError, ParameterError
from ...grouped.contribution import Rows, persons_of
from ...grouped.intake import grouped
from ...grouped.segments import Segments
from ..disk import spill
from ..disk.folders import private_folder
from ..engines.frame import Uses
from .answers import naming
from .draws import counted, together
from .parts import Held, Part, as_floats
from .reader import Reader
from .scope import Call, Results

if TYPE_CHECKING:
    from ..disk.memory import Room

NONE = np.zeros(0, np.int64)
LARGE = (
    "one group has more rows than fit into memory, which {} cannot go through in parts: raise "
    "memory (the limit on rows of paths, relations and Dask)"
)


def read_and_draw(
    call: Call, uses: Uses, parts: Iterator[Sequence[Any]], room: Room | None
) -> tuple[Names, list[Any]]:
    """The groups in order, and each answer for all of them.

    room: where rows go that do not fit into memory; None: they stay there.
    """
    reader = Reader(call, uses)
    held = Held(reader.none(), streamed=room is not None)
    for columns in parts:
        held.add(reader.part(columns))
        if room is not None and held.bytes > room.memory:
            return beyond_memory(call, reader, held, parts, room)
    part = held.joined()
    names, order = reader.numbering()
    codes = part.codes
    if order is not None:  # of groups of the data, which were numbered as they came
        codes = np.append(np.argsort(order), -1)[codes]
    rows = Rows(codes, names, *(() if part.persons is None else persons_of(part.persons)))
    results = call.results(names.size)
    is_alone = call.released and call.fresh and not call.query.by and part.persons is None
    for reading, which in together(call, reader):
        values, missing = part.records[reading], part.missing[reading]
        if is_alone:
            which = _not_drawn_alone(call, results, which, values, missing)
            if not which:
                continue
        present = codes if missing is None else np.where(missing, -1, codes)
        with naming(call.answers[which[0]].column):
            counted_codes = counted(call, which[0], rows, present, values)
            segments = grouped(
                results.ranks(which), values, Codes(counted_codes), names.size, call.threads
            )
            results.draw(which, segments, names)
    return names, results.answers(None)


def _not_drawn_alone(
    call: Call, results: Results, which: list[int], values: AnyArray, missing: AnyArray | None
) -> list[int]:
    """Draw answers as their mechanisms draw without groups; return those that cannot be drawn so.

    Fewer kernels are compiled for such a draw than for draws by group.
    """
    records, others = values if missing is None else values[~missing], []
    for answer in which:
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
    """The groups in order, and each answer for all of them.

    `held` is what was read so far, `rest` the parts that were not.
    """
    held_parts = (held.parts.pop(0) for _ in range(len(held.parts)))  # each is let go
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
        self._spill.close()

    def add(self, part: Part) -> None:
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
        some = names.taken(np.arange(first, last))
        for reading, answers in together(self._call, self._reader):
            counts = part.counts >> answers[0] & 1 == 1
            sizes = np.bincount(part.codes[counts] - first, minlength=last - first)
            offsets = np.concatenate([[0], np.cumsum(sizes)])
            values = np.ascontiguousarray(self._records(part, reading)[counts])
            with naming(self._call.answers[answers[0]].column):
                results.draw(answers, Segments(values, offsets), some, first)

    def _in_passes(self, answer: int, code: int) -> Any:
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
