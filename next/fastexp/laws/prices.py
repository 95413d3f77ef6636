"""The revenue of prices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidRecords, ParameterTypeError
from ..parameters import checks
from ..types import Floats


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
