"""Cards that show objects in notebooks and in rich: a table of facts, and a warning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib import import_module
from shutil import get_terminal_size
from typing import Any, NamedTuple

from .._parameters.text import printable, readable, table_lines, wrapped

WARNING = "Not private: computed from the data without noise."
LISTED = 8  # the most values of a list that are shown
CELL = "text-align: left; padding: 0.1em 1em 0.1em 0"  # colours: those of the page


class Card(NamedTuple):
    """The facts that an object shows; everything on a card is displayed."""

    title: str
    facts: Sequence[tuple[str, object]] = ()  # numbers are formatted; None is left out
    columns: Sequence[str] = ()  # columns of a table below the facts
    rows: Sequence[Sequence[object]] = ()
    note: str = ""
    private: bool = False  # whether the card has private numbers, so that it shows the warning

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Return the facts as text."""
        return [(text(name), text(value)) for name, value in self.facts if value is not None]

    @property
    def remarks(self) -> list[str]:
        """Return the remarks below the facts."""
        return [line for line in (self.note, WARNING * self.private) if line]


class HtmlRepr:
    """An object with a card, for notebooks (`_repr_html_`) and rich (`__rich_console__`)."""

    __slots__ = ()

    def _card(self) -> Card:
        """Return the card of the object; private numbers are only shown on request."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return html(self._card())

    def __rich_console__(self, _: Any, options: Any) -> Iterator[Any]:
        yield import_module("rich.text").Text(plain(self._card(), options.max_width))


class TextRepr(HtmlRepr):
    """An object whose card `print` shows; its repr has none of the figures."""

    def __str__(self) -> str:
        return plain(self._card(), get_terminal_size().columns)


def text(value: object) -> str:
    """Return a value of a card in one line: a formatted number, or a name as it is."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return readable(value)
    if isinstance(value, (tuple, list)):
        rest = f", … ({len(value):,})" if len(value) > LISTED else ""
        return ", ".join(map(text, value[:LISTED])) + rest
    return printable(str(value))


def plain(card: Card, room: int) -> str:
    """Return a card as text for a terminal that is `room` characters wide."""
    wide = max((len(name) for name, _ in card.lines), default=0) + 2
    lines = [printable(card.title)]
    for name, value in card.lines:
        first, *more = wrapped(value, room - wide)
        lines += [name.ljust(wide) + first, *(" " * wide + line for line in more)]
    if card.columns:
        columns = zip(*card.rows, strict=True)
        left = [place == 0 or _of_words(column) for place, column in enumerate(columns)]
        cells = [[text(cell) for cell in row] for row in (card.columns, *card.rows)]
        lines += ["", *table_lines(cells, left, room), ""]
    return "\n".join([*lines, *card.remarks])


def _of_words(column: Sequence[object]) -> bool:
    """Whether a column is text, aligned left; numbers and dashes are aligned right."""
    return any(str(cell)[:1].isalpha() for cell in column)


def html(card: Card) -> str:
    """Return a card as HTML: without script and colours, with all text escaped."""
    parts = [
        f"<p><strong>{escape(printable(card.title))}</strong></p>",
        _html_table(_html_row([value], name) for name, value in card.lines) if card.lines else "",
        *(f"<p>{escape(line)}</p>" for line in card.remarks),
    ]
    if card.columns:
        head = "".join(
            f'<th scope="col" style="{CELL}">{escape(text(name))}</th>' for name in card.columns
        )
        parts.insert(2, _html_table([f"<tr>{head}</tr>", *map(_html_row, card.rows)]))
    return '<div class="fastexp-card">' + "".join(parts) + "</div>"


def _html_table(rows: Iterable[str]) -> str:
    return f'<table style="margin: 0 0 0.5em 0">{"".join(rows)}</table>'


def _html_row(values: Sequence[object], name: str | None = None) -> str:
    head = "" if name is None else f'<th scope="row" style="{CELL}">{escape(text(name))}</th>'
    cells = (f'<td style="{CELL}">{escape(text(value))}</td>' for value in values)
    return f"<tr>{head}{''.join(cells)}</tr>"
