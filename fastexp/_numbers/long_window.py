"""A release where many ranks matter: their points take the place of the records, and nothing else.

Cells of all of them would take ten times the memory. At epsilon = 1e-4 some 900,000 ranks on each
side matter. What bounds leave open, in some 1e-7 of the releases, lists the cells.
"""

from __future__ import annotations

import numpy as np

from .._intake.arrays import CHUNK
from .._intake.record_sources import Window, runs
from .._intake.unsorted import Unsorted
from .._parameters.grid import Grid
from .._randomness.streams import os_word, os_words
from .._typing import AnyArray, IntArray
from ..errors import FastexpError
from ..kernels.groups.long_draws import draw_long
from ..kernels.groups.segment_draws import OPEN, WORDS
from ..reference.exact_groups import STRIDE, group_draw, long_weight
from .distance import RanksThatMatter, distance, farthest
from .few_records import Ranks, listed_cells
from .weights import MOST as MOST_WEIGHTS
from .weights import size_of, table

FEWEST, MOST = 1 << 14, 1 << 22  # ranks that matter: of fewer, cells are no more than 1 MB
INCOMPLETE = "the window lacks ranks that matter: please report this"


def suits(statistic: Ranks, ranks: RanksThatMatter, n: int) -> bool:
    """Whether so many ranks matter, and their weights have room in a table."""
    rate, most = statistic.weighting.rate, farthest(ranks.form, n)
    far = size_of(rate * STRIDE, most // STRIDE)
    return FEWEST <= ranks.high - ranks.low <= MOST and far <= MOST_WEIGHTS


def release(statistic: Ranks, source: Unsorted, ranks: RanksThatMatter) -> int:
    """One grid index from the operating system's randomness."""
    grid, rate, n = statistic.grid, statistic.weighting.rate, source.total()
    form, low, high = ranks
    middle = source.middle(grid, low, high)
    if isinstance(middle, Window):
        points, below = np.repeat(middle.points, middle.records), middle.below
    else:
        points, below = placed(grid, middle[0]), middle[1]
    if not below <= low <= high < below + points.size:
        raise FastexpError(INCOMPLETE)
    near = table(rate, STRIDE - 1)
    far = table(rate * STRIDE, farthest(form, n) // STRIDE)
    words = os_words(WORDS)
    index: int = draw_long(points, below, n, grid.size, form, near, far, words)
    if index != OPEN:
        return index

    def true(point: int) -> int:
        under, upto = source.below(grid, point), source.below(grid, point + 1)
        return int(distance(form, under, upto - under, n - upto))

    cells = listed_cells(Window(*runs(points), below, n), form, grid.size)
    return group_draw(cells, rate, words.tolist(), os_word, true, long_weight)


def placed(grid: Grid, values: AnyArray) -> IntArray:
    """The grid indices of records, in their place."""
    points: IntArray = values.view(np.int64)
    for begin in range(0, values.size, CHUNK):
        part = slice(begin, begin + CHUNK)
        points[part] = grid.index(values[part])
    return points
