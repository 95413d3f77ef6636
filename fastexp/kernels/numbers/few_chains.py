"""Joint quantiles of few records: the chains of all totals side by side, and draws from them.

The chains are those of `chain.py`, with all ranks in each row and a phase for every number of
answers in a run. Weights depend on an answer, a number of records and a total; they are a public
table. So a sum goes over pairs of cells, for all totals at once, in vectors; the numbers of a row
lie total by total.

**Bounds.** Each stored number is at least the exact sum of its ways, computed with the stored
numbers of the row before. A way is a product of at most six floats and two exponentials. Their
arguments go down to -708, each with a relative error of less than 2**-51 (rate, part, product): exp
has one of less than 708 * 2**-51 + 2 ulp, together less than 2**-41. Sums of at most 129 terms, and
products, lose less than 2**-45 more. The factor 1 + SLACK makes up for both. An exponential that
underflows is below 2**-1021, and its factors are below 2**852, or 2**914 with the length of a run:
the underflow in a sum is below 2**-105, and TINIEST makes up for it. A draw's own sums have the
same errors, apart from factors common to a whole sum. The errors are below the margin of 4 * SLACK
of a bound, which is TINIEST at least: within the margin integers decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    F64,
    I64,
    IN_F64,
    IN_I64,
    NOTHING,
    OUT_F64,
    OUT_I64,
    float_bits,
    helper,
    kernel,
    wide_vectors,
)
from ..bits.logexp import LN2, exp_one, log_one
from .chain import (
    AFTER,
    BEFORE,
    COUNT,
    DONE,
    OPEN,
    ROW_BITS,
    START,
    decayed,
    lengthened,
    parts_of,
    power_of_two,
    put,
    shift_of,
    uniform,
    walk,
)

SLACK, TINIEST, LARGE = 2.0**-40, 2.0**-60, 2.0**ROW_BITS
NO_ATOMS = np.int64(0)  # the `dense` of these chains
MIN_MASS = 2.0**-900  # masses are raised to this; a draw from such a mass is OPEN
REST_NATS, MORE_NATS = 8.0, 2.0  # the rest's share is about e**-8, and e**-6 at most
MAX_SHIFT, MIN_END = 2.0**250, 2.0**500  # of the heaviest chain; else weights underflow
# Of `line`: how many answers, whether ties are "left", the lattice's step, how many totals and
# numbers of records the tables have, the least number of records, whether the total is known, how
# far `reach` may grow, and where it begins.
M, LEFT, STEP, TOTALS, RANKS, FEWEST, KNOWN, GROWS, REACH = 0, 1, 2, 3, 4, 5, 6, 7, 8
LINE = 16  # size of `line`, which has a REACH for each bit length of a number of records
FITS, AT, CHAINS, FAR, UNIT, HEAD = 0, 1, 2, 3, 4, 5  # of `state`; from HEAD on chains' exponents


@kernel(NOTHING(IN_I64, IN_F64, I64, F64, OUT_F64))
def fill_weights(wholes: Any, rests: Any, totals: Any, rate: Any, out: Any) -> None:
    """out = for each share NEAR and FAR of all totals, then phi of 0, 1, ... records.

    wholes, rests: whole and fractional parts of the targets, share after share, total by total.
    """
    shares = wholes.size // totals
    rows = out.size // wholes.size
    for j in range(shares):
        share_out = out[j * rows * totals :]
        for t in range(totals):
            whole, part = wholes[j * totals + t], rests[j * totals + t]
            near, far = exp_one(-rate * part), exp_one(-rate * (1.0 - part))
            share_out[t], share_out[totals + t] = near, far
            for r in range(rows - 2):
                if r > whole:
                    share_out[(r + 2) * totals + t] = far * decayed(rate, r - whole - 1)
                else:
                    share_out[(r + 2) * totals + t] = near * decayed(rate, whole - r)


@helper
def list_cells(points: Any, size: Any, left: Any, cells: Any) -> None:
    """`chain.fill_cells` of all ranks of sorted records."""
    n, i, start, before = points.size, np.int64(0), np.int64(0), np.int64(0)
    while i < n:
        stop = i + 1
        while stop < n and points[stop] == points[i]:
            stop += 1
        records = np.int64(0) if left == 1 else np.int64(stop - i)
        cells[4 * i + START], cells[4 * i + COUNT] = start, points[i] + left - start
        cells[4 * i + BEFORE], cells[4 * i + AFTER] = before, records
        start, before = points[i] + 1, records
        for inside in range(i + 1, stop):
            cells[4 * inside + START], cells[4 * inside + COUNT] = start, 0
            cells[4 * inside + BEFORE], cells[4 * inside + AFTER] = records, 0
        i = stop
    cells[4 * n + START], cells[4 * n + COUNT] = start, size - start
    cells[4 * n + BEFORE], cells[4 * n + AFTER] = before, 0


@helper
def place_of(j: Any, r: Any, line: Any) -> Any:
    """Where the table has phi of r records before output j."""
    return (j * (line[RANKS] + 2) + 2 + r) * line[TOTALS]


@helper
def add_ways(j: Any, i: Any, weights: Any, line: Any, at: Any, before: Any, b: Any) -> None:
    """b = B of cell i of row j, from the scaled sums of the row before."""
    chains, up = b.size, 1.0 + SLACK
    for k in range(chains):
        b[k] = 0.0
    fours, totals = i - i % 4, line[TOTALS]
    for y in range(0, fours, 4):  # a sum is loaded and stored once for four ways
        x, z = at + place_of(j, i - y, line), y * chains
        p0, p1 = weights[x : x + chains], weights[x - totals : x - totals + chains]
        x -= 2 * totals
        p2, p3 = weights[x : x + chains], weights[x - totals : x - totals + chains]
        a0, a1 = before[z : z + chains], before[z + chains : z + 2 * chains]
        z += 2 * chains
        a2, a3 = before[z : z + chains], before[z + chains : z + 2 * chains]
        for k in range(chains):
            b[k] += p0[k] * a0[k] + p1[k] * a1[k] + p2[k] * a2[k] + p3[k] * a3[k]
    for y in range(fours, i):
        x = at + place_of(j, i - y, line)
        phi, a = weights[x : x + chains], before[y * chains : (y + 1) * chains]
        for k in range(chains):
            b[k] += phi[k] * a[k]
    for k in range(chains):
        b[k] = b[k] * up + TINIEST


@helper
def begin_phases(alpha: Any, run: Any, beta: Any, b: Any, phases: Any, sums: Any) -> None:
    """phases, sums = those of a cell of the first row."""
    chains, up = b.size, 1.0 + SLACK
    last = phases.size - chains
    for x in range(2 * chains, last):
        phases[x] = 0.0
    for k in range(chains):
        v = b[k] * up
        phases[k], phases[chains + k], phases[last + k] = alpha * v, run * v, beta * v
        sums[k] = (alpha * v + run * v + beta * v) * up


@helper
def add_phases(
    alpha: Any, run: Any, beta: Any, most: Any, left: Any, b: Any, still: Any, earlier: Any,
    earlier_sums: Any, phases: Any, sums: Any,
) -> None:  # fmt: skip
    """phases, sums = those of a cell of a row with at most `most` answers in one run.

    still: the factors of the phases and sums of the row before in the same cell.
    """
    chains, up = b.size, 1.0 + SLACK
    last = phases.size - chains
    for x in range(2 * chains, last):
        phases[x] = 0.0
    for k in range(chains):
        v = (b[k] + still[k] * earlier[k]) * up
        w = (b[k] + still[k] * earlier_sums[k]) * up
        phases[k], phases[chains + k], phases[last + k] = alpha * v, run * v, beta * w
        sums[k] = alpha * v + run * v + beta * w
    for f in range(2, most + 1 if run > 0.0 else 0):
        factor = lengthened(run, f, left) * up
        for k in range(chains):
            v = factor * (still[k] * earlier[(f - 1) * chains + k]) + TINIEST
            phases[f * chains + k] = v
            sums[k] += v
    for k in range(chains):
        sums[k] = sums[k] * up


@helper
def fill_first(
    cells: Any, line: Any, weights: Any, at: Any, arrived: Any, sums: Any, phases: Any
) -> None:
    """Fill the first row."""
    n = cells.size // 4 - 1
    chains, parts = sums.size // (n + 1), phases.size // sums.size
    for i in range(n + 1):
        x, y = i * chains, at + place_of(np.int64(0), i, line)
        b, a = arrived[x : x + chains], sums[x : x + chains]
        p = phases[parts * x : parts * (x + chains)]
        phi = weights[y : y + chains]
        for k in range(chains):
            b[k] = phi[k] * LARGE * (1.0 + SLACK) + TINIEST
        alpha, run, beta = parts_of(cells, i, NO_ATOMS, n)
        begin_phases(alpha, run, beta, b, p, a)


@helper
def fill_next(
    j: Any, cells: Any, line: Any, weights: Any, at: Any, shift: Any, before: Any, earlier: Any,
    scratch: Any, arrived: Any, sums: Any, phases: Any,
) -> None:  # fmt: skip
    """Fill row j from the sums and phases of the row before, times `shift`."""
    n = cells.size // 4 - 1
    chains, parts = sums.size // (n + 1), phases.size // sums.size
    scaled, still, y = scratch[: sums.size], scratch[sums.size :], at + place_of(j, 0, line)
    for k in range(chains):
        still[k] = weights[y + k] * shift[k]
    for i in range(n + 1):
        a, b = scaled[i * chains : (i + 1) * chains], before[i * chains : (i + 1) * chains]
        for k in range(chains):
            a[k] = b[k] * shift[k]
    for i in range(n + 1):
        x, z = i * chains, (i + 1) * chains
        add_ways(j, i, weights, line, at, scaled, arrived[x:z])
        alpha, run, beta = parts_of(cells, i, NO_ATOMS, n)
        add_phases(
            alpha, run, beta, j + 1, line[LEFT], arrived[x:z], still,
            earlier[parts * x : parts * z], before[x:z], phases[parts * x : parts * z], sums[x:z],
        )  # fmt: skip


@helper
def scale(sums: Any, largest: Any, shift: Any, exponents: Any) -> None:
    """shift = the factors that bring a row's sums to about 2**ROW_BITS; `exponents` undo them."""
    chains = shift.size
    for k in range(chains):
        largest[k] = 0.0
    for x in range(0, sums.size, chains):
        for k in range(chains):
            largest[k] = max(largest[k], sums[x + k])
    for k in range(chains):
        shift[k], exponent = shift_of(largest[k])
        exponents[k] += exponent


@helper
def fill_together(
    cells: Any, line: Any, weights: Any, at: Any, exponents: Any, work: Any, masses: Any
) -> None:
    """Fill the chains of the totals with the numbers `at`, at + 1, ...

    masses = upper bounds of their sums in units of 2**exponents. work: SHIFT of each row,
    then B, sums, phases; then scratch.
    """
    wide_vectors()
    chains, n, m = masses.size, cells.size // 4 - 1, line[M]
    parts, row = max(m, 2) + 2, (n + 1) * chains
    arrived, sums = work[(m + 1) * chains :], work[(m + 1) * chains + m * row :]
    phases = sums[m * row :]
    scratch = phases[parts * m * row :]
    for k in range(chains):
        exponents[k], work[k], masses[k] = -ROW_BITS, LARGE, 0.0
    fill_first(cells, line, weights, at, arrived[:row], sums[:row], phases[: parts * row])
    for j in range(m):
        x, y, z = (j - 1) * row, j * row, (j + 1) * row
        if j > 0:
            fill_next(
                j, cells, line, weights, at, work[j * chains : (j + 1) * chains], sums[x:y],
                phases[parts * x : parts * y], scratch, arrived[y:z], sums[y:z],
                phases[parts * y : parts * z],
            )  # fmt: skip
        scale(sums[y:z], scratch, work[(j + 1) * chains : (j + 2) * chains], exponents)
    for i in range(n + 1):
        x, y = (m - 1) * row + i * chains, at + place_of(m, n - i, line)
        phi, a, shift = weights[y : y + chains], sums[x : x + chains], work[m * chains :]
        for k in range(chains):
            masses[k] += phi[k] * (a[k] * shift[k])
    for k in range(chains):
        masses[k] = masses[k] * (1.0 + SLACK) + TINIEST


@helper
def exponent_of(x: Any) -> Any:
    """The e of a positive x in [2**(e - 1), 2**e)."""
    return np.int64(float_bits(x) >> np.uint64(52)) - 1022


@helper
def weigh(bounds: Any, line: Any, rate: Any, log_ways: Any, state: Any, work: Any) -> Any:
    """bounds = masses of chains and of the rest, in units of 2**state[UNIT].

    Returns how many nats farther ranks and totals have to reach for the rest to be light. The rest
    has `slots` totals of at most exp(log_ways - rate * reach) each.
    """
    chains, m = bounds.size - 1, line[M]
    exponents = state[HEAD : HEAD + chains]
    best, unit = np.int64(0), exponent_of(bounds[0]) + exponents[0]
    for k in range(1, chains):
        if exponent_of(bounds[k]) + exponents[k] > unit:
            best, unit = np.int64(k), exponent_of(bounds[k]) + exponents[k]
    fits = bounds[best] >= MIN_END
    for j in range(1, m + 1):
        fits = fits and work[j * chains + best] <= MAX_SHIFT
    whole = 0.0
    for k in range(chains):
        e = exponent_of(bounds[k])
        mantissa = bounds[k] * power_of_two(-e)
        bounds[k] = max(mantissa * power_of_two(max(e + exponents[k] - unit, -1000)), MIN_MASS)
        whole += bounds[k]
    slots = chains + (0 if line[KNOWN] == 1 else 4)
    nats = log_ways + log_one(np.float64(slots)) - rate * np.float64(state[FAR])
    nats = nats - np.float64(unit) * LN2 if line[KNOWN] == 0 else -1000.0  # no rest
    bounds[chains] = exp_one(min(max(nats + 2.0**-20, -600.0), 600.0))
    state[FITS], state[UNIT] = 1 if fits else 0, unit
    extra_nats = nats - log_one(whole) + REST_NATS
    return extra_nats if fits and extra_nats > MORE_NATS else 0.0


@helper
def fill_few(
    points: Any, size: Any, line: Any, rate: Any, log_ways: Any, weights: Any, cells: Any,
    state: Any, work: Any, masses: Any,
) -> Any:  # fmt: skip
    """Fill the cells and chains of sorted records, and masses, the last of them the rest's.

    Returns how many chains there are. state = whether they fit, the number of the first total, how
    many totals there are, how far they reach, the unit of masses, the exponents of all.
    """
    n, step = np.int64(points.size), line[STEP]
    list_cells(points, size, line[LEFT], cells)
    bits = np.int64(0)
    while n >> bits > 0:
        bits += 1
    reach = line[REACH + bits]
    farthest, extra_nats = reach + line[GROWS], 1.0
    chains = np.int64(0)
    while extra_nats > 0.0:
        at, last = n, n
        if line[KNOWN] == 0:
            at, last = max(-((reach - 1 - n) // step), np.int64(0)), (n + reach - 1) // step
        chains = last - at + 1
        state[AT], state[CHAINS], state[FAR] = at, chains, reach
        exponents, bounds = state[HEAD : HEAD + chains], masses[: chains + 1]
        fill_together(cells, line, weights, at, exponents, work, bounds[:chains])
        for k in range(chains):
            work[-1 - k] = bounds[k]
        extra_nats = weigh(bounds, line, rate, log_ways, state, work)
        if extra_nats > 0.0:
            reach += np.int64(extra_nats / rate) + 1
        if reach > farthest:
            state[FITS], extra_nats = 0, 0.0
    return chains


@helper
def take_chain(
    k: Any, n: Any, line: Any, wholes: Any, weights: Any, state: Any, work: Any, ints: Any,
    floats: Any, arrived: Any, phases: Any, sums: Any,
) -> Any:  # fmt: skip
    """Copy the rows of the chain of one total to arrays as in `chain.py`; returns its bound."""
    m, chains, totals = line[M], state[CHAINS], line[TOTALS]
    wide, parts, length = m + 1, max(m, 2) + 2, (n + 1) * m
    t = state[AT] + k
    b, a = work[wide * chains + k :], work[(wide + length) * chains + k :]
    p = work[(wide + 2 * length) * chains + k :]
    for x in range(length):
        arrived[x], sums[x] = b[x * chains], a[x * chains]
    for x in range(parts * length):
        phases[x] = p[x * chains]
    for j in range(wide):
        ints[j], ints[wide + j], ints[2 * wide + j] = 0, n, 0
        ints[3 * wide + j], ints[4 * wide + j] = j * (n + 1), wholes[j * totals + t]
        scale, first = work[j * chains + k], j * (line[RANKS] + 2) * totals + t
        floats[6 * wide + j] = scale
        for x in range(3):  # near, far, still
            floats[x * wide + j] = weights[first + x * totals]
            floats[(3 + x) * wide + j] = floats[x * wide + j] * scale
    ints[4 * wide - 1] = state[HEAD + k]
    return work[-1 - k]


@kernel(I64(IN_I64, I64, IN_I64, F64, F64, IN_F64, OUT_I64, OUT_I64, OUT_F64, OUT_F64))
def few_chains(
    points: Any, size: Any, line: Any, rate: Any, log_ways: Any, weights: Any, cells: Any,
    state: Any, work: Any, masses: Any,
) -> Any:  # fmt: skip
    """`fill_few` of one data set."""
    return fill_few(points, size, line, rate, log_ways, weights, cells, state, work, masses)


@kernel(
    F64(
        I64, I64, IN_I64, IN_I64, IN_F64, IN_I64, IN_F64, OUT_I64, OUT_F64, OUT_F64, OUT_F64,
        OUT_F64,
    )
)  # fmt: skip
def few_rows(
    k: Any, n: Any, line: Any, wholes: Any, weights: Any, state: Any, work: Any, ints: Any,
    floats: Any, arrived: Any, phases: Any, sums: Any,
) -> Any:  # fmt: skip
    """`take_chain` for one data set."""
    return take_chain(k, n, line, wholes, weights, state, work, ints, floats, arrived, phases, sums)


@helper
def choose_mass(masses: Any, word: Any) -> Any:
    """The index of the mass that a word chooses; -1 if that is not certain."""
    bound = 0.0
    for k in range(masses.size):
        bound += masses[k]
    r, margin, after, chosen = uniform(word) * bound * (1.0 + 2.0**-30), bound * 2.0**-28, 0.0, -1
    is_certain = True
    for k in range(masses.size):
        is_certain = is_certain and abs(after - r) >= margin
        chosen = k if after <= r else chosen
        after += masses[k]
    return np.int64(chosen if is_certain and after - r >= margin else -1)


@helper
def draw_few(
    n: Any, line: Any, rate: Any, weights: Any, wholes: Any, cells: Any, state: Any, work: Any,
    masses: Any, words: Any, ints: Any, floats: Any, arrived: Any, phases: Any, sums: Any,
    rank: Any, phase: Any, out: Any,
) -> Any:  # fmt: skip
    """out = a draw's points, and its total if there is room; returns DONE, AGAIN or OPEN."""
    m = line[M]
    k = choose_mass(masses, words[0])
    if k < 0 or k == masses.size - 1 or masses[k] <= MIN_MASS:
        return OPEN
    bound = take_chain(
        k, n, line, wholes, weights, state, work, ints, floats, arrived, phases, sums
    )
    done = walk(
        cells, ints, floats, rate, SLACK, n, line[LEFT], max(m, 2), NO_ATOMS, bound, arrived,
        phases, sums, words[1:], rank, phase,
    )  # fmt: skip
    if done == DONE:
        done = put(
            cells, ints[2 * (m + 1) : 3 * m + 2], n, line[LEFT], max(m, 2), NO_ATOMS,
            words[3 * m + 2 :], rank, phase, out[:m],
        )  # fmt: skip
    if out.size > m:
        out[m] = (state[AT] + k) * line[STEP]
    return done
