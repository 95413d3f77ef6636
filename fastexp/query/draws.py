"""Answers of rows that were read: of all at once, or of ranges of groups one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._group_names import Names
from .._grouping import gather
from .._typing import AnyArray, IntArray
from ..grouped.counted import Limits, Rows, bounded
from ..grouped.segments import Segments, draw_all
from .rows import Held, Part, Reader, persons_of

if TYPE_CHECKING:
    from .call import Uses, Way


class Indices:
    """Draws of each answer for all groups: grid points or candidates by number."""

    def __init__(self, way: Way, groups: int) -> None:
        self._way, self._size = way, 1 if way.size is None else way.size
        self._drawn = [np.empty((groups, self._size), np.int64) for _ in way.answers]

    def draw(self, which: int, segments: Segments, names: Names, first: int = 0) -> None:
        """Draw an answer for the groups `names`, the first of which has this place."""
        way = self._way
        answer = way.answers[which]
        draws = answer.mechanism._draws(segments, way.words(answer, names), self._size)
        self._drawn[which][first : first + names.size] = draw_all(draws, self._size, way.threads)

    def put(self, which: int, group: int, index: int) -> None:
        """A draw that was made elsewhere."""
        self._drawn[which][group] = index

    def answers(self, order: IntArray | None) -> list[Any]:
        """What mechanisms call them, by group in order."""
        way, found = self._way, []
        for answer, drawn in zip(way.answers, self._drawn, strict=True):
            indices = drawn if order is None else drawn[order]
            chosen = indices[:, 0] if way.size is None else indices
            found.append(answer.mechanism._answer(chosen, way.released))
        return found


def in_memory(way: Way, reader: Reader, rows: Rows, part: Part) -> Indices:
    """Draws of all answers; those that count the same records share their order."""
    indices = Indices(way, rows.names.size)
    shared: dict[int, Segments] = {}
    for which, reading in enumerate(reader.of):
        if reading not in shared or rows.persons is not None:  # each answer bounds them anew
            values, missing = part.records[reading], part.missing[reading]
            codes = rows.codes if missing is None else np.where(missing, -1, rows.codes)
            codes = counted(way, which, rows, codes, values)
            shared[reading] = Segments(*gather(codes, values, rows.names.size, way.threads))
        indices.draw(which, shared[reading], rows.names)
    return indices


def counted(way: Way, which: int, rows: Rows, codes: IntArray, values: AnyArray) -> IntArray:
    """The groups of `codes`, with -1 for what an answer leaves out of a person's rows."""
    answer, limits = way.answers[which], Limits(way.query.max_groups, way.query.max_rows)
    return bounded(rows, codes, values, limits, answer.mechanism, partial(way.choice, answer))


def drawn(
    way: Way, uses: Uses, parts: Iterator[Sequence[Any]], written: bool
) -> tuple[Names, list[Any]]:
    """The groups in order, and each answer for all of them.

    written: whether all columns are text as it is written.
    """
    reader = Reader(way, uses, written)
    held = Held(reader)
    for columns in parts:
        held.add(reader.part(columns))
    part = held.joined()
    names, order = reader.groups.settled()
    codes = part.codes
    if order is not None:  # of groups of the data, which were numbered as they came
        place = np.empty(order.size + 1, np.int64)
        place[order], place[-1] = np.arange(order.size), -1
        codes = place[codes]
    rows = Rows(codes, names)
    if part.persons is not None:
        rows = Rows(codes, names, *persons_of(part.persons, written))
    return names, in_memory(way, reader, rows, part).answers(None)
