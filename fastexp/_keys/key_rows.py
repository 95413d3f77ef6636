"""Keys of rows in a few plain forms, and of five kinds.

A key is an integer, a text, a boolean, a date or a timestamp. All but texts are numbers of at
most 64 bits: 0 and 1, days since 1970-01-01, ticks of a stated unit since that day began,
without a zone. Keys of two kinds are never equal: 1, True and "1" are three keys, and so are a
date and the timestamp of its midnight two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from .._typing import AnyArray, IntArray

Kind: TypeAlias = Literal["integers", "text", "booleans", "dates", "timestamps"]
Unit: TypeAlias = Literal["", "s", "ms", "us", "ns"]  # of timestamps only

TICKS: dict[str, int] = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # of a second
NAT = -(1 << 63)  # of NumPy's dates and timestamps; in all forms no date and no timestamp
HIGHEST, LOWEST = (1 << 63) - 1, -(1 << 63)


@dataclass(frozen=True, eq=False, slots=True)
class Integers:
    """Integers of any dtype up to 64 bits, or the numbers of keys of another kind."""

    length: int
    valid: AnyArray | None  # None: no row is null
    values: AnyArray
    kind: Kind = "integers"
    unit: Unit = ""


@dataclass(frozen=True, eq=False, slots=True)
class Text:
    """Row i is the UTF-8 bytes `values[offsets[i] : offsets[i + 1]]`."""

    length: int
    valid: AnyArray | None
    values: AnyArray
    offsets: AnyArray


@dataclass(frozen=True, eq=False, slots=True)
class Wide:
    """Row i is a text of NumPy's fixed width, contiguous: 32 bits a character, 0 behind."""

    length: int
    valid: AnyArray | None
    values: AnyArray


@dataclass(frozen=True, eq=False, slots=True)
class Objects:
    """Row i is an integer of Python of any size, the number of a key, or null (anything else)."""

    length: int
    valid: AnyArray | None
    values: list[Any]
    kind: Kind | None = None  # None: all are null
    unit: Unit = ""


@dataclass(frozen=True, eq=False, slots=True)
class Coded:
    """Row i is entry `values[i]` of a dictionary; beyond its ends, or a null there: null."""

    length: int
    valid: AnyArray | None
    values: AnyArray
    child: tuple[Rows, ...]


Rows: TypeAlias = Integers | Text | Wide | Objects | Coded


def kind_of(rows: Rows) -> Kind | None:
    """The kind of the keys; None where there is no key at all."""
    if isinstance(rows, Coded):
        return next((kind for kind in map(kind_of, rows.child) if kind is not None), None)
    return rows.kind if isinstance(rows, (Integers, Objects)) else "text"


def unit_of(rows: Rows) -> Unit:
    """The unit of timestamps."""
    if isinstance(rows, Coded):
        return finest([unit_of(part) for part in rows.child])
    return rows.unit if isinstance(rows, (Integers, Objects)) else ""


def finest(units: Sequence[Unit]) -> Unit:
    """The unit with most ticks."""
    return max(units, key=lambda unit: TICKS.get(unit, 0)) if units else ""


def in_unit(numbers: IntArray, unit: Unit, other: Unit) -> tuple[IntArray, AnyArray | None]:
    """(numbers, which) of timestamps in another unit: of those that it can hold exactly.

    None: of all of them.
    """
    if unit == other:
        return numbers, None
    if TICKS[other] > TICKS[unit]:
        factor = TICKS[other] // TICKS[unit]
        most = HIGHEST // factor
        fit = (numbers <= most) & (numbers >= -most)
        return numbers[fit] * factor, fit
    factor = TICKS[unit] // TICKS[other]
    fit = numbers % factor == 0
    return numbers[fit] // factor, fit


def instants(values: AnyArray, valid: AnyArray | None, kind: Kind, unit: Unit = "") -> Integers:
    """Dates or timestamps as numbers of 64 bits, those that are none left out."""
    numbers = values.astype(np.int64, copy=False)
    there = numbers != NAT
    if not there.all():
        valid = there if valid is None else valid & there
    return Integers(numbers.size, valid, numbers, kind, unit)
