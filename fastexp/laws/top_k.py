"""The exact laws of several candidates in order: of top-k by peeling, and of joint top-k.

The law by peeling is Plackett and Luce's. The joint law has closed forms by slices, the sets of
sequences of bounded loss.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from itertools import islice, permutations
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .._randomness.sampling import Sampling
from .._selection import joint_top_k, top_k
from .._selection.scan import bits_value
from .._selection.weighting import Weighting
from .._typing import AnyArray, ArrayLike, FloatArray, IntArray, WordArray
from ..errors import ParameterError
from ..kernels.bits.logexp import LN2
from ..pictures.law_painters import Laws
from .elementary import differences, elementwise, exp, expm1, frozen, log, log_sum_exp, quiet, sums
from .finite import CandidateLaw, FiniteLaw, GroupedLosses, exact_values, nats
from .privacy_loss import LossPieces
from .targets import Target

MAX_SELECTIONS = 1 << 20  # most selections of which a privacy loss is computed
MAX_LOSSES = 1 << 22  # most losses of a joint selection


class OrderedSelections(CandidateLaw[IntArray, IntArray]):
    """A law of k candidates in order."""

    def __init__(
        self,
        bits: WordArray,
        kind: int,
        weighting: Weighting,
        places: int,
        epsilon: float,
        candidates: tuple[Any, ...] | None,
    ) -> None:
        self._places = places
        super().__init__(bits, kind, weighting, epsilon, candidates)

    @property
    def k(self) -> int:
        """How many candidates are selected."""
        return self._places

    def _sizes(self) -> dict[str, int]:
        return {"candidates": self._bits.size}

    def log_probability(self, selection: ArrayLike) -> float:
        """ln P(exactly these candidates are selected, in this order).

        Parameters
        ----------
        selection : array_like of int, shape (k,)
            Indices of distinct candidates. By rounds also fewer than k: of the first places.

        Returns
        -------
        float
            -inf where it is beyond float64.

        Raises
        ------
        ParameterError
            If there are too many or too few, one is out of range, or one comes twice.
        """
        check_rounding()
        return self._log_probability(self._checked(selection))

    def _checked(self, selection: ArrayLike) -> list[int]:
        return validate.indices("selection", selection, self._places, self._bits.size)

    @abstractmethod
    def _log_probability(self, indices: list[int]) -> float:
        """Return the log-probability of checked indices."""

    def _selections(self, kind: str) -> int:
        """Return the number of selections; refuse too many for a privacy loss of all of them."""
        count = math.perm(self._bits.size, self._places)
        if count > MAX_SELECTIONS:
            raise ParameterError(
                f"privacy_loss of {kind} needs at most 2**20 possible selections, got {count}"
            )
        return count

    def _draw(self, sampling: Sampling) -> Any:
        return self._simulate(self._places, self._bits, self._kind, self._weighting, sampling)

    def _output_at(self, index: int) -> tuple[Any, ...]:
        return next(islice(permutations(self._names, self._places), index, None))


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

    _simulate = staticmethod(top_k.simulate)

    def _check_utilities(self) -> None:
        self.first_place  # noqa: B018  # refuses utilities that are not finite

    @cached_property
    def first_place(self) -> FiniteLaw:
        """The law of the first selection alone: an exponential mechanism's."""
        return self._law(self._bits, self._candidates)

    @property
    def mechanism(self) -> Any:
        """The mechanism that this is the law of."""
        return self._maker

    def _subject(self) -> Laws:
        return replace(self.first_place._subject(), mechanism=self._maker)

    def _identity(self) -> tuple[object, ...]:
        return self._places, *self.first_place._identity()

    def _law(self, bits: WordArray, candidates: tuple[Any, ...] | None = None) -> FiniteLaw:
        return FiniteLaw(bits, self._kind, self._weighting, self._epsilon, candidates)

    @cached_property
    def first_place_probabilities(self) -> FloatArray:
        """P(selected first) of each candidate, read-only."""
        check_rounding()
        return self.first_place.probabilities

    def _log_probability(self, indices: list[int]) -> float:
        values = [bits_value(int(self._bits[i]), self._kind) for i in indices]
        rest = np.delete(self._bits, indices)
        others = self._law(rest) if rest.size else None
        total = 0.0
        for i, value in enumerate(values):
            # ln of the sum of exp(c * (u - value)) over the remaining candidates
            gaps = [nats(self._weighting.rate * (u - value)) for u in values[i:]]
            if others is not None:
                gap = nats(self._weighting.rate * (others._best - value))
                gaps.append(gap + others._log_total)
            total -= log_sum_exp(np.array(gaps)) if max(gaps) < math.inf else math.inf
        return total

    def _outputs(self) -> tuple[object, ...]:
        return self._places, *self.first_place._outputs()

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
        return self.first_place._holds(target)


class SliceLevels:
    """Distinct losses in increasing order, and the number of sequences with each. No epsilon.

    `exact` and `losses` are the losses as integers and as floats; `log_masses` and `log_within` are
    ln of the number of sequences with this loss, and of N(v), that with a loss of at most v. N(v)
    is a product of floats with its exponent kept apart. The share of N(v) that is new at v is
    1 - product of (1 - y_i), with y_i the share that is new at place i: a sum of positive terms, so
    that small ones keep their digits.
    """

    def __init__(self, gaps: AnyArray, places: int) -> None:
        self.gaps, self._sorted = gaps, np.sort(gaps)
        self.best = self._sorted[:places]
        distinct = np.unique(self._sorted)
        farthest = int(distinct[-1])
        if farthest < min(MAX_LOSSES, 4 * places * distinct.size):
            levels = np.arange(farthest + 1, dtype=np.uint64)
        elif places * distinct.size <= MAX_LOSSES:
            best = np.unique(self.best)
            levels = np.unique(np.concatenate([distinct[distinct >= gap] - gap for gap in best]))
        else:
            raise ParameterError(f"the law of a joint selection needs at most {MAX_LOSSES} losses")
        self._count(levels)

    def reach(self, place: int, levels: AnyArray) -> IntArray:
        """Return how many items a place may take within each loss."""
        return joint_top_k.reached(self._sorted, levels, self.best[place])

    @quiet
    def _count(self, levels: AnyArray) -> None:
        product, exponent, new = np.ones(levels.size), np.zeros(levels.size), np.zeros(levels.size)
        for place in range(self.best.size):
            reach = self.reach(place, levels)
            free = (reach - place).astype(np.float64)
            share = np.diff(reach, prepend=0) / free
            new += share * (1.0 - new)
            product, twos = np.frexp(product * free)
            exponent += twos
        new[0] = 1.0
        attained = new > 0.0
        self.exact, self.losses = levels[attained], levels[attained].astype(np.float64)
        self.log_within = exponent[attained] * LN2 + log(product[attained])
        self.log_masses = self.log_within + log(new[attained])


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

    _simulate = staticmethod(joint_top_k.simulate)

    def _check_utilities(self) -> None:
        self._groups  # noqa: B018  # refuses too many losses

    def _identity(self) -> tuple[object, ...]:
        return self._epsilon, self._weighting.rate, self._places, self._candidates, self._utilities

    def _subject(self) -> Laws:
        first = SimpleNamespace(probabilities=self.first_place_probabilities)
        return Laws(self.mechanism, "", [first], [None], candidates=self._names)

    @cached_property
    def _groups(self) -> SliceLevels:
        counts = joint_top_k.ordered(self._bits, self._kind)
        gaps = counts.max().view(np.uint64) - counts.view(np.uint64)
        return SliceLevels(gaps, self._places)

    @cached_property
    def _heights(self) -> FloatArray:
        """ln of the weight of each loss."""
        return self._groups.log_masses - self._weighting.rate_nats * self._groups.losses

    @cached_property
    def log_normalizer(self) -> float:
        """ln of the sum of exp(-c * loss) over all selections."""
        check_rounding()
        return log_sum_exp(self._heights)

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
        losses = self._groups.losses

        def masses(flat: FloatArray) -> FloatArray:
            place = losses.searchsorted(flat).clip(max=losses.size - 1)
            return np.where(losses[place] == flat, self._loss_probabilities[place], 0.0)

        return elementwise(masses, wanted)

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
        return int(self._losses_of(np.array(indices)))

    def _losses_of(self, selections: IntArray) -> AnyArray:
        """Return the losses of selections; the last axis holds their indices."""
        chosen = self._groups.gaps[selections]
        return np.asarray((chosen - np.minimum(chosen, self._groups.best)).max(axis=-1))

    @cached_property
    def _slices(self) -> FloatArray:
        """P(the slice's loss is from each loss up to the next one, exclusive)."""
        levels, rate = self._groups, self._weighting.rate_nats
        with np.errstate(over="ignore"):
            steps = np.append(np.diff(levels.exact).astype(np.float64) * rate, math.inf)
        heights = levels.log_within - rate * levels.losses - self.log_normalizer
        shares: FloatArray = exp(heights) * -expm1(-steps)
        return shares

    @cached_property
    def first_place_probabilities(self) -> FloatArray:
        """P(selected first) of each candidate, read-only."""
        check_rounding()
        shares = self._slices / self._groups.reach(0, self._groups.exact)
        runs = self._groups.exact.searchsorted(self._groups.gaps)
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
        levels, gap, out = self._groups.exact, self._groups.gaps[item], np.empty(self._places)
        unused = self._slices.copy()
        for place in range(self._places):
            share = 1.0 / (self._groups.reach(place, levels) - place)
            behind = gap - min(self._groups.best[place], gap)
            share[levels < behind] = 0.0
            out[place] = (unused * share).sum()
            unused *= 1.0 - share
        return out

    def _best_utility(self) -> float:
        return 0.0

    def _outputs(self) -> tuple[object, ...]:
        sizes = self._places, self._bits.size
        return self._epsilon, self._weighting.rate, self._candidates, *sizes

    def _against(self, other: Self) -> LossPieces:
        count = self._selections("joint top-k")
        rate = self._weighting.rate_nats
        order = np.array(list(permutations(range(self._bits.size), self._places)))
        mine, theirs = self._losses_of(order), other._losses_of(order)
        moved = rate * differences(theirs, mine) - (self.log_normalizer - other.log_normalizer)
        first = -rate * mine.astype(np.float64) - self.log_normalizer
        second = -rate * theirs.astype(np.float64) - other.log_normalizer
        return LossPieces(np.ones(count), first, second, moved, np.arange(count))
