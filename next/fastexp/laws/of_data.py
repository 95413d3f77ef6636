"""The runs of each mechanism's law, from the same reading of data as its draws."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, expm1, log, log1p, perm

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
from ..types import Floats
from .flips import log_integrals
from .runs import Runs, log_sum, quiet, sizes

NATS = 800  # what is so much less likely than the best outcome counts as impossible
FARTHEST = 1 << 52  # steps
MOST_SELECTIONS = 1 << 20
DTYPES = np.float64, np.int64, np.uint64  # of kinds
MOST = np.finfo(np.float64).max


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
    truth = float(grid.value(int(runs.loss.argmin()))) if data.values.size else None
    losses = runs.loss * (statistic.unit / grid.parts)
    return runs._replace(grid=grid, loss=losses, truth=truth)


def of_noise(value: Fraction, noise: Noise) -> Runs:
    """Return the runs of Laplace noise: its two sides, between the points where answers end.

    Without bounds these are 2**52 steps from 0, or 800 nats from a large number.
    """
    rate, parts = noise.rate, int(noise.grid.parts)
    place = value * parts / noise.grid.step
    below, reach = place.__floor__(), ceil(NATS / rate)
    low, high = -FARTHEST, FARTHEST
    if noise.ends is not None:
        low, high = (round(Fraction(str(end)) * parts / noise.grid.step) for end in noise.ends)
    elif abs(below) + reach > FARTHEST:
        low, high = below - reach, below + reach
    if max(-low, high) * noise.grid.step >= 1 << 62:
        raise InvalidRecords("values must be so small that all outcomes fit into int64")
    is_open = int(noise.ends is None)  # then no answers are clamped, and nothing is at the ends
    left, right = min(below, high - 1 + is_open), max(below + 1, low + 1 - is_open)
    least = min(abs(place - max(low, min(high, t))) for t in (below, below + 1))
    lefts, rights, unit = left - low + is_open, high - right + is_open, noise.grid.width
    rows = [
        (low, _end(rate, place, low), place - low, 0.0, True, not is_open),
        (left - lefts + 1, _side(rate, place - left, lefts), place - left, unit, True, lefts > 0),
        (right, _side(rate, right - place, rights), right - place, unit, False, rights > 0),
        (high, _end(rate, -place, -high), high - place, 0.0, False, not is_open),
    ]
    kept = [row[:5] for row in rows if row[5]]
    start, logs, away, slope, rises = map(np.array, zip(*kept, strict=True))
    losses = (np.abs(away) - least).astype(np.float64) * unit
    falls = np.where(slope > 0, float(rate), 0.0)
    grid = Grid(
        high - low + 1,
        noise.grid.is_whole,
        low * noise.grid.step,
        noise.grid.step,
        noise.grid.parts,
    )
    return Runs(grid, start - low, logs, losses, float(value), None, falls, slope, rises)


def _end(rate: Fraction, place: Fraction, end: int) -> float:
    """Return ln of the weight of all integers up to an end."""
    away, inside = place - end, place % 1
    total = -log(-expm1(-float(rate)))
    if away >= 0:
        return total - float(rate * away)
    near = min(inside, 1 - inside)
    others = exp(-float(rate * (1 - 2 * near))) - exp(-float(rate * (1 - away - near)))
    return total - float(rate * near) + log1p(others)


def _side(rate: Fraction, away: Fraction, count: int) -> float:
    """Return ln of the weight of so many integers on one side, the nearest one so far away."""
    return float(log_sum(float(rate), max(count, 1))) - float(rate * away)


def of_bit(bit: int, gap: Fraction) -> Runs:
    """Return the runs of randomised response: the true bit has exp(gap) times the other weight."""
    losses = np.array([float(bit), float(1 - bit)])
    return Runs(_indices(2), np.arange(2), -float(gap) * losses, losses, bit)


def _indices(count: int) -> Grid:
    return Grid(count, True, 0, 1, 1)


@quiet
def _losses(row: Segments, base: Floats) -> tuple[Floats, Fraction]:
    """Return the best utility of a positive base less each, and the best one."""
    numbers = row.values.view(DTYPES[row.kind])
    if row.kind == FLOAT and not np.isfinite(numbers).all():
        check(NOT_FINITE)
    best = (numbers[base > 0] if base.size else numbers).max()
    if row.kind == FLOAT:
        gaps = np.minimum(best - numbers, MOST)
    else:
        gaps = (best.view(np.uint64) - row.values).astype(np.float64)
    return np.where(numbers > best, 0.0, gaps), Fraction(best.item())
