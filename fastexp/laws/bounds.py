"""Bounds on errors and losses that are theorems, not exact laws.

Theorem 1 of the Duff paper bounds the error of the private median by its smooth sensitivity.
Corollary 3.12 of Dwork and Roth 2014 bounds the loss of a selection without data, and gives the
epsilon that is enough for a loss.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any, Literal

import numpy as np

from .._compiler.rounding import check_rounding
from .._intake.record_sources import Sorted
from .._intake.records import Records
from .._numbers import smooth
from .._numbers.rank import few_enough
from .._parameters import validate
from .._parameters.grid import plain_bounds
from .._typing import FloatArray
from ..errors import InvalidRecords, ParameterError
from ..privacy import selection_rate
from .targets import share_of_all


def error_bound(
    records: Any,
    epsilon: float,
    *,
    bounds: tuple[Any, Any],
    failure: float = 0.05,
    slope: float | None = None,
    nan: Literal["raise", "drop", "lower", "upper"] = "raise",
) -> float:
    """The error that the private median stays below with probability 1 - failure.

    The bound is 4 * (e - 1) * SS / epsilon * W, with W = W(epsilon * (b - a) / (C * failure))
    of Lambert, and SS the smooth sensitivity of the lower median under add-remove at beta =
    epsilon / (4 * W). It is a theorem (1 of the Duff paper), not a prediction: `error_quantile` of
    the law is exact.

    Parameters
    ----------
    records : array_like, path, callable or (values, counts)
        At least one, in any form that `Median.release` takes.
    epsilon : float
        The mechanism's epsilon, in nats; in [1e-9, 1e6].
    bounds : (number, number)
        Public limits; records outside are clamped to them.
    failure : float
        The probability of a larger error, in (0, 1).
    slope : float, optional
        C > 0, in units of the data: the numbers at a distance of at most t = 2 * W / epsilon
        records from the median have a length of at least C * t. Default: the greatest such C,
        with which the bound is least.
    nan : {"raise", "drop", "lower", "upper"}
        Missing records: refuse, leave out, or count as one of the bounds.

    Returns
    -------
    float
        In units of the data. It can exceed b - a, and says nothing then.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `slope` does not hold.
    InvalidRecords
        If there are no records, which have no median, or some are missing.

    Notes
    -----
    **Privacy**: none; the bound depends on the records and must not be released. It holds for the
    density of `Median(..., convention="lower").continuous_law(records)`.

    **Numerics**: a few ulp. The paper requires a length of C * t at every t > 0, which no data
    have near 0; its proof uses it only at t = 2 * W / epsilon.

    References
    ----------
    Munoz Medina and Gillenwater, "Duff: a dataset-based utility function family for the
    exponential mechanism" (2020), Theorem 1.

    Examples
    --------
    The exact quantile is far below:

    >>> import fastexp as fx
    >>> ages = [20 + i / 50 for i in range(2001)]
    >>> round(fx.error_bound(ages, 1.0, bounds=(0, 120)), 2)
    18.73
    >>> law = fx.Median(epsilon=1.0, bounds=(0, 120), convention="lower").law(ages)
    >>> round(law.error_quantile(0.95, truth=40), 2)
    0.06
    """
    check_rounding()
    e, share = validate.epsilon(epsilon), share_of_all("failure", failure)
    low, high = (float(limit) for limit in plain_bounds(bounds))
    known = None if slope is None else validate.positive("slope", slope)
    source = Records(records).source(nan)
    n = few_enough(source.total())
    if n == 0:
        raise InvalidRecords(smooth.EMPTY)
    values = np.clip(source.ranked(0, n - 1).astype(np.float64), low, high)
    if known is None:
        w = _least(values, low, high, e, share)
    else:
        w = lambert_w(e / known * ((high - low) / share))
        if not known * (2.0 * w / e) <= length(values, low, high, 2.0 * w / e):
            raise ParameterError(
                "slope must be None, or smaller: this one does not hold for the records"
            )
    sensitivity = smooth.one(Sorted(values), e / (4.0 * w), (low, high), neighbors="add-remove")
    return 4.0 * (math.e - 1.0) * (sensitivity / e) * w


def length(values: FloatArray, low: float, high: float, t: float) -> float:
    """The length of the interval of numbers at a distance <= t from the lower median."""
    n, d = values.size, math.floor(min(t, values.size + 1))
    first, last = (n - d + 1) // 2, (n + d - 1) // 2 + 1
    left = values[first - 1] if first > 0 else low
    right = values[last - 1] if last <= n else high
    return float(right - left)


def _least(values: FloatArray, low: float, high: float, epsilon: float, failure: float) -> float:
    """Return the least W for which some C holds; W rises as C falls.

    At t = 2 * W / epsilon, C * t = 2 * (high - low) / failure * exp(-W), so W must be at least
    `needed(floor(t))`. This falls as the distance grows, and bisection finds the least distance d
    with needed(d) < (d + 1) * epsilon / 2.
    """
    certain, half = math.log(2.0) - math.log(failure), epsilon / 2.0
    longest = certain + math.log(high - low)

    def needed(d: int) -> float:
        span = length(values, low, high, d)
        return longest - math.log(span) if span > 0.0 else math.inf

    distances = range(max(values.size + 1, math.ceil(certain / half)))
    d = bisect_left(distances, True, key=lambda d: needed(d) < (d + 1) * half)
    return max(d * half, needed(d))


def lambert_w(z: float) -> float:
    """Return W(z) for z >= 0, to about an ulp, by Newton's method for w + ln w = ln z."""
    if z == 0.0 or z == math.inf:
        return z
    w = math.log1p(z)  # exceeds W by about ln ln z for large z
    for _ in range(8):  # each step squares the error
        w += w * (math.log(z / w) - w) / (1.0 + w)
    return w


def loss_bound(
    t: float,
    *,
    epsilon: float,
    sensitivity: float,
    k: int,
    optimal: int = 1,
    monotonic: bool = False,
) -> float:
    """The loss that a selection reaches with probability at most exp(-t).

    With k candidates, `optimal` of them best, P(loss >= bound) <= exp(-t) for bound =
    (2 * sensitivity / epsilon) * (ln(k / optimal) + t): Theorem 3.11 in Dwork and Roth, "The
    algorithmic foundations of differential privacy" (2014). `optimal=1` needs no data: Corollary
    3.12.
    `FiniteLaw.theorem_6` puts the exact tail beside.

    Parameters
    ----------
    t : float
        Minus the log of the failure probability; >= 0.
    epsilon : float
        In nats, in [1e-9, 1e6].
    sensitivity : float
        > 0, in units of the utility.
    k, optimal : int
        1 <= optimal <= k.
    monotonic : bool
        The weight is exp(epsilon * u / sensitivity): the bound is half as large.

    Returns
    -------
    float
        In units of the utility.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.

    Examples
    --------
    >>> from fastexp import loss_bound
    >>> round(loss_bound(0.0, epsilon=1.0, sensitivity=1.0, k=5), 9)
    3.218875825
    """
    e, s = validate.epsilon(epsilon), validate.sensitivity(sensitivity)
    rate = selection_rate(e, s, validate.flag("monotonic", monotonic))
    validate.rate(rate)
    most = validate.counting("k", k)
    best = validate.counting("optimal", optimal, most=most)
    return (math.log(most / best) + validate.at_least("t", t, 0.0)) / float(rate)


def epsilon_without_data(
    *,
    k: int,
    sensitivity: float,
    expected_loss: float | None,
    loss: float | None,
    failure: float | None,
    monotonic: bool,
) -> float:
    """Return the result of `fastexp.epsilon_for` without data."""
    if (expected_loss is None) == (loss is None) or (loss is None) != (failure is None):
        raise ParameterError("epsilon_for takes either expected_loss or both loss and failure")
    rate = selection_rate(1.0, 1.0, validate.flag("monotonic", monotonic))
    unit = validate.sensitivity(sensitivity) / float(rate)
    choices = math.log(validate.counting("k", k, least=2))
    if expected_loss is not None:
        epsilon = unit * choices / validate.positive("expected_loss", expected_loss)
    else:
        nats = choices - math.log(share_of_all("failure", failure))
        epsilon = unit * nats / validate.positive("loss", loss)
    if not 0.0 < epsilon < math.inf:
        raise ParameterError(
            "loss or expected_loss must have a ratio to sensitivity within the range of float64"
        )
    return epsilon
