"""Public grids of significant digits: numbers of all magnitudes, if no bounds are known."""

from __future__ import annotations

import numpy as np

from ..parameters import checks
from ..types import Floats

DECADES = range(-12, 15)  # of positive numbers: from 1e-12 to below 1e15


def digits(digits: int = 3) -> Floats:
    """Return all numbers of so many significant digits, as a `grid` for which no bounds are needed.

    They are 0 and the numbers between 1e-12 and 1e15 of either sign. The error of a median in ranks
    grows with the logarithm of the number of points only: with three digits, it is about 2·10.8/ε
    ranks. A quantile with fewer than about 15/ε records beyond it needs bounds, since one of the
    many points beyond all records is drawn too often.

    Parameters
    ----------
    digits : int
        The number of significant digits, in 1, ..., 5: there are 487 points, 4,861, 48,601, ...

    Returns
    -------
    ndarray of float64
        In increasing order. A part of it is a grid, too, as ``grid[grid >= 0]``.

    Raises
    ------
    ParameterError, ParameterTypeError
        If `digits` is outside its range or no integer.

    Notes
    -----
    **Privacy**: the grid is a constant and does not depend on the data.

    **Numerics**: each point is the double nearest to its decimal.

    Examples
    --------
    >>> import fastexp as fx
    >>> incomes = [1500 + 7 * i for i in range(1000)]
    >>> median = fx.Median(epsilon=1.0, grid=fx.digits(3))
    >>> 4000 < median.release(incomes) < 6000  # except with probability 1e-27 or so
    True
    """
    checks.arithmetic()
    digits = checks.whole("digits", digits, 1, 5)
    mantissas = np.arange(10 ** (digits - 1), 10**digits, dtype=np.float64)
    exponents = [decade - digits + 1 for decade in DECADES]
    # Powers of ten up to 10**22 are doubles: a product or a quotient is rounded once.
    positive = np.concatenate(
        [mantissas * 10.0**e if e > 0 else mantissas / 10.0**-e for e in exponents]
    )
    return np.concatenate([-positive[::-1], [0.0], positive])
