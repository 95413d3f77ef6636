"""What type checkers say of laws: a number for a number, an array for an array."""

from __future__ import annotations

from typing import Any, TypeAlias, assert_type

import numpy as np
import numpy.typing as npt

import fastexp as fx

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]


def of_losses(law: fx.FiniteLaw | fx.GridLaw, levels: Floats, step: np.int64) -> None:
    assert_type(law.loss_quantile(0.5), float)
    assert_type(law.loss_quantile(levels), Floats)
    assert_type(law.loss_cdf([1.0, 2.0]), Floats)
    assert_type(law.loss_tail(step), float)
    law.loss_tail(None)  # type: ignore[call-overload]


def of_numbers(law: fx.GridLaw | fx.ContinuousLaw | fx.NoiseLaw, x: Floats) -> None:
    assert_type(law.cdf(1), float)
    assert_type(law.cdf(x), Floats)
    assert_type(law.ppf(0.5), float)
    assert_type(law.expected_error([1, 2]), Floats)
    assert_type(law.error_quantile(0.95, 3.0), float)
    assert_type(law.error_quantile(0.95, [3.0]), Floats)
    assert_type(law.error_quantile([0.5, 0.95], 3.0), Floats)
    assert_type(law.sd(), float)


def of_one_kind(finite: fx.FiniteLaw, grid: fx.GridLaw, top: fx.TopKLaw) -> None:
    assert_type(finite.sample(), int)
    assert_type(finite.sample(10, rng=1), Integers)
    assert_type(finite.with_epsilon(2.0), fx.FiniteLaw)
    assert_type(grid.sample(10), npt.NDArray[Any])
    assert_type(grid.with_epsilon(2.0), fx.GridLaw)
    assert_type(grid.pmf([1, 2]), Floats)
    assert_type(top.sample(), Integers)
    assert_type(top.epsilon, float)
