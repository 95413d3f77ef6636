"""Keys that come as Python objects: lists, and columns of objects."""

from __future__ import annotations

import contextlib
import datetime as dt
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from .._parameters.foreign import attribute
from ..errors import ParameterTypeError
from .key_rows import TICKS, Integers, Kind, Objects, Rows, Text, Unit, finest, instants

KEYS = (
    "{} must be one column of integers, text, booleans, dates or timestamps without a zone, in s, "
    "ms, us or ns (an array, a list, a series or an Arrow array); floats (pandas makes them of "
    "integers with gaps: use its nullable ones), bytes, times, durations, decimals and mixtures "
    "are refused"
)
LONGEST = 60  # characters of a type in a message
WIDER = (0x80, 0x800, 0x10000)  # code points that take a byte more in UTF-8
LONE = "surrogatepass"  # a lone surrogate becomes bytes that are no UTF-8, and so no name
FLOATS, INTEGERS = (float, np.floating), (int, np.integer)
MISSING = frozenset({("pandas", "NAType"), ("pandas", "NaTType"), ("numpy.ma", "MaskedConstant")})

Type: TypeAlias = Kind | Literal["moments", "null", "float", "other"]


def not_keys(argument: str, got: str = "") -> ParameterTypeError:
    """What is raised where keys are wanted; `got` is a type."""
    return ParameterTypeError(KEYS.format(argument) + (f", got {got[:LONGEST]}" if got else ""))


def of_objects(items: list[Any], argument: str) -> Rows:
    """Python objects, looked at by their types; the only float that can be is NaN."""
    types = {kind: _type(kind) for kind in set(map(type, items))}
    seen = set(types.values())
    if "float" in seen and any(isinstance(x, FLOATS) and x == x for x in items):
        raise not_keys(argument, "floats")
    if "other" in seen:
        name = next(kind.__name__ for kind, what in types.items() if what == "other")
        raise not_keys(argument, f"objects of type {name}")
    known = seen - {"null", "float"}
    if known and known <= {"moments", "dates"}:
        return _of_moments([x if types[type(x)] in known else None for x in items], argument)
    if len(known) > 1:
        raise not_keys(argument, "a mixture of types")
    valid = None if seen == known else np.array([types[type(x)] in known for x in items], np.bool_)
    if known == {"text"}:
        return _of_texts(items, valid)
    if known == {"booleans"}:
        there = items if valid is None else np.where(valid, np.array(items, object), False)
        return Integers(len(items), valid, np.array(there, np.bool_), "booleans")
    return _of_integers(items, "integers" if known else None)


def _type(kind: type) -> Type:
    """What objects of a type are."""
    module = kind.__module__
    name = "pandas" if module.startswith("pandas.") else module.replace("numpy.ma.core", "numpy.ma")
    if kind is type(None) or (name, kind.__name__) in MISSING:  # NaT inherits datetime
        return "null"
    kinds: tuple[tuple[Any, Type], ...] = (
        ((bool, np.bool_), "booleans"),  # bool inherits int,
        (np.timedelta64, "other"),  # this one NumPy's integers,
        (str, "text"),
        (INTEGERS, "integers"),
        (FLOATS, "float"),
        ((dt.datetime, np.datetime64), "moments"),  # dates or timestamps by their unit; and date
        (dt.date, "dates"),
    )
    for types, held in kinds:
        if issubclass(kind, types):
            return held
    return "other"


def _of_integers(items: list[Any], kind: Kind | None, unit: Unit = "") -> Rows:
    """Integers of any size or null; in an array if all of them fit."""
    if kind is not None and all(isinstance(x, INTEGERS) for x in items):
        with contextlib.suppress(OverflowError):
            return Integers(len(items), None, np.fromiter(items, np.int64, len(items)), kind, unit)
    return Objects(len(items), None, items, kind, unit)


def _of_moments(items: list[Any], argument: str) -> Rows:
    """Dates and timestamps of Python, NumPy and pandas, each of its own unit; None is missing."""
    moments = [None if x is None else _moment(x, argument) for x in items]
    moments = [None if x is None or np.isnat(x) else x for x in moments]
    units = {np.datetime_data(x.dtype) for x in moments if x is not None}
    if not units:
        return Objects(len(items), None, moments)
    if units == {("D", 1)}:
        return instants(np.array(moments, "M8[D]").view(np.int64), None, "dates")
    odd = sorted(f"{count}{unit}" for unit, count in units if count != 1 or unit not in TICKS)
    if ("D", 1) in units:
        raise not_keys(argument, "dates beside timestamps")
    if odd:
        raise not_keys(argument, f"timestamps in units of {odd[0]}")
    unit = finest([cast("Unit", unit) for unit, _ in units])
    if len(units) == 1:
        return instants(np.array(moments, f"M8[{unit}]").view(np.int64), None, "timestamps", unit)
    ticks = [None if x is None else _ticks(x, unit) for x in moments]
    return _of_integers(ticks, "timestamps", unit)


def _moment(item: Any, argument: str) -> np.datetime64:
    """A date or timestamp as NumPy's, exactly."""
    if isinstance(item, np.datetime64):
        return item
    if not isinstance(item, dt.datetime):
        return np.datetime64(item, "D")
    if attribute(item, "tzinfo", "one that fails") is not None:
        raise not_keys(argument, "timestamps with a zone")
    fine = attribute(item, "asm8")  # of pandas, which may have nanoseconds
    return fine if isinstance(fine, np.datetime64) else np.datetime64(item, "us")


def _ticks(moment: np.datetime64, unit: Unit) -> int:
    """A timestamp in a finer unit, of any size."""
    coarser, _ = np.datetime_data(moment.dtype)
    return int(moment.astype(np.int64)) * (TICKS[unit] // TICKS[coarser])


def _of_texts(items: list[Any], valid: Any) -> Text:
    """Strings, all at once; those that are not `valid` are missing."""
    texts = (
        items
        if valid is None
        else [x if there else "" for x, there in zip(items, valid.tolist(), strict=True)]
    )
    joined = "".join(texts)
    ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=ends[1:])
    if not joined.isascii():  # then characters are of 1 to 4 bytes
        points = np.frombuffer(joined.encode("utf-32-le", LONE), np.dtype("<u4"))
        widths = 1 + sum((points >= least).astype(np.int8) for least in WIDER)
        begins = np.zeros(points.size + 1, np.int64)
        np.cumsum(widths, out=begins[1:])
        ends = begins[ends]
    values = np.frombuffer(joined.encode("utf-8", LONE), np.uint8)
    return Text(len(texts), valid, values, ends)
