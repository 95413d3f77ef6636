"""Smooth sensitivity of order statistics and medians, for sorted rows and several betas.

It is the greatest spread of a window of ranks times exp(-beta * cost), where the cost is the
number of records to change until the window's ends are neighbours at the statistic. Only windows
near the statistic are evaluated: the spread of the widest window up to a cost bounds all of
them. The greatest one is evaluated afresh, so the result has one rounding each of the spread, the
exponential and their product.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import I64, IN_F64, IN_I64, NOTHING, OUT_F64, helper, kernel
from ..bits.logexp import exp_one

LOWER, UPPER = 0, 1
DIRECT = 48  # pairs of ranks up to which all are tried; a few more take as long as an envelope


@helper
def at(row: Any, i: Any, limits: Any) -> Any:
    """The record of rank i, clamped; beyond the ranks the limit of that side."""
    if i < 1:
        return limits[LOWER]
    if i > row.size:
        return limits[UPPER]
    return min(max(row[i - 1], limits[LOWER]), limits[UPPER])


@helper
def reach(row: Any, m: Any, c: Any, limits: Any, weights: Any) -> Any:
    """How many ranks to either side of m and c matter: no window of that cost is the greatest."""
    low, high, best = at(row, m, limits), at(row, c, limits), 0.0
    last, k = min(weights.size - 1, row.size + 1), 1
    while k < 2 * last:
        p = min(k, last)
        right, left = at(row, c + p, limits), at(row, m - p, limits)
        best = max(best, max(right - low, high - left) * weights[p - 1])
        if 2 * p <= last:
            best = max(best, (right - left) * weights[2 * p - 1])
        k *= 2
    k, inner = last, last // 2
    while k > 1:
        # Windows of a cost from `inner` to k - 1 lie within k ranks to either side.
        spread = at(row, c + k, limits) - at(row, m - k, limits)
        if spread * weights[inner] < best:
            k = inner
            inner = k // 2
        elif k - inner > k // 4 + 1 and k >= 8:
            inner = k - k // 4
        else:
            break
    return min(k, max(m, row.size + 1 - c))


@helper
def sides(left: Any, right: Any, weights: Any, ranks: Any, window: Any) -> Any:
    """The greatest weighted spread of windows that begin at m, end at c or lie evenly about both.

    window = its ranks below m and above c. Returns the spread, and the greatest weighted distances
    of a record below and of one above.
    """
    best, most_left, most_right = -1.0, 0.0, 0.0
    for k in range(1, ranks + 1):
        weight = weights[k - 1]
        if right[k] * weight > best:
            best = right[k] * weight
            window[0], window[1] = 0.0, k
        if (right[0] + left[k]) * weight > best:
            best = (right[0] + left[k]) * weight
            window[0], window[1] = k, 0.0
        if 2 * k <= weights.size and (right[k] + left[k]) * weights[2 * k - 1] > best:
            best = (right[k] + left[k]) * weights[2 * k - 1]
            window[0], window[1] = k, k
        most_left = max(most_left, left[k] * weights[k])
        most_right = max(most_right, right[k] * weights[k])
    return best, most_left, most_right


@helper
def edge(side: Any, weights: Any, ranks: Any, other: Any, best: Any) -> Any:
    """How many ranks of a side can exceed `best`, if the other side adds at most `other`."""
    k = ranks
    while k > 0 and weights[k - 1] * (side[k] * weights[1] + other) <= best:
        k -= 1
    return k


@helper
def pairs(
    left: Any, right: Any, weights: Any, below: Any, above: Any, best: Any, window: Any
) -> None:
    """Find the greatest window with 1 to `below` ranks under m and 1 to `above` over c."""
    for p in range(1, below + 1):
        for q in range(1, min(above, weights.size - p) + 1):
            if (right[q] + left[p]) * weights[p + q - 1] > best:
                best = (right[q] + left[p]) * weights[p + q - 1]
                window[0], window[1] = p, q


@helper
def lines(left: Any, right: Any, weights: Any, above: Any, line: Any, height: Any) -> Any:
    """The upper envelope of lines q: weights[q - 1] * (right[q] + t), for t >= left[1].

    Slopes fall with q, so that the best line for large t comes first. A line that is not
    above the last one at left[1] is nowhere. Returns how many lines there are.
    """
    top = -1
    for q in range(1, above + 1):
        slope = weights[q - 1]
        start = slope * (right[q] + left[1])
        if top >= 0 and start <= height[top]:
            continue
        while top > 0:
            first = weights[np.int64(line[top - 1]) - 1]
            second = weights[np.int64(line[top]) - 1]
            late = (start - height[top - 1]) * (first - second)
            if late < (height[top] - height[top - 1]) * (first - slope):
                break
            top -= 1
        top += 1
        line[top], height[top] = q, start
    return top + 1


@helper
def envelope(
    left: Any, right: Any, weights: Any, below: Any, above: Any, best: Any, window: Any
) -> None:
    """`pairs` in a time that is linear in the ranks, as distances below only grow."""
    n = left.size
    line, height = window[2 : 2 + n], window[2 + n : 2 + 2 * n]
    top = lines(left, right, weights, above, line, height) - 1
    slope = weights[np.int64(line[top]) - 1]
    for p in range(1, below + 1):
        t = left[p] - left[1]
        value = height[top] + slope * t
        while top > 0:
            other = weights[np.int64(line[top - 1]) - 1]
            if height[top - 1] + other * t < value:
                break
            top -= 1
            slope, value = other, height[top] + other * t
        if value * weights[p] > best:
            best = value * weights[p]
            window[0], window[1] = p, line[top]


@helper
def greatest(row: Any, m: Any, c: Any, limits: Any, beta: Any, weights: Any, work: Any) -> Any:
    """The greatest weighted window of a row about its ranks m and c.

    work[0]: ranks of the sides that are filled in.
    """
    n = row.size + 2
    left, right, window = work[1 : 1 + n], work[1 + n : 1 + 2 * n], work[1 + 2 * n :]
    ranks = reach(row, m, c, limits, weights)
    centre = at(row, m, limits)
    for k in range(np.int64(work[0]) + 1, ranks + 1):
        left[k] = centre - at(row, m - k, limits)
        right[k] = at(row, c + k, limits) - centre
    work[0] = max(work[0], ranks)
    best, most_left, most_right = sides(left, right, weights, ranks, window)
    below = min(edge(left, weights, ranks, most_right, best), m)
    above = min(edge(right, weights, ranks, most_left, best), row.size + 1 - c)
    if below * above > DIRECT:
        envelope(left, right, weights, below, above, best, window)
    else:
        pairs(left, right, weights, below, above, best, window)
    p, q = np.int64(window[0]), np.int64(window[1])
    return (at(row, c + q, limits) - at(row, m - p, limits)) * exp_one(-beta * (p + q - 1))


@kernel(NOTHING(IN_F64, I64, I64, I64, IN_F64, IN_F64, IN_F64, IN_I64, OUT_F64, OUT_F64))
def replace_fill(
    rows: Any, n: Any, rank: Any, half: Any, limits: Any, betas: Any, table: Any, ends: Any,
    work: Any, out: Any,
) -> None:  # fmt: skip
    """out[row, beta] = smooth sensitivity of rows of n records if a record is replaced.

    The statistic is the record of that rank, or with half = 1 the middle between it and the next.
    table: exp(-beta * k) for k = 0, 1, ... from ends[b] to ends[b + 1], at least two; `work`:
    4 * (n + 2) + 3 numbers.
    """
    beta_count = betas.size
    for r in range(out.size // beta_count):
        row = rows[r * n : (r + 1) * n]
        work[0], work[1] = 0.0, 0.0
        low, high = at(row, rank, limits), at(row, rank + half, limits)
        work[n + 3] = high - low
        for b in range(beta_count):
            weights = table[ends[b] : ends[b + 1]]
            value = greatest(row, rank, rank + half, limits, betas[b], weights, work)
            out[r * beta_count + b] = value * 0.5 if half else value


@helper
def widest(row: Any, k: Any, half: Any, limits: Any) -> Any:
    """The greatest spread of a window of cost k <= n + 1 if records are added or removed."""
    n = row.size
    if k > n:
        return limits[UPPER] - limits[LOWER]
    i = (n - k) // 2
    if k == n:  # to widen it to both limits takes one record more
        low, high = at(row, 1, limits), at(row, n, limits)
        return max(high - limits[LOWER], limits[UPPER] - low)
    spread = at(row, i + k + 1, limits) - at(row, i, limits)
    if half:
        i = (n - k + 1) // 2
        spread = max(spread, at(row, i + k + 1, limits) - at(row, i, limits))
    return spread


@helper
def skim(row: Any, half: Any, limits: Any, beta: Any) -> Any:
    """The greatest weighted spread; runs of costs are skipped if a bound allows it.

    Spreads grow with the cost and weights fall, so the last spread and the first weight of a
    run of costs bound it. A run is twice as long after a skip, and else half as long.
    """
    last, best, k = row.size + 1, 0.0, 1
    while k < 2 * last:
        p = min(k, last)
        best = max(best, widest(row, p, half, limits) * exp_one(-beta * p))
        k *= 2
    k, run = 0, 1
    while k <= last:
        weight = exp_one(-beta * k)
        bound = widest(row, min(k + run - 1, last), half, limits) * weight
        if bound <= best:
            k += run
            run *= 2
        elif run > 1:
            run //= 2
        else:
            best = bound
            k += 1
    return best


@kernel(NOTHING(IN_F64, I64, I64, IN_F64, IN_F64, OUT_F64))
def add_remove_fill(rows: Any, n: Any, half: Any, limits: Any, betas: Any, out: Any) -> None:
    """out[row, beta] = smooth sensitivity of the lower median if records are added or removed.

    Rows have n records; with half = 1 the statistic is the middle of lower and upper median.
    """
    beta_count = betas.size
    for r in range(out.size // beta_count):
        row = rows[r * n : (r + 1) * n]
        for b in range(beta_count):
            value = skim(row, half, limits, betas[b])
            out[r * beta_count + b] = value * 0.5 if half else value
