"""Exact laws of one chosen candidate, by weights or permute-and-flip; bases of such laws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, Self, cast

import numpy as np

from .._compiler.rounding import check_rounding
from .._intake import utilities as data
from .._parameters import validate
from .._randomness.sampling import Sampling
from .._selection import permute_flip
from .._selection.draw import simulate
from .._selection.scan import MASK_64, key_value
from .._selection.weighting import Weighting
from .._typing import AnyArray, FloatArray, IntArray, WordArray
from ..errors import PrecisionError
from ..kernels.bits import logspace
from ..kernels.bits.heights import BLOCK, FLOAT, SIGNED, UNSIGNED
from ..kernels.select.flip_law import flip_integrals, log_product
from ..pictures.law_painters import Laws
from .elementary import LARGEST, TOP, differences, exp, frozen, log, quiet
from .law import Law, LossLaw, Many_co, One_co
from .pieces import POINTS, Losses, LossSums, Pieces
from .privacy_loss import LossPieces

SIGN = np.uint64(1 << 63)
NODES = 20
RHO = 4.0  # Bernstein ellipse: its semi-axes are (RHO +- 1/RHO) / 2 half-lengths of a panel
PANEL_NATS = 12.0  # the product falls by about this many nats on a panel
NEGLIGIBLE = 1e-17
MAX_ERROR = 1e-12
ROUNDING = 2.0**-49  # rounding error of a logarithm of magnitude 1, its sum and its exponential
rule = cache(np.polynomial.legendre.leggauss)  # nodes and weights
# Trefethen (2013), Theorem 19.3: |error| <= 64/15 * M * RHO**(2 - 2n) / (RHO**2 - 1).
FACTOR = 64 / 15 * RHO ** (2 - 2 * NODES) / (RHO**2 - 1)


class LossGroups:
    """Distinct losses in increasing order, and the base mass of each. Independent of epsilon.

    A loss is best utility minus utility, over candidates with base > 0: exact for integers
    and rounded once to float64 (capped at the largest one).
    """

    def __init__(self, bits: WordArray, kind: int, base: FloatArray | None) -> None:
        if base is not None:
            bits, base = bits[base > 0], base[base > 0]
        distinct, group = np.unique(exact_values(bits, kind), return_inverse=True)
        self.members: IntArray = distinct.size - 1 - group  # the index of each candidate's loss
        with np.errstate(over="ignore"):
            gaps = differences(distinct[-1:], distinct[::-1])
        self.losses = np.minimum(gaps, LARGEST)
        self.masses = np.bincount(self.members, base, gaps.size).astype(np.float64)


def exact_values(bits: WordArray, kind: int) -> AnyArray:
    """Return utilities in the first of int64, uint64 and float64 that holds them all exactly.

    So equal numbers of different types become equal arrays.
    """
    if kind == SIGNED:
        return bits.view(np.int64)
    if kind == UNSIGNED:
        return bits if bool((bits >= SIGN).any()) else bits.view(np.int64)
    values = bits.view(np.float64) + 0.0  # -0 becomes 0
    low, high = float(values.min()), float(values.max())
    if bool((values != np.floor(values)).any()) or low < -TOP or high >= 2 * TOP:
        return values
    if high < TOP:
        return values.astype(np.int64)
    return values.astype(np.uint64) if low >= 0.0 else values


class Levels(Protocol):
    """Distinct losses."""

    losses: FloatArray  # increasing


class GroupedLosses(LossLaw[One_co, Many_co]):
    """A law whose losses are few enough to be listed."""

    @property
    def _groups(self) -> Levels:
        raise NotImplementedError

    @property
    def _loss_probabilities(self) -> FloatArray:
        raise NotImplementedError

    def _with_rate(self, rate: Fraction, epsilon: float) -> Self:
        self._groups  # noqa: B018  # computed before the copy, which shares it
        return super()._with_rate(rate, epsilon)

    @cached_property
    def _losses(self) -> LossSums:
        losses = self._groups.losses
        one = np.ones(losses.size)
        return LossSums(Losses(Pieces(POINTS, one, one, losses)), self._loss_probabilities)

    def loss_variance(self) -> float:
        """The variance of the loss, in squared units of the utility."""
        mean = self.expected_loss()
        losses = np.where(self._loss_probabilities > 0, self._groups.losses, 0.0)
        with np.errstate(over="ignore"):  # a warning would depend on the data
            return float((self._loss_probabilities * (losses - mean) ** 2).sum())


class CandidateLaw(Law[One_co, Many_co]):
    """A law of candidates, which holds their utilities in the form that kernels take."""

    _simulate: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        bits: WordArray,
        kind: int,
        weighting: Weighting,
        epsilon: float,
        candidates: tuple[Any, ...] | None,
    ) -> None:
        self._bits, self._kind = bits, kind
        self._weighting, self._rate = weighting, weighting.rate
        self._epsilon, self._candidates = epsilon, candidates
        self._check_utilities()

    def _check_utilities(self) -> None:
        """Refuse utilities for which the law is not defined."""

    @property
    def candidates(self) -> tuple[Any, ...] | None:
        """The labels, in the order of the indices; None: there are none."""
        return self._candidates

    @property
    def utilities(self) -> AnyArray:
        """The utilities of the candidates, shape (k,), read-only: int64, uint64 or float64.

        As they were given, scored or counted; NaN is replaced if it counts as the lowest number.
        """
        values: AnyArray = self._bits.view((np.float64, np.int64, np.uint64)[self._kind])
        values.flags.writeable = False
        return values

    @property
    def _names(self) -> Sequence[Any]:
        return range(self._bits.size) if self._candidates is None else self._candidates

    @property
    def _utilities(self) -> AnyArray:
        """The utilities by `exact_values`."""
        return exact_values(self._bits, self._kind)

    def _with_rate(self, rate: Fraction, epsilon: float) -> Self:
        law = super()._with_rate(rate, epsilon)
        law._weighting = self._weighting.with_rate(rate)
        return law

    def _output_at(self, index: int) -> Any:
        return self._names[index]

    def _draw(self, sampling: Sampling) -> Any:
        return self._simulate(self._bits, self._kind, self._weighting, sampling)


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
    Roth, "The algorithmic foundations of differential privacy" (2014), Theorem 3.11 (for
    `theorem_6`, whose name is its number in lecture notes).

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
        self._sum  # noqa: B018  # refuses utilities that are not finite

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
        with np.errstate(over="ignore"):
            heights = self._weighting.rate_nats * self._groups.losses - log(self._groups.masses)
        weights = exp(heights.min() - heights)
        return np.asarray(weights / weights.sum(), np.float64)

    @property
    def log_normalizer(self) -> float:
        """ln of the sum of base * exp(c * utility); infinite only if float64 overflows."""
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
        return float(log(self._sum.total))

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
        """Return the rate times the gaps to the best; halved first, no gap overflows."""
        halves = float(self._best) / 2 - self._bits.view(np.float64)[far] / 2
        return np.asarray(2 * (self._weighting.rate_nats * halves))

    @cached_property
    def probabilities(self) -> FloatArray:
        """P(candidate), shape (k,), read-only."""
        check_rounding()
        return self._filled(logspace.fill_probabilities, self._sum.total)

    def as_dict(self) -> dict[Any, float]:
        """Return the probability of each candidate, by label, or by index without labels."""
        return dict(zip(self._names, self.probabilities.tolist(), strict=True))

    def _filled(self, kernel: Any, total: float) -> FloatArray:
        out = np.empty(self._bits.size)
        w = self._weighting
        kernel(self._bits, self._kind, w.log_base, w.rate_nats, self._sum.best, total, out)
        return frozen(out)

    def _best_utility(self) -> float:
        return float(self._best)

    def theorem_6(self, t: float) -> LossTail:
        """Theorem 3.11 of Dwork and Roth 2014 beside the exact tail that it bounds.

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
        loss = (float(log(ratio[0])) + t) / self._weighting.rate_nats
        return LossTail(loss, float(ratio[1]), self.loss_tail(loss))

    def _outputs(self) -> tuple[object, ...]:
        w = self._weighting
        return self._epsilon, w.rate, w.base, self._candidates, self._bits.size

    def _against(self, other: Self) -> LossPieces:
        base = self._weighting.base
        possible: IntArray = np.arange(self.k) if base is None else np.flatnonzero(base)
        first, second = self.log_probabilities[possible], other.log_probabilities[possible]
        return LossPieces(
            np.ones(possible.size), first, second, self._log_ratios(other)[possible], possible
        )

    @quiet
    def _log_ratios(self, other: Self) -> FloatArray:
        """Return ln P/Q of each candidate: c * (u - v) minus the difference of both log-sums.

        Utilities are subtracted exactly; a base cancels out.
        """
        w, pair = self._weighting, (self, other)
        moved = differences(*(exact_values(law._bits, law._kind) for law in pair))
        total, rest = (law._log_total - law._lift for law in pair)
        shift = nats(w.rate * (self._best - other._best)) + (total - rest)
        return np.asarray(w.rate_nats * moved - shift)


class PermuteAndFlipLaw(FiniteLaw):
    """The exact distribution of `PermuteAndFlip`'s output on one data set.

    A `FiniteLaw` in all but `log_normalizer`, which this law does not have. **It is private
    data**, and so is a pickle of it.

    Notes
    -----
    P(r) = w_r times the integral over t in [0, 1] of the product of (1 - t*w_j) over all other
    candidates j, with w = exp(c * (u - best)): r arrives at a uniform time t, and nobody before it
    has succeeded.

    **Numerics**: the integrand is a polynomial; it is integrated by Gauss and Legendre's rule on
    panels whose error bound (a Bernstein ellipse of parameter 4) is added up with that of
    roundings, a probability's relative error stays below 1e-12, and otherwise `PrecisionError` is
    raised. Equal utilities are grouped; a million distinct ones take about a second.

    References
    ----------
    McKenna and Sheldon, "Permute-and-flip: a new mechanism for differentially private
    selection", NeurIPS 2020. Trefethen, "Approximation theory and approximation practice"
    (2013), Theorem 19.3 (the rule's error).

    Examples
    --------
    >>> import fastexp as fx
    >>> law = fx.PermuteAndFlip(epsilon=2.0, sensitivity=1.0).law([0.0, -1.0])
    >>> law.probabilities.round(5)
    array([0.81606, 0.18394])
    >>> law
    PermuteAndFlipLaw(PermuteAndFlip(epsilon=2.0, sensitivity=1.0), k=2)
    """

    _simulate = staticmethod(permute_flip.simulate)

    @cached_property
    @quiet
    def _distinct(self) -> tuple[FloatArray, FloatArray]:
        """P and ln P of one candidate of each distinct loss, in increasing order of losses."""
        heights = np.asarray(-self._weighting.rate_nats * self._groups.losses)
        weights = exp(heights)
        integrals, _ = flip_law(weights, self._groups.masses)
        return weights * integrals, heights + log(integrals)

    @cached_property
    def _loss_probabilities(self) -> FloatArray:
        return self._distinct[0] * self._groups.masses

    @property
    def log_normalizer(self) -> float:
        """Not defined: the weights of this mechanism have no common normaliser."""
        raise AttributeError("the law of permute-and-flip has no log_normalizer")

    @cached_property
    def probabilities(self) -> FloatArray:
        """P(candidate), shape (k,), read-only."""
        check_rounding()
        return self._spread(self._distinct[0])

    @cached_property
    def log_probabilities(self) -> FloatArray:
        """ln P(candidate), shape (k,), read-only."""
        check_rounding()
        out = self._spread(self._distinct[1])
        far = self._spread(self._groups.losses) == LARGEST
        if far.any():  # the integral's logarithm is below the rounding error of these heights
            out = out.copy()
            out[far] = -self._far_heights(far)
        return frozen(out)

    def _log_ratios(self, other: Self) -> FloatArray:
        """Return the differences of the log-probabilities: to 1e-12 plus a few ulp of these."""
        return np.asarray(self.log_probabilities - other.log_probabilities)

    def _spread(self, values: FloatArray) -> FloatArray:
        return frozen(values[self._groups.members])


def flip_law(weights: FloatArray, counts: FloatArray) -> tuple[FloatArray, float]:
    """Return the integral of F(t) / (1 - t*w) over [0, 1] for each weight, and their error.

    F(t), the product of (1 - t*w)**count, is the probability that nobody succeeds before t. The
    weights are distinct; the greatest is 1 and comes first. The error is an upper bound of each
    integral's relative error; `PrecisionError` is raised if it exceeds 1e-12. Every integrand
    lies between F and G(t) = F(t) / (1 - t), which falls; so the integral of F bounds all of them.
    """
    work = np.empty(2 * BLOCK)

    def minus_log(t: float, rest: float) -> tuple[float, float]:
        """(-ln F(t), -d/dt ln F(t)); rest = 1 - t."""
        return cast("tuple[float, float]", log_product(weights, counts, t, rest, work))

    nodes, node_weights = rule(NODES)
    all_products, all_rests = [], []
    start, error, least = 0.0, 0.0, 0.0
    while start < 1.0:
        height, slope = minus_log(start, 1.0 - start)
        if exp(-height) <= NEGLIGIBLE * least:  # G(start) * (1 - start) = F(start)
            error += float(exp(-height))
            break
        length = min(1.0 - start, PANEL_NATS / slope)
        half = length / 2
        # Each from an end of the panel, so that t and 1 - t both keep their digits.
        times = start + half * (1.0 + nodes)
        rests = (1.0 - start - length) + half * (1.0 - nodes)
        at = zip(times.tolist(), rests.tolist(), strict=True)
        logs = np.array([-minus_log(t, rest)[0] for t, rest in at])
        values = exp(logs) * node_weights * half
        # The left end of the ellipse is its farthest point from each root 1/w >= 1.
        left = start + half - half * (RHO + 1 / RHO) / 2
        growth = -minus_log(left, 1.0 - left)[0]
        error += FACTOR * half * float(exp(growth)) / min(1.0, 1.0 - left)
        error += float((values / rests * (1.0 - logs)).sum()) * ROUNDING
        least += float(values.sum())
        all_products.append(values)
        all_rests.append(rests)
        start += length
    integrals = np.empty(weights.size)
    flip_integrals(weights, np.concatenate(all_products), np.concatenate(all_rests), integrals)
    err = error / float(integrals.min())
    total = float((weights * counts * integrals).sum())
    if not (err <= MAX_ERROR and abs(total - 1.0) <= MAX_ERROR):
        raise PrecisionError("the law of permute-and-flip cannot be computed to 1e-12 here")
    return integrals, err


def nats(height: Fraction) -> float:
    """Convert a height to float64. Overflow gives infinity: an error would depend on the data."""
    try:
        return float(height)
    except OverflowError:
        return math.inf if height > 0 else -math.inf
