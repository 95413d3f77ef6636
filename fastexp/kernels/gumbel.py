"""Noisy maximum: the candidates of greatest -height plus Gumbel noise, in one pass, no normaliser.

Candidate i of draw t takes word i of the draw's stream, U = (word + 1/2) / 2**64, and the noise
-log2(-ln(1 - U)), which falls as U grows. The m greatest keys, in order, are a draw of peeling
(Durfee and Rogers 2019). All in doubles: the law is the mechanism's within k * 2**-64 and rounding
errors of some 1e-15, as two keys are compared by the gap of their own utilities.
"""

from __future__ import annotations

import numpy as np

from .alias import fill_blocks
from .bits import (
    ALL_ONES,
    HALF,
    LN2,
    ZERO,
    height,
    is_exact,
    log2_one,
    log_near,
    order_key,
    philox,
    rounded_weight,
)
from .envelope import DONE, HEADER, NOT_EXACT, NOT_FINITE, survey, upper
from .jit import helper, kernel, wide_vectors

CHUNK = 128  # words that are made, and skipped, together


@helper
def noise(word):
    u, rest = (np.float64(word) + 0.5) * 2.0**-64, (np.float64(~word) + 0.5) * 2.0**-64
    return -log2_one(-log_near(-u) if u < 0.25 else -LN2 * log2_one(rest))


@helper
def threshold(key):
    """A word above which all keys are below `key`.

    A key is at most noise + 1, as the logarithm of a mantissa is less than 1, and noise exceeds g
    with a probability 1 - exp(-2**-g) <= 2**-g. A further 1/2 is far more than all rounding errors.
    """
    bound = upper(rounded_weight(max(key - 1.5, 0.0), 2.0**50))
    return np.uint64(bound) << np.uint64(14) if key > 2.0 else ALL_ONES


@helper
def is_ahead(value, noise, other, other_noise, kind, rate):
    """Whether a candidate's key is greater than another's."""
    key, other_key = order_key(value, kind), order_key(other, kind)
    if key < other_key:
        return noise - height(value, kind, other_key, rate) > other_noise
    return noise > other_noise - height(other, kind, key, rate)


@helper
def least(words):
    wide_vectors()
    word = ALL_ONES
    for i in range(words.size):
        word = min(word, words[i])
    return word


@helper
def greatest(row, kind, base, rate, best, lift, first, prefix, key, words, noises, out):
    """out = the candidates of the greatest keys, in order, by words from block `first` on."""
    m, filled, limit = out.size, np.int64(0), ALL_ONES
    for start in range(0, row.size, CHUNK):
        some = words[: min(CHUNK, row.size - start)]
        fill_blocks(first + np.uint64(start // 2), prefix, key, words[: some.size + 1])
        for i in range(some.size if least(some) <= limit else 0):
            at, j = start + i, filled
            if some[i] <= limit and (base.size == 0 or base[at] > 0.0):
                x = noise(some[i]) + (log2_one(base[at]) + lift if base.size > 0 else 0.0)
                while j > 0 and is_ahead(row[at], x, row[out[j - 1]], noises[j - 1], kind, rate):
                    j -= 1
                    if j < m - 1:
                        noises[j + 1], out[j + 1] = noises[j], out[j]
                if j < m:
                    noises[j], out[j] = x, at
                filled = min(filled + 1, m)
                if filled == m:
                    limit = threshold(noises[m - 1] - height(row[out[m - 1]], kind, best, rate))


@kernel("i64(in_u64, i64, in_f64, f64, i64, in_u64, i64, out_i64, out_i64)")
def draw_gumbel(values, kind, base, rate, k, seeds, m, out, work):
    """out = the m <= k candidates of the greatest keys, in order, for each draw of each row of k.

    work: CHUNK + m words, and one for each block.
    """
    size, best, lift = out.size // m // (seeds.size - HEADER), ZERO, 0.0
    words, noises = work[:CHUNK].view(np.uint64), work[CHUNK : CHUNK + m].view(np.float64)
    for d in range(out.size // m):
        r, into = d // size, out[d * m : (d + 1) * m]
        row = values[r * k : (r + 1) * k]
        if d == r * size:
            best, lift, finite = survey(row, kind, base, rate, work[CHUNK + m :])
            if not finite:
                return NOT_FINITE
        key, prefix = philox(seeds[HEADER + r], seeds[2] ^ seeds[1], seeds[0])
        first = np.uint64(d - r * size) << HALF
        greatest(row, kind, base, rate, best, lift, first, prefix, key, words, noises, into)
    return DONE if is_exact(rate) else NOT_EXACT
