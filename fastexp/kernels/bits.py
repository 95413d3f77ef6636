"""Single values: order keys, powers of two, logarithms, random words, uniform integers.

Only +, -, *, / of doubles, each rounded to nearest, and operations of integers: the same bits on
every CPU. Values come as 64-bit words of a kind: doubles, signed or unsigned integers.
"""

from __future__ import annotations

import numpy as np

from .jit import helper, wide_product

FLOAT, SIGNED, UNSIGNED = 0, 1, 2
ZERO, ONE, ALL_ONES = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
SIGN, LOW, HALF = np.uint64(1 << 63), np.uint64(0xFFFFFFFF), np.uint64(32)
INFINITE = np.uint64(0x7FF0000000000000)  # the exponent of doubles that are not finite
ROUND = 6755399441055744.0  # 1.5 * 2**52: added, it rounds to an integer in the low bits
ROUND_WORD, EXPONENT = np.uint64(0x4338000000000000), np.uint64(52)
INTEGER, INTEGER_WORD = 4503599627370496.0, np.uint64(0x4330000000000000)  # 2**52
M0, M1, W0, W1 = (np.uint64(x) for x in (0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85))
SQRT_HALF, MANTISSA = np.uint64(0x3FE6A09E667F3BCD), np.uint64(0x000FFFFFFFFFFFFF)
LOG2E, LN2 = 1.4426950408889634, 0.6931471805599453
DEEPEST = 62.0  # greater heights count as this one: their weights round to 0
# 1.5 * 2**30, and two units of its last place; its word, less the exponent's bias: see `chord`.
FIXED, FIXED_WORD = 1610612736.0 + 2.0**-21, np.uint64(0x41D8000000000000 - (1023 << 22))
FRACTION, ONE_MORE = np.uint64(30), np.uint64(0x432FFFFFFFFFFFFF)


@helper
def word_of(x):
    return np.float64(x).view(np.uint64)


@helper
def double_of(word):
    return np.uint64(word).view(np.float64)


@helper
def order_key(value, kind):
    """An unsigned key with the order of the values."""
    sign = np.uint64(np.int64(value) >> 63) if kind == FLOAT else ZERO
    return value ^ (sign | (ZERO if kind == UNSIGNED else SIGN))


@helper
def key_double(key):
    return double_of(key ^ SIGN if key >= SIGN else ~key)


@helper
def height(value, kind, top, rate):
    """rate * (the value of the key `top` - value), 0 where it is below 2**-100.

    A product with a subnormal number takes a hundred times as long: its time would reveal it.
    """
    if kind == FLOAT:
        gap = key_double(top) - double_of(value)
        return rate * (gap if gap >= max(2.0**-1022, 2.0**-100 / rate) else 0.0)
    return rate * np.float64(top - order_key(value, kind))


@helper
def key_height(key, kind, top, rate):
    """`height` of the value that has this key."""
    value = word_of(key_double(key)) if kind == FLOAT else order_key(key, kind)
    return height(value, kind, top, rate)


@helper
def weight(height, scale):
    """2**-height * scale for 0 <= height <= 1000, within a relative 2**-45.8.

    The polynomial is a minimax fit of 2**r on [-1/2, 1/2], with a relative error of 2**-45.9; its
    roundings add less than 2**-50.
    """
    rounded = ROUND - height
    r = -height - (rounded - ROUND)
    q = 1.0148339450112299e-07 * r + 1.325833551846685e-06
    q = q * r + 1.5252990022350025e-05
    q = q * r + 0.0001540344088402222
    q = q * r + 0.0013333557625458167
    q = q * r + 0.0096181291811644
    q = q * r + 0.05550410866841582
    q = q * r + 0.24022650695722816
    q = q * r + 0.6931471805598851
    p = (1.0 + q * r) * scale
    return double_of(word_of(p) + ((word_of(rounded) - ROUND_WORD) << EXPONENT))


@helper
def rounded_weight(height, scale):
    """2**-height * scale < 2**52 as an integer, within a relative 2**-39 and 1/2.

    A height that was computed from a gap, a rate and a base errs by three roundings of a number
    below 2**12 at most, which is a relative 2**-40 of the weight; `weight` adds 2**-45.
    """
    return np.int64(word_of(weight(min(height, DEEPEST), scale) + INTEGER) - INTEGER_WORD)


@helper
def parts(x):
    """(exponent, mantissa in [1, 2)) of a normal x > 0."""
    word = word_of(x)
    mantissa = double_of((word & MANTISSA) | word_of(1.0))
    return np.float64(np.int64(word >> EXPONENT) - 1023), mantissa


@helper
def power(n):
    """2.0**n."""
    return double_of(np.uint64(n + 1023) << EXPONENT)


@helper
def bit_length(n):
    length = np.int64(0)
    while n >> length > 0:
        length += 1
    return length


@helper
def chord(height, precision):
    """An integer above 2**(precision - height), by 6.2 % or less: it costs ten operations.

    Between whole numbers 2**x lies below its chord, and the bits of a double encode that chord: a
    fixed-point number, shifted up to the exponent's place, is its value. Two units of its last
    place make up for the rounding of the height and of the number, one unit for the last rounding.
    """
    fixed = word_of(FIXED + precision - min(height, DEEPEST)) - FIXED_WORD
    return np.int64(word_of(double_of(fixed << FRACTION) + INTEGER) - ONE_MORE)


@helper
def philox(low, high, key):
    """Philox 4x32-10 of a counter of 128 bits under a key of 64 bits (Salmon et al. 2011)."""
    x0, x1, x2, x3 = low & LOW, low >> HALF, high & LOW, high >> HALF
    k0, k1 = key & LOW, key >> HALF
    for _ in range(10):
        p0, p1 = x0 * M0, x2 * M1
        x0, x1, x2, x3 = (p1 >> HALF) ^ x1 ^ k0, p1 & LOW, (p0 >> HALF) ^ x3 ^ k1, p0 & LOW
        k0, k1 = (k0 + W0) & LOW, (k1 + W1) & LOW
    return x0 | (x1 << HALF), x2 | (x3 << HALF)


@helper
def below(low, high, bound):
    """(the upper part of (high, low) * bound, whether it counts), with a bound below 2**63.

    The part is uniform below `bound` if those words are refused whose lower 128 bits of the product
    are below 2**128 mod bound (Lemire 2019).
    """
    p1, p0 = wide_product(low, bound)
    r1, r0 = wide_product(high, bound)
    middle = p1 + r0
    result = r1 + (ONE if middle < p1 else ZERO)
    if middle > ZERO or p0 >= bound:
        return result, True
    rest = ONE % bound  # hardly ever
    for _ in range(128):
        rest += rest
        rest -= bound if rest >= bound else ZERO
    return result, p0 >= rest


@helper
def below_word(word, bound):
    """`below` of one word: up to a share bound / 2**64 of the words is refused."""
    high, low = wide_product(word, bound)
    return high, low >= bound or low >= (ZERO - bound) % bound


@helper
def is_exact(rate):
    """Whether the processor rounds to nearest and keeps subnormal numbers, as bounds assume."""
    zero = rate - rate  # no constant, or the compiler would fold what follows
    tiny, least = 2.0**-60 + zero, 2.0**-1022 + zero
    subnormal = 1.5 * least - least
    is_kept = word_of(subnormal * 4.0) != ZERO  # a word: comparisons of differences are folded
    return is_kept and 1.0 + tiny == 1.0 and -1.0 - tiny == -1.0 and 1.0 - tiny == 1.0


@helper
def log_near(f):
    """log(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1), with full relative precision."""
    s = f / (2.0 + f)
    z = s * s
    q = 0.1479595130458871 * z + 0.153140503922286
    q = q * z + 0.1818356433241593
    q = q * z + 0.22222198573060647
    q = q * z + 0.2857142874238889
    q = q * z + 0.3999999999941467
    q = q * z + 0.6666666666666734
    half = 0.5 * f * f
    return f - (half - s * (half + z * q))


@helper
def log2_one(x):
    """log2(x) of a normal x > 0."""
    above = word_of(x) - SQRT_HALF
    f = double_of((above & MANTISSA) + SQRT_HALF) - 1.0
    return np.float64(np.int64(above) >> 52) + log_near(f) * LOG2E
