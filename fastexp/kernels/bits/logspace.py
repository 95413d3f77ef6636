"""Log-sum-exp and probabilities, in natural logarithms, for the exact laws.

Heights here are c * (best - u) - ln(base) >= lift. Sums run in a fixed order, by halves
inside a block and compensated across blocks, so they too have the same bits everywhere.
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
    bits_float,
    float_bits,
    helper,
    kernel,
    wide_vectors,
)
from .heights import BLOCK, NONE, block_height, block_top, fill_heights, lowest_height
from .logexp import EXP_LOWEST, exp_scaled


@helper
def sum_exp(heights: Any, lift: Any, out: Any) -> Any:
    """Return the sum of exp(lift - heights[i]), by halves; out: a scratch block."""
    wide_vectors()
    for i in range(heights.size):
        # Smaller terms count as exp(-708), which cannot change a sum of at least 1.
        out[i] = exp_scaled(max(lift - heights[i], EXP_LOWEST), NONE)
    return sum_halves(out, heights.size)


@helper
def sum_halves(x: Any, size: Any) -> Any:
    """Return the sum of the first `size` numbers of a block, by halves; overwrites the block."""
    width = BLOCK
    while width > 1 and width // 2 >= size:
        width //= 2
    for i in range(size, width):
        x[i] = 0.0
    while width > 1:
        width //= 2
        fold(x[:width], x[width : 2 * width])
    return x[0]


@helper
def fold(left: Any, right: Any) -> None:
    """left += right."""
    wide_vectors()
    for i in range(left.size):
        left[i] += right[i]


@kernel(F64(IN_U64, I64, IN_F64, F64, OUT_I64, OUT_F64))
def log_sum_exp(bits: Any, kind: Any, log_base: Any, rate: Any, blocks: Any, work: Any) -> Any:
    """Return the sum of base * exp(c * (u - best) + lift), at least about 1; NaN if not finite.

    Writes (best key, bits of the lift) behind the blocks: log-sum-exp is
    c * best - lift + log(sum).
    """
    count = (bits.size + BLOCK - 1) // BLOCK
    best, finite_all = NONE, True
    for b in range(count):
        part = bits[b * BLOCK : (b + 1) * BLOCK]
        base = log_base[b * BLOCK : (b + 1) * BLOCK]
        top, is_any, finite = block_top(part, kind, base)
        finite_all = finite_all and finite
        total, lift = 0.0, np.inf
        if is_any:
            heights = work[: part.size]
            fill_heights(part, kind, top, rate, base, heights)
            lift = lowest_height(heights) if base.size > 0 else 0.0
            total = sum_exp(heights, lift, work[BLOCK:])
            best = max(best, top)
        blocks[3 * b] = np.int64(float_bits(total))
        blocks[3 * b + 1] = np.int64(top)
        blocks[3 * b + 2] = np.int64(float_bits(lift))
    lift = np.inf
    for b in range(count):
        lowest = bits_float(np.uint64(blocks[3 * b + 2]))
        if lowest < np.inf:
            height = block_height(kind, rate, best, np.uint64(blocks[3 * b + 1]))
            lift = min(lift, height + lowest)
    blocks[3 * count] = np.int64(best)
    blocks[3 * count + 1] = np.int64(float_bits(lift))
    return add_blocks(kind, rate, count, blocks, lift) if finite_all else np.nan


@helper
def add_blocks(kind: Any, rate: Any, count: Any, blocks: Any, lift: Any) -> Any:
    """Return the total of the blocks' sums at a common scale, with Neumaier's compensation."""
    best = np.uint64(blocks[3 * count])
    total, rounding_loss = 0.0, 0.0
    for b in range(count):
        lowest = bits_float(np.uint64(blocks[3 * b + 2]))
        if lowest < np.inf:
            below = block_height(kind, rate, best, np.uint64(blocks[3 * b + 1]))
            x = lift - (below + lowest)
            y = exp_scaled(x, NONE) if x >= EXP_LOWEST else 0.0
            term = bits_float(np.uint64(blocks[3 * b])) * y
            grown = total + term
            rounding_loss += (total - grown) + term if total >= term else (term - grown) + total
            total = grown
    return total + rounding_loss


@kernel(NOTHING(IN_U64, I64, IN_F64, F64, IN_I64, F64, OUT_F64))
def fill_log_probabilities(
    bits: Any, kind: Any, log_base: Any, rate: Any, best: Any, log_sum: Any, out: Any
) -> None:
    """out[i] = -(height - lift) - log_sum: log-probabilities, -infinity where base is 0."""
    wide_vectors()
    top, lift = np.uint64(best[0]), bits_float(np.uint64(best[1]))
    fill_heights(bits, kind, top, rate, log_base, out)
    for i in range(out.size):
        out[i] = (lift - out[i]) - log_sum


@kernel(NOTHING(IN_U64, I64, IN_F64, F64, IN_I64, F64, OUT_F64))
def fill_probabilities(
    bits: Any, kind: Any, log_base: Any, rate: Any, best: Any, total: Any, out: Any
) -> None:
    """out[i] = exp(lift - height) / total: probabilities, 0 below about 1e-308."""
    wide_vectors()
    top, lift = np.uint64(best[0]), bits_float(np.uint64(best[1]))
    fill_heights(bits, kind, top, rate, log_base, out)
    for i in range(out.size):
        x = lift - out[i]
        y = exp_scaled(max(x, EXP_LOWEST), NONE)
        out[i] = y / total if x >= EXP_LOWEST else 0.0
