"""Permute-and-flip: candidates in random order toss coins, and the first success is the answer.

The coin of a candidate of weight w <= 1 (the best one's is 1) is an integer rho, uniform below a
power of two f, and is judged by certified bounds L <= f * w <= U as in `envelope`.

* TRIES candidates are drawn, with replacement, and those that failed before are skipped: a random
  order. One word gives a candidate and its coin.
* If all fail, each candidate has a word for its coin. Those that were not tried and have rho < U
  are drawn without replacement until one succeeds: the others would fail wherever they stand.

The caller decides an open coin and calls again. An accepted one wins; of those that were refused
their number suffices, as the same words lead to them again in the same order.
"""

from __future__ import annotations

import numpy as np

from .alias import fill_blocks
from .bits import (
    HALF,
    ZERO,
    below,
    below_word,
    bit_length,
    height,
    is_exact,
    philox,
    power,
    rounded_weight,
    word_of,
)
from .envelope import (
    AGAIN,
    BEST,
    DONE,
    HEADER,
    INDEX,
    LIFT,
    NOT_EXACT,
    NOT_FINITE,
    RHO,
    STOP,
    UNSURE,
    find,
    lower,
    top_key,
    upper,
    weigh,
)
from .jit import helper, kernel, stack, wide_vectors

TRIES = 64
COIN_BITS = 40
REFUSED, ROOM = 5, 6  # of the probe: refused coins that are still to come; its size


@helper
def judge(row, index, kind, rate, best, rho, bits, probe):
    """DONE if candidate `index` succeeds, AGAIN if it fails, UNSURE if its coin is open."""
    rounded = rounded_weight(height(row[index], kind, best, rate), power(bits))
    is_open = lower(rounded) <= rho and rho < upper(rounded)
    probe[INDEX], probe[RHO] = index, rho
    if is_open and probe[REFUSED] > 0:
        probe[REFUSED] -= 1
        return np.int64(AGAIN)
    return np.int64(UNSURE if is_open else DONE if rho < lower(rounded) else AGAIN)


@helper
def mark(row, kind, rate, best, words, bits, out):
    """out[i] = 1 if the coin of candidate i may be a success, else 0; returns their number."""
    wide_vectors()
    total, shift, base = np.int64(0), np.uint64(64 - bits), out[:0].view(np.float64)
    weigh(row, kind, base, rate, best, 0.0, power(bits), True, out)
    for i in range(row.size):
        out[i] = np.int64(np.int64(words[i] >> shift) < out[i])
        total += out[i]
    return total


@helper
def flip(row, kind, rate, best, seeds, r, t, words, tried, marks, probe):
    """The verdict of `judge` on the last candidate; AGAIN if words do not suffice.

    With seeds, the words are those of draw t of row r.
    """
    k, n, failed, verdict = row.size, 0, 0, np.int64(AGAIN)
    key, prefix, first = ZERO, ZERO, np.uint64(t) << HALF
    bits = min(COIN_BITS, 60 - bit_length(k))  # one try in 16 is void at most
    probe[LIFT] = np.int64(word_of(bits))
    if seeds.size > 0:
        key, prefix = philox(seeds[HEADER + r], seeds[2] ^ seeds[1], seeds[0])
        fill_blocks(first, prefix, key, words[:TRIES])
    while n < TRIES and verdict == AGAIN:
        x, counts = below_word(words[n], np.uint64(k) << np.uint64(bits))
        index = np.int64(x) >> bits
        for j in range(failed):
            counts &= tried[j] != index
        if counts:
            rho = np.int64(x) & ((np.int64(1) << bits) - 1)
            verdict = judge(row, index, kind, rate, best, rho, bits, probe)
            tried[failed] = index
            failed += 1
        n += 1
    if verdict != AGAIN or words.size == TRIES:
        return verdict
    if seeds.size > 0:
        fill_blocks(first + np.uint64(TRIES // 2), prefix, key, words[TRIES:])
    total = mark(row, kind, rate, best, words[TRIES:], bits, marks)
    for j in range(failed):
        total -= marks[tried[j]]
        marks[tried[j]] = 0
    n += k
    while n + 1 < words.size and verdict == AGAIN:
        x, counts = below(words[n], words[n + 1], np.uint64(total))
        index, _ = find(marks, np.int64(x))
        if counts:
            rho = np.int64(words[TRIES + index] >> np.uint64(64 - bits))
            verdict = judge(row, index, kind, rate, best, rho, bits, probe)
            total -= 1
            marks[index] = 0
        n += 2
    return verdict


@kernel("i64(in_u64, i64, f64, i64, in_u64, i64, i64, out_u64, out_i64, out_i64)")
def draw_flips(values, kind, rate, k, seeds, at, refused, words, out, work):
    """out = draws of each row of k candidates, from draw `at` on; returns how many are done.

    If the call stops early, the probe, in front of `work`, says why. words: TRIES, k, and pairs for
    choices, or only TRIES at first. If it stops with AGAIN, it needs further ones and, behind
    the probe, k words of `work`. Without `seeds`, they are a release's.
    """
    probe, tried, base = work[:ROOM], stack()[:TRIES], stack()[:0].view(np.float64)
    size, best, finite, known = out.size // (values.size // k), ZERO, True, np.int64(-1)
    probe[REFUSED] = refused
    for d in range(at, out.size):
        r, verdict = d // size, np.int64(NOT_EXACT)
        row, t = values[r * k : (r + 1) * k], d - r * size
        if r != known:
            best, finite = top_key(row, kind, base)
            known, probe[BEST] = r, np.int64(best)
        if not finite:
            verdict = np.int64(NOT_FINITE)
        elif is_exact(rate):
            verdict = flip(row, kind, rate, best, seeds, r, t, words, tried, work[ROOM:], probe)
        if verdict != DONE:
            probe[STOP] = verdict
            return d
        out[d], probe[REFUSED] = probe[INDEX], 0
    return out.size
