"""Rows that memory has no room for: on disk, whole persons together, then whole groups together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..._typing import AnyArray, IntArray, WordArray
from ...errors import ParameterError
from ...grouped.grouping import differing
from .sorted_runs import CHUNK_ROWS, Range, Runs

NAME_WORDS = 4  # of a name, as `Names.name_words` gives them
SORTED = (1, 0, 2, 3)  # words of a name, as rows are sorted by them: first what tells most apart
TOO_MANY = (
    "memory must have room for all rows of one person at once: raise memory, or remove rows of "
    "such persons first"
)


class Persons(NamedTuple):
    """Whose rows are."""

    ids: IntArray  # the number of each row's person; -1: of nobody
    words: WordArray  # (persons, 4): names in digests (`Names.name_words`), which alone go to disk


class SpillPart(NamedTuple):
    """Some rows."""

    codes: IntArray  # the group of each; -1: of none
    counts: IntArray  # bit a: whether the row counts for answer a, of at most 63 with the coins
    values: list[AnyArray]  # the records of each reading, bit by bit
    persons: Persons | None = None  # None where each row is a person


class Spill:
    """Rows on disk, in a file without a name in a private folder.

    Rows are added (`add`); where there are persons, gone through person by person (`by_person`),
    and those that count for some answer added again (`keep`); then gone through group by group.
    Rows that count for no answer, of no group or of nobody are left out at once.

    memory: bytes that rows may take here, besides those of the part that is handed out, where a row
    takes `row_bytes`: while one is made, and the one before is still there.
    """

    def __init__(self, folder: str, memory: int, readings: int, *, persons: bool) -> None:
        width = 2 + readings
        self.row_bytes: int = 8 * (2 * width + 2 + (2 * NAME_WORDS + 1) * persons)
        self._long: dict[int, Range] = {}
        # Room that is not written to takes no memory; the first has none left when rows are kept.
        self._rows = Runs(folder, NAME_WORDS + width, memory)
        self._counting = Runs(folder, width, memory)

    def close(self) -> None:
        """Give up all rows."""
        self._rows.close()
        self._counting.close()

    def add(self, part: SpillPart) -> None:
        """Some rows, as they were read; those without persons need no `by_person`."""
        persons = part.persons
        if persons is None:
            self.keep(part)
            return
        for rows in _pieces(part, persons.ids >= 0):
            words = persons.words[persons.ids[rows]]
            self._rows.add([*words.T[list(SORTED)], *_columns(part, rows)])

    def by_person(self, most_rows: int) -> Iterator[SpillPart]:
        """All rows, whole persons together, at most so many in a part; no person has more."""
        self._rows.written()
        for some in self._rows.ranges(most_rows):
            if some.size > most_rows:
                raise ParameterError(TOO_MANY)
            yield self._of_persons(some)
        self._rows.close()

    def _of_persons(self, some: Range) -> SpillPart:
        columns = self._rows.read(some)
        new = differing(columns[:NAME_WORDS])
        if not np.array_equal(new, differing(columns[:1])):  # persons of one key, row by row
            places = np.lexsort(columns[NAME_WORDS - 1 :: -1])
            columns = [column[places] for column in columns]
            new = differing(columns[:NAME_WORDS])
        words = np.empty((int(new.sum()), NAME_WORDS), np.uint64)
        for place in SORTED:
            words[:, place] = columns.pop(0)[new].view(np.uint64)
        codes, counts, *values = columns
        return SpillPart(codes, counts, values, Persons(np.cumsum(new) - 1, words))

    def keep(self, part: SpillPart) -> None:
        """Some rows, with what they count for once persons are bounded."""
        for rows in _pieces(part, np.True_):
            self._counting.add(_columns(part, rows))

    def by_group(self, most_rows: int) -> Iterator[SpillPart | int]:
        """All rows that are kept, in the order of groups, whole groups together.

        At most so many in a part; of a group that has more only its code, for `group`.
        """
        self._counting.written()
        for some in self._counting.ranges(most_rows):
            if some.size > most_rows:
                self._long[some.key] = some
                yield some.key
            else:
                codes, counts, *values = self._counting.read(some)
                yield SpillPart(codes, counts, values)

    def group(self, code: int, reading: int, answer: int) -> Iterator[IntArray]:
        """The values of a long group's rows that count for an answer; as often as it takes."""
        for counts, values in self._counting.chunks(self._long[code], [1, 2 + reading]):
            yield values[counts >> answer & 1 == 1]


def _pieces(part: SpillPart, known: AnyArray | np.bool_) -> Iterator[IntArray]:
    counting = known & (part.counts != 0) & (part.codes >= 0)
    for first in range(0, counting.size, CHUNK_ROWS):
        yield first + np.flatnonzero(counting[first : first + CHUNK_ROWS])


def _columns(part: SpillPart, rows: IntArray) -> list[AnyArray]:
    return [column[rows] for column in (part.codes, part.counts, *part.values)]
