"""The exact law of joint top-k: in closed form by slices, which are sequences of bounded loss."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from types import SimpleNamespace
from typing import Self

import numpy as np

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .._selection.joint_top_k import ordered, reached, simulate
from .._selection.weighting import Weighting
from .._typing import AnyArray, ArrayLike, FloatArray, IntArray, WordArray
from ..errors import ParameterError
from ..kernels.bits.logexp import LN2
from ..pictures.law_painters import Laws
from .candidate_law import OrderedSelections
from .elementary import exp, expm1, frozen, log, quiet, sums
from .exact_differences import differences
from .finite import nats
from .law import shaped_as
from .loss_groups import GroupedLosses, Levels
from .loss_pieces import LossPieces

MOST = 1 << 22  # losses that are looked at


class SliceLevels(Levels):
    """Distinct losses in increasing order, and how many sequences have each. No epsilon.

    `exact` and `losses` are them as integers and as floats, `log_masses` and `log_within` the
    logarithms of how many sequences have it, and have at most it. N(v) is a product of floats with
    its exponent kept apart. The part of N(v) that is new at v is 1 - product of (1 - y_i), where
    y_i is the part that is new at place i: a sum of positive terms, so that small ones keep their
    digits.
    """

    losses: FloatArray

    exact: AnyArray
    log_masses: FloatArray
    log_within: FloatArray

    def __init__(self, gaps: AnyArray, places: int) -> None:
        self._sorted = np.sort(gaps)
        self._best = self._sorted[:places]
        distinct = np.unique(self._sorted)
        farthest = int(distinct[-1])
        self._table: IntArray | None = None
        if farthest < min(MOST, 4 * places * distinct.size):
            self._table = np.bincount(gaps.astype(np.int64)).cumsum()
            levels = np.arange(farthest + 1, dtype=np.uint64)
        elif places * distinct.size <= MOST:
            best = np.unique(self._best)
            levels = np.unique(np.concatenate([distinct[distinct >= gap] - gap for gap in best]))
        else:
            raise ParameterError(f"the law of a joint selection needs at most {MOST} losses")
        self._count(levels)

    def reach(self, place: int, levels: AnyArray) -> IntArray:
        """How many items the place may take, for each of some losses."""
        gap = self._best[place]
        if self._table is not None:
            last = np.uint64(self._table.size - 1)
            return np.asarray(self._table[np.minimum(levels + gap, last)])
        return reached(self._sorted, levels, gap)

    @quiet
    def _count(self, levels: AnyArray) -> None:
        product, exponent, new = np.ones(levels.size), np.zeros(levels.size), np.zeros(levels.size)
        for place in range(self._best.size):
            reach = self.reach(place, levels)
            free = (reach - place).astype(np.float64)
            share = np.diff(reach, prepend=0) / free
            new += share * (1.0 - new)
            product, twos = np.frexp(product * free)
            exponent += twos
        new[0] = 1.0
        some = new > 0.0
        self.exact, self.losses = levels[some], levels[some].astype(np.float64)
        self.log_within = exponent[some] * LN2 + log(product[some])
        self.log_masses = self.log_within + log(new[some])


class JointTopKLaw(OrderedSelections, GroupedLosses[IntArray, IntArray]):
    """The exact distribution of a joint selection of k candidates on one vector of counts.

    Made by ``JointTopK(...).law(counts)``. It holds the counts: **it is private data**, and so is
    a pickle of it; its repr shows nothing of them.

    Notes
    -----
    The loss of a selection is how far its worst place is behind the count that belongs there. P of
    a selection is exp(-c * loss) over the sum of it over all selections, c from epsilon. Of
    N(v) = product over i of (number of counts >= c_i - v, less i - 1) selections the loss is at
    most v, c_i the i-th largest count, i = 1, ..., k: no selection is listed.

    **Numerics**: float64; the logarithm of N(v) is right to some 2**-50 of itself, and what is new
    in N(v) at v is a sum of positive terms. At most 2**22 losses are looked at.

    References
    ----------
    Gillenwater, Joseph, Muñoz Medina and Ribero, "A joint exponential mechanism for
    differentially private top-k", ICML 2022.

    Examples
    --------
    >>> import fastexp as fx
    >>> law = fx.JointTopK(2, epsilon=1.0).law([9, 7, 6, 2])
    >>> round(law.expected_loss(), 6), law.loss_quantile(0.5)
    (1.690105, 1.0)
    >>> round(law.loss_pmf(0), 6)
    0.319959
    >>> law
    JointTopKLaw(JointTopK(k=2, epsilon=1.0, neighbors='add-remove'), candidates=4)
    """

    _simulate = staticmethod(simulate)

    def __init__(
        self,
        bits: WordArray,
        kind: int,
        weighting: Weighting,
        places: int,
        epsilon: float,
        candidates: tuple[object, ...] | None,
        levels: SliceLevels | None = None,
    ) -> None:
        super().__init__(bits, kind, weighting, places, epsilon, candidates)
        counts = ordered(bits, kind)
        self._gaps = counts.max().view(np.uint64) - counts.view(np.uint64)
        self._levels = SliceLevels(self._gaps, places) if levels is None else levels

    def _identity(self) -> tuple[object, ...]:
        return self._epsilon, self._weighting.rate, self._places, self._candidates, self._utilities

    def _subject(self) -> Laws:
        first = SimpleNamespace(probabilities=self.first_place_probabilities)
        return Laws(self.mechanism, "", [first], [None], candidates=self._names)

    @property
    def _groups(self) -> SliceLevels:
        return self._levels

    @cached_property
    def _heights(self) -> FloatArray:
        """ln of the weight of each loss."""
        return self._levels.log_masses - self._weighting.rate_nats * self._levels.losses

    @cached_property
    def log_normalizer(self) -> float:
        """ln of the sum of exp(-c * loss) over all selections."""
        check_rounding()
        top = float(self._heights.max())
        return top + float(log(np.array([exp(self._heights - top).sum()]))[0])

    @cached_property
    def _loss_probabilities(self) -> FloatArray:
        return exp(self._heights - self.log_normalizer)

    def loss_pmf(self, t: ArrayLike) -> float | FloatArray:
        """P(loss = t), elementwise.

        Parameters
        ----------
        t

        Returns
        -------
        float or ndarray of float64
            In [0, 1], the shape of `t`.

        Raises
        ------
        ParameterError, ParameterTypeError
        """
        check_rounding()
        wanted = validate.reals("t", t)
        flat, losses = wanted.reshape(-1), self._levels.losses
        place = losses.searchsorted(flat).clip(max=losses.size - 1)
        return shaped_as(
            wanted, np.where(losses[place] == flat, self._loss_probabilities[place], 0.0)
        )

    def utility(self, selection: ArrayLike) -> int:
        """The utility of a selection: minus its loss. That of each candidate: `utilities`.

        Parameters
        ----------
        selection : array_like of int, shape (k,)
            Indices of distinct candidates, in order.

        Returns
        -------
        int
            Weights are exp(c * utility).

        Raises
        ------
        ParameterError
            As of `log_probability`.

        Examples
        --------
        >>> import fastexp as fx
        >>> law = fx.JointTopK(2, epsilon=1.0).law([9, 7, 6, 2])
        >>> law.utility([0, 1]), law.utility([1, 0]), law.utility([2, 3])
        (0, -2, -5)
        """
        check_rounding()
        return -self._loss(self._checked(selection))

    def _log_probability(self, indices: list[int]) -> float:
        return nats(-self._weighting.rate * self._loss(indices)) - self.log_normalizer

    def _loss(self, indices: list[int]) -> int:
        if len(indices) < self._places:
            raise ParameterError(f"selection must hold {self._places} indices, got {len(indices)}")
        gaps = self._gaps.tolist()
        best = np.sort(self._gaps)[: self._places].tolist()
        return int(max(gaps[item] - gap for item, gap in zip(indices, best, strict=True)))

    @cached_property
    def _slices(self) -> FloatArray:
        """P that the slice is one from each loss up to before the next one."""
        levels, rate = self._levels, self._weighting.rate_nats
        with np.errstate(over="ignore"):
            steps = np.append(np.diff(levels.exact).astype(np.float64) * rate, math.inf)
        heights = levels.log_within - rate * levels.losses - self.log_normalizer
        shares: FloatArray = exp(heights) * -expm1(-steps)
        return shares

    @cached_property
    def first_place_probabilities(self) -> FloatArray:
        """P(selected first) of each candidate, read-only."""
        check_rounding()
        shares = self._slices / self._levels.reach(0, self._levels.exact)
        runs = self._levels.exact.searchsorted(self._gaps)
        return frozen(sums(shares, back=True)[runs])

    def place_probabilities(self, candidate: int) -> FloatArray:
        """P(selected i-th) of one candidate, for i = 1, ..., k; their sum is P(selected).

        Parameters
        ----------
        candidate : int
            Its index.

        Returns
        -------
        ndarray of float64, shape (k,)

        Raises
        ------
        ParameterError, ParameterTypeError
            If there is no such candidate.

        Notes
        -----
        Given a slice, a candidate that may be at a place and is not selected yet is there with
        probability 1 / (number that may be, less those selected).
        """
        check_rounding()
        (item,) = validate.indices("candidate", [candidate], 1, self._bits.size)
        levels, best, out = self._levels.exact, np.sort(self._gaps), np.empty(self._places)
        unused = self._slices.copy()
        for place in range(self._places):
            share = 1.0 / (self._levels.reach(place, levels) - place)
            behind = self._gaps[item] - min(best[place], self._gaps[item])
            share[levels < behind] = 0.0
            out[place] = (unused * share).sum()
            unused *= 1.0 - share
        return out

    def _with_rate(self, rate: Fraction, epsilon: float) -> Self:
        weighting = self._weighting.with_rate(rate)
        places, candidates = self._places, self._candidates
        return type(self)(
            self._bits, self._kind, weighting, places, epsilon, candidates, self._levels
        )

    def _best_utility(self) -> float:
        return 0.0

    def _outputs(self) -> tuple[object, ...]:
        sizes = self._places, self._bits.size
        return self._epsilon, self._weighting.rate, self._candidates, *sizes

    def _against(self, other: Self) -> LossPieces:
        count = self._selections("joint top-k")
        rate = self._weighting.rate_nats
        mine, theirs = self._all_losses(), other._all_losses()
        moved = rate * differences(theirs, mine) - (self.log_normalizer - other.log_normalizer)
        first = -rate * mine.astype(np.float64) - self.log_normalizer
        second = -rate * theirs.astype(np.float64) - other.log_normalizer
        return LossPieces(np.ones(count), first, second, moved, np.arange(count))

    def _all_losses(self) -> AnyArray:
        """The loss of each selection, in the order of their indices."""
        order = np.array(list(permutations(range(self._bits.size), self._places)))
        chosen, best = self._gaps[order], np.sort(self._gaps)[: self._places]
        losses: AnyArray = (chosen - np.minimum(chosen, best)).max(axis=1)
        return losses
