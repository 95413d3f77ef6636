"""What draws of a rank statistic need of each number of records: its form, keys and weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numbers.distance import HIGH, LOW, farthest
from .._numbers.distance_statistic import DistanceStatistic
from .._numbers.rank import RankStatistic
from .._numbers.weights import MOST as MOST_WEIGHTS
from .._numbers.weights import size_of, table
from .._typing import IntArray, WordArray
from ..kernels.groups import segment_ranks as kernel

SHORT = 1 << 9  # records up to which keys are listed: a few KiB for each number of records
A_RECORD = 1 << 4  # weights that each one may add to a table, however many that are in all


class Forms(NamedTuple):
    """Of each distinct length, as `segment_ranks.py` has them."""

    flat: IntArray  # the forms, and behind them keys and weights
    which: IntArray  # each segment's form
    ranks: IntArray  # (forms, 2): the first and the last that matter, (0, -1) without records
    most: int  # how many ranks matter at most
    weights: WordArray  # their table


def forms_of(statistic: RankStatistic, lengths: IntArray) -> Forms:
    """Of segments of these lengths."""
    distinct, which = distinct_lengths(lengths)
    distances = distances_of(statistic, distinct)
    ranks = ranks_of(distances, distinct, statistic.reach)
    longest = int(distinct.max(initial=1))
    ends = {0, 1, longest - 1, longest}
    most = max(farthest(statistic.form_of(n), n) for n in ends)  # it grows with the number
    weights = table(statistic.weighting.rate, most)
    headers = np.full((distinct.size, kernel.FORM_SIZE), -1, np.int64)
    headers[:, : kernel.KEYS], headers[:, kernel.NUMBERS :] = ranks, distances
    keys, at = [], headers.size
    matter = ranks[:, 1] - ranks[:, 0] + 1
    for i in np.flatnonzero((distinct <= SHORT) & (matter == distinct)):
        row, n = headers[i], int(distinct[i])
        cells, below = np.empty(4 * n + 2, np.int64), np.empty(n + 1, np.int64)
        nearest = kernel.keys_fill(row[kernel.NUMBERS :], weights, below, cells)
        if nearest >= 0:
            row[kernel.KEYS], row[kernel.NEAREST] = at, nearest
            keys.append(cells)
            at += cells.size
    flat = np.concatenate([headers.reshape(-1), *keys])
    return Forms(flat, which, ranks, int(matter.max(initial=1)), weights)


def distances_of(statistic: RankStatistic, lengths: IntArray) -> IntArray:
    """The 16 numbers for each of these numbers of records."""
    statistic.form_of(int(lengths.max(initial=0)))  # refuses too many
    if not statistic.form.linear:
        distinct, which = distinct_lengths(lengths)
        return np.array([statistic.form(n) for n in distinct.tolist()])[which]
    one, two = statistic.form(1), statistic.form(2)
    forms: IntArray = one + (lengths[:, None] - 1) * (two - one)
    forms[lengths == 0] = statistic.form(0)
    return forms


def ranks_of(forms: IntArray, lengths: IntArray, reach: int) -> IntArray:
    """`RankStatistic.ranks_that_matter` of each of these numbers of records."""
    (s, gate), (t, other) = forms[:, LOW][:, :2].T, forms[:, HIGH][:, :2].T
    left = np.clip(lengths + -other // t, 0, lengths)
    right = np.clip(-(-gate // s), 0, lengths)
    low = np.minimum(np.maximum(np.minimum(left, right - 1) - reach, 0), lengths - 1)
    high = np.maximum(np.minimum(np.maximum(left + 1, right) + reach, lengths) - 1, low)
    low[lengths == 0], high[lengths == 0] = 0, -1
    return np.stack([low, high], axis=1)


def has_table(statistic: DistanceStatistic) -> bool:
    """Whether a table has all weights, or some for each record, as few digits give; public."""
    rate = statistic.weighting.rate
    of_one = max(size_of(rate, statistic.farthest(n)) for n in range(2))
    return size_of(rate, MOST_WEIGHTS) <= MOST_WEIGHTS or of_one <= A_RECORD


def distinct_lengths(lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Distinct lengths in order, and which of them each one is."""
    longest = int(lengths.max(initial=0))
    if longest > 4 * lengths.size + 1_000:  # counting would take more memory than sorting
        return np.unique(lengths, return_inverse=True)
    distinct = np.flatnonzero(np.bincount(lengths, minlength=1))
    place = np.zeros(longest + 1, np.int64)
    place[distinct] = np.arange(distinct.size)
    return distinct, place[lengths]
