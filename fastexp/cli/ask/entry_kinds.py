"""Whether entries of a public list are integers or text, as the column of FILE is."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from ..._keys.key_columns import read
from ...errors import FastexpError
from ...query.engines.frame import Use
from ..terminal.errors import UserMistake
from .file_rows import FileRows
from .input_file import STDIN, InputFile, is_npy
from .list_entries import Entries

INT64 = range(-(1 << 63), 1 << 63)


def kind_of_column(source: InputFile, column: str) -> str | None:
    """What a column of FILE holds; None where only its rows show it, or it cannot be read."""
    if source.path == STDIN or is_npy(source.path):
        return None
    frame = FileRows(source.path, delimiter=source.delimiter)
    try:
        file = frame.files[0]
        if file.format != "Parquet" or column in file.partitions:
            return None
        (empty,) = frame.empty([Use(column, "keys")])
        return read(empty, "column").kind
    except FastexpError:  # said where FILE is read
        return None


def typed(option: str, entries: Entries, kind: str | None, column: str) -> list[Any]:
    """The entries of the list of an option, as the column of FILE has them.

    kind: as of `kind_of_column`; None: the list decides. A list of another kind, or of no kind for
    sure, is refused.
    """
    values = entries.values
    if not entries.written:
        return values
    if kind is None:
        kind = _kind_of_texts(option, entries)
    reader, keys = READERS[kind], []
    for place, text in enumerate(values):
        try:
            keys.append(reader(text))
        except ValueError:
            raise UserMistake(
                f"{option}: column {column!r} holds {kind}, but {entries.called(place)} is none"
            ) from None
    return keys


def _kind_of_texts(option: str, entries: Entries) -> str:
    """Integers if all are written as such, else text.

    Numbers beside integers are refused: as text, 13.0 would turn 13 into text, too.
    """
    texts = entries.values
    odd = [place for place, text in enumerate(texts) if not _is(_integer, text)]
    if not odd:
        return "integers"
    codes = len(set(map(len, texts))) == 1 and all(x.isascii() and x.isdigit() for x in texts)
    number = next((place for place in odd if _is(float, texts[place])), None)
    if len(odd) < len(texts) and not codes and number is not None:
        raise UserMistake(
            f"{option}: {entries.called(number)} is a number, but not written as the integers "
            "of the list are: write it without decimals, + or zeros in front, and within 64 bits "
            "(if all of them are meant as text: a column of text, as list.parquet:column)"
        )
    return "text"


def _is(reader: Callable[[str], Any], text: str) -> bool:
    try:
        reader(text)
    except ValueError:
        return False
    return True


def _integer(text: str) -> int:
    """An integer of 64 bits as Python writes it."""
    number = int(text)
    if str(number) != text or number not in INT64:
        raise ValueError
    return number


def _boolean(text: str) -> bool:
    return ("false", "true").index(text.lower()) == 1


READERS: dict[str, Callable[[str], Any]] = {
    "text": str,
    "integers": _integer,
    "booleans": _boolean,
    "dates": dt.date.fromisoformat,
    "timestamps": dt.datetime.fromisoformat,
}
