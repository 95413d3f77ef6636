"""The inputs of the cases of accuracy studies and smooth sensitivity, and their exact figures.

The table is that of Muñoz Medina and Gillenwater (2020): the median with noise for its smooth
sensitivity (Nissim et al. 2007) in three ways, and the exponential mechanism's median, each at
three epsilons: twelve cells, in the order of `CELLS`, (number of the mechanism, epsilon). All
formulas here are independent code in plain NumPy, without fastexp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, exp, log, pi

import numpy as np

from ..harness.workload import FloatArray
from ..numbers.workload import STUDY, NumberWork

NOISES = (("cauchy", 0.0), ("laplace", 0.001), ("laplace", 0.9))  # with their delta
CELLS = tuple((i, epsilon) for i in range(len(NOISES) + 1) for epsilon in STUDY)
KNOWN = 2_000  # the most data sets with exact figures, with which answers are compared
RATE = 0.1  # beta in the cases of smooth sensitivity alone
CUT = 60.0  # gaps with a weight below exp(-CUT) of the middle gap's are left out
BLOCK = 256  # data sets in a block, the best in a trial of 32 to 256


def alpha_beta(cell: tuple[int, float]) -> tuple[float, float]:
    """Return the published alpha and beta: noise has the scale SS / alpha, SS smooth at beta."""
    (noise, delta), epsilon = NOISES[cell[0]], cell[1]
    if noise == "cauchy":
        return epsilon / 6, epsilon / 6
    return epsilon / 2, epsilon / (2 * log((1 + exp(epsilon / 2)) / delta))


SMOOTH = tuple(cell for cell in CELLS if cell[0] < len(NOISES))
ALPHAS, BETAS = np.array([alpha_beta(cell) for cell in SMOOTH]).T


def reach(x: FloatArray, betas: FloatArray, bounds: tuple[float, float]) -> list[int]:
    """Return the greatest cost that matters for each beta, at which a row can have its maximum."""
    rows, n = x.shape
    m, width, least = (n + 1) // 2, bounds[1] - bounds[0], np.zeros((betas.size, rows))
    k = 1
    while k < min(m, n - m):  # windows that are centred at the median
        spread = x[:, m - 1 + k // 2 + 1] - x[:, m - 1 - (k - k // 2)]
        np.maximum(least, np.exp(-betas * k)[:, None] * spread, out=least)
        k *= 2
    with np.errstate(divide="ignore"):
        far = (log(width) - np.log(least.min(axis=1))) / betas
    return [ceil(min(n, cost)) for cost in far.tolist()]


def smooth_rows(x: FloatArray, betas: FloatArray, bounds: tuple[float, float]) -> FloatArray:
    """Return the smooth sensitivity of sorted rows' lower medians under replace: (betas, rows).

    It takes the widest window of each cost that matters, for all rows at once.
    """
    rows, n = x.shape
    costs, m = reach(x, betas, bounds), (n + 1) // 2
    most = max(costs)
    ranks = np.empty((2 * most + 3, rows))  # from m - most - 1 to m + most + 1
    first, last = max(m - most - 1, 1), min(m + most + 1, n)
    start = first - (m - most - 1)
    stop = start + last - first + 1
    ranks[:start], ranks[stop:] = bounds[0], bounds[1]
    ranks[start:stop] = x[:, first - 1 : last].T
    widest, buffer = np.empty((most + 1, rows)), np.empty((most + 2, rows))
    for k in range(most + 1):
        spread = buffer[: k + 2]
        np.subtract(ranks[most + 1 : most + k + 3], ranks[most - k : most + 2], out=spread)
        np.maximum.reduce(spread, axis=0, out=widest[k])
    smooth, weighted = np.empty((betas.size, rows)), buffer[: most + 1]
    for b, (beta, cost) in enumerate(zip(betas, costs, strict=True)):
        weights = np.exp(-beta * np.arange(cost + 1))[:, None]
        part = np.multiply(widest[: cost + 1], weights, out=weighted[: cost + 1])
        np.maximum.reduce(part, axis=0, out=smooth[b])
    return smooth


def noisy_errors(cell: tuple[int, float], scale: FloatArray, *sides: FloatArray) -> FloatArray:
    """Return E|Y - T| and E|Y - T|**2 of Y = T + scale * Z, clamped at distances `sides` from T."""
    moments = np.zeros((2, scale.size))
    for distance in sides:
        r = distance / scale
        if NOISES[cell[0]][0] == "cauchy":
            angle = np.arctan2(1.0, r)
            moments[0] += (0.5 * np.log1p(r * r) + r * angle) / (pi / 2)
            moments[1] += (r - np.arctan(r) + r * r * angle) / (pi / 2)
        else:
            left = np.exp(-r)
            moments[0] += 1 - left
            moments[1] += 2 - 2 * (1 + r) * left
    moments *= 0.5 * scale
    moments[1] *= scale
    return moments


def median_errors(knots: FloatArray, epsilon: float) -> FloatArray:
    """Return the same for the density exp(-epsilon * |i - n/2|) in gap i, with T the median."""
    n = knots.shape[1] - 2
    first, last = gaps_that_count(n, epsilon)
    off = knots[:, first : last + 1] - middle(knots)[:, None]
    weights = np.exp(-epsilon * np.abs(np.arange(first, last) - n / 2))
    total = np.diff(off, axis=1) @ weights
    sums = [np.diff(part, axis=1) @ weights for part in (off * np.abs(off) / 2, off**3 / 3)]
    moments: FloatArray = np.array(sums) / total
    return moments


def gaps_that_count(n: int, epsilon: float) -> tuple[int, int]:
    """Return the first gap that is not left out, and the first gap after it that is."""
    return max(0, ceil(n / 2 - CUT / epsilon)), min(n, int(n / 2 + CUT / epsilon)) + 1


def middle(knots: FloatArray) -> FloatArray:
    """Return the mean of the lower and the upper median record."""
    n = knots.shape[1] - 2
    mean: FloatArray = 0.5 * (knots[:, (n + 1) // 2] + knots[:, n // 2 + 1])
    return mean


def errors(knots: FloatArray, bounds: tuple[float, float]) -> FloatArray:
    """Return E|Y - T| and E|Y - T|**2 of each cell, given each data set: (cells, 2, rows)."""
    moments = np.empty((len(CELLS), 2, knots.shape[0]))
    for start in range(0, knots.shape[0], BLOCK):
        part = knots[start : start + BLOCK]
        into = moments[..., start : start + BLOCK]
        x = part[:, 1:-1]
        scales = smooth_rows(x, BETAS, bounds) / ALPHAS[:, None]
        centre = x[:, (x.shape[1] - 1) // 2]
        for i, cell in enumerate(CELLS):
            if cell in SMOOTH:
                into[i] = noisy_errors(cell, scales[i], centre - bounds[0], bounds[1] - centre)
            else:
                into[i] = median_errors(part, cell[1])
    return moments


@dataclass(frozen=True, eq=False)
class StudyWork(NumberWork):
    """`rows` data sets of k records and `size` draws of each; or one data set."""

    in_order: bool = False  # whether the one data set is sorted

    @cached_property
    def records(self) -> FloatArray:
        """The data sets with exact figures, with which answers are compared; or one data set."""
        known = min(self.rows, KNOWN)
        records = NumberWork(self.k, rows=known, data=self.data).records
        return np.sort(records) if self.in_order else records

    @cached_property
    def knots(self) -> FloatArray:
        """The clamped records in order between the bounds, (rows, k + 2): gap i is after i."""
        low, high = self.bounds
        inner = np.sort(np.clip(self.records.reshape(-1, self.k), low, high), axis=1)
        return np.pad(inner, ((0, 0), (1, 1)), constant_values=((0, 0), (low, high)))

    @cached_property
    def spreads(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """For each cell: the mean error, its variance between data sets, and that of one draw."""
        mean, square = errors(self.knots, self.bounds).swapaxes(0, 1)
        return mean.mean(axis=1), mean.var(axis=1), (square - mean * mean).mean(axis=1)

    def data_sets_for(self, draws: Sequence[float]) -> int:
        """Return the number of data sets that gives the standard errors of `rows` exact ones."""
        _, between, noise = self.spreads
        return ceil(self.rows * float((1 + noise / (between * np.asarray(draws))).max()))
