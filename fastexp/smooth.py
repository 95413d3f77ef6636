"""Smooth sensitivity: how far one record can move a median, for the data and nearby data sets."""

from __future__ import annotations

from typing import Any, Literal

from ._compiler.rounding import check_rounding
from ._intake.records import Records
from ._numbers import smooth
from ._parameters import validate
from ._parameters.grid import plain_bounds
from .errors import ParameterError


def smooth_sensitivity(
    data: Any,
    beta: float,
    *,
    bounds: tuple[Any, Any],
    rank: int | None = None,
    neighbors: Literal["add-remove", "replace"] = "replace",
    midpoint: bool = False,
    nan: Literal["raise", "drop", "lower", "upper"] = "raise",
    assume_sorted: bool = False,
) -> float:
    """Return the exact smooth sensitivity of the median or another order statistic: for analysis.

    It is the maximum of exp(-beta * k) * A(k) over k = 0, 1, ..., where A(k) is the most by which
    one record can change the statistic of any data set that differs by k changes of records.

    Parameters
    ----------
    data : array_like, path, callable or (values, counts)
        Records, at least one, in any form that `Median.release` takes.
    beta : float
        The smoothing rate, > 0, in nats per record; public, chosen without the data.
    bounds : (number, number)
        Public limits; records outside are clamped to them.
    rank : int, optional
        The rank of the order statistic, 1 for the smallest record; only with "replace". Default:
        the lower median, ceil(n / 2).
    neighbors : {"replace", "add-remove"}
        What a change is: replacing a record, or adding or removing one.
    midpoint : bool
        Whether the median is the midpoint of the lower and the upper median. Not with `rank`.
    nan : {"raise", "drop", "lower", "upper"}
        What to do with missing records: refuse them, leave them out, or count them at a bound.
    assume_sorted : bool
        Whether the records are in increasing order; this is not checked.

    Returns
    -------
    float
        In units of the data; > 0, unless it is below 1e-307 times upper - lower.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type.
    InvalidRecords
        If there are no records, and so no median, or some are missing.

    Notes
    -----
    **Privacy**: none. The value depends on the records and must not be released. The median may be
    released with noise whose scale is proportional to it (Nissim et al.). Here, a data set without
    records is a neighbour of no other; a mechanism must treat it separately.

    **Numerics**: the largest window is found to about an ulp of its weight, and evaluated with an
    exponential that is accurate to 2 ulp. If records are sorted, only those near the statistic are
    read: O(1 / beta) times the logarithm of (upper - lower) / result.

    References
    ----------
    Nissim, Raskhodnikova and Smith, "Smooth sensitivity and sampling in private data
    analysis" (2007), Section 3.1: for replaced records. Under add-remove the definition is
    the same, with windows whose ends become neighbours at the median.

    Examples
    --------
    >>> import fastexp as fx
    >>> round(fx.smooth_sensitivity([1, 2, 4, 7, 8], 0.5, bounds=(0, 10)), 6)
    3.032653
    >>> fx.smooth_sensitivity([1, 2, 4, 7, 8], 1.0, bounds=(0, 10), neighbors="add-remove")
    2.0
    """
    check_rounding()
    rate = validate.positive("beta", beta)
    low, high = plain_bounds(bounds)
    relation, middle = validate.neighbors(neighbors), validate.flag("midpoint", midpoint)
    if rank is not None:
        if middle or relation == "add-remove":
            raise ParameterError('rank must be None with midpoint=True or neighbors="add-remove"')
        rank = validate.counting("rank", rank)
    is_sorted = validate.flag("assume_sorted", assume_sorted)
    source = Records(data).source(nan, assume_sorted=is_sorted)
    if rank is not None and rank > max(source.total(), 1):
        raise ParameterError("rank must be at most the number of records")
    return smooth.one(source, rate, (float(low), float(high)), rank, relation, middle)
