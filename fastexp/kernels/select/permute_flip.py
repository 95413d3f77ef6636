"""Permute-and-flip: candidates in random order, each with a coin; the first success wins.

McKenna and Sheldon 2020. Candidate i succeeds with probability w_i = 2**-height_i; the best
one always does. A coin is an integer rho, uniform below f = 2**s, that is compared with
certified bounds L <= f*w <= U, as in `envelope.py`; coins left open go to the exact test.

* First TRIES candidates are drawn with replacement; those that failed before are skipped, so
  that the order is random. One word gives the candidate and the coin, s = 40 or less.
* If none succeeds, all others flip their coins at once, in a vectorised pass, s = 50, and
  one of the successes is drawn uniformly: in a random order each is as likely to be first.

Draw t of a row takes the words of substream t of its stream: try n word n; candidate i's later
coin word 2**16 + i; the choice among successes words 2**32, ...; exact test a words
2**32 + 2**31 + a * 2**16, ... A release takes the operating system's words: TRIES, and after
NEEDS_WORDS one for each candidate and CHOICES for the choice.

`control` has the first draw's number, the number of answers, up to eight answers of exact
tests; then index, rho, s, number and best key of the test that is wanted next.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    F64,
    I64,
    IN_F64,
    IN_U64,
    OUT_I64,
    U64,
    as_floats,
    as_words,
    helper,
    kernel,
    stack,
    wide_vectors,
)
from ..bits.heights import BLOCK, NONE, best_key, fill_heights, height_of
from ..bits.words import HALF, fill_substream, philox, stream_of
from .chords import ACCEPTED, REJECTED, below_word, judge
from .envelope import (
    NOT_FINITE,
    ROUNDING_MODE,
    UNSURE,
    lower,
    rounded_weight,
    rounds_to_nearest,
    upper,
)
from .rounds import power

TRIES, CHOICES = 64, 8
NEEDS_WORDS = -5  # status: a release needs further words
FIRST, ANSWERS, TEST, CONTROL, MOST_ANSWERS = 0, 1, 10, 15, 8
COIN_BITS = 50  # s of a later coin, the upper bits of its word
UNUSED = np.uint64(64 - COIN_BITS)
LATER = np.uint64(1 << 16)  # first word of the later coins
CHOICE = np.uint64(1 << 31)  # first block of the choice, of two words each: word 2**32
HEADER = 3


@helper
def try_bits(k: Any) -> Any:
    """s of a try: 40, less where k * 2**s would exceed 2**60."""
    s, size = 40, 1
    while size < k:
        size *= 2
        s -= 1 if size > 1 << 20 else 0
    return s


@helper
def settled(verdict: Any, index: Any, rho: Any, s: Any, best: Any, tests: Any, control: Any) -> Any:
    """(verdict, exact tests so far); UNSURE becomes the caller's answer, if there is one.

    Else the test that is wanted is written to `control`.
    """
    if verdict != UNSURE:
        return verdict, tests
    if tests < control[ANSWERS]:
        return control[ANSWERS + 1 + tests], tests + 1
    control[TEST], control[TEST + 1], control[TEST + 2] = index, rho, s
    control[TEST + 3], control[TEST + 4] = tests, np.int64(best)
    return UNSURE, tests


@helper
def is_in(values: Any, count: Any, value: Any) -> Any:
    """Whether one of the first `count` values is `value`."""
    is_member = False
    for i in range(count):
        is_member = is_member | (values[i] == value)
    return is_member


@helper
def try_some(
    bits: Any, kind: Any, rate: Any, best: Any, words: Any, tried: Any, control: Any
) -> Any:
    """(verdict, candidate, how many failed, exact tests) of tries that take one word each."""
    s = try_bits(bits.size)
    count, tests, verdict, index = 0, 0, REJECTED, np.int64(0)
    scale, mask = power(s), (np.int64(1) << s) - 1
    for n in range(words.size):
        r, counts = below_word(words[n], np.uint64(bits.size) << np.uint64(s))
        index = np.int64(r) >> s
        if counts and not is_in(tried, count, index):
            rho = np.int64(r) & mask
            verdict = judge(height_of(bits[index], kind, best, rate), scale, rho)
            verdict, tests = settled(verdict, index, rho, s, best, tests, control)
            if verdict != REJECTED:
                break
            tried[count] = index
            count += 1
    return verdict, index, count, tests


@helper
def possible(weights: Any, words: Any) -> Any:
    """How many coins may be successes."""
    wide_vectors()
    number = np.int64(0)
    for i in range(weights.size):
        number += np.int64(np.int64(words[i] >> UNUSED) < upper(weights[i]))
    return number


@helper
def fill_weights(heights: Any, out: Any) -> None:
    """out = rounded weights at 2**COIN_BITS."""
    wide_vectors()
    for i in range(heights.size):
        out[i] = rounded_weight(heights[i], power(COIN_BITS))


@helper
def flip_block(
    b: Any, bits: Any, kind: Any, rate: Any, no_base: Any, best: Any, words: Any, tried: Any,
    failed: Any, tests: Any, wanted: Any, control: Any, work: Any,
) -> Any:  # fmt: skip
    """(number of successes of block b or UNSURE, exact tests so far, success number `wanted`)."""
    part = bits[b * BLOCK : (b + 1) * BLOCK]
    heights, weights = as_floats(work[: part.size]), work[BLOCK : BLOCK + part.size]
    fill_heights(part, kind, best, rate, no_base, heights)
    fill_weights(heights, weights)
    count, place_wanted = np.int64(0), np.int64(-1)
    if possible(weights, words) == 0:
        return count, tests, place_wanted
    for i in range(part.size):
        rho = np.int64(words[i] >> UNUSED)
        if rho < upper(weights[i]) and not is_in(tried, failed, b * BLOCK + i):
            verdict = ACCEPTED if rho < lower(weights[i]) else UNSURE
            place = b * BLOCK + i
            verdict, tests = settled(verdict, place, rho, COIN_BITS, best, tests, control)
            if verdict == UNSURE:
                return np.int64(UNSURE), tests, place_wanted
            place_wanted = place if verdict == ACCEPTED and count == wanted else place_wanted
            count += 1 if verdict == ACCEPTED else 0
    return count, tests, place_wanted


@helper
def later_words(stream: Any, t: Any, b: Any, os_words: Any, out: Any) -> None:
    """out = the words of block b's coins: a release's, or the stream's."""
    if os_words.size > 0:
        for i in range(out.size):
            out[i] = os_words[min(b * BLOCK + i, os_words.size - 1)]
    else:
        fill_substream(stream, np.uint64(t), LATER + np.uint64(b * BLOCK), out)


@helper
def choose(stream: Any, t: Any, count: Any, os_words: Any) -> Any:
    """A uniform integer below `count`; -1 if a release's words do not suffice."""
    number, counts, n = np.uint64(0), False, 0
    while not counts:
        if os_words.size > 0:
            if n == CHOICES:
                return np.int64(-1)
            word = os_words[os_words.size - CHOICES + n]
        else:
            one, two = philox(
                (np.uint64(t) << HALF) + CHOICE + np.uint64(n // 2), stream[1], stream[0]
            )
            word = one if n % 2 == 0 else two
        number, counts = below_word(word, np.uint64(count))
        n += 1
    return np.int64(number)


@helper
def flip_all(
    bits: Any, kind: Any, rate: Any, no_base: Any, best: Any, stream: Any, t: Any,
    os_words: Any, tried: Any, failed: Any, tests: Any, control: Any, work: Any,
) -> Any:  # fmt: skip
    """The candidate that wins among all that were not tried, or UNSURE or NEEDS_WORDS."""
    words, blocks = as_words(work[2 * BLOCK : 3 * BLOCK]), work[3 * BLOCK :]
    total, none = np.int64(0), np.int64(-1)
    count = (bits.size + BLOCK - 1) // BLOCK
    for b in range(count):
        later_words(stream, t, b, os_words, words)
        blocks[2 * b + 1] = tests
        successes, tests, _ = flip_block(
            b, bits, kind, rate, no_base, best, words, tried, failed, tests, none, control, work
        )
        if successes < 0:
            return successes
        blocks[2 * b] = successes
        total += successes
    wanted = choose(stream, t, total, os_words)
    if wanted < 0:
        return np.int64(NEEDS_WORDS)
    b = 0
    while wanted >= blocks[2 * b]:
        wanted -= blocks[2 * b]
        b += 1
    later_words(stream, t, b, os_words, words)
    tests = blocks[2 * b + 1]
    _, _, place = flip_block(
        b, bits, kind, rate, no_base, best, words, tried, failed, tests, wanted, control, work
    )
    return place


@kernel(I64(IN_U64, I64, F64, IN_U64, U64, U64, IN_U64))
def permute_flip_tries(
    bits: Any, kind: Any, rate: Any, seed: Any, tag: Any, name: Any, os_words: Any
) -> Any:
    """The first draw of stream (tag, name), or from `os_words` if any, if a try wins: mostly.

    Else UNSURE, NEEDS_WORDS or an error's status; the kernel below then makes the draw again.
    """
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    best, finite = best_key(bits, kind)
    if not finite:
        return NOT_FINITE
    tried, control, stream = stack(TRIES), stack(CONTROL), as_words(stack(2))
    control[ANSWERS], words = 0, as_words(stack(TRIES))
    stream[0], stream[1] = stream_of(seed, tag, name)
    if os_words.size == 0:
        fill_substream(stream, NONE, NONE, words)
    for n in range(os_words.size):
        words[n] = os_words[n]
    words = words[: os_words.size] if os_words.size > 0 else words
    verdict, winner, _, _ = try_some(bits, kind, rate, best, words, tried, control)
    return (
        winner if verdict == ACCEPTED else np.int64(NEEDS_WORDS if verdict == REJECTED else UNSURE)
    )


@kernel(I64(IN_U64, I64, IN_F64, F64, IN_U64, IN_U64, OUT_I64, OUT_I64))
def permute_flip_draw(
    bits: Any, kind: Any, no_base: Any, rate: Any, seeds: Any, os_words: Any, out: Any, work: Any
) -> Any:
    """out = draws of each row; returns how many are UNSURE or NEEDS_WORDS, or an error's status.

    `os_words` is empty, or a release's words (one row, one draw). `work` starts with `control`.
    """
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    control, tried = work[:CONTROL], work[CONTROL : CONTROL + TRIES + 1]
    stream = as_words(work[CONTROL + TRIES + 1 :])[:2]
    words = as_words(work[CONTROL + TRIES + 3 :])[:TRIES]
    rest = work[CONTROL + 2 * TRIES + 3 :]
    names, open_draws = seeds[HEADER:], 0
    k, size = bits.size // names.size, out.size // names.size
    for r in range(names.size):
        row = bits[r * k : (r + 1) * k]
        best, finite = best_key(row, kind)
        if not finite:
            return NOT_FINITE
        stream[0], stream[1] = philox(names[r], seeds[2] ^ seeds[1], seeds[0])
        for i in range(size):
            t = control[FIRST] + i
            fill_substream(stream, np.uint64(t), NONE, words)
            for n in range(min(TRIES, os_words.size)):
                words[n] = os_words[n]
            verdict, winner, failed, tests = try_some(row, kind, rate, best, words, tried, control)
            if verdict == REJECTED:
                later, winner = os_words[min(TRIES, os_words.size) :], np.int64(NEEDS_WORDS)
                if os_words.size == 0 or later.size > 0:
                    winner = flip_all(
                        row, kind, rate, no_base, best, stream, t, later, tried, failed, tests,
                        control, rest,
                    )  # fmt: skip
            elif verdict == UNSURE:
                winner = np.int64(UNSURE)
            out[r * size + i] = winner
            open_draws += 1 if winner < 0 else 0
    return open_draws
