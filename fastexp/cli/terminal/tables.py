"""Tables as wide as the terminal, and numbers in their cells."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from shutil import get_terminal_size
from typing import Any

from ..._parameters.text import GAP, aligned, printable, width, widths_of, wrapped
from .errors import optional

RICH_ROWS = 500  # longer tables are for pipes and pagers


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[str] = ()) -> None:
    """Print an aligned table: the first column and those of words left, the others right.

    words: headers of further columns of words. The table fits the terminal (80 columns if there is
    none): headers and words are wrapped. If that is not enough, each row is a block with a line for
    each column. Characters that would move the cursor or change colours are escaped.
    """
    left = [number == 0 or header in words for number, header in enumerate(headers)]
    lines = [[printable(cell) for cell in row] for row in (headers, *rows)]
    room = get_terminal_size().columns
    widths = widths_of(lines, left, room)
    if widths is None:
        _blocks(lines, room)
        return
    cells = [[wrapped(cell, n) for cell, n in zip(row, widths, strict=True)] for row in lines]
    rich = optional("rich.table") if _styled() and len(rows) <= RICH_ROWS else None
    if rich is None:
        print(*aligned(cells, widths, left), sep="\n")
    else:
        _rich_table(rich.Table, cells, left)


def _styled() -> bool:
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _rich_table(table_class: Any, cells: list[list[list[str]]], left: list[bool]) -> None:
    text, box = import_module("rich.text").Text, import_module("rich.box")
    # Between columns the box has one blank and the padding another: together, GAP.
    rich_table = table_class(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0)
    )
    headers, *rows = [[text("\n".join(lines)) for lines in row] for row in cells]
    for header, first in zip(headers, left, strict=True):  # Text: a label is never markup
        rich_table.add_column(header, justify="left" if first else "right", no_wrap=True)
    for row in rows:
        rich_table.add_row(*row)
    import_module("rich.console").Console(file=sys.stdout).print(rich_table)


def _blocks(lines: list[list[str]], room: int) -> None:
    headers, *rows = lines
    room_of_headers = max(map(width, headers))
    for number, row in enumerate(rows):
        if number:
            print()
        for header, cell in zip(headers, row, strict=True):
            parts = wrapped(cell, room - room_of_headers - len(GAP))
            print(*aligned([[[header], parts]], [room_of_headers, 0], [True, True]), sep="\n")


def probability(p: float) -> str:
    """Return a probability with 6 decimals, or 3 digits if it is small; 0 and 1 only if exact."""
    if 0 < p < 1e-4:
        return f"{p:.2e}"
    return f"{p:.6f}" if p == 1 or p < 0.9999995 else "1 - " + f"{1 - p:.1e}"


def logarithm(x: float) -> str:
    """Return the text of a log-probability."""
    return f"{x:.4f}" if abs(x) < 1e6 and (x == 0 or abs(x) >= 5e-5) else f"{x:.3e}"
