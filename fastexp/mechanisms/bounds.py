"""Bounds on errors and losses that are theorems, not exact laws."""

from __future__ import annotations

from bisect import bisect_left
from math import ceil, e, floor, inf, log, log1p
from typing import Any

import numpy as np

from ..data.records import read_records
from ..draws import smooth
from ..errors import InvalidRecords, ParameterError, ParameterTypeError
from ..parameters import checks
from ..privacy.rates import selection_rate
from ..types import Floats, Missing, Number


def error_bound(
    records: Any,
    epsilon: Number,
    *,
    bounds: Any,
    failure: float = 0.05,
    slope: float | None = None,
    nan: Missing = "raise",
) -> float:
    """Return the error that the private median stays below with probability 1 - failure.

    It is 4·(e - 1)·S/ε·W, with W = W(ε·(b - a) / (C·failure)) of Lambert, and S the smooth
    sensitivity of the lower median under add-remove for ε / (4·W): a theorem, not a prediction.
    ``law.error_quantile(1 - failure)`` is exact.

    Parameters
    ----------
    records : array_like of float, shape (n,)
        At least one; those beyond the bounds count at the bounds.
    epsilon : float
        In nats, > 0.
    bounds : tuple of two numbers
        The least and the greatest answer, a and b.
    failure : float
        The probability of a larger error, in (0, 1).
    slope : float, optional
        C > 0, in units of the records: the numbers at a distance of at most t = 2·W/ε records from
        the median have a length of at least C·t. Default: the greatest such C.
    nan : {"raise", "drop", "lower", "upper"}
        As for `Median`.

    Returns
    -------
    float
        In units of the records; not private. More than b - a says nothing.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `slope` does not hold.
    InvalidRecords
        If there are no records, or a record is NaN.

    Notes
    -----
    The bound is of the density of `Median` with ``convention="lower"``; a fine grid has it, too.
    The paper wants a length of C·t at every t > 0, but its proof uses it at t = 2·W/ε only.

    References
    ----------
    Muñoz Medina and Gillenwater, "Duff: a dataset-based utility function family for the exponential
    mechanism", 2020, Theorem 1.

    Examples
    --------
    >>> import fastexp as fx
    >>> ages = [20 + i / 50 for i in range(2001)]
    >>> round(fx.error_bound(ages, 1.0, bounds=(0, 120)), 2)
    18.73
    >>> law = fx.Median(epsilon=1.0, bounds=(0, 120), convention="lower").law(ages)
    >>> round(law.error_quantile(0.95), 2)
    0.06
    """
    checks.arithmetic()
    half = float(checks.positive("epsilon", epsilon)) / 2
    share = float(checks.quantile("failure", failure))
    low, high = map(float, checks.bounds(bounds))
    data = read_records(records, nan)
    if data.rows is not None:
        raise ParameterTypeError("records must be of shape (n,)")
    ordered = np.sort(data.values)
    if not ordered.size or np.isnan(ordered[-1]):
        raise InvalidRecords("records must not be empty or missing (NaN)")
    values = ordered.clip(low, high)
    if slope is None:
        w = _least(values, low, high, half, log(2 / share))
    else:
        c = float(checks.positive("slope", slope))
        w = _lambert(2 * half * (high - low) / (c * share))
        if c * (w / half) > _length(values, low, high, w / half):
            raise ParameterError("slope must be smaller, or None: it does not hold for the records")
    _, spread = smooth.sensitivities(values[None], half / (2 * w), (low, high), "add-remove")
    return float(2 * (e - 1) * spread[0] / half * w)


def loss_bound(
    t: float,
    *,
    epsilon: Number,
    sensitivity: Number,
    k: int,
    optimal: int = 1,
    monotonic: bool = False,
) -> float:
    """Return the loss that the exponential mechanism reaches with probability at most exp(-t).

    It is (2·sensitivity/epsilon)·(ln(k/optimal) + t).

    Parameters
    ----------
    t : float
        >= 0.
    epsilon : float
        In nats, > 0.
    sensitivity : float
        > 0, in units of the utility.
    k, optimal : int
        The number of candidates, and how many of them are best in the data; 1 needs no data.
    monotonic : bool
        Whether the weight is exp(epsilon * u / sensitivity): then the bound is half as large.

    Returns
    -------
    float
        In units of the utility.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type.

    References
    ----------
    Dwork and Roth, "The algorithmic foundations of differential privacy", 2014, Theorem 3.11 and
    Corollary 3.12.

    Examples
    --------
    >>> import fastexp as fx
    >>> round(fx.loss_bound(0.0, epsilon=1.0, sensitivity=1.0, k=5), 9)
    3.218875825
    >>> law = fx.Exponential(epsilon=1.0, sensitivity=1).law([0, 0, 0, 0, 9])
    >>> law.tail(fx.loss_bound(2.0, epsilon=1.0, sensitivity=1, k=5)) <= 0.1354  # exp(-2)
    True
    """
    rate = selection_rate(epsilon, sensitivity, checks.flag("monotonic", monotonic))
    nats = float(checks.exact("t", t))
    if nats < 0:
        raise ParameterError(f"t must be >= 0, got {t!r}")
    most = checks.whole("k", k, 1, 1 << 62)
    return (log(most / checks.whole("optimal", optimal, 1, most)) + nats) / float(rate)


def _length(values: Floats, low: float, high: float, t: float) -> float:
    """Return the length of the interval of numbers at a distance <= t from the lower median."""
    n, d = values.size, floor(min(t, values.size + 1))
    first, last = (n - d + 1) // 2, (n + d - 1) // 2 + 1
    left = values[first - 1] if first > 0 else low
    return float((values[last - 1] if last <= n else high) - left)


def _least(values: Floats, low: float, high: float, half: float, certain: float) -> float:
    """Return the least W for which some C holds; W rises as C falls.

    At t = W / half, C * t = 2 * (high - low) / failure * exp(-W), so W is at least `needed` of that
    distance, which falls as the distance grows.
    """

    def needed(d: int) -> float:
        length = _length(values, low, high, d)
        return certain + log(high - low) - log(length) if length > 0 else inf

    distances = range(max(values.size + 1, ceil(certain / half)))
    d = bisect_left(distances, True, key=lambda d: needed(d) < (d + 1) * half)
    return max(d * half, needed(d))


def _lambert(z: float) -> float:
    """Return W(z) for z > 0 by Newton's method for w + ln w = ln z."""
    w = log1p(z)
    for _ in range(8):  # each step squares the error
        w += w * (log(z / w) - w) / (1 + w)
    return w
