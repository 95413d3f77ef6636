"""The exact law of a selection from finitely many candidates."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from .._compiler.rounding import check_rounding
from .._intake import utilities as data
from .._parameters import validate
from .._selection.draw import simulate
from .._selection.scan import MASK_64, key_value
from .._typing import AnyArray, FloatArray, IntArray
from ..kernels.bits import logspace
from ..kernels.bits.heights import BLOCK, FLOAT
from ..kernels.bits.logexp import log_one_value
from ..pictures.law_painters import Laws
from .candidate_law import CandidateLaw
from .elementary import frozen, quiet
from .exact_differences import differences
from .loss_groups import GroupedLosses, LossGroups, exact_values
from .loss_pieces import LossPieces

ROOM = 2.0**900  # losses beyond are scaled, so that products stay within float64


class LossTail(NamedTuple):
    """A loss, the bound of `FiniteLaw.theorem_6` on reaching it, and the exact probability."""

    loss: float
    bound: float
    exact: float


class _Sum(NamedTuple):
    total: float
    best: IntArray


class FiniteLaw(CandidateLaw[int, IntArray], GroupedLosses[int, IntArray]):
    """The exact distribution of a finite mechanism's output on one data set.

    Made by ``mechanism.law(data)``. It holds the utilities: **it is private data**, and so
    is a pickle of it, for analysis and simulation only; its repr shows nothing of them.

    Notes
    -----
    Probabilities are base * exp(c * u) over their sum, c = epsilon / (2 * sensitivity), or epsilon
    / sensitivity for monotonic utilities.

    **Numerics**: float64, by fastexp's own exp and log; a log-probability of magnitude y has a
    relative error of a few 2**-53, a probability thus one of about y * 2**-52; probabilities below
    1e-307 are given as 0. No overflow for utilities up to 1.8e308. With a base, its logarithm's
    magnitude adds to y. Probabilities, their logarithms and draws have the same bits on every CPU;
    statistics of the loss may differ in the last one.

    A loss is the best utility minus the obtained one (over candidates with base > 0).
    Losses are grouped by value, so statistics cost one sort of the utilities, then O(number
    of distinct utilities) for each epsilon.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007. Dwork and
    Roth, "The algorithmic foundations of differential privacy" (2014), Theorem 3.11 (what
    `theorem_6` calls after the lecture notes that fastexp follows).

    Examples
    --------
    >>> import fastexp as fx
    >>> law = fx.Exponential(epsilon=1.0, sensitivity=1.0).law([10.0, 8.0, 5.0, 5.0, 1.0])
    >>> law.probabilities.round(6)
    array([0.648022, 0.238394, 0.053193, 0.053193, 0.007199])
    >>> round(law.expected_loss(), 11)
    1.07350599906
    >>> law
    FiniteLaw(Exponential(epsilon=1.0, sensitivity=1.0), k=5)
    >>> law = fx.MostCommon(epsilon=2.0, candidates=["tea", "rye"]).law(["tea", "rye", "tea"])
    >>> {drink: round(probability, 6) for drink, probability in law.as_dict().items()}
    {'tea': 0.880797, 'rye': 0.119203}
    """

    _simulate = staticmethod(simulate)

    def _check_utilities(self) -> None:
        self._sum  # noqa: B018  # finds out whether all utilities are finite

    def _sizes(self) -> dict[str, int]:
        return {"k": self._bits.size}

    def _subject(self) -> Laws:
        return Laws(self.mechanism, "", [self], [None], candidates=self._names)

    def _identity(self) -> tuple[object, ...]:
        w = self._weighting
        return self._epsilon, w.rate, w.base, self._candidates, self._utilities

    @property
    def k(self) -> int:
        """The number of candidates."""
        return self._bits.size

    @cached_property
    def _sum(self) -> _Sum:
        count = -(-self._bits.size // BLOCK)
        blocks = np.empty(3 * count + 2, np.int64)
        w = self._weighting
        work = np.empty(2 * BLOCK)
        total = logspace.log_sum_exp(self._bits, self._kind, w.log_base, w.rate_nats, blocks, work)
        data.finite(total == total)
        return _Sum(total, blocks[3 * count :])

    @cached_property
    def _groups(self) -> LossGroups:
        return LossGroups(self._bits, self._kind, self._weighting.base)

    @cached_property
    def _loss_probabilities(self) -> FloatArray:
        return self._groups.probabilities(self._weighting.rate_nats)

    @property
    def log_normalizer(self) -> float:
        """ln of the sum of base * exp(c * utility); infinite only where float64 ends."""
        check_rounding()
        return self._weighting.rate_nats * float(self._best) - self._lift + self._log_total

    @property
    def _best(self) -> Fraction:
        """The best utility, exactly."""
        return key_value(int(self._sum.best[0]) & MASK_64, self._kind)

    @property
    def _lift(self) -> float:
        return float(self._sum.best.view(np.float64)[1])

    @property
    def _log_total(self) -> float:
        """ln of the sum of base * exp(c * (u - best)), lifted."""
        return log_one_value(self._sum.total)

    @cached_property
    def log_probabilities(self) -> FloatArray:
        """ln P(candidate), shape (k,), read-only; -inf where the base is 0."""
        check_rounding()
        log_sum = self._log_total
        out = self._filled(logspace.fill_log_probabilities, log_sum)
        if self._kind != FLOAT:
            return out
        far = np.isneginf(out)
        if self._weighting.base is not None:
            far &= self._weighting.base > 0
        if not far.any():
            return out
        heights, mended = self._far_heights(far), out.copy()
        if self._weighting.base is not None:
            heights -= self._weighting.log_base[far]
        mended[far] = (self._lift - heights) - log_sum
        return frozen(mended)

    @quiet
    def _far_heights(self, far: AnyArray) -> FloatArray:
        """Gaps beyond float64 are halved, so that times a small rate they are right too."""
        halves = float(self._best) / 2 - self._bits.view(np.float64)[far] / 2
        return np.asarray(2 * (self._weighting.rate_nats * halves))

    @cached_property
    def probabilities(self) -> FloatArray:
        """P(candidate), shape (k,), read-only."""
        check_rounding()
        return self._filled(logspace.fill_probabilities, self._sum.total)

    def as_dict(self) -> dict[Any, float]:
        """Each candidate, or its index where there are no labels, and its probability."""
        return dict(zip(self._names, self.probabilities.tolist(), strict=True))

    def _filled(self, kernel: Any, total: float) -> FloatArray:
        out = np.empty(self._bits.size)
        w = self._weighting
        kernel(self._bits, self._kind, w.log_base, w.rate_nats, self._sum.best, total, out)
        return frozen(out)

    def _best_utility(self) -> float:
        return float(self._best)

    def theorem_6(self, t: float) -> LossTail:
        """Theorem 6 of the lecture notes beside the exact tail that it bounds.

        P(loss >= (ln(|R| / |R_OPT|) + t) / c) <= exp(-t), with |R| and |R_OPT| the base
        masses of all and of the best candidates.

        Parameters
        ----------
        t : float
            >= 0.

        Returns
        -------
        LossTail
            (loss, bound, exact).
        """
        check_rounding()
        t, masses = validate.at_least("t", t, 0.0), self._groups.masses
        ratio = np.array([masses.sum() / masses[0], np.exp(-t)])
        loss = (log_one_value(float(ratio[0])) + t) / self._weighting.rate_nats
        return LossTail(loss, float(ratio[1]), self.loss_tail(loss))

    def _with_rate(self, rate: Fraction, epsilon: float) -> Self:
        weighting = self._weighting.with_rate(rate)
        law = type(self)(self._bits, self._kind, weighting, epsilon, self._candidates)
        law._groups = self._groups
        return law

    def _outputs(self) -> tuple[object, ...]:
        w = self._weighting
        return self._epsilon, w.rate, w.base, self._candidates, self._bits.size

    def _against(self, other: Self) -> LossPieces:
        base = self._weighting.base
        some: IntArray = np.arange(self.k) if base is None else np.flatnonzero(base)
        first, second = self.log_probabilities[some], other.log_probabilities[some]
        return LossPieces(np.ones(some.size), first, second, self._log_ratios(other)[some], some)

    @quiet
    def _log_ratios(self, other: Self) -> FloatArray:
        """ln P/Q of each candidate: c * (u - v) less the logarithms' difference of both sums.

        Utilities are subtracted exactly; a base cancels out.
        """
        w, pair = self._weighting, (self, other)
        moved = differences(*(exact_values(law._bits, law._kind) for law in pair))
        total, rest = (law._log_total - law._lift for law in pair)
        shift = nats(w.rate * (self._best - other._best)) + (total - rest)
        return np.asarray(w.rate_nats * moved - shift)


def nats(height: Fraction) -> float:
    """A height as float64; beyond it infinite, and no error that depends on the data."""
    try:
        return float(height)
    except OverflowError:
        return math.inf if height > 0 else -math.inf
