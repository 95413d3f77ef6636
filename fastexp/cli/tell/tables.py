"""What is printed: results to stdout, everything else to stderr."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import unicodedata
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ..errors import Failure

RICH_ROWS = 500  # longer tables are for pipes and pagers


def note(text: str) -> None:
    """Print lines on stderr; that nobody listens there is no failure."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(*map(printable, text.split("\n")), sep="\n", file=sys.stderr, flush=True)


def line(text: str) -> None:
    """Print one line on stdout, of text that may be anybody's: a label, a path."""
    print(printable(text))


def as_json(values: dict[str, Any]) -> None:
    """Print one JSON object on stdout."""
    print(json_text(values, sys.stdout.encoding or "utf-8"))


def json_text(value: Any, encoding: str = "utf-8") -> str:
    """JSON that every terminal shows as it is; numbers that JSON does not know become null.

    Parameters
    ----------
    value : object
        Of dicts, lists, text, numbers, booleans and None.
    encoding : str
        Where it goes: what that cannot say is escaped, as is all that is not printable.
    """
    text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)
    return text.translate({ord(c): _escaped(c) for c in set(text) if not _shows(c, encoding)})


def _shows(character: str, encoding: str) -> bool:
    return character.isprintable() and bool(character.encode(encoding, "ignore"))


def _escaped(character: str) -> str:
    """As JSON has it; the module leaves DEL as it is."""
    return "\\u007f" if character == "\x7f" else json.dumps(character)[1:-1]


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def optional(name: str) -> Any:
    """Import an optional module; None where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def needed(name: str, option: str, install: str) -> Any:
    """Import an optional module that an option cannot do without."""
    module = optional(name)
    if module is None:
        raise Failure(f"{option} needs a package that is not installed: pip install {install}")
    return module


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[str] = ()) -> None:
    """Print an aligned table: the first column and those of words left, the others right.

    With rich on a terminal, else as plain text.

    Parameters
    ----------
    headers : sequence of str
        One a column.
    rows : sequence of sequence of str
        Cells. In these and in headers, what would move the cursor or change colours is shown
        escaped.
    words : sequence of str
        Headers of further columns that hold words.
    """
    left = [number == 0 or header in words for number, header in enumerate(headers)]
    headers = [printable(header) for header in headers]
    safe = [[printable(cell) for cell in row] for row in rows]
    rich = optional("rich.table") if _on_terminal() and len(rows) <= RICH_ROWS else None
    if rich is None:
        _plain_table(headers, safe, left)
    else:
        _rich_table(rich.Table, headers, safe, left)


def _on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _plain_table(headers: Sequence[str], rows: list[list[str]], left: list[bool]) -> None:
    lines = [list(headers), *rows]
    widths = [max(_width(line[i]) for line in lines) for i in range(len(headers))]
    for line in lines:
        gaps = [" " * (wide - _width(cell)) for cell, wide in zip(line, widths, strict=True)]
        cells = zip(line, gaps, left, strict=True)
        print("  ".join(cell + gap if first else gap + cell for cell, gap, first in cells).rstrip())


def _rich_table(
    table_class: Any, headers: Sequence[str], rows: list[list[str]], left: list[bool]
) -> None:
    text, box = import_module("rich.text").Text, import_module("rich.box")
    made = table_class(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for header, first in zip(headers, left, strict=True):
        made.add_column(header, justify="left" if first else "right", overflow="fold")
    for row in rows:
        made.add_row(*(text(cell) for cell in row))  # Text: a label is never markup
    import_module("rich.console").Console(file=sys.stdout).print(made)


def _width(text: str) -> int:
    """Columns on a terminal: wide East Asian characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def printable(text: str) -> str:
    """`text` with control characters escaped, so that a label is one line of plain text."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def probability(p: float) -> str:
    """A probability with 6 decimals; small ones with 3 digits, 0 and 1 only if exact."""
    if 0 < p < 1e-4:
        return f"{p:.2e}"
    return f"{p:.6f}" if p == 1 or p < 0.9999995 else "1 - " + f"{1 - p:.1e}"


def logarithm(x: float) -> str:
    """A log-probability."""
    return f"{x:.4f}" if abs(x) < 1e6 and (x == 0 or abs(x) >= 5e-5) else f"{x:.3e}"
