"""What figures are called, and which rows have one meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from ..._parameters.text import printable, readable
from .table_rows import Row

Rows: TypeAlias = list[Row]
DIGITS = 3
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


class Part(NamedTuple):
    """Rows whose numbers have one meaning: of one figure, of mechanisms that take the same."""

    figure: str
    takes: str
    words: str
    rows: Rows
    places: dict[str, int]  # of mechanisms in the whole table, which decide their looks


def parts(rows: Rows, takes: Mapping[str, str]) -> list[Part]:
    """The rows that have a figure, by their meaning, in the table's order.

    `takes` says for each mechanism's label whether it takes "records" or "utilities".
    """
    places = {name: place for place, name in enumerate(distinct(rows, "mechanism"))}
    groups: dict[tuple[str, str], Rows] = {}
    for row in rows:
        if value_of(row) is not None:
            kind = takes.get(row["mechanism"], RECORDS)
            groups.setdefault((row["figure"], kind), []).append(row)
    words = FIGURES | {("error", UTILITIES): "wrong selections (probability)"}
    return [
        Part(*key, words.get(key, words.get(key[0], key[0])), part, places)
        for key, part in groups.items()
    ]


def value_of(row: Row) -> float | None:
    """What a reader takes from a row: the exact figure, else that of draws."""
    exact: float | None = row["exact"]
    return row["monte_carlo"] if exact is None else exact


def distinct(rows: Rows, column: str) -> list[Any]:
    """The values of a column, in the order in which they come."""
    return list(dict.fromkeys(row[column] for row in rows))


def several(rows: Rows, *columns: str) -> list[str]:
    """Those of the columns that have more than one value."""
    return [column for column in columns if len(distinct(rows, column)) > 1]


def text_of(column: str, value: float | str) -> str:
    """A value with its column: "n = 1,000"; of data and mechanisms the name alone."""
    return printable(value) if isinstance(value, str) else f"{column} = {readable(value)}"
