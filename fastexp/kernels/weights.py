"""The sum of all weights, and probabilities, in doubles, within a relative 2e-14."""

from __future__ import annotations

import numpy as np

from .bits import height, parts, weight, word_of
from .envelope import survey
from .jit import BLOCK, helper, kernel, stack, wide_vectors

LOWEST = 1000.0  # weights below 2**-1000 count as that


@helper
def add_weights(values, kind, base, rate, best, lift, factor, out):
    """out[i] += factor * 2**lift * weight of candidate i."""
    wide_vectors()
    if base.size == 0:
        for i in range(values.size):
            out[i] += weight(min(height(values[i], kind, best, rate), LOWEST), factor)
    for i in range(base.size):
        exponent, mantissa = parts(base[i])
        h = height(values[i], kind, best, rate) - exponent - lift
        out[i] += weight(min(h, LOWEST), factor * mantissa) if base[i] > 0.0 else 0.0


@kernel("f64(in_u64, i64, in_f64, f64, out_i64)")
def sum_weights(values, kind, base, rate, work):
    """The sum of base * 2**(lift - height), at least 1/2; NaN if not finite; work = best, lift, ...

    The logarithm of the sum of all base * exp(c * u) is c * best - ln(2) * lift + log(it). The
    places of blocks are added in order, then by halves: errors grow with the logarithm of the size.
    """
    best, lift, finite = survey(values, kind, base, rate, work[2 : 3 + values.size // BLOCK])
    work[0], work[1] = np.int64(best), np.int64(word_of(lift))
    sums, width = stack().view(np.float64), BLOCK
    for i in range(BLOCK):
        sums[i] = 0.0
    for at in range(0, values.size, BLOCK):
        part, part_base = values[at : at + BLOCK], base[at : at + BLOCK]
        add_weights(part, kind, part_base, rate, best, lift, 1.0, sums)
    while width > 1:
        width //= 2
        for i in range(width):
            sums[i] += sums[width + i]
    return sums[0] if finite else np.nan


@kernel("none(in_u64, i64, in_f64, f64, in_i64, f64, out_f64)")
def fill_probabilities(values, kind, base, rate, best, total, out):
    """out += the probabilities of all candidates; best: the first words of `sum_weights`."""
    lift = best[1:].view(np.float64)[0]
    add_weights(values, kind, base, rate, np.uint64(best[0]), lift, 1.0 / total, out)
