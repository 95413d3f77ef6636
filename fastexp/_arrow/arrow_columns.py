"""Columns from the parts of Arrow arrays: one function for each form of rows.

Rows are always read as a range (first, count) of an array, so that data around a slice, a batch or
the items of some lists are never looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..errors import ParameterTypeError
from .c_interface import FAR, ArrowPart, Field, malformed

ArrowKind = Literal[
    "integers", "floats", "booleans", "dates", "timestamps", "text", "list", "dictionary", "other"
]
NUMBERS: dict[str, tuple[ArrowKind, str]] = {
    "c": ("integers", "i1"), "C": ("integers", "u1"), "s": ("integers", "i2"),
    "S": ("integers", "u2"), "i": ("integers", "i4"), "I": ("integers", "u4"),
    "l": ("integers", "i8"), "L": ("integers", "u8"),
    "e": ("floats", "f2"), "f": ("floats", "f4"), "g": ("floats", "f8"),
}  # fmt: skip
FIXED_WIDTH: dict[str, tuple[ArrowKind, str]] = {
    **NUMBERS, "b": ("booleans", "?"), "tdD": ("dates", "i4"), "tdm": ("dates", "i8"),
    **dict.fromkeys(("tss:", "tsm:", "tsu:", "tsn:"), ("timestamps", "i8")),
}  # fmt: skip
OFFSETS = {"u": "i4", "U": "i8", "+l": "i4", "+L": "i8", "+vl": "i4", "+vL": "i8"}
TEXTS, VIEWS = ("u", "U", "vu"), ("+vl", "+vL")
FIXED, DECIMAL = "+w:", "d:"  # prefixes of formats
SHORT = 12  # most bytes of a text in a view: longer texts lie in buffers of their own
WIDTHS, DIGITS = (32, 64, 128, 256), 76  # bits of decimals, and digits of the widest
# Doubles hold all integers up to the first, and powers of ten up to the second.
MAX_EXACT, MAX_EXACT_POWER = 1 << 53, 22


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """A range of rows of a column. Arrays that are the producer's memory are read-only.

    `valid` is None if and only if no row is null. A null row may have any value: check `valid`
    first. A null list has no items.

    * integers, floats: `values`, native (int8 to uint64, float16 to float64); of decimals the
      nearest float64.
    * booleans: `values` of bool. dates: days or milliseconds, timestamps without a zone: ticks
      since 1970, `values` of int32 or int64, as `format` tells.
    * text: row i is the bytes `values[offsets[i] : ends[i]]`; UTF-8 is not checked.
    * list: row i is the rows `offsets[i]` to `offsets[i + 1]` of `child`; `offsets` begin at 0
      and end at the length of `child`.
    * dictionary: row i is the row `values[i]` of `child`, which can be null there, too. Codes of
      null rows are in range as well, and 0 if the dictionary is empty.
    * other: a type that is not read; `format` tells which.
    """

    kind: ArrowKind
    length: int
    format: str
    values: AnyArray | None = None
    offsets: IntArray | None = None
    valid: AnyArray | None = None
    child: Column | None = None
    ends: IntArray | None = None


def plain(field: Field) -> str:
    """Return the format of a type, or "" if it is an extension type or has a dictionary."""
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
    """Return a column without rows. Buffers may then be absent, and are not looked at."""
    kind, form, none = kind_of(field), field.format, np.zeros(0, np.int64)
    if kind == "other":
        return _other(field, 0)
    if kind == "list":
        items = empty(field.children[0])
        return Column(kind, 0, form, offsets=np.zeros(1, np.int64), child=items)
    if kind == "text":
        return Column(kind, 0, form, np.zeros(0, np.uint8), none, ends=none)
    child = None if field.dictionary is None else empty(field.dictionary)
    return Column(kind, 0, form, np.zeros(0, FIXED_WIDTH.get(form, ("", "f8"))[1]), child=child)


def read(field: Field, part: ArrowPart, first: int, count: int) -> Column:
    """Return `count` rows of an array; `first` counts from the array's own first row."""
    kind, form = kind_of(field), field.format
    if first + count > part.length:
        part.malformed("an array that is too short")
    if kind == "other":
        return _other(field, count)
    if count == 0:
        return empty(field)
    valid, start = nulls(part, first, count), part.offset + first
    if kind == "list":
        offsets, child = _list(field, part, first, count, valid)
        return Column(kind, count, form, None, offsets, valid, child)
    if kind == "text":
        values, begins, ends = _texts(form, part, start, count, valid)
        return Column(kind, count, form, values, begins, valid, ends=ends)
    if form.startswith(DECIMAL):
        return Column(kind, count, form, _decimals(form, part, start, count), None, valid)
    if kind == "booleans":
        return Column(kind, count, form, _bits(part, 1, start, count), None, valid)
    values = part.buffer(1, FIXED_WIDTH[form][1], start, count)
    if field.dictionary is None:
        return Column(kind, count, form, values, None, valid)
    words = part.dictionary()
    child = read(field.dictionary, words, 0, words.length)
    return Column(kind, count, form, _codes(values, valid, child.length, part), None, valid, child)


def nulls(part: ArrowPart, first: int, count: int) -> AnyArray | None:
    """Return which rows are not null, or None if no row is null."""
    if part.nulls == 0 or count == 0:
        return None
    if not part.has(0):
        if part.nulls > 0:
            part.malformed("nulls without a bitmap")
        return None
    known = _bits(part, 0, part.offset + first, count)
    return None if known.all() else known


def kind_of(field: Field) -> ArrowKind:
    """Return the kind of column that a type is read as."""
    form, words = field.format, field.dictionary
    if field.extension:
        return "other"
    kind = FIXED_WIDTH.get(form, ("other",))[0]
    if words is not None:
        flat = plain(words) in FIXED_WIDTH or plain(words) in TEXTS
        return "dictionary" if kind == "integers" and flat else "other"
    if form.startswith(DECIMAL):
        return "floats" if _layout(form) else "other"
    if form in VIEWS:  # views are copied, and only numbers are worth it
        return "list" if plain(field.children[0]) in NUMBERS else "other"
    return "text" if form in TEXTS else "list" if _is_list(field) else kind


def _is_list(field: Field) -> bool:
    form = plain(field)
    return form.startswith(FIXED) or (form[:1] == "+" and form in OFFSETS)


def _other(field: Field, length: int) -> Column:
    meaning = field.extension or ("dictionary" if field.dictionary is not None else "")
    form = f"{field.format} ({meaning})" if meaning else field.format
    gaps = np.zeros(length, np.bool_) if plain(field) == "n" and length else None
    return Column("other", length, form, valid=gaps)


def _bits(part: ArrowPart, buffer: int, start: int, count: int) -> AnyArray:
    """Return the bits of a buffer, one for each row, as booleans."""
    byte, bit = divmod(start, 8)
    packed = part.buffer(buffer, np.uint8, byte, (bit + count + 7) // 8)
    return np.unpackbits(packed, count=bit + count, bitorder="little")[bit:].view(np.bool_)


def _offsets(form: str, part: ArrowPart, start: int, count: int) -> IntArray:
    """Return the offsets of rows; refuse those that fall or are negative."""
    offsets = part.buffer(1, OFFSETS[form], start, count + 1).astype(np.int64, copy=False)
    if bool((offsets[1:] < offsets[:-1]).any()) or int(offsets[0]) < 0:
        part.malformed("offsets that fall or are negative")
    return offsets


def _texts(
    form: str, part: ArrowPart, start: int, count: int, valid: AnyArray | None
) -> tuple[AnyArray, IntArray, IntArray]:
    """Return (bytes, begins, ends) of texts.

    A view is 16 bytes: the length, then either up to 12 bytes of text, or 4 bytes of it, the number
    of a buffer and a place there.
    """
    if form in OFFSETS:
        offsets = _offsets(form, part, start, count)
        return part.buffer(2, np.uint8, 0, int(offsets[-1])), offsets[:-1], offsets[1:]
    views = part.buffer(1, np.int32, 4 * start, 4 * count).reshape(-1, 4)
    lengths = views[:, 0].astype(np.int64)
    if valid is not None:
        lengths[~valid] = 0
    if int(lengths.min()) < 0:
        part.malformed("a text of a negative length")
    begins = np.arange(4, 16 * count, 16, dtype=np.int64)
    values, far = views.reshape(-1).view(np.uint8), np.flatnonzero(lengths > SHORT)
    if far.size:
        number = max(part.buffers - 3, 0)
        sizes = part.buffer(number + 2, np.int64, 0, number)
        buffers, places = views[far, 2:].astype(np.int64).T
        lasts = places + lengths[far]
        if int(buffers.min()) < 0 or int(buffers.max()) >= number:
            part.malformed("a text in a buffer that is not there")
        if int(places.min()) < 0 or bool((lasts > sizes[buffers]).any()):
            part.malformed("a text beyond its buffer")
        low, high = np.full(number, FAR), np.zeros(number, np.int64)  # bytes in use, by buffer
        np.minimum.at(low, buffers, places)
        np.maximum.at(high, buffers, lasts)
        widths = np.maximum(high - low, 0)
        begins[far] = places + (values.size + np.cumsum(widths) - widths - low)[buffers]
        spans = enumerate(zip(low.tolist(), widths.tolist(), strict=True), 2)
        used = [part.buffer(i, np.uint8, a, width) for i, (a, width) in spans if width]
        values = np.concatenate([values, *used])
    return values, begins, begins + lengths


def _codes(codes: AnyArray, valid: AnyArray | None, size: int, part: ArrowPart) -> AnyArray:
    """Return codes in the dictionary's range; those of null rows may be any, and may become 0."""
    if int(codes.min()) >= 0 and int(codes.max()) < size:
        return codes
    used = codes if valid is None else codes[valid]
    if valid is None or (used.size and (int(used.min()) < 0 or int(used.max()) >= size)):
        part.malformed("a code beyond its dictionary")
    return np.where(valid, codes, 0).astype(codes.dtype, copy=False)


def _list(
    field: Field, part: ArrowPart, first: int, count: int, valid: AnyArray | None
) -> tuple[IntArray, Column]:
    """Return offsets from 0 on, and the items, copied if lists do not follow each other."""
    form, inner, items, start = field.format, field.children[0], part.child(0), part.offset + first
    if form in VIEWS:
        begins, sizes = (
            part.buffer(i, OFFSETS[form], start, count).astype(np.int64) for i in (1, 2)
        )
        if valid is not None:
            begins[~valid] = sizes[~valid] = 0
        low, high = 0, items.length
        if min(int(begins.min()), int(sizes.min())) < 0 or bool((begins > high - sizes).any()):
            part.malformed("a list of a negative length or beyond its items")
    else:
        if form in OFFSETS:
            around = _offsets(form, part, start, count)
        else:
            digits = form[len(FIXED) :]
            width = int(digits) if digits.isdecimal() else -1
            if width < 0 or (start + count) * width > items.length:
                part.malformed("lists of a fixed size that do not fit")
            around = np.arange(start, start + count + 1, dtype=np.int64) * width
        low, high = int(around[0]), int(around[-1])
        if valid is None:
            return around - low if low else around, read(inner, items, low, high - low)
        begins, sizes = around[:-1], np.diff(around) * valid  # null lists may have items
    child, offsets = read(inner, items, low, high - low), np.concatenate([[0], np.cumsum(sizes)])
    apart = begins - low - offsets[:-1]  # how far a list lies from where those before it end
    if not apart[sizes > 0].any() and child.length == offsets[-1]:
        return offsets, child
    return offsets, _taken(child, np.repeat(apart, sizes) + np.arange(int(offsets[-1])))


def _taken(column: Column, index: IntArray) -> Column:
    """Return the rows `index`, in any order, of a column of numbers, codes or texts."""
    values, begins, ends = column.values, column.offsets, column.ends
    if begins is not None and ends is not None:
        begins, ends = begins[index], ends[index]
    elif values is not None:
        values = values[index]
    valid = None if column.valid is None else column.valid[index]
    valid = None if valid is None or valid.all() else valid
    return replace(column, length=index.size, values=values, offsets=begins, ends=ends, valid=valid)


def _layout(form: str) -> tuple[int, int] | None:
    """Return (scale, width) of "d:precision,scale" or "d:precision,scale,width"; None: not read."""
    try:
        _, scale, width = (int(n) for n in (*form[len(DECIMAL) :].split(","), "128")[:3])
    except ValueError:
        return None
    return (scale, width) if abs(scale) <= DIGITS and width in WIDTHS else None


def _decimals(form: str, part: ArrowPart, start: int, count: int) -> FloatArray:
    """Return decimals as the nearest doubles; those of null rows may be anything."""
    scale, width = _layout(form) or (0, 0)
    words = max(1, width // 64)
    narrow = part.buffer(1, "i4" if width == 32 else "i8", words * start, words * count)
    rows = narrow.astype(np.int64).reshape(count, words)
    low = rows[:, 0]
    small = (rows[:, 1:] == (low >> 63)[:, None]).all(axis=1)
    easy = small & (low >= -MAX_EXACT) & (low <= MAX_EXACT) & (abs(scale) <= MAX_EXACT_POWER)
    power = 10.0 ** min(abs(scale), MAX_EXACT_POWER)
    doubles = low.astype(np.float64)
    out = doubles / power if scale >= 0 else doubles * power
    for i in np.flatnonzero(~easy).tolist():  # the lowest word is first
        n = int.from_bytes(rows[i].astype("<i8").tobytes(), "little", signed=True)
        out[i] = n / 10**scale if scale >= 0 else float(n * 10**-scale)  # both round to nearest
    return out
