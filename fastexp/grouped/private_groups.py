"""Groups without a list: a private rule decides which groups of the data appear."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._compiler.rounding import check_rounding
from .._intake.record_sources import RecordSource
from .._parameters import validate
from .._randomness.streams import os_word
from .._typing import AnyArray, ArrayLike, FloatArray, IntArray, WordArray
from ..errors import ParameterError
from ..kernels.groups.segment_draws import OPEN
from ..privacy import Guarantee, amounts
from ..privacy.rates import (
    LEAST_JOINT_EPSILON,
    MOST_JOINT_EPSILON,
    joint_rate,
    lattice_step,
)
from ..reference.exact import NextWord, exp_bounds
from .mechanism import AnswerKind, GroupedMechanism, RecordReading
from .segments import Draws, Exact, Segments
from .words import WORDS, WordSource

WORD = 64  # bits
BITS = 256  # bits of the bounds that words are compared with
LEAST_DELTA, MOST_DELTA = 1e-60, 1e-3
MOST_EPSILON = 100.0
MOST_PERSONS = 1 << 16  # groups of this many persons appear for certain, with any parameters
ASSUMES = "the stated person column and limits say correctly which rows belong to one person"


@dataclass(frozen=True)
class PrivateGroups:
    """Groups of the data that have enough persons, selected by an (ε, δ)-private rule.

    For ``groups=`` of a `Query`, if there is no public list of groups. A private rule decides
    whether a group of the data appears; a group that does not appear is nowhere in the result.

    Parameters
    ----------
    delta : float
        In [1e-60, 1e-3]: the largest probability with which a group of one person appears.
    epsilon : float, optional
        In nats, at most 100. With epsilon (rule A), a coin that costs this epsilon decides for each
        group. Without epsilon (rule B), the private total of an answer decides, such as
        ``Median(..., with_total=True)``, which costs no epsilon. If there are several such answers,
        it is the one with the smallest threshold.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or both are so small that a group
        could need more than 2**16 persons.

    Notes
    -----
    **Rule A**: a group of n persons appears with probability p(n), p(0) = 0 and p(n) = min(e^ε·
    p(n - 1) + δ, 1 - e^-ε·(1 - p(n - 1) - δ), 1): no rule that is (ε, δ)-private shows more groups.
    Persons are counted within `max_groups`, even if their records are missing. If the query has no
    `person`, their number is rows / `max_rows`, rounded up.

    **Rule B**: a group appears if the answer counts a record in it and its total reaches τ, the
    smallest multiple h·k of the step of totals with τ >= 2·(max_rows + ln(1/δ)/ε), where ε is the
    epsilon of the answer.

    **Privacy**: if a person is in at most m groups, `Query.total` under add-remove is (m·(ε + Σ
    max_rows·ε_a), m·δ) for rule A and (m·max_rows·Σ ε_a, m·δ) for rule B; under replace twice that.

    **Numerics**: p is enclosed by integers, and the coin is exact.

    **Names** do not depend on groups that are hidden. In text files all names are text. Lists,
    Python objects and categories of pandas have no type of their own: their timestamps are in
    microseconds, and a column without groups has integers. A row whose key cannot be a name (an
    integer beyond int64, text that is not UTF-8 or, in files, of more than 16 KiB) is in no group.

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
                    "epsilon and delta must be larger, for groups to need at most 2**16 persons, "
                    f"got {epsilon!r} and {delta!r}"
                )

    @property
    def guarantee(self) -> Guarantee:
        """The promise of one group: of whether it appears."""
        return Guarantee(self.epsilon or 0.0, "both", None, None, self.delta, ASSUMES)

    def __reduce__(self) -> tuple[Any, ...]:  # without tables
        return PrivateGroups, (self.delta, self.epsilon)

    def law(self, n: ArrayLike) -> Any:
        """Return the probability that a group of n persons appears, by rule A.

        Parameters
        ----------
        n : int or array_like of int
            Numbers of persons, >= 0.

        Returns
        -------
        float or ndarray of float64
            In [0, 1], the shape of `n`.

        Raises
        ------
        ParameterError, ParameterTypeError
            If `n` are not such numbers, or there is no epsilon (rule B depends on the records).
        """
        check_rounding()
        numbers = validate.exact_reals("n", n)
        if numbers.dtype.kind not in "iu" or bool((numbers < 0).any()):
            raise ParameterError("n must be integers >= 0")
        probabilities = self._probabilities[np.minimum(numbers, self._probabilities.size - 1)]
        return probabilities if numbers.ndim else float(probabilities)

    def smallest(self, probability: float = 0.95) -> int:
        """Return the smallest number of persons with which a group appears so often, by rule A.

        Parameters
        ----------
        probability : float
            The probability of appearing, in [0, 1].

        Returns
        -------
        int

        Raises
        ------
        ParameterError, ParameterTypeError
            As for `law`.
        """
        p = validate.fraction("probability", probability)
        return int(np.searchsorted(self._probabilities, p))

    def threshold(self, epsilon: float, max_rows: int = 1) -> int:
        """Return the smallest total with which a group appears, by rule B.

        Parameters
        ----------
        epsilon : float
            The epsilon of the answer.
        max_rows : int
            The `max_rows` of the query.

        Returns
        -------
        int
            A multiple of the step of totals.

        Raises
        ------
        ParameterError, ParameterTypeError
            If an argument is outside its range or of the wrong type.
        """
        max_rows = validate.counting("max_rows", max_rows)
        amounts.within("epsilon", epsilon, (LEAST_JOINT_EPSILON, MOST_JOINT_EPSILON))
        rate, step = joint_rate(epsilon, "add-remove"), lattice_step(epsilon)
        most = Fraction(self.delta) * (1 << BITS)
        least = 2 * max_rows - math.log(self.delta) / float(rate)
        total = step * max(math.floor(least / step) - 1, 0)
        while exp_bounds(max(rate * (total - 2 * max_rows), Fraction(0)), BITS)[1] > most:
            total += step
        return total

    @cached_property
    def _probabilities(self) -> FloatArray:
        """The probabilities that a group of 0, 1, ... persons appears, up to 1."""
        if self.epsilon is None:
            raise ParameterError(
                "epsilon must be given: without it, the groups that appear depend on the records"
            )
        low, _ = bounds_of(self.epsilon, self.delta, BITS)
        return np.array([bound / (1 << BITS) for bound in low])

    @cached_property
    def _thresholds(self) -> tuple[WordArray, WordArray]:
        """Two words for each number of persons.

        The group appears if a random word is below the first, and not if it is above the second.
        """
        low, high = bounds_of(self.epsilon or 0.0, self.delta, BITS)
        rest = BITS - WORD
        below = [bound >> rest for bound in low[:-1]]
        above = [max(bound - 1, 0) >> rest for bound in high[:-1]]
        return np.array(below, np.uint64), np.array(above, np.uint64)


@lru_cache(maxsize=16)
def bounds_of(epsilon: float, delta: float, bits: int) -> tuple[list[int], list[int]]:
    """Return integer bounds on 2**bits * P(appears) for 0, 1, ... persons, until P is 1."""
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
    """The coin of each group by rule A, as one more answer: 1 if the group appears."""

    groups: PrivateGroups
    max_rows: int  # rows of one person; 1 if persons are counted
    like: GroupedMechanism = field(compare=False, repr=False)  # it reads the same column
    _measure = "loss"

    @property
    def epsilon(self) -> float:  # type: ignore[override]  # not written
        """The epsilon of one coin, in nats."""
        return self.groups.epsilon or 0.0

    @property
    def guarantee(self) -> Guarantee:
        """The promise of one group."""
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

    def _reading(self) -> RecordReading:
        return self.like._reading()

    def _read_as(self, nan: str) -> Hashable:  # noqa: ARG002  # all rows are there
        return "rows"

    def _policy(self, nan: object) -> str:  # noqa: ARG002  # all rows are there
        return "drop"

    def _streamed(
        self,
        records: AnyArray | RecordSource,
        threads: int,  # noqa: ARG002  # rows are only counted
    ) -> int:
        rows = records.total() if isinstance(records, RecordSource) else records.size
        return int(appears(self.groups, -(-rows // self.max_rows), os_word(), os_word))

    def _read(
        self,
        records: object,
        nan: str,  # noqa: ARG002  # all rows are there
    ) -> tuple[AnyArray, AnyArray | None]:
        """Return a zero for each row, even if its value is missing."""
        size = self.like._read(records, "drop")[0].size
        return np.broadcast_to(np.int64(0), size), None

    def _place(self, values: AnyArray) -> IntArray:
        return np.zeros(values.size, np.int64)

    def _draws(self, segments: Segments, words: WordSource, size: int) -> Draws:
        return AppearanceDraws(self, segments, words, size)

    def _exact(self, values: AnyArray) -> float:
        """Return the probability that the group appears."""
        return float(self.groups.law(-(-values.size // self.max_rows)))

    def _answer(self, index: int | IntArray, released: bool) -> Any:  # noqa: ARG002  # either way
        return index

    def _kind(self, released: bool) -> AnswerKind:  # noqa: ARG002  # of the Protocol
        return "integers"


def coin_of(
    groups: PrivateGroups, like: GroupedMechanism, person: object, max_rows: int
) -> Appearance:
    """Return the coin of groups by rule A; without persons it counts rows / max_rows."""
    return Appearance(groups, max_rows if person is None else 1, like)


class Deciding(NamedTuple):
    """The answer whose total decides by rule B, and the threshold for it."""

    answer: int
    threshold: int


def deciding(
    groups: PrivateGroups, mechanisms: Sequence[GroupedMechanism], max_rows: int
) -> Deciding | None:
    """Return the answer that decides by rule B; None for rule A."""
    if groups.epsilon is not None:
        return None
    totals = [
        (groups.threshold(mechanism.epsilon, max_rows), i)
        for i, mechanism in enumerate(mechanisms)
        if mechanism._entries[-1:] == ("total",)
    ]
    if not totals:
        raise ParameterError(
            "private groups need an epsilon of their own (epsilon=...), or an answer "
            "with a private total: with_total=True"
        )
    threshold, answer = min(totals)
    return Deciding(answer, threshold)


class AppearanceDraws(Draws):
    """Coins of groups: one random word each, and further ones if it lies between the bounds."""

    def __init__(self, coin: Appearance, segments: Segments, words: WordSource, size: int) -> None:
        super().__init__(segments, words, size)
        self._coin = coin

    def _persons(self, offsets: IntArray) -> IntArray:
        return -(-np.diff(offsets) // self._coin.max_rows)

    def _fill(
        self,
        first: int,  # noqa: ARG002  # only the number of persons matters
        chunk: Segments,
        points: Any,  # noqa: ARG002  # as above
        words: WordArray,
        out: IntArray,
    ) -> None:
        below, above = self._coin.groups._thresholds
        n = np.repeat(self._persons(chunk.offsets), out.size // (chunk.offsets.size - 1))
        word, is_open = words[::WORDS], n < below.size
        known = np.where(is_open, n, 0)
        inside = ~is_open | (word < below[known])
        out[:] = np.where(inside, 1, np.where(word > above[known], 0, OPEN))

    def _exactly(self, g: int, points: Any) -> Exact:  # noqa: ARG002  # as above
        groups, n = self._coin.groups, int(self._persons(self.segments.offsets)[g])

        def draw(words: WordArray, next_word: NextWord) -> int:
            return int(appears(groups, n, int(words[0]), next_word))

        return draw


def appears(groups: PrivateGroups, n: int, word: int, next_word: NextWord) -> bool:
    """Return whether a uniform U, whose first bits are `word`, is below P(n persons appear)."""
    bits, lead = WORD, word
    while True:
        low, high = bounds_of(groups.epsilon or 0.0, groups.delta, BITS + bits)
        if n >= len(low) or lead + 1 << BITS <= low[n]:
            return True
        if lead << BITS >= high[n]:
            return False
        lead, bits = lead << WORD | next_word(), bits + WORD
