"""The sums of joint quantiles' law for one total: forward from answer to answer, and joined.

The chain of `tests/twins/quantiles.py`. Sites are runs of grid points and points with records,
slots the ranks of each; a state is a slot and how many answers its site has so far. Rows hold the
sums up to an answer, by site and state, in one array: states of more answers are kept as long as,
in some slot, they are more than a share `lost` of those of fewer; the factors to come fall with
their number.

**Numbers** are of great range, as those of a row are beyond the exponents of doubles: a complex
x + i*y stands for x * 2**(768 * y). Of a product x is 0 or in [2**-384, 2**384), of a sum of them
in reach of that. All terms are >= 0, so that nothing cancels; what is 2**-768 of a sum is left out.

**A step** sums over earlier slots. Ranks up to last = rank - whole are far: one recurrence carries
their sum forward. Those beyond are near, and weigh the more the farther they are: a window whose
two ends never go back. Its older part are sums from each rank to a border, made backwards when the
window has passed the border, its newer part is one sum from there on. Hence a few additions a slot.
The latest rank, which more slots may share, is apart.
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

BIT = 768  # bits of an exponent
UP, DOWN, HIGH, LOW = 2.0**768, 2.0**-768, 2.0**384, 2.0**-384
NOTHING_AT_ALL = complex(0.0, -(2.0**40))


@helper
def scaled(x: Any, exponent: Any) -> Any:
    """x * 2**(768 * exponent), x in [2**-768, 2**768)."""
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
    """a / b as a double, b > 0; 0 if it is below 2**-768."""
    exponent = a.imag - b.imag
    if exponent < -1.0:
        return 0.0
    share = a.real / b.real
    return share if exponent == 0.0 else share * (DOWN if exponent < 0.0 else UP)


@helper
def faded(fade: Any, distance: Any) -> Any:
    """exp(-rate * distance); of distances beyond those that count 0."""
    return fade[min(distance, fade.size - 1)]


@helper
def gap_weight(fade: Any, gaps: Any, j: Any, whole: Any, records: Any) -> Any:
    """exp(-rate * |records - target|), target = whole - rest: the weight of gap j."""
    if records >= whole:
        return times(faded(fade, records - whole), gaps[2 * j])
    return times(faded(fade, whole - 1 - records), gaps[2 * j + 1])


@helper
def answer_factor(points: Any, records: Any, left: Any, k: Any) -> Any:
    """What the k-th answer in a site multiplies by."""
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

    x, out: of the slots from `shift` on. With `inside` the sites a, ..., end - 1 are one, and s'
    are its slots up to s; otherwise s' are the slots of earlier sites.
    """
    base = rank[first[a]]
    top, latest, newer = base, NOTHING_AT_ALL, NOTHING_AT_ALL
    passed, border, far = base - 1, base - 1, NOTHING_AT_ALL
    for site in range(a, end):
        begin, stop = first[site], first[site + 1]
        # Within a site each slot counts before it looks; otherwise all look before any counts.
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
    """The sum of the first states of slot i of a site, whose sums start at `at`."""
    total = NOTHING_AT_ALL
    for k in range(states):
        total = plus(total, rows[at + k * size + i])
    return total


@helper
def sums_by_slot(
    rows: Any, start: Any, depth: Any, first: Any, low: Any, high: Any, row: Any, x: Any
) -> None:
    """Fill x, of the slots of the sites low, ..., with the sums of a row that ends at `high`."""
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
    """The sum of the last answer's sums, of the slots from `shift` on, times the last gap's."""
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
def counts(rows: Any, at: Any, k: Any, size: Any, lost: Any) -> Any:
    """Whether state k, from 0, is more than a share `lost` of those before it in some slot."""
    for i in range(size):
        sums, fewer = rows[at + k * size + i], sum_of_states(rows, at, k, size, i)
        if sums.real > 0.0 and (fewer.real == 0.0 or ratio(sums, fewer) > lost):
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
    low: Any, high: Any, place: Any, whole: Any, gaps: Any, fade: Any, lost: Any,
    start: Any, depth: Any, most: Any, rows: Any, work: Any, total: Any,
) -> Any:  # fmt: skip
    """Fill the rows of all answers, and total[0] with the sum of all; -1 if there is no room.

    points, records, first, rank : of the sites, and of their slots
    low, high, place : answer j is in the sites low[j], ..., high[j] - 1; site a is at place[j] + a
    whole, gaps : of the target of each gap, two numbers in `gaps`
    start, depth : where an answer's sums in a site start in `rows`, and how many states they are of
    most : of each answer, how many states a site has
    work : room for four times the slots, or ranks, of the sites of two neighbouring answers

    Returns the number of sums, which is about how long it took.
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
                number = k + 1 if counts(rows, at, k, size, lost) else number
            start[place[j] + a], depth[place[j] + a] = at, number
            most[j] = max(most[j], number)
            used += number * size
    # As if there were one more answer, after all records.
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
    """Add to `masses`, by answer, (r, after) and site, what it has on both sides, over whole[0].

    The answer is the r-th in its site, and the first of `after` from the other end, whose rows are
    those of the sites from right to left: its own factor is in both. Those of answer j start at
    base[j], in arrays of wide[j] times the number of sites for each r.
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
