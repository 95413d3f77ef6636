"""Peers for the smooth sensitivity of a median of one data set, if a record is replaced.

All of them sort, unless the records are in order. They find the greatest of
exp(-beta * k) * (x[j] - x[i]) over i <= m <= j with j - i = k + 1 (Nissim et al. 2007); beyond the
records, x[i] is a bound.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log

import numpy as np

from ..harness.workload import Call, FloatArray
from .workload import RATE, StudyWork


def _over_sorted(work: StudyWork, find: Callable[[FloatArray], float]) -> Call:
    low, high = work.bounds

    def call() -> float:
        x = work.records if work.in_order else np.sort(work.records)
        if x[0] < low or x[-1] > high:
            x = np.clip(x, low, high)
        return find(x)

    return call


def divide_and_conquer(work: StudyWork) -> Call:
    """O(n log n) by Nissim et al., Section 3.1: the best right end only moves right.

    As in Google's dp_multiq, a recursion in Python with a pass of NumPy at each step.
    """
    n, (low, high) = work.k, work.bounds
    m, knots = (n + 1) // 2, np.empty(n + 2)
    knots[0], knots[-1] = low, high
    ends = np.exp(-RATE * np.arange(n + 2 - m))  # factors of right ends from m on
    starts = np.exp(-RATE * (m - 1.0 - np.arange(m + 1)))  # of left ends up to m: exp(beta)

    def find(x: FloatArray) -> float:
        knots[1:-1] = x
        right, greatest = knots[m:], 0.0
        parts = [(0, m, 0, n + 1 - m)]  # left ends, and their right ends after m
        while parts:
            first, last, nearest, farthest = parts.pop()
            i = (first + last) // 2
            least = max(nearest, 1) if i == m else nearest  # a window has two ends
            weighted = (right[least : farthest + 1] - knots[i]) * ends[least : farthest + 1]
            j = int(weighted.argmax())
            greatest = max(greatest, float(weighted[j]) * starts[i])
            if first < i:
                parts.append((first, i - 1, nearest, least + j))
            if i < last:
                parts.append((i + 1, last, least + j, farthest))
        return float(greatest)

    return _over_sorted(work, find)


def stopping(work: StudyWork) -> Call:
    """Tuned by hand: windows of each cost, up to that at which even the bounds weigh too little."""
    n, (low, high) = work.k, work.bounds
    m = (n + 1) // 2
    costs = np.arange(1, max(2, min(m, n - m, ceil(20 / RATE))))  # for a first lower bound
    above, below = m + costs // 2, m - 1 - (costs - costs // 2)
    first_weights = np.exp(-RATE * costs)

    def find(x: FloatArray) -> float:
        least = float(((x[above] - x[below]) * first_weights).max())
        most = n if least == 0 else min(n, ceil(log((high - low) / least) / RATE))
        first, last = m - most - 1, m + most + 1
        ranks = np.empty(2 * most + 3)
        start, stop = max(first, 1) - first, min(last, n) + 1 - first
        ranks[:start], ranks[stop:] = low, high
        ranks[start:stop] = x[first + start - 1 : first + stop - 1]
        greatest, weights = 0.0, np.exp(-RATE * np.arange(most + 1)).tolist()
        for k in range(most + 1):
            ends, starts = ranks[most + 1 : most + k + 3], ranks[most - k : most + 2]
            greatest = max(greatest, weights[k] * float((ends - starts).max()))
        return greatest

    return _over_sorted(work, find)
