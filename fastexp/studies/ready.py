"""Studies that come with fastexp; `dataclasses.replace` gives them other settings."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..mechanisms.candidates import Exponential, PermuteAndFlip
from ..mechanisms.numbers import Median
from ..mechanisms.price import Price
from ..mechanisms.smooth import SmoothSensitivityMedian
from ..types import Array
from .measures import loss, wrong
from .study import Study

EPSILONS = 0.5, 1.0, 2.0
# Average error and its standard deviation over data sets, times 100, for each epsilon.
PRINTED = {
    "SS, δ = 0": ((64.3, 17.4), (22.6, 10.8), (7.9, 5.3)),
    "SS, δ = 0.001": ((14.8, 2.5), (4.0, 0.8), (1.2, 0.3)),
    "SS, δ = 0.9": ((2.8, 1.0), (1.1, 0.7), (0.4, 0.2)),
    "Duff": ((0.6, 0.1), (0.3, 0.1), (0.2, 0.1)),
}
TENS = tuple(10 * i + 0.001 for i in range(1, 10))
FOUR_BIDS, SPREAD, LEAD, HIGHEST = (1, 1, 1, 3.01), 0.4, 10, 20


def table1() -> Study:
    """Return Table 1 of Muñoz Medina and Gillenwater 2020, with the printed figures.

    The paper does not state its settings: these reproduce its cells.
    """
    noisy = partial(SmoothSensitivityMedian, 1.0, bounds=(-10, 10))
    lower = Median(1.0, (-10, 10), neighbors="replace", convention="lower")
    return Study(
        {
            "SS, δ = 0": noisy(),
            "SS, δ = 0.001": noisy(delta=0.001, noise="laplace"),
            "SS, δ = 0.9": noisy(delta=0.9, noise="laplace"),
            "Duff": Median(1.0, (-10, 10)),
            "Duff, replace": lower,
        },
        {"normal": np.random.Generator.standard_normal},
        epsilon=EPSILONS,
        n=[1000],
        datasets=2000,
        printed={
            (label, epsilon): (mean / 100, deviation / 100)
            for label, figures in PRINTED.items()
            for epsilon, (mean, deviation) in zip(EPSILONS, figures, strict=True)
        },
    )


def prices() -> Study:
    """Return what the privacy of bids costs: of Example 3.5 of Dwork and Roth 2014, and others.

    Their scaling, that of textbooks, spends half of epsilon.
    """
    price = partial(Price, 1.0, (0, 3.5), step=0.001)
    return Study(
        {"price": price(), "textbook": price(scaling="textbook")},
        {"four bids": partial(same, FOUR_BIDS), "log-normal bids": lognormal},
        epsilon=[0.001, *TENS],
        n=[100],
        datasets=50,
        draws=200,
        measures={"loss": loss},
    )


def response() -> Study:
    """Return how often a private bit is false, by the utilities 0 and 1/4 of a tutorial.

    It takes a sensitivity of 1, where 1/2 would do, and the general factor 2. Randomised response
    is the exponential mechanism whose weights always have the same sum.
    """
    return Study(
        {
            "randomized response": Exponential(1.0, 0.25, monotonic=True),
            "exponential": Exponential(1.0, 0.5),
            "tutorial": Exponential(1.0, 1),
        },
        {"one bit": partial(same, (0, 0.25))},
        epsilon=[0.1, 1.0, 2.0, 5.0, *TENS],
        n=[2],
        datasets=1,
        draws=100_000,
        measures={"wrong": wrong},
    )


def selection() -> Study:
    """Return which mechanism selects best, by epsilon and the number of candidates."""
    return Study(
        {"exponential": Exponential(1.0, 1), "permute-and-flip": PermuteAndFlip(1.0, 1)},
        {"leader": leader, "scores": scores},
        epsilon=[0.2, 0.5, 1.0, 2.0, 5.0],
        n=[10, 100, 1000],
        datasets=20,
        draws=500,
        measures={"loss": loss, "wrong": wrong},
    )


def same(values: Any, _: np.random.Generator, shape: tuple[int, int]) -> Array:
    """The same numbers in each data set."""
    return np.tile(values, (shape[0], 1))


def lognormal(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Bids around 1."""
    return rng.lognormal(0.0, SPREAD, shape)


def leader(_: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Equal utilities, but for one candidate that leads."""
    return np.tile(np.where(np.arange(shape[1]), 0.0, LEAD), (shape[0], 1))


def scores(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Whole scores from 0 on."""
    return rng.integers(0, HIGHEST, shape, endpoint=True)
