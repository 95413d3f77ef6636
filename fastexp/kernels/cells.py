"""Cells of grid points by rank distance, for many data sets at once, and draws from them.

All grid points between two neighbouring records have the same distance, an integer function of the
numbers of records below, at and above a point. Sixteen coefficients tell it (`draws/distance.py`):

    distance = max(least_z, side(below), side(above)), z = 1 if no record is at the point, else 0
    side(x) = 0 if s * x < gate, else (s * x - offset_z) // divisor + extra_z

Only the ranks that matter are read; the points beyond them are a *loose* cell on each side, with a
lower bound of its distances. A cell is a candidate whose base is its number of points; its points
are equally likely. A point of a loose cell is left open, for an exact coin with its own distance.
"""

from __future__ import annotations

import numpy as np

from .alias import DRAWS, HEAD, draw_alias, fill_blocks, fill_lowers
from .bits import ONE, SIGNED, ZERO, below, below_word, bit_length, is_exact, philox, power
from .envelope import HEADER, NOT_EXACT, find, survey
from .jit import BLOCK, helper, kernel, stack, wide_vectors

# Of a side's seven coefficients; where a side's begin; their number.
S, GATE, DIVISOR, OFFSET, EXTRA = 0, 1, 2, 3, 4
LEFT, RIGHT, COEFFICIENTS = 2, 9, 16
# A data set: where its sorted grid indices begin, how many are known, how many records lie below
# them, how many there are in all, its first grid point and the first one beyond its last.
PART, START, LENGTH, UNDER, ALL, BOTTOM, TOP = 6, 0, 1, 2, 3, 4, 5
LOOSE = np.int64(1 << 62)  # added to the count of a loose cell
PLACES = np.uint64(1 << 63)  # flips the prefix of a stream: words for places
WORDS = 4  # of a draw of few: two for the cell, then one for the place


@helper
def side(ranks, form, at, empty):
    """The distance that the records on one side give a point."""
    y = form[at + S] * ranks
    if y < form[at + GATE]:
        return np.int64(0)
    y -= form[at + OFFSET + 2 * empty]
    if form[at + DIVISOR] != 1:
        y //= form[at + DIVISOR]
    return y + form[at + EXTRA + 2 * empty]


@helper
def distance(below, equal, above, form):
    empty = 0 if equal > 0 else 1
    most = max(side(below, form, LEFT, empty), side(above, form, RIGHT, empty))
    return max(np.int64(form[empty]), most)


@helper
def least(ranks, form, at):
    """A lower bound of the distance where at least `ranks` records lie on one side."""
    return min(side(ranks, form, at, 0), side(ranks, form, at, 1))


@helper
def fill_form(line, n, form):
    """form = the coefficients for n records, each (a + n * b) // c; line: all a, all b, and c."""
    for i in range(COEFFICIENTS):
        form[i] = (line[i] + n * line[COEFFICIENTS + i]) // line[2 * COEFFICIENTS]


@helper
def ranks_that_matter(form, n, beyond):
    """(the first, how many): from where each side's distance begins, `beyond` ranks further."""
    left = min(max(n + (-form[RIGHT + GATE] // form[RIGHT + S]), 0), n)
    right = min(max(-(-form[LEFT + GATE] // form[LEFT + S]), 0), n)
    low = max(min(min(left, right - 1) - beyond, n - 1), 0)
    return low, min(max(left + 1, right) + beyond, n) - low


@helper
def fill_distances(form, n, low, most, minus):
    """minus = the negated distances of cells if no records are equal."""
    for i in range(most):
        minus[i + 1] = -distance(low + i + 1, 0, n - low - i - 1, form)
        minus[most + 1 + i] = -distance(low + i, 1, n - low - i - 1, form)


@helper
def fill_ties(records, first, most, begin, end, under, n, form, count, minus):
    """Leave one cell of each run of equal records, the last one, with its own distance."""
    while begin < end:
        stop = begin + 1
        while stop < end and records[stop] == records[begin]:
            stop += 1
        last = min(stop - first, most) - 1
        for i in range(max(begin - first, 0), last):
            count[i + 1] = count[most + 1 + i] = 0
        minus[most + 1 + last] = -distance(under + begin, stop - begin, n - under - stop, form)
        begin = stop


@helper
def fill_cells(records, part, form, low, most, start, count, minus, base):
    """Fill the cells around `most` ranks from `low` on; returns whether records are equal.

    They are the gap before each record and the last one, then the records' points. base: counts.
    """
    wide_vectors()
    under, n = part[UNDER], part[ALL]
    first, ties = low - under, np.int64(0)
    begin, end, last = first, first + most, first + most - 1
    start[0], count[0], start[most] = part[BOTTOM], part[TOP] - part[BOTTOM], part[BOTTOM]
    if most > 0:
        while begin > 0 and records[begin - 1] == records[first]:
            begin -= 1
        while end < records.size and records[end] == records[last]:
            end += 1
        count[0], start[most] = records[first] - part[BOTTOM], records[last] + 1
    for i in range(1, most):
        before, point = records[first + i - 1], records[first + i]
        start[i], count[i] = before + 1, point - before - 1
        ties += 1 if point == before else 0
    for i in range(most):
        start[most + 1 + i], count[most + 1 + i] = records[first + i], 1
    count[most] = part[TOP] - start[most]
    equal = ties > 0 or end - begin > most
    if equal:
        fill_ties(records, first, most, begin, end, under, n, form, count, minus)
    for i in range(2 * most + 1):
        base[i] = np.float64(count[i])
    minus[0], minus[most] = -distance(0, 0, n, form), -distance(n, 0, 0, form)
    if under + begin > 0:
        minus[0], count[0] = -least(n - under - begin, form, RIGHT), count[0] | LOOSE
    if under + end < n:
        minus[most], count[most] = -least(under + end, form, LEFT), count[most] | LOOSE
    return equal


@helper
def place(start, count, words, step, out):
    """Turn cells into points, one word each; returns how many are open: -1 - cell.

    A point of a loose cell is open, and a place that its word refuses.
    """
    few = np.int64(0)
    for t in range(out.size):
        cell = out[t]
        if cell >= 0:
            inside, counts = below_word(words[step * t], np.uint64(count[cell] & (LOOSE - 1)))
            settled = counts and count[cell] < LOOSE
            out[t] = start[cell] + np.int64(inside) if settled else -1 - cell
        few += 1 if out[t] < 0 else 0
    return few


@helper
def draw_cells(values, base, rate, best, lift, words, out, work):
    """out = a cell for each draw, by L of each cell; -1 - their number - (0 or 1) if open.

    The room for doubts is that of `choose.settle`.
    """
    m = values.size
    scale = power(min(40, 60 - bit_length(m)))
    total = fill_lowers(values, SIGNED, base, rate, best, lift, scale, work)
    cells = total + (total >> 35) + 8 * m
    work[HEAD - 1] = cells
    for t in range(out.size):
        x, counts = below(words[WORDS * t], words[WORDS * t + 1], np.uint64(cells))
        cell, _ = find(work[HEAD : HEAD + m], np.int64(x))
        out[t] = cell if counts and cell < m else -1 - m - (0 if counts else 1)


@kernel("i64(in_i64, in_i64, in_i64, i64, f64, in_u64, in_u64, i64, out_i64, out_i64)")
def draw_ranks(points, parts, line, beyond, rate, seeds, words, ranks, out, work):
    """out = draws of each data set, grid indices; returns how many are open.

    ranks: the most that matter in any data set. Without `words`, they are those of the streams, and
    draws are many. work: four arrays of 2 * ranks + 1, then scratch.
    """
    if not is_exact(rate):
        return NOT_EXACT
    sets, room, few = parts.size // PART, 2 * ranks + 1, np.int64(0)
    draws, key, prefix = out.size // sets, ZERO, ZERO
    start, count, minus = work[:room], work[room : 2 * room], work[2 * room : 3 * room]
    measure, rest = work[3 * room : 4 * room].view(np.float64), work[4 * room :]
    form, low, most, known = stack()[:COEFFICIENTS], np.int64(0), np.int64(0), np.int64(-1)
    for d in range(sets):
        part = parts[PART * d : PART * (d + 1)]
        n, records = part[ALL], points[part[START] :][: part[LENGTH]]
        if n != known:
            fill_form(line, n, form)
            low, most = ranks_that_matter(form, n, beyond)
            fill_distances(form, n, low, most, minus)
        ties = fill_cells(records, part, form, low, most, start, count, minus, measure)
        known, m = np.int64(-1) if ties else n, 2 * most + 1
        values, base = minus[:m].view(np.uint64), measure[:m]
        best, lift, _ = survey(values, SIGNED, base, rate, rest[: m // BLOCK + 1])
        into = out[d * draws : (d + 1) * draws]
        if words.size == 0:
            key, prefix = philox(seeds[HEADER + d], seeds[2] ^ seeds[1], seeds[0])
            draw_alias(values, SIGNED, base, rate, best, lift, key, prefix, 0, into, rest)
            buffer = rest[rest.size - DRAWS :].view(np.uint64)
            for at in range(0, draws, DRAWS):
                some = into[at : at + DRAWS]
                fill_blocks(np.uint64(at) >> ONE, prefix ^ PLACES, key, buffer[: some.size + 1])
                few += place(start, count, buffer, 1, some)
        else:
            own = words[WORDS * d * draws : WORDS * (d + 1) * draws]
            draw_cells(values, base, rate, best, lift, own, into, rest)
            few += place(start, count, own[2:], WORDS, into)
    return few
