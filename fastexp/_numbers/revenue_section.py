"""Of many bids, the prices that matter: the others have no hope, and their bids are only counted.

One pass counts the bids of `BUCKETS` ranges of prices. A revenue there is at most the range's
highest price times the bids that pay its lowest one; the best revenue is at least that of any
range's lowest price. What is so far below that a draw hardly ever takes it becomes two cells,
with a bound of their revenue; only the bids between them are sorted. All of that is a function
of the bids alone, whatever they lie in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._intake.record_sources import NOTHING, Source
from .._selection.weighting import Weighting
from .._typing import IntArray
from .revenue import Demand, Prices, demand, runs_of

MANY = 1 << 14  # bids, and prices, from which on it pays
HOPELESS = 104.0  # nats below the best revenue: 2**52 such prices weigh less than 2**-97
FEW = 4  # a quarter of the bids is sorted; of more each given price is counted


class Section(NamedTuple):
    """Runs of the prices that matter; bounds of the revenue, over its unit, below and above them.

    `paying` says how many bids pay any price.
    """

    runs: Demand
    below: float
    above: float
    paying: Callable[[int], int]


class _Limits(NamedTuple):
    """The first price that matters, the one after the last, how many bids pay each; and bounds."""

    start: int
    stop: int
    paying: int
    beyond: int
    below: float
    above: float


def whole(runs: Demand) -> Section:
    return Section(runs, 0.0, 0.0, lambda t: int(runs.bids[np.searchsorted(runs.last, t)]))


def section_of_runs(prices: Prices, runs: Demand, weighting: Weighting) -> Section:
    every = whole(runs)
    if not _many(prices, runs.total()):
        return every
    starts = prices.buckets[0]
    limits = _limits(prices, runs.bids[np.searchsorted(runs.last, starts)], weighting)
    first, last = np.searchsorted(runs.last, [limits.start, limits.stop - 1]).tolist()
    ends = runs.last[first : last + 1].copy()
    ends[-1] = limits.stop - 1
    some = Demand(ends, runs.bids[first : last + 1], limits.start)
    return Section(some, limits.below, limits.above, every.paying)


def section_of(prices: Prices, source: Source, weighting: Weighting) -> Section:
    grid, total = prices.grid, source.total()
    if not _many(prices, total):
        return section_of_runs(prices, demand(source, grid), weighting)
    counts = source.histogram(prices.buckets[1])
    start, stop, paying, beyond, below, above = _limits(
        prices, counts[::-1].cumsum()[::-1], weighting
    )
    points, number = NOTHING, NOTHING
    if grid.points is not None and FEW * (paying - beyond) > total:
        number = source.histogram(grid)[start:stop]
    elif paying > beyond:
        points, number, *_ = source.window(grid, total - paying, total - beyond - 1)
        points = points - start
    runs = runs_of(points, number, stop - start)
    moved = Demand(runs.last + start, runs.bids + beyond, start)
    return Section(moved, below, above, lambda t: total - source.below(grid, t))


def _many(prices: Prices, bids: int) -> bool:
    return bids >= MANY and prices.grid.size >= MANY


def _limits(prices: Prices, paying: IntArray, weighting: Weighting) -> _Limits:
    """What matters, from how many bids pay the first price of each bucket."""
    starts, size = prices.buckets[0], prices.grid.size
    stops = np.append(starts[1:], size)
    most = prices.bounds(paying, stops - 1)
    best = float((paying * prices.about(starts)).max())
    hopeful = np.flatnonzero(weighting.rate_nats * (best - most) < HOPELESS)
    first, last = int(hopeful[0]), int(hopeful[-1])
    return _Limits(
        int(starts[first]),
        int(stops[last]),
        int(paying[first]),
        int(np.append(paying, 0)[last + 1]),
        float(most[:first].max(initial=0.0)),
        float(most[last + 1 :].max(initial=0.0)),
    )
