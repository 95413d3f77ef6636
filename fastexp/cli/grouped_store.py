"""Records by group within a limit of memory: all at once, or ranges of groups one by one.

The first pass gathers and counts. If all fits, it is the only one. Else each further pass
moves the records of a range of groups to their places; a group beyond the limit is alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from .._typing import AnyArray, IntArray
from ..grouped.segments import Segments
from ..kernels import grouping
from .errors import UserMistake
from .grouped_keys import Listed
from .grouped_places import DType, Places
from .grouped_progress import Progress
from .grouped_rows import Batch, Rows

KEPT = 40  # bytes of a row in the first pass: group, record, then both gathered and sorted
BOUNDED, PERSON = 72, 250  # and what bounding persons takes, of a row and of a person
PLACED, DRAWN = 8, 24  # bytes of a record of a range; and while its group is drawn for
Bound = Callable[[IntArray, AnyArray, IntArray], AnyArray]  # which rows count


class Range(NamedTuple):
    """Groups first..last - 1 with their records; None: one group, beyond the limit."""

    first: int
    last: int
    segments: Segments | None


class Store:
    """Records of some rows by group.

    Parameters
    ----------
    rows : Rows
    memory : int
        Bytes that records may take.
    bound : callable or None
        What bounds persons: of groups, records and persons to the rows that count.
    progress : Progress
    """

    def __init__(self, rows: Rows, memory: int, bound: Bound | None, progress: Progress) -> None:
        self._rows, self._memory, self._bound, self._progress = rows, memory, bound, progress
        self._counts = np.zeros(0, np.int64)
        self._dtype: DType = np.dtype(np.int64)

    def first(self, batches: Iterator[Batch]) -> list[Batch] | None:
        """Read all; what was read, or None if it does not fit and was counted only."""
        kept: list[Batch] | None = []
        number = 0
        self._progress.begin()
        for batch in batches:
            self._count(batch.codes)
            number += batch.codes.size
            if self._taken(number) > self._memory:
                self._refuse_more()
                kept = None
            if kept is not None and batch.codes.size:
                kept.append(batch)
        self._dtype = self._rows.dtype
        return kept

    def _taken(self, rows: int) -> int:
        """Bytes for so many rows at once."""
        persons = self._rows.persons
        more = 0 if persons is None else rows * BOUNDED + persons.size * PERSON
        return rows * KEPT + more

    def _refuse_more(self) -> None:
        if self._bound is not None:
            raise UserMistake(
                "with --person all rows of listed groups must fit into memory, and they do not: "
                "raise --memory, or list fewer groups"
            )
        if self._rows.once:
            raise UserMistake(
                "what stdin has for the listed groups does not fit into memory, and stdin can be "
                "read only once: give a file, raise --memory, or list fewer groups"
            )

    def ordered(self, kept: list[Batch] | None) -> list[Batch] | None:
        """The same, with groups that were numbered as they came in their order."""
        groups = self._rows.groups
        if isinstance(groups, Listed):
            self._counts = self._sized(groups.size)
            return kept
        names, places = groups.settled()
        counts = self._sized(groups.size)
        self._counts = np.empty(names.size, np.int64)
        self._counts[places[:-1]] = counts
        self._rows.groups = Listed(names)
        if kept is not None:
            return [batch._replace(codes=places[batch.codes]) for batch in kept]
        return None

    def ranges(self, kept: list[Batch] | None) -> Iterator[Range]:
        """All groups, in order, with their records."""
        if kept is not None:
            yield Range(0, self._counts.size, self._all(kept))
            return
        for first, last in self._cuts():
            one = last == first + 1 and not self._fits(int(self._counts[first]))
            yield Range(first, last, None if one else self._some(first, last))

    def _fits(self, records: int) -> bool:
        return records * (PLACED + DRAWN) <= self._memory

    def _cuts(self) -> Iterator[tuple[int, int]]:
        """Where ranges begin and end: as many groups as fit."""
        first, held, longest = 0, 0, 0
        for i, count in enumerate(self._counts.tolist()):
            alone = not self._fits(count)
            wide = PLACED * (held + count) + DRAWN * max(longest, count) > self._memory
            if i > first and (wide or alone):
                yield first, i
                first, held, longest = i, 0, 0
            held, longest = held + count, max(longest, count)
            if alone:
                yield i, i + 1
                first, held, longest = i + 1, 0, 0
        if first < self._counts.size:
            yield first, self._counts.size

    def _all(self, kept: list[Batch]) -> Segments:
        """What the first pass kept; each batch is let go once it is moved."""
        counts = self._counts
        if self._bound is not None and kept:
            codes, values, persons = (
                np.concatenate([np.asarray(batch[i]) for batch in kept]) for i in range(3)
            )
            kept[:] = [Batch(codes, values, persons)]
            some = self._bound(codes, values, persons)
            kept[:] = [Batch(codes[some], values[some], None)]
            del codes, values, persons
            counts = np.bincount(kept[0].codes, minlength=counts.size)
        moved = Places(counts)
        kept.reverse()
        while kept:
            batch = kept.pop()
            moved.add(batch.codes, batch.values.astype(self._dtype, copy=False))
        return moved.segments(self._dtype)

    def _some(self, first: int, last: int) -> Segments:
        """The records of groups first..last - 1, in another pass."""
        moved = Places(self._counts[first:last])
        self._progress.begin()
        for batch in self._rows:
            inside = (batch.codes >= first) & (batch.codes < last)
            values = batch.values[inside].astype(self._dtype, copy=False)
            moved.add(batch.codes[inside] - first, values)
        return moved.segments(self._dtype)

    def one(self, group: int) -> Iterator[AnyArray]:
        """The records of one group, in another pass."""
        self._progress.begin()
        for batch in self._rows:
            found = batch.values[batch.codes == group]
            if found.size:
                yield found.astype(self._dtype, copy=False)

    def _count(self, codes: IntArray) -> None:
        if self._counts.size <= self._rows.groups.size:
            self._counts = self._sized(2 * self._rows.groups.size + 1)
        grouping.count_codes(codes, self._counts)

    def _sized(self, size: int) -> IntArray:
        """Counts of so many groups."""
        out = np.zeros(size, np.int64)
        some = min(size, self._counts.size)
        out[:some] = self._counts[:some]
        return out
