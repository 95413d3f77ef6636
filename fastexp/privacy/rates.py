"""The factors of epsilon: what is multiplied with a utility, exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

from .._parameters import validate
from .._typing import Neighbors
from . import amounts
from .bounded_laplace import bounded_laplace_rate

Amount = TypeVar("Amount", int, float, Fraction)


def range_sensitivity(sensitivity: Amount, monotonic: bool) -> Amount:
    """How far one record can move the utilities of two candidates apart: the factor 2, or 1."""
    return sensitivity if monotonic else 2 * sensitivity


def selection_rate(
    epsilon: float | Fraction, sensitivity: float | Fraction, monotonic: bool
) -> Fraction:
    """The exact c of the weight exp(c * utility): epsilon over the range sensitivity.

    The range sensitivity of a utility is at most 2 * sensitivity, and sensitivity itself
    where one record moves all utilities in the same direction (`monotonic`). McSherry and
    Talwar 2007; Durfee and Rogers 2019.

    Parameters
    ----------
    epsilon : float or Fraction
        In nats, > 0.
    sensitivity : float or Fraction
        > 0, in units of the utility.
    monotonic : bool
        One record moves no two utilities in opposite directions.

    Returns
    -------
    Fraction
        One over the unit of the utility; not rounded.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range or of the wrong type.

    Examples
    --------
    >>> from fastexp import privacy
    >>> privacy.selection_rate(1.0, 2.0, monotonic=False)
    Fraction(1, 4)
    """
    validate.positive("epsilon", epsilon)
    validate.positive("sensitivity", sensitivity)
    validate.flag("monotonic", monotonic)
    (e, d), (over, under) = validate.as_ratio(epsilon), validate.as_ratio(sensitivity)
    return Fraction(e * under, d * range_sensitivity(over, monotonic))


def count_rate(epsilon: float, neighbors: Neighbors) -> Fraction:
    """The exact c of the weight exp(c * count), for utilities that count records.

    Counts are monotone under add-remove only: adding a record raises one count. Replacing one
    raises a count and lowers another, so the factor 2 stays.

    Parameters
    ----------
    epsilon : float
        In nats, > 0.
    neighbors : {"add-remove", "replace"}
        The neighbour relation.

    Returns
    -------
    Fraction
        The exact c of the weight exp(c * count).

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range or of the wrong type.

    Examples
    --------
    >>> from fastexp import privacy
    >>> privacy.count_rate(1.0, "add-remove"), privacy.count_rate(1.0, "replace")
    (Fraction(1, 1), Fraction(1, 2))
    """
    neighbors = validate.neighbors(neighbors)
    return selection_rate(epsilon, 1.0, monotonic=neighbors == "add-remove")


def places_rate(epsilon: float, sensitivity: float, places: int, neighbors: Neighbors) -> Fraction:
    """The exact c of the weight exp(-c * loss) of several places, for counts.

    Where somebody comes, each count grows by at most the sensitivity, as does each of the ordered
    ones, so that a loss changes by at most that, in either direction; twice that where a record
    is replaced. One place alone: its loss is the best count less the selected one, which change
    in one direction.
    """
    moves = sensitivity if neighbors == "add-remove" else 2 * sensitivity
    return selection_rate(epsilon, moves, monotonic=places == 1)


def rank_rate(epsilon: float | Fraction, steps: int) -> Fraction:
    """The exact c of the weight exp(-c * distance), for distances in rank.

    The range sensitivity is twice that of a distance: a record above raises the distances on
    one side of the statistic and lowers those on the other (Smith 2011; Asi and Duchi 2020).

    Parameters
    ----------
    epsilon : float or Fraction
        In nats, > 0.
    steps : int
        By how many integer units one record moves a distance, >= 1.

    Returns
    -------
    Fraction
        The exact c of the weight exp(-c * distance).

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range or of the wrong type.

    Examples
    --------
    >>> rank_rate(1.0, 1)
    Fraction(1, 2)
    """
    return selection_rate(epsilon, validate.counting("steps", steps), monotonic=False)


def joint_rate(epsilon: float, neighbors: Neighbors) -> Fraction:
    """The exact c of the weight exp(-c * distance) of several quantiles at once.

    The distance is the sum, over the m + 1 intervals between answers, of how far the number of
    records in each is from its target. Under add-remove targets are shares of an outcome t, not
    of the number of records: one record changes one term, by 1. Replacing one moves a record from
    an interval to another one. The range is twice that in both cases.
    """
    return rank_rate(epsilon, 1 if neighbors == "add-remove" else 2)


def lattice_step(epsilon: float) -> int:
    """Between the outcomes t of `joint_rate`: the least power of two >= 8 / epsilon, at least 1.

    A public number that costs no privacy: the fewer outcomes, the faster, and to the accuracy 8 /
    epsilon is next to nothing.
    """
    least = math.ceil(8 / Fraction(epsilon))
    return 1 << (least - 1).bit_length()


def joint_exponential_rate(epsilon: float, shares: Sequence[Fraction]) -> Fraction:
    """The rate of `joint_rate` where targets are shares of n, under add-remove.

    One record moves the term of its own interval by 1 minus its share, the others by their shares:
    together by 2 * (1 - share) (Gillenwater, Joseph and Kulesza 2021).
    """
    return selection_rate(epsilon, 2 * (1 - min(shares)), monotonic=False)


def tree_epsilon(epsilon: float, count: int, neighbors: Neighbors) -> Fraction:
    """Of each draw where the middle one of `count` quantiles parts the records for the others.

    There are floor(log2(count)) + 1 levels, whose draws have no record in common: one that is
    added or removed is in one draw a level. Replacing a record removes one and adds one.
    """
    steps = 1 if neighbors == "add-remove" else 2
    return Fraction(epsilon) / (count.bit_length() * steps)


def price_rate(epsilon: float, highest: Fraction, scaling: str) -> Fraction:
    """The rate of the utility *revenue*, price * number of bids >= price.

    One bid that is added, removed or moved changes the revenue of all prices in the same
    direction, by at most the highest price: it is monotone under both relations, if no price
    is negative. The "textbook" ignores that and divides by twice the sensitivity.
    """
    return Fraction(epsilon) / range_sensitivity(highest, scaling == "tight")


def price_epsilon(epsilon: float, scaling: str) -> float:
    """What `price_rate` promises, as epsilon and as bounded range."""
    return amounts.up(amounts.exact(epsilon) / 2) if scaling == "textbook" else epsilon


def laplace_rate(
    epsilon: float, sensitivity: Fraction, exact: Fraction, step: Fraction, steps: int | None
) -> Fraction:
    """The rate a of Laplace noise: a point n steps from the statistic has weight exp(-a*n).

    `sensitivity` is the decimal that prints and `exact` the number that is stored; the greater
    one counts. Within bounds, `steps` apart, a is solved for: `bounded_laplace_rate`. On all
    multiples of a step (`steps` None) that divides the sensitivity it is epsilon a sensitivity:
    the normaliser has the step as its period, and its logarithm a slope of at most a, so that
    moving the statistic by less costs less. Where `exact` is greater by e, that slope adds as
    much again as the distance does.
    """
    more = max(exact - sensitivity, Fraction(0))
    if steps is None:
        return Fraction(epsilon) * step / (sensitivity + 2 * more)
    reach = min((sensitivity + more) / step, Fraction(steps))
    return bounded_laplace_rate(Fraction(epsilon), steps, reach)
