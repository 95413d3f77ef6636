"""Peers for a table of private medians: new data sets, draws of every cell, their mean errors.

`window` is tuned by hand: blocks of data sets, only the costs that matter, noise from fast
generators (an exponential and a bit; a tangent), only gaps whose weights count. `tuned` has for
each cell the number of draws that makes the whole cheapest at a given standard error. `exact` draws
nothing: it has fastexp's closed forms, in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..harness.workload import DRAW_SEED, Call, FloatArray, Generator
from . import workload as figures
from .workload import ALPHAS, BETAS, BLOCK, CELLS, NOISES, SMOOTH, StudyWork

EXTRA = 1.4  # factor of data sets for `tuned`, the best in a trial of 1.2 to 2
Sums = Callable[[Generator, FloatArray], FloatArray]  # sums of the errors of a block, by cell


def table(work: StudyWork, data_sets: int, sums: Sums) -> Call:
    """Return a call for the mean errors of new data sets, in sorted blocks between the bounds."""
    rng = np.random.Generator(np.random.SFC64(DRAW_SEED))

    def call() -> FloatArray:
        total = np.zeros(len(CELLS))
        for start in range(0, data_sets, BLOCK):
            rows = min(BLOCK, data_sets - start)
            knots = np.empty((rows, work.k + 2))
            knots[:, 0], knots[:, -1] = work.bounds
            x = rng.standard_normal((rows, work.k))
            np.clip(x, *work.bounds, out=x)
            x.sort(axis=1)
            knots[:, 1:-1] = x
            total += sums(rng, knots)
        return total / data_sets

    return call


def tuned(work: StudyWork) -> Call:
    """Somewhat more data sets, with as many draws in each cell as it then needs."""
    _, between, noise = work.spreads
    draws = np.ceil(noise / (between * (EXTRA - 1))).astype(int).tolist()
    return window(work, equal_error=True, draws=draws)


def exact(work: StudyWork) -> Call:
    """Expected errors in place of draws."""

    def sums(_rng: Generator, knots: FloatArray) -> FloatArray:
        mean_errors, _ = figures.errors(knots, work.bounds).swapaxes(0, 1)
        total: FloatArray = mean_errors.sum(axis=1)
        return total

    return table(work, work.rows, sums)


def window(work: StudyWork, *, equal_error: bool = False, draws: list[int] | None = None) -> Call:
    """`size` draws of each data set, or `draws` of each, by cell.

    There are as many data sets as the work has, or as equal errors need.
    """
    (low, high), noisy = work.bounds, len(SMOOTH)
    sizes = draws or [work.size] * len(CELLS)
    data_sets = work.data_sets_for(sizes) if equal_error else work.rows

    def sums(rng: Generator, knots: FloatArray) -> FloatArray:
        x = knots[:, 1:-1]
        centre = x[:, (x.shape[1] - 1) // 2, None].copy()
        sides = low - centre, high - centre
        scales = figures.smooth_rows(x, BETAS, work.bounds) / ALPHAS[:, None]
        total = np.empty(len(CELLS))
        for at, (i, epsilon) in enumerate(CELLS):
            shape = centre.size, sizes[at]
            if at < noisy:
                off = _cauchy(rng, shape) if NOISES[i][0] == "cauchy" else _laplace(rng, shape)
                off *= scales[at][:, None]
                np.clip(off, *sides, out=off)
            else:
                off = _median(rng, knots, epsilon, shape)
            total[at] = np.abs(off, out=off).sum() / sizes[at]
        return total

    return table(work, data_sets, sums)


def _cauchy(rng: Generator, shape: tuple[int, int]) -> FloatArray:
    angle = rng.random(shape)
    angle -= 0.5
    angle *= np.pi
    return np.tan(angle, out=angle)


def _laplace(rng: Generator, shape: tuple[int, int]) -> FloatArray:
    size = rng.standard_exponential(shape)
    bits = np.frombuffer(rng.bytes(size.size), np.int8).reshape(shape)
    return np.copysign(size, bits, out=size)


def _median(
    rng: Generator, knots: FloatArray, epsilon: float, shape: tuple[int, int]
) -> FloatArray:
    """Draw distances from the median by one search: the sums of a row end at its number + 1."""
    n, rows = knots.shape[1] - 2, np.arange(shape[0])[:, None]
    first, last = figures.gaps_that_count(n, epsilon)
    off = knots[:, first : last + 1] - figures.middle(knots)[:, None]
    gaps = np.diff(off, axis=1)
    sums = np.cumsum(gaps * np.exp(-epsilon * np.abs(np.arange(first, last) - n / 2)), axis=1)
    sums /= sums[:, -1:]
    sums += rows
    place = np.searchsorted(sums.ravel(), rng.random(shape) + rows, "right")
    np.minimum(place, sums.size - 1, out=place)
    drawn = rng.random(shape)
    drawn *= gaps.ravel()[place]
    place += rows  # a row of `off` is longer by one
    drawn += off.ravel()[place]
    return drawn
