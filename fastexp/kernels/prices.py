"""The revenue of each price of a grid: its ticks times the number of bids that buy at it.

A bid buys at each price whose double is at most the bid. With the bound of `places.py`, the integer
nearest to place + MARGIN - 1/2 is the index of the largest such price or the next one, and the bid
is compared with that price's double.
"""

from __future__ import annotations

import numpy as np

from .bits import ROUND, ROUND_WORD, word_of
from .jit import BLOCK, helper, kernel, stack, wide_vectors
from .places import FIRST, HIGH, LAST, LOW, MARGIN, PARTS, SHARE, STEP


@helper
def fill_below(bids, grid, out):
    """out[i] = the index of the largest price that is at most bids[i]; 0 if none is."""
    wide_vectors()
    low, high, share, last = grid[LOW], grid[HIGH], grid[SHARE], np.int64(grid[LAST])
    step, parts = grid[STEP], grid[PARTS]
    start = grid[FIRST] + 0.5 * step  # 2 * A: sums are exact, so the double is rounded once
    for i in range(out.size):
        x = bids[i] if bids[i] > low else low
        x = x if x < high else high
        rounded = ((x - low) * share + (MARGIN - 0.5)) + ROUND
        number = (start + (rounded - ROUND) * step) / parts
        t = np.int64(word_of(rounded) - ROUND_WORD) - (1 if number > x else 0)
        out[i] = min(t, last)


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
