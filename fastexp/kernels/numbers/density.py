"""Parts of the laws of numbers: exp and log near 0, and running sums that keep digits."""

from __future__ import annotations

from typing import Any

from ..._compiler.jit import F64, I64, IN_F64, NOTHING, OUT_F64, helper, kernel, wide_vectors
from ..bits.logexp import exp_one, log_one, log_rest

NEAR_EXP, NEAR_LOG = 0.35, 0.25


@helper
def expm1_one(x: Any) -> Any:
    """exp(x) - 1 with full relative precision; -1 below EXP_LOWEST."""
    near = abs(x) <= NEAR_EXP
    r = x if near else 0.0
    far = exp_one(x) - 1.0  # both are computed: a branch would stop vectorisation
    # Taylor's series: its remainder is below 2**-55 of the result.
    q = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0
    q = q * r + 1.0 / 39916800.0
    q = q * r + 1.0 / 3628800.0
    q = q * r + 1.0 / 362880.0
    q = q * r + 1.0 / 40320.0
    q = q * r + 1.0 / 5040.0
    q = q * r + 1.0 / 720.0
    q = q * r + 1.0 / 120.0
    q = q * r + 1.0 / 24.0
    q = q * r + 1.0 / 6.0
    q = q * r + 0.5
    return r + r * r * q if near else far


@helper
def log1p_one(x: Any) -> Any:
    """ln(1 + x) for x >= -1 with full relative precision; -infinity at -1."""
    near = abs(x) <= NEAR_LOG
    small = log_rest(-x if near else 0.0)
    large = log_one(1.0 + x)
    return small if near else large


@kernel(NOTHING(IN_F64, OUT_F64))
def expm1_fill(x: Any, out: Any) -> None:
    """out[i] = exp(x[i]) - 1."""
    wide_vectors()
    for i in range(x.size):
        out[i] = expm1_one(x[i])


@kernel(NOTHING(IN_F64, OUT_F64))
def log1p_fill(x: Any, out: Any) -> None:
    """out[i] = ln(1 + x[i])."""
    wide_vectors()
    for i in range(x.size):
        out[i] = log1p_one(x[i])


@helper
def add_two(total: Any, x: Any) -> Any:
    """(rounded total + x, its exact rounding error): Knuth's two-sum."""
    grown = total + x
    part = grown - total
    return grown, (total - (grown - part)) + (x - part)


@helper
def product(a: Any, b: Any) -> Any:
    """a * b, and 0 if a is 0, whatever b is: without mass it does not count."""
    return a * b if a > 0.0 else 0.0


@kernel(NOTHING(IN_F64, I64, OUT_F64))
def running_sums(x: Any, back: Any, out: Any) -> None:
    """out[i] = sum of x[:i], or of x[i:] with `back` = 1; of numbers >= 0, to about an ulp.

    The sums never decrease.
    """
    total, rounding_loss, largest = 0.0, 0.0, 0.0
    out[x.size * back] = 0.0
    for j in range(x.size):
        i = x.size - 1 - j if back else j
        total, error = add_two(total, x[i])
        rounding_loss += error
        largest = max(largest, total + rounding_loss)
        out[i + 1 - back] = largest


@kernel(NOTHING(IN_F64, IN_F64, IN_F64, IN_F64, F64, I64, OUT_F64))
def running_products(a: Any, b: Any, c: Any, d: Any, offset: Any, back: Any, out: Any) -> None:
    """`running_sums` of a*b + c*(d + offset)."""
    total, rounding_loss, largest = 0.0, 0.0, 0.0
    out[c.size * back] = 0.0
    for j in range(c.size):
        i = c.size - 1 - j if back else j
        total, error = add_two(total, product(a[i], b[i]) + product(c[i], d[i] + offset))
        rounding_loss += error
        largest = max(largest, total + rounding_loss)
        out[i + 1 - back] = largest


@kernel(F64(IN_F64, IN_F64))
def sum_products(a: Any, b: Any) -> Any:
    """The sum of a*b for weights a >= 0, to about an ulp of its greatest part."""
    total, rounding_loss = 0.0, 0.0
    for i in range(a.size):
        total, error = add_two(total, product(a[i], b[i]))
        rounding_loss += error
    return total + rounding_loss


@kernel(F64(IN_F64, IN_F64, F64, IN_F64))
def sum_squares(a: Any, b: Any, centre: Any, c: Any) -> Any:
    """The sum of a * ((b - centre)**2 + c) for weights a >= 0, to a few ulps."""
    total, rounding_loss = 0.0, 0.0
    for i in range(a.size):
        x = b[i] - centre
        total, error = add_two(total, product(a[i], x * x + c[i]))
        rounding_loss += error
    return total + rounding_loss
