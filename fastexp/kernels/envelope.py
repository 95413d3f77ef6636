"""The integer envelope: exact draws of candidates, one or a few of each row.

Each candidate of weight w <= 1 (over the greatest) has certified integers L <= f * w <= U, f a
power of two. A uniform integer R below a sum of bounds B >= U picks a candidate; the rest of R,
rho, is the acceptance coin. The candidate is accepted at once if rho < L, and refused if rho >= U;
else `exact.accept` decides whether rho + V < f * w, for a uniform V. Given the candidate, rho is
uniform below B, so a round returns i with probability f * w_i / sum(B): the law is exact whatever
the bounds are.

Blocks of 1,024 candidates have bounds, too: the sums of their B or, in a simulation, their sizes
times the B of their best candidates, until a draw looks into them. Such a refusal depends on the
data, so a release weighs every block. A simulation has chords as B; 3 % of its rounds are refused.
"""

from __future__ import annotations

import numpy as np

from .bits import (
    DEEPEST,
    FLOAT,
    HALF,
    INFINITE,
    ZERO,
    below,
    chord,
    height,
    is_exact,
    key_height,
    order_key,
    parts,
    philox,
    power,
    rounded_weight,
    word_of,
)
from .jit import BLOCK, helper, kernel, stack, wide_vectors

GROUP = 32
HEADER = 3  # of `seeds`: the key's two words and the tag; then a name for each row
STOP, INDEX, RHO, BEST, LIFT, ATTEMPT, PROBE = 0, 1, 2, 3, 4, 5, 6  # why a call stopped, where
DONE, NOT_FINITE, NOT_EXACT, UNSURE, AGAIN = 0, -1, -2, -3, -4
SLACK = 36
COARSE = 12  # bits: five units of bounds a candidate are then 2**-9 of all
PRECISION = 50  # fractional bits of bounds, of a block or a short row


@helper
def shifted(n, bits):
    """n >> bits for n >= 0, which AVX2 has for unsigned words only."""
    return np.int64(np.uint64(n) >> np.uint64(bits))


@helper
def upper(rounded):
    """U from the rounded weight, which errs by 2**-39 and 1/2: a relative 2**-36, three units."""
    return rounded + shifted(rounded, SLACK) + 3


@helper
def lower(rounded):
    """L from the rounded weight."""
    return rounded - shifted(rounded, SLACK) - 2


@helper
def top_key(values, kind, base):
    """(greatest key of a candidate with a base > 0, whether all utilities are finite)."""
    wide_vectors()
    top, high, bad = ZERO, ZERO, ZERO
    for i in range(values.size):
        high = max(high, order_key(values[i], kind))
        bad |= np.uint64(values[i] & INFINITE == INFINITE)
    if base.size > 0:
        for i in range(values.size):
            top = max(top, order_key(values[i], kind) if base[i] > 0.0 else ZERO)
    else:
        top = high
    return top, kind != FLOAT or bad == ZERO


@helper
def weigh(values, kind, base, rate, best, lift, scale, tight, out):
    """out[i] = B of candidate i, 0 where its base is 0; returns their sum."""
    wide_vectors()
    total = np.int64(0)
    if base.size > 0:
        for i in range(values.size):
            exponent, mantissa = parts(base[i])
            h = height(values[i], kind, best, rate) - exponent - lift
            bound = upper(rounded_weight(h, mantissa * scale)) if base[i] > 0.0 else np.int64(0)
            out[i] = bound
            total += bound
    elif tight:
        for i in range(values.size):
            bound = upper(rounded_weight(height(values[i], kind, best, rate), scale))
            out[i] = bound
            total += bound
    else:
        precision, _ = parts(scale)
        for i in range(values.size):
            bound = chord(height(values[i], kind, best, rate), precision)
            out[i] = bound
            total += bound
    return total


@helper
def weigh_one(values, kind, base, rate, best, lift, scale, i):
    """The rounded weight of candidate i."""
    h, mantissa = height(values[i], kind, best, rate), 1.0
    if base.size > 0:
        exponent, mantissa = parts(base[i])
        h -= exponent + lift
    return rounded_weight(h, mantissa * scale)


@helper
def survey(values, kind, base, rate, tops):
    """(best key, lift, whether all are finite); tops = the greatest key of each block.

    The lift is the least height less the exponent of the base, rounded down; 0 without a base.
    """
    best, finite, lift = ZERO, True, np.inf
    for block in range(tops.size):
        at = block * BLOCK
        top, is_finite = top_key(values[at : at + BLOCK], kind, base[at : at + BLOCK])
        best, finite = max(best, top), finite and is_finite
        tops[block] = np.int64(top)
    for i in range(base.size):
        if base[i] > 0.0:
            lift = min(lift, height(values[i], kind, best, rate) - parts(base[i])[0])
    return best, np.floor(lift) if base.size > 0 else 0.0, finite


@helper
def survey_again(values, kind, base, rate, is_known, tops):
    """`survey`; if `tops` are known already, of finite values with a base of 0 or 1."""
    if not is_known:
        return survey(values, kind, base, rate, tops)
    best = ZERO
    for block in range(tops.size):
        best = max(best, np.uint64(tops[block]))
    return best, 0.0, True


@helper
def find(sums, rho):
    """(index of the entry on which rho falls, what is left of rho); the size if there is none.

    Wherever rho falls, all groups of entries and all entries of a group are read.
    """
    wide_vectors()
    seen, group, before = np.int64(0), np.int64(0), np.int64(0)
    for at in range(0, sums.size, GROUP):
        for i in range(at, min(at + GROUP, sums.size)):
            seen += sums[i]
        passed = seen <= rho
        group += GROUP if passed else 0
        before = seen if passed else before
    index, seen = group, before
    for i in range(group, min(group + GROUP, sums.size)):
        seen += sums[i]
        passed = seen <= rho
        index += 1 if passed else 0
        before = seen if passed else before
    return min(index, sums.size), rho - before


@kernel("i64(in_u64, i64, f64, f64, u64, u64, u64, u64)")
def draw_block(values, kind, rate, scale, low, high, tag, name):
    """An index from at most a block without a base, or a status below 0.

    It is a release by two words; with a tag, the first draw of a stream of the key (low, high).
    """
    if not is_exact(rate):
        return NOT_EXACT
    uppers, base = stack()[: values.size], stack()[:0].view(np.float64)
    best, finite = top_key(values, kind, base)
    if not finite:
        return NOT_FINITE
    if tag > ZERO:
        key, prefix = philox(name, tag ^ high, low)
        low, high = philox(ZERO, prefix, key)
    total = weigh(values, kind, base, rate, best, 0.0, scale, tag == ZERO, uppers)
    x, counts = below(low, high, np.uint64(total))
    index, rho = find(uppers, np.int64(x))
    rounded = rounded_weight(height(values[index], kind, best, rate), scale)
    return index if counts and rho < lower(rounded) else UNSURE


@kernel("none(in_u64, i64, out_u64)")
def fill_words(seeds, size, out):
    """out = two words for each draw of each row: block t << 32 of the row's stream for draw t."""
    wide_vectors()
    for r in range(seeds.size - HEADER if size == 1 else 0):
        key, prefix = philox(seeds[HEADER + r], seeds[2] ^ seeds[1], seeds[0])
        out[2 * r], out[2 * r + 1] = philox(ZERO, prefix, key)
    for r in range(seeds.size - HEADER if size > 1 else 0):
        key, prefix = philox(seeds[HEADER + r], seeds[2] ^ seeds[1], seeds[0])
        for t in range(size):
            low, high = philox(np.uint64(t) << HALF, prefix, key)
            out[2 * (r * size + t)], out[2 * (r * size + t) + 1] = low, high


@helper
def words_of(words, at, seeds, r, t, attempt):
    """The two words of an attempt at draw t of row r, which is draw `at` of all."""
    if attempt == 0:
        return words[2 * at], words[2 * at + 1]
    key, prefix = philox(seeds[HEADER + r], seeds[2] ^ seeds[1], seeds[0])
    return philox((np.uint64(t) << HALF) + np.uint64(attempt), prefix, key)


@helper
def stop(probe, verdict, index, rho, best, lift, attempt):
    """Say in `probe` why a call stops, what an exact test needs, and at which attempt."""
    probe[STOP], probe[INDEX], probe[RHO], probe[ATTEMPT] = verdict, index, rho, attempt
    probe[BEST], probe[LIFT] = np.int64(best), np.int64(word_of(lift))


@helper
def judge(rho, rounded):
    """Whether a candidate of this rounded weight is accepted."""
    return DONE if rho < lower(rounded) else AGAIN if rho >= upper(rounded) else UNSURE


@helper
def bound_far(base):
    """The sum of B of candidates that weigh less than half a unit: `upper` of 0 for each."""
    wide_vectors()
    total = np.int64(0)
    for i in range(base.size):
        total += upper(np.int64(0)) if base[i] > 0.0 else np.int64(0)
    return total


@helper
def bound_blocks(row, kind, base, rate, precision, best, lift, tight, peels, tops, bounds, uppers):
    """bounds = those of a row's blocks; returns (their sum, the block whose B are in `uppers`).

    If it peels, a base is 0 or 1, so that a block is far below if its best candidate is.
    """
    total, held, scale = np.int64(0), np.int64(-1), power(precision)
    for block in range(tops.size):
        part = row[block * BLOCK : (block + 1) * BLOCK]
        part_base = base[block * BLOCK : (block + 1) * BLOCK]
        h = key_height(np.uint64(tops[block]), kind, best, rate)
        if peels and h >= DEEPEST:
            bounds[block] = bound_far(part_base)
        elif tight or base.size > 0 or tops.size == 1:
            bounds[block] = weigh(part, kind, part_base, rate, best, lift, scale, tight, uppers)
            held = block
        else:
            bounds[block] = part.size * chord(h, np.float64(precision))
        total += bounds[block]
    return total, held


@helper
def leave_out(i, part, kind, base, uppers):
    """Give candidate i of a block a base of 0; returns the greatest key of the others."""
    base[i], uppers[i] = 0.0, 0
    top, _ = top_key(part, kind, base)
    return np.int64(top)


@kernel(
    "i64(in_u64, i64, out_f64, f64, i64, i64, in_u64, in_u64, i64, i64, i64, out_i64, out_i64, "
    "out_i64)"
)
def draw_few(
    values, kind, base, rate, precision, k, seeds, words, at, attempt, peels, out, probe, work
):
    """out = draws of each row of k, row after row, from draw `at` on; returns how many are done.

    If it peels, a drawn candidate has a base of 0 from then on. When those that are left weigh so
    little that bounds are coarse, it stops, as another call has a scale for them. If `peels` is 2,
    `work` has the best keys of blocks from the call before.

    words: two for each draw. Further attempts of a simulation take blocks (t << 32) + 1, ...;
    without `seeds` it is a release. If the call stops early, `probe` says why: the caller decides
    an UNSURE draw and calls again. work: a block, and two words for each block.
    """
    probe[STOP] = DONE if is_exact(rate) else NOT_EXACT
    draws = out.size if probe[STOP] == DONE else at
    rows, tight = values.size // k, seeds.size == 0
    size, uppers, scale = out.size // rows, work[:BLOCK], power(precision)
    blocks = (k + BLOCK - 1) // BLOCK
    tops, bounds = work[BLOCK : BLOCK + blocks], work[BLOCK + blocks : BLOCK + 2 * blocks]
    while at < draws:
        r, b, start = at // size, np.int64(0), np.int64(0)
        row = values[r * k : (r + 1) * k]
        best, lift, finite = survey_again(row, kind, base, rate, peels == 2, tops)
        if not finite:
            probe[STOP] = NOT_FINITE
            return at
        total, held = bound_blocks(
            row, kind, base, rate, precision, best, lift, tight, peels, tops, bounds, uppers
        )
        for t in range(at - r * size, size):
            verdict = np.int64(AGAIN)
            while verdict == AGAIN:
                low, high = words_of(words, at, seeds, r, t, attempt)
                x, counts = below(low, high, np.uint64(total))
                rho = np.int64(x)
                if blocks > 1:
                    b, rho = find(bounds, rho)
                    start = b * BLOCK
                part = row[start : start + BLOCK]
                if b != held:
                    part_base, held = base[start : start + BLOCK], b
                    bound = weigh(part, kind, part_base, rate, best, lift, scale, tight, uppers)
                    total += bound - bounds[b]
                    bounds[b] = bound
                index, rho = find(uppers[: part.size], rho)
                if counts and index < part.size:
                    index += start
                    rounded = weigh_one(row, kind, base, rate, best, lift, scale, index)
                    verdict = judge(rho, rounded)
                if verdict == UNSURE or (verdict == AGAIN and tight):
                    stop(probe, verdict, index, rho, best, lift, attempt)
                    return at
                attempt += 1
            out[at] = index
            at, attempt = at + 1, np.int64(0)
            if peels:
                total -= uppers[index - start]
                bounds[b] -= uppers[index - start]
                tops[b] = leave_out(index - start, part, kind, base[start : start + BLOCK], uppers)
                if total < k << COARSE:
                    stop(probe, AGAIN, index, rho, best, lift, attempt - 1)  # of the next draw
                    return at
    return at
