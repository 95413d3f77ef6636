"""A table of a study for its readers: as text, in a notebook, and on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from shutil import get_terminal_size
from textwrap import fill

from ..._parameters.text import printable
from ..._parameters.text_tables import fitting, table_lines
from ...pictures.cards import Card, Carded

LINE = 80  # characters of a line of prose


@dataclass(frozen=True, repr=False)
class StudyTable(Carded):
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
    sentence : str
        What the table says of one of its rows.
    keys : int
        How many of the first columns say what a row is about.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]] = ()
    note: str = ""
    sentence: str = ""
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
        table = self.narrowed(room)
        line = max(min(room, LINE), 1)
        prose = [
            fill(printable(text), line, break_long_words=False, break_on_hyphens=False)
            for text in (self.title, table.sentence, table.note)
            if text
        ]
        lines = "\n".join(table_lines(table._lines(), table._left(), room))
        return "\n\n".join([*prose[: 1 if self.title else 0], lines, *prose[1:]])

    def narrowed(self, width: int) -> StudyTable:
        """The table without the last columns that have no room, and with a note of them.

        Parameters
        ----------
        width : int
            Columns of a line.

        Returns
        -------
        StudyTable
        """
        count = fitting(self._lines(), self._left(), width, min(self.keys + 1, len(self.columns)))
        if count == len(self.columns):
            return self
        note = f"Left out, as a line has {width} columns: {', '.join(self.columns[count:])}."
        return replace(
            self,
            columns=self.columns[:count],
            rows=[row[:count] for row in self.rows],
            note=f"{self.note} {note}".lstrip(),
        )

    @property
    def words(self) -> list[str]:
        """The headers of the columns that hold words, not numbers."""
        columns = enumerate(self.columns[: self.keys])
        return [c for place, c in columns if not all(_numeric(row[place]) for row in self.rows)]

    def _lines(self) -> list[list[str]]:
        """The headers and the rows, with what cannot be printed shown by its code."""
        return [[printable(cell) for cell in row] for row in (self.columns, *self.rows)]

    def _left(self) -> list[bool]:
        return [column in self.words for column in self.columns]

    def _card(self) -> Card:
        prose = [("", text) for text in (self.sentence, self.note) if text]
        return Card(self.title, prose, columns=self.columns, rows=self.rows)


def _numeric(cell: str) -> bool:
    try:
        float(cell.replace(",", ""))
    except ValueError:
        return cell in ("", "-")
    return True
