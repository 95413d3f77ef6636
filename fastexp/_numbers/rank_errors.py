"""How accurate a rank statistic is on many data sets: exact figures of its laws on the grid.

The figures that `laws/grid.py` gives for one data set, for each row of a matrix of sorted
records. No law is made, and nothing is drawn.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..errors import ParameterTypeError
from ..kernels.bits.logexp import exp_fill
from ..kernels.figures import rank_errors, rank_figures, rank_walk
from . import distance as _distance
from .rank import RankStatistic

TABLE_BITS = (
    64  # ranks of less weight than 2**-64 on the whole grid are rarely met: no table has them
)
MOST_NATS = 600.0  # from the nearest point of one row to that of another
SURE = 2.0**-9  # of a step; with 3 roundings of an index it stays below `MARGIN`


class RowFigures(NamedTuple):
    """Figures of each row's law, shape (rows,)."""

    expected_error: FloatArray  # E|output - truth|
    mean: FloatArray  # E output - truth
    expected_loss: FloatArray  # E loss, in units of the utility
    error_square: FloatArray  # E (output - truth)**2
    loss_square: FloatArray  # E loss**2


def is_regular(statistic: RankStatistic, rows: AnyArray) -> bool:
    """Whether the functions below take these rows; if not, `mechanism.law` takes each of them.

    Parameters
    ----------
    statistic : RankStatistic
        A mechanism's statistic.
    rows : ndarray of float64 or int64, shape (rows, n)
        Each of them sorted.

    Returns
    -------
    bool
        False for grids of points, for `widen`, for grids that kernels do not take, where n
        is 0, a record is NaN or the rate is so large that weights of doubles cannot show it.
    """
    plain = statistic.width == 0 and statistic.near is None and rows.ndim == 2
    if not plain or rows.shape[1] == 0 or rows.dtype not in (np.float64, np.int64):
        return False
    if statistic.grid.for_kernels is None or bool(np.isnan(rows[:, -1]).any()):
        return False
    low, high = _distance.sides(statistic.form_of(rows.shape[1]))
    steepest = max(low.s / low.g, high.s / high.g)  # growth of the distance a rank
    return bool(statistic.weighting.rate_nats * (3.0 + 2.0 * steepest) <= MOST_NATS)


def figures(
    statistic: RankStatistic, rows: AnyArray, truths: FloatArray, unit: Fraction = Fraction(1)
) -> RowFigures:
    """Expected errors and losses of each row's exact law on the grid.

    Parameters
    ----------
    statistic : RankStatistic
        A mechanism's statistic; see `is_regular`.
    rows : ndarray of float64 or int64, shape (rows, n)
        Each of them sorted.
    truths : ndarray of float64, shape (rows,)
        Finite; points of the grid or not.
    unit : Fraction
        One integer of the distance in units of the utility.

    Returns
    -------
    RowFigures
        What `expected_error(truth)`, `mean() - truth` and `expected_loss()` of each row's
        `GridLaw` are.

    Notes
    -----
    **Numerics**: float64, of terms >= 0 from the middle out, until what is left is below
    2**-60 of each sum: the expected error and the expected loss have a relative error of some
    1e-15, and rate * distance * 1e-16 of the weights that count; the mean has that of the
    expected error. The squares are good to some 1e-9. The bits do not depend on the other rows.
    """
    walk, grid = _walk(statistic, rows.shape[1], rows.dtype.kind == "f"), statistic.grid
    places = grid.below.index(truths)
    step = float(Fraction(*grid.unit[1:]))
    shares = (truths - grid.values(places)) / step
    work = np.empty(rank_figures.WORK)
    out = np.empty((rows.shape[0], rank_figures.FIGURES))
    rank_figures.figures_fill(
        _flat_bits(rows), walk.numbers, walk.form, walk.unit, walk.scale, walk.weights,
        places.astype(np.float64), shares, work, out.reshape(-1),
    )  # fmt: skip
    losses = _in_units(out[:, 2], unit), _in_units(out[:, 4], unit * unit)
    return RowFigures(out[:, 0] * step, out[:, 1] * step, losses[0], out[:, 3] * step**2, losses[1])


def masses(
    statistic: RankStatistic, rows: AnyArray, truths: FloatArray, edges: FloatArray
) -> FloatArray:
    """P(abs(output - truth) <= edge) of each row's exact law on the grid.

    Parameters
    ----------
    statistic, rows, truths
        As for `figures`.
    edges : ndarray of float64, shape (m,)
        Increasing; infinite ones too.

    Returns
    -------
    ndarray of float64, shape (rows, m)
        In [0, 1]. Points are compared as they are released, differences exactly.

    Notes
    -----
    **Numerics**: float64; what is left out is below 2**-63 of the law, sums are compensated.
    """
    n = rows.shape[1]
    walk = _walk(statistic, n, rows.dtype.kind == "f")
    at, upto = np.ascontiguousarray(truths), np.ascontiguousarray(edges)
    work = np.empty(rank_figures.SOME + 4 * (4 * n + 3))
    out = np.empty((rows.shape[0], edges.size))
    rank_errors.masses_fill(
        _flat_bits(rows), walk.numbers, walk.form, walk.unit, walk.float_unit, walk.scale,
        walk.weights, at, upto, work, out.reshape(-1),
    )  # fmt: skip
    return out


def distances(
    statistic: RankStatistic, rows: AnyArray, outputs: AnyArray, unit: Fraction = Fraction(1)
) -> FloatArray:
    """The losses of outputs, given for each row.

    Parameters
    ----------
    statistic, rows, unit
        As for `figures`.
    outputs : ndarray of float64 or int64, shape (rows, size)
        Points of the grid.

    Returns
    -------
    ndarray of float64, shape (rows, size)
        The distance beyond the least one on the grid, in units of the utility.
    """
    walk = _walk(statistic, rows.shape[1], rows.dtype.kind == "f")
    flat = np.ascontiguousarray(outputs, dtype=np.float64).reshape(-1)
    out = np.empty(flat.size)
    rank_errors.distances_fill(
        _flat_bits(rows), walk.numbers, walk.form, walk.unit, walk.float_unit, walk.scale,
        flat, outputs.shape[1], out,
    )  # fmt: skip
    return _in_units(out, unit).reshape(outputs.shape)


class Walk(NamedTuple):
    """What kernels take of a statistic and of rows: see `kernels/figures/rank_walk.py`."""

    numbers: IntArray
    form: IntArray
    unit: IntArray  # the grid, for records
    float_unit: IntArray  # the same for floats, for the grid points at or below them
    scale: FloatArray
    weights: FloatArray


def _flat_bits(rows: AnyArray) -> IntArray:
    """The rows' bits, one after the other."""
    return np.ascontiguousarray(rows).view(np.int64).reshape(-1)


@lru_cache(maxsize=64)  # of the last statistics: what is public, and n
def _walk(statistic: RankStatistic, n: int, floating: bool) -> Walk:
    """The walk through rows of n sorted records, of one type."""
    grid, nats = statistic.grid, statistic.weighting.rate_nats
    if grid.for_kernels is None or grid.below.form is None:
        raise ParameterTypeError("rows must be of a statistic on a grid that kernels take")
    floats, integers, scale = grid.for_kernels
    rate = statistic.weighting.rate
    near = RankStatistic(statistic.form, rate, grid, bits=TABLE_BITS)
    form, first, last = near.ranks_that_matter(n)
    below = np.arange(first, last + 2)
    gaps = _distance.distance(form, below, 0, n - below)
    ones = _distance.distance(form, below, 1, np.maximum(n - below - 1, 0))
    least = int(ones[:-1].min())  # the last one is never looked up if it is of rank n
    central = np.flatnonzero(ones[:-1] == least)
    table = np.array([gaps, gaps, ones, ones], np.float64)
    heights = (least - table[::2]) * nats
    powers = np.empty(heights.size)
    exp_fill(heights.reshape(-1), powers)
    table[::2] = powers.reshape(heights.shape)
    middle, sure = first + int(central[central.size // 2]), _sure(scale, grid.size)
    numbers = rank_walk.new_walk(n, first, last + 1, grid.size, middle, least, sure=sure)
    unit, float_unit = floats if floating else integers, grid.below.form[0]
    weights = np.concatenate([[nats, 1.0 / nats], table.reshape(-1)])
    return Walk(numbers, form, unit, float_unit, scale, weights)


def _sure(scale: FloatArray, size: int) -> bool:
    """Whether estimates of grid points, and points, are off by little."""
    _, low, high, share, _ = scale.tolist()
    rounding = math.ulp(max(abs(low), abs(high))) * share
    return bool(rounding < SURE and size < 1 << 43)


def _in_units(distance: FloatArray, unit: Fraction) -> FloatArray:
    """Distances in units of the utility."""
    return distance * float(unit.numerator) / float(unit.denominator)
