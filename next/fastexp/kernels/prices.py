"""The revenue of each price of a grid: its ticks times the number of bids that buy at it.

A bid buys at a price if it is at least the double nearest to it. The place (x - lowest) / step is
computed in doubles and errs by less than MARGIN of a step, as `places.py` proves for all grids of
`data/grid.py`. So the integer nearest to place + MARGIN - 1/2 is the index of the last price at
which a bid buys, or the next one, and one exact comparison decides: with the price (A + t * S) / D
itself, whose integers are doubles, so that it is rounded once. The index is the same on every CPU.
"""

from __future__ import annotations

import numpy as np

from .bits import ROUND, ROUND_WORD, word_of
from .jit import BLOCK, helper, kernel, stack, wide_vectors
from .places import FIRST, HIGH, LAST, LOW, MARGIN, PARTS, SHARE, STEP

DOWN = MARGIN - 0.5  # makes rounding to nearest round down


@helper
def fill_last(bids, grid, out):
    """out[i] = the index of the last price at which bids[i] buys, or 0; returns any NaN."""
    wide_vectors()
    low, high, share, last = grid[LOW], grid[HIGH], grid[SHARE], np.uint64(grid[LAST])
    # The form has 2 * D, 2 * S and 2 * A - S: all sums and halves are exact.
    step, parts, bad = 0.5 * grid[STEP], 0.5 * grid[PARTS], np.int64(0)
    start = 0.5 * (grid[FIRST] + step)
    for i in range(out.size):
        x = bids[i] if bids[i] > low else low
        x = x if x < high else high
        rounded = ((x - low) * share + DOWN) + ROUND
        price = (start + (rounded - ROUND) * step) / parts
        t = word_of(rounded) - ROUND_WORD - np.uint64(1 if price > x else 0)
        out[i] = np.int64(min(t, last))
        bad |= np.int64(bids[i] != bids[i])
    return bad


@kernel("i64(in_f64, in_i64, in_f64, i64, i64, out_i64)")
def fill_revenues(bids, offsets, grid, start, step, out):
    """out = the revenue of each price, start + t * step ticks, for each data set; returns any NaN.

    `offsets` say where data sets begin and end. A bid below the lowest price buys at none.
    """
    sets, bad, low = offsets.size - 1, np.int64(0), grid[LOW]
    prices, places = out.size // sets, stack()
    for d in range(sets):
        row = out[d * prices : (d + 1) * prices]
        for t in range(prices):
            row[t] = 0
        for at in range(offsets[d], offsets[d + 1], BLOCK):
            part = bids[at : min(at + BLOCK, offsets[d + 1])]
            bad |= fill_last(part, grid, places[: part.size])
            for i in range(part.size):
                row[places[i]] += np.int64(part[i] >= low)
        buying = np.int64(0)
        for t in range(prices - 1, -1, -1):
            buying += row[t]
            row[t] = buying * (start + t * step)
    return bad
