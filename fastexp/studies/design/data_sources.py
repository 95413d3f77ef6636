"""Sources of data sets: a named generator, numbers, a file, a frame or a function.

A source uses a NumPy generator to make a matrix with a data set in each row. It knows no
mechanism. Its parameters are public settings of the study.
"""

from __future__ import annotations

import hashlib
import math
import os
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from inspect import signature
from itertools import product
from pathlib import Path, PurePath
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from ..._intake import arrays
from ..._parameters import validate
from ..._parameters.digits import of_table
from ..._typing import AnyArray, FloatArray
from ...errors import ParameterError, StudyError
from ...query.engines.frame import ColumnRead, Frame
from ...query.engines.types import NUMERIC, check_column, check_records
from ...query.files.paths import files_of, format_of, stamp_of
from ...query.frames.find import frame_of
from ..subjects.subject import Random, finite
from .code import code_of

Spec: TypeAlias = dict[str, Any]  # a name with parameters, as JSON values
RECORDS, UTILITIES = "records", "utilities"
OF_FUNCTIONS = ("function", "label", "takes")  # keys that are not parameters of the function
OF_SCENARIOS = ("n", "bounds")  # keys that replace settings of the study
OF_RECORDS = ("column", "label", *OF_SCENARIOS)  # keys of a file or a frame
MAX_FRAME_ROWS = 100_000  # all values of a frame are saved with the study
MAX_PARAMETER = 1e150  # largest magnitude of a parameter: squares of data are finite
LIMITS = {  # the range of a parameter; default: up to MAX_PARAMETER in magnitude
    **dict.fromkeys(("sd", "sigma", "median", "lead"), (1 / MAX_PARAMETER, MAX_PARAMETER)),
    **dict.fromkeys(("exponent", "heaping"), (0, 100)),
    **dict.fromkeys(("votes", "most"), (1, 10**15)),
    "values": (1, 10**8),
    "share": (0, 1),
}


@dataclass(frozen=True)
class NamedSource:
    """A generator of data sets that settings can name."""

    make: Callable[..., AnyArray]  # called with (random, rows, n) and parameters by name
    about: str
    rows: str = RECORDS  # what a row is: records or utilities
    whole: bool = False  # whether all numbers are integers
    fixed: bool = False  # whether all data sets are equal

    @cached_property
    def defaults(self) -> Spec:
        """The defaults of its parameters; None if a parameter must be given."""
        parameters = list(signature(self.make).parameters.values())[3:]
        return {p.name: None if p.default is p.empty else p.default for p in parameters}

    @property
    def is_listed(self) -> bool:
        """Whether a list of numbers, `values`, is its only parameter."""
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
    """Draw indices from 0, with probabilities proportional to weights."""
    totals = np.cumsum(weights)
    places = np.searchsorted(totals, random.random((rows, n)) * totals[-1], "right")
    return np.asarray(np.minimum(places, weights.size - 1), dtype=np.int64)


# Shares of ten-year age groups from 0 on, about those of a country in Europe. Within a group ages
# are equally likely, but multiples of ten are 1 + `heaping` times as likely, as people round ages.
SHARES = (0.10, 0.10, 0.12, 0.13, 0.13, 0.14, 0.12, 0.10, 0.05, 0.01)


def _ages(random: Random, rows: int, n: int, heaping: float = 1.0) -> AnyArray:
    weights = np.repeat(np.array(SHARES) / 10, 10)
    weights[::10] *= 1.0 + heaping
    return _weighted(random, rows, n, weights)


# The number of persons of each age in the Adult data, from 17 years on; the last age is 90 or more.
# The data are an extract of the 1994 census of the United States (Becker and Kohavi, UCI Machine
# Learning Repository, 1996; CC BY 4.0).
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


SOURCES: dict[str, NamedSource] = {
    "normal": NamedSource(_normal, "normal numbers"),
    "lognormal": NamedSource(_lognormal, "skewed to the right: incomes"),
    "uniform": NamedSource(_uniform, "uniform numbers"),
    "bimodal": NamedSource(_bimodal, "two normal groups: the median lies where records are few"),
    "zipf": NamedSource(_zipf, "integers, small ones often", whole=True),
    "ages": NamedSource(_ages, "ages of a census, with ties and heaps", whole=True),
    "adult-ages": NamedSource(
        _adult_ages, "drawn from the ages of 32,561 adults in a census", whole=True
    ),
    "adversarial": NamedSource(
        _adversarial, "one record more than half at `low`, the others at `high`", fixed=True
    ),
    "values": NamedSource(_values, "the given records, in every data set", fixed=True),
    "sample": NamedSource(_sample, "drawn from the given records with replacement"),
    "utilities": NamedSource(
        _values, "the given utilities, in every data set", UTILITIES, fixed=True
    ),
    "leader": NamedSource(_leader, "utilities: one candidate leads, others tie", UTILITIES),
    "scores": NamedSource(
        _scores, "utilities: uniform integers up to `most`", UTILITIES, whole=True
    ),
    "votes": NamedSource(_votes, "utilities: counts of votes, Zipf's law", UTILITIES, whole=True),
}


def check_parameters(names: Iterable[str], known: Collection[str]) -> None:
    """Refuse parameters that a generator or a mechanism does not have."""
    unknown = sorted(set(names) - set(known))
    if unknown:
        listing = ", ".join(known) or "none"
        raise ParameterError(f"unknown parameters {', '.join(unknown)}; there are: {listing}")


def check_values(table: Spec) -> None:
    """Refuse parameters that a settings file could not hold."""
    for key, value in table.items():
        if key == "grid" and isinstance(value, dict):
            of_table(value)
            continue
        each = value if isinstance(value, list) else [value]
        if not all(isinstance(one, (str, bool)) or is_finite(one) for one in each):
            raise ParameterError(f"{key} must be a number, a word, true or false, or a list")


def check(name: str, p: Spec) -> Spec:
    """Return the checked parameters of a generator, completed by its defaults."""
    source = SOURCES[name]
    check_parameters(p, source.defaults)
    full = {**source.defaults, **p}
    if source.is_listed:
        full["values"] = _numbers(full["values"])
        return full
    for key, value in full.items():
        least, most = LIMITS.get(key, (-MAX_PARAMETER, MAX_PARAMETER))
        if not is_finite(value) or not least <= value <= most:
            raise ParameterError(f"{key} must be between {least:g} and {most:g}, got {value!r}")
        if isinstance(source.defaults[key], int) and value != int(value):
            raise ParameterError(f"{key} must be an integer, got {value!r}")
    if name in ("uniform", "bimodal") and not full["low"] < full["high"]:
        raise ParameterError("low must be less than high")
    return full


def _numbers(values: object) -> list[float | int]:
    """Return a list of finite numbers, in the form that is saved."""
    numbers = values.tolist() if isinstance(values, np.ndarray) else values
    if not isinstance(numbers, (list, tuple)) or not numbers or not all(map(is_finite, numbers)):
        raise ParameterError("values must be a list of finite numbers, at least one")
    if not all(abs(value) <= 2**53 for value in numbers if isinstance(value, int)):
        raise ParameterError("values must be numbers that float64 holds exactly")
    return list(numbers)


def is_finite(value: object) -> TypeGuard[float]:
    """Whether a value is a single finite number."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max


@dataclass(frozen=True)
class DataSource:
    """A source of data sets, which it returns as the rows of a matrix."""

    label: str  # its name in tables
    takes: str  # what mechanisms take from it: "records" or "utilities"
    fixed: bool  # whether all data sets are equal
    whole: bool  # whether all numbers are known to be integers
    size: int | None  # the size of its data sets; None if n decides
    apart: bool  # whether each data set has its own generator
    _make: Callable[[Random, int, int], AnyArray]

    def data_sets(self, rng: Random, rows: int, n: int) -> AnyArray:
        """Return `rows` data sets of n records (or candidates)."""
        return self.of_each(rng.spawn(rows), n) if self.apart else self._make(rng, rows, n)

    def of_each(self, randoms: Iterable[Random], n: int) -> AnyArray:
        """Return a data set from each generator."""
        return np.concatenate([self._make(random, 1, n) for random in randoms])


def data_source(data: object) -> DataSource:
    """Return the single source of a setting: see the parameter `data` of `Study`."""
    specs = described(data)
    if len(specs) != 1:
        raise ParameterError("data must be one source: its parameters must not be lists")
    return source_of(specs[0])


def described(data: object, version: str = "") -> list[Spec]:
    """Return a setting in the form that runs: a source for each combination of listed parameters.

    `version` is that of the user's code.
    """
    table = _table(data)
    if "frame" in table:
        table = _of_frame(table)
    elif "file" in table:
        return [_of_file(table)]
    is_listed = "name" in table and table["name"] in SOURCES and SOURCES[table["name"]].is_listed
    lists = {} if is_listed else {k: v for k, v in table.items() if isinstance(v, (list, tuple))}
    tables = []
    for values in product(*lists.values()):
        variant = table | dict(zip(lists, values, strict=True))
        if "label" in table:
            variant["label"] = " ".join([str(table["label"]), *_words(variant, lists)])
        tables.append(_of_function(variant, version) if "function" in variant else _named(variant))
    return tables


def source_of(data: Spec) -> DataSource:
    """Return the source of a setting that `described` returned."""
    label = label_of(data)
    if "file" in data:
        whole = _records(data)[0].dtype.kind == "i"
        make = partial(_resampled, data)
        return DataSource(label, RECORDS, False, whole, None, False, make)
    if "function" in data:
        call = partial(_called, data)
        return DataSource(label, data.get("takes", RECORDS), False, False, None, True, call)
    source, parameters = SOURCES[data["name"]], parameters_of(data)
    numbers = np.asarray(parameters.get("values", parameters.get("lead", 0.5)))
    whole = source.whole or bool((np.rint(numbers) == numbers).all())
    size = len(parameters["values"]) if source.fixed and source.is_listed else None
    make = partial(source.make, **parameters)
    return DataSource(label, source.rows, source.fixed, whole, size, False, make)


def parameters_of(data: Spec) -> Spec:
    """Return the parameters with which a generator or a function is called."""
    names = ("name", *OF_SCENARIOS, *OF_FUNCTIONS)
    return {key: value for key, value in data.items() if key not in names}


def label_of(data: Spec) -> str:
    """Return the name of a source in tables."""
    if "label" in data:
        return str(data["label"])
    if "file" in data:
        return str(data.get("column") or PurePath(data["file"]).name)
    if "function" in data:
        return " ".join([data["function"].name, *_words(data, parameters_of(data))])
    defaults = SOURCES[data["name"]].defaults
    changed = [key for key, value in parameters_of(data).items() if value != defaults[key]]
    return " ".join([data["name"], *_words(data, changed)])


def _words(data: Spec, names: Iterable[str]) -> list[str]:
    return [f"{name}={data[name]}" for name in names if not isinstance(data[name], list)]


def _table(data: object) -> Spec:
    """Return a setting as a table."""
    if isinstance(data, dict):
        paths = {k: os.fspath(v) for k, v in data.items() if isinstance(v, os.PathLike)}
        return {**data, **paths}
    if isinstance(data, os.PathLike) or (isinstance(data, str) and is_file(data)):
        return {"file": os.fspath(data)}
    if isinstance(data, str):
        return {"name": data}
    if callable(data):
        return {"function": data}
    numbers = finite(data, "data")
    if numbers is None or numbers.ndim != 1:
        raise ParameterError(
            "must be a name, a dict of settings (in TOML a table), a function of (rng, n), numbers "
            "or the path of a file"
        )
    return {"name": "values", "values": numbers.tolist()}


def _named(table: Spec) -> Spec:
    check_name(table, SOURCES, "data")
    identity: Spec = {key: table[key] for key in ("name", "label") if key in table}
    parameters = {key: value for key, value in table.items() if key not in identity}
    return {**identity, **check(table["name"], parameters)}


def _of_function(table: Spec, version: str) -> Spec:
    function = code_of(table["function"], version)
    if isinstance(table["function"], str) or not callable(function.value or check):
        raise ParameterError(
            "function must be a callable f(rng, n); a file names it as 'module:function'"
        )
    validate.choice("takes", table.get("takes", RECORDS), (RECORDS, UTILITIES))
    check_label(table)
    check_values(parameters_of(table))
    return {**table, "function": function}


def check_name(table: Spec, known: Iterable[str], what: str) -> None:
    """Check the name and the label of a table of settings."""
    validate.choice(what, table.get("name"), tuple(known))
    check_label(table)


def check_label(table: Spec) -> None:
    """Check the label that a table of settings may have."""
    if not validate.text("label", table.get("label", "x")).strip():
        raise ParameterError("label must not be empty")


def _called(data: Spec, random: Random, rows: int, n: int) -> AnyArray:
    """Return one data set from a function of the user."""
    function = data["function"]
    answer = function.here()(random, n, **parameters_of(data))
    values = finite(answer, f"data of {function.name}")
    if values is None or values.shape != (n,):
        raise StudyError(f"{function.name} must give n = {n} finite numbers for each data set")
    return arrays.canonical(values).reshape(rows, n)


def is_file(name: str) -> bool:
    """Whether a text is the path of a file of records, not a name."""
    return _is_npy(name) or format_of(name) is not None


def _of_file(table: Spec) -> Spec:
    """Return the settings of a file with a digest: other content makes another study."""
    check_parameters(set(table) - {"file", "digest"}, OF_RECORDS)
    _, digest = _records(table)
    return {**table, "file": str(Path(table["file"]).resolve()), "digest": digest}


def _of_frame(table: Spec) -> Spec:
    """Return the settings of a column of a frame, with its numbers."""
    check_parameters(set(table) - {"frame"}, OF_RECORDS)
    column = table.get("column", "")
    records = _column(frame_of(table["frame"]), column)
    if records.size > MAX_FRAME_ROWS:
        raise ParameterError(
            f"a frame must have at most {MAX_FRAME_ROWS:,} rows: write more of them to a file"
        )
    label = table.get("label", column or "frame")
    return {"label": label, "name": "sample", "values": records.tolist()}


def _resampled(data: Spec, random: Random, rows: int, n: int) -> AnyArray:
    """Draw data sets of n records from a file, with replacement."""
    records, _ = _records(data)
    return np.asarray(records[random.integers(0, records.size, (rows, n))])


def _records(data: Spec) -> tuple[AnyArray, str]:
    """Return the records of a file and their digest, which must be that of the study.

    A file that changed is read again.
    """
    file: str = data["file"]
    stamps = [stamp_of(file, file)] if _is_npy(file) else [one.stamp for one in files_of(file)]
    records, digest = _read(file, data.get("column", ""), tuple(stamps))
    if data.get("digest", digest) != digest:
        raise StudyError("a data file is not the one that the study was created with")
    return records, digest


@lru_cache(maxsize=8)  # once in each process: workers read files themselves
def _read(file: str, column: str, _stamps: object) -> tuple[AnyArray, str]:
    records = (
        _int_or_float(arrays.from_file(file)) if _is_npy(file) else _column(frame_of(file), column)
    )
    return records, hashlib.blake2b(records.tobytes(), digest_size=8).hexdigest()


def _is_npy(file: str) -> bool:
    return file.lower().endswith(".npy")


def _column(frame: Frame, column: str) -> AnyArray:
    """Return a column of a frame; without a name, its only column."""
    names = frame.names()
    if names is not None:
        # A name that begins like a number may be a record of a file without a header.
        if not column and len(names) == 1 and names[0][:1] not in NUMERIC:
            column = names[0]
        check_column(column, names)
    use = ColumnRead(column, "numbers")
    empty = frame.empty([use])
    if empty is not None:
        check_records("data", use, empty[0])
    parts = []
    for (part,) in frame.parts([use]):
        numbers, missing = arrays.apart(part, "raise")
        if missing is not None and missing.any():
            raise ParameterError(f"column {column!r} must hold finite numbers: some are missing")
        parts.append(numbers.copy())
    return _int_or_float(np.concatenate(parts) if parts else np.zeros(0))


def _int_or_float(column: AnyArray) -> AnyArray:
    """Return records as int64 if all are integers, else as float64."""
    numbers = column.astype(np.float64)
    if column.ndim != 1 or not column.size or not bool(np.isfinite(numbers).all()):
        raise ParameterError("data must be finite numbers in one dimension, at least one")
    if bool((np.abs(numbers) < 2.0**53).all()) and bool((np.rint(numbers) == numbers).all()):
        return numbers.astype(np.int64)
    return numbers
