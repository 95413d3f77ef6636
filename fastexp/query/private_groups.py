"""Groups without a list: a private rule decides which groups of the data appear."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import inf, log
from typing import Any

import numpy as np

from ..draws.coins import BOUND_BITS, bounds
from ..errors import ParameterError, ParameterTypeError
from ..parameters import checks
from ..privacy.guarantee import Guarantee, up
from ..types import Floats, Number

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
    >>> shops.smallest()  # of 95 %
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
        if (persons < 0).any():
            raise ParameterError("n must be >= 0")
        found = self._probabilities[np.minimum(persons.astype("u8"), self._probabilities.size - 1)]
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
        epsilon, delta = self._exact
        low, _ = bounds(epsilon, delta, BOUND_BITS)
        return np.array([bound / (1 << BOUND_BITS) for bound in low])
