"""Tables of a study for readers, one for each figure: as text, in a notebook, on a page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shutil import get_terminal_size
from textwrap import fill
from typing import Any, NamedTuple, TypeAlias

from ..._parameters.text import fitting, printable, readable, table_lines
from ...pictures.cards import Card, HtmlRepr

Row: TypeAlias = dict[str, Any]  # from column to value
StudyRows: TypeAlias = list[Row]
COLUMNS: dict[str, str] = {
    "data": "which data sets",
    "n": "records in a data set (or candidates)",
    "mechanism": "which mechanism",
    "epsilon": "the mechanism's parameter, nats",
    "promised_epsilon": "of the guarantee, nats; empty: only rho is promised",
    "delta": "of the guarantee, with promised_epsilon; 0: pure",
    "rho": "of the guarantee, nats; empty: not promised",
    "neighbors": "the relation of the guarantee; empty: that of the stated sensitivity",
    "figure": "error: |output - truth| (selections: 1 where not the best); bias: output - truth; "
    "loss: best utility minus the output's; quantiles of error and loss over data sets and draws "
    "together; theorems: their bounds, averaged over data sets; of m quantiles the mean over them, "
    "rank_error: records between output and truth, wrong: the share that are not the true "
    "quantile, worst_error, worst_rank_error: of the worst one of each draw",
    "level": "of a quantile; for theorems one minus the failure probability",
    "datasets": "how many data sets",
    "draws": "draws for each data set",
    "exact": "mean over data sets of the expectation over the noise; quantiles within 0.3 %; units "
    "of records or utility",
    "exact_sd": "its standard deviation across data sets; same units; empty for quantiles",
    "exact_se": "standard error of `exact` as an average over all data sets of this kind; empty "
    "for quantiles",
    "monte_carlo": "the same from draws, on the same data sets",
    "monte_carlo_sd": "standard deviation across data sets of the mean of the draws; empty for "
    "quantiles",
    "low": "lower end of the 95 % interval of `monte_carlo` around what it estimates: the noise's "
    "part alone, as the data sets are the same; of quantiles widened by up to 0.3 %",
    "high": "its upper end",
    "z": "(monte_carlo - exact) / its standard error; of quantiles, of the share of draws up to "
    "the exact one",
    "agree": "whether exact and drawn figures agree: |z| <= 5",
}
DIGITS = 3  # significant digits in a cell
RECORDS, UTILITIES = "records", "utilities"
FIGURES: dict[object, str] = {
    "error": "expected error (units of the records)",
    "bias": "bias, output minus truth (units of the records)",
    "loss": "expected loss (units of the utility)",
    "total_loss": "total loss of all places (units of the utility)",
    "last_loss": "loss of the last place (units of the utility)",
    "rank_error": "expected rank error (records)",
    "worst_error": "error of the worst quantile (units of the records)",
    "worst_rank_error": "rank error of the worst quantile (records)",
    "wrong": "wrong answers (probability)",
    "error_quantile": "quantile of the error (units of the records)",
    "loss_quantile": "quantile of the loss (units of the utility)",
    "theorem_1": "error bound, Theorem 1 (units of the records)",
    "theorem_6": "loss bound, Theorem 6 (units of the utility)",
    "corollary_7": "loss bound, Corollary 7 (units of the utility)",
}


class FigurePart(NamedTuple):
    """The rows of one figure, for mechanisms that all take records, or all take utilities."""

    figure: str
    takes: str
    words: str  # the meaning of the numbers, with their unit
    rows: StudyRows
    places: dict[str, int]  # the places of mechanisms in the whole table, which set their colours


def parts(rows: StudyRows, takes: Mapping[str, str]) -> list[FigurePart]:
    """Return the rows that have a number, by the meaning of the number, in the table's order.

    `takes` maps the label of each mechanism to "records" or "utilities".
    """
    places = {name: place for place, name in enumerate(distinct(rows, "mechanism"))}
    groups: dict[tuple[str, str], StudyRows] = {}
    for row in rows:
        if value_of(row) is not None:
            kind = takes.get(row["mechanism"], RECORDS)
            groups.setdefault((row["figure"], kind), []).append(row)
    words = FIGURES | {("error", UTILITIES): "wrong selections (probability)"}
    return [
        FigurePart(*key, words.get(key, words.get(key[0], key[0])), part, places)
        for key, part in groups.items()
    ]


def value_of(row: Row) -> float | None:
    """Return the number of a row: the exact figure, or else that of draws."""
    exact: float | None = row["exact"]
    return row["monte_carlo"] if exact is None else exact


def distinct(rows: StudyRows, column: str) -> list[Any]:
    """Return the distinct values of a column, in their order."""
    return list(dict.fromkeys(row[column] for row in rows))


def several(rows: StudyRows, *columns: str) -> list[str]:
    """Return those of the columns that have more than one value."""
    return [column for column in columns if len(distinct(rows, column)) > 1]


def text_of(column: str, value: float | str) -> str:
    """Return a value with its column, as in "n = 1,000"; a name stands alone."""
    return printable(value) if isinstance(value, str) else f"{column} = {readable(value)}"


LINE, NO_LIMIT = 80, 10**6  # characters in a line: of prose, and of a table without a terminal


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
            Columns of a line; by default those of the terminal, or no limit where there is none.

        Returns
        -------
        str
        """
        room = get_terminal_size((NO_LIMIT, 0)).columns if width is None else width
        lines = [[printable(cell) for cell in row] for row in (self.columns, *self.rows)]
        left = [column in self.words for column in self.columns]
        count = fitting(lines, left, room, min(self.keys + 1, len(left)))
        dropped = ", ".join(self.columns[count:])
        omission = f"Left out, as a line has {room} columns: {dropped}." if dropped else ""
        table = "\n".join(table_lines([row[:count] for row in lines], left[:count], room))
        note = f"{self.note} {omission}".strip()
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


PLACE = ("data", "n", "epsilon", "level")
FAR_NOTE = "Quantiles that are missing are too far beyond the bounds."
DRAWN, DOUBTFUL = "~", " !"  # marks: no exact figure; exact figure and draws disagree


def pivots(rows: StudyRows, takes: Mapping[str, str]) -> list[StudyTable]:
    """Return a table for each figure, in the study's order; `takes` is as for `parts`."""
    by_figure: dict[str, list[FigurePart]] = {}
    for part in parts(rows, takes):
        by_figure.setdefault(part.figure, []).append(part)
    far = {row["figure"] for row in rows if value_of(row) is None}
    return [_pivot(meanings, is_far=figure in far) for figure, meanings in by_figure.items()]


def _pivot(meanings: list[FigurePart], *, is_far: bool) -> StudyTable:
    rows = [row for part in meanings for row in part.rows]
    words = "; ".join(part.words for part in meanings)
    varying = several(rows, *PLACE, "mechanism")
    is_one_mechanism = "mechanism" not in varying and "epsilon" in varying
    across, fallback = ("epsilon", "mechanism") if is_one_mechanism else ("mechanism", "epsilon")
    down = [c for c in varying if c != across] or [fallback]
    lines: dict[tuple[Any, ...], dict[Any, Row]] = {}
    for row in rows:
        lines.setdefault(tuple(row[c] for c in down), {})[row[across]] = row
    heads = distinct(rows, across)
    all_drawn = all(row["exact"] is None for row in rows)
    fixed = [c for c in ("mechanism", *PLACE) if c not in (*down, across)]
    title = ", ".join(text_of(c, rows[0][c]) for c in fixed if rows[0][c] is not None)
    return StudyTable(
        title=f"{words[0].upper()}{words[1:]}{': ' if title else ''}{title}",
        columns=[*down, *(text_of(across, head) for head in heads)],
        rows=[
            [
                *(text if isinstance(text, str) else readable(text) for text in place),
                *(_cell(line.get(head), all_drawn=all_drawn) for head in heads),
            ]
            for place, line in lines.items()
        ],
        note=" ".join([*_notes(rows, all_drawn=all_drawn), *([FAR_NOTE] if is_far else [])]),
        keys=len(down),
    )


def _cell(row: Row | None, *, all_drawn: bool) -> str:
    if row is None:
        return ""
    mark = DRAWN if row["exact"] is None and not all_drawn else ""
    return f"{mark}{readable(value_of(row), DIGITS)}{DOUBTFUL if row['agree'] is False else ''}"


def _notes(rows: StudyRows, *, all_drawn: bool) -> list[str]:
    """Return what marks mean, and how guarantees differ, which a table would hide."""
    notes = []
    if all_drawn:
        notes.append("Means of draws: there are no exact figures.")
    elif any(row["exact"] is None for row in rows):
        notes.append(f"{DRAWN}: by draws, as there is no exact figure.")
    if any(row["agree"] is False for row in rows):
        notes.append(f"{DOUBTFUL.strip()}: exact figures and draws disagree.")
    kinds: dict[str, dict[str, None]] = {}
    for row in rows:
        terms = [f"neighbors {row['neighbors'] or 'of the stated sensitivity'}"]
        terms += [f"delta = {readable(row['delta'])}"] if row["delta"] else []
        terms += ["rho only"] if row["promised_epsilon"] is None else []
        terms = ["not stated"] if row["delta"] is None else terms
        kinds.setdefault(", ".join(terms), {})[row["mechanism"]] = None
    if len(kinds) > 1:
        texts = [f"{kind} ({'; '.join(names)})" for kind, names in kinds.items()]
        notes.append(f"Guarantees differ: {', '.join(texts)}.")
    return notes


def csv_text(rows: list[Row]) -> str:
    """Return rows as CSV, with empty cells for None; numbers are read back unchanged."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def json_text(table: dict[str, Any]) -> str:
    """Return the result of `StudyResults.to_dict` as JSON."""
    return json.dumps(table, indent=1) + "\n"
