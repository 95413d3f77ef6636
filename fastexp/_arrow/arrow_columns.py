"""From the parts of Arrow arrays to columns: one function for each form of rows.

All rows are read as (first, count) of an array, so that what is around a slice, a batch or
the items of some lists is never looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from .._typing import AnyArray
from ..errors import ParameterTypeError
from . import decimals, views
from .c_interface import malformed
from .tree import Field, Part

Kind = Literal[
    "integers", "floats", "booleans", "dates", "timestamps", "text", "list", "dictionary", "other"
]
INTEGERS: dict[str, type[np.generic]] = {
    "c": np.int8, "C": np.uint8, "s": np.int16, "S": np.uint16,
    "i": np.int32, "I": np.uint32, "l": np.int64, "L": np.uint64,
}  # fmt: skip
FLOATS: dict[str, type[np.generic]] = {"e": np.float16, "f": np.float32, "g": np.float64}
DATES: dict[str, type[np.generic]] = {"tdD": np.int32, "tdm": np.int64}
TIMESTAMPS: dict[str, type[np.generic]] = dict.fromkeys(("tss:", "tsm:", "tsu:", "tsn:"), np.int64)
NUMBERS: dict[str, type[np.generic]] = {**INTEGERS, **FLOATS}
BITS = "b"  # the format of booleans
FIXED_WIDTH: dict[str, type[np.generic]] = {**NUMBERS, **DATES, **TIMESTAMPS, BITS: np.bool_}
PLAIN = "integers", "floats", "booleans", "dates", "timestamps"
TEXTS: dict[str, type[np.generic]] = {"u": np.int32, "U": np.int64, "vu": np.int64}
LISTS: dict[str, type[np.generic]] = {"+l": np.int32, "+L": np.int64}
VIEWS: dict[str, type[np.generic]] = {"+vl": np.int32, "+vL": np.int64}
FIXED = "+w:"
BLOCK = 1 << 16  # offsets looked at at once: scratch stays in the cache


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """Some rows of a column. Arrays that are the producer's memory are read-only.

    `valid` is None if and only if no row is null. A null row has any value, look at `valid` first;
    a null list has no items.

    * integers, floats: `values`, native (int8 to uint64, float16 to float64); of decimals the
      nearest float64.
    * booleans: `values` of bool. dates: days or milliseconds, timestamps without a zone: ticks
      since 1970, `values` of int32 or int64, as `format` tells.
    * text: row i is the bytes `values[offsets[i] : offsets[i + 1]]`; UTF-8 is not checked.
    * list: row i is the rows `offsets[i]` to `offsets[i + 1]` of `child`; `offsets` begin at 0
      and end at the length of `child`.
    * dictionary: row i is the row `values[i]` of `child`, which can be null there, too. Codes of
      null rows are in range as well, and 0 if the dictionary is empty.
    * other: a type that is not read; `format` tells which.
    """

    kind: Kind
    length: int
    format: str
    values: AnyArray | None = None
    offsets: AnyArray | None = None
    valid: AnyArray | None = None
    child: Column | None = None


def plain(field: Field) -> str:
    """The format of a type that stands for itself; nothing of any other."""
    return "" if field.extension or field.dictionary is not None else field.format


def checked(field: Field, argument: str) -> None:
    """Refuse lists of lists, whatever is in them."""
    if not _is_list(field):
        return
    if len(field.children) != 1:
        malformed(argument, "a list without its items")
    if _is_list(field.children[0]):
        raise ParameterTypeError(f"{argument} must not hold lists of lists")


def empty(field: Field) -> Column:
    """No rows of a type. Buffers may then be absent, and are not looked at."""
    kind, form = kind_of(field), field.format
    if kind == "other":
        return _other(field, 0)
    if kind in PLAIN:
        return Column(kind, 0, form, np.zeros(0, FIXED_WIDTH.get(form, np.float64)))
    if kind == "text":
        return Column(kind, 0, form, np.zeros(0, np.uint8), np.zeros(1, TEXTS[form]))
    if kind == "list":
        offsets = np.zeros(1, LISTS.get(form, np.int64))
        return Column(kind, 0, form, offsets=offsets, child=empty(field.children[0]))
    child = None if field.dictionary is None else empty(field.dictionary)
    return Column(kind, 0, form, np.zeros(0, INTEGERS[form]), child=child)


def read(field: Field, part: Part, first: int, count: int) -> Column:
    """Some rows of an array; `first` counts from its own first row."""
    kind, form = kind_of(field), field.format
    if first + count > part.length:
        malformed(part.owner.argument, "an array that is too short")
    if kind == "other":
        return _other(field, count)
    if count == 0:
        return empty(field)
    valid = nulls(part, first, count)
    if kind == "text":
        values, offsets = _text(form, part, first, count, valid)
        return Column(kind, count, form, values, offsets, valid)
    if kind == "list":
        offsets, child = _list(field, part, first, count, valid)
        return Column(kind, count, form, None, offsets, valid, child)
    if form.startswith(decimals.PREFIX):
        return Column(kind, count, form, decimals.doubles(form, part, first, count), None, valid)
    if field.dictionary is None and form == BITS:
        return Column(kind, count, form, _bits(part, 1, first, count), None, valid)
    values = part.buffer(1, FIXED_WIDTH[form], part.offset + first, count)
    if field.dictionary is None:
        return Column(kind, count, form, values, None, valid)
    words = part.dictionary()
    child = read(field.dictionary, words, 0, words.length)
    return Column(kind, count, form, _codes(values, valid, child.length, part), None, valid, child)


def nulls(part: Part, first: int, count: int) -> AnyArray | None:
    """Which rows are not null; None if all are not."""
    if part.nulls == 0 or count == 0:
        return None
    if not part.has(0):
        if part.nulls > 0:
            malformed(part.owner.argument, "nulls without a bitmap")
        return None
    known = _bits(part, 0, first, count)
    return None if known.all() else known


def _bits(part: Part, buffer: int, first: int, count: int) -> AnyArray:
    """A bit a row of a buffer, as booleans."""
    byte, bit = divmod(part.offset + first, 8)
    packed = part.buffer(buffer, np.uint8, byte, (bit + count + 7) // 8)
    return np.unpackbits(packed, count=bit + count, bitorder="little")[bit:].view(np.bool_)


def kind_of(field: Field) -> Kind:
    """What a type is read as."""
    form = field.format
    if field.extension:
        return "other"
    if field.dictionary is not None:
        return "dictionary" if form in INTEGERS and _flat(field.dictionary) else "other"
    if form in NUMBERS or decimals.known(form):
        return "integers" if form in INTEGERS else "floats"
    if form in DATES or form in TIMESTAMPS:
        return "dates" if form in DATES else "timestamps"
    if form == BITS:
        return "booleans"
    if form in VIEWS:  # they are copied, and only numbers are worth it
        return "list" if plain(field.children[0]) in NUMBERS else "other"
    return "text" if form in TEXTS else "list" if _is_list(field) else "other"


def _is_list(field: Field) -> bool:
    form = plain(field)
    return form in LISTS or form in VIEWS or form.startswith(FIXED)


def _flat(field: Field) -> bool:
    form = plain(field)
    return form in FIXED_WIDTH or form in TEXTS


def _other(field: Field, length: int) -> Column:
    form = f"{field.format} ({field.extension})" if field.extension else field.format
    gaps = np.zeros(length, np.bool_) if plain(field) == "n" and length else None
    return Column("other", length, form, valid=gaps)


def _offsets(kind: npt.DTypeLike, part: Part, first: int, count: int) -> AnyArray:
    """Offsets of rows, which never fall."""
    offsets = part.buffer(1, kind, part.offset + first, count + 1)
    blocks = (offsets[i : i + BLOCK + 1] for i in range(0, offsets.size - 1, BLOCK))
    falls = any(bool((block[1:] < block[:-1]).any()) for block in blocks)
    if falls or int(offsets[0]) < 0:
        malformed(part.owner.argument, "offsets that fall or are negative")
    return offsets


def _text(
    form: str, part: Part, first: int, count: int, valid: AnyArray | None
) -> tuple[AnyArray, AnyArray]:
    if form == "vu":
        return views.texts(part, first, count, valid)
    offsets = _offsets(TEXTS[form], part, first, count)
    return part.buffer(2, np.uint8, 0, int(offsets[-1])), offsets


def _codes(codes: AnyArray, valid: AnyArray | None, size: int, part: Part) -> AnyArray:
    """Codes that are rows of the dictionary; those of null rows may be anything, and become 0."""
    if int(codes.min()) >= 0 and int(codes.max()) < size:
        return codes
    used = codes if valid is None else codes[valid]
    if valid is None or (used.size and (int(used.min()) < 0 or int(used.max()) >= size)):
        malformed(part.owner.argument, "a code beyond its dictionary")
    return np.where(valid, codes, 0).astype(codes.dtype, copy=False)


def _list(
    field: Field, part: Part, first: int, count: int, valid: AnyArray | None
) -> tuple[AnyArray, Column]:
    """Offsets from 0 on, and the items between the first row's and the last's."""
    form, inner, items = field.format, field.children[0], part.child(0)
    if form in VIEWS:
        index, offsets = views.lists(part, VIEWS[form], first, count, valid)
        return offsets, _taken(read(inner, items, 0, items.length), index)
    if form in LISTS:
        offsets = _offsets(LISTS[form], part, first, count)
    else:
        start, digits = part.offset + first, form[len(FIXED) :]
        width = int(digits) if digits.isdecimal() else -1
        if width < 0 or (start + count) * width > items.length:
            malformed(part.owner.argument, "lists of a fixed size that do not fit")
        offsets = np.arange(start, start + count + 1, dtype=np.int64) * width
    low, high = int(offsets[0]), int(offsets[-1])
    child = read(inner, items, low, high - low)
    if valid is not None and bool(np.diff(offsets)[~valid].any()):  # null lists may have items
        sizes = np.diff(offsets)
        child = _taken(child, np.repeat(valid, sizes).nonzero()[0])
        return views.ends(np.where(valid, sizes, 0)), child
    return offsets - offsets[0] if low else offsets, child


def _taken(column: Column, index: AnyArray) -> Column:
    """Some rows of numbers, codes or text, in any order."""
    values, offsets = column.values, column.offsets
    if values is not None and offsets is not None:
        lengths = np.diff(offsets)[index]
        values, offsets = views.gathered(values, offsets[index], lengths)
    elif values is not None:
        values = values[index]
    valid = None if column.valid is None else column.valid[index]
    valid = None if valid is None or valid.all() else valid
    return replace(column, length=index.size, values=values, offsets=offsets, valid=valid)
