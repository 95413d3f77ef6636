"""exp and log with the same bits on every CPU: no libm, no contraction, no tables.

Only +, -, *, / and integer operations, each rounded once by IEEE 754, so that a vector
unit of any width gives what scalar code gives. The polynomials are minimax fits (Remez,
60 digits) with relative errors below 2**-57; the rest is rounding error, which tests hold
within 2 ulp.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    IN_F64,
    NOTHING,
    OUT_F64,
    bits_float,
    float_bits,
    helper,
    kernel,
    wide_vectors,
)

LOG2E = 1.4426950408889634
# ln 2 in two parts; the first has 40 bits, so that n * LN2_HI is exact for |n| < 2**12.
LN2_HI = 0.6931471805592082
LN2_LO = 7.371002565167799e-13
LN2 = 0.6931471805599453
# Adding this rounds to an integer and leaves that integer in the low bits of the sum.
ROUND = 6755399441055744.0  # 1.5 * 2**52
ROUND_BITS = np.uint64(0x4338000000000000)
# Below EXP_LOWEST the result is 0: a subnormal costs up to a hundred times more.
EXP_LOWEST, EXP_HIGHEST = -708.0, 709.0
SMALLEST_NORMAL = 2.2250738585072014e-308
TWO_54 = 18014398509481984.0
MANTISSA_BITS = np.uint64(52)
MANTISSA = np.uint64(0x000FFFFFFFFFFFFF)
SQRT_HALF = np.uint64(0x3FE6A09E667F3BCD)
ONE = np.uint64(0x3FF0000000000000)
INFINITY = np.inf


@helper
def exp_scaled(x: Any, shift: Any) -> Any:
    """Return exp(x) * 2**shift (a uint64), if neither this nor exp(x) is subnormal or overflows."""
    rounded = x * LOG2E + ROUND
    n = rounded - ROUND
    r = (x - n * LN2_HI) - n * LN2_LO
    q = 2.5000072007114212e-08 * r + 2.7630234338584287e-07
    q = q * r + 2.755758626945124e-06
    q = q * r + 2.4801493135101695e-05
    q = q * r + 0.00019841269506773904
    q = q * r + 0.0013888888943598646
    q = q * r + 0.008333333333494336
    q = q * r + 0.04166666666653026
    q = q * r + 0.16666666666666413
    q = q * r + 0.5000000000000011
    p = 1.0 + (r + r * r * q)
    exponent = float_bits(rounded) - ROUND_BITS + shift
    return bits_float(float_bits(p) + (exponent << MANTISSA_BITS))


@helper
def exp_one(x: Any) -> Any:
    """exp(x): 0 below EXP_LOWEST, infinity above EXP_HIGHEST, NaN for NaN."""
    inside = min(max(x, EXP_LOWEST), EXP_HIGHEST)
    y = exp_scaled(inside, np.uint64(0))
    y = y if x >= EXP_LOWEST else 0.0
    y = y if x <= EXP_HIGHEST else INFINITY
    return y if x == x else x


@helper
def log_one(x: Any) -> Any:
    """log(x) for finite x >= 0; -infinity at 0."""
    small = x < SMALLEST_NORMAL
    bits = float_bits(x * TWO_54 if small else x)
    # n such that x / 2**n lies in [sqrt(1/2), sqrt(2)); the shifted subtraction keeps the
    # exponent's arithmetic in unsigned integers that are never negative.
    above = bits - SQRT_HALF + (np.uint64(2048) << MANTISSA_BITS)
    n = np.float64(np.int64(above >> MANTISSA_BITS)) - (2102.0 if small else 2048.0)
    m = bits_float((above & MANTISSA) + SQRT_HALF)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    q = 0.1479595130458871 * z + 0.153140503922286
    q = q * z + 0.1818356433241593
    q = q * z + 0.22222198573060647
    q = q * z + 0.2857142874238889
    q = q * z + 0.3999999999941467
    q = q * z + 0.6666666666666734
    # log m = f - f**2/2 + s*(f**2/2 + R): adding the large parts last keeps their digits.
    half = 0.5 * f * f
    y = n * LN2_HI - ((half - (s * (half + z * q) + n * LN2_LO)) - f)
    return y if x > 0.0 else -INFINITY


@helper
def log_rest(u: Any) -> Any:
    """ln(1 - u) for |u| <= 1/4, with full relative precision: -2 artanh(u / (2 - u))."""
    s = u / (2.0 - u)
    z = s * s
    q = 0.1479595130458871 * z + 0.153140503922286
    q = q * z + 0.1818356433241593
    q = q * z + 0.22222198573060647
    q = q * z + 0.2857142874238889
    q = q * z + 0.3999999999941467
    q = q * z + 0.6666666666666734
    half = 0.5 * u * u
    return -(u + (half + s * (half + z * q)))


@kernel(NOTHING(IN_F64, OUT_F64))
def exp_fill(x: Any, out: Any) -> None:
    """out[i] = exp(x[i]), within 2 ulp; 0 below EXP_LOWEST."""
    wide_vectors()
    for i in range(x.size):
        out[i] = exp_one(x[i])


@kernel(NOTHING(IN_F64, OUT_F64))
def log_fill(x: Any, out: Any) -> None:
    """out[i] = log(x[i]), within 2 ulp, for finite x >= 0."""
    wide_vectors()
    for i in range(x.size):
        out[i] = log_one(x[i])
