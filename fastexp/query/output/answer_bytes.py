"""Finished answers as the bytes of a file, and how many these are at most."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..engines.frame import Column

FRAME, NUMBER = 1 << 16, 32  # bytes of a file's frame, and of a number
ODD = ('"', ",", "\t", "\r", "\n")  # texts with these, or blanks at an end, are in quotes


def suffix(file: str) -> str:
    """What a file's name ends in."""
    return Path(file).suffix.lower()


def room_of(groups: Sequence[Column], widths: Sequence[int], names: Sequence[str]) -> int:
    """Bytes that answers take at most, or nearly so, with this public list of groups.

    widths: characters of the longest candidate, of each value of each answer; 0 of numbers. names:
    of all columns, which JSON lines have in each row.
    """
    rows = len(groups[0].values) if groups else 1
    each = sum(map(len, names)) + sum(max(width, NUMBER) for width in widths)
    keys = sum(
        sum(map(len, column.values)) if isinstance(column.values, list) else NUMBER * rows
        for column in groups
    )
    return FRAME + 6 * (rows * (each + 4 * len(names)) + keys)


def content(columns: Sequence[Column], file: str) -> bytes:
    """Answers as the bytes of a file, whose name says in which format."""
    ending = suffix(file)
    if ending == ".parquet":
        from ..engines.arrow import table_of

        buffer = io.BytesIO()
        import_module("pyarrow.parquet").write_table(table_of(columns), buffer)
        return buffer.getvalue()
    cells = [values_of(column) for column in columns]
    names = [column.name for column in columns]
    rows = zip(*cells, strict=True)
    if ending == ".jsonl":
        lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    else:
        mark = "\t" if ending == ".tsv" else ","
        lines = [mark.join(map(_cell, row)) for row in [tuple(names), *rows]]
    return "".join(f"{line}\n" for line in lines).encode()


def values_of(column: Column) -> list[Any]:
    """As Python's: integers, floats, booleans, lists, and text, which dates and times become."""
    if isinstance(column.values, list):
        return column.values
    if column.values.dtype.kind == "M":
        return [str(text) for text in np.datetime_as_string(column.values)]
    values: list[Any] = column.values.tolist()
    return values


def _cell(value: object) -> str:
    if isinstance(value, list):
        value = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else repr(value)
    plain = value.strip() == value != "" and not any(mark in value for mark in ODD)
    return value if plain else '"' + value.replace('"', '""') + '"'
