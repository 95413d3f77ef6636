"""What an engine's workers do for a call: the steps of `steps`, and passes over one large group.

A `Work` is sent to them. Each of its methods turns parts of rows into other parts. They depend on
the rows and the work alone, as random words come from the call's key, so a task may be run again.

Rows are columns of integers, as narrow as types allow: [group, counts, records of each reading ...,
four words of the person's name]. A row that counts for no answer only marks its group.

Private groups have no numbers: their rows are [part, four words of the group's name, counts, ...],
and only groups that appear leave the workers. The words determine which of `PARTS` parts a group is
in; a row that counts for no answer marks a part.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ..._intake.unsorted import Gathered
from ..._keys.group_names import HashedNames, Names
from ..._randomness.release_key import FORMAT
from ..._typing import AnyArray, IntArray, WordArray
from ..._version import __version__
from ...grouped.grouping import differing, order
from ..disk import spill
from .appearance import appear
from .reader import GroupsOfData, Reader
from .scope import CoreCall
from .steps import Steps

Columns: TypeAlias = list[IntArray]
SAMPLE = 1 << 14  # records of a task in a sample, at most
PIECE, PIECE_TYPE = 8, "<i8"  # bytes of a piece of a name, and the type in which it is sent
PART_BITS = 14
PARTS = 1 << PART_BITS
MIXER = np.uint64(0x9E3779B97F4A7C15)  # spreads numbers with any step over all parts
SEEN, VALUE = -1, -2  # marks of rows of a pass: the number of records, a record; counts have >= 0
FAILED = (
    "fastexp: a task failed; its message is withheld, because it may contain data. Possible "
    "reasons: a missing record (nan=), or a person or group with more rows than fit into the "
    "memory of a task"
)


def version() -> str:
    """What must be the same for a worker and this process."""
    return f"fastexp {__version__}, keyed draws of format {FORMAT}"


class Work:
    """A call on workers.

    names: the names of the groups; None: groups are private. floats: for each reading, whether its
    records are floats. kinds: the types of the columns of rows, without those of persons.
    """

    def __init__(
        self, call: CoreCall, names: Names | None, floats: list[bool], kinds: tuple[str, ...]
    ) -> None:
        self._call, self._names = call, names
        self._floats, self.kinds = floats, kinds

    def __dask_tokenize__(self) -> str:
        """A random name, which reveals nothing of the work."""
        return secrets.token_hex(16)

    @cached_property
    def steps(self) -> Steps:
        """The steps of the call; they are not sent, but made anew by each worker."""
        return Steps(self._call, Reader(self._call), self._floats)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "steps"}

    def done(
        self, method: str, parts: Iterator[Sequence[Any]], arguments: tuple[Any, ...]
    ) -> Iterator[Columns]:
        """Yield what a method gives; every failure has the same text, as engines log it."""
        outputs = iter(getattr(self, method)(parts, *arguments))
        while True:
            try:
                part = next(outputs, None)
            except Exception:  # its message may hold data
                break
            if part is None:
                return
            yield part
        raise RuntimeError(FAILED)  # outside the handler: the first error is not its context

    def numbered(self, parts: Iterator[Sequence[Any]]) -> Iterator[Columns]:
        """The rows of listed groups that count for some answer."""
        for part in parts:
            # Private groups are numbered within this part only.
            reader = self.steps.reader if self._names is not None else Reader(self._call)
            rows = self.steps.numbered(reader.part(part).of_groups())
            groups = [rows.codes]
            if self._names is None:
                names, order = reader.numbering()
                codes = rows.codes if order is None else np.argsort(order)[rows.codes]
                words = names.name_words()[codes]
                number = words.sum(1) * MIXER >> np.uint64(64 - PART_BITS)
                groups = [*np.column_stack([number, words]).view(np.int64).T]
            chosen = rows.counts != 0
            if rows.persons is not None:
                chosen &= rows.persons.ids >= 0
            people = [] if rows.persons is None else [*rows.persons.words[rows.persons.ids].T]
            columns = self._narrow([*groups, rows.counts, *rows.values], chosen)
            yield columns + [word[chosen].view(np.int64) for word in people]

    def bounded(self, parts: Iterator[Columns]) -> Iterator[Columns]:
        """The rows of whole persons that are within the limits, without the persons."""
        columns = _together(parts)
        if not columns:
            return
        rows, person = columns[: -spill.NAME_WORDS], columns[-spill.NAME_WORDS :]
        codes, names, (counts, *values) = self._grouped(rows)
        persons = spill.Persons(*by_words(person))
        part = self.steps.bounded(spill.SpillPart(codes, counts, values, persons), names)
        groups = rows[: -1 - len(values)]
        yield self._narrow([*groups, part.counts, *values], part.counts != 0)

    def drawn(self, parts: Iterator[Columns]) -> Iterator[Columns]:
        """Draw for whole groups, each with a row that marks it: [group, draws or figures ...].

        For whole parts of private groups: [-1, words, draws ...] for groups that appear, and a row
        [part, 0, ...] for each part.
        """
        columns = _together(parts)
        if not columns:
            return
        codes, names, (counts, *values) = self._grouped(columns)
        marks = np.sort(columns[0][counts == 0])
        groups = np.arange(names.size) if self._names is None else marks
        places = np.full(names.size, -1)
        places[groups] = np.arange(groups.size)
        rows, offsets = order(places[codes], groups.size)
        codes = np.repeat(np.arange(groups.size), np.diff(offsets))
        part = spill.SpillPart(codes, counts[rows], [column[rows] for column in values])
        results = self._call.results(groups.size)
        self.steps.draw(results, part, names.taken(groups), range(groups.size))
        drawn = [column.view(np.int64) for column in results.columns()]
        if self._names is None:
            # Rows that mark parts are of a group without records, which never appears.
            is_shown = appear(self._call.query, self._call.answers, results.answers(None))
            drawn = [*names.name_words().view(np.int64).T, *drawn]
            yield [np.full(is_shown.sum(), -1), *(column[is_shown] for column in drawn)]
            drawn = [np.zeros_like(marks)] * len(drawn)
        yield [marks, *drawn]

    def named(self, parts: Iterator[Sequence[Any]], words: WordArray) -> Iterator[Columns]:
        """The names with these words, as JSON, in pieces: [piece, index of name and piece, 0]."""
        place = {word.tobytes(): i for i, word in enumerate(words)}
        pieces = []
        for part in parts:
            groups = GroupsOfData(private=True)
            groups.codes(list(part))
            names = groups.numbering()[0]
            columns = [
                [("", key) for key in keys]
                if isinstance(keys, list)
                else [(keys.dtype.str, key) for key in keys.astype(np.int64).tolist()]
                for _, keys in names.columns()
            ]
            for word, name in zip(names.name_words(), zip(*columns, strict=True), strict=True):
                if (i := place.get(word.tobytes())) is not None:
                    text = json.dumps(name).encode() + b","
                    numbers = np.frombuffer(text.ljust(-len(text) // PIECE * -PIECE), PIECE_TYPE)
                    index = np.arange(i, i + numbers.size * len(words), len(words))
                    pieces.append([numbers, index, np.zeros_like(index)])
        if pieces:
            yield _together(iter(pieces))

    def _grouped(self, columns: Columns) -> tuple[IntArray, Names, Columns]:
        """The group of each row by number, the names of these groups, and the other columns."""
        if self._names is not None:
            return columns[0], self._names, columns[1:]
        codes, words = by_words(columns[1 : 1 + spill.NAME_WORDS])
        return codes, HashedNames(words), columns[1 + spill.NAME_WORDS :]

    def _narrow(self, columns: Columns, chosen: AnyArray) -> Columns:
        whole = bool(chosen.all())
        pairs = zip(columns, self.kinds, strict=True)
        return [(x if whole else x[chosen]).astype(kind, copy=False) for x, kind in pairs]

    def counted(self, parts: Iterator[Columns], answers: list[int]) -> Iterator[Columns]:
        """The number of records on each point, if there is one group: [point, answer, number]."""
        for _, counts, *values in parts:
            for answer in answers:
                mechanism = self._call.answers[answer].mechanism
                points = mechanism._place(self._chosen(counts, values, answer))
                points, numbers = np.unique(points, return_counts=True)
                yield [points, np.full_like(points, answer), numbers]

    def summed(self, parts: Iterator[Columns]) -> Iterator[Columns]:
        """The sums of these numbers over all parts."""
        columns = _together(parts)
        if not columns:
            return
        points, answers, numbers = columns
        places = np.lexsort([points, answers])
        columns = [points[places], answers[places]]
        first = np.flatnonzero(differing(columns))
        yield [*(column[first] for column in columns), np.add.reduceat(numbers[places], first)]

    def sampled(self, parts: Iterator[Columns], answer: int) -> Iterator[Columns]:
        """The number of records, [SEEN, number], and a sample: [step, record] for every step-th."""
        seen, step, records = 0, 1, np.zeros(0, np.int64)
        for _, counts, *values in parts:
            part = np.ascontiguousarray(self._chosen(counts, values, answer)).view(np.int64)
            records = np.concatenate([records, part[-seen % step :: step]])
            seen += part.size
            while records.size > SAMPLE:
                records, step = records[::2], 2 * step
        yield [np.append(SEEN, np.full(records.size, step)), np.append(seen, records)]

    def gathered(
        self,
        parts: Iterator[Columns],
        answer: int,
        one: Callable[[AnyArray, int], Gathered],
        room: int,
    ) -> Iterator[Columns]:
        """A pass of `one` over the records: [region, count], [VALUE, record] and [SEEN, number]."""
        seen, sums = 0, np.zeros(0, np.int64)
        for _, counts, *values in parts:
            records = np.ascontiguousarray(self._chosen(counts, values, answer))
            values_in, numbers = one(records, min(room, records.size))
            seen += records.size
            sums = numbers + sums if sums.size else np.array(numbers)
            yield [np.full(values_in.size, VALUE), values_in.view(np.int64)]
        yield [np.append(np.arange(sums.size), SEEN), np.append(sums, seen)]

    def _chosen(self, counts: IntArray, values: Columns, answer: int) -> AnyArray:
        """The records that count for an answer."""
        reading = self.steps.reader.readings[answer]
        records = values[reading][counts >> answer & 1 == 1].astype(np.int64, copy=False)
        return self.steps.of_bits(records, reading)


def by_words(columns: Columns) -> tuple[IntArray, WordArray]:
    """Number names by their words: return the number of each row's name, and all the words."""
    words = np.column_stack(columns).view(np.uint64)
    places = np.lexsort(words.T)
    new = differing([*words[places].T])
    ids = np.empty(places.size, np.int64)
    ids[places] = np.cumsum(new) - 1
    return ids, words[places[new]]


def names_in(pieces: IntArray, index: IntArray, count: int) -> list[list[Any]]:
    """The key columns of `count` names, from the pieces that `Work.named` made."""
    text = pieces[np.lexsort([index // count, index % count])].astype(PIECE_TYPE).tobytes().decode()
    names = json.loads(f"[{text.rstrip()[:-1]}]")
    return [
        [np.int64(key).astype(kind) if kind else key for kind, key in column]
        for column in zip(*names, strict=True)
    ]


def _together(parts: Iterator[Columns]) -> Columns:
    """The columns of all rows, as 64-bit integers; empty without rows."""
    columns = [
        np.concatenate(columns).astype(np.int64, copy=False) for columns in zip(*parts, strict=True)
    ]
    return columns if columns and columns[0].size else []
