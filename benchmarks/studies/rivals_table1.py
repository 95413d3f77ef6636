"""Peers for a table of private medians: new data sets, draws of every cell, their mean errors.

`plain` is what a good practitioner writes: one data set after the other, the widest window of
each cost once for all betas, NumPy's own noise. `window` is tuned by hand: blocks of data sets,
only the costs that matter, noise from the faster generators (an exponential and a bit; a
tangent), gaps only where their weight counts. `tuned` has for each cell the number of draws
that makes the whole cheapest at the asked standard error; `exact` draws nothing: the closed
forms that fastexp has, in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..harness.workload import DRAW_SEED, Call, FloatArray, Generator
from . import workload as figures
from .workload import ALPHAS, BETAS, BLOCK, CELLS, NOISES, SMOOTH, StudyWork

EXTRA = 1.4  # times the data sets of `tuned`: a trial of 1.2 to 2
Sums = Callable[[Generator, FloatArray], FloatArray]  # of the errors of a block, cell by cell


def table(work: StudyWork, data_sets: int, sums: Sums, block: int = BLOCK) -> Call:
    """The mean errors of so many new data sets, in sorted blocks between the bounds."""
    rng = np.random.Generator(np.random.SFC64(DRAW_SEED))

    def call() -> FloatArray:
        total = np.zeros(len(CELLS))
        for start in range(0, data_sets, block):
            rows = min(block, data_sets - start)
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
    """Somewhat more data sets, and in each cell the draws that it then needs."""
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


def plain(work: StudyWork, *, equal_error: bool = False) -> Call:
    """`size` draws of as many data sets as the work has, or as equal errors make necessary."""
    n, size = work.k, work.size
    weights = np.exp(-BETAS[:, None] * np.arange(n + 1))
    ranks = {e: np.exp(-e * np.abs(np.arange(n + 1) - n / 2)) for i, e in CELLS if i == len(NOISES)}
    m, (low, high) = (n + 1) // 2, work.bounds
    data_sets = work.data_sets_for([size] * len(CELLS)) if equal_error else work.rows
    padded = np.concatenate([np.full(n, low), np.empty(n), np.full(n, high)])

    def sums(rng: Generator, knots: FloatArray) -> FloatArray:
        rows = []
        for row in knots:
            padded[n : 2 * n] = row[1:-1]
            at = n + m - 1  # of the median
            widest = np.empty(n + 1)
            for k in range(n + 1):
                widest[k] = (padded[at : at + k + 2] - padded[at - k - 1 : at + 1]).max()
            scales = (weights * widest).max(axis=1) / ALPHAS
            errors = []
            for (i, _), scale in zip(SMOOTH, scales.tolist(), strict=True):
                draw = rng.standard_cauchy if NOISES[i][0] == "cauchy" else rng.laplace
                noise = draw(size=size)
                drawn = np.clip(row[m] + scale * noise, low, high)
                errors.append(np.abs(drawn - row[m]).mean())
            gaps, centre = np.diff(row), 0.5 * (row[m] + row[n // 2 + 1])
            for rank in ranks.values():
                masses = np.cumsum(gaps * rank)
                gap = np.searchsorted(masses, rng.random(size) * masses[-1], "right")
                drawn = row[gap] + gaps[gap] * rng.random(size)
                errors.append(np.abs(drawn - centre).mean())
            rows.append(errors)
        total: FloatArray = np.array(rows).sum(axis=0)
        return total

    return table(work, data_sets, sums)


def window(work: StudyWork, *, equal_error: bool = False, draws: list[int] | None = None) -> Call:
    """The same, or with so many draws cell by cell."""
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
    """Distances from the median of draws by one search: a row's sums end at its number + 1."""
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
    place += rows  # of `off` a row has one more
    drawn += off.ravel()[place]
    return drawn
