"""Groups without a list: a private rule decides which groups of the data appear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from math import inf, log
from typing import Any

import numpy as np

from ..draws.exact import exp_bounds
from ..draws.words import SPARE, further_words, pairs
from ..errors import ParameterError, ParameterTypeError
from ..parameters import checks
from ..privacy.guarantee import Guarantee, up
from ..types import Array, Floats, Integers, Number, Words

BITS = 256  # of the bounds that words are compared with
WORD = 64
LEAST_DELTA, MOST_DELTA, MOST_EPSILON = Fraction(1, 10**60), Fraction(1, 1000), 100
MOST_PERSONS = 1 << 16  # with so many, a group appears for certain
ASSUMES = "the stated person column and limits say which rows belong to one person"


@dataclass(frozen=True)
class PrivateGroups:
    """Groups of the data that have enough persons, selected by an (ε, δ)-private rule.

    For ``groups=`` of a `Query`, if there is no public list of groups. A coin decides for each
    group of the data whether it appears; a group that does not appear is nowhere in the result.

    Parameters
    ----------
    delta : float
        In [1e-60, 1e-3]: the greatest probability with which a group of one person appears.
    epsilon : float
        In nats, > 0, at most 100.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or both are so small that a group
        could need more than 2**16 persons.

    Notes
    -----
    A group of n persons appears with probability p(n): p(0) = 0, p(n) = min(e^ε·p(n - 1) + δ,
    1 - e^-ε·(1 - p(n - 1) - δ), 1). No (ε, δ)-private rule shows more groups. Persons count within
    `max_groups`, even if their records are missing. If the query has no `person`, their number is
    rows / `max_rows`, rounded up.

    **Privacy**: if a person is in at most m groups, the coins cost (m·ε, m·δ) under add-remove, and
    twice that under replace. If the query has no `person`, m is max_groups·max_rows. A budget for
    them needs delta. Which groups are hidden shows neither in names nor in types of the result; the
    number of groups in the data shows in time and memory.

    **Numerics**: epsilon and delta are read as the decimals that they print, p is enclosed by
    integers, and the coins are exact.

    References
    ----------
    Desfontaines, Voss, Gipson and Mandayam, "Differentially private partition selection", PoPETs
    2022, Theorem 2.

    Examples
    --------
    >>> import fastexp as fx
    >>> shops = fx.PrivateGroups(delta=1e-8, epsilon=1.0)
    >>> shops.law([1, 19, 30]).round(3)
    array([0.   , 0.773, 1.   ])
    >>> shops.smallest(0.95)
    21
    """

    delta: Number
    epsilon: Number
    _exact: tuple[Fraction, Fraction] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.positive("epsilon", self.epsilon)
        epsilon, delta = (checks.decimal(x, getattr(self, x)) for x in ("epsilon", "delta"))
        if not LEAST_DELTA <= delta <= MOST_DELTA:
            raise ParameterError(f"delta must be in [1e-60, 1e-3], got {self.delta!r}")
        if epsilon > MOST_EPSILON or 2 * (1 - log(delta)) > epsilon * MOST_PERSONS:
            raise ParameterError(
                "epsilon must be at most 100, and so large that groups need at most 2**16 persons, "
                f"got {self.epsilon!r}"
            )
        vars(self).update(_exact=(epsilon, delta))

    @property
    def guarantee(self) -> Guarantee:
        """The promise of whether one group appears, for one person."""
        epsilon, delta = map(up, self._exact)
        return Guarantee(epsilon, "both", None, inf, delta, ASSUMES)

    def law(self, n: Any) -> Any:
        """Return the probability that a group of n persons appears.

        Parameters
        ----------
        n : int or array_like of int
            Numbers of persons, >= 0.

        Returns
        -------
        float or ndarray of float64
            In the shape of `n`.

        Raises
        ------
        ParameterError, ParameterTypeError
            If `n` are not such numbers.
        """
        checks.arithmetic()
        persons = np.asarray(n)
        if persons.dtype.kind not in "iu":
            raise ParameterTypeError("n must be integers")
        if persons.size and persons.min() < 0:
            raise ParameterError("n must be >= 0")
        found = self._probabilities[np.minimum(persons, self._probabilities.size - 1)]
        return found if persons.ndim else float(found)

    def smallest(self, probability: Number = 0.95) -> int:
        """Return the smallest number of persons with which a group appears so often.

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
            If it is outside its range or no number.
        """
        least = checks.exact("probability", probability)
        if not 0 <= least <= 1:
            raise ParameterError(f"probability must be in [0, 1], got {probability!r}")
        return int(np.searchsorted(self._probabilities, float(least)))

    @cached_property
    def _probabilities(self) -> Floats:
        low, _ = bounds(*self._exact, BITS)
        return np.array([bound / (1 << BITS) for bound in low])

    @cached_property
    def _words(self) -> tuple[Words, Words]:
        """A group appears if its word is below the first number, not if it is above the second."""
        low, high = bounds(*self._exact, BITS)
        below = [bound >> BITS - WORD for bound in low[:-1]]
        above = [max(bound - 1, 0) >> BITS - WORD for bound in high[:-1]]
        return np.array([*below, 0], np.uint64), np.array([*above, 0], np.uint64)

    def _appear(self, persons: Integers, seeds: Words) -> Array:
        """Return a coin for each group: whether it appears."""
        words = pairs(seeds, persons.size, 1)[::2]
        below, above = self._words
        n = np.minimum(persons, below.size - 1)
        is_certain = n == below.size - 1
        found: Array = is_certain | (words < below[n])
        for g in np.flatnonzero(~found & (words <= above[n])).tolist():
            found[g] = self._decide(int(n[g]), int(words[g]), further_words(seeds, g, SPARE))
        return found

    def _decide(self, n: int, lead: int, words: Iterator[int]) -> bool:
        """Return whether a uniform number, of which `lead` are the first bits, is below p(n)."""
        bits = WORD
        while True:
            low, high = bounds(*self._exact, BITS + bits)
            if n >= len(low) or lead + 1 << BITS <= low[n]:
                return True
            if lead << BITS >= high[n]:
                return False
            lead, bits = lead << WORD | next(words), bits + WORD


@lru_cache(maxsize=16)
def bounds(epsilon: Fraction, delta: Fraction, bits: int) -> tuple[list[int], list[int]]:
    """Return integer bounds of 2**bits * p(n) for n = 0, 1, ..., until p is 1."""
    one = 1 << bits
    least_fall, most_fall = exp_bounds(epsilon, bits)
    falls = most_fall, least_fall  # exp(-epsilon), for a lower and an upper bound
    rises = (one << bits) // most_fall, -(-(one << bits) // least_fall)
    scaled = delta * one
    added = scaled.__floor__(), scaled.__ceil__()
    low, high = [0], [0]
    while low[-1] < one:
        for bound, fall, rise, more, up_by in zip(
            (low, high), falls, rises, added, (0, one - 1), strict=True
        ):
            p = bound[-1]
            grown = (p * rise + up_by >> bits) + more
            rest = max(one - p - more, 0) * fall  # what is left, rounded the other way
            filled = one - (rest + (one - 1 - up_by) >> bits)
            bound.append(min(grown, filled, one))
    return low, high
