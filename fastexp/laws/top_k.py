"""The exact law of top-k by peeling: Plackett and Luce's."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from .._compiler.rounding import check_rounding
from .._selection.scan import bits_value
from .._selection.top_k import simulate
from .._typing import FloatArray, WordArray
from ..kernels.bits.logexp import log_one_value
from ..pictures.law_painters import Laws
from .candidate_law import OrderedSelections
from .elementary import exp, log, quiet
from .exact_differences import differences
from .finite import FiniteLaw, nats
from .loss_groups import exact_values
from .loss_pieces import LossPieces
from .targets import Target


class TopKLaw(OrderedSelections):
    """The exact distribution of an ordered selection of k candidates on one data set.

    Made by ``TopK(...).law(data)``. It holds the utilities: **it is private data**, and so is
    a pickle of it; its repr shows nothing of them. There are too many selections for a dict of
    them: ``law.first_place.as_dict()`` is that of the first place alone.

    Notes
    -----
    Round i selects among the candidates that are left with probability ∝ exp(c * u), c from the
    epsilon of a round.

    **Numerics**: a log-probability's error is a few 2**-52 of its terms, which are differences of
    utilities times c, taken exactly.

    References
    ----------
    Plackett, "The analysis of permutations", 1975. Durfee and Rogers, NeurIPS 2019.

    Examples
    --------
    >>> import fastexp as fx
    >>> law = fx.TopK(2, epsilon=4.0, sensitivity=1.0).law([1.0, 0.0, 2.0])
    >>> law.first_place_probabilities.round(4)
    array([0.2447, 0.09  , 0.6652])
    >>> round(law.log_probability([2, 0]), 6)
    -0.720868
    >>> law
    TopKLaw(TopK(k=2, epsilon=4.0, sensitivity=1.0), candidates=3)
    """

    _simulate = staticmethod(simulate)

    def _check_utilities(self) -> None:
        self._first  # noqa: B018  # refuses what is not finite

    @cached_property
    def _first(self) -> FiniteLaw:
        return self._law(self._bits, self._candidates)

    @property
    def mechanism(self) -> Any:
        """The mechanism that this is the law of."""
        return self._maker

    def _subject(self) -> Laws:
        return replace(self._first._subject(), mechanism=self._maker)

    def _identity(self) -> tuple[object, ...]:
        return self._places, *self._first._identity()

    def _law(self, bits: WordArray, candidates: tuple[Any, ...] | None = None) -> FiniteLaw:
        return FiniteLaw(bits, self._kind, self._weighting, self._epsilon, candidates)

    @property
    def first_place(self) -> FiniteLaw:
        """The law of the first selection alone: an exponential mechanism's."""
        return self._first

    @cached_property
    def first_place_probabilities(self) -> FloatArray:
        """P(selected first) of each candidate, read-only."""
        check_rounding()
        return self._first.probabilities

    def _log_probability(self, indices: list[int]) -> float:
        values = [bits_value(int(self._bits[i]), self._kind) for i in indices]
        rest = np.delete(self._bits, indices)
        others = self._law(rest) if rest.size else None
        total = 0.0
        for i, value in enumerate(values):
            # ln of the sum of exp(c * (u - value)) over those that are left
            gaps = [nats(self._weighting.rate * (u - value)) for u in values[i:]]
            if others is not None:
                gap = nats(self._weighting.rate * (others._best - value))
                gaps.append(gap + others._log_total)
            heights, top = np.array(gaps), max(gaps)
            beside = log_one_value(float(exp(heights - top).sum())) if top < math.inf else 0.0
            total -= top + beside
        return total

    def _outputs(self) -> tuple[object, ...]:
        return self._places, *self._first._outputs()

    def _against(self, other: Self) -> LossPieces:
        count = self._selections("top-k")
        first, second = self._all_logs(), other._all_logs()
        return LossPieces(np.ones(count), first, second, first - second, np.arange(count))

    @quiet
    def _all_logs(self) -> FloatArray:
        """ln P of each selection, in the order of their indices."""
        values = exact_values(self._bits, self._kind)
        heights = self._weighting.rate_nats * differences(values, values.max(keepdims=True))
        logs, free = np.zeros(1), np.ones((1, values.size), bool)
        for _ in range(self._places):
            left = np.where(free, heights, -np.inf)
            top = left.max(axis=1, keepdims=True)
            steps = left - top - log(exp(left - top).sum(axis=1, keepdims=True))
            before, chosen = np.nonzero(free)
            logs, free = (logs[:, None] + steps)[free], free[before]
            free[np.arange(chosen.size), chosen] = False
        return logs

    def _holds(self, target: Target) -> Callable[[float], bool]:
        return self._first._holds(target)
