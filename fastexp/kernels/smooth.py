"""Windows of ranks for smooth sensitivities, and noise: for comparators, in doubles."""

from __future__ import annotations

import numpy as np

from .bits import LN2, ONE, ZERO, bit_length, log2_one, weight
from .jit import helper, kernel, wide_vectors

LOWEST = 1000.0  # heights from which on a power counts as 0
TURN = 0.09817477042468103  # pi / 32
TAN = (  # of the Taylor series of tan(x) / x: the next term is below 2**-56 for x up to TURN
    21844 / 6081075, 1382 / 155925, 62 / 2835, 17 / 315, 2 / 15, 1 / 3, 1.0,
)  # fmt: skip


@kernel("none(f64, out_f64)")
def fill_powers(rate, out):
    """out[i] = 2**-(rate * i), within a relative 2e-13."""
    for i in range(out.size):
        h = rate * np.float64(i)
        out[i] = weight(h, 1.0) if h < LOWEST else 0.0


@helper
def at(row, rank, low, high):
    """The record of a rank, from 1, clamped; beyond the ranks the limit of that side."""
    if rank < 1 or rank > row.size:
        return low if rank < 1 else high
    return min(max(row[rank - 1], low), high)


@helper
def greatest_window(left, right, weights, best):
    """The greatest (left[p] + right[q]) * weights[p + q - 1].

    As weights fall and `left` grows, the best q falls as p grows (Nissim, Raskhodnikova and Smith
    2007): between two known p it lies between theirs. best: two words more than `left`.
    """
    most, size, step = 0.0, left.size, np.int64(1) << bit_length(left.size)
    best[0], best[size + 1] = right.size - 1, 0
    while step > 0:
        for i in range(step, size + 1, 2 * step):
            p, top, at = i - 1, -1.0, np.int64(0)
            for q in range(best[min(i + step, size + 1)], best[i - step] + 1):
                value = (left[p] + right[q]) * weights[max(p + q - 1, 0)]
                if value > top:
                    top, at = value, q
            best[i], most = at, max(most, top)
        step //= 2
    return most


@kernel("none(in_f64, i64, f64, f64, in_f64, out_i64, out_f64, out_f64)")
def fill_windows(rows, n, low, high, weights, best, work, out):
    """out = the greatest weighted window of ranks around the lower median, of each sorted row.

    Windows of p ranks below it and q ranks above cost p + q - 1. Those of one side or of as many
    ranks on both are tried first, until no cost that is left can be the greatest one. best, work:
    n + 4, 2 * n + 4 words.
    """
    middle, left, right = (n + 1) // 2, work[: n + 2], work[n + 2 :]
    left[0] = right[0] = 0.0
    for d in range(out.size):
        row, most, most_left, most_right, k = rows[d * n : (d + 1) * n], 0.0, 0.0, 0.0, np.int64(0)
        centre = at(row, middle, low, high)
        while k <= n and (high - low) * weights[k] > most:
            k += 1
            left[k] = centre - at(row, middle - k, low, high)
            right[k] = at(row, middle + k, low, high) - centre
            most = max(most, max(left[k], right[k]) * weights[k - 1])
            if 2 * k <= n + 2:
                most = max(most, (left[k] + right[k]) * weights[2 * k - 1])
            most_left = max(most_left, left[k] * weights[k])
            most_right = max(most_right, right[k] * weights[k])
        p, q = min(k, middle), min(k, n + 1 - middle)
        # weights[p + q - 1] = weights[p - 1] * weights[q], so the other side adds at most `most_`.
        while p > 0 and weights[p - 1] * (left[p] * weights[1] + most_right) <= most:
            p -= 1
        while q > 0 and weights[q - 1] * (right[q] * weights[1] + most_left) <= most:
            q -= 1
        out[d] = max(most, greatest_window(left[: p + 1], right[: q + 1], weights, best))


@helper
def cauchy(u, is_far):
    """The size of Cauchy noise, from a uniform u in (0, 1): tan(pi / 4 * u) or its reciprocal."""
    x = u * TURN
    z, t = x * x, 0.0
    for c in TAN:
        t = t * z + c
    t *= x
    for _ in range(3):
        t = 2.0 * t / (1.0 - t * t)  # of the double angle
    return 1.0 / t if is_far else t


@kernel("none(in_u64, i64, out_f64)")
def fill_noise(words, is_cauchy, out):
    """out = Laplace noise or Cauchy noise of scale 1, each from two words."""
    wide_vectors()
    for i in range(out.size):
        u = (np.float64(np.int64(words[2 * i] >> ONE)) + 0.5) * 2.0**-63
        coins = words[2 * i + 1]
        size = cauchy(u, coins >> ONE & ONE != ZERO) if is_cauchy else -log2_one(u) * LN2
        out[i] = -size if coins & ONE else size
