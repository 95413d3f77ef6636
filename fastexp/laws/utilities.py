"""Utilities of numbers: of the median, for intervals between records or points; and revenue."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..data.records import read_records
from ..draws.distance import QuantileDistance
from ..errors import InvalidRecords, ParameterTypeError
from ..kernels.intervals import fill_intervals, fill_utilities
from ..parameters import checks
from ..types import Floats, Integers, Neighbors


def median_utilities(
    records: Any, *, bounds: Any, neighbors: Neighbors = "add-remove", points: Any = None
) -> Any:
    """Return the Duff utility of the median over the intervals between records, or of points.

    The utility is minus the least number of records to add or remove (or to replace) until a number
    is the median.

    Parameters
    ----------
    records : array_like of float, shape (n,)
        Sorted or not; those beyond the bounds count at the bounds.
    bounds : tuple of two numbers
        The least and the greatest answer, public.
    neighbors : {"add-remove", "replace"}
        The neighbour relation.
    points : array_like of float, shape (m,), optional
        Numbers whose utilities are wanted.

    Returns
    -------
    edges : ndarray of float64, shape (n + 2,)
        The bounds, and between them the sorted records. Not private.
    utilities : ndarray of int64, shape (n + 1,)
        Those of the open intervals between two edges. With `points`, only theirs: shape (m,).

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range or of the wrong type.
    InvalidRecords
        If a record is NaN.

    References
    ----------
    Asi and Duchi, "Instance-optimality in differential privacy via approximate inverse sensitivity
    mechanisms", NeurIPS 2020.

    Examples
    --------
    >>> import fastexp as fx
    >>> edges, utilities = fx.median_utilities([2, 5, 9], bounds=(0, 10))
    >>> edges, utilities
    (array([ 0.,  2.,  5.,  9., 10.]), array([-3, -1, -1, -3]))
    >>> fx.median_utilities([2, 5, 9], bounds=(0, 10), points=[5, 6])
    array([ 0, -1])
    """
    checks.arithmetic()
    low, high = map(float, checks.bounds(bounds))
    checks.choice("neighbors", neighbors, ("add-remove", "replace"))
    data = read_records(records)
    if data.rows is not None:
        raise ParameterTypeError("records must be of shape (n,)")
    doubles, n = data.values, data.values.size
    form = np.array(QuantileDistance(Fraction(1, 2), neighbors).form(n), np.int64)
    edges, utilities = np.empty(n + 2), np.empty(n + 1, np.int64)
    if not fill_intervals(doubles, low, high, form, edges, utilities):
        if np.isnan(doubles).any():
            raise InvalidRecords("records must not be missing (NaN)")
        edges[1:-1].sort()
    return (edges, utilities) if points is None else _at_points(edges[1:-1], form, points)


def _at_points(records: Floats, form: Integers, points: Any) -> Integers:
    where = checks.numbers(points)
    if where is None or where.ndim != 1:
        raise ParameterTypeError("points must be numbers of at most 64 bits, of shape (m,)")
    below, upto = (np.searchsorted(records, where, side) for side in ("left", "right"))
    out = np.empty(where.size, np.int64)
    fill_utilities(below, upto, records.size, form, out)
    return out


def revenue(bids: Any, prices: Any) -> Floats:
    """Return the revenue of each price: the price times the number of bids that are not below it.

    Parameters
    ----------
    bids : array_like of float, shape (n,)
        One for each person.
    prices : array_like of float, shape (m,)
        In any order.

    Returns
    -------
    ndarray of float64, shape (m,)
        Not private. A count times a price is rounded once.

    Raises
    ------
    ParameterTypeError
        If an argument is of the wrong type.
    InvalidRecords
        If a bid is NaN.

    Examples
    --------
    >>> import fastexp as fx
    >>> fx.revenue([1, 1, 1, 3.01], [0.99, 1, 1.01, 3.01])
    array([3.96, 4.  , 1.01, 3.01])
    """
    checks.arithmetic()
    data, where = checks.numbers(bids), checks.numbers(prices)
    if data is None or where is None or data.ndim != 1 or where.ndim != 1:
        raise ParameterTypeError("bids and prices must be numbers of at most 64 bits, one a person")
    if np.isnan(data).any():
        raise InvalidRecords("bids must not be missing (NaN)")
    buying = data.size - np.searchsorted(np.sort(data), where)
    return np.asarray(where * buying.astype(np.float64))
