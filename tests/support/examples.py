"""An example of each mechanism of the table, and of data that it takes."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np

from tests.doors.mechanisms import TABLE, CountingMechanism, CountsMechanism, Row, UtilityMechanism

AGES = np.array([30, 31, 32, 60, 60, 60])
# A value of each parameter that must be given, and of some others; whosever they are.
NEEDED: dict[str, Any] = {"epsilon": 1.0, "sensitivity": 1, "bounds": (0, 100), "step": 1}
NEEDED |= {"q": 0.9, "count": 2, "r": 2, "k": 2, "candidates": ["a", "b"]}
FURTHER = {"neighbors": "replace", "delta": 1e-6, "noise": "laplace", "base": [1, 2]}
INSTEAD = {"grid", "rho"}  # of others that are given


def arguments_of(row: Row, *, full: bool = False) -> dict[str, Any]:
    """What builds a mechanism: the parameters of `NEEDED`, or all that go together."""
    parameters = signature(row.kind).parameters
    left_out = INSTEAD | ({"q"} if "count" in parameters else set())
    values = {**NEEDED, **FURTHER} if full else NEEDED
    left_out |= set() if full else {"candidates"} - _required(row)
    left_out |= {"bounds"} if row.name == "Laplace" and not full else set()
    return {
        name: values.get(name, parameter.default)
        for name, parameter in parameters.items()
        if name not in left_out and (full or name in NEEDED)
    }


def _required(row: Row) -> set[str]:
    parameters = signature(row.kind).parameters
    return {name for name, parameter in parameters.items() if parameter.default is parameter.empty}


def built(row: Row) -> Any:
    """A mechanism."""
    return row.kind(**arguments_of(row))


def of_kind(*kinds: type, but: tuple[type, ...] = ()) -> dict[str, Row]:
    """The rows of mechanisms of some kinds, by the names of their classes."""
    rows = {row.name: row for row in TABLE.values() if issubclass(row.kind, kinds)}
    return {name: row for name, row in rows.items() if not issubclass(row.kind, but)}


def data_of(row: Row) -> Any:
    """Data that a mechanism takes: records, counts, utilities, a number or a bit."""
    if issubclass(row.kind, CountsMechanism):
        return np.array([1, 3, 2])
    if issubclass(row.kind, CountingMechanism):
        return ["a", "b", "a"]
    if issubclass(row.kind, UtilityMechanism):
        return np.array([1.0, 3.0, 2.0])
    return {"Laplace": 3.5, "RandomizedResponse": True}.get(row.name, AGES)
