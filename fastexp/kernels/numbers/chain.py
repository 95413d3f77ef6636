"""Joint quantiles by a chain over ranks: upper sums forward, exact draws backward.

Cell i holds the outcomes with i records below them, in three parts: the last spacing of the atom
of record i - 1 (length alpha), a run of grid points, and the first spacing of the atom of record i
(length beta). Output j lies in a cell of its row's window lo[j] .. hi[j]. A step from cell i' to
i > i' has the weight phi(i - i') = exp(-rate * |i - i' - tau|), tau = whole + part. A step within a
cell goes to the same part or a later one. The phase of an output is 0 in alpha, `most` + 1 in beta,
and in a run the number of outputs there so far, from 1 to `most`. Phase `most` also stands for more
outputs: they have the length of output `most`, and a coin makes their factors exact. In an atom of
E records each output has the length 1 / (E + u), u >= 1: for k outputs these bound E! / (E + k)! up
to a constant, with equality at k = u and u - 1; a coin makes the factors exact. If atoms have many
outputs (`dense` > 0), u is their usual number in an atom, else 1.

B[j, i] is an upper bound of the sum over i' < i of phi * A[j - 1, i'], each phase of the sum of its
ways from B[j] and row j - 1, and A of the sum of its phases. All terms are positive, so floats with
a relative `slack` and a least value suffice. A draw goes backward: R is uniform below such a bound,
and the first way whose exact sum passes R is taken. If R is within a margin of a sum, or above all
sums, the draw is OPEN, and integers decide (`reference/exact_chain.py`): no float does.

Quantiles far apart have *plain* chains, with `most` = 1. There phi is tiny for the same and for
greater i', so B is the sum over all i' of the row before, and A[j, i] = B[j, i] * (alpha + run +
beta). A draw whose outputs are not in order is refused, and a coin makes the factor 1 / k! for k
outputs in one run.

A group kernel would call `fill_cells`, `fill_rows` and `draw_paths` for each segment.

This is one long file because a draw retraces, way by way, the sums that made its bounds, and each
side can only be read beside the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    F64,
    I64,
    IN_F64,
    IN_I64,
    IN_U64,
    NOTHING,
    OUT_F64,
    OUT_I64,
    OUT_U64,
    U64,
    bits_float,
    float_bits,
    helper,
    kernel,
    wide_product,
    wide_vectors,
)
from ..bits.logexp import exp_one
from ..bits.words import ONE_WORD, ZERO, fill_substream

# Rows are scaled: their largest number is about 2^ROW_BITS. TINY is at least what underflows then.
TINY, ROW_BITS = 2.0**-900, 850
DONE, OPEN, AGAIN = np.int64(0), np.int64(1), np.int64(2)  # states of a draw; AGAIN: refused
ONE, TOP = np.int64(1), np.uint64(11)
UNIT, COIN = 2.0**-53, 2.0**-34  # COIN: more than the rounding error of a coin's product
START, COUNT, BEFORE, AFTER = 0, 1, 2, 3  # the four numbers of each of `cells`
LO, HI, BASE, AT, WHOLE = 0, 1, 2, 3, 4  # rows of `ints`, which has a column for each output
# Rows of `floats`: phi of `whole`, of `whole` + 1 and of 0; from SCALED on the same three times
# SHIFT; at SHIFT the power of two that brings the row before to about 2^ROW_BITS.
NEAR, FAR, STILL, SCALED, SHIFT = 0, 1, 2, 3, 6


@helper
def usual(records: Any, dense: Any, n: Any) -> Any:
    """The usual number of `dense` outputs in an atom of `records` of n records, at least 1."""
    return max(ONE, records * dense // n) if dense > 0 else ONE


@helper
def spacing(records: Any, dense: Any, n: Any) -> Any:
    """The length of a spacing beside an atom of `records` records; 0 for no atom."""
    return 1.0 / np.float64(records + usual(records, dense, n)) if records > 0 else 0.0


@helper
def parts_of(cells: Any, x: Any, dense: Any, n: Any) -> Any:
    """The lengths of alpha, run and beta of a cell."""
    alpha, beta = spacing(cells[4 * x + BEFORE], dense, n), spacing(cells[4 * x + AFTER], dense, n)
    return alpha, np.float64(cells[4 * x + COUNT]), beta


@kernel(NOTHING(IN_I64, IN_I64, I64, I64, I64, I64, I64, I64, I64, OUT_I64, OUT_F64))
def fill_cells(
    points: Any, records: Any, below: Any, n: Any, size: Any, first: Any, last: Any, left: Any,
    dense: Any, cells: Any, lengths: Any,
) -> None:  # fmt: skip
    """cells = START, COUNT, BEFORE and AFTER of the cells first, ..., last, four numbers each.

    A run begins at START and has COUNT points; BEFORE and AFTER are the numbers of records of the
    atoms whose spacings are on its sides, 0 for no atom. Of n records records[i] lie at points[i]
    and `below` before points[0]: all records from first - 1 to last are there. left: ties count
    above an answer. lengths = the lengths of whole cells.
    """
    at, under = np.int64(0), below  # records before points[at]
    for x in range(last - first + 1):
        i = first + x  # between the records i - 1 and i
        start, stop, before, after = np.int64(0), size, np.int64(0), np.int64(0)
        if i > 0:
            while under + records[at] < i:
                under += records[at]
                at += 1
            start, before = points[at] + 1, records[at]
            if under + records[at] > i:
                stop = start  # inside the atom
            elif i < n:
                stop, after = points[at + 1] + left, records[at + 1]
        elif n > 0:
            stop, after = points[at] + left, records[at]
        if left == 1:
            before, after = np.int64(0), np.int64(0)
        cells[4 * x + START], cells[4 * x + COUNT] = start, stop - start
        cells[4 * x + BEFORE], cells[4 * x + AFTER] = before, after
        alpha, run, beta = parts_of(cells, x, dense, n)
        lengths[x] = alpha + run + beta


@kernel(NOTHING(IN_I64, IN_I64, IN_I64, IN_F64, I64, I64, F64, OUT_I64, OUT_F64, OUT_I64))
def fill_nodes(
    totals: Any, far: Any, wholes: Any, rests: Any, n: Any, reach: Any, rate: Any, ints: Any,
    floats: Any, rooms: Any,
) -> None:  # fmt: skip
    """Fill `ints` and `floats` of the chain of each total; it covers totals up to `far` from it.

    The chain extends to `reach`. wholes, rests: the whole and fractional parts of m ranks and m + 1
    shares of each total; ints has BASE. rooms = the most cells of a chain, and of a row.
    """
    wide = ints.size // (5 * totals.size)
    m = wide - 1
    for t in range(totals.size):
        integers, doubles = ints[5 * wide * t :], floats[7 * wide * t :]
        whole, rest = wholes[(m + wide) * t :], rests[(m + wide) * t :]
        s, at = n - totals[t], np.int64(0)
        w = max(reach + far[t] - abs(s) + 1, np.int64(0)) // 2
        for j in range(wide):
            if j < m:
                lo = min(max(whole[j] + min(s, np.int64(0)) - w, np.int64(0)), n)
                hi = min(max(whole[j] + 1 + max(s, np.int64(0)) + w, np.int64(0)), n)
                integers[j], integers[wide + j], integers[3 * wide + j] = lo, hi, at
                at += hi - lo + 1
                rooms[1] = max(rooms[1], hi - lo + 1)
            part = rest[m + j]
            integers[4 * wide + j] = whole[m + j]
            doubles[j], doubles[wide + j] = exp_one(-rate * part), exp_one(-rate * (1.0 - part))
            doubles[2 * wide + j] = exp_one(-rate * (np.float64(whole[m + j]) + part))
        rooms[0] = max(rooms[0], at)


@helper
def decayed(rate: Any, records: Any) -> Any:
    """exp(-rate * records)."""
    return exp_one(-rate * np.float64(records))


@helper
def phi(r: Any, j: Any, ints: Any, floats: Any, rate: Any) -> Any:
    """The weight of r records before output j, scaled."""
    wide = ints.size // 5
    whole = ints[4 * wide + j]
    if r > whole:
        return floats[4 * wide + j] * decayed(rate, r - whole - 1)
    return floats[3 * wide + j] * decayed(rate, whole - r)


@helper
def lengthened(length: Any, k: Any, left: Any) -> Any:
    """The factor of the weight for the k-th output in a run of this length."""
    return (length + np.float64(left * (k - 1))) / np.float64(k)


@helper
def fill_sums(a: Any, block: Any, powers: Any, work: Any) -> None:
    """Fill three rows of `work` with decayed sums of a row; blocks have `block` cells.

    Sums up to each cell; from it to its block's end; from its block's start to it.
    """
    length, third, decay = a.size, work.size // 3, powers[1]
    value, part, inside = 0.0, 0.0, np.int64(0)
    for y in range(length):
        value = value * decay + a[y]
        work[y] = value
        part = part + a[y] * powers[inside] if inside > 0 else a[y]
        work[2 * third + y] = part
        inside = inside + 1 if inside + 1 < block else np.int64(0)
    inside, value = (length - 1) % block, 0.0
    for back in range(length):
        y = length - 1 - back
        value = a[y] + value * decay
        work[third + y] = value
        if inside == 0:  # a block begins here
            value, inside = 0.0, block
        inside -= 1


@helper
def fill_arrived(
    p: Any,
    length: Any,
    whole: Any,
    near: Any,
    far: Any,
    rate: Any,
    powers: Any,
    slack: Any,
    least: Any,
    work: Any,
    b: Any,
) -> None:
    """b = B of a row from the sums of the row before.

    Cell p of the row before is the first one of the near part for b[0]; for the last of b, that
    cell is in the row or would be the next one.
    """
    third = work.size // 3
    block = max(whole, np.int64(1))
    off = p % block if p > 0 else np.int64(0)
    for x in range(b.size):
        value = 0.0
        if p > 0:
            value = far * work[p - 1]
        if whole > 0 and p < length:
            end = min(p + whole, length) - 1
            if p >= 0:
                part = work[third + p]
                after = p - off + block
                if off > 0 and after < length:
                    part += powers[after - p] * work[2 * third + end]
                value += near * part
            elif end >= 0:
                value += near * decayed(rate, -p) * work[2 * third + end]
        b[x] = value * (1.0 + slack) + least
        p += 1
        if p > 0:
            off = off + 1 if off + 1 < block else np.int64(0)


@helper
def add_last(a: Any, most: Any, least: Any, ints: Any, floats: Any, rate: Any) -> Any:
    """The weighted sum of the last row's cells; cell x has most - x records above it."""
    value, m = 0.0, ints.size // 5 - 1
    for x in range(most - least + 1):
        value += a[x] * phi(most - x, m, ints, floats, rate)
    return value


@helper
def add_runs(
    length: Any, left: Any, most: Any, factor: Any, least: Any, earlier: Any, here: Any
) -> Any:
    """here = a run's phases from the second on, from those of the row before; returns their sum."""
    together = 0.0
    for k in range(2, most + 1):
        run, before = 0.0, earlier[k - 1] + (earlier[k] if k == most else 0.0)
        if length > 0.0 and before > 0.0:
            run = lengthened(length, k, left) * factor * before + least
        here[k] = run
        together += run
    return together


@helper
def power_of_two(exponent: Any) -> Any:
    """2**exponent, which is normal."""
    return bits_float(np.uint64(1023 + exponent) << np.uint64(52))


@helper
def shift_of(largest: Any) -> Any:
    """(power of two below 2^1024 that brings a row to about 2^ROW_BITS, minus its exponent)."""
    exponent = np.int64(float_bits(largest) >> np.uint64(52)) - 1023
    exponent = max(exponent - ROW_BITS, np.int64(-1023)) if largest > 0.0 else np.int64(0)
    return power_of_two(-exponent), exponent


@helper
def fill_decayed(a: Any, rate: Any, forward: Any, backward: Any) -> None:
    """forward[k], backward[k] = decayed sums of the cells before k, and of those from k on.

    Four cells at a time, so that a sum waits only for the one of four cells ago.
    """
    last, d1, d2 = a.size, decayed(rate, 1), decayed(rate, 2)
    d3, d4 = decayed(rate, 3), decayed(rate, 4)
    value, other, fours = 0.0, 0.0, 4 * (a.size // 4)
    forward[0] = backward[last] = 0.0
    for y in range(0, fours, 4):
        z = last - y
        x0, x1, y0, y1 = a[y], a[y + 1], a[z - 1], a[z - 2]
        two, pair = x0 * d1 + x1, y0 * d1 + y1
        three, triple = two * d1 + a[y + 2], pair * d1 + a[z - 3]
        forward[y + 1], backward[z - 1] = value * d1 + x0, other * d1 + y0
        forward[y + 2], backward[z - 2] = value * d2 + two, other * d2 + pair
        forward[y + 3], backward[z - 3] = value * d3 + three, other * d3 + triple
        value = value * d4 + (three * d1 + a[y + 3])
        other = other * d4 + (triple * d1 + a[z - 4])
        forward[y + 4], backward[z - 4] = value, other
    for y in range(fours, last):
        value, other = value * d1 + a[y], other * d1 + a[last - 1 - y]
        forward[y + 1], backward[last - 1 - y] = value, other


@helper
def fill_plain(
    a: Any, p: Any, near: Any, far: Any, rate: Any, slack: Any, least: Any, work: Any, b: Any
) -> None:
    """b = B of a row of a plain chain from the row a before it; p as in `fill_arrived`."""
    wide_vectors()
    half, up = work.size // 2, 1.0 + slack
    forward, backward = work[: a.size + 1], work[half : half + a.size + 1]
    fill_decayed(a, rate, forward, backward)
    low = min(max(-p, np.int64(0)), b.size)
    for x in range(low):
        b[x] = near * backward[0] * decayed(rate, -p - x) * up + least
    for x in range(low, b.size):
        b[x] = (far * forward[p + x] + near * backward[p + x]) * up + least


@helper
def fill_lengthened(lengths: Any, b: Any, slack: Any, sums: Any) -> Any:
    """sums = those of a row of a plain chain; returns the largest one."""
    wide_vectors()
    largest, up = ZERO, (1.0 + slack) * (1.0 + slack)
    for x in range(b.size):
        value = b[x] * lengths[x] * up
        sums[x] = value
        largest = max(largest, float_bits(value))  # bits keep the order of positive numbers
    return bits_float(largest)


@helper
def fill_phases(
    cells: Any, dense: Any, n: Any, b: Any, overlap: Any, earlier: Any, still: Any, slack: Any,
    least: Any, left: Any, most: Any, totals: Any, phases: Any, sums: Any,
) -> Any:  # fmt: skip
    """Fill phases and sums of a row that may share cells with the row before.

    Returns the largest sum. overlap: the first shared cell in this row and in the row before, and
    how many cells are shared.
    """
    parts, up, largest = most + 2, 1.0 + slack, 0.0
    here, there, common = overlap
    for x in range(b.size):
        same = here <= x < here + common
        y = there + x - here
        cell_phases, value = phases[parts * x : parts * (x + 1)], b[x]
        alpha, length, beta = parts_of(cells, x, dense, n)
        if same:
            value += still * earlier[parts * y]
        cell_phases[0], cell_phases[1] = alpha * value * up, length * value * up
        together = cell_phases[0] + cell_phases[1]
        if same:
            before = earlier[parts * y :]
            together += add_runs(length, left, most, still * up, least, before, cell_phases)
        else:
            cell_phases[2 : parts - 1] = 0.0
        value = b[x] + (still * totals[y] if same else 0.0)
        cell_phases[parts - 1] = beta * value * up
        sums[x] = (together + cell_phases[parts - 1]) * up
        largest = max(largest, sums[x])
    return largest


@helper
def fill_rows(
    cells: Any, lengths: Any, ints: Any, floats: Any, rate: Any, slack: Any, n: Any, left: Any,
    most: Any, dense: Any, stays: Any, powers: Any, work: Any, arrived: Any, phases: Any, sums: Any,
) -> Any:  # fmt: skip
    """Fill the chain of one total, B, phases and A of all rows; returns the bound of its sum.

    ints, floats: as the constants say, with one more column for the last count. The bound is in
    units of 2^ints[AT, m], which is written there. Unless stays = 1, two rows take turns in memory.
    """
    m = ints.size // 5 - 1
    wide, parts, scale, shift, up = m + 1, most + 2, np.int64(-ROW_BITS), 2.0**ROW_BITS, 1.0 + slack
    low, high, before, half = np.int64(0), np.int64(-1), np.int64(0), sums.size // 2
    for r in range(powers.size if most > 1 else 0):
        powers[r] = decayed(rate, r)
    for j in range(wide):
        for k in range(3):
            floats[(SCALED + k) * wide + j] = floats[k * wide + j] * shift
        floats[SHIFT * wide + j], least = shift, TINY * max(shift, 1.0)  # also for shifted numbers
        near, far, whole = floats[3 * wide + j], floats[4 * wide + j], ints[4 * wide + j]
        if j == m:
            break
        lo, hi, base = ints[j], ints[wide + j], ints[2 * wide + j]
        at = ints[3 * wide + j] if stays == 1 else half * (j % 2)
        b, x = arrived[at : at + hi - lo + 1], lo - base
        a, totals = sums[before : before + high - low + 1], sums[at : at + b.size]
        if j == 0:
            for i in range(b.size):
                b[i] = phi(lo + i, j, ints, floats, rate) * up + TINY
        elif most == 1:
            fill_plain(a, lo - whole - low, near, far, rate, slack, least, work, b)
        else:
            fill_sums(a, max(whole, np.int64(1)), powers, work)
            p = lo - whole - low
            fill_arrived(p, a.size, whole, near, far, rate, powers, slack, least, work, b)
        if most == 1:
            largest = fill_lengthened(lengths[x : x + b.size], b, slack, totals)
        else:
            earlier = phases[parts * before : parts * (before + a.size)]
            row = phases[parts * at : parts * (at + b.size)]
            first, common = max(lo, low), max(min(hi, high) - max(lo, low) + 1, 0)
            largest = fill_phases(
                cells[4 * x : 4 * (x + b.size)], dense, n, b, (first - lo, first - low, common),
                earlier, floats[5 * wide + j], slack, least, left, most, a, row, totals,
            )  # fmt: skip
        shift, exponent = shift_of(largest)
        scale, low, high, before = scale + exponent, lo, hi, at
    value = add_last(sums[before:], n - low, n - high, ints, floats, rate)
    ints[4 * wide - 1] = scale
    return value * up + least


@kernel(
    NOTHING(
        IN_I64, IN_F64, OUT_I64, OUT_F64, F64, F64, I64, I64, I64, I64, I64, OUT_F64, OUT_F64,
        OUT_F64, OUT_F64, OUT_F64,
    )
)  # fmt: skip
def fill_chains(
    cells: Any, lengths: Any, ints: Any, floats: Any, rate: Any, slack: Any, n: Any, left: Any,
    most: Any, dense: Any, stays: Any, work: Any, arrived: Any, phases: Any, sums: Any,
    bounds: Any,
) -> None:  # fmt: skip
    """bounds = those of the chain of each total; stays: keep all rows of the last, for draws.

    work: four numbers for each cell of the widest row, and eight more.
    """
    quarter = work.size // 4
    k, w = ints.size // bounds.size, floats.size // bounds.size
    for t in range(bounds.size):
        integers, doubles = ints[k * t : k * (t + 1)], floats[w * t : w * (t + 1)]
        bounds[t] = fill_rows(
            cells, lengths, integers, doubles, rate, slack, n, left, most, dense, stays,
            work[:quarter], work[quarter:], arrived, phases, sums,
        )  # fmt: skip


@helper
def uncertain(r: Any, before: Any, after: Any, margin: Any) -> Any:
    """Whether r might not lie between two sums."""
    return r - before < margin or after - r < margin


@helper
def uniform(word: Any) -> Any:
    """A word as a fraction of 2**64, rounded down to 53 bits."""
    return np.float64(np.int64(word >> TOP)) * UNIT


@helper
def length_of(cells: Any, x: Any, f: Any, left: Any, most: Any, dense: Any, n: Any) -> Any:
    """The factor of the weight for an output in phase f of a cell."""
    alpha, run, beta = parts_of(cells, x, dense, n)
    if 1 <= f <= most:
        return lengthened(run, f, left)
    return alpha if f == 0 else beta


@helper
def first_passing(values: Any, r: Any) -> Any:
    """(f, sum before value f, sum with it): the first value whose sum passes r, or the last."""
    f, before, after = np.int64(-1), 0.0, 0.0
    while f < len(values) - 1 and after <= r:
        f += 1
        before = after
        after += values[f]
    return f, before, after


@helper
def walk_plain(
    cells: Any, ints: Any, floats: Any, rate: Any, slack: Any, n: Any, dense: Any, bound: Any,
    arrived: Any, sums: Any, words: Any, rank: Any, phase: Any,
) -> Any:  # fmt: skip
    """`walk` for a plain chain; also returns AGAIN, if outputs are not in order.

    Phase 2 is that of an output which is not the first in its run.
    """
    m = rank.size
    wide, j, count, margin, state = m + 1, m, n, 4.0 * slack, DONE
    while state == DONE and j > 0:  # find the cell of row j - 1 from which the way goes to `count`
        j -= 1
        lo, hi, at = ints[j], ints[wide + j], ints[3 * wide + j]
        r, i, before, after = uniform(words[2 * j + 1]) * bound, lo - 1, 0.0, 0.0
        while i < hi and after <= r:
            i += 1
            before = after
            after += sums[at + i - lo] * phi(count - i, j + 1, ints, floats, rate)
        if uncertain(r, before, after, bound * margin):
            state = OPEN
        elif i > count:
            state = AGAIN
        else:
            y, (alpha, run, beta) = at + i - lo, parts_of(cells, i - ints[2 * wide + j], dense, n)
            bound, count = arrived[y], i
            r = uniform(words[2 * j + 2]) * sums[y]
            f, before, after = first_passing((alpha * bound, run * bound, beta * bound), r)
            rank[j], phase[j] = i, f + f // 2
            if uncertain(r, before, after, sums[y] * margin):
                state = OPEN
            elif j + 1 < m and rank[j + 1] == i and phase[j + 1] < phase[j]:
                state = AGAIN
            elif j + 1 < m and rank[j + 1] == i and phase[j] == phase[j + 1] == 1:
                phase[j + 1] = 2
    after = phi(count, 0, ints, floats, rate)
    if state == DONE and after - uniform(words[0]) * bound < bound * margin:
        state = OPEN
    return state


@helper
def walk(
    cells: Any, ints: Any, floats: Any, rate: Any, slack: Any, n: Any, left: Any, most: Any,
    dense: Any, bound: Any, arrived: Any, phases: Any, sums: Any, words: Any, rank: Any,
    phase: Any,
) -> Any:  # fmt: skip
    """rank, phase = those of each output, from the last one on; returns DONE or OPEN."""
    m = rank.size
    wide, parts, used, state = m + 1, most + 2, 1, DONE
    j, count, margin = np.int64(m), n, 4.0 * slack
    r, limit = uniform(words[0]) * bound, bound * margin
    while state == DONE:  # find the cell of row j - 1 from which the way goes to `count` in row j
        before, after, i = 0.0, 0.0, np.int64(0)
        if j == 0:
            after = phi(count, 0, ints, floats, rate)
            if after - r < limit:
                state = OPEN
            break
        lo, at = ints[j - 1], ints[3 * wide + j - 1]
        last = min(ints[wide + j - 1], n if j == m else count - 1)
        i = lo - 1
        while i < last and after <= r:
            i += 1
            before = after
            after += sums[at + i - lo] * phi(count - i, j, ints, floats, rate)
        if uncertain(r, before, after, limit):
            state = OPEN
        j, f, count, moves = j - 1, np.int64(-1), i, False
        while state == DONE and not moves:  # the outputs of this cell, from the last one on
            y, cell = ints[3 * wide + j] + i - ints[j], i - ints[2 * wide + j]
            here = phases[parts * y : parts * (y + 1)]
            if f < 0:
                r, limit = uniform(words[used]) * sums[y], sums[y] * margin
                used += 1
                f, before, after = first_passing(here, r)
                if uncertain(r, before, after, limit):
                    state = OPEN
            rank[j], phase[j] = i, f
            r, limit = uniform(words[used]) * here[f], here[f] * margin
            factor = length_of(cells, cell, f, left, most, dense, n)
            used += 1
            before, after = 0.0, factor * arrived[y] if f < 2 or f > most else 0.0
            moves, g = r < after, np.int64(0)
            if not moves and j > 0 and ints[j - 1] <= i <= ints[wide + j - 1]:
                there = ints[3 * wide + j - 1] + i - ints[j - 1]
                factor *= floats[5 * wide + j]
                g = np.int64(-1) if f > most else f - 1 if f > 1 else f * 0
                before = after
                after += factor * (sums[there] if g < 0 else phases[parts * there + g])
                if f == most and after <= r:
                    before, g = after, f
                    after += factor * phases[parts * there + f]
            if uncertain(r, before, after, limit):
                state = OPEN
            if not moves:
                j, f = j - 1, g
            else:
                r, limit = uniform(words[used]) * arrived[y], arrived[y] * margin
                used += 1
    return state


@helper
def sort_runs(left: Any, top: Any, phase: Any, out: Any) -> None:
    """Sort the outputs of each run; with left = 1 turn unequal numbers into a multiset."""
    first = 0
    for j in range(out.size):
        first = first if 1 < phase[j] <= top else j
        x, i = out[j], j
        while i > first and out[i - 1] > x:
            out[i] = out[i - 1]
            i -= 1
        out[i] = x
    k = np.int64(0)
    for j in range(out.size):
        k = k + 1 if 1 < phase[j] <= top else np.int64(0)
        out[j] -= left * k


@helper
def place(low: Any, high: Any, bound: Any) -> Any:
    """(a uniform integer below `bound` from two words, whether it may have to be refused)."""
    x, middle = wide_product(high, bound)
    carry, rest = wide_product(low, bound)
    middle += carry
    if middle < carry:
        x += ONE_WORD
    return np.int64(x), middle == ZERO and rest < bound


@helper
def missing(cells: Any, out: Any, dense: Any, n: Any) -> Any:
    """The product of the coins of atoms that have fewer outputs than usual."""
    p = 1.0
    for x in range(cells.size // 4):
        records = cells[4 * x + AFTER]
        most = usual(records, dense, n)
        k = np.int64(0)
        for j in range(out.size if most > 1 else 0):
            k += 1 if out[j] == cells[4 * x + START] + cells[4 * x + COUNT] else 0
        for more in range(k + 1, most if most > 1 else 0):
            p *= np.float64(records + more) / np.float64(records + most)
    return p


@helper
def put(
    cells: Any, base: Any, n: Any, left: Any, most: Any, dense: Any, words: Any, rank: Any,
    phase: Any, out: Any,
) -> Any:  # fmt: skip
    """out = grid indices of a path's outputs, in order; returns their state after the coin.

    words: two for the place of each output, then one for the coin.
    """
    m, top, state, k, p = out.size, max(most, 2), DONE, np.int64(0), 1.0
    for j in range(m):
        cell = 4 * (rank[j] - base[j])
        start, count, f = cells[cell + START], cells[cell + COUNT], phase[j]
        if 1 <= f <= top:
            k = k + 1 if f > 1 else ONE
            x, doubt = place(words[2 * j], words[2 * j + 1], np.uint64(count + left * (k - 1)))
            state = OPEN if doubt else state
            x += start
            for i in range(j - k + 1, j if left == 1 else 0):
                if out[i] == x:  # Floyd: k unequal numbers below count + k - 1
                    x = start + count + k - 2
            if k > most:
                length = np.float64(count)
                p *= lengthened(length, k, left) / lengthened(length, most, left)
        else:
            records = cells[cell + (BEFORE if f == 0 else AFTER)]
            x = start - 1 if f == 0 else start + count
            k = k + 1 if j > 0 and out[j - 1] == x else ONE
            u = usual(records, dense, n)
            if k > u:
                p *= np.float64(records + u) / np.float64(records + k)
        out[j] = x
    sort_runs(left, top, phase, out)
    if dense > 0:
        p *= missing(cells, out, dense, n)
    r = uniform(words[2 * m])
    if p < 1.0 and r > p - COIN:
        state = AGAIN if r >= p + COIN else OPEN
    return state


@kernel(
    NOTHING(
        IN_I64, IN_I64, IN_F64, F64, F64, I64, I64, I64, I64, F64, IN_F64, IN_F64, IN_F64,
        IN_U64, OUT_I64, OUT_I64, OUT_I64, OUT_I64,
    )
)  # fmt: skip
def draw_paths(
    cells: Any, ints: Any, floats: Any, rate: Any, slack: Any, n: Any, left: Any, most: Any,
    dense: Any, bound: Any, arrived: Any, phases: Any, sums: Any, words: Any, out: Any,
    ranks: Any, states: Any, phase: Any,
) -> None:  # fmt: skip
    """Draws from the rows of one total: m grid indices and latent ranks each, and their state.

    words: at least 5 * m + 2 for each draw, of which 3 * m + 1 are for the way.
    """
    m, room = phase.size, words.size // states.size
    base = ints[2 * (m + 1) : 2 * (m + 1) + m]
    for d in range(states.size):
        draw_words = words[room * d : room * (d + 1)]
        rank, points = ranks[m * d : m * (d + 1)], out[m * d : m * (d + 1)]
        if most == 1:
            state = walk_plain(
                cells, ints, floats, rate, slack, n, dense, bound, arrived, sums, draw_words, rank,
                phase,
            )  # fmt: skip
        else:
            state = walk(
                cells, ints, floats, rate, slack, n, left, most, dense, bound, arrived, phases,
                sums, draw_words, rank, phase,
            )  # fmt: skip
        if state == DONE:
            state = put(
                cells, base, n, left, most, dense, draw_words[3 * m + 1 :], rank, phase, points
            )
        states[d] = state


@kernel(NOTHING(IN_U64, IN_I64, U64, I64, OUT_U64))
def chain_words(stream: Any, draws: Any, first: Any, count: Any, out: Any) -> None:
    """out = `count` (even) words from `first` on of the substream of each of `draws`."""
    for d in range(draws.size):
        fill_substream(stream, np.uint64(draws[d]), first, out[count * d : count * (d + 1)])
