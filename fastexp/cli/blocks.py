"""Plain CSV, cut into fields a block at a time; what is not plain is left to the csv module.

Plain is UTF-8 with rows that end in a line feed, as many fields in each as in the header, and
quotes around whole fields only. There the cuts are those of the csv module. From the first row
of a block that is not plain, or has no line feed, the csv module reads on (`Blocks.rest`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import numpy as np

from .._typing import AnyArray, IntArray
from ..query.digits import PADDING
from .reading import dialect

SIZE = 1 << 20  # bytes of a block: its scratch stays in the caches
MARK = b"\xef\xbb\xbf"  # byte order mark
FEED, RETURN, QUOTE = b'\n\r"'


class Parts(NamedTuple):
    """Where the fields of a column are in a buffer."""

    buffer: AnyArray
    start: IntArray
    end: IntArray


class Blocks:
    """The fields of one column of a stream, as far as it is plain CSV.

    Parameters
    ----------
    raw : binary stream
    delimiter : str
        One character.
    """

    def __init__(self, raw: IO[bytes], delimiter: str) -> None:
        self._raw, self._delimiter = raw, delimiter
        self._held = raw.read(SIZE)

    def header(self) -> list[str] | None:
        """Take the header row; None: it is not plain, and nothing was taken."""
        text = self._held.removeprefix(MARK).lstrip(b"\r\n")
        line, feed, rest = text.partition(b"\n")
        line = line.removesuffix(b"\r")
        if not feed or b"\r" in line or not self._delimiter.isascii():
            return None
        try:
            (found,) = csv.reader([line.decode()], **dialect(self._delimiter))
        except (ValueError, csv.Error):  # not UTF-8, or a quote that is not closed
            return None
        self._held = rest
        return found

    def fields(self, width: int, at: int) -> Iterator[Parts]:
        """The parts of column `at` of `width` ones, a block after the other."""
        return (column_of(parts, width, at) for parts in self.all_fields(width))

    def all_fields(self, width: int) -> Iterator[Parts]:
        """Those of all columns, as they are written, row after row."""
        while cut := _cut(self._held, ord(self._delimiter), width):
            parts, used = cut
            self._held = self._held[used:]
            yield parts
            longer = self._raw.read(SIZE) if used or not self._held else b""
            if not longer:  # the end, or a row that is longer than a block
                return
            self._held += longer

    def rest(self) -> IO[bytes]:
        """What was not taken, from the start of a row on."""
        return io.BufferedReader(_Chained(self._held, self._raw))


def _cut(held: bytes, delimiter: int, width: int) -> tuple[Parts, int] | None:
    """All fields of the full rows in a block, and where these end; None: not plain."""
    buffer = np.frombuffer(held + PADDING, np.uint8)
    outside = None
    ends = (buffer == delimiter) | (buffer == FEED)
    if b'"' in held:
        outside = ~np.bitwise_xor.accumulate(buffer == QUOTE)
        ends &= outside
    end = np.flatnonzero(ends)
    feed = buffer.take(end) == FEED
    full = end.size - int(feed[::-1].argmax()) if feed.any() else 0
    end, feed = end[:full], feed[:full]
    used = int(end[-1]) + 1 if full else 0
    if not _plain(held[:used], buffer[:used], outside):
        return None
    if outside is not None and not _well_quoted(buffer, used, delimiter):
        return None
    start = np.concatenate([np.zeros(1, np.int64), end + 1])[:full]
    size, after = end - start, np.concatenate([np.ones(1, np.bool_), feed])[:full]
    blank = feed & after & ((size == 0) | ((size == 1) & (buffer.take(start) == RETURN)))
    if blank.any():
        start, end, feed = start[~blank], end[~blank], feed[~blank]
    rows, left = divmod(end.size, width)
    if left or int(feed.sum()) != rows or not feed[width - 1 :: width].all():
        return None
    if int(size.max(initial=0)) >= csv.field_size_limit():
        return None
    return Parts(buffer, start, end), used


def _plain(held: bytes, buffer: AnyArray, outside: AnyArray | None) -> bool:
    """Whether it is UTF-8 and carriage returns are before line feeds only, or in quotes."""
    if not _is_utf8(held):
        return False
    found = np.flatnonzero(buffer == RETURN) if b"\r" in held else np.zeros(0, np.int64)
    if outside is not None:
        found = found[outside[found]]
    return bool((buffer.take(found + 1, mode="clip") == FEED).all())


def _is_utf8(held: bytes) -> bool:
    try:
        return held.isascii() or bool(held.decode())
    except UnicodeDecodeError:
        return False


def _well_quoted(buffer: AnyArray, used: int, delimiter: int) -> bool:
    """Whether quotes are at both ends of a field, or two and two within one."""
    place = np.flatnonzero(buffer[:used] == QUOTE)
    opening, closing = place[::2], place[1::2]
    before, after = buffer.take(opening - 1), buffer.take(closing + 1)
    opens = (opening == 0) | (before == delimiter) | (before == FEED) | (before == QUOTE)
    closes = (after == delimiter) | (after == FEED) | (after == RETURN) | (after == QUOTE)
    return bool(opens.all() and closes.all())


def column_of(parts: Parts, width: int, at: int) -> Parts:
    """One column of the fields: without a carriage return, without quotes."""
    buffer, start, end = parts.buffer, parts.start[at::width], parts.end[at::width]
    if at == width - 1:
        end = end - ((end > start) & (buffer.take(end - 1) == RETURN))
    quoted = (end > start) & (buffer.take(start) == QUOTE)
    return Parts(buffer, start + quoted, end - quoted)


class _Chained(io.RawIOBase):
    """Bytes that were read ahead, then the stream that they are from."""

    def __init__(self, held: bytes, raw: IO[bytes]) -> None:
        self._held, self._raw = memoryview(held), raw

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, out: Any) -> int:
        """Fill `out` as far as there is something."""
        part = self._held[: len(out)] or self._raw.read(len(out))
        self._held = self._held[len(part) :]
        out[: len(part)] = part
        return len(part)
