"""What type checkers say of mechanisms: checked by mypy and pyright, run by nobody.

A line with ``type: ignore`` must be an error: the checkers report those that are not needed.
"""

from __future__ import annotations

from typing import Any, TypeAlias, assert_type

import numpy as np
import numpy.typing as npt

import fastexp as fx
from fastexp import FiniteLaw, GridLaw

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Numbers: TypeAlias = Integers | Floats

records = [1, 2, 3]
city = ["x", "y", "x"]


def names() -> None:
    assert_type(fx.__version__, str)
    assert_type(fx.privacy.total(fx.Laplace(1.0, 1, step=1).guarantee), fx.Guarantee)
    fx.nope  # type: ignore[attr-defined]  # noqa: B018


def numbers(median: fx.Median, rng: np.random.Generator) -> None:
    assert_type(median.release(records), int | float | Numbers)
    assert_type(median.release(records, by=city, groups=["x"]), Numbers)
    assert_type(
        median.release(records, by=city, groups="from-data", threads=2), tuple[list[Any], Numbers]
    )
    assert_type(median.sample(records, rng=rng), int | float | Numbers)
    assert_type(median.sample(records, 10, rng=1), Numbers)
    assert_type(median.sample(records, by=city, groups=["x"]), Numbers)
    assert_type(median.law(records), GridLaw)
    assert_type(median.guarantee.epsilon, float | None)
    assert_type(median.total(groups=True), fx.Guarantee)
    median.release(records, by=city)  # type: ignore[call-overload]
    median.release(records, nan="lowest")  # type: ignore[call-overload]
    median.release(records, rng=1)  # type: ignore[call-overload]
    median.epsilon = 2.0  # type: ignore[misc]


def parameters() -> None:
    fx.Median(1.0, (0, 1), grid=[0.0, 0.5, 1.0], convention="lower", widen=0.1)
    fx.Median(1.0, (0, 1), convention="middle")  # type: ignore[arg-type]
    fx.Price(1.0, (0, 1), scaling="loose")  # type: ignore[arg-type]
    fx.Exponential(1.0, 1.0, candidates=range(3), base=np.ones(3))
    fx.Quantile(0.5, 1.0, (0, 1), neighbors="swap")  # type: ignore[arg-type]
    fx.Maximum(1.0, (0, 1), neighbors="replace")  # type: ignore[call-arg]
    fx.TopK(2, rho=0.1, sensitivity=1.0)
    fx.JointTopK(2, 1.0, candidates=["a", "b"], neighbors="replace")


def selections(exponential: fx.Exponential, common: fx.MostCommon, top: fx.TopK) -> None:
    assert_type(exponential.sample([1.0, 2.0]), int | Integers)
    assert_type(exponential.sample([1.0, 2.0], 5), Integers)
    assert_type(exponential.law([1.0, 2.0]), FiniteLaw)
    assert_type(exponential.candidates, tuple[Any, ...] | None)
    assert_type(common.sample(["a"], 5), Integers)
    assert_type(common.sample(["a"], by=["x"], groups=["x"]), Integers)
    assert_type(common.release(["a"], by=["x"], groups=["x"]), list[Any])
    assert_type(common.release(["a"], by=["x"], groups="from-data"), tuple[list[Any], list[Any]])
    assert_type(top.sample([1.0, 2.0, 3.0]), Integers)
    assert_type(top.sample([1.0, 2.0, 3.0], labels=True), list[Any])
    exponential.sample([1.0], labels="yes")  # type: ignore[call-overload]
    exponential.sample([1.0], method="flips")  # type: ignore[call-overload]
    common.release(["a"], person=["x"], max_rows="two")  # type: ignore[call-overload]


def noise(laplace: fx.Laplace, rival: fx.LaplaceMedian, bits: fx.RandomizedResponse) -> None:
    assert_type(laplace.release(3), int | float)
    assert_type(laplace.sample(3), int | float)
    assert_type(laplace.sample(3, 5), Numbers)
    assert_type(rival.sample(records), float | Floats)
    assert_type(rival.sample(records, 5), Floats)
    assert_type(bits.release([0, 1]), int | Integers)
    assert_type(bits.sample([0, 1], 5), Integers)
    laplace.release("3")  # type: ignore[arg-type]


def comparator(rival: fx.LaplaceMedian) -> None:
    rival.release(records)
    assert_type(records, list[int])  # type: ignore[unreachable]
