"""Keys of rows as they come, in whatever form, to a few plain ones.

A key is an integer or a text. Whatever else a column holds is refused by its type, with a
message that says nothing of the keys: they are private, unless they are the public list.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _arrow
from ._foreign import attribute, has, readable
from ._typing import AnyArray
from .errors import FastexpError, ParameterError, ParameterTypeError

KEYS = (
    "{} must be one column of integers or of texts (an array, a list, a series or an Arrow "
    "array); floats (pandas makes them of integers with gaps: use its nullable ones), booleans, "
    "bytes, dates and mixtures are refused"
)
LONGEST = 1 << 32  # of a range
LARGE = 1 << 62  # ends of a range whose steps int64 holds
WIDER = (0x80, 0x800, 0x10000)  # code points that take a byte more in UTF-8
LONE = "surrogatepass"  # a lone surrogate becomes bytes that are no UTF-8, and so no name
FLOATS, INTEGERS = (float, np.floating), (int, np.integer)
MISSING = frozenset({("pandas", "NAType"), ("pandas", "NaTType"), ("numpy.ma", "MaskedConstant")})
NO_INTEGERS: frozenset[type] = frozenset({bool, np.timedelta64})  # though they inherit


@dataclass(frozen=True, eq=False, slots=True)
class Chunks:
    """Chunks of an Arrow column that were read already."""

    columns: list[_arrow.Column]


@dataclass(frozen=True, eq=False, slots=True)
class Integers:
    """Integers of any dtype up to 64 bits."""

    length: int
    valid: AnyArray | None  # None: no row is null
    values: AnyArray


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
    """Row i is a Python object: an integer of any size, or null."""

    length: int
    valid: AnyArray | None
    values: list[Any]


@dataclass(frozen=True, eq=False, slots=True)
class Coded:
    """Row i is entry `values[i]` of a dictionary; beyond its ends, or a null there: null."""

    length: int
    valid: AnyArray | None
    values: AnyArray
    child: tuple[Rows, ...]


Rows = Integers | Text | Wide | Objects | Coded


def is_text(rows: Rows) -> bool | None:
    """Whether keys are texts; None where there is no key at all."""
    if isinstance(rows, Coded):
        kinds = {is_text(part) for part in rows.child} - {None}
        return kinds.pop() if kinds else None
    if isinstance(rows, Objects):
        return False if any(isinstance(x, INTEGERS) for x in rows.values) else None
    return not isinstance(rows, Integers)


def read(keys: Any, argument: str) -> list[Rows]:
    """The chunks of a column of keys."""
    readable(keys, argument)
    if isinstance(keys, (str, bytes)):
        raise ParameterTypeError(KEYS.format(argument))
    if isinstance(keys, np.ndarray):
        return [_of_array(keys, argument)]
    if isinstance(keys, Chunks):
        return [_of_column(part, argument) for part in keys.columns]
    if isinstance(keys, range):
        return [_of_range(keys, argument)]
    if isinstance(keys, (list, tuple)):
        return [_of_objects(list(keys), argument)]
    if has(keys, "isna", "to_numpy"):
        return _of_pandas(keys, argument)
    if _arrow.is_arrow(keys):
        return [_of_column(part, argument) for part in _arrow.column(keys, argument)]
    raise ParameterTypeError(KEYS.format(argument))


def bytes_of(texts: AnyArray) -> AnyArray:
    """The bytes of an array of texts of fixed width."""
    return texts.view(np.uint8).reshape(-1)


def _of_array(keys: AnyArray, argument: str) -> Rows:
    valid = None
    if isinstance(keys, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(keys)
        valid = ~mask if mask.any() else None
    plain = np.asarray(keys).view(np.ndarray)
    if plain.ndim != 1:
        raise ParameterTypeError(KEYS.format(argument))
    kind, size = plain.dtype.kind, plain.size
    if size == 0 and kind == "f":  # of an empty list
        return Objects(0, None, [])
    if kind in "iu":
        return Integers(size, valid, plain)
    if kind == "U" and plain.dtype.itemsize:
        return Wide(size, valid, np.ascontiguousarray(plain, plain.dtype.newbyteorder("=")))
    if kind in "OTU":
        return _of_objects(keys.tolist(), argument)
    raise ParameterTypeError(KEYS.format(argument))


def _of_range(keys: range, argument: str) -> Rows:
    """The integers of a range, which is refused by its length before it is listed."""
    if keys[:LONGEST] != keys:
        raise ParameterError(f"{argument} must have at most {LONGEST} entries")
    if max(map(abs, (keys.start, keys.stop, keys.step))) >= LARGE:
        return _of_objects(list(keys), argument)
    return Integers(len(keys), None, np.arange(keys.start, keys.stop, keys.step))


def _of_objects(items: list[Any], argument: str) -> Rows:
    """Python objects, looked at by their types; the only float that can be is NaN."""
    kinds = {_kind(kind) for kind in set(map(type, items))}
    if "float" in kinds and any(isinstance(x, FLOATS) and x == x for x in items):
        kinds.add("other")
    known = kinds - {"null", "float"}
    if len(known) > 1 or "other" in known:
        raise ParameterTypeError(KEYS.format(argument))
    if known == {"text"}:
        return _of_texts(items, None if kinds == known else [isinstance(x, str) for x in items])
    if kinds == {"integer"}:
        with contextlib.suppress(OverflowError):
            return Integers(len(items), None, np.fromiter(items, np.int64, len(items)))
    return Objects(len(items), None, items)


def _of_texts(items: list[Any], known: list[bool] | None) -> Text:
    """Strings, all at once; those that are not `known` are missing."""
    valid = None if known is None else np.array(known, np.bool_)
    texts = (
        items
        if known is None
        else [x if there else "" for x, there in zip(items, known, strict=True)]
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


def _kind(kind: type) -> str:
    """What objects of a type are."""
    if kind in NO_INTEGERS:
        return "other"
    if issubclass(kind, str):
        return "text"
    if issubclass(kind, (int, np.integer)):
        return "integer"
    if issubclass(kind, (float, np.floating)):
        return "float"
    module = kind.__module__
    name = "pandas" if module.startswith("pandas.") else module.replace("numpy.ma.core", "numpy.ma")
    return "null" if kind is type(None) or (name, kind.__name__) in MISSING else "other"


def _of_pandas(keys: Any, argument: str) -> list[Rows]:
    """A series, an index or an array of pandas; what its methods raise may hold keys."""
    try:
        rows = _of_series(keys, argument)
    except (FastexpError, OSError):
        raise
    except Exception:
        rows = None
    if rows is None:  # outside the handler: that error is no context of ours
        raise ParameterTypeError(KEYS.format(argument))
    return rows


def _of_series(keys: Any, argument: str) -> list[Rows] | None:
    """The same, by its type, of pandas, which is not imported here; None of other types."""
    dtype = attribute(keys, "dtype")
    if has(dtype, "categories"):
        codes = np.asarray(getattr(keys, "cat", keys).codes)
        return [Coded(codes.size, None, codes, tuple(read(dtype.categories, argument)))]
    if isinstance(dtype, np.dtype):
        return [_of_array(keys.to_numpy(), argument)]
    if getattr(dtype, "kind", "O") in "iu" and hasattr(dtype, "numpy_dtype"):
        missing = np.asarray(keys.isna(), dtype=bool)
        values = keys.to_numpy(dtype=dtype.numpy_dtype, na_value=0)
        return [Integers(missing.size, ~missing if missing.any() else None, values)]
    python = getattr(dtype, "storage", "pyarrow") == "python"
    if not python and _arrow.is_arrow(keys):
        return [_of_column(part, argument) for part in _arrow.column(keys, argument)]
    if getattr(dtype, "kind", "O") in "OU" and getattr(dtype, "type", None) is str:
        return [_of_array(keys.to_numpy(dtype=object), argument)]
    return None


def _of_column(part: _arrow.Column, argument: str) -> Rows:
    if part.kind == "integers" and part.values is not None:
        return Integers(part.length, part.valid, part.values)
    if part.kind == "text" and part.values is not None and part.offsets is not None:
        return Text(part.length, part.valid, part.values, part.offsets)
    if part.kind == "dictionary" and part.values is not None and part.child is not None:
        child = (_of_column(part.child, argument),)
        return Coded(part.length, part.valid, part.values, child)
    if part.kind == "other" and part.format == "n":
        return Objects(part.length, None, [None] * part.length)
    raise ParameterTypeError(KEYS.format(argument))
