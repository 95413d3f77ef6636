"""Draws of centre + scale * noise, for mechanisms that only serve as comparison: inexact floats.

The draws of a row are cut into blocks of BLOCK draws; block b takes substream b of the row's
stream. Draw j of a block takes word j of one or two planes of BLOCK words, so that fewer draws are
a prefix of more and threads change nothing.

A word gives a sign and U = (62 or 63 bits + 1/2) / 2**63, in float64: tails end at 2**-63.
The noises, with E = -ln U and a point (x, y) of uniform angle on the unit circle:

* Laplace: +-E; Cauchy: x / y;
* Student's t, 3 degrees of freedom: x * sqrt(3 * (U**(-2/3) - 1)) (Bailey 1994, with an angle);
* Pareto tail: the inverse of its tail, U = P(|Z| > z), by a logarithm or a root;
* a normal pair: (x, y) * sqrt(2E) (Box and Muller 1958); from it sinh(sigma*N) / sigma, and
  exp(sigma*N) times Laplace noise or a uniform number of [-1, 1].
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
    as_words,
    helper,
    kernel,
    wide_vectors,
)
from ..bits.logexp import exp_one, log_one
from ..bits.words import fill_substream, philox
from .density import expm1_one, log1p_one

LAPLACE, CAUCHY, PARETO, STUDENT, ARSINH, LAPLACE_LOGNORMAL, UNIFORM_LOGNORMAL = range(7)
BLOCK = 1 << 10
WORK = 3 * BLOCK + 2  # words of two planes, normal numbers, a stream
HEADER = 3  # of seeds, before the names of the rows
BITS_63, BITS_61 = np.uint64(2**63 - 1), np.uint64(2**61 - 1)
SIGN_X, SIGN_Y, SWAP = np.uint64(2**63), np.uint64(2**62), np.uint64(2**61)
NONE = np.uint64(0)
UNIT_63, UNIT_61 = 2.0**-63, 2.0**-61
CORE = 3.0  # |z| at which a Laplace core has become a Pareto tail of index 2
CORE_TAIL = 0.04978706836786394  # exp(-3)
MASS = 1.0 + 0.5 * CORE_TAIL  # of the density exp(-|z|), ..., on a half-line
TAIL = 1.5 * CORE_TAIL / MASS  # P(|Z| > 3)


@helper
def uniform(word: Any) -> Any:
    """A uniform number in (0, 1] from 63 bits, fine near 0."""
    return (np.float64(np.int64(word & BITS_63)) + 0.5) * UNIT_63


@helper
def signed(word: Any, x: Any) -> Any:
    """x with the sign of the word's top bit."""
    return -x if word & SIGN_X != NONE else x


@helper
def turn(word: Any) -> Any:
    """A point of uniform angle on the unit circle; both coordinates fine near 0."""
    m = (np.float64(np.int64(word & BITS_61)) + 0.5) * UNIT_61
    z = m * m
    # sin and 1 - cos of m * pi/4, by Chebyshev interpolation of degree 6 in z: error 2**-57.
    s = 6.877360573166326e-12 * z - 1.7571500746983935e-09
    s = s * z + 3.133616225433416e-07
    s = s * z - 3.657620415891387e-05
    s = s * z + 0.002490394570188844
    s = s * z - 0.08074551218828054
    s = m * 0.7853981633974483 + m * (z * s)
    c = 3.863156948832656e-13 * z - 1.1500679700940496e-10
    c = c * z + 2.4611366238309744e-08
    c = c * z - 3.590860447448612e-06
    c = c * z + 0.0003259918869271996
    c = c * z - 0.015854344243815488
    c = 1.0 - z * (c * z + 0.30842513753404244)
    swap = word & SWAP != NONE
    x = s if swap else c
    y = c if swap else s
    return signed(word, x), -y if word & SIGN_Y != NONE else y


@helper
def pareto_one(word: Any) -> Any:
    """The |z| with P(|Z| > z) = U."""
    u = uniform(word)
    far = CORE * np.sqrt(TAIL / u)
    share = (1.0 - u) * MASS
    near = -log1p_one(-min(share, 1.0 - CORE_TAIL))
    return far if u < TAIL else near


@helper
def sinh_one(x: Any) -> Any:
    """sinh(x), with full relative precision."""
    grown = expm1_one(abs(x))
    size = 0.5 * (grown + grown / (1.0 + grown))
    return -size if x < 0.0 else size


@helper
def fill_normals(words: Any, out: Any) -> None:
    """out = normal numbers, two of each pair of words."""
    wide_vectors()
    for i in range(words.size // 2):
        x, y = turn(words[2 * i + 1])
        radius = np.sqrt(-2.0 * log_one(uniform(words[2 * i])))
        out[2 * i], out[2 * i + 1] = radius * x, radius * y


@helper
def fill_simple(kind: Any, words: Any, second_words: Any, out: Any) -> None:
    """out = noise that is a function of each draw's words."""
    wide_vectors()
    if kind == LAPLACE:
        for j in range(out.size):
            out[j] = signed(words[j], -log_one(uniform(words[j])))
    elif kind == CAUCHY:
        for j in range(out.size):
            x, y = turn(words[j])
            out[j] = x / y
    elif kind == PARETO:
        for j in range(out.size):
            out[j] = signed(words[j], pareto_one(words[j]))
    else:
        for j in range(out.size):  # three loops: the registers do not hold all at once
            out[j] = log_one(uniform(words[j])) * (-2.0 / 3.0)
        for j in range(out.size):
            out[j] = np.sqrt(3.0 * expm1_one(out[j]))
        for j in range(out.size):
            x, _ = turn(second_words[j])
            out[j] *= x


@helper
def fill_normal(kind: Any, sigma: Any, words: Any, normals: Any, out: Any) -> None:
    """out = noise made of normal numbers."""
    wide_vectors()
    if kind == ARSINH:
        for j in range(out.size):
            out[j] = sinh_one(sigma * normals[j]) / sigma
    elif kind == LAPLACE_LOGNORMAL:
        for j in range(out.size):
            size = -log_one(uniform(words[j]))
            out[j] = signed(words[j], size * exp_one(sigma * normals[j]))
    else:
        for j in range(out.size):
            out[j] = signed(words[j], uniform(words[j]) * exp_one(sigma * normals[j]))


@helper
def place_noise(centre: Any, scale: Any, low: Any, high: Any, out: Any) -> None:
    """out = centre + scale * out, clamped."""
    wide_vectors()
    for j in range(out.size):
        out[j] = min(max(centre + scale * out[j], low), high)


@kernel(NOTHING(I64, F64, F64, F64, IN_F64, IN_F64, IN_U64, I64, OUT_F64, OUT_F64))
def noise_rows(
    kind: Any, sigma: Any, lower: Any, upper: Any, centres: Any, scales: Any, seeds: Any,
    first: Any, out: Any, work: Any,
) -> None:  # fmt: skip
    """out = for each row its draws from block `first` on: centre + scale * noise, clamped.

    `work` has WORK numbers; `seeds` as in `select/rows.py`.
    """
    names = seeds[HEADER:]
    each = out.size // names.size
    stream = as_words(work[3 * BLOCK :])
    planes = as_words(work[: 2 * BLOCK])
    for r in range(names.size):
        stream[0], stream[1] = philox(names[r], seeds[2] ^ seeds[1], seeds[0])
        for begin in range(0, each, BLOCK):
            part = out[r * each + begin : r * each + min(begin + BLOCK, each)]
            even = part.size + part.size % 2
            block = np.uint64(first + begin // BLOCK)
            words, second_words = planes[:even], planes[BLOCK : BLOCK + even]
            normals = work[2 * BLOCK : 2 * BLOCK + even]
            fill_substream(stream, block, np.uint64(0), words)
            if kind == STUDENT or kind >= LAPLACE_LOGNORMAL:
                fill_substream(stream, block, np.uint64(BLOCK), second_words)
            if kind == ARSINH:
                fill_normals(words, normals)
            if kind >= LAPLACE_LOGNORMAL:
                fill_normals(second_words, normals)
            if kind >= ARSINH:
                fill_normal(kind, sigma, words, normals, part)
            else:
                fill_simple(kind, words, second_words, part)
            place_noise(centres[r], scales[r], lower, upper, part)
