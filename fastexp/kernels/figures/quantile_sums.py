"""Sums of the law of joint quantiles for one total: forward from answer to answer, then joined.

The chain is that of `tests/twins/quantiles.py`. A *site* is a run of grid points or a point with
records, and its *slots* are its ranks. A *state* is a slot and the number of answers that its site
has so far. A row holds the sums up to an answer, by site and state; all rows are in one array.
States with more answers are kept as long as, in some slot, they are more than a share `cutoff` of
the states with fewer answers; the factors of further answers fall with the number of answers.

**Numbers** exceed the range of doubles: a complex number x + i*y stands for x * 2**(768 * y). In a
product, x is 0 or in [2**-384, 2**384); in a sum of products it is close to that range. All terms
are >= 0, so that nothing cancels; a term that is 2**-768 of a sum is left out.

**A step** sums over earlier slots. Ranks up to last = rank - whole are *far*: one recurrence
carries their sum forward. Later ranks are *near*, and their weights fall as the rank rises. They
are a window whose two ends never go back, in two parts: the older part has the sums from each rank
to a border, computed backwards when the window has passed the last border; the newer part is one
sum from the border on. So each slot takes a few additions. The latest rank is kept apart, because
several slots may share it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    F64,
    I64,
    IN_C128,
    IN_I64,
    NOTHING,
    OUT_C128,
    OUT_F64,
    OUT_I64,
    helper,
    kernel,
)

UNIT_BITS = 768  # bits of a unit of an exponent
UP, DOWN, HIGH, LOW = 2.0**768, 2.0**-768, 2.0**384, 2.0**-384
NOTHING_AT_ALL = complex(0.0, -(2.0**40))


@helper
def scaled(x: Any, exponent: Any) -> Any:
    """Return x * 2**(768 * exponent), for x = 0 or in [2**-768, 2**768)."""
    if x >= HIGH:
        return complex(x * DOWN, exponent + 1.0)
    if 0.0 < x < LOW:
        return complex(x * UP, exponent - 1.0)
    return complex(x, exponent)


@helper
def plus(a: Any, b: Any) -> Any:
    """a + b."""
    if a.imag == b.imag:
        return complex(a.real + b.real, a.imag)
    if a.imag < b.imag:
        a, b = b, a
    return complex(a.real + b.real * DOWN, a.imag) if a.imag == b.imag + 1.0 else a


@helper
def times(a: Any, b: Any) -> Any:
    """a * b."""
    return scaled(a.real * b.real, a.imag + b.imag)


@helper
def ratio(a: Any, b: Any) -> Any:
    """Return a / b as a double, for b > 0; 0 if it is below 2**-768."""
    exponent = a.imag - b.imag
    if exponent < -1.0:
        return 0.0
    share = a.real / b.real
    return share if exponent == 0.0 else share * (DOWN if exponent < 0.0 else UP)


@helper
def faded(fade: Any, distance: Any) -> Any:
    """Return exp(-rate * distance); 0, the last entry of fade, for all distances from there on."""
    return fade[min(distance, fade.size - 1)]


@helper
def gap_weight(fade: Any, gaps: Any, j: Any, whole: Any, records: Any) -> Any:
    """Return the weight of gap j, exp(-rate * |records - target|) with target = whole - rest."""
    if records >= whole:
        return times(faded(fade, records - whole), gaps[2 * j])
    return times(faded(fade, whole - 1 - records), gaps[2 * j + 1])


@helper
def answer_factor(points: Any, records: Any, left: Any, k: Any) -> Any:
    """Return the factor of the k-th answer in a site."""
    if records > 0:
        return 1.0 / np.float64(records + k)
    return (np.float64(points) + np.float64(left * (k - 1))) / np.float64(k)


@helper
def sum_back(sums: Any, start: Any, stop: Any, fade: Any, out: Any) -> None:
    """out[k] = the sum of sums[i] * fade[i - k] over i = k, ..., stop - 1."""
    total = NOTHING_AT_ALL
    for k in range(stop - 1, start - 1, -1):
        total = plus(sums[k], times(total, fade[1]))
        out[k] = total


@helper
def step(
    x: Any, rank: Any, first: Any, a: Any, end: Any, shift: Any, inside: Any,
    fade: Any, short: Any, long: Any, whole: Any, sums: Any, older: Any, out: Any,
) -> None:  # fmt: skip
    """out[s] = the sum of x[s'] * exp(-rate * |rank[s] - rank[s'] - target|) over s'.

    x, out: an entry for each slot from `shift` on. With `inside`, a is the only site (end = a + 1)
    and s' runs over its slots up to s; otherwise s' runs over the slots of earlier sites.
    """
    base = rank[first[a]]
    top, latest, newer = base, NOTHING_AT_ALL, NOTHING_AT_ALL
    passed, border, far = base - 1, base - 1, NOTHING_AT_ALL
    for site in range(a, end):
        begin, stop = first[site], first[site + 1]
        # If inside, a slot is added before it looks; else a whole site looks, then it is added.
        parts = stop - begin if inside else 1
        for turn in range(2 * parts):
            looks = (turn & 1 == 1) == inside
            start = begin + (turn >> 1)
            for s in range(start, start + 1 if inside else stop):
                r = rank[s]
                if not looks:
                    while top < r:
                        sums[top - base] = latest
                        newer = plus(newer, times(latest, faded(fade, top - border - 1)))
                        top, latest = top + 1, NOTHING_AT_ALL
                    latest = plus(latest, x[s - shift])
                    continue
                last = r - whole
                while passed < min(last, top - 1):
                    passed += 1
                    far = plus(times(far, fade[1]), sums[passed - base])
                value = times(far, faded(fade, last - passed)) if last >= base else NOTHING_AT_ALL
                if last >= top:
                    value = times(plus(value, times(latest, faded(fade, last - top))), short)
                else:
                    lowest, value = max(last + 1, base), times(value, short)
                    near = times(latest, faded(fade, top - last - 1))
                    if lowest < top:
                        if lowest > border:
                            sum_back(sums, lowest - base, top - base, fade, older)
                            border, newer = top - 1, NOTHING_AT_ALL
                        weight = faded(fade, lowest - last - 1)
                        near = plus(near, times(older[lowest - base], weight))
                        near = plus(near, times(newer, faded(fade, border - last)))
                    value = plus(value, times(near, long))
                out[s - shift] = value


@helper
def sum_of_states(rows: Any, at: Any, states: Any, size: Any, i: Any) -> Any:
    """Return the sum of the first `states` states of slot i; the sums of its site start at `at`."""
    total = NOTHING_AT_ALL
    for k in range(states):
        total = plus(total, rows[at + k * size + i])
    return total


@helper
def sums_by_slot(
    rows: Any, start: Any, depth: Any, first: Any, low: Any, high: Any, row: Any, x: Any
) -> None:
    """x = the sums of a row (sites low, ..., high - 1) for each slot from site `low` on, else 0."""
    x[:] = NOTHING_AT_ALL
    for a in range(low, high):
        size = first[a + 1] - first[a]
        for i in range(size):
            some = sum_of_states(rows, start[row + a], depth[row + a], size, i)
            x[first[a] - first[low] + i] = some


@helper
def sum_to_end(
    x: Any, rank: Any, shift: Any, n: Any, m: Any, whole: Any, gaps: Any, fade: Any
) -> Any:
    """Return the sum of x, the last answer's sums from slot `shift` on, times the last weights."""
    total = NOTHING_AT_ALL
    for i in range(x.size):
        gap = gap_weight(fade, gaps, m, whole, n - rank[shift + i])
        total = plus(total, times(x[i], gap))
    return total


@helper
def multiply(x: Any, factor: Any) -> None:
    """Multiply numbers by a double."""
    for i in range(x.size):
        x[i] = times(x[i], scaled(factor, 0.0))


@helper
def counts(rows: Any, at: Any, k: Any, size: Any, cutoff: Any) -> Any:
    """Whether state k, from 0, is more than a share `cutoff` of those before it in some slot."""
    for i in range(size):
        sums, fewer = rows[at + k * size + i], sum_of_states(rows, at, k, size, i)
        if sums.real > 0.0 and (fewer.real == 0.0 or ratio(sums, fewer) > cutoff):
            return True
    return False


@kernel(
    I64(
        IN_I64, IN_I64, IN_I64, IN_I64, I64, I64, IN_I64, IN_I64, IN_I64, IN_I64, IN_C128,
        IN_C128, F64, OUT_I64, OUT_I64, OUT_I64, OUT_C128, OUT_C128, OUT_C128,
    )
)  # fmt: skip
def forward(
    points: Any, records: Any, first: Any, rank: Any, left: Any, n: Any,
    low: Any, high: Any, place: Any, whole: Any, gaps: Any, fade: Any, cutoff: Any,
    start: Any, depth: Any, most: Any, rows: Any, work: Any, total: Any,
) -> Any:  # fmt: skip
    """Fill the rows of all answers, and total[0] with the sum of all; -1 if there is no room.

    points, records, first : of each site: its grid points, its records, its first slot
    rank : of each slot
    low, high, place : answer j is in the sites low[j], ..., high[j] - 1; site a is at place[j] + a
    whole, gaps : of each gap: the target, rounded up; exp(-rate * rest), exp(-rate * (1 - rest))
    start, depth : where an answer's sums in a site start in `rows`, and its number of states
    most : of each answer, the largest number of states of a site
    work : room for four times the slots, or ranks, of the sites of two neighbouring answers

    Returns the number of sums, a measure of the time taken.
    """
    m, used, room = low.size, 0, work.size // 4
    slots, moved = work[:room], work[room : 2 * room]
    sums, older = work[2 * room : 3 * room], work[3 * room :]
    for j in range(m):
        earlier, before = (low[j - 1], high[j - 1]) if j > 0 else (low[j], low[j])
        shift, past = first[earlier], place[max(j - 1, 0)]
        short, long = gaps[2 * j], gaps[2 * j + 1]
        most[j] = 1
        if j > 0:
            part = slots[: first[high[j]] - shift]
            sums_by_slot(rows, start, depth, first, earlier, before, past, part)
            step(
                part, rank, first, earlier, high[j], shift, False,
                fade, short, long, whole[j], sums, older, moved,
            )  # fmt: skip
        for a in range(low[j], high[j]):
            size, at = first[a + 1] - first[a], used
            states = depth[past + a] if earlier <= a < before else 0
            if used + (states + 1) * size > rows.size:
                return -1
            for i in range(size):
                s = first[a] + i
                first_gap = gap_weight(fade, gaps, 0, whole[0], rank[s])
                rows[at + i] = moved[s - shift] if j > 0 else first_gap
            multiply(rows[at : at + size], answer_factor(points[a], records[a], left, 1))
            number = 1
            for k in range(1, states + 1):
                here, one_fewer = at + k * size, start[past + a] + (k - 1) * size
                x, out = rows[one_fewer : one_fewer + size], rows[here : here + size]
                step(
                    x, rank, first, a, a + 1, first[a], True,
                    fade, short, long, whole[j], sums, older, out,
                )  # fmt: skip
                multiply(out, answer_factor(points[a], records[a], left, k + 1))
                number = k + 1 if counts(rows, at, k, size, cutoff) else number
            start[place[j] + a], depth[place[j] + a] = at, number
            most[j] = max(most[j], number)
            used += number * size
    # The sum of all, as if one more answer followed all records.
    part = slots[: first[high[m - 1]] - first[low[m - 1]]]
    sums_by_slot(rows, start, depth, first, low[m - 1], high[m - 1], place[m - 1], part)
    total[0] = sum_to_end(part, rank, first[low[m - 1]], n, m, whole[m], gaps, fade)
    return used


@kernel(
    NOTHING(
        IN_I64, IN_I64, IN_I64, I64, IN_I64, IN_I64, IN_I64, IN_I64, IN_I64, IN_C128, IN_I64,
        IN_I64, IN_I64, IN_C128, IN_C128, IN_I64, IN_I64, OUT_F64,
    )
)  # fmt: skip
def join(
    points: Any, records: Any, first: Any, left: Any, low: Any, high: Any,
    place: Any, start: Any, depth: Any, rows: Any,
    back_place: Any, back_start: Any, back_depth: Any, back_rows: Any,
    whole: Any, base: Any, wide: Any, masses: Any,
) -> None:  # fmt: skip
    """Add to `masses`, by answer, (r, after) and site, the product of both its sums, over whole[0].

    The answer is the r-th in its site from the left and number `after` from the right. The rows
    `back_rows` are those of the sites from right to left: both sums have the answer's own factor.
    The masses of answer j start at base[j], with wide[j] times the number of sites for each r.
    """
    sites, m = points.size, low.size
    for j in range(m):
        for a in range(low[j], high[j]):
            size, at = first[a + 1] - first[a], place[j] + a
            mirrored = back_place[m - 1 - j] + (sites - 1 - a)
            for r in range(1, depth[at] + 1):
                here = start[at] + (r - 1) * size
                for after in range(1, back_depth[mirrored] + 1):
                    there = back_start[mirrored] + after * size - 1
                    both = NOTHING_AT_ALL
                    for i in range(size):
                        both = plus(both, times(rows[here + i], back_rows[there - i]))
                    share = ratio(both, whole[0])
                    share /= answer_factor(points[a], records[a], left, after)
                    for i in range(1, after):
                        share *= answer_factor(points[a], records[a], left, r + i)
                        share /= answer_factor(points[a], records[a], left, i)
                    masses[base[j] + ((r - 1) * wide[j] + after - 1) * sites + a] += share
