"""Answers of rows that were read: of all at once, or of ranges of groups one after the other."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..._keys.group_names import Names
from ..._numbers.rank import RankStatistic
from ..._typing import AnyArray, IntArray
from ...grouped.contribution import Limits, RowKeys, bounded
from ...grouped.segments import Segments, draw_together
from .appearance import NOBODY, deciding_of, rows_of
from .reader import Reader
from .scope import CoreCall, Results


class Indices(Results):
    """Draws of each answer for all groups: grid points or candidates by number."""

    def __init__(self, call: CoreCall, groups: int) -> None:
        self._call, self._size = call, 1 if call.size is None else call.size
        self.arrays = [
            np.empty((groups, self._size, *([len(entries)] if entries else [])), np.int64)
            for entries in (answer.mechanism._entries for answer in call.answers)
        ]
        self._deciding = deciding_of(call.query, call.answers)

    def draw(self, which: list[int], segments: Segments, names: Names, first: int = 0) -> None:
        """Draw answers of the same segments; `names` begin with the group of this place."""
        call = self._call
        several = [
            answer.mechanism._draws(segments, call.words(answer, names), self._size)
            for answer in (call.answers[i] for i in which)
        ]
        for i, drawn in zip(which, draw_together(several, self._size, call.threads), strict=True):
            self.arrays[i][first : first + names.size] = drawn
            if self._deciding is not None and i == self._deciding.answer:
                empty = first + np.flatnonzero(np.diff(segments.offsets) == 0)
                self.arrays[i][empty, :, -1] = NOBODY

    def ranks(self, which: list[int]) -> RankStatistic | None:
        """Of one answer alone, whose words do not depend on all records."""
        keyed = self._call.released and not self._call.fresh
        alone = len(which) == 1 and not keyed
        return self._call.answers[which[0]].mechanism._ranks if alone else None

    def put(self, which: int, group: int, index: Any, records: int = 1) -> None:
        """A draw that was made elsewhere; of several values those that are asked for."""
        drawn = self.arrays[which]
        drawn[group] = index if drawn.ndim == 2 else index[: drawn.shape[-1]]
        if records == 0 and self._deciding is not None and which == self._deciding.answer:
            drawn[group, :, -1] = NOBODY

    def answers(self, order: IntArray | None) -> list[Any]:
        """What mechanisms call them, by group in order."""
        call, answers = self._call, []
        for answer, drawn in zip(call.answers, self.arrays, strict=True):
            indices = drawn if order is None else drawn[order]
            chosen = indices[:, 0] if call.size is None else indices
            answers.append(answer.mechanism._answer(chosen, call.released))
        return answers


def together(call: CoreCall, reader: Reader) -> list[tuple[int, list[int]]]:
    """Each reading, and the answers that count the same records of it.

    Where there are persons, each answer chooses among their records by itself.
    """
    if call.query.person is not None:
        return [(reading, [which]) for which, reading in enumerate(reader.of)]
    return [
        (reading, [which for which, other in enumerate(reader.of) if other == reading])
        for reading in range(reader.count)
    ]


def counted(
    call: CoreCall, which: int, rows: RowKeys, codes: IntArray, values: AnyArray
) -> IntArray:
    """The groups of `codes`, with -1 for what an answer leaves out of a person's rows."""
    answer, query = call.answers[which], call.query
    limits = Limits(query.max_groups, rows_of(query, answer))
    return bounded(rows, codes, values, limits, answer.mechanism, partial(call.choice, answer))
