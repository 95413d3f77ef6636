"""Kinds of values in words, as messages and keys tell them apart."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from ..types import Array

KINDS = (  # NumPy's durations are integers, datetimes are dates, and Python's booleans are integers
    ((bool, np.bool_), "booleans"),
    ((timedelta, np.timedelta64), "durations"),
    ((int, np.integer), "integers"),
    ((float, np.floating), "floats"),
    ((complex, np.complexfloating), "complex numbers"),
    ((datetime, np.datetime64), "timestamps"),
    ((date,), "dates"),
    ((str,), "text"),
    ((bytes,), "bytes"),
    ((Decimal,), "decimals"),
)
NUMBERS = {"integers", "floats"}
TIMES = {"dates", "timestamps", "durations"}
MISSING = "missing values"
MISSING_TYPES = ("NoneType", "NAType", "NaTType", "MaskedConstant")  # of pandas and np.ma, too


def array_of(values: Any) -> Array:
    """Return an array: of a list, one of objects, as NumPy would read True as 1, and 1 as "1"."""
    return np.asarray(values, None if hasattr(values, "__array__") else object)


def is_arrow(column: Any) -> bool:
    """Whether a column is one of PyArrow."""
    return type(column).__module__.startswith("pyarrow")


def typed(column: Any) -> Any:
    """Return a series of a type that NumPy does not have as a column of Arrow; others as they are.

    NumPy would read integers with gaps as floats, and forget time zones.
    """
    try:
        dtype = getattr(column, "dtype", None)
        is_typed = hasattr(column, "to_arrow") or type(column).__module__.startswith("pandas")
        if dtype is None or isinstance(dtype, np.dtype) or not is_typed:
            return column
        import pyarrow as pa

        return column.to_arrow() if hasattr(column, "to_arrow") else pa.array(column)
    except Exception:  # it is not installed, or has no such type: an error may hold data
        with suppress(Exception):
            return list(column)
    return column


def mask_of(values: Any) -> Array:
    """Return which values are masked; without `np.ma`, whose import takes 20 ms."""
    return np.asarray(getattr(values, "_mask", False))


def kind_of(cls: Any) -> str:
    """Return the kind of the values of a class."""
    if cls.__name__ in MISSING_TYPES:
        return MISSING
    return next((kind for classes, kind in KINDS if issubclass(cls, classes)), cls.__name__)


def kinds_of(objects: Iterable[Any]) -> dict[type, str]:
    """Return the kind of each class of objects."""
    return {cls: kind_of(cls) for cls in set(map(type, objects))}


def named(values: Any) -> str:
    """Return what values are that should be numbers, as the end of a message."""
    try:
        array = array_of(values)
        is_listed = array.dtype == object
        found = (
            set(kinds_of(array.ravel().tolist()).values())
            if is_listed
            else {kind_of(array.dtype.type)}
        )
    except Exception:  # an error of a foreign object may hold data
        found = {kind_of(type(values))}
    words = " and ".join(sorted(found - NUMBERS))
    return f", got {words}" if words else ""
