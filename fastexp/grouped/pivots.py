"""Long groups without putting all rows into their order: the records around the ranks that matter.

A sample of the rows gives each group two pivots; one look at every row counts what lies below
and takes what lies between. Pivots that miss the ranks that matter cost a further look at the
rows of their groups, and change nothing: they lie at the edges of grid points, and what is drawn
from is a function of all records. Of 1,000 groups of 10,000 records a quarter is taken.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from .._keys.group_keys import Codes
from .._numbers.rank import RankStatistic
from .._parameters.grid import Grid
from .._threads import in_parts
from .._typing import AnyArray, FloatArray, IntArray, WordArray
from ..kernels.bits.heights import FLOAT, SIGNED
from ..kernels.groups import between
from ..kernels.numbers import histogram
from .forms import distances_of, forms_of, ranks_of
from .grouping import gather, gather_parts
from .segments import Segments, Windows, placed, sorted_points

FEWEST = 1 << 17  # rows: fewer are in the cache anyway
LONG = 1 << 11  # records of a group on average, from which on most of them need not be moved
SAMPLE = 256  # of a group, at least: sorting more takes as long as taking more records
STEPS = (2, 8)  # bits: of so many rows one is sampled, at least and at most
SPREAD = (
    4.25  # standard deviations of a pivot's rank: of 1,000 groups 1 in 50 calls has one that misses
)
MOST = 0.6  # of the rows: taking more is not worth a look of its own
SPARE = 1.25  # times the share of a sample: of the rows that are taken
BLOCK = 1 << 15  # rows that are looked up at once
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 by the golden ratio: multiples of it are even
TOP = np.uint64(1 << 63)
LENGTH = (1 << between.BELOW) - 1


class Share(NamedTuple):
    """Codes and records that were taken from a range of rows, and the range's counts by group."""

    codes: IntArray
    values: AnyArray
    counts: IntArray


def windowed(
    statistic: RankStatistic, values: AnyArray, codes: Codes, groups: int, threads: int = 1
) -> Segments | None:
    """Segments of the records around the ranks that matter, with what is known of the others.

    None where it is not worth it, or not known to be right. NaN is refused where its group is
    listed, now or when it is placed. `threads` never changes a draw.
    """
    grid, n = statistic.grid, values.size
    if not FEWEST <= n < 1 << between.BELOW or n < LONG * groups or not histogram.is_near(grid):
        return None
    edges, share = _pivots(statistic, values, codes, groups)
    if share > MOST:
        return None
    shares = _between(values, codes, edges, SPARE * share, threads)
    if shares is None:
        return None
    counts = np.sum([part.counts for part in shares], axis=0)[:groups]
    lengths, under = counts & LENGTH, counts >> between.BELOW
    forms = forms_of(statistic, lengths)
    first, last = forms.ranks[forms.which].T
    taken, offsets = gather_parts([(part.codes, part.values) for part in shares], groups)
    missed = (lengths > 0) & ((under > first) | (under + np.diff(offsets) <= last))
    if missed.any():  # all records of such a group
        edges = np.full((groups + 1, 2), np.inf)
        edges[:-1][missed] = -np.inf, between.NO_EDGE
        more = _between(values, codes, edges, 1.0, threads)
        if more is None:
            return None
        dropped = np.append(missed, True)
        parts = [(np.where(dropped[part.codes], -1, part.codes), part.values) for part in shares]
        parts += [(part.codes, part.values) for part in more]
        taken, offsets = gather_parts(parts, groups)
        under[missed] = 0
    records = partial(_records, values, codes)
    return Segments(taken, offsets, Windows(under, lengths, forms, records))


def _pivots(
    statistic: RankStatistic, values: AnyArray, codes: Codes, groups: int
) -> tuple[FloatArray, float]:
    """Between which edges each group's records are taken, and those of no group; the share."""
    step = 1 << min(max((values.size // (groups * SAMPLE)).bit_length() - 1, STEPS[0]), STEPS[1])
    rows = np.arange(0, values.size - step + 1, step)
    # Not every so many-th row, which might be rows of few groups.
    rows += (rows.view(np.uint64) * GOLDEN >> np.uint64(40)).view(np.int64) & (step - 1)
    sample = Segments(*gather(codes.of(rows), values[rows], groups))
    points, sizes = sorted_points(statistic.grid, sample), np.diff(sample.offsets)
    lengths = np.maximum(sizes * step, 1)
    ranks = ranks_of(distances_of(statistic, lengths), lengths, statistic.reach)
    ends = (ranks + np.array([0, 1])) / lengths[:, None]
    place = ends * sizes[:, None]
    spread = SPREAD * np.sqrt(place * (1 - ends)) + 2
    left = np.maximum(np.floor(place[:, 0] - spread[:, 0]), -1).astype(np.int64)
    right = np.minimum(np.ceil(place[:, 1] + spread[:, 1]), sizes).astype(np.int64)
    low, high = np.zeros(groups, np.int64), np.full(groups, statistic.grid.size)
    bounded, starts = (left >= 0, right < sizes), sample.offsets[:-1]
    low[bounded[0]] = points[(starts + left)[bounded[0]]]
    high[bounded[1]] = points[(starts + right)[bounded[1]]] + 1
    edges = np.full((groups + 1, 2), np.inf)
    edges[:-1, 0] = _least(statistic.grid, low)
    edges[:-1, 1] = np.where(
        high < statistic.grid.size, _least(statistic.grid, high), between.NO_EDGE
    )
    inside = (points >= np.repeat(low, sizes)) & (points < np.repeat(high, sizes))
    return edges, np.count_nonzero(inside) / rows.size


def _least(grid: Grid, points: IntArray) -> FloatArray:
    """The least double that lies on each point or beyond."""
    inside = (points > 0) & (points < grid.size)
    out = np.where(points > 0, np.inf, -np.inf)
    t = points[inside]
    low, high = (_ordered(grid.values(some).astype(np.float64)) for some in (t - 1, t))
    while bool((high - low > np.uint64(1)).any()):  # low lies before the point, high does not
        middle = low + ((high - low) >> np.uint64(1))
        beyond = placed(grid, _doubles(middle)) >= t
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    out[inside] = _doubles(high)
    return out


def _ordered(x: FloatArray) -> WordArray:
    """Words in the order of the doubles."""
    bits = x.view(np.uint64)
    return np.where(bits >= TOP, ~bits, bits | TOP)


def _doubles(words: WordArray) -> FloatArray:
    """The doubles of such words."""
    return np.where(words >= TOP, words ^ TOP, ~words).view(np.float64)


def _between(
    values: AnyArray, codes: Codes, edges: FloatArray, share: float, threads: int
) -> list[Share] | None:
    """What ranges of rows have between the edges of their groups; None: more than that share."""
    kind, bits = FLOAT if values.dtype.kind == "f" else SIGNED, values.view(np.uint64)
    threads = max(1, min(threads, values.size // FEWEST))
    parts: dict[int, Share] = {}

    def part(first: int, last: int) -> int:
        size = min(int(share * (last - first)), last - first) + BLOCK
        slots, records = np.empty(size, np.int64), np.empty(size, np.uint64)
        counts, m = np.zeros(len(edges), np.int64), 0
        room, work = np.empty(BLOCK, np.int64), np.empty(histogram.BLOCK, np.int64)
        flat = edges.reshape(-1)
        for a in range(first, last, BLOCK):
            b = min(a + BLOCK, last)
            if m + BLOCK > size:
                return 0
            some = codes.part(a, b, room[: b - a])
            m += between.keep_between(
                some, bits[a:b], kind, flat, counts, slots[m:], records[m:], work
            )
        parts[first] = Share(slots[:m], records[:m].view(values.dtype), counts)
        return 0

    in_parts(part, values.size, threads)
    return list(parts.values()) if len(parts) == threads else None


def _records(values: AnyArray, codes: Codes, group: int) -> AnyArray:
    """All records of a group."""
    room = np.empty(BLOCK, np.int64)
    parts = [
        values[a : a + BLOCK][
            codes.part(a, min(a + BLOCK, values.size), room[: values.size - a]) == group
        ]
        for a in range(0, values.size, BLOCK)
    ]
    return np.concatenate(parts)
