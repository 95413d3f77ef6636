"""The factors of epsilon: what is multiplied with a utility, exactly."""

from __future__ import annotations

from fractions import Fraction

from .._typing import Neighbors


def selection_rate(epsilon: float | Fraction, sensitivity: float, monotonic: bool) -> Fraction:
    """The exact c of the weight exp(c * utility): epsilon over the range sensitivity.

    The range sensitivity of a utility is at most 2 * sensitivity, and sensitivity itself
    where one record moves all utilities in the same direction (`monotonic`). McSherry and
    Talwar 2007; Durfee and Rogers 2019.
    """
    return Fraction(epsilon) / (Fraction(sensitivity) * (1 if monotonic else 2))


def count_rate(epsilon: float, neighbors: Neighbors) -> Fraction:
    """The rate of the utility *count of records*: monotone under add-remove only.

    Adding a record raises one count. Replacing one raises a count and lowers another, so
    the factor 2 stays.
    """
    return selection_rate(epsilon, 1.0, monotonic=neighbors == "add-remove")
