"""Expected errors of many data sets at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.segments import Segments
from ..draws.ranks import RankStatistic
from ..kernels.cells import PART
from ..kernels.errors import fill_errors
from ..kernels.places import place_records
from ..types import Floats

BITS = 96  # cells beyond the window have less than 2**-96 of all weight


def rank_errors(data: Segments, statistic: RankStatistic, truths: Floats) -> Floats:
    """Return E|error| and E error**2 of each row of sorted records; NaN where far cells count."""
    grid, fine = statistic.grid, replace(statistic, bits=BITS)
    line, beyond, rate, size = fine.public
    rows, points = truths.size, np.empty(data.values.size, np.int64)
    n = points.size // rows
    place_records(data.values, grid.form, points)
    # Of `kernels/cells.py`: where a row begins, how long it is, none below, all of it, all points.
    parts = np.tile(np.array((0, n, 0, n, 0, size)), rows)
    parts[::PART] = np.arange(rows) * n
    most = min(n, 2 * beyond + 2)
    work = np.empty(5 * (2 * most + 1), np.int64)
    near, out = grid.near(truths), np.empty((rows, 2))
    rest = (grid.values(near) - truths) / grid.width
    fill_errors(points, parts, line, beyond, rate, near, rest, most, out.reshape(-1), work)
    return out * (grid.width, grid.width**2)
