"""Mean errors of a rank statistic's law for many data sets: sums over its cells, without draws.

Numbers are in steps of the grid, relative to the truth: point t is (t - place) - share. All sums
have terms >= 0, with points above the truth and points below it summed separately. The first and
the last cell of a data set may be loose, with a lower bound of their distance: they are left out
where they are negligible, otherwise the caller takes more ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    F64,
    IN_F64,
    IN_I64,
    NOTHING,
    OUT_F64,
    helper,
    kernel,
    wide_vectors,
)
from ..bits.logexp import exp_one
from ..numbers.density import add_two

MASS, OVER, UNDER, LOSS, SQUARE, LOSSES, SUMS = 0, 1, 2, 3, 4, 5, 6
FIGURES = 5  # for each truth: means of |error|, error, distance, error**2, distance**2
TINY = 2.0**-60  # share of a sum that loose cells may have and be left out
BEYOND = np.int64((1 << 63) - 1)  # every key is less
# Cells for vector units: the first points of BLOCK cells, then their numbers of points, then their
# weights (of one point), then their distances minus the least distance.
BLOCK = 64  # 16 would be unrolled, and not vectorised
FIRST, POINTS, WEIGHT, FAR, CELLS = 0, BLOCK, 2 * BLOCK, 3 * BLOCK, 4 * BLOCK
RUN = 32 * CELLS  # numbers of the cells that are summed without compensation


def work_of(most: int) -> int:
    """The length of `work` for data sets of at most `most` cells."""
    return 2 * SUMS + SUMS * BLOCK + room_of(most)


def room_of(most: int) -> int:
    """How many numbers the blocks of `most` cells have."""
    return -(-most // BLOCK) * CELLS


@helper
def weigh(cells: Any, ends: Any, r: Any, rate: Any, blocks: Any) -> Any:
    """blocks = the cells of data set r with their weights, 0 for loose cells; returns their end.

    Data sets without ties have the same keys; then the weights of the data set before are kept.
    """
    wide_vectors()
    room, at, m = cells.size // 3, ends[r], ends[r + 1] - ends[r]
    start, count = cells[at : at + m], cells[room + at : room + at + m]
    key, end = cells[2 * room + at : 2 * room + at + m], -(-m // BLOCK) * CELLS
    others = np.int64(1)
    if r > 0 and m == at - ends[r - 1]:
        before = cells[2 * room + ends[r - 1] : 2 * room + at]
        others = np.int64(0)
        for k in range(m):
            others += 1 if key[k] != before[k] else 0
    if others > 0:
        least = BEYOND
        for k in range(m):
            least = min(least, key[k] if key[k] & 1 == 0 else BEYOND)
        for j in range(CELLS):
            blocks[end - CELLS + j] = 0.0
        for b in range(0, end, CELLS):
            i, block = b // CELLS * BLOCK, blocks[b : b + CELLS]
            for j in range(min(m - i, BLOCK)):
                block[FAR + j] = np.float64((key[i + j] >> 1) - (least >> 1))
            for j in range(BLOCK):
                block[WEIGHT + j] = exp_one(-rate * block[FAR + j])
        for k in range(0, m, max(m - 1, 1)):
            if key[k] & 1:
                blocks[place_of(k) + WEIGHT] = 0.0
    for b in range(0, end, CELLS):
        i, block = b // CELLS * BLOCK, blocks[b : b + CELLS]
        for j in range(min(m - i, BLOCK)):
            block[FIRST + j] = np.float64(start[i + j])
            block[POINTS + j] = np.float64(count[i + j])
    return end


@helper
def place_of(k: Any) -> Any:
    """Return where the numbers of cell k begin."""
    return (k // BLOCK) * CELLS + k % BLOCK


@helper
def squares(first: Any, count: Any) -> Any:
    """first**2 + (first + 1)**2 + ..., `count` terms, of numbers >= 0."""
    last = count - 1.0
    return count * (first * (first + last) + last * (2.0 * count - 1.0) * (1.0 / 6.0))


@helper
def add_terms(blocks: Any, place: Any, share: Any, lanes: Any) -> None:
    """lanes += the terms of all cells."""
    wide_vectors()
    split = place + 1.0 if share >= 0.0 else place  # the first point above the truth
    for b in range(0, blocks.size, CELLS):
        block = blocks[b : b + CELLS]
        for k in range(BLOCK):
            first, points, w = block[FIRST + k], block[POINTS + k], block[WEIGHT + k]
            low = min(max(split - first, 0.0), points)
            high = points - low
            after = (first + low - place) - share
            before = share - (first + low - 1.0 - place)
            mass, far = w * points, block[FAR + k]
            lanes[MASS * BLOCK + k] += mass
            lanes[OVER * BLOCK + k] += w * (high * (after + 0.5 * (high - 1.0)))
            lanes[UNDER * BLOCK + k] += w * (low * (before + 0.5 * (low - 1.0)))
            lanes[LOSS * BLOCK + k] += mass * far
            lanes[SQUARE * BLOCK + k] += w * (squares(after, high) + squares(before, low))
            lanes[LOSSES * BLOCK + k] += mass * far * far


@helper
def folded(x: Any) -> Any:
    """Return the sum of BLOCK numbers."""
    total = 0.0
    for k in range(BLOCK // 4):
        total += (x[k] + x[BLOCK // 4 + k]) + (x[BLOCK // 2 + k] + x[3 * BLOCK // 4 + k])
    return total


@helper
def sum_up(blocks: Any, place: Any, share: Any, lanes: Any, sums: Any) -> None:
    """sums = those over cells: mass, errors above and below the truth, losses, squares."""
    for s in range(2 * SUMS):
        sums[s] = 0.0
    for begin in range(0, blocks.size, RUN):
        for j in range(lanes.size):
            lanes[j] = 0.0
        add_terms(blocks[begin : begin + RUN], place, share, lanes)
        for s in range(SUMS):
            sums[s], rounding_loss = add_two(sums[s], folded(lanes[s * BLOCK : (s + 1) * BLOCK]))
            sums[SUMS + s] += rounding_loss
    for s in range(SUMS):
        sums[s] += sums[SUMS + s]


@helper
def counts(first: Any, points: Any, far: Any, rate: Any, place: Any, share: Any, sums: Any) -> Any:
    """Whether a cell of points whose distance is at least `far` may count in some sum."""
    mass = points * exp_one(-rate * far)
    near_end = abs(first - place - share)
    reach = max(near_end, abs(first + points - 1.0 - place - share))
    loss = max(far, 1.0 / rate)  # x * exp(-rate*x) is greatest at 1/rate
    small = mass <= TINY * sums[MASS] and mass * loss <= TINY * sums[LOSS]
    return not (small and mass * reach <= TINY * (sums[OVER] + sums[UNDER]))


@kernel(NOTHING(IN_I64, IN_I64, F64, IN_F64, IN_F64, OUT_F64, OUT_F64))
def figures_fill(
    cells: Any, ends: Any, rate: Any, places: Any, shares: Any, work: Any, out: Any
) -> None:
    """out: for each truth the means of |error|, error and distance, and of their squares.

    The cells of data set r, as `rank_cells` has them, are those from ends[r] to ends[r + 1];
    each data set has equally many truths. The distance is that beyond the least one. NaN where
    loose cells may count. `work`: see `work_of`.
    """
    sets, room = ends.size - 1, cells.size // 3
    truths, sums, lanes = places.size // sets, work[: 2 * SUMS], work[2 * SUMS :][: SUMS * BLOCK]
    blocks = work[2 * SUMS + SUMS * BLOCK :]
    for r in range(sets):
        at, m = ends[r], ends[r + 1] - ends[r]
        key = cells[2 * room + at : 2 * room + at + m]
        end = weigh(cells, ends, r, rate, blocks)
        for j in range(r * truths, (r + 1) * truths):
            place, share = places[j], shares[j]
            sum_up(blocks[:end], place, share, lanes, sums)
            mass = sums[MASS]
            for k in range(0, m, max(m - 1, 1)):
                i = place_of(k)
                first, points, far = blocks[i + FIRST], blocks[i + POINTS], blocks[i + FAR]
                if key[k] & 1 and counts(first, points, far, rate, place, share, sums):
                    mass = np.nan
            figures = out[FIGURES * j : FIGURES * (j + 1)]
            figures[0] = (sums[OVER] + sums[UNDER]) / mass
            figures[1] = (sums[OVER] - sums[UNDER]) / mass
            figures[2] = sums[LOSS] / mass
            figures[3] = sums[SQUARE] / mass
            figures[4] = sums[LOSSES] / mass
