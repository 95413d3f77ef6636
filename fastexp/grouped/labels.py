"""Records of groups as numbers of public candidates."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any

import numpy as np

from .._arrow import arrow
from .._intake import utilities
from .._intake.number_columns import NULLS, Numbers, arrow_type, described, is_column, read
from .._keys.group_keys import codes_of
from .._keys.group_lists import names_of
from .._parameters.foreign import attribute, has, is_pandas, readable
from .._typing import AnyArray, IntArray
from ..errors import FastexpError, ParameterTypeError

FITTING = {"numbers": ("numbers", "booleans"), "text": ("text",)}


def read_labels(records: object, candidates: tuple[Any, ...]) -> tuple[IntArray, AnyArray]:
    """Return the number of the candidate that each record equals, and a mask of the others."""
    readable(records, "records")
    check_type(records, candidates)
    if isinstance(records, Numbers):  # of a column of lists
        codes, _ = read_labels(records.values, candidates)
        codes = _without(codes, records.missing)
        return codes, codes < 0
    objects = isinstance(records, (list, tuple)) or (
        type(records) is np.ndarray and records.dtype.kind == "O"
    )
    numbers = None if objects else _by_name(records, candidates)  # Python is fastest with its own
    if numbers is None:
        numbers = _by_value(records, candidates)
    return numbers, numbers < 0


def check_type(records: object, candidates: tuple[Any, ...]) -> None:
    """Refuse records by the type of their array or column, if no record of it can be a candidate.

    Only if the candidates are all integers or all text. Lists, objects and no records pass.
    """
    labels = {type(label) for label in candidates}
    if labels not in ({int}, {str}):
        return
    wanted = "numbers" if labels == {int} else "text"
    held = _held(records)
    if held is not None and held.partition(" ")[0] not in FITTING[wanted]:
        raise ParameterTypeError(f"records are {held} but candidates are {wanted}")


def are_numbers(data: object) -> bool:
    """Whether the data is not empty and holds only numbers, by its type where that tells."""
    if isinstance(data, (list, tuple)):
        return len(data) > 0 and all(
            are_numbers(item) if isinstance(item, (list, tuple, np.ndarray)) else _is_number(item)
            for item in data
        )
    held = _held(data)
    return held is not None and held.startswith("numbers")


def _is_number(item: object) -> bool:
    return isinstance(item, (int, float, np.number)) and not isinstance(item, bool)


def _held(records: object) -> str | None:
    """Return what an array or column holds, by its type alone; None if that does not tell."""
    try:
        return None if isinstance(records, (list, tuple, str, bytes)) else _type_of(records)
    except Exception:  # from a foreign object; its message may hold data
        return None


def _type_of(records: Any) -> str | None:
    """Return the same for data with a length and a dtype, or for Arrow data; this may fail."""
    dtype = attribute(records, "dtype")
    dtype = attribute(attribute(dtype, "categories"), "dtype", dtype)  # of pandas
    if not len(records):
        return None
    if is_pandas(records) and attribute(dtype, "type") is str:
        return "text"
    of_arrow = is_column(records) or has(dtype, "pyarrow_dtype")
    if of_arrow and isinstance(records, Iterable):  # others may be readable only once
        return _held_by(arrow.Opened(records, "records").without_rows())
    kind = attribute(dtype, "kind", "O")
    if kind in "iufO":
        return None if kind == "O" else "numbers"
    return "text" if kind in "UT" else described(dtype)


def _held_by(chunk: arrow.Column) -> str | None:
    """Return the same for Arrow data."""
    if chunk.kind in ("dictionary", "list") and chunk.child is not None:
        return _held_by(chunk.child)
    if chunk.kind in ("integers", "floats"):
        return "numbers"
    if chunk.format == NULLS:
        return None
    return "text" if chunk.kind == "text" else arrow_type(chunk)


def _by_name(records: object, candidates: tuple[Any, ...]) -> IntArray | None:
    """Return codes if candidates are all integers, or all text, and records have that type."""
    kinds = {type(c) for c in candidates}
    if kinds not in ({int}, {str}):
        return None
    try:
        return codes_of(records, names_of(list(candidates), "candidates"), "records")
    except FastexpError:  # other types of records may equal them all the same: 1.0 and 1
        return None


def _by_value(records: object, candidates: tuple[Any, ...]) -> IntArray:
    """Return codes of records as Python compares them with candidates."""
    text = all(isinstance(c, (str, bytes)) for c in candidates)
    numeric = all(isinstance(c, (int, float)) for c in candidates)
    number = {c: i for i, c in enumerate(candidates)}
    masked = isinstance(records, np.ma.MaskedArray)
    other = numeric and (masked or (arrow.is_arrow(records) and not isinstance(records, Iterable)))
    floats = is_pandas(records) and attribute(attribute(records, "dtype"), "kind") == "f"
    if other or floats:  # with their gaps
        numbers = (_booleans(records) if other else None) or read(records, "records")
        if numbers is not None:
            return _without(_by_value(numbers.values, candidates), numbers.missing)
    labels = utilities.records(records, text, numeric)
    if isinstance(labels, np.ndarray):
        values, place = np.unique(labels, return_inverse=True)
        return np.array([number.get(v, -1) for v in values.tolist()], np.int64)[place]
    try:
        codes = np.fromiter(map(number.get, labels, repeat(-1)), np.int64, len(labels))
    except Exception:  # unhashable, or a hash that fails: the message may hold the record
        codes = None
    if codes is None:
        raise utilities.uncountable()
    return codes


def _booleans(records: object) -> Numbers | None:
    """Return Booleans of Arrow data as 0 and 1, which they equal; None for other data."""
    chunks = arrow.column(records, "records") if arrow.is_arrow(records) else []
    if not chunks or any(chunk.kind != "booleans" for chunk in chunks):
        return None
    values = np.concatenate([chunk.values for chunk in chunks if chunk.values is not None])
    gaps = [chunk.length * [False] if chunk.valid is None else ~chunk.valid for chunk in chunks]
    return Numbers(values.astype(np.int64), np.concatenate(gaps).astype(np.bool_))


def _without(codes: IntArray, missing: AnyArray | None) -> IntArray:
    """Return the codes, with -1 for missing records."""
    return codes if missing is None else np.where(missing, -1, codes)
