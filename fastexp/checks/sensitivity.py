"""A lower bound on the sensitivity of a score, from pairs of neighbouring data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import nextafter
from typing import Any

from ..data.records import read_utilities
from ..errors import ParameterError, ParameterTypeError, ScoreError
from ..laws.of_data import numbers_of
from ..parameters import checks


@dataclass(frozen=True)
class SensitivityLowerBound:
    """The result of `check_sensitivity`: the true sensitivity is at least this.

    Attributes
    ----------
    sensitivity : float
        The largest change in the utility of one candidate. A smaller sensitivity is wrong.
    range_sensitivity : float
        The largest difference between the changes of two candidates.
    monotonic : bool
        False: a pair changed two utilities in opposite directions, so that ``monotonic=True`` is
        wrong. True proves nothing.
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
    """Return a **lower** bound on the sensitivity of a score: a check, **not a proof**.

    A stated sensitivity below it is refuted. One above it is not confirmed, as the worst pair may
    not have been tried.

    Parameters
    ----------
    score : callable
        ``score(data)`` returns utilities of shape (k,); with `candidates`, ``score(data, r)``
        returns a number.
    neighbors : iterable
        Pairs (data, neighbouring data), such as those of a generator. Include extreme data: no
        records, one record, all records equal, ties, the ends of the range.
    candidates : sequence, optional
        Two or more distinct public labels.

    Returns
    -------
    SensitivityLowerBound
        Not private: take public or synthetic data.

    Raises
    ------
    ScoreError
        If the score or the iterable raises. The message is withheld, as it may contain data.
    InvalidUtilities
        If a utility is NaN or infinite.
    ParameterError, ParameterTypeError
        If there are no pairs, an item is no pair, utilities are not numbers, or their number
        changes.

    Notes
    -----
    **Numerics**: utilities are read as the exact numbers that they are, and results are rounded
    down, so that rounding errors of a float score are part of its sensitivity.

    Examples
    --------
    If a record is replaced, counts change by 1, in opposite directions:

    >>> import fastexp as fx
    >>> pairs = [("ab", "aa"), ("", "a"), ("abc", "abb")]
    >>> fx.check_sensitivity(lambda data, r: data.count(r), pairs, candidates=["a", "b"])
    SensitivityLowerBound(sensitivity=1.0, range_sensitivity=2.0, monotonic=False, pairs=3)
    """
    checks.arithmetic()
    if not callable(score):
        raise ParameterTypeError(
            f"score must be a function, got {type(score).__name__}: give its score, and candidates"
        )
    labels = None if candidates is None else checks.candidates(candidates)
    change, spread, is_monotonic, k = Fraction(0), Fraction(0), True, None
    pairs = _scores(score, neighbors, labels)
    for pair in pairs:
        before, after = map(_exact, pair)
        k = k or len(before)
        if not len(before) == len(after) == k:
            raise ParameterError("score must give the same number of utilities for all data")
        moves = [y - x for x, y in zip(before, after, strict=True)]
        change = max(change, *map(abs, moves))
        spread = max(spread, max(moves) - min(moves))
        is_monotonic = is_monotonic and not min(moves) < 0 < max(moves)
    if not pairs:
        raise ParameterError("neighbors must yield at least one pair")
    return SensitivityLowerBound(_down(change), _down(spread), is_monotonic, len(pairs))


def _scores(score: Callable[..., Any], neighbors: Iterable[Any], labels: Any) -> list[Any]:
    """Return the utilities of each pair; errors lose their messages."""
    with suppress(Exception):  # what is raised after it has no traceback that leads to the data
        return [
            [score(x) if labels is None else [score(x, r) for r in labels] for x in (data, other)]
            for data, other in neighbors
        ]
    raise ScoreError(
        "the score failed (one of data and a candidate needs candidates), or an item of neighbors "
        "is no pair; the message is withheld, because it may contain data"
    )


def _exact(scores: Any) -> list[Fraction]:
    """Return utilities as the exact numbers that they are."""
    row = read_utilities(scores, None)
    if row.rows is not None:
        raise ParameterTypeError("score must give utilities of shape (k,)")
    return list(map(Fraction, numbers_of(row).tolist()))


def _down(number: Fraction) -> float:
    """Return the greatest double that is at most a number >= 0."""
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else nextafter(nearest, 0.0)
