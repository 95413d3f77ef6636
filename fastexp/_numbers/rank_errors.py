"""Accuracy of a rank statistic on many data sets: exact figures of its laws on the grid.

These are the figures that `laws/grid.py` gives for one data set, for each row of a matrix of
sorted records. No law is made, and nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from .._intake.record_sources import RecordSource, Sorted
from .._typing import AnyArray, FloatArray, IntArray
from ..kernels.figures import rank_errors, rank_figures
from .distance import RanksThatMatter
from .rank import RankStatistic
from .rank_cells import RowCells, cells_of, kernel_form, row_cells

BITS = 96  # ranks whose points weigh less than 2**-96 are left out unless they count
ROWS = 64  # rows at a time: their cells stay in the L2 cache
RowIndex: TypeAlias = slice | IntArray  # of some rows


class RowFigures(NamedTuple):
    """Figures of each row's law, shape (rows,)."""

    error: FloatArray  # E|output - truth|
    bias: FloatArray  # E output - truth
    loss: FloatArray  # E loss, in units of the utility
    error_square: FloatArray  # E (output - truth)**2
    loss_square: FloatArray  # E loss**2


def is_regular(statistic: RankStatistic, rows: AnyArray) -> bool:
    """Whether the functions below take these sorted rows; if not, `mechanism.law` takes each.

    They do not take rows on grids of points, with `widen`, on grids that kernels do not take,
    without records, or with a record that is NaN.
    """
    plain = statistic.width == 0 and statistic.near is None and rows.ndim == 2
    if not plain or rows.shape[1] == 0 or rows.dtype not in (np.float64, np.int64):
        return False
    return statistic.grid.for_kernels is not None and not bool(np.isnan(rows[:, -1]).any())


def figures(
    statistic: RankStatistic, rows: AnyArray, truths: FloatArray, unit: Fraction = Fraction(1)
) -> RowFigures:
    """Expected errors and losses of each row's exact law on the grid, as its `GridLaw` has them.

    `rows` are sorted, of shape (rows, n); see `is_regular`. `truths`, shape (rows,), are finite,
    points of the grid or not. `unit` is one integer of the distance in units of the utility.

    **Numerics**: float64, of terms >= 0 that are added by halves; what is left out is below 2**-59
    of each sum. The expected error and the expected loss have a relative error of some 1e-15, and
    rate * distance * 1e-16 of the weights that count; the mean has that of the expected error. The
    squares are good to some 1e-9. The bits do not depend on the other rows.
    """
    kernel_form(statistic.grid)
    places = statistic.grid.below.index(truths)
    step = float(Fraction(*statistic.grid.unit[1:]))
    off = truths - statistic.grid.values(places)
    outside = np.where((off < 0.0) | (places == statistic.grid.size - 1), off, 0.0)
    shares, at = (off - outside) / step, places.astype(np.float64)

    def fill(row_index: RowIndex, cells: RowCells, out: FloatArray) -> None:
        work = np.empty(rank_figures.work_of(cells.most))
        rate = statistic.weighting.rate_nats
        rank_figures.figures_fill(
            cells.parts, cells.ends, rate, at[row_index], shares[row_index], work, out
        )

    out = _filled(statistic, rows, rank_figures.FIGURES, fill)
    losses = _in_units(out[:, 2], unit), _in_units(out[:, 4], unit * unit)
    mean, square = out[:, 1] * step, out[:, 3] * step**2
    with np.errstate(over="ignore"):
        square += outside * (outside - 2.0 * mean)
    error = out[:, 0] * step + np.abs(outside)
    return RowFigures(error, mean - outside, losses[0], square, losses[1])


def masses(
    statistic: RankStatistic, rows: AnyArray, truths: FloatArray, edges: FloatArray
) -> FloatArray:
    """P(abs(output - truth) <= edge) of each row's exact law on the grid, shape (rows, edges).

    `edges` increase, up to infinity. Points are compared as they are released, differences exactly.
    **Numerics**: float64; what is left out is below 2**-63 of the law, sums are compensated.
    """
    upto = np.ascontiguousarray(edges, np.float64)
    unit, _, scale = kernel_form(statistic.grid.below)

    def fill(row_index: RowIndex, cells: RowCells, out: FloatArray) -> None:
        work = np.empty(rank_errors.work_of(upto.size, cells.most))
        rate = statistic.weighting.rate_nats
        rank_errors.masses_fill(
            cells.parts, cells.ends, rate, unit, scale, truths[row_index], upto, work, out
        )

    return _filled(statistic, rows, upto.size, fill)


def distances(
    statistic: RankStatistic, rows: AnyArray, outputs: AnyArray, unit: Fraction = Fraction(1)
) -> FloatArray:
    """Return the losses of each row's outputs, points of the grid of shape (rows, size)."""
    places = statistic.grid.index(outputs)

    def fill(row_index: RowIndex, cells: RowCells, out: FloatArray) -> None:
        indices = np.ascontiguousarray(places[row_index]).reshape(-1)
        rank_errors.distances_fill(cells.parts, cells.ends, indices, places.shape[1], out)

    return _in_units(_filled(statistic, rows, places.shape[1], fill), unit)


def errors_by_cells(
    rate: float,
    cells: Callable[[int], RowCells],
    places: IntArray,
    shares: FloatArray,
    bits: int = BITS,
) -> FloatArray:
    """E|output - truth| in steps of the grid, by the exact law of one data set.

    `cells(bits)` returns the same as `cells_that_matter`. The truths lie `shares` of a step above
    the grid points `places`, within the grid. Numerics are those of `figures`; they depend only on
    the grid points of the records.
    """
    parts, ends = cells(bits)
    work = np.empty(rank_figures.work_of(parts.size // 3))
    figures = np.empty((places.size, rank_figures.FIGURES))
    at = places.astype(np.float64)
    rank_figures.figures_fill(parts, ends, rate, at, shares, work, figures.reshape(-1))
    errors = figures[:, 0].copy()
    missing = np.isnan(errors)
    if missing.any():  # an end is loose: more ranks are included
        missing_places = places[missing]
        errors[missing] = errors_by_cells(rate, cells, missing_places, shares[missing], 4 * bits)
    return errors


def cells_that_matter(statistic: RankStatistic, source: RecordSource, bits: int) -> RowCells:
    """Return the cells of one data set, in any form, for `bits` bits, on an evenly spaced grid."""
    grid, ranks = statistic.grid, _ranks(statistic, source.total(), bits)
    if statistic.width:  # points near loose cells would be loose, too
        start, count, distance = statistic.cells(source)
        parts = start, count, 2 * distance
    elif isinstance(source, Sorted) and ranks.high >= 0 and grid.for_kernels is not None:
        return row_cells(grid, ranks, source.values[None, :])
    else:
        window = source.window(grid, ranks.low, ranks.high)
        parts = cells_of(window, ranks.form, grid.size, 0)
    return RowCells(np.concatenate(parts), np.array([0, parts[0].size]))


def _filled(
    statistic: RankStatistic,
    rows: AnyArray,
    width: int,
    fill: Callable[[RowIndex, RowCells, FloatArray], None],
) -> FloatArray:
    """Return `width` numbers for each row, from the ranks that matter, or from more ranks.

    `fill` takes some of the rows, their cells and an output; it writes NaN if cells are missing.
    """
    n, bits = rows.shape[1], BITS
    out, rest = np.empty((rows.shape[0], width)), np.arange(rows.shape[0])
    while rest.size:
        ranks = _ranks(statistic, n, bits)
        for begin in range(0, rest.size, ROWS):
            numbers = rest[begin : begin + ROWS]
            first, last = int(numbers[0]), int(numbers[-1])
            row_index = slice(first, last + 1) if last - first < numbers.size else numbers
            part = np.empty((numbers.size, width))
            fill(row_index, row_cells(statistic.grid, ranks, rows[row_index]), part.reshape(-1))
            out[row_index] = part
        rest, bits = np.flatnonzero(np.isnan(out).any(axis=1)), 4 * bits
    return out


@lru_cache(maxsize=64)  # of the last statistics: what is public, and n
def _ranks(statistic: RankStatistic, n: int, bits: int) -> RanksThatMatter:
    rate, grid = statistic.weighting.rate, statistic.grid
    share = bits - grid.size.bit_length()  # a statistic adds the bits of the whole grid
    return RankStatistic(statistic.form, rate, grid, bits=share).ranks_that_matter(n)


def _in_units(distance: FloatArray, unit: Fraction) -> FloatArray:
    return distance * float(unit.numerator) / float(unit.denominator)
