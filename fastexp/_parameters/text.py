"""Text for people: as one line that changes no colours, numbers, all alike, and tables."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import zip_longest

GAP = "  "  # between columns
Lines = Sequence[Sequence[str]]  # the headers, then the cells of each row
LARGEST = 1e15  # from here on with a power of ten: a float64 is no longer exact to the unit


def printable(text: str, keep: str = "") -> str:
    """A text with what cannot be printed shown by its code, except for characters to keep."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else repr(c)[1:-1] for c in text)


def readable(x: float | None, digits: int = 6) -> str:
    """A number as tables, axes and titles have it: "19,100", "0.0525", "1e-5", "-" for none.

    Integers in full, others with so many digits, or more where those are before the point.
    """
    if x is None or x != x:
        return "-"
    if isinstance(x, int):
        return f"{x:,}"
    text, _, power = f"{x:,.{digits}g}".partition("e")
    if not power:
        return text
    return f"{x:,.0f}" if 1 <= abs(x) < LARGEST else f"{text}e{int(power)}"


def error_text(x: float | None, digits: int = 6) -> str:
    """An error, a loss or a deviation; below a millionth its digits mean nothing."""
    return "< 1e-6" if x is not None and 0 < x < 1e-6 else readable(x, digits)


def width(text: str) -> int:
    """Columns on a terminal: wide East Asian characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def widths_of(lines: Lines, left: Sequence[bool], room: int) -> list[int] | None:
    """How wide each column is; None if there is no room for its words.

    Headers are broken between words, and so are cells of the columns that `left` says.
    """
    columns = list(zip(*lines, strict=True))
    room -= len(GAP) * (len(columns) - 1)
    least = [
        max(map(width, [*header.split(" "), *(" ".join(cells).split(" ") if broken else cells)]))
        for (header, *cells), broken in zip(columns, left, strict=True)
    ]
    widths = [max(map(width, column)) for column in columns]
    if sum(least) > room:
        return None
    while sum(widths) > room:  # the widest of those that can be broken, as far as it must
        spare = [wide - bare for wide, bare in zip(widths, least, strict=True)]
        widest = max((i for i, n in enumerate(spare) if n), key=lambda i: widths[i])
        widths[widest] -= min(spare[widest], max(1, (sum(widths) - room) // 2))
    return widths


def fitting(lines: Lines, left: Sequence[bool], room: int, least: int) -> int:
    """How many of the first columns have room for their words; `least` even if they have not."""
    count = len(left)
    while count > least and widths_of([row[:count] for row in lines], left[:count], room) is None:
        count -= 1
    return count


def wrapped(cell: str, room: int) -> list[str]:
    """The lines of a cell: broken between words, if it is too wide."""
    first, *words = cell.split(" ")
    lines = [first]
    for word in words:
        if width(longer := f"{lines[-1]} {word}") <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def aligned(
    cells: Sequence[Sequence[list[str]]], widths: Sequence[int], left: Sequence[bool]
) -> Iterator[str]:
    """Rows of wrapped cells as lines, each column left or right in its width."""
    for row in cells:
        for parts in zip_longest(*row, fillvalue=""):
            padded = []
            for part, room, first in zip(parts, widths, left, strict=True):
                blank = " " * (room - width(part))  # none, if it is negative
                padded.append(part + blank if first else blank + part)
            yield GAP.join(padded).rstrip()


def table_lines(lines: Lines, left: Sequence[bool], room: int) -> list[str]:
    """A whole table; where a single word has no room, it is as wide as its words."""
    widths = widths_of(lines, left, room)
    if widths is None:
        widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    cells = [[wrapped(cell, n) for cell, n in zip(row, widths, strict=True)] for row in lines]
    return list(aligned(cells, widths, left))
