"""How far each utility lies below the best one: blocks of 1,024 candidates at a time.

Utilities arrive as their 64 raw bits and a *kind* (0 float64, 1 int64, 2 uint64), so that
one compiled kernel serves all three. An order-preserving map takes the bits to unsigned
keys; the greatest key is the best utility, and key differences of integers are exact.

A *height* is rate * (best - u) - log(base), in bits for the samplers (rate =
log2(e) * c, log to the base 2) and in nats for the laws (rate = c). The samplers subtract a
whole number, the *lift*, so that the lowest height lies in [0, 1). A height that matters
(below 60 over the lift) has an absolute error below 2**-38: from fl(best - u), fl(rate),
their product, log2(base) and the subtractions, on terms below 2,200.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import bits_float, float_bits, helper, wide_vectors

BLOCK = 1024  # part of the stream format; three arrays of it fit into 32 KiB of L1
FLOAT, SIGNED, UNSIGNED = 0, 1, 2

SIGN = np.uint64(1 << 63)
NONE = np.uint64(0)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
SIXTY_THREE = np.int64(63)
LOWEST_FLOAT = np.uint64(0x0010000000000000)  # key of the most negative finite float64
HIGHEST_FLOAT = np.uint64(0xFFEFFFFFFFFFFFFF)  # key of the largest finite float64


@helper
def spread_and_flip(kind: Any) -> Any:
    """Return the two masks that `order_key` takes for this kind."""
    spread = ALL if kind == FLOAT else NONE
    flip = NONE if kind == UNSIGNED else SIGN
    return spread, flip


@helper
def order_key(bits: Any, spread: Any, flip: Any) -> Any:
    """Return an unsigned key with the order of the values: negative floats flip all their bits."""
    sign = np.uint64(np.int64(bits) >> SIXTY_THREE)
    return bits ^ ((sign & spread) | flip)


@helper
def key_float(key: Any) -> Any:
    """Return the float64 that has this order key."""
    return bits_float(key ^ SIGN if key >= SIGN else ~key)


@helper
def block_top(bits: Any, kind: Any, log_base: Any) -> Any:
    """Return (greatest key with base > 0, whether there is one, whether all are finite)."""
    wide_vectors()
    spread, flip = spread_and_flip(kind)
    top, low, high, is_any = NONE, ALL, NONE, False
    if log_base.size == 0:
        for i in range(bits.size):
            key = order_key(bits[i], spread, flip)
            high = max(high, key)
            low = min(low, key)
        top, is_any = high, True
    else:
        for i in range(bits.size):
            key = order_key(bits[i], spread, flip)
            high = max(high, key)
            low = min(low, key)
            counts = log_base[i] > -np.inf
            top = max(top, key if counts else NONE)
            is_any = is_any | counts
    finite = kind != FLOAT or (low >= LOWEST_FLOAT and high <= HIGHEST_FLOAT)
    return top, is_any, finite


@helper
def negligible(rate: Any) -> Any:
    """Return the gap below which gaps count as 0: their heights are below 2**-100.

    A product with a subnormal number is a hundred times slower: its time would reveal it.
    """
    return max(2.0**-1022, 2.0**-100 / rate)


@helper
def fill_heights(bits: Any, kind: Any, top: Any, rate: Any, log_base: Any, out: Any) -> None:
    """out[i] = rate * (best - u[i]) - log2(base[i]), before the lift."""
    wide_vectors()
    if kind == FLOAT:
        best = key_float(top)
        tiny = negligible(rate)
        for i in range(bits.size):
            gap = best - bits_float(bits[i])
            out[i] = rate * (gap if gap >= tiny else 0.0)
    else:
        flip = SIGN if kind == SIGNED else NONE
        for i in range(bits.size):
            out[i] = rate * np.float64(top - (bits[i] ^ flip))
    if log_base.size > 0:
        for i in range(bits.size):
            # With base 0 the utility may lie above the best: the height is infinite.
            out[i] = out[i] - log_base[i] if log_base[i] > -np.inf else np.inf


@helper
def best_key(bits: Any, kind: Any) -> Any:
    """Return (greatest key, whether all are finite): `block_top` without a base, of any length."""
    wide_vectors()
    spread, flip = spread_and_flip(kind)
    top, low = NONE, ALL
    for i in range(bits.size):
        key = order_key(bits[i], spread, flip)
        top = max(top, key)
        low = min(low, key)
    return top, kind != FLOAT or (low >= LOWEST_FLOAT and top <= HIGHEST_FLOAT)


@helper
def height_of(bits: Any, kind: Any, top: Any, rate: Any) -> Any:
    """Return rate * (best - u) of one utility, as `fill_heights` does without a base."""
    if kind == FLOAT:
        gap = key_float(top) - bits_float(bits)
        return rate * (gap if gap >= negligible(rate) else 0.0)
    return rate * np.float64(top - (bits ^ (SIGN if kind == SIGNED else NONE)))


@helper
def block_height(kind: Any, rate: Any, best: Any, top: Any) -> Any:
    """Return rate * (best - top) of two keys, as `fill_heights` does."""
    if kind == FLOAT:
        gap = key_float(best) - key_float(top)
        return rate * (gap if gap >= negligible(rate) else 0.0)
    return rate * np.float64(best - top)


@helper
def lowest_height(heights: Any) -> Any:
    """Return the least of `heights`, by the order of their bits.

    LLVM does not vectorise the minimum of floats, because of NaN.
    """
    wide_vectors()
    least = ALL
    for i in range(heights.size):
        least = min(least, order_key(float_bits(heights[i]), ALL, SIGN))
    return key_float(least)
