"""Draws of answers from rows that were read: for all groups at once, or range by range."""

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
    """Draws of each answer for all groups, as indices of grid points or candidates."""

    def __init__(self, call: CoreCall, groups: int) -> None:
        self._call, self._size = call, 1 if call.size is None else call.size
        self.arrays = [
            np.empty((groups, self._size, *([len(entries)] if entries else [])), np.int64)
            for entries in (answer.mechanism._entries for answer in call.answers)
        ]
        self._deciding = deciding_of(call.query, call.answers)

    def draw(self, answers: list[int], segments: Segments, names: Names, first: int = 0) -> None:
        """Draw these answers from the same segments; `first` is the index of the first group."""
        call = self._call
        several = [
            answer.mechanism._draws(segments, call.words(answer, names), self._size)
            for answer in (call.answers[i] for i in answers)
        ]
        for i, drawn in zip(answers, draw_together(several, self._size, call.threads), strict=True):
            self.arrays[i][first : first + names.size] = drawn
            if self._deciding is not None and i == self._deciding.answer:
                empty = first + np.flatnonzero(np.diff(segments.offsets) == 0)
                self.arrays[i][empty, :, -1] = NOBODY

    def ranks(self, answers: list[int]) -> RankStatistic | None:
        """The statistic of a single answer whose words do not depend on all records; else None."""
        keyed = self._call.released and not self._call.fresh
        alone = len(answers) == 1 and not keyed
        return self._call.answers[answers[0]].mechanism._ranks if alone else None

    def put(self, answer: int, group: int, index: Any, records: int = 1) -> None:
        """Store a draw that was made elsewhere; of a list, as many values as the answer has."""
        drawn = self.arrays[answer]
        drawn[group] = index if drawn.ndim == 2 else index[: drawn.shape[-1]]
        if records == 0 and self._deciding is not None and answer == self._deciding.answer:
            drawn[group, :, -1] = NOBODY

    def answers(self, order: IntArray | None) -> list[Any]:
        """The grid points or candidates of the draws, by group in this order."""
        call, answers = self._call, []
        for answer, drawn in zip(call.answers, self.arrays, strict=True):
            indices = drawn if order is None else drawn[order]
            chosen = indices[:, 0] if call.size is None else indices
            answers.append(answer.mechanism._answer(chosen, call.released))
        return answers


def together(call: CoreCall, reader: Reader) -> list[tuple[int, list[int]]]:
    """Pairs of a reading and the answers that count the same records of it.

    If rows have persons, each answer is alone, as it makes its own choice among their rows.
    """
    if call.query.person is not None:
        return [(reading, [answer]) for answer, reading in enumerate(reader.readings)]
    return [
        (reading, [answer for answer, other in enumerate(reader.readings) if other == reading])
        for reading in range(reader.count)
    ]


def counted(
    call: CoreCall, answer_index: int, rows: RowKeys, codes: IntArray, values: AnyArray
) -> IntArray:
    """The groups of `codes`, with -1 for rows of a person beyond the limits of an answer."""
    answer, query = call.answers[answer_index], call.query
    limits = Limits(query.max_groups, rows_of(query, answer))
    return bounded(rows, codes, values, limits, answer.mechanism, partial(call.choice, answer))
