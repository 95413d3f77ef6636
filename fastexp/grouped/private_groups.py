"""Groups that nobody listed: which of those that the data have appear, by a private rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._compiler.rounding import check_rounding
from .._intake.record_sources import Source
from .._parameters import validate
from .._randomness.streams import os_word
from .._typing import AnyArray, ArrayLike, FloatArray, IntArray, WordArray
from ..errors import ParameterError
from ..kernels.groups.segment_draws import OPEN
from ..privacy import Guarantee, amounts
from ..privacy.rates import joint_rate, lattice_step
from ..reference.exact import exp_bounds
from .mechanism import GroupedMechanism, Kind, Reading
from .segments import Draws, Exact, Segments
from .words import WORDS, More, Words

WORD = 64  # bits
BITS = 256  # of bounds that words are compared with
LEAST_DELTA, MOST_DELTA = 1e-60, 1e-3
MOST_EPSILON = 100.0
MOST_PERSONS = 1 << 16  # from which on a group appears for certain, at most
ASSUMES = "which rows are one person's, and in how many groups, is as stated"


@dataclass(frozen=True)
class PrivateGroups:
    """Groups that the data have, of which those appear whose persons are many enough: (ε, δ).

    For ``groups=`` of a `Query`. There is no list: a group appears, or not, by a private rule,
    and what does not appear is nowhere in the result.

    Parameters
    ----------
    delta : float
        In [1e-60, 1e-3]: the probability that a group of one person appears is at most this.
    epsilon : float, optional
        In nats, at most 100. With it (rule A) each group has a coin of its own, which costs this.
        Without it (rule B) the private total of an answer decides, at no epsilon: of ``Median(...,
        with_total=True)``, say. Of several such answers it is the one with the least threshold.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or both are so small that a group
        could need more than 2**16 persons.

    Notes
    -----
    **Rule A**: a group of n persons appears with probability p(n), p(0) = 0 and p(n) = min(e^ε·
    p(n - 1) + δ, 1 - e^-ε·(1 - p(n - 1) - δ), 1): no rule that is (ε, δ)-private shows more groups.
    Persons are counted within `max_groups`, whether or not their records are missing; without
    `person` of the query they are rows / `max_rows`, rounded up.

    **Rule B**: a group appears if the answer counts a record in it and its total reaches τ, the
    least multiple h·k of the total's step with τ >= 2·(max_rows + ln(1/δ)/ε), ε the answer's.

    **Privacy**, under add-remove, of a person in at most m groups: `Query.total` is (m·(ε + Σ
    max_rows·ε_a), m·δ) for A and (m·max_rows·Σ ε_a, m·δ) for B; under replace twice that.

    **Numerics**: p is enclosed by integers, and the coin is exact. In files of text names of groups
    are text, whatever they look like: their type must not depend on hidden ones.

    References
    ----------
    Desfontaines, Voss, Gipson and Mandayam, "Differentially private partition selection", PoPETs
    2022 (rule A).

    Examples
    --------
    >>> import fastexp as fx
    >>> shops = fx.PrivateGroups(delta=1e-8, epsilon=1.0)
    >>> shops.law([1, 19, 30]).round(3)
    array([0.   , 0.773, 1.   ])
    >>> shops.smallest(0.95)
    21
    """

    delta: float
    epsilon: float | None = None

    def __post_init__(self) -> None:
        """Validate the parameters."""
        delta = validate.positive("delta", self.delta)
        if not LEAST_DELTA <= delta <= MOST_DELTA:
            raise ParameterError(f"delta must be in [1e-60, 1e-3], got {delta!r}")
        object.__setattr__(self, "delta", delta)
        if self.epsilon is not None:
            epsilon = validate.epsilon(self.epsilon)
            if epsilon > MOST_EPSILON:
                raise ParameterError(f"epsilon of groups must be at most 100, got {epsilon!r}")
            object.__setattr__(self, "epsilon", epsilon)
            if 2 * (1 - math.log(delta)) / epsilon > MOST_PERSONS:
                raise ParameterError(
                    "epsilon and delta must not be so small that groups need more than 2**16 "
                    f"persons, got {epsilon!r} and {delta!r}"
                )

    @property
    def guarantee(self) -> Guarantee:
        """Of which one group appears, whoever joins, leaves or is replaced in it."""
        return Guarantee(self.epsilon or 0.0, "both", None, None, self.delta, ASSUMES)

    def __reduce__(self) -> tuple[Any, ...]:  # without tables
        return PrivateGroups, (self.delta, self.epsilon)

    def law(self, n: ArrayLike) -> Any:
        """P(a group of n persons appears), by rule A.

        Parameters
        ----------
        n : int or array_like of int
            >= 0.

        Returns
        -------
        float or ndarray of float64
            In [0, 1], the shape of `n`.

        Raises
        ------
        ParameterError, ParameterTypeError
            If `n` are not such numbers, or there is no epsilon: by rule B it depends on records.
        """
        check_rounding()
        numbers = validate.exact_reals("n", n)
        if numbers.dtype.kind not in "iu" or bool((numbers < 0).any()):
            raise ParameterError("n must be integers >= 0")
        probabilities = self._probabilities[np.minimum(numbers, self._probabilities.size - 1)]
        return probabilities if numbers.ndim else float(probabilities)

    def smallest(self, probability: float = 0.95) -> int:
        """The least number of persons with which a group appears so often, by rule A.

        Parameters
        ----------
        probability : float
            In [0, 1].

        Returns
        -------
        int

        Raises
        ------
        ParameterError, ParameterTypeError
            As of `law`.
        """
        p = validate.fraction("probability", probability)
        return int(np.searchsorted(self._probabilities, p))

    def threshold(self, epsilon: float, max_rows: int = 1) -> int:
        """The total from which on a group appears, by rule B, of an answer with this epsilon.

        Parameters
        ----------
        epsilon : float
            The answer's.
        max_rows : int
            The query's.

        Returns
        -------
        int
            A multiple of the total's step.

        Raises
        ------
        ParameterError, ParameterTypeError
            If an argument is outside its range or of the wrong type.
        """
        max_rows = validate.counting("max_rows", max_rows)
        amounts.within("epsilon", epsilon, (1e-15, 1024.0))  # as of mechanisms with totals
        exact, step = 2 * joint_rate(epsilon, "add-remove"), lattice_step(epsilon)
        least = 2 * (max_rows - math.log(self.delta) / float(exact))
        multiple = max(math.floor(least / step) - 1, 0)
        while exp_bounds(max(exact * (multiple * step - 2 * max_rows) / 2, Fraction(0)), BITS)[
            1
        ] > Fraction(self.delta) * (1 << BITS):
            multiple += 1
        return multiple * step

    @cached_property
    def _probabilities(self) -> FloatArray:
        """P(a group of 0, 1, ... persons appears), up to 1."""
        if self.epsilon is None:
            raise ParameterError(
                "epsilon must be given: without it which groups appear depends on the records"
            )
        low, _ = bounds_of(self.epsilon, self.delta, BITS)
        return np.array([bound / (1 << BITS) for bound in low])

    @cached_property
    def _thresholds(self) -> tuple[WordArray, WordArray]:
        """Of each number of persons: words below the first ones appear, above the others do not."""
        low, high = bounds_of(self.epsilon or 0.0, self.delta, BITS)
        rest = BITS - WORD
        below = [bound >> rest for bound in low[:-1]]
        above = [max(bound - 1, 0) >> rest for bound in high[:-1]]
        return np.array(below, np.uint64), np.array(above, np.uint64)


@lru_cache(maxsize=16)
def bounds_of(epsilon: float, delta: float, bits: int) -> tuple[list[int], list[int]]:
    """Integers around 2**bits * P(appears) of 0, 1, ... persons, until it is 1."""
    one = 1 << bits
    least_fall, most_fall = exp_bounds(Fraction(epsilon), bits)
    falls = most_fall, least_fall  # exp(-epsilon), for a lower and an upper bound
    rises = (one << bits) // most_fall, -(-(one << bits) // least_fall)
    deltas = math.floor(Fraction(delta) * one), math.ceil(Fraction(delta) * one)
    low, high = [0], [0]
    while low[-1] < one:  # ends: delta >= 1e-60 is not 0 in 256 bits, and each step adds it
        for bounds, fall, rise, added in zip((low, high), falls, rises, deltas, strict=True):
            up = bounds is high
            p, round_up = bounds[-1], one - 1 if up else 0
            grown = (p * rise + round_up >> bits) + added
            rest = max(one - p - added, 0) * fall  # what is left, rounded the other way
            filled = one - (rest + (0 if up else one - 1) >> bits)
            bounds.append(min(grown, filled, one))
    return low, high


@dataclass(frozen=True)
class Appearance(GroupedMechanism):
    """The coin of each group by rule A, as one more answer: 1 where the group appears."""

    groups: PrivateGroups
    max_rows: int  # rows of one person; 1 where persons are counted
    like: GroupedMechanism = field(compare=False, repr=False)  # reads the same column
    _measure = "loss"

    @property
    def epsilon(self) -> float:  # type: ignore[override]  # not written
        """What one coin costs, in nats."""
        return self.groups.epsilon or 0.0

    @property
    def guarantee(self) -> Guarantee:
        """That of the groups."""
        return self.groups.guarantee

    @property
    def _labels(self) -> tuple[Any, ...]:
        return self.like._labels

    @property
    def _in_passes(self) -> bool:
        return False

    @property
    def _places(self) -> int:
        return 1

    def _reading(self) -> Reading:
        return self.like._reading()

    def _read_as(self, nan: str) -> Hashable:  # noqa: ARG002  # all rows are there
        return "rows"

    def _policy(self, nan: object) -> str:  # noqa: ARG002  # all rows are there
        return "drop"

    def _streamed(self, records: AnyArray | Source, threads: int) -> int:  # noqa: ARG002  # a count
        rows = records.total() if isinstance(records, Source) else records.size
        return int(appears(self.groups, -(-rows // self.max_rows), os_word(), os_word))

    def _read(
        self,
        records: object,
        nan: str,  # noqa: ARG002  # all rows are there
    ) -> tuple[AnyArray, AnyArray | None]:
        """A zero for each row, also where a value is missing."""
        size = self.like._read(records, "drop")[0].size
        return np.zeros(size, np.int64), None

    def _place(self, values: AnyArray) -> IntArray:
        return np.zeros(values.size, np.int64)

    def _draws(self, segments: Segments, words: Words, size: int) -> Draws:
        return AppearanceDraws(self, segments, words, size)

    def _exact(self, values: AnyArray) -> float:
        """P(the group appears)."""
        return float(self.groups.law(-(-values.size // self.max_rows)))

    def _answer(self, index: int | IntArray, released: bool) -> Any:  # noqa: ARG002  # either way
        return index

    def _kind(self, released: bool) -> Kind:  # noqa: ARG002  # of the Protocol
        return "integers"


class Deciding(NamedTuple):
    """The answer whose total decides by rule B, and what it must reach."""

    which: int
    threshold: int


def deciding(
    groups: PrivateGroups, mechanisms: Sequence[GroupedMechanism], max_rows: int
) -> Deciding | None:
    """The answer that decides; None by rule A."""
    if groups.epsilon is not None:
        return None
    totals = [
        (groups.threshold(mechanism.epsilon, max_rows), i)
        for i, mechanism in enumerate(mechanisms)
        if mechanism._entries[-1:] == ("total",)
    ]
    if not totals:
        raise ParameterError(
            "groups that are private need an epsilon of their own (--groups-epsilon), or an answer "
            "with a private total: with_total=True"
        )
    threshold, which = min(totals)
    return Deciding(which, threshold)


class AppearanceDraws(Draws):
    """Coins of groups: a word each, and further ones where it lies between bounds."""

    def __init__(self, coin: Appearance, segments: Segments, words: Words, size: int) -> None:
        super().__init__(segments, words, size)
        self._coin = coin

    def _persons(self, offsets: IntArray) -> IntArray:
        return -(-np.diff(offsets) // self._coin.max_rows)

    def _fill(
        self,
        first: int,  # noqa: ARG002  # the number of persons is all
        some: Segments,
        points: Any,  # noqa: ARG002  # as above
        words: WordArray,
        out: IntArray,
    ) -> None:
        below, above = self._coin.groups._thresholds
        n = np.repeat(self._persons(some.offsets), out.size // (some.offsets.size - 1))
        word, is_open = words[::WORDS], n < below.size
        known = np.where(is_open, n, 0)
        inside = ~is_open | (word < below[known])
        out[:] = np.where(inside, 1, np.where(word > above[known], 0, OPEN))

    def _exactly(self, g: int, points: Any) -> Exact:  # noqa: ARG002  # as above
        groups, n = self._coin.groups, int(self._persons(self.segments.offsets)[g])

        def draw(words: WordArray, more: More) -> int:
            return int(appears(groups, n, int(words[0]), more))

        return draw


def appears(groups: PrivateGroups, n: int, word: int, more: Callable[[], int]) -> bool:
    """Whether U < P(a group of n persons appears); U begins with the digits of `word`."""
    bits, lead = WORD, word
    while True:
        low, high = bounds_of(groups.epsilon or 0.0, groups.delta, BITS + bits)
        if n >= len(low) or lead + 1 << BITS <= low[n]:
            return True
        if lead << BITS >= high[n]:
            return False
        lead, bits = lead << WORD | more(), bits + WORD
