"""Kinds of values in words, as messages and keys tell them apart."""

from __future__ import annotations

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
MISSING = "missing values"
MISSING_TYPES = ("NoneType", "NAType", "NaTType", "MaskedConstant")  # of pandas and np.ma, too


def array_of(values: Any) -> Array:
    """Return an array: of a list, one of objects, as NumPy would read True as 1, and 1 as "1"."""
    return np.asarray(values, None if hasattr(values, "__array__") else object)


def kind_of(cls: Any) -> str:
    """Return the kind of the values of a class."""
    if cls.__name__ in MISSING_TYPES:
        return MISSING
    return next((kind for classes, kind in KINDS if issubclass(cls, classes)), cls.__name__)


def kinds_of(array: Array) -> set[str]:
    """Return the kinds of the values of an array."""
    is_listed = array.dtype == object
    return set(
        map(
            kind_of, set(map(type, array.reshape(-1).tolist())) if is_listed else [array.dtype.type]
        )
    )


def named(values: Any) -> str:
    """Return what values are that should be numbers, as the end of a message."""
    try:
        kinds = kinds_of(array_of(values)) - NUMBERS
    except Exception:  # an error of a foreign object may hold data
        kinds = {type(values).__name__}
    return f", got {' and '.join(sorted(kinds))}" if kinds else ""
