"""The exact law of one quantile, with the face of several."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from .._compiler.rounding import check_rounding
from .._intake.record_sources import Source
from ..errors import ParameterError
from .grid import GridLaw
from .law import Draws
from .quantile_marginals import Parts
from .quantiles import QuantilesLaw, Statistic
from .targets import Target


class OneQuantileLaw(QuantilesLaw):
    """The law of `Quantile`, where several could be: each figure is an array of one."""

    def __init__(self, law: GridLaw, statistic: Statistic, source: Source) -> None:
        counted = source.counts(statistic.grid)
        super().__init__(statistic, *counted, law.epsilon, np.asarray, lambda: None)
        self._alone = law

    def _identity(self) -> tuple[object, ...]:
        return *super()._identity(), self._alone

    @cached_property
    def truth(self) -> Any:
        """Not private: the quantile of the data without noise; None without records."""
        check_rounding()
        return None if self._alone.truth is None else np.array([self._alone.truth])

    @property
    def log_normalizer(self) -> float:
        """As of `Quantile.law`."""
        return self._alone.log_normalizer

    def total(self) -> NoReturn:
        """Refused: one quantile has no total beside it."""
        raise ParameterError("total needs two quantiles or more, got one")

    def _one(self, j: int) -> tuple[Any, Parts]:
        """The law; and its runs between records, for errors in rank."""
        if j not in self._marginals:
            points, size = self._source.points, self.grid.size
            start = np.unique(np.concatenate([[0], points, points + 1]))
            start = start[start < size]
            below = np.zeros(start.size)
            below[1:] = self._alone.cdf(self.grid.values(start[1:] - 1))
            at = np.searchsorted(points, start)
            hit = np.isin(start, points)
            records = np.zeros(start.size, np.int64)
            records[hit] = self._source.records[at[hit]]
            ranks = np.concatenate([[0], np.cumsum(self._source.records)])[at]
            masses = np.diff(np.append(below, 1.0))
            parts: Any = self._alone, Parts(start, masses, ranks, records)
            self._marginals[j] = parts
        return self._marginals[j]

    def _draw(self, draws: Draws) -> Any:
        return np.asarray(self._alone._draw(draws))[..., None]

    def _epsilon_for(self, target: Target) -> float:
        return self._alone._epsilon_for(target)
