"""Columns of keys, in any form.

A column of another type is refused, with a message that reveals nothing of the keys: they are
private, unless they are the public list.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, count, repeat
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from .._arrow import arrow
from .._intake.number_columns import NULLS, arrow_type, described
from .._parameters.foreign import attribute, has, is_pandas, readable
from .._typing import AnyArray, IntArray
from ..errors import FastexpError, ParameterError, ParameterTypeError
from .group_names import KeyNames
from .key_tables import TextTable
from .keys import HIGHEST, LOWEST, NAT, TICKS, KeyKind, Keys, Unit, finest, in_unit

KEYS = (
    "{} must be one column of integers, text, booleans, dates or timestamps without a zone, in s, "
    "ms, us or ns (an array, a list, a series or an Arrow array); floats (pandas turns integers "
    "with missing values into them: use its nullable integers), bytes, times, durations, decimals "
    "and mixtures are refused"
)
ASCII = 128  # code points are below it
MAX_TYPE = 60  # characters of a type in a message
MAX_RANGE = 1 << 32  # entries of a range
LARGE = 1 << 62  # int64 holds all steps of a range whose ends are below it
UNITS: dict[str, Unit] = {"tss:": "s", "tsm:": "ms", "tsu:": "us", "tsn:": "ns"}
MILLISECONDS, DAY = "tdm", 86_400_000  # a format of dates in milliseconds, and those of a day
FLOATS, INTEGERS = (float, np.floating), (int, np.integer)
MISSING = frozenset({("pandas", "NAType"), ("pandas", "NaTType"), ("numpy.ma", "MaskedConstant")})

Type: TypeAlias = KeyKind | Literal["moments", "null", "float", "other"]


def read(
    keys: object,
    argument: str,
    names: KeyNames | None = None,
    *,
    unit: Unit = "",
    modulo: bool = False,
) -> Keys:
    """Read a column of keys.

    `names` is a public list: only its texts are known, and others have the number -1. `unit` is
    that of timestamps that are Python objects, by default the finest among them. `modulo` is
    whether integers from 2**63 on stand for themselves minus 2**64.
    """
    readable(keys, argument)
    column = keys if isinstance(keys, Keys) else _read(keys, argument, names, unit)
    values = column.values
    if values.dtype.kind != "u" or values.dtype.itemsize < np.dtype(np.int64).itemsize:
        return column
    values = np.ascontiguousarray(values, np.uint64)
    far = values > HIGHEST
    column = replace(column, values=values.view(np.int64))
    return column if modulo or not far.any() else _without(column, far)


def read_private(keys: object) -> Keys:
    """Read a column of keys of unlisted groups: each row's key depends on that row alone."""
    return read(keys, "by", unit="us").nameable()


def joined(parts: Sequence[Keys], argument: str, unit: Unit = "") -> Keys:
    """Join the rows of several columns of one kind; `unit` as in `read`."""
    if len(parts) < 2:
        return parts[0] if parts else _nothing(0)
    kinds = {part.kind for part in parts if part.kind is not None}
    if len(kinds) > 1:
        raise not_keys(argument, "a mixture of types")
    most = finest([part.unit for part in parts])
    unit = most and (unit or most)
    alike = [_in_unit(part, unit) if part.unit else part for part in parts]
    lists = {id(part.texts): part.texts for part in parts if part.texts}
    if len(lists) > 1:
        place = {text: i for i, text in enumerate(dict.fromkeys(chain(*lists.values())))}
        lists = {0: list(place)}
        alike = [_recoded(part, place) if part.texts else part for part in parts]
    has_key = np.concatenate([part.has_key for part in alike])
    return Keys(
        kinds.pop() if kinds else None,
        np.concatenate([part.values for part in alike]),
        None if has_key.all() else has_key,
        unit,
        next(iter(lists.values()), ()),
        any(part.exceeds_int64 for part in alike),
    )


def not_keys(argument: str, got: str = "") -> ParameterTypeError:
    """Return the error for data that is not keys; `got` is a type."""
    return ParameterTypeError(KEYS.format(argument) + (f", got {got[:MAX_TYPE]}" if got else ""))


def _without(keys: Keys, far: AnyArray) -> Keys:
    """Return the keys with those beyond int64 (`far`) missing."""
    exceeds_int64 = keys.exceeds_int64 or bool((keys.has_key & far).any())
    return replace(keys, valid=keys.has_key & ~far, exceeds_int64=exceeds_int64)


def _in_unit(keys: Keys, unit: Unit) -> Keys:
    """Return timestamps in another unit."""
    numbers, fit = in_unit(keys.values.astype(np.int64, copy=False), keys.unit, unit)
    if fit is None or fit.all():
        return replace(keys, values=numbers, unit=unit)
    values = np.zeros(keys.size, np.int64)
    values[fit] = numbers
    return _without(replace(keys, values=values, unit=unit), ~fit)


def _recoded(keys: Keys, place: dict[str, int]) -> Keys:
    """Return texts with other codes, the places of the texts."""
    codes = np.array([*map(place.get, keys.texts), -1], np.int64)
    return replace(keys, values=codes[keys.values])


def _read(keys: object, argument: str, names: KeyNames | None, unit: Unit) -> Keys:
    if isinstance(keys, np.ndarray):
        return _of_array(keys, argument, names, unit)
    if isinstance(keys, range):
        return _of_range(keys, argument)
    if isinstance(keys, (list, tuple)):
        return _of_objects(list(keys), argument, names, unit)
    if is_pandas(keys):
        return _of_pandas(keys, argument, names, unit)
    if arrow.is_arrow(keys):
        return _of_chunks(arrow.column(keys, argument), argument, names)
    raise not_keys(argument, f"an object of type {type(keys).__name__}")


def _of_array(keys: AnyArray, argument: str, names: KeyNames | None, unit: Unit) -> Keys:
    valid = None
    if isinstance(keys, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(keys)
        valid = ~mask if mask.any() else None
    plain = np.asarray(keys).view(np.ndarray)
    if plain.ndim != 1:
        raise not_keys(argument, f"an array of {plain.ndim} dimensions")
    kind, width = plain.dtype.kind, plain.dtype.itemsize
    if plain.size == 0 and kind == "f":  # of an empty list
        return _nothing(0)
    if kind in "iub":
        return Keys("booleans" if kind == "b" else "integers", plain, valid)
    if kind == "M" or (kind == "U" and width):
        plain = np.ascontiguousarray(plain, plain.dtype.newbyteorder("="))
    if kind == "M":
        ticks, count = np.datetime_data(plain.dtype)
        if count != 1 or (ticks != "D" and ticks not in TICKS):
            raise not_keys(argument, described(plain.dtype))
        return _instants(plain.view(np.int64), valid, ticks)
    points = plain.view(np.uint32) if kind == "U" and width else plain
    if points is not plain and int(points.max(initial=0)) < ASCII:
        begins = np.arange(plain.size) * (width // points.itemsize)
        ends = begins + np.char.str_len(plain)
        return _of_texts(points.astype(np.uint8), begins, ends, valid, names)
    if kind in "OTU":
        return _of_objects(keys.tolist(), argument, names, unit)
    raise not_keys(argument, described(plain.dtype))


def _instants(values: AnyArray, valid: AnyArray | None, unit: str) -> Keys:
    """Return dates (days) or timestamps as numbers of 64 bits; NAT is missing."""
    numbers = values.astype(np.int64, copy=False)
    there = numbers != NAT
    if not there.all():
        valid = there if valid is None else valid & there
    if unit == "D":
        return Keys("dates", numbers, valid)
    return Keys("timestamps", numbers, valid, cast("Unit", unit))


def _of_range(keys: range, argument: str) -> Keys:
    """Return the integers of a range; a long one is refused before it is listed."""
    if keys[:MAX_RANGE] != keys:
        raise ParameterError(f"{argument} must have at most {MAX_RANGE} entries")
    if max(map(abs, (keys.start, keys.stop, keys.step))) >= LARGE:
        return _of_objects(list(keys), argument, None, "")
    return Keys("integers", np.arange(keys.start, keys.stop, keys.step))


def _of_pandas(keys: object, argument: str, names: KeyNames | None, unit: Unit) -> Keys:
    """Read a series, an index or an array of pandas; errors of its methods may hold keys."""
    try:
        column = _of_series(keys, argument, names, unit)
    except (FastexpError, OSError):
        raise
    except Exception:
        column = None
    if column is None:  # outside the handler, so that the error is not the context of this one
        name = attribute(attribute(keys, "dtype"), "name")
        raise not_keys(argument, f"a column of {name}" if isinstance(name, str) else "")
    return column


def _of_series(keys: Any, argument: str, names: KeyNames | None, unit: Unit) -> Keys | None:
    """Read it by its type, without importing pandas; return None for other types."""
    if has(keys, "to_series"):  # an index hands out no Arrow data
        keys = keys.to_series()
    dtype = attribute(keys, "dtype")
    if has(dtype, "categories"):
        codes = np.asarray(getattr(keys, "cat", keys).codes)
        return _of_dictionary(codes, None, _read(dtype.categories, argument, names, unit))
    if isinstance(dtype, np.dtype) or has(dtype, "fill_value"):  # sparse
        return _of_array(np.asarray(keys), argument, names, unit)
    kind = getattr(dtype, "kind", "O")
    if kind in "iub" and hasattr(dtype, "numpy_dtype"):
        missing = np.asarray(keys.isna(), dtype=bool)
        gap = False if kind == "b" else 0  # of exactly this type: Arrow's take no other
        values = keys.to_numpy(dtype=dtype.numpy_dtype, na_value=gap)
        valid = ~missing if missing.any() else None
        return Keys("booleans" if kind == "b" else "integers", values, valid)
    if has(dtype, "tz"):
        raise not_keys(argument, "timestamps with a zone")
    python = getattr(dtype, "storage", "pyarrow") == "python"
    if not python and arrow.is_arrow(keys):
        return _of_chunks(arrow.column(keys, argument), argument, names)
    if kind in "OU" and getattr(dtype, "type", None) is str:
        return _of_array(keys.to_numpy(dtype=object), argument, names, unit)
    return None


def _of_dictionary(codes: AnyArray, valid: AnyArray | None, entries: Keys) -> Keys:
    """Return the entries of a dictionary at `codes`; -1 is missing."""
    if entries.valid is None and entries.size and int(codes.min(initial=0)) >= 0:
        return replace(entries, values=entries.values[codes], valid=valid)
    rows = joined([entries, _nothing(1)], "").taken(codes)
    return rows if valid is None else replace(rows, valid=rows.has_key & valid)


def _of_chunks(parts: list[arrow.Column], argument: str, names: KeyNames | None) -> Keys:
    return joined([_of_column(part, argument, names) for part in parts], argument)


def _of_column(part: arrow.Column, argument: str, names: KeyNames | None) -> Keys:
    values, valid = part.values, part.valid
    if part.kind == "other" and part.format == NULLS:
        return _nothing(part.length)
    if values is None or part.kind == "floats":
        raise not_keys(argument, arrow_type(part))
    if part.offsets is not None and part.ends is not None:
        return _of_texts(values, part.offsets, part.ends, valid, names)
    if part.kind == "dictionary" and part.child is not None:
        return _of_dictionary(values, valid, _of_column(part.child, argument, names))
    if part.kind == "timestamps":
        return _instants(values, valid, UNITS[part.format])
    if part.kind == "dates":
        if part.format == MILLISECONDS:
            values = np.where(values == NAT, NAT, values // DAY)
        return _instants(values, valid, "D")
    return Keys("booleans" if part.kind == "booleans" else "integers", values, valid)


def _of_texts(
    values: AnyArray,
    begins: IntArray,
    ends: IntArray,
    valid: AnyArray | None,
    names: KeyNames | None,
) -> Keys:
    """Read texts in UTF-8; other bytes become lone surrogates, and such a text is no name."""
    if valid is not None:
        begins, ends = begins[valid], ends[valid]
    texts: Sequence[str]
    if names is None:
        table = TextTable(values, begins, ends)
        codes, texts = table.codes, table.texts()
    else:
        codes, texts = names.text_table.find(values, begins, ends), names.texts
    if valid is not None:
        valid_codes, codes = codes, np.full(valid.size, -1, np.int64)
        codes[valid] = valid_codes
    return Keys("text", codes, valid, texts=texts)


def _of_strings(items: list[Any], names: KeyNames | None) -> tuple[IntArray, Sequence[str]]:
    """Return (codes, texts) of strings; the code of None is -1."""
    size = len(items)
    if names is not None:
        return np.fromiter(map(names.place.get, items, repeat(-1)), np.int64, size), names.texts
    first: dict[Any, int] = {}  # the first row of each text
    rows = np.fromiter(map(first.setdefault, items, count()), np.int64, size)
    first.pop(None, None)
    codes = np.full(size, -1)
    codes[list(first.values())] = np.arange(len(first))
    return codes[rows], tuple(first)


def _nothing(size: int) -> Keys:
    """Return rows without a key."""
    return Keys(None, np.zeros(size, np.bool_), np.zeros(size, np.bool_))


def _of_objects(items: list[Any], argument: str, names: KeyNames | None, unit: Unit) -> Keys:
    """Read Python objects by their types; the only float allowed is NaN, which is missing."""
    types = {kind: _type(kind) for kind in set(map(type, items))}
    seen = set(types.values())
    if "float" in seen and any(isinstance(x, FLOATS) and x == x for x in items):
        raise not_keys(argument, "floats")
    if "other" in seen:
        name = next(kind.__name__ for kind, what in types.items() if what == "other")
        raise not_keys(argument, f"objects of type {name}")
    known = seen - {"null", "float"}
    if seen != known:
        items = [x if types[type(x)] in known else None for x in items]
    if known and known <= {"moments", "dates"}:
        return _of_moments(items, argument, unit)
    if len(known) > 1:
        raise not_keys(argument, "a mixture of types")
    if not known:
        return _nothing(len(items))
    valid = None if seen == known else np.array([x is not None for x in items], np.bool_)
    if known == {"booleans"}:
        return Keys("booleans", np.array(items, np.bool_), valid)
    if known == {"integers"}:
        return _of_integers(items, valid)
    if any(types[kind] == "text" and kind is not str for kind in types):
        items = [None if x is None else str.__str__(x) for x in items]  # of subclasses of str
    codes, texts = _of_strings(items, names)
    return Keys("text", codes, valid, texts=texts)


def _type(kind: type) -> Type:
    """Return the kind of objects of a type."""
    module = kind.__module__
    name = "pandas" if module.startswith("pandas.") else module.replace("numpy.ma.core", "numpy.ma")
    if kind is type(None) or (name, kind.__name__) in MISSING:  # NaT inherits datetime
        return "null"
    kinds: tuple[tuple[Any, Type], ...] = (
        ((bool, np.bool_), "booleans"),  # bool inherits int
        (np.timedelta64, "other"),  # it inherits NumPy's integers
        (str, "text"),
        (INTEGERS, "integers"),
        (FLOATS, "float"),
        ((dt.datetime, np.datetime64), "moments"),  # dates or timestamps by unit; inherits date
        (dt.date, "dates"),
    )
    for types, held in kinds:
        if issubclass(kind, types):
            return held
    return "other"


def _of_integers(items: list[Any], valid: AnyArray | None) -> Keys:
    """Read integers of any size; those that are not valid are None."""
    size, numbers = len(items), items
    if valid is not None:
        numbers = [0 if x is None else x for x in items]
    with contextlib.suppress(OverflowError):
        return Keys("integers", np.fromiter(numbers, np.int64, size), valid)
    whole = list(map(int, numbers))
    if min(whole) >= 0 and max(whole) < 1 << 64:
        return Keys("integers", np.array(whole, np.uint64), valid)
    far = np.array([not LOWEST <= x <= HIGHEST for x in whole], np.bool_)
    near = np.array([x if LOWEST <= x <= HIGHEST else 0 for x in whole], np.int64)
    return _without(Keys("integers", near, valid), far)


def _of_moments(items: list[Any], argument: str, unit: Unit) -> Keys:
    """Read dates and timestamps of Python, NumPy and pandas, each of its own unit, and None."""
    moments = [None if x is None else _moment(x, argument) for x in items]
    item_units = ["" if x is None else x.dtype.str[4:-1] for x in moments]
    units = sorted({*item_units} - {""})
    if "D" in units and len(units) > 1:
        raise not_keys(argument, "dates beside timestamps")
    unknown_units = [unit for unit in units if unit not in ("D", *TICKS)]
    if unknown_units:
        raise not_keys(argument, f"timestamps in units of {unknown_units[0]}")
    parts = [_nothing(item_units.count(""))]
    for ticks in units:
        of_unit = [x for x, other in zip(moments, item_units, strict=True) if other == ticks]
        parts.append(_instants(np.array(of_unit, f"M8[{ticks}]").view(np.int64), None, ticks))
    # The place of each item when they are sorted by unit.
    place = np.argsort(np.argsort(item_units, kind="stable"))
    return joined(parts, argument, unit).taken(place)


def _moment(item: Any, argument: str) -> np.datetime64 | None:
    """Return a date or timestamp as NumPy's, exactly; None for NaT."""
    if isinstance(item, np.datetime64):
        return None if np.isnat(item) else item
    if not isinstance(item, dt.datetime):
        return np.datetime64(item, "D")
    if attribute(item, "tzinfo", "one that fails") is not None:
        raise not_keys(argument, "timestamps with a zone")
    fine = attribute(item, "asm8")  # of pandas' timestamps, which may have nanoseconds
    return fine if isinstance(fine, np.datetime64) else np.datetime64(item, "us")
