"""The runs of each mechanism's law, from the same reading of data as its draws."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, inf, perm
from typing import Any

import numpy as np

from ..data.grid import Grid
from ..data.segments import Segments
from ..draws.choose import Weighting, check
from ..draws.laplace import Noise
from ..draws.prices import PriceStatistic
from ..draws.ranks import RankStatistic, placed
from ..errors import InvalidRecords, ParameterError
from ..kernels.bits import FLOAT
from ..kernels.envelope import NOT_FINITE
from ..kernels.intervals import fill_runs
from ..types import Array, Floats
from .runs import Runs, log_sum, quiet, sizes

NATS = 800  # what is so much less likely than the best outcome counts as impossible
FARTHEST = 1 << 52  # steps
MOST_SELECTIONS = 1 << 20
DTYPES = np.float64, np.int64, np.uint64  # of kinds
MOST = np.finfo(np.float64).max
NODES, SHARES = np.polynomial.legendre.leggauss(64)
DEEPEST = 64.0  # nats: beyond it the integrand is below exp(-DEEPEST)


@quiet
def of_candidates(row: Segments, weighting: Weighting) -> Runs:
    """Return the runs of the exponential mechanism: weight base * exp(rate * utility)."""
    losses, best = _losses(row, weighting.base)
    logs = -float(weighting.rate) * losses
    if weighting.base.size:
        logs += np.log(weighting.base)
    top = float(weighting.rate * best)
    return Runs(_indices(losses.size), np.arange(losses.size), logs, losses, best=top)


def of_flips(row: Segments, weighting: Weighting) -> Runs:
    """Return the runs of permute-and-flip."""
    losses, _ = _losses(row, weighting.base)
    heights = float(weighting.rate) * losses
    logs = log_integrals(heights) - heights
    return Runs(_indices(losses.size), np.arange(losses.size), logs, losses)


def of_rounds(row: Segments, weighting: Weighting, rounds: int) -> Runs:
    """Return the runs of several candidates in order; selections are numbered by these orders.

    The loss is that of all their utilities together.
    """
    losses, _ = _losses(row, weighting.base)
    count = perm(losses.size, rounds)
    if count > MOST_SELECTIONS:
        raise ParameterError(f"the law of top-k needs at most 2**20 selections, got {count}")
    logs, total, is_left = np.zeros(1), np.zeros(1), np.ones((1, losses.size), bool)
    for _ in range(rounds):
        heights = np.where(is_left, float(weighting.rate) * losses, np.inf)
        least = heights.min(axis=1, keepdims=True)
        steps = heights - least + np.log(np.exp(least - heights).sum(axis=1, keepdims=True))
        before, chosen = np.nonzero(is_left)
        logs, total = logs[before] - steps[is_left], total[before] + losses[chosen]
        is_left = is_left[before]
        is_left[np.arange(chosen.size), chosen] = False
    return Runs(_indices(count), np.arange(count), logs, total - total.min())


def of_records(data: Segments, statistic: RankStatistic) -> Runs:
    """Return the runs of a draw by rank: grid points between two records have equal weights."""
    grid, distance, n = statistic.grid, statistic.distance, data.values.size
    records = np.sort(data.values)
    (points,) = placed(data._replace(values=records), grid)
    start, utilities = np.empty((2, 2 * n + 1), np.int64)
    count = fill_runs(points, grid.size, np.array(distance.form(n)), start, utilities)
    start, utilities = start[:count], utilities[:count]
    if not grid.width:  # listed points have no common distance: each is a run of its own
        utilities = np.repeat(utilities, sizes(start, grid.size).astype(np.int64))
        start = np.arange(grid.size)
    gaps = (utilities.max() - utilities).astype(np.float64)
    logs = np.log(sizes(start, grid.size)) - float(statistic.rate) * gaps
    truth = None
    if n:
        lower, upper = distance.ranks(n)
        truth = float(records[lower - 1] / 2 + records[upper - 1] / 2)
    return Runs(grid, start, logs, gaps * float(distance.unit), truth)


def of_bids(data: Segments, statistic: PriceStatistic) -> Runs:
    """Return the runs of prices by their revenue; the truth is the lowest one of the best."""
    revenues = statistic.revenues(data.values, np.array((0, data.values.size)))
    runs = of_candidates(revenues, statistic.weighting)
    grid = statistic.grid
    truth = grid.values(runs.loss.argmin()).item() if data.values.size else None
    losses = runs.loss * (statistic.unit / grid.parts)
    return runs._replace(grid=grid, loss=losses, truth=truth)


def of_noise(value: Fraction, noise: Noise) -> Runs:
    """Return the runs of Laplace noise: its sides, and the ends where answers are clamped.

    Without bounds the sides end 2**52 steps from 0, or 800 nats from a large number.
    """
    rate, step, parts = noise.rate, noise.grid.step, noise.grid.parts
    place, reach, low, high = value * int(parts) / step, ceil(NATS / rate), -FARTHEST, FARTHEST
    if noise.ends is not None:
        low, high = (round(Fraction(str(end)) * int(parts) / step) for end in noise.ends)
        # Of a place that is farther away the law is the same.
        place = min(max(place, Fraction(low - reach)), Fraction(high + reach))
    below = floor(place)
    if noise.ends is None and abs(below) + reach > FARTHEST:
        low, high = below - reach, below + reach
    if max(-low, high) * step >= 1 << 62:
        raise InvalidRecords("values must be so small that all outcomes fit into int64")
    clamps = int(noise.ends is not None)
    rows: list[Any] = [
        (near - count + 1 if is_left else near, log, abs(near - place), is_left, float(rate))
        for near, count, log, is_left in _sides(rate, place, low + clamps, high - clamps)
    ]
    if clamps:
        for end, first, last in (low, -inf, low), (high, high, inf):
            log = np.logaddexp.reduce([side[2] for side in _sides(rate, place, first, last)])
            rows.append((end, log, abs(end - place), False, 0.0))
    rows.sort()
    start, logs, away, rises, falls = map(np.array, zip(*rows, strict=True))
    least = min(abs(place - min(max(t, low), high)) for t in (below, below + 1))
    losses = (away - least).astype(np.float64) * noise.grid.width
    slopes = (falls > 0) * noise.grid.width
    grid = Grid(high - low + 1, noise.grid.is_whole, low * step, step, parts)
    return Runs(grid, start - low, logs, losses, float(value), None, falls, slopes, rises)


def _sides(rate: Fraction, place: Fraction, first: Any, last: Any) -> list[Any]:
    """Return what is left and right of a place: (nearest, how many, ln of their weights, left)."""
    left, right = min(last, floor(place)), max(first, floor(place) + 1)
    sides = (left, left - first + 1, True), (right, last - right + 1, False)
    return [
        (t, n, float(log_sum(float(rate), float(n))) - float(rate * abs(t - place)), is_left)
        for t, n, is_left in sides
        if n > 0
    ]


def of_bit(bit: int, gap: Fraction) -> Runs:
    """Return the runs of randomised response: the true bit has exp(gap) times the other weight."""
    losses = np.array([bit, 1.0 - bit])
    return Runs(_indices(2), np.arange(2), -float(gap) * losses, losses, bit)


def _indices(count: int) -> Grid:
    return Grid(count, True, 0, 1, 1)


def numbers_of(row: Segments) -> Array:
    """Return utilities as numbers; refuse those that are not finite."""
    numbers: Array = row.values.view(DTYPES[row.kind])
    check(NOT_FINITE if row.kind == FLOAT and not np.isfinite(numbers).all() else 0)
    return numbers


@quiet
def _losses(row: Segments, base: Floats) -> tuple[Floats, Fraction]:
    """Return the best utility of a positive base less each, and the best one."""
    numbers = numbers_of(row)
    best = (numbers[base > 0] if base.size else numbers).max()
    if row.kind == FLOAT:
        gaps = np.minimum(best - numbers, MOST)
    else:
        gaps = (best.view(np.uint64) - row.values).astype(np.float64)
    return np.where(numbers > best, 0.0, gaps), Fraction(best.item())


def log_integrals(heights: Floats) -> Floats:
    """Return ln of the integral of each candidate; its weight is exp(-height), the greatest 1.

    A candidate of weight w arrives at a uniform time t and is selected by permute-and-flip if its
    coin accepts it and those of all who came before have refused: with probability w times the
    integral over t in [0, 1] of the product of 1 - t * v over the weights v of the others (McKenna
    and Sheldon 2020).

    The integrand is a polynomial that falls at least like exp(-t * sum of weights). Gauss and
    Legendre's rule with 64 nodes over DEEPEST nats has an error below 1e-20, so that roundings
    remain: a relative 1e-13.
    """
    distinct, place, counts = np.unique(heights, return_inverse=True, return_counts=True)
    weights = np.exp(-distinct)
    total, half = np.zeros(distinct.size), min(1.0, DEEPEST / float(counts @ weights)) / 2
    for node, share in zip(NODES, SHARES, strict=True):
        logs = np.log1p(-half * (node + 1) * weights)
        total += share * half * np.exp(counts @ logs - logs)
    return np.asarray(np.log(total)[place])
