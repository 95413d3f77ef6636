"""Smooth sensitivity: how far one record moves a median, here and in data sets nearby."""

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
    """Smooth sensitivity of the median, or of another order statistic: exact, for analysis.

    The greatest of exp(-beta * k) * A(k), k = 0, 1, ...; A(k) is the most that one record can
    change the statistic of some data set that k changes of records lead to.

    Parameters
    ----------
    data : array_like, path, callable or (values, counts)
        Records, at least one, in any form that `Median.release` takes.
    beta : float
        The smoothing rate, > 0, in nats a record; public, chosen without the data.
    bounds : (number, number)
        Public limits; records outside are clamped to them.
    rank : int, optional
        Which record is meant, 1 for the least; only where records are replaced. Default: the
        lower median, ceil(n / 2).
    neighbors : {"replace", "add-remove"}
        What one change is: a record replaced, or one added or removed.
    midpoint : bool
        The median is the middle of the lower and the upper one. Not with `rank`.
    nan : {"raise", "drop", "lower", "upper"}
        Missing records: refuse, leave out, or count as one of the bounds.
    assume_sorted : bool
        The records are in increasing order; taken at its word.

    Returns
    -------
    float
        In units of the data; > 0, unless it is below 1e-307 of the bounds' distance.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type.
    InvalidRecords
        If there are no records, which have no median, or some are missing.

    Notes
    -----
    **Privacy**: none. The value depends on the records and must not be released; with noise of a
    scale in proportion to it, the median can be (Nissim et al.). Data sets without records are
    nobody's neighbours here; a mechanism that meets them must treat them apart.

    **Numerics**: the greatest window is found to about an ulp of its weight, and evaluated with
    one exponential of 2 ulp. Only records near the statistic are looked at: O(1 / beta) of sorted
    ones, times the logarithm of the bounds' distance over the result.

    References
    ----------
    Nissim, Raskhodnikova and Smith, "Smooth sensitivity and sampling in private data
    analysis" (2007), Section 3.1: where records are replaced. Under add-remove the same
    definition, with windows whose ends become neighbours at the median.

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
    promised = validate.flag("assume_sorted", assume_sorted)
    source = Records(data).source(nan, assume_sorted=promised)
    if rank is not None and rank > max(source.total(), 1):
        raise ParameterError("rank must be at most the number of records")
    return smooth.one(source, rate, (float(low), float(high)), rank, relation, middle)
