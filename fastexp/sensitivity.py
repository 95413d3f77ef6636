"""A lower bound on the sensitivity of a score, from pairs of neighbouring data."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ._compiler.rounding import check_rounding
from ._intake import utilities
from ._parameters import validate
from ._typing import AnyArray
from .errors import InvalidUtilities, ParameterError, ParameterTypeError, ScoreError

NOT_PAIRS = (
    "neighbors must give pairs (data, neighboring data), without raising (a message of its own is "
    "withheld: it may hold data)"
)
NOT_FINITE = "score must give finite utilities (NaN or infinity found)"
ONE_ROW = "score must give utilities of shape (k,), or a number where candidates are given"
SHAPES = "score must give the same number of utilities for all data, one a candidate"


@dataclass(frozen=True, slots=True)
class SensitivityLowerBound:
    """The result of `check_sensitivity`: the true sensitivity is at least this.

    Attributes
    ----------
    sensitivity : float
        The largest change in the utility of one candidate over all pairs, in units of the
        utility. A smaller sensitivity is wrong.
    range_sensitivity : float
        The largest difference between the changes of two candidates over all pairs: at most twice
        the sensitivity, and at most the sensitivity if utilities are monotonic.
    monotonic : bool
        False: a pair changed two utilities in opposite directions, so that ``monotonic=True``
        is wrong. True: no pair did, which proves nothing.
    pairs : int
        The number of pairs.
    """

    sensitivity: float
    range_sensitivity: float
    monotonic: bool
    pairs: int


def check_sensitivity(
    score: Callable[..., Any], neighbors: Iterable[Any], *, candidates: Any = None
) -> SensitivityLowerBound:
    """Return an empirical **lower** bound on the sensitivity of a score: a check, **not a proof**.

    A stated sensitivity below the result is refuted. A stated sensitivity above it is *not*
    confirmed, as the worst pair may not have been tried. Prove the sensitivity, then use this check
    to find mistakes.

    Parameters
    ----------
    score : callable
        ``score(data)`` returns utilities of shape (k,); with `candidates`,
        ``score(data, candidate)`` returns a number.
    neighbors : iterable
        Pairs (data, neighbouring data), for example from a generator of random data. Include
        extreme data: no records, one record, all records equal, ties, the ends of the range.
    candidates : sequence of hashable, optional
        Public labels, distinct.

    Returns
    -------
    SensitivityLowerBound

    Raises
    ------
    ScoreError
        If the score raises. Its message is withheld, as in a release.
    InvalidUtilities
        If a utility is NaN or infinite.
    ParameterError, ParameterTypeError
        If there are no pairs, an item is not a pair, utilities are not numbers, or their number
        changes.

    Notes
    -----
    **Privacy**: the result is not private. Use public or synthetic data only.

    **Numerics**: utilities are read as the exact numbers that they are. Differences are exact and
    then rounded down, so that the rounding error of a float score is part of its sensitivity.

    **Random pairs**: Rubinstein and Aldà draw the pairs at random from a distribution of data. A
    high quantile of the changes then gives *random* differential privacy, which holds for most
    data from that distribution, but not for all. fastexp does not offer this.

    References
    ----------
    Rubinstein and Aldà, "Pain-free random differential privacy with sensitivity sampling",
    ICML 2017.

    Examples
    --------
    If a record is replaced, counts change by 1, in opposite directions:

    >>> from random import Random
    >>> from fastexp import Exponential, check_sensitivity
    >>> def count(data, colour):
    ...     return data.count(colour)
    >>> colours, random = ["red", "green", "blue"], Random(1)
    >>> def pairs(n):
    ...     for _ in range(n):
    ...         data = random.choices(colours, k=5)
    ...         yield data, [*data[:-1], random.choice(colours)]
    >>> check_sensitivity(count, pairs(100), candidates=colours)
    SensitivityLowerBound(sensitivity=1.0, range_sensitivity=2.0, monotonic=False, pairs=100)

    So a sensitivity below 1 and ``monotonic=True`` would both be wrong:

    >>> m = Exponential.from_score(count, colours, epsilon=1.0, sensitivity=1.0)
    """
    check_rounding()
    if not callable(score):
        raise ParameterTypeError(f"score must be callable, got {type(score).__name__}")
    labels = None if candidates is None else validate.candidates(candidates, least=1)
    change = spread = Fraction(0)
    monotonic, pairs, k = True, 0, None
    for data, other in _pairs(neighbors):
        before, after = _utilities(score, data, labels), _utilities(score, other, labels)
        k = before.size if k is None else k
        if not before.size == after.size == k:
            raise ParameterError(SHAPES)
        least, most = _extremes(before, after)
        change = max(change, most, -least)
        spread = max(spread, most - least)
        monotonic = monotonic and not least < 0 < most
        pairs += 1
    if pairs == 0:
        raise ParameterError("neighbors must yield at least one pair")
    return SensitivityLowerBound(_down(change), _down(spread), monotonic, pairs)


def _pairs(neighbors: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs; errors of the iterable lose their messages."""
    done = False
    try:
        for pair in neighbors:
            data, other = pair
            yield data, other
        done = True
    except Exception:
        done = False
    if not done:  # outside the handler, so that no traceback leads to the data
        raise ParameterTypeError(NOT_PAIRS)


def _utilities(score: Callable[..., Any], data: Any, labels: tuple[Any, ...] | None) -> AnyArray:
    """Return the utilities of the score as an array of int64, uint64 or float64, all finite."""
    scores = None
    try:
        scores = score(data) if labels is None else [score(data, label) for label in labels]
        done = True
    except Exception:
        done = False
    if not done:
        raise ScoreError(utilities.SCORE_FAILED)
    bits, kind = utilities.utilities(scores, None, "raise")
    if bits.ndim != 1:
        raise ParameterTypeError(ONE_ROW)
    array: AnyArray = bits.view((np.float64, np.int64, np.uint64)[kind])
    if not bool(np.isfinite(array).all()):
        raise InvalidUtilities(NOT_FINITE)
    return array


def _extremes(before: AnyArray, after: AnyArray) -> tuple[Fraction, Fraction]:
    """Return the exact minimum and maximum of after - before."""
    if before.dtype == after.dtype == np.float64:
        with np.errstate(all="ignore"):
            change = after - before
            part = change - after  # Knuth's two-sum: change + error is the exact difference
            error = (after - (change - part)) + (-before - part)
        if bool((np.isfinite(change) & np.isfinite(error)).all()):
            least, most = change.min(), change.max()  # rounding preserves the order
            low, high = error[change == least].min(), error[change == most].max()
            return Fraction(least) + Fraction(low), Fraction(most) + Fraction(high)
    exact = [y - x for x, y in zip(_numbers(before), _numbers(after), strict=True)]
    return Fraction(min(exact)), Fraction(max(exact))


def _numbers(array: AnyArray) -> list[Any]:
    """Return the numbers of an array in Python types whose differences are exact."""
    numbers: list[Any] = array.tolist()
    return [Fraction(x) for x in numbers] if array.dtype == np.float64 else numbers


def _down(number: Fraction) -> float:
    """Return the largest float that is at most a number >= 0."""
    try:
        nearest = float(number)
    except OverflowError:
        return sys.float_info.max
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, 0.0)
