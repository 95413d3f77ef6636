"""Checks of public parameters: each names the argument, what is required, and what was got."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import ParameterError, ParameterTypeError, RoundingModeError
from ..types import Array, Floats, Number
from . import kinds

MOST_SIZE = 1 << 40
MAX_EXACT = 1 << 53  # integers up to here are doubles
FLOAT64, PLAIN = np.dtype(np.float64), ({float}, {int})
MOST = 1.7976931348623157e308  # of an amount: the greatest double
MAX_DENOMINATOR = 10**9  # of a quantile: times 2**32 records it is below 2**62
# Names, as Python would fold constants: normal numbers whose difference is subnormal.
ONE, TINY, MORE, LEAST = 1.0, 2.0**-60, 1.5 * 2.0**-1022, 2.0**-1022


def arithmetic() -> None:
    """Refuse to compute if the processor does not round to nearest, subnormal numbers included.

    Another library may have left a thread so. If it rounds up, 1 + TINY is more than 1; if down or
    towards zero, 1 - TINY is less than 1.
    """
    if ONE + TINY != ONE - TINY or not (MORE - LEAST) * 4.0:
        raise RoundingModeError(
            "the processor must round to nearest and must not flush subnormal numbers to zero"
        )


def exact(name: str, value: Any) -> Fraction:
    """Return a finite real number as the exact number that it is."""
    if isinstance(value, (bool, np.bool_)):
        raise ParameterTypeError(f"{name} must be a number, got a truth value")
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (int, float, Fraction, Decimal)):
        raise ParameterTypeError(f"{name} must be a number, got {type(value).__name__}")
    if isinstance(value, float):
        value = float.__float__(value)  # a subclass may print, and tell, another number
    try:
        return Fraction(value)
    except (ValueError, OverflowError):
        raise ParameterError(f"{name} must be finite, got {value}") from None


def decimal(name: str, value: Any) -> Fraction:
    """Return a finite number as the exact decimal that it prints: 0.1 is one tenth."""
    number = exact(name, value)
    if isinstance(value, float):  # of NumPy, too, whose texts depend on its options
        return Fraction(float.__repr__(value))
    return Fraction(str(value)) if isinstance(value, np.floating) else number


def positive(name: str, value: Any) -> Fraction:
    """Return a finite number > 0 as the exact number that it is."""
    number = exact(name, value)
    if number <= 0:
        raise ParameterError(f"{name} must be > 0, got {value!r}")
    return number


def amount(name: str, value: Any) -> Fraction:
    """Return a number > 0 as it is promised: a double is the decimal that it prints.

    Rates use exact numbers. A float of fewer bits may be more than what it prints, by far more than
    a double is: it counts as the double that it equals.
    """
    positive(name, value)
    number = decimal(name, value.item() if isinstance(value, np.generic) else value)
    if number > Fraction(MOST):
        raise ParameterError(f"{name} must be at most {MOST}, the greatest double")
    return number


def quantile(name: str, value: Any) -> Fraction:
    """Return a quantile in (0, 1) as an exact fraction; a float is the decimal that it prints."""
    q = decimal(name, value)
    if not 0 < q < 1:
        hint = f"; did you mean {float(q) / 100:g}?" if 1 < q < 100 else ""
        raise ParameterError(f"{name} must be in (0, 1), got {value}{hint}")
    if q.denominator > MAX_DENOMINATOR:
        least = Fraction(1, MAX_DENOMINATOR)
        near = min(max(q.limit_denominator(MAX_DENOMINATOR), least), 1 - least)
        raise ParameterError(
            f"{name} must have a denominator of at most 10**9, got {value}; the nearest such "
            f"fraction is {near!r}"
        )
    return q


def choice(name: str, value: object, allowed: tuple[str, ...]) -> str:
    """Return one of several words."""
    if isinstance(value, str) and value in allowed:
        return value
    raise ParameterError(f"{name} must be {' or '.join(map(repr, allowed))}, got {value!r}")


def flag(name: str, value: object) -> bool:
    """Return a truth value."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ParameterTypeError(f"{name} must be True or False, got {value!r}")


def whole(name: str, value: Any, least: int, most: int) -> int:
    """Return an integer of a range."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        if least <= value <= most:
            return int(value)
        raise ParameterError(f"{name} must be between {least} and {most}, got {value}")
    raise ParameterTypeError(f"{name} must be an integer, got {type(value).__name__}")


def bounds(value: Any) -> tuple[Number, Number]:
    """Return two finite numbers, the lower one first."""
    if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != 2:
        raise ParameterTypeError(
            "bounds must be two public numbers (lower, upper), chosen without the data, got "
            f"{type(value).__name__}"
        )
    low, high = value
    if not decimal("bounds", low) < decimal("bounds", high):
        raise ParameterError(f"bounds must be two numbers, the lower one first, got {value!r}")
    return low, high


def candidates(values: Any) -> tuple[Any, ...]:
    """Return two or more distinct public labels."""
    if isinstance(values, (str, bytes, set, frozenset)) or not isinstance(values, Iterable):
        kind = type(values).__name__
        raise ParameterTypeError(f"candidates must be a sequence of labels, got {kind}")
    is_plain = isinstance(values, np.ndarray) and values.dtype.kind not in "mM"
    labels = tuple(np.asarray(values).tolist() if is_plain else values)  # not integers of times
    try:
        are_distinct = len(set(labels)) == len(labels) and all(label == label for label in labels)
    except Exception:  # of a foreign object
        raise ParameterTypeError("candidates must be hashable labels: text, numbers") from None
    if len(labels) < 2 or not are_distinct:
        raise ParameterError(
            f"candidates must be two or more distinct labels, got {len(labels)} labels, "
            f"{len(set(labels))} of them distinct"
        )
    return labels


def base(values: Any, k: int | None) -> Floats:
    """Return a public base measure: a number for each candidate, two of them > 0."""
    measure = numbers(values)
    if measure is None or measure.ndim != 1:
        raise ParameterTypeError("base must be a one-dimensional array of numbers")
    measure = measure.astype(np.float64)
    is_normal = (measure == 0) | ((measure >= 2.0**-1022) & (measure < np.inf))
    if not is_normal.all() or np.count_nonzero(measure) < 2:
        raise ParameterError(
            "base must have 0 or a number between 2**-1022 and 2**1024 for each candidate, and "
            "more than 0 for two of them"
        )
    if k is not None and measure.size != k:
        raise ParameterError(f"base must have a number for each candidate: {k}, got {measure.size}")
    return measure


def numbers_of(name: str, value: Any, low: float = -np.inf, high: float = np.inf) -> Array:
    """Return a number or numbers of a range, in their shape."""
    found = numbers(np.atleast_1d(value))
    if found is None:
        raise ParameterTypeError(f"{name} must be a number, or an array of numbers")
    if not ((found >= low) & (found <= high)).all():
        raise ParameterError(f"{name} must be in [{low:g}, {high:g}]")
    return found.reshape(np.shape(value))


def numbers(values: Any, *, gaps: bool = False) -> Array | None:
    """Return values as an array of 64-bit numbers; None if NumPy would round or cannot read some.

    NumPy makes float64 of a list that mixes integers and floats. Two integers above 2**53 may then
    become equal, or move apart: a sensitivity of 1 becomes 2. With `gaps`, missing values are NaN.
    """
    if type(values) is np.ndarray and values.dtype is FLOAT64 and values.ndim:
        flags = values.flags
        if flags.c_contiguous and flags.aligned:
            return values  # the common case: the other checks would take 1 us
    if type(values) is list and set(map(type, values)) in PLAIN:
        array = np.array(values)
        if array.dtype.kind in ("f" if type(values[0]) is float else "iu"):
            return array
    try:
        array, mask = kinds.array_of(values), kinds.mask_of(values)
        if array.dtype == object:
            array = _of_objects(array, gaps)
    except Exception:  # ragged rows, foreign objects
        return None
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8 or array.ndim == 0:
        return None
    if mask.any():
        if not gaps:
            return None
        array = np.where(mask, np.nan, array)
    return np.require(array, f"{array.dtype.kind}8", ["C", "A"])


def _of_objects(array: Array, gaps: bool) -> Array:
    """Return objects as numbers, or as they are if NumPy would round some or they are none."""
    objects = array.reshape(-1).tolist()
    of_type = kinds.kinds_of(objects)
    found = set(of_type.values())
    if gaps and kinds.MISSING in found:
        is_there = np.array([of_type[type(x)] != kinds.MISSING for x in objects])
        read = _of_objects(array.reshape(-1)[is_there], False)
        if read.dtype != object:
            out = np.full(array.shape, np.nan)
            out.reshape(-1)[is_there] = read
            return out
    if not found <= kinds.NUMBERS:
        return array
    read = np.array(objects)
    if read.dtype.kind == "f" and "integers" in found:
        whole = [x for x in objects if of_type[type(x)] == "integers"]
        if not -MAX_EXACT <= min(whole) <= max(whole) <= MAX_EXACT:
            return array
    return read.reshape(array.shape)
