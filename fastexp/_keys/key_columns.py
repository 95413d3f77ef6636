"""Keys of rows as they come, in whatever form, to a few plain ones.

Whatever else a column holds is refused by its type, with a message that says nothing of the
keys: they are private, unless they are the public list.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .._arrow import arrow
from .._intake.number_columns import NULLS, arrow_type, described
from .._parameters.foreign import attribute, has, is_pandas, readable
from .._typing import AnyArray
from ..errors import FastexpError, ParameterError
from .key_objects import not_keys, of_objects
from .key_rows import NAT, TICKS, Coded, Integers, Kind, Objects, Rows, Text, Unit, Wide, instants

LONGEST = 1 << 32  # of a range
LARGE = 1 << 62  # ends of a range whose steps int64 holds
DECIMALS = "d"
CODES = frozenset("cCsSiIlL")  # of integers; columns of these that are not read are dictionaries
ZONED = "ts"  # how formats of Arrow's timestamps begin; those that are read have no zone
UNITS: dict[str, Unit] = {"tss:": "s", "tsm:": "ms", "tsu:": "us", "tsn:": "ns"}
MILLISECONDS, DAY = "tdm", 86_400_000  # a format of dates, and how many of them are a day


def read(keys: object, argument: str) -> list[Rows]:
    """The chunks of a column of keys."""
    readable(keys, argument)
    if isinstance(keys, np.ndarray):
        return [_of_array(keys, argument)]
    if isinstance(keys, arrow.Chunks):
        return [_of_column(part, argument) for part in keys.columns]
    if isinstance(keys, range):
        return [_of_range(keys, argument)]
    if isinstance(keys, (list, tuple)):
        return [of_objects(list(keys), argument)]
    if is_pandas(keys):
        return _of_pandas(keys, argument)
    if arrow.is_arrow(keys):
        return [_of_column(part, argument) for part in arrow.column(keys, argument)]
    raise not_keys(argument, f"an object of type {type(keys).__name__}")


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
        raise not_keys(argument, f"an array of {plain.ndim} dimensions")
    kind, size = plain.dtype.kind, plain.size
    if size == 0 and kind == "f":  # of an empty list
        return Objects(0, None, [])
    if kind in "iu":
        return Integers(size, valid, plain)
    if kind == "b":
        return Integers(size, valid, plain, "booleans")
    if kind == "M":
        return _of_moments(plain, valid, argument)
    if kind == "U" and plain.dtype.itemsize:
        return Wide(size, valid, np.ascontiguousarray(plain, plain.dtype.newbyteorder("=")))
    if kind in "OTU":
        return of_objects(keys.tolist(), argument)
    raise not_keys(argument, f"floats ({plain.dtype})" if kind == "f" else described(plain.dtype))


def _of_moments(keys: AnyArray, valid: AnyArray | None, argument: str) -> Integers:
    """Dates or timestamps of NumPy."""
    unit, count = np.datetime_data(keys.dtype)
    if count != 1 or (unit != "D" and unit not in TICKS):
        raise not_keys(argument, f"an array of {keys.dtype.name}")
    numbers = np.ascontiguousarray(keys, keys.dtype.newbyteorder("=")).view(np.int64)
    if unit == "D":
        return instants(numbers, valid, "dates")
    return instants(numbers, valid, "timestamps", cast("Unit", unit))


def _of_range(keys: range, argument: str) -> Rows:
    """The integers of a range, which is refused by its length before it is listed."""
    if keys[:LONGEST] != keys:
        raise ParameterError(f"{argument} must have at most {LONGEST} entries")
    if max(map(abs, (keys.start, keys.stop, keys.step))) >= LARGE:
        return of_objects(list(keys), argument)
    return Integers(len(keys), None, np.arange(keys.start, keys.stop, keys.step))


def _of_pandas(keys: object, argument: str) -> list[Rows]:
    """A series, an index or an array of pandas; what its methods raise may hold keys."""
    try:
        rows = _of_series(keys, argument)
    except (FastexpError, OSError):
        raise
    except Exception:
        rows = None
    if rows is None:  # outside the handler: that error is no context of ours
        name = attribute(attribute(keys, "dtype"), "name")
        raise not_keys(argument, f"a column of {name}" if isinstance(name, str) else "")
    return rows


def _of_series(keys: Any, argument: str) -> list[Rows] | None:
    """The same, by its type, of pandas, which is not imported here; None of other types."""
    if has(keys, "to_series"):  # an index hands out no Arrow data
        keys = keys.to_series()
    dtype = attribute(keys, "dtype")
    if has(dtype, "categories"):
        codes = np.asarray(getattr(keys, "cat", keys).codes)
        return [Coded(codes.size, None, codes, tuple(read(dtype.categories, argument)))]
    if isinstance(dtype, np.dtype) or has(dtype, "fill_value"):  # sparse
        return [_of_array(np.asarray(keys), argument)]
    kind = getattr(dtype, "kind", "O")
    if kind in "iub" and hasattr(dtype, "numpy_dtype"):
        missing = np.asarray(keys.isna(), dtype=bool)
        gap = False if kind == "b" else 0  # of this very type: Arrow's take no other
        values = keys.to_numpy(dtype=dtype.numpy_dtype, na_value=gap)
        valid = ~missing if missing.any() else None
        return [Integers(missing.size, valid, values, "booleans" if kind == "b" else "integers")]
    if has(dtype, "tz"):
        raise not_keys(argument, "timestamps with a zone")
    python = getattr(dtype, "storage", "pyarrow") == "python"
    if not python and arrow.is_arrow(keys):
        return [_of_column(part, argument) for part in arrow.column(keys, argument)]
    if kind in "OU" and getattr(dtype, "type", None) is str:
        return [_of_array(keys.to_numpy(dtype=object), argument)]
    return None


def _of_column(part: arrow.Column, argument: str) -> Rows:
    values, valid = part.values, part.valid
    if part.kind == "other" and part.format == NULLS:
        return Objects(part.length, None, [None] * part.length)
    if values is None or part.kind == "floats":
        raise not_keys(argument, _described(part))
    if part.kind == "text" and part.offsets is not None:
        return Text(part.length, valid, values, part.offsets)
    if part.kind == "dictionary" and part.child is not None:
        return Coded(part.length, valid, values, (_of_column(part.child, argument),))
    if part.kind == "timestamps":
        return instants(values, valid, "timestamps", UNITS[part.format])
    if part.kind == "dates":
        if part.format == MILLISECONDS:
            values = np.where(values == NAT, NAT, values // DAY)
        return instants(values, valid, "dates")
    kind: Kind = "booleans" if part.kind == "booleans" else "integers"
    return Integers(part.length, valid, values, kind)


def _described(part: arrow.Column) -> str:
    """What a column of Arrow data that holds no keys does hold, by its type."""
    if part.kind == "floats":
        return "decimals" if part.format.startswith(DECIMALS) else "floats"
    if part.format.startswith(ZONED):
        return "timestamps with a zone"
    if part.format in CODES:
        return "categories of another type"
    return arrow_type(part)
