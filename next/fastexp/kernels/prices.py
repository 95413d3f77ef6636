"""The revenue of each price of a grid: its ticks times the number of bids that buy at it."""

from __future__ import annotations

import numpy as np

from .jit import BLOCK, kernel, stack
from .places import LOW, fill_below


@kernel("i64(in_f64, in_i64, in_f64, i64, i64, out_i64)")
def fill_revenues(bids, offsets, grid, start, step, out):
    """out = the revenue of each price, start + t * step ticks, for each data set; returns any NaN.

    `offsets` say where data sets begin and end. A bid buys at each price that is, as a double, at
    most the bid; one below the lowest price buys at none.
    """
    sets, bad, low = offsets.size - 1, np.int64(0), grid[LOW]
    prices, places = out.size // sets, stack()
    for d in range(sets):
        row = out[d * prices : (d + 1) * prices]
        for t in range(prices):
            row[t] = 0
        for at in range(offsets[d], offsets[d + 1], BLOCK):
            part = bids[at : min(at + BLOCK, offsets[d + 1])]
            fill_below(part, grid, places[: part.size])
            for i in range(part.size):
                row[places[i]] += np.int64(part[i] >= low)
                bad |= np.int64(part[i] != part[i])
        buying = np.int64(0)
        for t in range(prices - 1, -1, -1):
            buying += row[t]
            row[t] = buying * (start + t * step)
    return bad
