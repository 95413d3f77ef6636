"""What a column holds, by its type alone: for any engine, and without looking at its rows."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

import numpy as np

from ..._arrow import arrow
from ..._arrow.arrow_columns import NUMBERS as NUMBERS_OF_ARROW
from ..._intake.number_columns import NULLS, arrow_type, described, is_column
from ..._parameters.foreign import attribute, has, is_pandas
from ...errors import ParameterError, ParameterTypeError
from .frame import ColumnRead

Content = Literal["numbers", "text", "booleans", "nulls", "objects", "other"]
NUMBERS = "integers, floats or decimals", ("numbers",)
WANTED = {
    "doubles": NUMBERS,
    "numbers": NUMBERS,
    "integers": ("integers, floats or decimals, as candidates are integers", ("numbers",)),
    "text": ("text, as candidates are text", ("text",)),
    "booleans": ("booleans, as candidates are booleans", ("booleans",)),
}
KEYS = {"integers": "numbers", "text": "text", "booleans": "booleans"}
NUMPY_CONTENTS: dict[str, Content] = {"U": "text", "T": "text", "b": "booleans"}  # NumPy's kinds
NARROW = ("i1", "i2", "i4", "u1", "u2", "c", "C", "s", "S", "i")  # types of NumPy and of Arrow
MAX_NAMES = 20  # names of columns in a message
PANDAS = ' (pandas turns integers with missing values into floats: astype("Int64"))'
NUMERIC = frozenset("0123456789+-.")  # first characters of numbers
UNKNOWN = ("nulls", "objects")  # types that say nothing: columns of them may hold anything


class Type(NamedTuple):
    """What a column holds ("nulls": only missing values; "objects": values of unknown type)."""

    content: Content
    name: str
    floats: bool = False  # or decimals
    coded: bool = False  # as categories
    narrow: bool = False  # integers of at most 32 bits


def check_column(column: str, names: Sequence[str]) -> None:
    """Refuse a column that a frame does not have, or has several times."""
    occurrences = names.count(column)
    if occurrences != 1:
        if occurrences:
            raise ParameterError(f"frame has several columns named {column!r}")
        raise ParameterError(f"frame has no column {column!r}: {_present(names, column)}")


def _present(names: Sequence[str], wanted: str) -> str:
    """Which columns there are instead; names that may be a record, not a header, are not shown."""
    if not names:
        return "it has none whose name is text"
    if len(set(names)) < len(names) or any(not name or name[0] in NUMERIC for name in names):
        return (
            "its column names are not shown, because they may be a record (is there a header row?)"
        )
    present = ", ".join(map(repr, names[:MAX_NAMES])) + ", ..." * (len(names) > MAX_NAMES)
    if len(names) == 1 and set(names[0]) & set(",;|\t "):
        return f"it has only {present} (is another delimiter between its columns?)"
    alike = get_close_matches(wanted, names, 1)
    return f"it has {present}" + "".join(f"; did you mean {name!r}?" for name in alike)


def check_records(argument: str, use: ColumnRead, column: object) -> None:
    """Refuse records of a type that does not fit the reading.

    The column is as of `Frame.empty`, or a part of the rows; the message tells nothing of its
    content.
    """
    wanted, fitting = WANTED[use.reading]
    kind = type_of(column)
    if kind.content not in (*fitting, *UNKNOWN) or (kind.coded and WANTED[use.reading] is NUMBERS):
        raise ParameterTypeError(
            f"{argument} must be a column of {wanted}, got {use.column!r}, which holds {kind.name}"
        )


def check_keys(argument: str, use: ColumnRead, column: object) -> None:
    """Refuse groups and persons that are floats: by type alone, they could be anything.

    Groups of another type than the listed ones are refused, too, if types tell. Other columns that
    are no keys are refused where keys are read. The column is as of `check_records`.
    """
    kind = type_of(column)
    if kind.floats:
        raise ParameterTypeError(
            f"{argument} must be a column of integers, text, booleans, dates or timestamps, got "
            f"{use.column!r}, which holds {kind.name}{PANDAS * is_pandas(column)}"
        )
    is_listed = use.reading not in ("keys", "names")
    if is_listed and kind.content in KEYS.values() and kind.content != KEYS.get(use.reading):
        raise ParameterTypeError(
            f"{argument} must hold {use.reading}, as the public list does, got {use.column!r}, "
            f"which holds {kind.name}: convert the column, or the list"
        )


def type_of(column: object) -> Type:
    """What a column of any form holds."""
    try:
        return _type_of(column)
    except Exception:  # of a foreign object; its message may hold data
        return Type("other", "a type that cannot be read")


def _type_of(column: object) -> Type:
    if isinstance(column, range):
        return Type("numbers", "integers")
    dtype = attribute(column, "dtype")
    if has(dtype, "categories") and is_pandas(column):  # of pandas
        entries = dtype.categories.to_series()  # an index hands out no Arrow data
        entry_type = type_of(entries)
        if entry_type.floats and not entries.size:  # all rows were missing
            entry_type = Type("nulls", "nulls")
        return entry_type._replace(name=f"categories ({dtype})", coded=True)
    if is_column(column) or has(dtype, "pyarrow_dtype"):
        return _of_chunk(arrow.column(_without_rows(column), "column")[0])
    if dtype is None:
        return Type("objects", "objects")
    if is_pandas(column) and attribute(dtype, "type") is str:
        return Type("text", f"text ({dtype})")
    kind = attribute(dtype, "kind", "O")
    if kind in "iuf":
        name, are_floats = f"{'floats' if kind == 'f' else 'integers'} ({dtype})", kind == "f"
        is_narrow = kind + str(attribute(dtype, "itemsize")) in NARROW
        return Type("numbers", name, are_floats, narrow=is_narrow)
    if kind == "O":
        objects = isinstance(dtype, np.dtype)  # extension types of pandas are not objects
        return Type("objects" if objects else "other", f"objects ({dtype})")
    return Type(NUMPY_CONTENTS.get(kind, "other"), described(dtype))


def _without_rows(column: object) -> Any:
    rows = attribute(column, "iloc", column)
    return rows[:0] if has(type(rows), "__getitem__") else column


def _of_chunk(chunk: arrow.Column) -> Type:
    if chunk.kind == "dictionary" and chunk.child is not None:
        return _of_chunk(chunk.child)._replace(name=arrow_type(chunk), coded=True)
    if chunk.kind in ("integers", "floats"):
        width = NUMBERS_OF_ARROW.get(chunk.format)
        name = "decimals" if width is None else f"{chunk.kind} ({np.dtype(width[1])})"
        return Type("numbers", name, chunk.kind == "floats", narrow=chunk.format in NARROW)
    if chunk.kind == "text":
        return Type("text", arrow_type(chunk))
    if chunk.format == NULLS:
        return Type("nulls", "nulls")
    return Type("booleans" if chunk.format == "b" else "other", arrow_type(chunk))
