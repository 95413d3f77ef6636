"""Positions of Laplace noise by inversion, where 64 random bits decide nearly every draw.

A value lies between two points. The points on the nearer one's side have positions 0, -1, -2, ...,
those on the other side 1, 2, ...; position -n or n + 1 has a weight proportional to 2**-(rate * n),
and those from 1 on a further factor w = 2**-gap. With z = 1 + w, V = word / 2**64 and its further
digits:

    y = V * z;  n = floor(-log2(y) / rate) at the near side, if y is below 1;
    y = (1 - V) * z;  n = floor((-log2(y) - gap) / rate) at the far side, else.

**Errors** of h, which is -log2(y), less gap at the far side, if the word, or its complement at the
far side, is at least 2**44; then y >= 2**-20. Relative to y: 2**-44 for the digits of V that are
not known, 2**-45.8 for `weight`, 2**-51 for roundings; together 2**-43.07 of h. `log2_one` and the
differences add less than 2**-46, as do the roundings of 1 / rate and of its product with h. So
x = h / rate errs by less than MARGIN / rate. It decides n unless an integer is as near: also 0, so
that a draw is never certain at a side where it does not belong, at which the true h is negative.
Some 2**-19 + 2**-41 / rate of all draws are left open.
"""

from __future__ import annotations

import numpy as np

from .bits import is_exact, log2_one, weight
from .envelope import NOT_EXACT
from .jit import helper, kernel, wide_vectors

MARGIN = 2.0**-42
MIN_WORD = np.uint64(1 << 44)  # smaller words have too few digits of V
OPEN = np.int64(1 << 62)  # added to a position that may be another one


@helper
def invert(words, rate, gap, out):
    """out[i] = the position of words[2 * i], plus OPEN if it is not certain; returns how many."""
    wide_vectors()
    z, few, share = 1.0 + weight(min(gap, 1000.0), 1.0), np.int64(0), 1.0 / rate
    margin = MARGIN * share
    for i in range(out.size):
        word = words[2 * i]
        is_far = np.float64(word) * z >= 2.0**64
        lead = ~word if is_far else word
        height = 64.0 - log2_one(max(np.float64(lead), 1.0) * z) - (gap if is_far else 0.0)
        x = max(height * share, 0.0)
        n = np.int64(x)
        part = x - np.float64(n)
        is_certain = (lead >= MIN_WORD) & (part >= margin) & (part <= 1.0 - margin)
        out[i] = (n + 1 if is_far else -n) + (np.int64(0) if is_certain else OPEN)
        few += 0 if is_certain else 1
    return few


@kernel("i64(in_u64, f64, f64, out_i64)")
def fill_positions(words, rate, gap, out):
    """`invert`, or a status below 0."""
    return invert(words, rate, gap, out) if is_exact(rate) else np.int64(NOT_EXACT)
