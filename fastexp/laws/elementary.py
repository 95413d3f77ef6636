"""Exponentials, logarithms and sums of arrays, with the kernels' bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray
from ..kernels.bits.logexp import exp_fill, log_fill
from ..kernels.numbers.density import expm1_fill, log1p_fill, running_sums

quiet = np.errstate(all="ignore")  # a warning would depend on the data


def _filled(kernel: Any, x: AnyArray) -> FloatArray:
    numbers = np.ascontiguousarray(x, dtype=np.float64)
    out = np.empty(numbers.size)
    kernel(numbers.reshape(-1), out)
    return out.reshape(numbers.shape)


def exp(x: AnyArray) -> FloatArray:
    """exp(x), with the kernels' bits; 0 below -708."""
    return _filled(exp_fill, x)


def log(x: AnyArray) -> FloatArray:
    """ln(x) of numbers >= 0, with the kernels' bits."""
    return _filled(log_fill, x)


def expm1(x: AnyArray) -> FloatArray:
    """exp(x) - 1, with the kernels' bits."""
    return _filled(expm1_fill, x)


def log1p(x: AnyArray) -> FloatArray:
    """ln(1 + x), with the kernels' bits."""
    return _filled(log1p_fill, x)


def sums(x: AnyArray, *, back: bool = False) -> FloatArray:
    """Sums of x[:i], i = 0, ..., or with `back` of x[i:]; of numbers >= 0, each to about an ulp."""
    out = np.empty(x.size + 1)
    running_sums(np.ascontiguousarray(x), int(back), out)
    return out
