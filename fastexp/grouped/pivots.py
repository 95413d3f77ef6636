"""Long groups without sorting all rows by group: the records around the ranks that matter.

A sample of the rows gives each group two pivots. One pass over the rows counts the records below
them, and takes those between them. Pivots that miss the ranks that matter cost a further pass over
the rows of their groups, and change no draw: they lie at the edges of grid points, and draws are a
function of all records. Of 1,000 groups of 10,000 records a quarter of the records is taken.
"""

from __future__ import annotations

import numpy as np

from .._keys.group_keys import Codes
from .._numbers.rank import RankStatistic
from .._parameters.grid import Grid
from .._parameters.validate import MAX_EXACT
from .._threads import in_parts
from .._typing import AnyArray, FloatArray, IntArray
from ..kernels.groups import between
from ..kernels.numbers import histogram
from .grouping import gather, gather_parts
from .ranks import distances_of, forms_of, ranks_of
from .segments import Segments, Windows, kind_of, sorted_points

MIN_ROWS = 1 << 17  # fewer rows are in the cache anyway
# Mean number of records of a group from which on most of them need not be moved.
MIN_MEAN_RECORDS = 1 << 11
SAMPLE = 256  # least sample of a group: sorting more takes as long as taking more records
STEP_BITS = (2, 8)  # one row is sampled of at least 2**2, at most 2**8
SPREAD = 4.25  # standard deviations of a pivot's rank: with 1,000 groups 1 in 50 calls has a miss
MAX_SHARE = 0.6  # share of the rows: taking more is not worth a pass
ROOM = 1.25  # room for the rows taken, as a multiple of the sample's share
BLOCK = 1 << 15  # rows that are looked up at once
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio: its multiples spread evenly
LENGTH = (1 << between.BELOW) - 1


def windowed(
    statistic: RankStatistic, values: AnyArray, codes: Codes, groups: int, threads: int = 1
) -> Segments | None:
    """Return segments of the records around the ranks that matter, with counts of the others.

    Return None if it does not pay, or is not known to be right. NaN is refused if its group is
    listed, now or when it is placed. `threads` never changes a draw.
    """
    grid, n = statistic.grid, values.size
    if (
        not MIN_ROWS <= n < 1 << between.BELOW
        or n < MIN_MEAN_RECORDS * groups
        or not _by_doubles(grid)
    ):
        return None
    edges, share = _pivots(statistic, values, codes, groups)
    if share > MAX_SHARE:
        return None
    share *= ROOM
    for _ in range(2):  # the second pass misses nothing
        parts = _between(values, codes, edges, share, threads)
        if parts is None:
            break
        counts = np.sum([counts for _, counts in parts], axis=0)[:groups]
        lengths, under = counts & LENGTH, counts >> between.BELOW
        forms = forms_of(statistic, lengths)
        first, last = forms.ranks[forms.form_index].T
        taken, offsets = gather_parts([rows for rows, _ in parts], groups)
        missed = (lengths > 0) & ((under > first) | (under + np.diff(offsets) <= last))
        if not missed.any():
            windows = Windows(under, lengths, forms, lambda g: values[codes.codes() == g])
            return Segments(taken, offsets, windows)
        edges[:-1][missed] = -np.inf, between.NO_EDGE  # all records of such a group
        share += lengths[missed].sum() / n
    return None


def _by_doubles(grid: Grid) -> bool:
    """Whether records between points are records between doubles."""
    is_known = histogram.is_near(grid) if grid.even else max(map(abs, grid.ends)) <= MAX_EXACT
    return bool(is_known)


def _pivots(
    statistic: RankStatistic, values: AnyArray, codes: Codes, groups: int
) -> tuple[FloatArray, float]:
    """Return the edges between which records of each group (and of none) are taken; the share."""
    grid = statistic.grid
    bits = (values.size // (groups * SAMPLE)).bit_length() - 1
    step = 1 << min(max(bits, STEP_BITS[0]), STEP_BITS[1])
    rows = np.arange(0, values.size - step + 1, step)
    # Not at equal steps, which might hit rows of few groups only.
    rows += (rows.view(np.uint64) * GOLDEN >> np.uint64(40)).view(np.int64) & (step - 1)
    sample = Segments(*gather(codes.of(rows), values[rows], groups))
    points, sizes = sorted_points(grid, sample), np.diff(sample.offsets)
    lengths = np.maximum(sizes * step, 1)
    ranks = ranks_of(distances_of(statistic, lengths), lengths, statistic.reach)
    ends = (ranks + np.array([0, 1])).T / lengths
    place = ends * sizes
    spread = SPREAD * np.sqrt(place * (1 - ends)) + 2
    cuts = np.repeat(
        [[0], [grid.size]], groups, axis=1
    )  # the first point, and that behind the last
    for side, at in enumerate((np.floor(place - spread)[0], np.ceil(place + spread)[1])):
        known = (at >= 0) & (at < sizes)
        cuts[side, known] = points[(sample.offsets[:-1] + at)[known].astype(np.int64)] + side
    low, high = np.repeat(cuts, sizes, axis=1)
    edges = [
        [*(grid.least(t, True) if 0 < t < grid.size else end for t in cut), np.inf]
        for cut, end in zip(cuts.tolist(), (-np.inf, between.NO_EDGE), strict=True)
    ]
    return np.array(edges).T, np.count_nonzero((points >= low) & (points < high)) / rows.size


def _between(
    values: AnyArray, codes: Codes, edges: FloatArray, share: float, threads: int
) -> list[tuple[tuple[IntArray, AnyArray], IntArray]] | None:
    """Return codes and records between the edges of their groups, by ranges of rows; and counts.

    Return None if there are more than `share` of the rows of a range.
    """
    kind, bits, flat = kind_of(values), values.view(np.uint64), edges.reshape(-1)
    threads = max(1, min(threads, values.size // MIN_ROWS))
    parts: list[tuple[tuple[IntArray, AnyArray], IntArray]] = []

    def part(first: int, last: int) -> int:
        size = min(int(share * (last - first)), last - first) + BLOCK
        slots, records = np.empty(size, np.int64), np.empty(size, np.uint64)
        counts, m = np.zeros(len(edges), np.int64), 0
        room, work = np.empty(BLOCK, np.int64), np.empty(histogram.BLOCK, np.int64)
        for a in range(first, last, BLOCK):
            b = min(a + BLOCK, last)
            if m + BLOCK > size:
                return 0
            row_codes = codes.part(a, b, room[: b - a])
            m += between.keep_between(
                row_codes, bits[a:b], kind, flat, counts, slots[m:], records[m:], work
            )
        parts.append(((slots[:m], records[:m].view(values.dtype)), counts))
        return 0

    in_parts(part, values.size, threads)
    return parts if len(parts) == threads else None
