"""The integrals of permute-and-flip's law: products of many factors 1 - t*w, and their sums.

With NumPy a law of 10 candidates takes 2.5 times as long, of 1,000 candidates 4 times and of
100,000 candidates 10 times.
"""

from __future__ import annotations

from typing import Any

from ..._compiler.jit import F64, IN_F64, NOTHING, OUT_F64, PAIR_F64, helper, kernel, wide_vectors
from ..bits.heights import BLOCK
from ..bits.logexp import log_one, log_rest
from ..bits.logspace import sum_halves


@kernel(PAIR_F64(IN_F64, IN_F64, F64, F64, OUT_F64))
def log_product(weights: Any, counts: Any, t: Any, rest: Any, work: Any) -> Any:
    """(-ln of the product of (1 - t*w)**count, the sum of count*w / (1 - t*w)).

    `rest` is 1 - t, which the caller may know to more digits. `work` is two blocks.
    """
    total, compensation, slope = 0.0, 0.0, 0.0
    for start in range(0, weights.size, BLOCK):
        part, part_counts = weights[start : start + BLOCK], counts[start : start + BLOCK]
        logs, slopes = work[:BLOCK], work[BLOCK:]
        fill_terms(part, part_counts, t, rest, logs, slopes)
        term = sum_halves(logs, part.size)
        slope += sum_halves(slopes, part.size)
        new_total = total + term  # Neumaier's sum: a million blocks lose no digit
        compensation += (total - new_total) + term if total >= term else (term - new_total) + total
        total = new_total
    return total + compensation, slope


@helper
def fill_terms(weights: Any, counts: Any, t: Any, rest: Any, logs: Any, slopes: Any) -> None:
    """logs = -count * ln(1 - t*w), slopes = count * w / (1 - t*w)."""
    wide_vectors()
    for i in range(weights.size):
        w = weights[i]
        y, factor = t * w, (1.0 - w) + w * rest
        close = abs(y) <= 0.25
        near, far = -log_rest(y if close else 0.0), -log_one(factor)
        logs[i] = counts[i] * (near if close else far)
        slopes[i] = counts[i] * (w / factor)


@kernel(NOTHING(IN_F64, IN_F64, IN_F64, OUT_F64))
def flip_integrals(weights: Any, products: Any, rests: Any, out: Any) -> None:
    """out[i] = the sum over nodes of products / (1 - t*w); `rests` are the nodes' 1 - t."""
    for start in range(0, weights.size, BLOCK):
        part, into = weights[start : start + BLOCK], out[start : start + BLOCK]
        clear(into)
        for n in range(products.size):
            add_node(part, products[n], rests[n], into)


@helper
def clear(out: Any) -> None:
    """out = 0."""
    wide_vectors()
    for i in range(out.size):
        out[i] = 0.0


@helper
def add_node(weights: Any, product: Any, rest: Any, out: Any) -> None:
    """out += product / ((1 - w) + w*rest)."""
    wide_vectors()
    for i in range(weights.size):
        out[i] += product / ((1.0 - weights[i]) + weights[i] * rest)
