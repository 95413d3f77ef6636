"""Findings: small tables that answer a study's question, made of the rows of its table."""

from __future__ import annotations

from typing import Any

from ..._parameters.text import readable
from .best_and_next import DIGITS, value_of
from .study_table import StudyTable

Rows = list[dict[str, Any]]


def rows_with(rows: Rows, **values: object) -> Rows:
    """The rows with these values in these columns."""
    return [row for row in rows if all(row[key] == value for key, value in values.items())]


def distinct(rows: Rows, column: str) -> list[Any]:
    """The values of a column, in the order in which they come."""
    return list(dict.fromkeys(row[column] for row in rows))


def crossed(
    title: str, rows: Rows, keys: tuple[str, str], note: str, say: str = "", *, scale: float = 1.0
) -> StudyTable:
    """One line a value of the first column, one column a value of the second; exact where they are.

    The rows are of one figure; numbers are `scale` times theirs.
    """
    down, across = keys
    columns, lines = distinct(rows, across), []
    for value in distinct(rows, down):
        at: dict[Any, float | None] = {}
        for row in rows_with(rows, **{down: value}):
            figure = value_of(row)
            at[row[across]] = None if figure is None else scale * figure
        lines.append([_text(value), *(readable(at.get(column), DIGITS) for column in columns)])
    return StudyTable(title, [down, *map(_text, columns)], lines, note, say)


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else readable(value)


# The quantile that each theorem bounds.
BOUNDED = {
    "theorem_1": ("error_quantile", "Theorem 1"),
    "theorem_6": ("loss_quantile", "Theorem 6"),
    "corollary_7": ("loss_quantile", "Corollary 7"),
}


def bounds(rows: Rows) -> list[StudyTable]:
    """What theorems promise, beside the exact quantile."""
    lines, times = [], []
    for row in rows:
        if row["figure"] not in BOUNDED:
            continue
        figure, theorem = BOUNDED[row["figure"]]
        same = {key: row[key] for key in ("data", "n", "mechanism", "epsilon", "level")}
        quantiles = rows_with(rows, figure=figure, **same)
        exact = quantiles[0]["exact"] if quantiles else None
        times += [row["exact"] / exact] if exact else []
        place = [row["data"], *(readable(row[key]) for key in ("n", "epsilon", "level"))]
        figures = (exact, row["exact"], row["exact"] / exact if exact else None)
        lines.append([theorem, *place, *(readable(x, DIGITS) for x in figures)])
    columns = ["theorem", "data", "n", "epsilon", "level", "exact quantile", "bound", "times"]
    note = "A bound holds for every data set; the exact quantile is of these. Error or loss."
    least, most = (readable(end(times, default=None), DIGITS) for end in (min, max))
    loose = f"The bounds are {least} to {most} times the exact quantiles." if times else ""
    return [StudyTable("How loose the theorems are", columns, lines, note, loose, keys=5)]
