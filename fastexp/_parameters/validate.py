"""The checks of public parameters and their messages; `_intake/` has those of data."""

from __future__ import annotations

import math
import numbers
import operator
import os
from collections.abc import Iterable, Sized
from copy import copy
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from .._compiler.rounding import check_rounding
from .._typing import AnyArray, FloatArray, Neighbors, Relation, WordArray
from ..errors import ParameterError, ParameterTypeError
from .foreign import is_a

Word = TypeVar("Word", bound=str)
EPSILON_RANGE = (1e-9, 1e6)  # nats; an epsilon outside is nearly always a mistake
# The rates with which no product of the kernels under- or overflows.
RATE_RANGE = (Fraction(2) ** -900, Fraction(2) ** 900)
MAX_EXACT = 1 << 53  # integers up to here are doubles
MOST_LABEL = 200  # the most characters of a label, name or note
ALONE = "with only one possible answer, nothing is selected, and epsilon is spent on a constant"
MOST_THREADS = 256  # more threads are of no use, and could exhaust the system
MOST_COUNT = (1 << 63) - 1  # the greatest int64, with which kernels and NumPy count
MOST_DRAWS = 1 << 40  # the most draws of a call: no memory holds more
MOST_LABELS = 1 << 27  # the most candidates: a tuple of so many takes some 10 GB
MOST_SEEDS = 1 << 16  # the most integers in a seed


def real(name: str, value: Any) -> float:
    """Return a real number as a float; refuse other types, and a number that only rounds to 0.

    Every public number passes through here before anything is computed from it, or cached.
    """
    check_rounding()
    if type(value) is float or (type(value) is int and abs(value) <= MAX_EXACT):
        return float(value)  # the common case, ten times as fast
    if is_a(value, (bool, np.bool_)) or not is_a(value, (numbers.Real, Decimal)):
        kind = type(value).__name__
        raise ParameterTypeError(f"{name} must be a real number, got an object of type {kind}")
    try:
        number = float(value)
        vanished = number == 0.0 and bool(value != 0)
    except OverflowError:
        raise ParameterError(f"{name} must be finite, got a number beyond float64") from None
    except Exception:  # a signaling NaN, or a foreign number
        raise ParameterTypeError(f"{name} must be a number that float() reads") from None
    if vanished:
        raise ParameterError(f"{name} must be 0 or a number that float64 does not round to 0")
    return number


def positive(name: str, value: object) -> float:
    """Return a finite number > 0 as a float."""
    number = real(name, value)
    if not 0.0 < number < math.inf:  # written so that NaN fails
        raise ParameterError(f"{name} must be finite and > 0, got {number!r}")
    return number


def exact(name: str, value: object) -> Fraction:
    """Return a finite number > 0 exactly, not rounded to float64."""
    positive(name, value)
    return as_fraction(value)


def as_fraction(number: Any) -> Fraction:
    """Return a finite real number as an exact fraction of Python's integers."""
    return Fraction(*as_ratio(number))


def as_ratio(number: Any) -> tuple[int, int]:
    """Return the numerator and denominator of `as_fraction`."""
    kind = type(number)
    if kind is int or (kind is not float and isinstance(number, numbers.Integral)):
        return int(number), 1
    over, under = number.as_integer_ratio()
    return over, under


def at_least(name: str, value: object, least: float) -> float:
    """Return a finite number >= least as a float."""
    number = real(name, value)
    if not least <= number < math.inf:
        raise ParameterError(f"{name} must be finite and >= {least:g}, got {number!r}")
    return number


def fraction(name: str, value: object) -> float:
    """Return a number in [0, 1] as a float."""
    number = real(name, value)
    if not 0.0 <= number <= 1.0:
        raise ParameterError(f"{name} must be in [0, 1], got {number!r}")
    return number


def delta(value: object) -> float:
    """Return a delta in [0, 1) as a float."""
    number = real("delta", value)
    if not 0.0 <= number < 1.0:
        raise ParameterError(f"delta must be in [0, 1), got {number!r}")
    return number


def epsilon(value: object, any_epsilon: bool = False) -> float:
    """Return an epsilon, in nats; in EPSILON_RANGE unless `any_epsilon`."""
    number = positive("epsilon", value)
    low, high = EPSILON_RANGE
    if not any_epsilon and not low <= number <= high:
        raise ParameterError(
            f"epsilon must be in [{low:g}, {high:g}] nats, got {number!r} "
            "(pass any_epsilon=True if it is meant)"
        )
    return number


def sensitivity(value: object) -> float:
    """Return a sensitivity, in units of the utility; integers must be exact, fractions round up."""
    number = positive("sensitivity", value)
    if type(value) is float:
        return number
    if not _is_exact(value):
        raise ParameterError("sensitivity must be a number that float64 holds exactly")
    return number if as_fraction(value) <= Fraction(number) else math.nextafter(number, math.inf)


def rate(value: Fraction) -> None:
    """Refuse a rate, such as epsilon / (2 * sensitivity), outside the range of the proofs."""
    low, high = RATE_RANGE
    # Bit lengths give the logarithm to within 1, in a tenth of the time of comparing fractions.
    length = value.numerator.bit_length() - value.denominator.bit_length()
    if not (abs(length) < 899 and value > 0) and not low <= value <= high:
        raise ParameterError(
            "epsilon / sensitivity (with the mechanism's factor) must be in [2**-900, 2**900]"
        )


def flag(name: str, value: object) -> bool:
    """Return True or False; refuse other values that count as true or false."""
    if value is True or value is False:
        return value
    if not is_a(value, np.bool_):
        raise ParameterTypeError(f"{name} must be True or False, got {type(value).__name__}")
    return bool(value)


def choice(name: str, value: object, allowed: tuple[Word, ...]) -> Word:
    """Return one of the words in `allowed`."""
    word: Any = str.__str__(value) if is_a(value, str) else None  # a subclass may compare oddly
    if word not in allowed:
        words = ", ".join(map(repr, allowed))
        got = type(value).__name__ if word is None else repr(word)
        raise ParameterError(f"{name} must be one of {words}, got {got}")
    known: Word = word
    return known


def neighbors(value: object) -> Neighbors:
    """Return a neighbour relation."""
    return choice("neighbors", value, ("add-remove", "replace"))


def relation(value: object) -> Relation | None:
    """Return the relation of a promise; None: that for which the caller stated the sensitivity."""
    if value is None:
        return None
    known: Relation = choice("neighbors", value, ("add-remove", "replace", "both"))
    return known


def text(name: str, value: object) -> str:
    """Return text as a plain str."""
    if not isinstance(value, str):
        raise ParameterTypeError(f"{name} must be text, got {type(value).__name__}")
    return str.__str__(value)


def line(name: str, value: object) -> str:
    """Return a short line as a plain str; a subclass may compare or print in any way."""
    plain = str.__str__(value) if isinstance(value, str) else ""
    if not plain:
        got = "''" if isinstance(value, str) else type(value).__name__
        raise ParameterTypeError(f"{name} must be non-empty text, got {got}")
    if len(plain) > MOST_LABEL or not plain.isprintable():
        raise ParameterError(
            f"{name} must be one line of at most {MOST_LABEL} printable characters"
        )
    return plain


def is_utf8(text: str) -> bool:
    """Whether a text can be encoded in UTF-8; lone surrogates cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def counting(name: str, value: Any, least: int = 1, most: int = MOST_COUNT) -> int:
    """Return an integer in [least, most]."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except Exception:  # a foreign object may raise anything
        kind = type(value).__name__
        raise ParameterTypeError(f"{name} must be an integer, got {kind}") from None
    if not least <= number <= most:
        limit = f"between {least} and {most}"
        if most == MOST_COUNT:
            limit = f">= {least}" if number < least else "below 2**63"
        got = str(number) if abs(number) <= MOST_COUNT else "one beyond 64 bits"
        raise ParameterError(f"{name} must be {limit}, got {got}")
    return number


def progress(value: object) -> None:
    """Refuse a callback for progress that is neither callable nor None."""
    if value is not None and not callable(value):
        raise ParameterTypeError(f"progress must be None or a callable, got {type(value).__name__}")


def threads(value: object) -> int:
    """Return the number of threads; 0 becomes all that the process may use."""
    number = 1 if type(value) is int and value == 1 else counting("threads", value, least=0)
    if number:
        return min(number, MOST_THREADS)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def size(value: object) -> int | None:
    """Return a number of draws, or None for one draw as a scalar."""
    number = None if value is None else counting("size", value, least=0)
    if number is not None and number > MOST_DRAWS:
        raise ParameterError("size must be at most 2**40")
    return number


def reals(name: str, value: object) -> FloatArray:
    """Return numbers of any shape as float64; refuse NaN."""
    return exact_reals(name, value, np.longdouble(0).itemsize).astype(np.float64)


def exact_reals(name: str, value: object, widest: int = 8) -> AnyArray:
    """Return numbers of any shape, not rounded, as float64, int64 or uint64; refuse NaN.

    If `widest` admits floats of more than 8 bytes, these are rounded.
    """
    array = exact_array(value)
    if array is None or array.dtype.kind not in "iuf" or array.dtype.itemsize > widest:
        raise ParameterTypeError(
            f"{name} must be a number or an array of numbers of one type, of at most 64 bits"
        )
    if bool(np.isnan(array).any()):
        raise ParameterError(f"{name} must not be NaN")
    return array.astype(f"{array.dtype.kind}8")


def streams(value: object, rows: int) -> WordArray:
    """Return the names of the rows' streams; by default the numbers of the rows."""
    if value is None:
        return np.arange(rows, dtype=np.uint64)
    if type(value) is list and len(value) == rows == 1:  # in loops: 0.6 us instead of 4.5 us
        (name,) = value
        if type(name) is int and 0 <= name < 1 << 64:
            return np.array(value, dtype=np.uint64)
    names = exact_array(value)
    if (
        names is None
        or names.shape != (rows,)
        or names.dtype.kind not in "iu"
        or (names.dtype.kind == "i" and bool((names < 0).any()))
    ):
        raise ParameterError(
            "streams must hold one integer in [0, 2**64) for each row of the data; "
            "data that are not a matrix count as one row"
        )
    return names.astype(np.uint64)


def indices(name: str, value: object, most: int, count: int) -> list[int]:
    """Return between 1 and `most` distinct indices below `count`."""
    array = exact_array(value)
    if array is None or array.ndim != 1 or array.dtype.kind not in "iu":
        raise ParameterTypeError(f"{name} must be a one-dimensional array of integers")
    numbers: list[int] = array.tolist()
    if not 1 <= len(numbers) <= most or len(set(numbers)) < len(numbers):
        raise ParameterError(f"{name} must hold between 1 and {most} distinct indices")
    if not all(0 <= i < count for i in numbers):
        raise ParameterError(f"{name} must hold indices of candidates")
    return numbers


def method(value: object, allowed: tuple[str, ...] = ("envelope", "gumbel")) -> str:
    """Return the kernel that a caller pins; by default the first of the allowed ones."""
    return allowed[0] if value is None else choice("method", value, allowed)


def candidates(values: object, least: int = 2) -> tuple[Any, ...]:
    """Return public candidates as a tuple; refuse repeated ones, and a single one."""
    refused = isinstance(values, (str, bytes, set, frozenset))
    single = isinstance(values, np.ndarray) and not values.ndim
    if refused or single or not isinstance(values, Iterable):
        kind = type(values).__name__
        raise ParameterTypeError(f"candidates must be a sequence of labels, got {kind}")
    labels = items("candidates", values, MOST_LABELS)
    if not labels:
        raise ParameterError("candidates must not be empty")
    try:
        distinct = len(set(labels)) == len(labels) and all(bool(c == c) for c in labels)
    except Exception:  # a foreign label may raise anything
        raise ParameterTypeError(
            "candidates must be hashable labels (text, numbers, ...)"
        ) from None
    if not distinct:
        raise ParameterError("candidates must be distinct (no duplicates, no NaN)")
    if len(labels) < least:
        raise ParameterError(f"candidates must be at least two, got 1: {ALONE}")
    return labels


def as_given(values: Any, labels: tuple[Any, ...]) -> Any:
    """Return a copy of candidates in the form that a caller gave; for an iterator, the labels."""
    try:
        return copy(values) if isinstance(values, Sized) else labels
    except Exception:  # a foreign object may raise anything
        return labels


def items(name: str, values: Any, most: int) -> tuple[Any, ...]:
    """Return the items of an iterable as a tuple; refuse a length above `most` before reading."""
    try:
        size = len(values)
    except OverflowError:  # a range of 2**63 or more
        size = most + 1
    except Exception:  # no length
        size = 0
    if size > most:
        raise ParameterError(f"{name} must have at most {most} entries")
    try:
        return tuple(values.tolist() if isinstance(values, np.ndarray) else values)
    except Exception:
        kind = type(values).__name__
        raise ParameterTypeError(
            f"{name} must be a sequence that can be read, got {kind}"
        ) from None


def base(values: object, k: int | None) -> FloatArray:
    """Return a public base measure, read-only: finite numbers >= 0, at least two of them > 0."""
    array = exact_array(values)
    if array is None or array.dtype.kind not in "iuf" or array.ndim != 1 or array.size == 0:
        raise ParameterTypeError(
            "base must be a one-dimensional array of numbers that float64 holds exactly"
        )
    if array.dtype.kind in "iu" and bool((array.astype(np.float64).astype(object) != array).any()):
        raise ParameterError("base must consist of numbers that float64 holds exactly")
    exact = np.array(array, dtype=np.float64)
    if not bool(np.isfinite(exact).all() and (exact >= 0).all()):
        raise ParameterError("base must be finite and >= 0")
    if k is not None and exact.size != k:
        raise ParameterError(f"base must have one number for each candidate: {k}, got {exact.size}")
    if np.count_nonzero(exact) < 2:
        raise ParameterError(f"base must be > 0 for at least two candidates: {ALONE}")
    exact.flags.writeable = False
    return exact


def exact_array(values: object) -> AnyArray | None:
    """Return values as an array; None if NumPy gives none, rounds or unmasks some, or never ends.

    NumPy makes float64 of a list that mixes integers and floats, or integers within int64 and
    beyond. Two integers above 2**53 may then become equal, or move apart: sensitivity 1 becomes 2.
    Integers that are all >= 0 and below 2**64 are uint64.
    """
    plain = _of_numbers(values) if type(values) in (list, tuple) else None
    if plain is not None:
        return plain
    try:
        if isinstance(values, range) and not len(values) < MOST_LABELS:
            return None
        parts = values if isinstance(values, (list, tuple)) else ()
        sorts = {row.dtype.kind for row in parts if isinstance(row, np.ndarray)}
        columns = getattr(values, "dtypes", ())  # a frame has several; a pandas series its own
        types = {str(t) for t in columns} if hasattr(columns, "__iter__") else set()
        if len(sorts) > 1 or len(types) > 1:
            return None  # rows or columns of several types: NumPy would round some
        if parts and isinstance(parts[0], (list, tuple)):  # rows of numbers
            parts = [item for row in parts for item in row]
        if np.ma.is_masked(values) or any(isinstance(x, np.ma.MaskedArray) for x in parts):
            return None
        array = np.asarray(values)
        if array.dtype.kind in "fO" and parts and all(map(_is_unsigned, parts)):
            return np.array(values, dtype=np.uint64)
        if array.dtype.kind == "f" and any(not _is_exact(item) for item in parts):
            return None
    except Exception:  # ragged nesting, or a foreign object; its message may hold data
        return None
    return array


def _of_numbers(items: Any) -> AnyArray | None:
    """Return an array of Python's floats and integers; None if an item has another type.

    If some are floats, all must be below 2**53 in magnitude; integers alone must fit into int64.
    """
    types = set(map(type, items))
    if not types <= {float, int}:
        return None
    try:
        if types == {int}:
            return np.array(items, np.int64)
        array = np.fromiter(items, np.float64, len(items))
    except OverflowError:
        return None
    if len(types) == 2 and bool((np.abs(array) >= 2.0**53).any()):  # may be a rounded integer
        return None
    return array


def _is_unsigned(item: Any) -> bool:
    whole = isinstance(item, numbers.Integral) and not isinstance(item, bool)
    return whole and 0 <= int(item) < 1 << 64


def _is_exact(item: object) -> bool:
    return not isinstance(item, numbers.Integral) or int(float(item)) == int(item)
