"""Answers of rows that were read: of all at once, or of ranges of groups one after the other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .._keys.group_names import Names
from .._typing import AnyArray, IntArray
from ..grouped.counted import Limits, Rows, bounded
from ..grouped.grouping import gather
from ..grouped.segments import Segments, draw_together

if TYPE_CHECKING:
    from .call import Way
    from .rows import Part, Reader


class Results(Protocol):
    """What comes of the records of each group: draws, or figures."""

    def draw(self, which: list[int], segments: Segments, names: Names, first: int = 0) -> None:
        """Of answers of the same segments; `names` begin with the group of this place."""

    def put(self, which: int, group: int, index: int) -> None:
        """A draw that was made elsewhere."""

    def answers(self, order: IntArray | None) -> list[Any]:
        """For each answer, what is said of the groups, in order."""


class Indices:
    """Draws of each answer for all groups: grid points or candidates by number."""

    def __init__(self, way: Way, groups: int) -> None:
        self._way, self._size = way, 1 if way.size is None else way.size
        self._drawn = [np.empty((groups, self._size), np.int64) for _ in way.answers]

    def draw(self, which: list[int], segments: Segments, names: Names, first: int = 0) -> None:
        """Draw answers of the same segments; `names` begin with the group of this place."""
        way = self._way
        several = [
            answer.mechanism._draws(segments, way.words(answer, names), self._size)
            for answer in (way.answers[i] for i in which)
        ]
        for i, drawn in zip(which, draw_together(several, self._size, way.threads), strict=True):
            self._drawn[i][first : first + names.size] = drawn

    def put(self, which: int, group: int, index: int) -> None:
        """A draw that was made elsewhere."""
        self._drawn[which][group] = index

    def answers(self, order: IntArray | None) -> list[Any]:
        """What mechanisms call them, by group in order."""
        way, answers = self._way, []
        for answer, drawn in zip(way.answers, self._drawn, strict=True):
            indices = drawn if order is None else drawn[order]
            chosen = indices[:, 0] if way.size is None else indices
            answers.append(answer.mechanism._answer(chosen, way.released))
        return answers


def in_memory(way: Way, reader: Reader, rows: Rows, part: Part) -> Results:
    """Of all answers: together those that count the same records."""
    results = way.results(rows.names.size)
    for reading, which in together(way, reader):
        values, missing = part.records[reading], part.missing[reading]
        codes = rows.codes if missing is None else np.where(missing, -1, rows.codes)
        codes = counted(way, which[0], rows, codes, values)
        segments = Segments(*gather(codes, values, rows.names.size, way.threads))
        results.draw(which, segments, rows.names)
    return results


def together(way: Way, reader: Reader) -> list[tuple[int, list[int]]]:
    """Each reading, and the answers that count the same records of it.

    Where there are persons, each answer chooses among their records by itself.
    """
    if way.query.person is not None:
        return [(reading, [which]) for which, reading in enumerate(reader.of)]
    return [
        (reading, [which for which, other in enumerate(reader.of) if other == reading])
        for reading in range(reader.count)
    ]


def counted(way: Way, which: int, rows: Rows, codes: IntArray, values: AnyArray) -> IntArray:
    """The groups of `codes`, with -1 for what an answer leaves out of a person's rows."""
    answer, limits = way.answers[which], Limits(way.query.max_groups, way.query.max_rows)
    return bounded(rows, codes, values, limits, answer.mechanism, partial(way.choice, answer))
