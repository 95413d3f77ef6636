"""Columns of Arrow as keys, and as records: numbers or times."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from ..errors import InvalidRecords, ParameterTypeError
from ..types import Array, Floats
from .keys import DAY, UNITS, ZONED, Column

MILLISECONDS = 86_400_000  # of a day
KEYS = (
    "integers, text, booleans, dates, timestamps, durations or decimals without a fraction: "
    "convert it in the frame"
)


def read_keys(argument: str, column: Any) -> Column:
    """Return a column of Arrow as keys."""
    array = _plain(column)
    kind = array.type
    if types.is_large_string(kind) or (types.is_decimal(kind) and kind.scale <= 0):
        array = array.dictionary_encode()
        kind = array.type
    if types.is_dictionary(kind):
        values, is_text = array.dictionary, types.is_large_string(array.dictionary.type)
        places = array.indices.fill_null(len(values)).to_numpy().astype(np.int64, copy=False)
        keys = _texts(values) if is_text else [int(x) for x in values.to_pylist()]
        return Column("text" if is_text else "integers", places, keys=[*keys, None])
    missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else np.False_
    if types.is_null(kind):
        return Column("", np.zeros(len(array), np.int64), 0, keys=[None])
    if types.is_integer(kind):
        return Column("integers", _integers(array), 1, missing)
    if types.is_boolean(kind):
        return Column("booleans", _integers(array.cast(pa.uint8())), 1, missing)
    if types.is_date(kind):
        is_fine = types.is_date64(kind)
        days = _integers(array.view(pa.int64() if is_fine else pa.int32()))
        return Column("dates", days // MILLISECONDS if is_fine else days, DAY, missing)
    if types.is_timestamp(kind) or types.is_duration(kind):
        name = "durations" if types.is_duration(kind) else ZONED if kind.tz else "timestamps"
        values, zone = _integers(array.view(pa.int64())), getattr(kind, "tz", None)
        return Column(name, values, UNITS[kind.unit], missing, zone=zone or "")
    raise ParameterTypeError(f"{argument} must hold {KEYS}, got {_named(kind)}")


def read_numbers(
    argument: str, column: Any, missing: tuple[str, ...] | None, decimal: str
) -> Floats:
    """Return a column of Arrow as numbers, NaN where one is missing.

    missing: of cells of text, those that mean a missing number; None if there are types.
    """
    array = _plain(column)
    kind = array.type
    if types.is_large_string(kind) and missing is not None:
        array = _written(argument, array, missing, decimal, "numbers", [pa.float64()])
    elif types.is_decimal(kind):  # the nearest doubles: Arrow's own are not
        coded = array.dictionary_encode()
        doubles: Floats = np.array([*map(float, coded.dictionary.to_pylist()), np.nan])
        places = coded.indices.fill_null(len(doubles) - 1).to_numpy()
        read: Floats = doubles[places]
        return read
    elif types.is_null(kind):
        array = array.cast(pa.float64())
    elif not (types.is_integer(kind) or types.is_floating(kind)):
        raise ParameterTypeError(f"{argument} must hold numbers, got {_named(kind)}")
    if types.is_integer(kind):  # whose cast refuses those beyond 2**53
        values: Floats = _integers(array).astype(np.float64)
        if array.null_count:
            values[array.is_null().to_numpy(zero_copy_only=False)] = np.nan
        return values
    # Kernels take aligned words, which what came from a socket may not be.
    return np.require(array.cast(pa.float64()).to_numpy(zero_copy_only=False), requirements="A")


def read_times(argument: str, column: Any, missing: tuple[str, ...], kind: str) -> Column:
    """Return a column of cells of text as times of a kind, in ISO 8601; durations stay text."""
    array = _plain(column)
    if kind != "durations":
        zone = "UTC" if kind == ZONED else None
        forms = [pa.timestamp(unit, zone) for unit in ("us", "ns")]
        forms = [pa.date32()] if kind == "dates" else forms
        array = _written(argument, array, missing, ".", f"{kind} of ISO 8601", forms)
    return read_keys(argument, array)


def _written(
    argument: str, texts: Any, missing: tuple[str, ...], decimal: str, what: str, forms: list[Any]
) -> Any:
    """Return what texts are, in the first type of Arrow that can hold all of them."""
    is_usual = not "".join(missing).strip("/ANULanul")  # none of them is a time or a number
    if decimal == "." and is_usual:
        for form in forms:
            with suppress(pa.ArrowInvalid):  # the common case: no cell is missing or has blanks
                return texts.cast(form)
    texts = pc.utf8_trim_whitespace(texts)
    is_missing = pc.is_in(texts, pa.array(missing, texts.type))
    if decimal == ",":  # a point is none: "1.234" may mean a thousand
        texts = pc.replace_substring(pc.replace_substring(texts, ".", "?"), ",", ".")
    texts = pc.if_else(is_missing, pa.scalar(None, texts.type), texts)
    for form in forms:
        with suppress(pa.ArrowInvalid):  # it quotes cells: another one is raised below
            return texts.cast(form)
    raise InvalidRecords(
        f"{argument} must have {what} in all cells: see missing and decimal of CSV"
    )


def _plain(column: Any) -> Any:
    """Return a column as one array: text is long, and a dictionary is one of text."""
    column = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    kind, is_coded = column.type, types.is_dictionary(column.type)
    inner = kind.value_type if is_coded else kind
    if types.is_string(inner) or types.is_large_string(inner) or types.is_string_view(inner):
        whole = pa.large_string()
        # All codes of 8 bits may be taken, also those of a missing key and of other chunks' keys.
        column = column.cast(pa.dictionary(pa.int64(), whole) if is_coded else whole)
    elif is_coded:  # a cast could not have all types
        return _plain(pa.chunked_array([x.dictionary_decode() for x in column.chunks], inner))
    elif types.is_decimal(inner) and inner.byte_width < 16:  # which Arrow does not encode
        column = column.cast(pa.decimal128(38, inner.scale))
    column = column.unify_dictionaries() if types.is_dictionary(column.type) else column
    chunks = column.chunks or [pa.nulls(0, column.type)]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)


def _integers(array: Any) -> Array:
    """Return integers of 64 bits, 0 where one is missing."""
    values: Array = array.fill_null(0).to_numpy(zero_copy_only=False)
    return values.astype("u8" if values.dtype == np.uint64 else "i8", copy=False)


def _texts(values: Any) -> list[str | None]:
    """Return texts; None for one that is not UTF-8, which is in no group."""
    try:
        texts: list[str | None] = values.to_pylist()
    except UnicodeDecodeError:
        texts = []
        for raw in values.cast(pa.large_binary()).to_pylist():
            try:
                texts.append(None if raw is None else raw.decode())
            except UnicodeDecodeError:
                texts.append(None)
    return texts


def _named(kind: Any) -> str:
    """Return a type in words."""
    if types.is_floating(kind):
        return "floats"
    if types.is_decimal(kind):
        return "decimals with a fraction"
    return {"date32[day]": "dates", "large_string": "text", "bool": "booleans"}.get(
        str(kind), str(kind)
    )
