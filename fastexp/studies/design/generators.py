"""Named generators of data sets, with their parameters.

A source makes a matrix, a data set a row, from a generator of NumPy's; it knows no mechanism.
Its parameters are public settings of the study.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from ..._typing import AnyArray
from ...errors import ParameterError

Random: TypeAlias = np.random.Generator
Spec: TypeAlias = dict[str, Any]  # a name with parameters, as JSON has it
Make = Callable[[Random, int, int, Spec], AnyArray]
RECORDS, UTILITIES = "records", "utilities"
WIDEST = 1e150  # of a parameter: squares of data are then finite


@dataclass(frozen=True)
class Source:
    """One generator: its defaults, how it draws, what a row is, whether records are integers."""

    make: Make
    defaults: Spec
    about: str
    rows: str = RECORDS
    whole: bool = False
    fixed: bool = False  # every data set is the same

    @property
    def given(self) -> bool:
        """Whether its one parameter is a list of numbers."""
        return self.defaults == {"values": None}


def _normal(random: Random, rows: int, n: int, p: Spec) -> AnyArray:
    records = random.standard_normal((rows, n))
    if p["sd"] != 1.0:
        records *= p["sd"]
    if p["mean"] != 0.0:
        records += p["mean"]
    return records


def _bimodal(random: Random, rows: int, n: int, p: Spec) -> AnyArray:
    centres = np.where(random.random((rows, n)) < p["share"], p["low"], p["high"])
    return np.asarray(centres + p["sd"] * random.standard_normal((rows, n)))


def _zipf(random: Random, rows: int, n: int, p: Spec) -> AnyArray:
    weights = np.arange(1, p["values"] + 1) ** -float(p["exponent"])
    totals = np.cumsum(weights)
    places = np.searchsorted(totals, random.random((rows, n)) * totals[-1], "right")
    return np.asarray(np.minimum(places, p["values"] - 1) + 1, dtype=np.int64)


# Shares of a population by age, in steps of ten years from 0: about those of a country in
# Europe. Within a step ages are equally likely; every tenth age is given twice as often, as
# people do round their ages.
SHARES = (0.10, 0.10, 0.12, 0.13, 0.13, 0.14, 0.12, 0.10, 0.05, 0.01)


def _ages(random: Random, rows: int, n: int, p: Spec) -> AnyArray:
    weights = np.repeat(np.array(SHARES) / 10, 10)
    weights[::10] *= 1.0 + p["heaping"]
    totals = np.cumsum(weights)
    places = np.searchsorted(totals, random.random((rows, n)) * totals[-1], "right")
    return np.asarray(np.minimum(places, 99), dtype=np.int64)


# How many persons of the Adult data are so old, from 17 years on; the last are 90 or more. An
# extract of the census of the United States of 1994 (Becker and Kohavi, UCI Machine Learning
# Repository, 1996; CC BY 4.0).
ADULTS = """
    395 550 712 753 720 765 877 798 841 785 835 867 813 861 888 828 875 886 876 898 858 827 816
    794 808 780 770 724 734 737 708 543 577 602 595 478 464 415 419 366 358 366 355 312 300 258
    230 208 178 150 151 120 108 89 72 67 64 51 45 46 29 23 22 22 20 12 6 10 3 1 1 3 0 43
"""


def _adult_ages(random: Random, rows: int, n: int, p: Spec) -> AnyArray:
    totals = np.cumsum([int(count) for count in ADULTS.split()])
    return 17 + np.searchsorted(totals, random.integers(0, totals[-1], (rows, n)), "right")


def _adversarial(random: Random, rows: int, n: int, p: Spec) -> AnyArray:
    row = np.array([p["low"], p["high"]])[(np.arange(n) > n // 2).astype(np.int64)]
    return np.repeat(row[None, :], rows, axis=0)


def _values(random: Random, rows: int, n: int, p: Spec) -> AnyArray:
    return np.repeat(np.asarray(p["values"])[None, :], rows, axis=0)


def _sample(random: Random, rows: int, n: int, p: Spec) -> AnyArray:
    records = np.asarray(p["values"])
    return records[random.integers(0, records.size, (rows, n))]


def _leader(random: Random, rows: int, n: int, p: Spec) -> AnyArray:
    utilities = np.zeros((rows, n))
    utilities[np.arange(rows), random.integers(0, n, rows)] = p["lead"]
    return utilities


def _shares(random: Random, rows: int, n: int, p: Spec) -> AnyArray:
    weights = np.arange(1, n + 1) ** -float(p["exponent"])
    drawn = random.multinomial(p["votes"], weights / weights.sum(), rows)
    return np.asarray(drawn, dtype=np.float64)


SOURCES: dict[str, Source] = {
    "normal": Source(_normal, {"mean": 0.0, "sd": 1.0}, "normal numbers"),
    "lognormal": Source(
        lambda random, rows, n, p: random.lognormal(math.log(p["median"]), p["sigma"], (rows, n)),
        {"median": 1.0, "sigma": 1.0},
        "skewed to the right: incomes",
    ),
    "uniform": Source(
        lambda random, rows, n, p: random.uniform(p["low"], p["high"], (rows, n)),
        {"low": 0.0, "high": 1.0},
        "uniform numbers",
    ),
    "bimodal": Source(
        _bimodal,
        {"low": -2.0, "high": 2.0, "sd": 0.5, "share": 0.5},
        "two normal groups: the median lies where records are few",
    ),
    "zipf": Source(
        _zipf, {"values": 1000, "exponent": 1.1}, "integers, small ones often", whole=True
    ),
    "ages": Source(_ages, {"heaping": 1.0}, "ages of a census, with ties and heaps", whole=True),
    "adult-ages": Source(
        _adult_ages, {}, "drawn from the ages of 32,561 adults in a census", whole=True
    ),
    "adversarial": Source(
        _adversarial,
        {"low": 0.0, "high": 1.0},
        "one record more than half at `low`, the others at `high`",
        fixed=True,
    ),
    "values": Source(_values, {"values": None}, "the given records, in every data set", fixed=True),
    "sample": Source(_sample, {"values": None}, "drawn from the given records with replacement"),
    "utilities": Source(
        _values, {"values": None}, "the given utilities, in every data set", UTILITIES, fixed=True
    ),
    "leader": Source(
        _leader, {"lead": 10.0}, "utilities: one candidate leads, others tie", UTILITIES
    ),
    "scores": Source(
        lambda random, rows, n, p: random.integers(0, p["most"] + 1, (rows, n)).astype(np.float64),
        {"most": 20},
        "utilities: uniform integers up to `most`",
        UTILITIES,
        whole=True,
    ),
    "votes": Source(
        _shares,
        {"votes": 1000, "exponent": 1.0},
        "utilities: counts of votes, Zipf's law",
        UTILITIES,
        whole=True,
    ),
}


def check_parameters(names: Iterable[str], known: Collection[str]) -> None:
    """Refuse parameters that a generator or a mechanism does not have."""
    unknown = sorted(set(names) - set(known))
    if unknown:
        listing = ", ".join(known) or "none"
        raise ParameterError(f"unknown parameters {', '.join(unknown)}; there are: {listing}")


def check(name: str, p: Spec) -> Spec:
    """The parameters of a generator with its defaults, each checked."""
    source = SOURCES[name]
    check_parameters(p, source.defaults)
    full = {**source.defaults, **p}
    if source.given:
        full["values"] = _numbers(full["values"])
        return full
    for key, value in full.items():
        if not is_finite(value):
            raise ParameterError(f"{key} must be a finite number, got {value!r}")
    for key, value in full.items():
        _in_range(key, value)
    if name in ("uniform", "bimodal") and not full["low"] < full["high"]:
        raise ParameterError("low must be less than high")
    return full


WHOLE: dict[str, float] = {
    "values": 10**8,
    "votes": 10**15,
    "most": 10**15,
}  # integers, and the most they may be
POSITIVE = ("sd", "sigma", "median", "lead", *WHOLE)
LIMITED: dict[str, float] = {"exponent": 100, "heaping": 100, "share": 1}


def _in_range(key: str, value: float) -> None:
    """Refuse what a generator cannot draw with."""
    if key in POSITIVE and value <= 0:
        raise ParameterError(f"{key} must be > 0, got {value!r}")
    if key in WHOLE and value != int(value):
        raise ParameterError(f"{key} must be an integer, got {value!r}")
    most = {**WHOLE, **LIMITED}.get(key, WIDEST)
    least = 0.0 if key in LIMITED else -WIDEST
    if not least <= value <= most:
        raise ParameterError(f"{key} must be between {least:g} and {most:g}, got {value!r}")


def _numbers(values: object) -> list[float | int]:
    """A list of finite numbers, as it will be written down."""
    numbers = values.tolist() if isinstance(values, np.ndarray) else values
    if not isinstance(numbers, (list, tuple)) or not numbers:
        raise ParameterError("values must be a list of numbers, at least one")
    if not all(map(is_finite, numbers)):
        raise ParameterError("values must be finite numbers")
    if not all(abs(value) <= 2**53 for value in numbers if isinstance(value, int)):
        raise ParameterError("values must be numbers that float64 holds exactly")
    return list(numbers)


def is_finite(value: object) -> TypeGuard[float]:
    """Whether this is one finite number."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max
