"""Random words: the Philox 4x32-10 generator, streams by name, integers without bias.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A
counter-based generator has no state to share: word j of a stream is a function of the
stream's name and j, so a draw does not depend on threads, batches or order.

The format, which tests pin by vectors (all words little-endian):

* a simulation has a 128-bit key (key[0], key[1]), or makes it of the lower halves of RAW_WORDS raw
  words of a generator;
* stream (tag, i): Philox of counter (i, tag ^ key[1]) under key[0] gives two 64-bit
  words: the stream's own Philox key and the upper half of its counters;
* word j of substream b: block (b * 2**32 + j // 2) of that stream, its half j % 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import IN_U64, NOTHING, OUT_U64, U64, helper, kernel, wide_vectors

MULTIPLIER_0 = np.uint64(0xD2511F53)
MULTIPLIER_1 = np.uint64(0xCD9E8D57)
WEYL_0 = np.uint64(0x9E3779B9)
WEYL_1 = np.uint64(0xBB67AE85)
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ROUNDS, RAW_WORDS = 10, 4
ZERO, ONE_WORD, TWO_WORDS = np.uint64(0), np.uint64(1), np.uint64(2)
WORD, ALL = np.uint64(64), np.uint64(0xFFFFFFFFFFFFFFFF)


@helper
def philox(low: Any, high: Any, key: Any) -> Any:
    """Return the 128-bit block of counter (low, high) under a 64-bit key, as two words."""
    x0, x1, x2, x3 = low & LOW, low >> HALF, high & LOW, high >> HALF
    k0, k1 = key & LOW, key >> HALF
    for _ in range(ROUNDS):
        p0 = x0 * MULTIPLIER_0
        p1 = x2 * MULTIPLIER_1
        x0, x1, x2, x3 = (p1 >> HALF) ^ x1 ^ k0, p1 & LOW, (p0 >> HALF) ^ x3 ^ k1, p0 & LOW
        k0 = (k0 + WEYL_0) & LOW
        k1 = (k1 + WEYL_1) & LOW
    return x0 | (x1 << HALF), x2 | (x3 << HALF)


@helper
def stream_of(seed: Any, tag: Any, name: Any) -> Any:
    """Return the stream (tag, name), two words, of a key or of the raw words that make a key."""
    low, high = seed[0], seed[1]
    if seed.size == RAW_WORDS:
        low, high = (low & LOW) | (high << HALF), (seed[2] & LOW) | (seed[3] << HALF)
    return philox(name, tag ^ high, low)


@helper
def fill_substream(stream: Any, substream: Any, first: Any, out: Any) -> None:
    """out = words first, first + 1, ... of a substream; first and the size are even."""
    wide_vectors()
    key, prefix = stream[0], stream[1]
    block = (substream << HALF) + (first >> ONE_WORD)
    for i in range(out.size // 2):
        out[2 * i], out[2 * i + 1] = philox(block + np.uint64(i), prefix, key)


@helper
def remainder(high: Any, low: Any, bits: Any) -> Any:
    """Return 2**(2*bits) mod (high, low), two limbs of `bits` bits each, bit by bit."""
    mask = ALL >> (WORD - bits)
    rest_high, rest_low = ZERO, ONE_WORD
    if high == ZERO and low == ONE_WORD:
        rest_low = ZERO
    for _ in range(np.int64(TWO_WORDS * bits)):
        carry = rest_high >> (bits - ONE_WORD)
        rest_high = ((rest_high << ONE_WORD) | (rest_low >> (bits - ONE_WORD))) & mask
        rest_low = (rest_low << ONE_WORD) & mask
        if carry > ZERO or rest_high > high or (rest_high == high and rest_low >= low):
            borrow = ONE_WORD if rest_low < low else ZERO
            rest_low = (rest_low - low) & mask
            rest_high = (rest_high - high - borrow) & mask
    return rest_high, rest_low


@helper
def multiply(a: Any, b: Any, bits: Any) -> Any:
    """Return the (high, low) limbs of the product of two limbs of `bits` <= 64 bits, by halves."""
    half = bits >> ONE_WORD
    mask = (ONE_WORD << half) - ONE_WORD
    a0, a1, b0, b1 = a & mask, a >> half, b & mask, b >> half
    low = a0 * b0
    middle = a1 * b0 + (low >> half)
    other = a0 * b1 + (middle & mask)
    return a1 * b1 + (middle >> half) + (other >> half), (other << half) | (low & mask)


@helper
def below(x1: Any, x0: Any, s1: Any, s0: Any, bits: Any) -> Any:
    """Return (high, low, whether it counts), a uniform integer below S = (s1, s0).

    X = (x1, x0) is uniform on 2*bits bits. The upper half of X*S is uniform below S if all X are
    refused whose X*S has a lower half below 2**(2*bits) mod S (Lemire, "Fast random integer
    generation in an interval", 2019). `bits` (even, <= 64) is 64 except in exhaustive tests.
    """
    mask = ALL >> (WORD - bits)
    p1, p0 = multiply(x0, s0, bits)
    q1, q0 = multiply(x0, s1, bits)
    r1, r0 = multiply(x1, s0, bits)
    t1, t0 = multiply(x1, s1, bits)
    p0 &= mask
    # column 1 = p1 + q0 + r0, column 2 = q1 + r1 + t0 + carries, column 3 = t1 + carry
    c1 = (p1 + (q0 & mask)) & mask
    carry = ONE_WORD if c1 < p1 else ZERO
    c1b = (c1 + (r0 & mask)) & mask
    carry += ONE_WORD if c1b < c1 else ZERO
    c2 = (q1 + carry) & mask
    over = ONE_WORD if c2 < carry else ZERO
    c2b = (c2 + r1) & mask
    over += ONE_WORD if c2b < r1 else ZERO
    c2c = (c2b + (t0 & mask)) & mask
    over += ONE_WORD if c2c < c2b else ZERO
    counts = True
    if c1b < s1 or (c1b == s1 and p0 < s0):  # the lower half is below S, which is rare
        rest1, rest0 = remainder(s1, s0, bits)
        counts = c1b > rest1 or (c1b == rest1 and p0 >= rest0)
    return (t1 + over) & mask, c2c, counts


@kernel(NOTHING(IN_U64, U64, U64, OUT_U64))
def substream_words(stream: Any, substream: Any, first: Any, out: Any) -> None:
    """out = words first, first + 1, ... of a substream of `stream`; first and size are even."""
    fill_substream(stream, substream, first, out)


@kernel(NOTHING(IN_U64, U64, IN_U64, OUT_U64))
def derive_streams(key: Any, tag: Any, names: Any, out: Any) -> None:
    """out[2i], out[2i + 1] = the stream (tag, names[i]) of the 128-bit key."""
    wide_vectors()
    for i in range(names.size):
        out[2 * i], out[2 * i + 1] = philox(names[i], tag ^ key[1], key[0])


@kernel(NOTHING(IN_U64, U64, U64, U64, OUT_U64))
def bounded(words: Any, high: Any, low: Any, bits: Any, out: Any) -> None:
    """out[3i:3i+3] = `below` of words 2i (low limb) and 2i + 1 (high limb)."""
    for i in range(words.size // 2):
        one, zero, counts = below(words[2 * i + 1], words[2 * i], high, low, bits)
        out[3 * i], out[3 * i + 1] = one, zero
        out[3 * i + 2] = ONE_WORD if counts else ZERO
