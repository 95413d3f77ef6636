"""Text for people: printable lines, numbers in one format, and tables."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import zip_longest

GAP = "  "  # between columns
Lines = Sequence[Sequence[str]]  # the headers, then the cells of each row
LARGEST = 1e15  # from here on numbers have a power of ten, as float64 is no longer exact to 1


def printable(text: str, keep: str = "") -> str:
    """Return a text with characters that are not printable, except `keep`, as escape codes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else repr(c)[1:-1] for c in text)


def readable(x: float | None, digits: int = 6) -> str:
    """Return a number for tables, axes and titles: "19,100", "0.0525", "1e-5", "-" for none.

    Integers are written in full, others with `digits` digits or all of those before the point.
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
    """Return an error, loss or deviation as text; below 1e-6 its digits mean nothing."""
    return "< 1e-6" if x is not None and 0 < x < 1e-6 else readable(x, digits)


def width(text: str) -> int:
    """Return the width on a terminal: 2 for wide East Asian characters, 0 for combining ones."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def widths_of(lines: Lines, left: Sequence[bool], room: int) -> list[int] | None:
    """Return the width of each column; None if there is no room for their words.

    Headers may be broken between words, and so may the cells of columns in `left`.
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
    while sum(widths) > room:  # narrow the widest column that can be broken
        spare = [wide - bare for wide, bare in zip(widths, least, strict=True)]
        widest = max((i for i, n in enumerate(spare) if n), key=lambda i: widths[i])
        widths[widest] -= min(spare[widest], max(1, (sum(widths) - room) // 2))
    return widths


def fitting(lines: Lines, left: Sequence[bool], room: int, least: int) -> int:
    """Return how many of the first columns have room for their words, but at least `least`."""
    count = len(left)
    while count > least and widths_of([row[:count] for row in lines], left[:count], room) is None:
        count -= 1
    return count


def wrapped(cell: str, room: int) -> list[str]:
    """Return the lines of a cell, broken between words if it is too wide."""
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
    """Yield rows of wrapped cells as lines, with each column aligned left or right."""
    for row in cells:
        for parts in zip_longest(*row, fillvalue=""):
            padded = []
            for part, room, first in zip(parts, widths, left, strict=True):
                blank = " " * (room - width(part))  # none, if the width is too small
                padded.append(part + blank if first else blank + part)
            yield GAP.join(padded).rstrip()


def table_lines(lines: Lines, left: Sequence[bool], room: int) -> list[str]:
    """Return the lines of a table; if a word has no room, the table is as wide as it needs."""
    widths = widths_of(lines, left, room)
    if widths is None:
        widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    cells = [[wrapped(cell, n) for cell, n in zip(row, widths, strict=True)] for row in lines]
    return list(aligned(cells, widths, left))
