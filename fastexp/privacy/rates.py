"""The exact factors by which mechanisms multiply a utility, computed from epsilon."""

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

# Limits for `joint_rate`: below, its law does not fit into 64 bits; above, the weights of
# neighbouring ranks underflow.
LEAST_JOINT_EPSILON, MOST_JOINT_EPSILON = 1e-15, 1024.0


def range_sensitivity(sensitivity: Amount, monotonic: bool) -> Amount:
    """Return how far one record can move the utilities of two candidates apart."""
    return sensitivity if monotonic else 2 * sensitivity


def selection_rate(
    epsilon: float | Fraction, sensitivity: float | Fraction, monotonic: bool
) -> Fraction:
    """Return the exact c of the weight exp(c * utility): epsilon over the range sensitivity.

    The range sensitivity is at most 2 * sensitivity, and only sensitivity if one record moves all
    utilities in the same direction (`monotonic`). McSherry and Talwar 2007; Durfee and Rogers
    2019.

    Parameters
    ----------
    epsilon : float or Fraction
        In nats, > 0.
    sensitivity : float or Fraction
        > 0, in units of the utility.
    monotonic : bool
        Whether one record moves all utilities in the same direction.

    Returns
    -------
    Fraction
        In 1 / (unit of the utility); not rounded.

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
    """Return the exact c of the weight exp(c * count), for utilities that count records.

    Counts are monotonic under add-remove only: adding a record raises one count. Replacing a record
    raises one count and lowers another, so the factor 2 remains.

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
    """Return the exact c of the weight exp(-c * loss) of several places, for counts.

    If a person joins, each count grows by at most the sensitivity, and so does each of the sorted
    counts. A loss then changes by at most the sensitivity, in either direction; if a record is
    replaced, by twice as much. The loss of a single place is the best count less the selected
    one, and both change in one direction.
    """
    moves = sensitivity if neighbors == "add-remove" else 2 * sensitivity
    return selection_rate(epsilon, moves, monotonic=places == 1)


def rank_rate(epsilon: float | Fraction, steps: int) -> Fraction:
    """Return the exact c of the weight exp(-c * distance), for distances in rank.

    The range sensitivity is twice the sensitivity of a distance: one record raises the distances on
    one side of the statistic and lowers those on the other (Smith 2011; Asi and Duchi 2020).

    Parameters
    ----------
    epsilon : float or Fraction
        In nats, > 0.
    steps : int
        The integer units by which one record changes a distance, >= 1.

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
    """Return the exact c of the weight exp(-c * distance) of several quantiles at once.

    The distance is the sum, over the m + 1 intervals between answers, of how far the number of
    records in each is from its target. Under add-remove the targets are shares of an outcome t,
    not of the number of records: one record changes one term, by 1. Replacing a record moves it
    from one interval to another. In both cases the range is twice the change.
    """
    return rank_rate(epsilon, 1 if neighbors == "add-remove" else 2)


def lattice_step(epsilon: float) -> int:
    """Return the step of the outcomes t of `joint_rate`: the least power of two that is suitable.

    It is at least 8 / epsilon and at least 1. It is public and costs no privacy. Fewer outcomes
    are faster, and this step hardly changes the accuracy.
    """
    least = math.ceil(8 / Fraction(epsilon))
    return 1 << (least - 1).bit_length()


def joint_exponential_rate(epsilon: float, shares: Sequence[Fraction]) -> Fraction:
    """Return the rate of `joint_rate` if targets are shares of n, under add-remove.

    One record changes the term of its own interval by 1 - share, and the other terms by their
    shares: in total by 2 * (1 - share) (Gillenwater, Joseph and Kulesza 2021).
    """
    return selection_rate(epsilon, 2 * (1 - min(shares)), monotonic=False)


def tree_epsilon(epsilon: float, count: int, neighbors: Neighbors) -> Fraction:
    """Return the epsilon of each draw if quantiles are drawn as a tree, the middle one first.

    There are floor(log2(count)) + 1 levels. The draws of a level share no records, so that adding
    or removing a record changes one draw in each level. Replacing is a removal and an addition.
    """
    steps = 1 if neighbors == "add-remove" else 2
    return Fraction(epsilon) / (count.bit_length() * steps)


def price_rate(epsilon: float, highest: Fraction, scaling: str) -> Fraction:
    """Return the rate of the utility *revenue*, price * number of bids >= price.

    Adding, removing or moving a bid changes the revenue of all prices in the same direction, by
    at most the highest price. The utility is therefore monotonic under both relations, if no price
    is negative. The scaling "textbook" ignores this and divides by twice the sensitivity.
    """
    return Fraction(epsilon) / range_sensitivity(highest, scaling == "tight")


def price_epsilon(epsilon: float, scaling: str) -> float:
    """Return the promise of `price_rate`, both as epsilon and as bounded range."""
    return amounts.up(amounts.exact(epsilon) / 2) if scaling == "textbook" else epsilon


def laplace_rate(
    epsilon: float, sensitivity: Fraction, exact: Fraction, step: Fraction, steps: int | None
) -> Fraction:
    """Return the rate a of Laplace noise: a point n steps from the statistic has weight exp(-a*n).

    `sensitivity` is the printed decimal and `exact` the stored number; the larger one counts.
    Between bounds that are `steps` apart, a is solved for: `bounded_laplace_rate`. Without bounds
    (`steps` is None) the step divides the sensitivity, and a is epsilon per sensitivity: the
    normaliser has the step as its period, and its logarithm has a slope of at most a, so that
    moving the statistic by less costs less. If `exact` is larger by e, that slope costs as much as
    the distance e does.
    """
    excess = max(exact - sensitivity, Fraction(0))
    if steps is None:
        return Fraction(epsilon) * step / (sensitivity + 2 * excess)
    reach = min((sensitivity + excess) / step, Fraction(steps))
    return bounded_laplace_rate(Fraction(epsilon), steps, reach)
