"""Exponentials, logarithms, sums and searches of arrays, with the kernels' bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..kernels.bits.logexp import exp_fill, log_fill
from ..kernels.numbers.density import expm1_fill, log1p_fill, running_sums

CANDIDATES = 1 << 12  # of searches, at a time
quiet = np.errstate(all="ignore")  # a warning would depend on the data


Elementwise: TypeAlias = Callable[[AnyArray], FloatArray]


def _filled(kernel: Any, x: AnyArray) -> FloatArray:
    numbers = np.ascontiguousarray(x, np.float64)
    out = np.empty(numbers.size)
    kernel(numbers.reshape(-1), out)
    return out.reshape(numbers.shape)


exp: Elementwise = partial(_filled, exp_fill)  # 0 below -708
log: Elementwise = partial(_filled, log_fill)  # of numbers >= 0
expm1: Elementwise = partial(_filled, expm1_fill)
log1p: Elementwise = partial(_filled, log1p_fill)


def sums(x: AnyArray, *, back: bool = False) -> FloatArray:
    """Sums of x[:i], i = 0, ..., or with `back` of x[i:]; of numbers >= 0, each to about an ulp."""
    out = np.empty(x.size + 1)
    running_sums(np.ascontiguousarray(x), int(back), out)
    return out


def frozen(values: FloatArray) -> FloatArray:
    """The same array, read-only."""
    values.flags.writeable = False
    return values


def least(
    low: IntArray,
    high: IntArray,
    reached: Callable[[IntArray, IntArray], AnyArray],
    ways: int = 256,
) -> IntArray:
    """The least integers in [low, high] with `reached`, a monotone test that `high` passes.

    `reached` takes candidates and which of the searches they belong to. Few searches are cut
    into up to `ways` parts at a time: a call costs more than its candidates.
    """
    low, high = low.copy(), high.copy()
    ways = max(2, min(ways, CANDIDATES // max(low.size, 1)))
    cuts = np.arange(1, ways)
    rows = np.flatnonzero(low < high)
    while rows.size:
        gap = (high[rows] - low[rows])[:, None]
        middle: IntArray = low[rows, None] + gap // ways * cuts + gap % ways * cuts // ways
        yes = np.asarray(reached(middle.reshape(-1), np.repeat(rows, ways - 1)))
        no = (~yes.reshape(middle.shape)).sum(axis=1)  # the first ones
        every = np.arange(rows.size)
        high[rows] = np.where(no < ways - 1, middle[every, np.minimum(no, ways - 2)], high[rows])
        low[rows] = np.where(no > 0, middle[every, np.maximum(no - 1, 0)] + 1, low[rows])
        rows = rows[low[rows] < high[rows]]
    return high


def least_number(
    high: FloatArray, reached: Callable[[FloatArray, IntArray], AnyArray], ways: int = 256
) -> FloatArray:
    """The least doubles in [0, high] with `reached`: their bits sort as they do."""
    top = np.ascontiguousarray(high + 0.0).view(np.int64)  # -0 becomes 0
    bits = least(np.zeros_like(top), top, lambda n, i: reached(n.view(np.float64), i), ways)
    return bits.view(np.float64)


def cdf_of(below: FloatArray, above: FloatArray) -> FloatArray:
    """P(X <= x), rounded down, from P(X <= x) and P(X > x), each to its own digits.

    The greatest double p for which `reached(below, above, p)`.
    """
    up = 1.0 - above
    up = np.where(1.0 - up < above, np.nextafter(up, 0.0), up)
    return np.where(below < 0.5, below, np.where(above < 0.5, up, 0.5))


def reached(below: FloatArray, above: FloatArray, p: FloatArray) -> AnyArray:
    """Whether P(X <= x) >= p, decided by the smaller of the two tails."""
    return np.where(p <= 0.5, below >= p, (below >= 0.5) & (above <= 1.0 - p))
