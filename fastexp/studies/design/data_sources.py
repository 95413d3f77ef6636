"""Where data sets come from, whatever says so: a name, numbers, a file, a frame or a function."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import PurePath
from typing import TypeAlias

import numpy as np

from ..._intake import arrays
from ..._parameters import validate
from ..._typing import AnyArray
from ...errors import ParameterError, StudyError
from ..subjects.subject import finite
from . import record_files
from .code import code_of
from .generators import RECORDS, SOURCES, UTILITIES, Random, Spec, check, check_values

Randoms: TypeAlias = Iterable[Random]
OF_FUNCTIONS = ("function", "label", "takes")
OF_SCENARIOS = ("n", "bounds")  # in place of the study's


@dataclass(frozen=True)
class DataSource:
    """What makes data sets: a matrix, a data set a row."""

    label: str  # what tables call it
    takes: str  # what a data set is, "records" or "utilities": the mechanisms that take it
    fixed: bool  # every data set is the same
    whole: bool  # all numbers are known to be integers
    size: int | None  # the length of a data set, where it is given
    apart: bool  # each data set has a generator of its own
    _make: Callable[[Random, int, int], AnyArray]

    def data_sets(self, rng: Random, rows: int, n: int) -> AnyArray:
        """`rows` data sets of n records (or candidates)."""
        return self.of_each(rng.spawn(rows), n) if self.apart else self._make(rng, rows, n)

    def of_each(self, randoms: Randoms, n: int) -> AnyArray:
        """A data set of each generator."""
        return np.concatenate([self._make(random, 1, n) for random in randoms])


def data_source(data: object) -> DataSource:
    """The one source that a setting means: see the parameter `data` of `Study`."""
    specs = described(data)
    if len(specs) != 1:
        raise ParameterError("data must be one source: no parameter is a list")
    return source_of(specs[0])


def described(data: object, version: str = "") -> list[Spec]:
    """A setting in the form that runs: a source for each combination of listed parameters.

    `version` is that of the user's code.
    """
    table = _table(data)
    if "frame" in table:
        table = record_files.of_frame(table)
    elif "file" in table:
        return [record_files.described(table)]
    is_given = "name" in table and table["name"] in SOURCES and SOURCES[table["name"]].given
    lists = {} if is_given else {k: v for k, v in table.items() if isinstance(v, (list, tuple))}
    tables = []
    for values in product(*lists.values()):
        one = table | dict(zip(lists, values, strict=True))
        if "label" in table:
            one["label"] = " ".join([str(table["label"]), *_words(one, lists)])
        tables.append(_of_function(one, version) if "function" in one else _named(one))
    return tables


def source_of(data: Spec) -> DataSource:
    """The source of a described setting."""
    label = label_of(data)
    if "file" in data:
        whole = record_files.whole(data)
        make = partial(record_files.resampled, data)
        return DataSource(label, RECORDS, False, whole, None, False, make)
    if "function" in data:
        call = partial(_called, data)
        return DataSource(label, data.get("takes", RECORDS), False, False, None, True, call)
    source, parameters = SOURCES[data["name"]], parameters_of(data)
    numbers = np.asarray(parameters.get("values", parameters.get("lead", 0.5)))
    whole = source.whole or bool((np.rint(numbers) == numbers).all())
    size = len(parameters["values"]) if source.fixed and source.given else None
    make = partial(source.make, **parameters)
    return DataSource(label, source.rows, source.fixed, whole, size, False, make)


def parameters_of(data: Spec) -> Spec:
    """What a generator or a function is called with."""
    names = ("name", *OF_SCENARIOS, *OF_FUNCTIONS)
    return {key: value for key, value in data.items() if key not in names}


def label_of(data: Spec) -> str:
    """What a source is called in tables."""
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
    """A setting as a table."""
    if isinstance(data, dict):
        paths = {k: os.fspath(v) for k, v in data.items() if isinstance(v, os.PathLike)}
        return {**data, **paths}
    if isinstance(data, os.PathLike) or (isinstance(data, str) and record_files.is_file(data)):
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
    named: Spec = {key: table[key] for key in ("name", "label") if key in table}
    parameters = {key: value for key, value in table.items() if key not in named}
    return {**named, **check(table["name"], parameters)}


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
    if not isinstance(table.get("name"), str):
        raise ParameterError(f"name must be text: one of {', '.join(known)}")
    if table["name"] not in known:
        raise ParameterError(f"unknown {what} {table['name']!r}; there are {', '.join(known)}")
    check_label(table)


def text(value: object) -> str:
    """Text that a file can hold: no halves of a character."""
    try:
        if isinstance(value, str):
            value.encode()
            return str(value)
    except UnicodeError:
        pass
    raise ParameterError("must be text")


def check_label(table: Spec) -> None:
    """Check the label that a table of settings may have."""
    if not text(table.get("label", "x")).strip():
        raise ParameterError("label must not be empty")


def _called(data: Spec, random: Random, rows: int, n: int) -> AnyArray:
    """One data set of a function."""
    function = data["function"]
    answer = function.here()(random, n, **parameters_of(data))
    values = finite(answer, f"data of {function.name}")
    if values is None or values.shape != (n,):
        raise StudyError(f"{function.name} must give n = {n} finite numbers for each data set")
    return arrays.canonical(values).reshape(rows, n)
