"""Rows that do not fit into memory: on disk, read back by whole persons, then by whole groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..._typing import AnyArray, IntArray, WordArray
from ...errors import ParameterError
from ...grouped.grouping import differing
from .sorted_runs import CHUNK_ROWS, Range, Runs

NAME_WORDS = 4  # words of a name, as `Names.name_words` gives them
SORTED = (1, 0, 2, 3)  # the words of a name in the order of sorting: first the one that varies most
TOO_MANY = (
    "memory must have room for all rows of one person at once: raise memory, or remove rows of "
    "such persons first"
)


class Persons(NamedTuple):
    """The persons of rows."""

    ids: IntArray  # the number of each row's person; -1: of nobody
    words: WordArray  # (persons, 4): their names (`Names.name_words`); only these go to disk


class SpillPart(NamedTuple):
    """Some rows."""

    codes: IntArray  # the group of each; -1: of none
    counts: IntArray  # bit a: whether the row counts for answer a, of at most 63 with the coins
    values: list[AnyArray]  # the records of each reading, bit by bit
    persons: Persons | None = None  # None where each row is a person


class Spill:
    """Rows on disk, in a file without a name in a private folder.

    Rows are added (`add`). If there are persons, the rows are read person by person (`by_person`),
    and those that count for some answer are added again (`keep`). Then rows are read group by
    group. Rows that count for no answer, of no group or of nobody are left out at once.

    memory: bytes that rows may take here, without the part that is handed out. In that, a row takes
    `row_bytes`, as the part before still exists while one is made.
    """

    def __init__(self, folder: str, memory: int, readings: int, *, persons: bool) -> None:
        width = 2 + readings
        self.row_bytes: int = 8 * (2 * width + 2 + (2 * NAME_WORDS + 1) * persons)
        self._long: dict[int, Range] = {}
        # A buffer takes no memory until it is written to; that of `_rows` is freed before `keep`.
        self._rows = Runs(folder, NAME_WORDS + width, memory)
        self._counting = Runs(folder, width, memory)

    def close(self) -> None:
        """Give up all rows."""
        self._rows.close()
        self._counting.close()

    def add(self, part: SpillPart) -> None:
        """Add rows as they were read; rows without persons need no `by_person`."""
        persons = part.persons
        if persons is None:
            self.keep(part)
            return
        for rows in _pieces(part, persons.ids >= 0):
            words = persons.words[persons.ids[rows]]
            self._rows.add([*words.T[list(SORTED)], *_columns(part, rows)])

    def by_person(self, most_rows: int) -> Iterator[SpillPart]:
        """Yield all rows in parts of whole persons; refuse a person with over `most_rows` rows."""
        self._rows.written()
        for rows in self._rows.ranges(most_rows):
            if rows.size > most_rows:
                raise ParameterError(TOO_MANY)
            yield self._of_persons(rows)
        self._rows.close()

    def _of_persons(self, rows: Range) -> SpillPart:
        columns = self._rows.read(rows)
        new = differing(columns[:NAME_WORDS])
        if not np.array_equal(new, differing(columns[:1])):  # several persons have one key
            places = np.lexsort(columns[NAME_WORDS - 1 :: -1])
            columns = [column[places] for column in columns]
            new = differing(columns[:NAME_WORDS])
        words = np.empty((int(new.sum()), NAME_WORDS), np.uint64)
        for place in SORTED:
            words[:, place] = columns.pop(0)[new].view(np.uint64)
        codes, counts, *values = columns
        return SpillPart(codes, counts, values, Persons(np.cumsum(new) - 1, words))

    def keep(self, part: SpillPart) -> None:
        """Add rows, with the answers that they count for once persons are bounded."""
        for rows in _pieces(part, np.True_):
            self._counting.add(_columns(part, rows))

    def by_group(self, most_rows: int) -> Iterator[SpillPart | int]:
        """Yield all rows that are kept, in the order of groups, in parts of whole groups.

        A part has at most `most_rows` rows. Of a group with more, yield only the code, for `group`.
        """
        self._counting.written()
        for rows in self._counting.ranges(most_rows):
            if rows.size > most_rows:
                self._long[rows.key] = rows
                yield rows.key
            else:
                codes, counts, *values = self._counting.read(rows)
                yield SpillPart(codes, counts, values)

    def group(self, code: int, reading: int, answer: int) -> Iterator[IntArray]:
        """Yield the values of a long group's rows that count for an answer; may be repeated."""
        for counts, values in self._counting.chunks(self._long[code], [1, 2 + reading]):
            yield values[counts >> answer & 1 == 1]


def _pieces(part: SpillPart, known: AnyArray | np.bool_) -> Iterator[IntArray]:
    counting = known & (part.counts != 0) & (part.codes >= 0)
    for first in range(0, counting.size, CHUNK_ROWS):
        yield first + np.flatnonzero(counting[first : first + CHUNK_ROWS])


def _columns(part: SpillPart, rows: IntArray) -> list[AnyArray]:
    return [column[rows] for column in (part.codes, part.counts, *part.values)]
