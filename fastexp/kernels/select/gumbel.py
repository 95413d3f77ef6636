"""Noisy maximum: the candidates of greatest height plus noise, in one pass, no normaliser.

Candidate i of draw t of a row takes word i of the row's substream t: U = (word + 1/2) / 2**64.
A word below 2**40 is lengthened by word 2**32 + i, so that U has full relative precision down
to 2**-128 and the noise does not end at 44. Each noise falls as U grows:

* Gumbel: -ln(-ln(1 - U)); the greatest key is a draw of the exponential mechanism, the m
  greatest in order are a draw of its peeling (Durfee and Rogers 2019);
* exponential: -ln(U); a draw of permute-and-flip (Ding et al. 2021);
* Laplace: -ln(2U) below 1/2, else ln(2(1 - U)); textbook report-noisy-max.

For all three P(noise > g) <= exp(-g). Let M be the m-th greatest key so far and B the best
height of a block. A candidate of the block can matter only if its word is at most
2**64 * exp(B - M). The others are skipped with one comparison, and noise is computed for few.

Keys are float64: a draw's law is the mechanism's up to rounding errors of some 1e-15, not exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    F64,
    I64,
    IN_F64,
    IN_U64,
    NOTHING,
    OUT_F64,
    OUT_I64,
    as_floats,
    as_words,
    helper,
    kernel,
    wide_vectors,
)
from ..bits.heights import ALL, BLOCK, FLOAT, NONE, block_top, key_float, order_key, spread_and_flip
from ..bits.logexp import exp_one, log_one, log_rest
from ..bits.words import HALF, fill_substream, philox
from .envelope import NOT_FINITE, ROUNDING_MODE, rounds_to_nearest

GUMBEL, EXPONENTIAL, LAPLACE = 0, 1, 2
GROUP = 64  # words that are skipped together
LONG = np.uint64(1 << 40)  # words below this one are lengthened
EXTRA_BLOCKS = np.uint64(1 << 31)  # first block of the extra words, of two words each: word 2**32
UNIT, FINE = 2.0**-64, 2.0**-128
NEAR = 1048576.0  # nats: keys of greater magnitude carry errors above 2e-10
MARGIN = 1e-6  # nats off a threshold: a thousand times the rounding errors of keys that matter
HEADER = 3


@helper
def noise_of(kind: Any, word: Any, extra_word: Any) -> Any:
    """The noise of one word; `extra_word` lengthens words below LONG."""
    tail = (np.float64(extra_word) + 0.5) * FINE if word < LONG else 0.5 * UNIT
    u = np.float64(word) * UNIT + tail
    rest = (np.float64(~word) + 0.5) * UNIT  # 1 - U
    if kind == GUMBEL:
        return -log_one(-log_rest(u) if u < 0.25 else -log_one(rest))
    if kind == EXPONENTIAL:
        return -log_one(u)
    return -log_one(2.0 * u) if u < 0.5 else log_one(2.0 * rest)


@helper
def threshold(gap: Any) -> Any:
    """A word above which all words have a noise below `gap`."""
    g = gap - MARGIN
    return np.uint64(exp_one(-g) * 18446744073709551616.0) if g > MARGIN else ALL


@helper
def key_height(key: Any, kind: Any, rate: Any, best: Any) -> Any:
    """-rate * (best - utility) <= 0 of two order keys, in nats; by halves: no gap overflows."""
    if kind == FLOAT:
        return (2.0 * rate) * (0.5 * key_float(key) - 0.5 * key_float(best))
    return -rate * np.float64(best - key)


@helper
def count_near(bits: Any, kind: Any, log_base: Any, rate: Any, best: Any) -> Any:
    """How many candidates lie less than NEAR nats below the best."""
    wide_vectors()
    spread, flip = spread_and_flip(kind)
    near = 0
    for i in range(bits.size):
        height = key_height(order_key(bits[i], spread, flip), kind, rate, best)
        near += 1 if height > -NEAR else 0
    for i in range(log_base.size):
        if log_base[i] == -np.inf:
            height = key_height(order_key(bits[i], spread, flip), kind, rate, best)
            near -= 1 if height > -NEAR else 0
    return near


@helper
def survey(bits: Any, kind: Any, log_base: Any, tops: Any) -> Any:
    """(best key among base > 0, whether all utilities are finite); tops[b] = block b's best."""
    best, all_finite = NONE, True
    for b in range(tops.size):
        at = b * BLOCK
        top, has_positive, finite = block_top(
            bits[at : at + BLOCK], kind, log_base[at : at + BLOCK]
        )
        tops[b] = np.int64(top)
        best = max(best, top if has_positive else NONE)
        all_finite = all_finite and finite
    return best, all_finite


@helper
def most_base(log_base: Any) -> Any:
    """The greatest logarithm of a base; 0 without one."""
    most = -np.inf if log_base.size > 0 else 0.0
    for i in range(log_base.size):
        most = max(most, log_base[i])
    return most


@helper
def least(words: Any) -> Any:
    """The least word."""
    wide_vectors()
    least_word = ALL
    for i in range(words.size):
        least_word = min(least_word, words[i])
    return least_word


@helper
def insert(keys: Any, places: Any, key: Any, place: Any) -> None:
    """Replace the least key, the root of a heap, by a greater one."""
    at = 0
    while 2 * at + 1 < keys.size:
        child = 2 * at + 1
        if child + 1 < keys.size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[at], places[at] = keys[child], places[child]
        at = child
    keys[at], places[at] = key, place


@helper
def pour(keys: Any, places: Any, out: Any) -> None:
    """out = the heap's places, greatest key first."""
    for last in range(out.size - 1, 0, -1):
        out[last] = places[0]
        insert(keys[:last], places[:last], keys[last], places[last])
    out[0] = places[0]


@helper
def greatest(
    bits: Any, kind: Any, log_base: Any, rate: Any, best: Any, tops: Any, stream: Any, t: Any,
    noise: Any, words: Any, keys: Any, places: Any,
) -> None:  # fmt: skip
    """keys, places = a heap of the greatest keys of draw t, and their candidates."""
    for i in range(keys.size):
        keys[i], places[i] = -np.inf, -1
    substream = np.uint64(t) << HALF
    spread, flip = spread_and_flip(kind)
    for b in range(tops.size):
        part = bits[b * BLOCK : (b + 1) * BLOCK]
        base = log_base[b * BLOCK : (b + 1) * BLOCK]
        highest = key_height(np.uint64(tops[b]), kind, rate, best) + most_base(base)
        block_words = words[: part.size + part.size % 2]
        fill_substream(stream, np.uint64(t), np.uint64(b * BLOCK), block_words)
        limit = threshold(keys[0] - highest)
        if least(block_words[: part.size]) > limit:
            continue
        for start in range(0, part.size, GROUP):
            group = block_words[start : min(start + GROUP, part.size)]
            if least(group) > limit:
                continue
            for i in range(group.size):
                if group[i] <= limit:
                    at = start + i
                    place = b * BLOCK + at
                    extra_word = NONE
                    if group[i] < LONG:
                        one, two = philox(
                            substream + EXTRA_BLOCKS + np.uint64(place // 2), stream[1], stream[0]
                        )
                        extra_word = one if place % 2 == 0 else two
                    key = key_height(order_key(part[at], spread, flip), kind, rate, best)
                    key += noise_of(noise, group[i], extra_word)
                    key += base[at] if base.size > 0 else 0.0
                    if key > keys[0]:
                        insert(keys, places, key, place)
                        limit = threshold(keys[0] - highest)


@kernel(I64(IN_U64, I64, IN_F64, F64, IN_U64, I64, I64, I64, OUT_I64, OUT_I64))
def gumbel_draw(
    bits: Any, kind: Any, log_base: Any, rate: Any, seeds: Any, noise: Any, first: Any,
    chosen: Any, out: Any, work: Any,
) -> Any:  # fmt: skip
    """out = for each row and draw the `chosen` candidates of the greatest keys, greatest first.

    `first` is the first draw's number; `seeds` as in `rows.py`; rate and log_base in nats.
    A row with fewer than `chosen` candidates near the best is left out, with -1, because keys
    would be too coarse. Returns the number of such rows, or an error's status.
    """
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    names = seeds[HEADER:]
    k, each = bits.size // names.size, out.size // names.size
    count = (k + BLOCK - 1) // BLOCK
    words, stream = as_words(work[:BLOCK]), as_words(work[BLOCK : BLOCK + 2])
    tops, heap = work[BLOCK + 2 : BLOCK + 2 + count], work[BLOCK + 2 + count :]
    keys, places, skipped_rows = as_floats(heap[:chosen]), heap[chosen : 2 * chosen], 0
    for r in range(names.size):
        row, into = bits[r * k : (r + 1) * k], out[r * each : (r + 1) * each]
        best, finite = survey(row, kind, log_base, tops)
        if not finite:
            return NOT_FINITE
        if chosen > 1 and count_near(row, kind, log_base, rate, best) < chosen:
            skipped_rows += 1
            for i in range(into.size):
                into[i] = -1
            continue
        stream[0], stream[1] = philox(names[r], seeds[2] ^ seeds[1], seeds[0])
        for t in range(each // chosen):
            greatest(
                row, kind, log_base, rate, best, tops, stream, first + t, noise, words, keys,
                places,
            )  # fmt: skip
            pour(keys, places, into[t * chosen : (t + 1) * chosen])
    return skipped_rows


@kernel(NOTHING(I64, IN_U64, IN_U64, OUT_F64))
def noise_fill(kind: Any, words: Any, extra_words: Any, out: Any) -> None:
    """out[i] = the noise of words[i], lengthened by extra_words[i] below LONG."""
    for i in range(words.size):
        out[i] = noise_of(kind, words[i], extra_words[i])
