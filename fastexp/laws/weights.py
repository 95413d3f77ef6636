"""The normaliser and the probabilities of candidates, stable for any finite utilities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..data.records import read_utilities
from ..data.segments import Segments
from ..draws.choose import NO_BASE, Weighting, check
from ..draws.exact import MASK_64, of_key
from ..kernels.bits import LN2
from ..kernels.envelope import NOT_FINITE
from ..kernels.jit import BLOCK
from ..kernels.weights import fill_probabilities, sum_weights
from ..parameters import checks
from ..privacy.rates import selection_rate
from ..types import Floats, Number


def log_normalizer(
    utilities: Any,
    epsilon: Number,
    sensitivity: Number = 1,
    *,
    monotonic: bool = False,
    base: Any = None,
) -> float | Floats:
    """Return the logarithm of the sum of all weights base * exp(c * utility).

    Parameters
    ----------
    utilities : array_like
        Finite numbers of shape (k,) or (rows, k), k >= 2.
    epsilon : float
        In nats, > 0.
    sensitivity : float
        > 0, in units of the utility.
    monotonic : bool
        Whether one record moves all utilities in the same direction. c is epsilon / sensitivity if
        so, else epsilon / (2 * sensitivity).
    base : array_like, optional
        A public measure: a number >= 0 for each candidate, two of them > 0; default: 1 for each.

    Returns
    -------
    float or ndarray of float64, shape (rows,)
        In nats; not private. Its error is below 1e-13 plus one unit of its last place.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range or of the wrong type.
    InvalidUtilities
        If a utility is NaN or infinite.

    Examples
    --------
    >>> import fastexp as fx
    >>> round(fx.log_normalizer([1e6, 1e6], 1.0), 6)
    500000.693147
    """
    rows, weighting = _read(utilities, epsilon, sensitivity, monotonic, base)
    logs = []
    for values in rows.values.reshape(rows.rows or 1, -1):
        total, work = _sum(values, rows.kind, weighting)
        best = of_key(int(work[0]) & MASK_64, rows.kind) * weighting.rate
        lift = float(work[1:].view(np.float64)[0])
        logs.append(float(best) + (math.log(total) - LN2 * lift))
    return logs[0] if rows.rows is None else np.array(logs)


def probabilities(
    utilities: Any,
    epsilon: Number,
    sensitivity: Number = 1,
    *,
    monotonic: bool = False,
    base: Any = None,
) -> Floats:
    """Return the probability of each candidate under the exponential mechanism.

    Parameters
    ----------
    utilities, epsilon, sensitivity, monotonic, base
        As for `log_normalizer`.

    Returns
    -------
    ndarray of float64
        In the utilities' shape; not private. The relative error of each is below 1e-13; those of
        weights below 2**-1000 of the greatest one count as that.

    Raises
    ------
    ParameterError, ParameterTypeError, InvalidUtilities
        As for `log_normalizer`.

    Examples
    --------
    >>> import fastexp as fx
    >>> fx.probabilities([3.0, 5.0], epsilon=1.0).round(4)
    array([0.2689, 0.7311])
    """
    rows, weighting = _read(utilities, epsilon, sensitivity, monotonic, base)
    matrix = rows.values.reshape(rows.rows or 1, -1)
    out = np.zeros(matrix.shape)
    for values, into in zip(matrix, out, strict=True):
        total, work = _sum(values, rows.kind, weighting)
        rate = weighting.rate_log2
        fill_probabilities(values, rows.kind, weighting.base, rate, work, total, into)
    return out[0] if rows.rows is None else out


def _read(
    utilities: Any, epsilon: Number, sensitivity: Number, monotonic: bool, base: Any
) -> tuple[Segments, Weighting]:
    checks.arithmetic()
    rate = selection_rate(epsilon, sensitivity, checks.flag("monotonic", monotonic))
    rows = read_utilities(utilities, None)
    k = rows.values.size // (rows.rows or 1)
    return rows, Weighting(rate, NO_BASE if base is None else checks.base(base, k))


def _sum(values: Any, kind: int, weighting: Weighting) -> tuple[float, Any]:
    work = np.empty(3 + values.size // BLOCK, np.int64)
    total = sum_weights(values, kind, weighting.base, weighting.rate_log2, work)
    check(NOT_FINITE if math.isnan(total) else 0)
    return total, work
