"""A table of a study for its readers: as text, in a notebook, and on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from shutil import get_terminal_size
from textwrap import fill

from ..._parameters.text import fitting, printable, table_lines
from ...pictures.cards import Card, HtmlRepr

LINE = 80  # characters of a line of prose


@dataclass(frozen=True, repr=False)
class StudyTable(HtmlRepr):
    """A table of a study's results for readers; `print` shows it as wide as the terminal.

    Made by `StudyResults.table`. Words are never broken: columns that have no room are left out,
    and a note names them.

    Attributes
    ----------
    title : str
        What the numbers are, in which units, and of what.
    columns : sequence of str
        The headers.
    rows : sequence of sequence of str
        The cells as text; as numbers they are in `StudyResults.rows`.
    note : str
        How the cells are to be read.
    keys : int
        How many of the first columns say what a row is about.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]] = ()
    note: str = ""
    keys: int = 1

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """The table as text.

        Parameters
        ----------
        width : int, optional
            Columns of a line; by default those of the terminal, or 80 where there is none.

        Returns
        -------
        str
        """
        room = get_terminal_size().columns if width is None else width
        lines = [[printable(cell) for cell in row] for row in (self.columns, *self.rows)]
        left = [column in self.words for column in self.columns]
        count = fitting(lines, left, room, min(self.keys + 1, len(left)))
        dropped = ", ".join(self.columns[count:])
        lost = f"Left out, as a line has {room} columns: {dropped}." if dropped else ""
        table = "\n".join(table_lines([row[:count] for row in lines], left[:count], room))
        note = f"{self.note} {lost}".strip()
        parts = (_filled(self.title, room), table, _filled(note, room))
        return "\n\n".join(part for part in parts if part)

    @property
    def words(self) -> list[str]:
        """The headers of the columns that hold words, not numbers."""
        columns = enumerate(self.columns[: self.keys])
        return [c for place, c in columns if not all(_numeric(row[place]) for row in self.rows)]

    def _card(self) -> Card:
        return Card(self.title, columns=self.columns, rows=self.rows, note=printable(self.note))


def _filled(text: str, room: int) -> str:
    width = max(min(room, LINE), 1)
    return fill(printable(text), width, break_long_words=False, break_on_hyphens=False)


def _numeric(cell: str) -> bool:
    try:
        float(cell.replace(",", ""))
    except ValueError:
        return cell in ("", "-")
    return True
