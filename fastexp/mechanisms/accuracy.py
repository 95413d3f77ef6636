"""Expected errors of several mechanisms on many data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.records import read_records
from ..data.segments import Segments
from ..draws import ranks, smooth
from ..errors import InvalidRecords, ParameterError, ParameterTypeError
from ..laws.errors import rank_errors
from ..laws.figures import Figures
from ..laws.runs import quiet
from ..parameters import checks
from ..types import Floats
from .numbers import NumberMechanism
from .quantiles import Quantiles
from .smooth import SmoothSensitivityMedian

AT_ONCE = 1 << 18  # records: they stay in the cache for all mechanisms
FAR, LEAST = 1e150, 1e-300  # the most and the least scale of noise, over a distance
KINDS = NumberMechanism, SmoothSensitivityMedian


def expected_errors(
    records: Any,
    mechanisms: Sequence[Any],
    *,
    truth: Any = None,
    assume_sorted: bool = False,
    variance: bool = False,
) -> Any:
    """Return E|answer - truth| of each mechanism on each data set: exactly, nothing is drawn.

    They are the figures of ``mechanism.law(row).expected_error(truth)``, computed together.

    Parameters
    ----------
    records : array_like of float, shape (rows, n)
        A data set in each row, n >= 1.
    mechanisms : list of mechanisms
        `Median`, `Quantile`, `Price`, `SmoothSensitivityMedian`.
    truth : float or array_like of shape (rows,), optional
        The number from which errors are. Default: the statistic of each row, not clamped to the
        bounds; of smooth noise, that of the clamped row.
    assume_sorted : bool
        Whether each row is in increasing order; this is not checked.
    variance : bool
        Whether the variances of |answer - truth| are wanted, too.

    Returns
    -------
    ndarray of float64, shape (rows, len(mechanisms)), or two of them
        Not private. The errors are within a relative 1e-12 or so, the variances within 1e-9 of the
        mean square.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range or of the wrong type.
    InvalidRecords
        If rows are empty, or a record is NaN.

    Examples
    --------
    >>> import fastexp as fx
    >>> ages = [[30, 31, 32, 60, 61], [20, 20, 20, 21, 80]]
    >>> medians = [fx.Median(epsilon=e, bounds=(0, 120), step=1) for e in (1.0, 10.0)]
    >>> fx.expected_errors(ages, medians).round(1)
    array([[22.1,  2.3],
           [35. ,  0. ]])
    """
    checks.arithmetic()
    for mechanism in mechanisms:
        _check(mechanism)
    data = read_records(records)
    if data.rows is None or not data.values.size:
        raise ParameterTypeError("records must be numbers of shape (rows, n), n >= 1")
    truths = None if truth is None else np.broadcast_to(np.asarray(truth, np.float64), data.rows)
    if truths is not None and not np.isfinite(truths).all():
        raise ParameterError("truth must be finite")
    is_sorted = checks.flag("assume_sorted", assume_sorted)
    figures, matrix = np.empty((data.rows, len(mechanisms), 2)), data.values.reshape(data.rows, -1)
    some = max(AT_ONCE // matrix.shape[1], 1)
    for at in range(0, data.rows, some):
        part = slice(at, at + some)
        rows = matrix[part] if is_sorted else np.sort(matrix[part])
        if np.isnan(rows[:, [0, -1]]).any():
            raise InvalidRecords("records must not be missing (NaN)")
        for j, mechanism in enumerate(mechanisms):
            figures[part, j] = _errors(rows, mechanism, None if truths is None else truths[part])
    errors = figures[..., 0]
    return (errors, figures[..., 1] - errors**2) if variance else errors


def _check(mechanism: Any) -> None:
    """Refuse what has no error."""
    is_several = isinstance(mechanism, Quantiles)
    if not isinstance(mechanism, KINDS) or is_several or mechanism._times:
        raise ParameterTypeError(
            "mechanisms must answer records with a number, not with times or several numbers, got "
            f"{type(mechanism).__name__}: see law, or measure answers in another way"
        )


def statistics(rows: Floats, mechanism: Any) -> Floats:
    """Return the true statistic of each row, which is sorted."""
    _check(mechanism)
    if isinstance(mechanism, SmoothSensitivityMedian):
        return rows[:, (rows.shape[1] - 1) // 2].clip(*mechanism.bounds)
    if isinstance(mechanism._statistic, ranks.RankStatistic):
        lower, upper = mechanism._statistic.distance.ranks(rows.shape[1])
        return rows[:, lower - 1] / 2 + rows[:, upper - 1] / 2
    return np.array([mechanism.law(row).truth for row in rows], np.float64)


def _errors(rows: Floats, mechanism: Any, truths: Floats | None) -> Floats:
    """Return E|error| and its square of each row."""
    data = Segments(rows.reshape(-1), 0, len(rows))
    if isinstance(mechanism, SmoothSensitivityMedian):
        bounds, is_cauchy = mechanism.bounds, mechanism.noise == "cauchy"
        beta, relation = mechanism.beta, mechanism.neighbors
        centres, spreads = smooth.sensitivities(rows, beta, bounds, relation)
        x = centres if truths is None else truths
        return _smooth_errors(centres, spreads / mechanism.alpha, bounds, is_cauchy, x)
    statistic = mechanism._statistic
    out = np.full((len(rows), 2), np.nan)
    if isinstance(statistic, ranks.RankStatistic) and statistic.grid.width:
        x = statistics(rows, mechanism) if truths is None else truths
        out = rank_errors(data, statistic, x)
    for i in np.flatnonzero(np.isnan(out[:, 0])).tolist():
        law = Figures(mechanism._runs(Segments(rows[i], 0)))
        x = law.truth if truths is None else truths[i]
        out[i] = law.expected_error(x), law.std() ** 2 + (law.mean() - x) ** 2
    return out


@quiet
def _smooth_errors(
    centres: Floats, scales: Floats, bounds: Any, is_cauchy: bool, truths: Floats
) -> Floats:
    """Return E|error| and E error**2 of clamp(centre + scale * noise), by closed forms.

    With M(r) = E min(|Z|, r) and S(r) = E min(Z**2, r**2) of the noise Z, the parts of the error
    above and below a centre within the bounds are scale / 2 * M(distance of the bound / scale).
    """
    low, high = map(float, bounds)
    scale = np.maximum(scales, LEAST)
    form = _cauchy if is_cauchy else _laplace
    (below, square), (above, other), (inside, _) = (
        form(np.minimum(np.abs(away) / scale, FAR))
        for away in (centres - low, high - centres, truths.clip(low, high) - centres)
    )
    gap = np.abs(truths.clip(low, high) - centres)
    error = scale / 2 * (below + above) + (gap - scale * inside)
    error += np.abs(truths - truths.clip(low, high))
    bias, away = scale / 2 * (above - below), centres - truths
    return np.stack([error, scale * scale / 2 * (square + other) + away * (away + 2 * bias)], 1)


def _laplace(r: Floats) -> tuple[Floats, Floats]:
    near = np.minimum(r, 1.0)
    far = 2 - 2 * (1 + r) * np.exp(-r)
    return -np.expm1(-r), np.where(r < 1, 2 * np.exp(-near) * (np.expm1(near) - near), far)


def _cauchy(r: Floats) -> tuple[Floats, Floats]:
    away = r * np.arctan2(1.0, r)
    square = r - np.arctan(r) + r * away
    return (np.log1p(r * r) / 2 + away) * (2 / np.pi), square * (2 / np.pi)
