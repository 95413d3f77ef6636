"""Named generators of data sets, with their parameters.

A source makes a matrix, a data set a row, from a generator of NumPy's; it knows no mechanism.
Its parameters are public settings of the study.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from ..._parameters.digits import of_table
from ..._typing import AnyArray, FloatArray
from ...errors import ParameterError

Random: TypeAlias = np.random.Generator
Spec: TypeAlias = dict[str, Any]  # a name with parameters, as JSON has it
RECORDS, UTILITIES = "records", "utilities"
WIDEST = 1e150  # of a parameter: squares of data are then finite
LIMITS = {  # of parameters; without a line here they have WIDEST
    **dict.fromkeys(("sd", "sigma", "median", "lead"), (1 / WIDEST, WIDEST)),
    **dict.fromkeys(("exponent", "heaping"), (0, 100)),
    **dict.fromkeys(("votes", "most"), (1, 10**15)),
    "values": (1, 10**8),
    "share": (0, 1),
}


@dataclass(frozen=True)
class Source:
    """One generator: how it draws, what a row is, whether records are integers."""

    make: Callable[..., AnyArray]  # of a generator, rows and n; by name the parameters
    about: str
    rows: str = RECORDS
    whole: bool = False
    fixed: bool = False  # every data set is the same

    @cached_property
    def defaults(self) -> Spec:
        """Its parameters; None: it must be given."""
        parameters = list(signature(self.make).parameters.values())[3:]
        return {p.name: None if p.default is p.empty else p.default for p in parameters}

    @property
    def given(self) -> bool:
        """Whether its one parameter is a list of numbers."""
        return self.defaults == {"values": None}


def _normal(random: Random, rows: int, n: int, mean: float = 0.0, sd: float = 1.0) -> AnyArray:
    records = random.standard_normal((rows, n))
    if sd != 1.0:
        records *= sd
    if mean != 0.0:
        records += mean
    return records


def _lognormal(
    random: Random, rows: int, n: int, median: float = 1.0, sigma: float = 1.0
) -> AnyArray:
    return random.lognormal(math.log(median), sigma, (rows, n))


def _uniform(random: Random, rows: int, n: int, low: float = 0.0, high: float = 1.0) -> AnyArray:
    return random.uniform(low, high, (rows, n))


def _bimodal(
    random: Random,
    rows: int,
    n: int,
    low: float = -2.0,
    high: float = 2.0,
    sd: float = 0.5,
    share: float = 0.5,
) -> AnyArray:
    centres = np.where(random.random((rows, n)) < share, low, high)
    return np.asarray(centres + sd * random.standard_normal((rows, n)))


def _zipf(random: Random, rows: int, n: int, values: int = 1000, exponent: float = 1.1) -> AnyArray:
    weights = np.arange(1.0, values + 1) ** -float(exponent)
    return 1 + _weighted(random, rows, n, weights)


def _weighted(random: Random, rows: int, n: int, weights: FloatArray) -> AnyArray:
    """Places from 0, each as often as its weight says."""
    totals = np.cumsum(weights)
    places = np.searchsorted(totals, random.random((rows, n)) * totals[-1], "right")
    return np.asarray(np.minimum(places, weights.size - 1), dtype=np.int64)


# Shares of a population by age, in steps of ten years from 0: about those of a country in
# Europe. Within a step ages are equally likely; every tenth age is given twice as often, as
# people do round their ages.
SHARES = (0.10, 0.10, 0.12, 0.13, 0.13, 0.14, 0.12, 0.10, 0.05, 0.01)


def _ages(random: Random, rows: int, n: int, heaping: float = 1.0) -> AnyArray:
    weights = np.repeat(np.array(SHARES) / 10, 10)
    weights[::10] *= 1.0 + heaping
    return _weighted(random, rows, n, weights)


# How many persons of the Adult data are so old, from 17 years on; the last are 90 or more. An
# extract of the census of the United States of 1994 (Becker and Kohavi, UCI Machine Learning
# Repository, 1996; CC BY 4.0).
ADULTS = """
    395 550 712 753 720 765 877 798 841 785 835 867 813 861 888 828 875 886 876 898 858 827 816
    794 808 780 770 724 734 737 708 543 577 602 595 478 464 415 419 366 358 366 355 312 300 258
    230 208 178 150 151 120 108 89 72 67 64 51 45 46 29 23 22 22 20 12 6 10 3 1 1 3 0 43
"""


def _adult_ages(random: Random, rows: int, n: int) -> AnyArray:
    totals = np.cumsum([int(count) for count in ADULTS.split()])
    return 17 + np.searchsorted(totals, random.integers(0, totals[-1], (rows, n)), "right")


def _adversarial(
    random: Random, rows: int, n: int, low: float = 0.0, high: float = 1.0
) -> AnyArray:
    row = np.array([low, high])[(np.arange(n) > n // 2).astype(np.int64)]
    return np.repeat(row[None, :], rows, axis=0)


def _values(random: Random, rows: int, n: int, values: list[float]) -> AnyArray:
    return np.repeat(np.asarray(values)[None, :], rows, axis=0)


def _sample(random: Random, rows: int, n: int, values: list[float]) -> AnyArray:
    return np.asarray(values)[random.integers(0, len(values), (rows, n))]


def _leader(random: Random, rows: int, n: int, lead: float = 10.0) -> AnyArray:
    utilities = np.zeros((rows, n))
    utilities[np.arange(rows), random.integers(0, n, rows)] = lead
    return utilities


def _scores(random: Random, rows: int, n: int, most: int = 20) -> AnyArray:
    return random.integers(0, most + 1, (rows, n)).astype(np.float64)


def _votes(random: Random, rows: int, n: int, votes: int = 1000, exponent: float = 1.0) -> AnyArray:
    weights = np.arange(1, n + 1) ** -float(exponent)
    return random.multinomial(votes, weights / weights.sum(), rows).astype(np.float64)


SOURCES: dict[str, Source] = {
    "normal": Source(_normal, "normal numbers"),
    "lognormal": Source(_lognormal, "skewed to the right: incomes"),
    "uniform": Source(_uniform, "uniform numbers"),
    "bimodal": Source(_bimodal, "two normal groups: the median lies where records are few"),
    "zipf": Source(_zipf, "integers, small ones often", whole=True),
    "ages": Source(_ages, "ages of a census, with ties and heaps", whole=True),
    "adult-ages": Source(
        _adult_ages, "drawn from the ages of 32,561 adults in a census", whole=True
    ),
    "adversarial": Source(
        _adversarial, "one record more than half at `low`, the others at `high`", fixed=True
    ),
    "values": Source(_values, "the given records, in every data set", fixed=True),
    "sample": Source(_sample, "drawn from the given records with replacement"),
    "utilities": Source(_values, "the given utilities, in every data set", UTILITIES, fixed=True),
    "leader": Source(_leader, "utilities: one candidate leads, others tie", UTILITIES),
    "scores": Source(_scores, "utilities: uniform integers up to `most`", UTILITIES, whole=True),
    "votes": Source(_votes, "utilities: counts of votes, Zipf's law", UTILITIES, whole=True),
}


def check_parameters(names: Iterable[str], known: Collection[str]) -> None:
    """Refuse parameters that a generator or a mechanism does not have."""
    unknown = sorted(set(names) - set(known))
    if unknown:
        listing = ", ".join(known) or "none"
        raise ParameterError(f"unknown parameters {', '.join(unknown)}; there are: {listing}")


def check_values(table: Spec) -> None:
    """Refuse parameters that a file could not hold."""
    for key, value in table.items():
        if key == "grid" and isinstance(value, dict):
            of_table(value)
            continue
        each = value if isinstance(value, list) else [value]
        if not all(isinstance(one, (str, bool)) or is_finite(one) for one in each):
            raise ParameterError(f"{key} must be a number, a word, true or false, or a list")


def check(name: str, p: Spec) -> Spec:
    """The parameters of a generator with its defaults, each checked."""
    source = SOURCES[name]
    check_parameters(p, source.defaults)
    full = {**source.defaults, **p}
    if source.given:
        full["values"] = _numbers(full["values"])
        return full
    for key, value in full.items():
        least, most = LIMITS.get(key, (-WIDEST, WIDEST))
        if not is_finite(value) or not least <= value <= most:
            raise ParameterError(f"{key} must be between {least:g} and {most:g}, got {value!r}")
        if isinstance(source.defaults[key], int) and value != int(value):
            raise ParameterError(f"{key} must be an integer, got {value!r}")
    if name in ("uniform", "bimodal") and not full["low"] < full["high"]:
        raise ParameterError("low must be less than high")
    return full


def _numbers(values: object) -> list[float | int]:
    """A list of finite numbers, as it will be written down."""
    numbers = values.tolist() if isinstance(values, np.ndarray) else values
    if not isinstance(numbers, (list, tuple)) or not numbers or not all(map(is_finite, numbers)):
        raise ParameterError("values must be a list of finite numbers, at least one")
    if not all(abs(value) <= 2**53 for value in numbers if isinstance(value, int)):
        raise ParameterError("values must be numbers that float64 holds exactly")
    return list(numbers)


def is_finite(value: object) -> TypeGuard[float]:
    """Whether this is one finite number."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max
