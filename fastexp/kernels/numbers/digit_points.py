"""Records to the points of a grid of significant digits: a decade, a quotient, seldom a comparison.

A positive point is m * 10**k, 10**(d - 1) <= m < 10**d, with one k for each decade, as a double.
The quotient of a record and 10**k is off by less than a margin, 10**d * 2**-50: it is a product of
two doubles, one of them rounded, and points are rounded. If it is farther than that from half-way
(with rule "below", from a point), it decides the place. Else the record is compared with the points
around it, if they are known: for |k| <= 22, m and 10**|k| are doubles, and their product or
quotient is the double nearest to the point. A record that is still undecided is left OPEN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import I64, IN_F64, OUT_I64, float_bits, helper, kernel

OPEN = np.int64(-1)
# Of a form: how many points are positive, points a decade, the least m, the margin, whether 0 is a
# point, whether negative numbers are, whether a record counts at the largest point not above it,
# the least positive point. Then of each decade 10**|k|, and of each how m takes it (or UNKNOWN).
SIZE, PER, LEAST_M, MARGIN, ZERO, NEGATIVE, BELOW, FIRST, POWERS = 0, 1, 2, 3, 4, 5, 6, 7, 8
# Of a table, for each binary exponent: the decade in which it begins, where the next decade begins,
# and approximations of 10**-k of both decades, or 0.
DECADE, NEXT, SHARE, SHARE_OF_NEXT = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
ROW, EXPONENT = np.uint64(4), np.uint64(52)
UNKNOWN, TIMES, OVER = 0.0, 1.0, 2.0


@helper
def point(m: Any, power: Any, way: Any) -> Any:
    """The positive point of m in a decade."""
    return m * power if way == TIMES else m / power


@helper
def past_middle(y: Any, p: Any, q: Any, odd: Any) -> Any:
    """Whether y >= p is nearer to q than to p, or as near to both and p has an odd index."""
    total = p + q
    back = total - p
    rounding_loss = (p - (total - back)) + (q - back)  # p + q = total + rounding_loss, exactly
    ahead = (2.0 * y - total) - rounding_loss
    return ahead > 0.0 or (ahead == 0.0 and odd)


@helper
def moves_on(y: Any, p: Any, q: Any, minus: Any, odd: Any, form: Any) -> Any:
    """Whether a number of magnitude y >= p counts at the next point q and not at p."""
    if form[BELOW] == 1.0:
        moves = minus and p < y
    elif p == 0.0 and form[ZERO] == 0.0:
        moves = y > 0.0 or odd
    else:
        moves = past_middle(y, p, q, odd)
    return moves


@helper
def index_at(place: Any, minus: Any, form: Any) -> Any:
    """The index of the point at a place among the positive ones, or of its negative."""
    size = np.int64(form[SIZE])
    place = min(place, size - 1)
    center = size if form[NEGATIVE] == 1.0 else np.int64(0)
    index = center - 1 - place if minus else center + np.int64(form[ZERO]) + place
    return max(index, 0)


@helper
def exact_index(y: Any, minus: Any, j: Any, quotient: Any, form: Any) -> Any:
    """The index of a number of magnitude y, in decade j if it is not below all, or OPEN."""
    per, least = np.int64(form[PER]), form[LEAST_M]
    place, p, q, way = np.int64(-1), 0.0, form[FIRST], TIMES
    if y >= q:
        power, way = form[POWERS + j], form[POWERS + np.int64(form[SIZE]) // per + j]
        most = 10.0 * least - 1.0 if way != UNKNOWN else least
        m = np.float64(np.int64(min(quotient, most))) if quotient > least else least
        while m > least and point(m, power, way) > y:
            m -= 1.0
        while m < most and point(m + 1.0, power, way) <= y:
            m += 1.0
        place = j * per + np.int64(m - least)
        p, q = point(m, power, way), point(m + 1.0, power, way)
    odd = index_at(place, minus, form) & 1 == 1
    place += 1 if moves_on(y, p, q, minus, odd, form) else 0
    return index_at(place, minus, form) if way != UNKNOWN else OPEN


@helper
def decade(y: Any, binades: Any) -> Any:
    """The decade of y, 0 if it is below all, and y / 10**k."""
    at = (float_bits(y) >> EXPONENT) * ROW
    is_next = y >= binades[at + NEXT]
    share = binades[at + SHARE_OF_NEXT] if is_next else binades[at + SHARE]
    return np.int64(binades[at + DECADE]) + (1 if is_next else 0), y * share


@helper
def fill_by_quotients(records: Any, binades: Any, form: Any, out: Any) -> Any:
    """`digit_indices` of records not near half-way, others OPEN; returns how many are OPEN."""
    least, margin, first = form[LEAST_M], form[MARGIN], form[FIRST]
    per, size, below = np.int64(form[PER]), np.int64(form[SIZE]), form[BELOW] == 1.0
    upto, half = margin if below else -1.0, 1.0 if below else 0.5
    # m counts through all decades, up to `last`; an index is plus + m or, if negative, minus - m.
    last, center = size - 1 + np.int64(least), np.int64(form[SIZE] * form[NEGATIVE])
    plus = center + np.int64(form[ZERO]) - np.int64(least)
    # With rule "below" a negative number counts at the next point of greater magnitude.
    minus = center - (2 if below else 1) + np.int64(least) if center > 0 else np.int64(0)
    unsettled = np.int64(0)
    for i in range(out.size):
        x = records[i]
        y = abs(x)
        j, quotient = decade(y, binades)
        quotient = quotient if quotient < 10.0 * least else 10.0 * least
        whole = np.int64(quotient)
        ahead = quotient - np.float64(whole)  # distance from the point below, in points
        m = j * per + whole + (1 if ahead > half else 0)
        m = m if m < last else last
        if y >= first and quotient > 0.0 and abs(ahead - half) > margin and ahead > upto:
            out[i] = max(minus - m, 0) if x < 0.0 else plus + m
        else:
            out[i] = OPEN
            unsettled += 1
    return unsettled


@kernel(I64(IN_F64, IN_F64, IN_F64, OUT_I64))
def digit_indices(records: Any, binades: Any, form: Any, out: Any) -> Any:
    """out[i] = index of the point that records[i] counts at, or OPEN; returns how many are OPEN.

    binades: the table of binary exponents. The index of NaN is arbitrary.
    """
    unsettled = fill_by_quotients(records, binades, form, out)
    if unsettled > 0:
        unsettled = np.int64(0)
        for i in range(out.size):
            if out[i] == OPEN:
                y = abs(records[i])
                j, quotient = decade(y, binades)
                out[i] = exact_index(y, records[i] < 0.0, j, quotient, form)
                unsettled += 1 if out[i] == OPEN else 0
    return unsettled
