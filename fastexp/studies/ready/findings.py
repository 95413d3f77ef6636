"""Findings: small tables that answer a study's question, made of the rows of its table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Finding:
    """A table for readers: a title, what its columns are, cells as text, and a note."""

    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    note: str = ""


def nothing(rows: Rows) -> list[Finding]:  # noqa: ARG001  # as all others
    """No further tables."""
    return []


def number(x: float | None, digits: int = 3) -> str:
    """A number with some significant digits; a dash for none."""
    if x is None or math.isnan(x):
        return "-"
    if x == 0:
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(x)))
    return f"{x:.{max(0, places)}f}" if 1e-3 <= abs(x) < 1e6 else f"{x:.{digits - 1}e}"


def rows_with(rows: Rows, **values: object) -> Rows:
    """The rows with these values in these columns."""
    return [row for row in rows if all(row[key] == value for key, value in values.items())]


def distinct(rows: Rows, column: str) -> list[Any]:
    """The values of a column, in the order in which they come."""
    return list(dict.fromkeys(row[column] for row in rows))


def by_epsilon(title: str, rows: Rows, value: str, note: str, across: str = "mechanism") -> Finding:
    """One line an epsilon, one column a mechanism (or another column's value)."""
    columns = distinct(rows, across)
    lines = []
    for epsilon in distinct(rows, "epsilon"):
        at = {row[across]: row[value] for row in rows_with(rows, epsilon=epsilon)}
        lines.append([f"{epsilon:g}", *(number(at.get(name)) for name in columns)])
    return Finding(title, ["epsilon", *map(str, columns)], lines, note)


def each(rows: Rows, *columns: str) -> Iterable[tuple[str, Rows]]:
    """The rows of each combination of columns, with words for it."""
    keys = dict.fromkeys(tuple(row[c] for c in columns) for row in rows)
    for key in keys:
        values = dict(zip(columns, key, strict=True))
        words = [f"n = {v}" if c == "n" else str(v) for c, v in values.items()]
        yield ", ".join(words), rows_with(rows, **values)


def revenue(rows: Rows) -> list[Finding]:
    """Mean revenue loss against epsilon."""
    note = (
        "Mean revenue lost against the best price; exact, on the grid of prices. The textbook's "
        "scaling spends half of epsilon."
    )
    return [
        by_epsilon(f"Revenue loss: {words}", part, "exact", note)
        for words, part in each(rows_with(rows, figure="loss"), "data", "n")
    ]


def truth(rows: Rows) -> list[Finding]:
    """The probability of a wrong answer against epsilon."""
    wrong = rows_with(rows, figure="error")
    note = (
        "Probability that the answer is not the bit; exact. The tutorial takes a sensitivity of "
        "1 where 1/2 would do, and the general factor 2; randomized response needs neither."
    )
    return [by_epsilon("Probability of a wrong answer", wrong, "exact", note)]


def noise(rows: Rows) -> list[Finding]:
    """The mean error of Laplace noise."""
    note = "Mean error, exact; without bounds it is sensitivity / epsilon except for the grid."
    return [by_epsilon("Error of Laplace noise", rows_with(rows, figure="error"), "exact", note)]


def nice(rows: Rows) -> list[Finding]:
    """The same mechanism on kind and unkind data."""
    note = "Expected error of the median, exact. Records and bounds are the same size throughout."
    findings = []
    for words, part in each(rows_with(rows, figure="error"), "mechanism"):
        lines = [{**row, "set": f"{row['data']}, n = {row['n']}"} for row in part]
        findings.append(by_epsilon(f"Error by data: {words}", lines, "exact", note, across="set"))
    return findings


def selection(rows: Rows) -> list[Finding]:
    """Expected loss of three mechanisms."""
    note = "Expected loss, exact, in units of the utility (sensitivity 1)."
    return [
        by_epsilon(f"Loss: {words.replace('n =', 'k =')}", part, "exact", note)
        for words, part in each(rows_with(rows, figure="loss"), "data", "n")
    ]


# The quantile that each theorem bounds.
BOUNDED = {
    "theorem_1": ("error_quantile", "Theorem 1"),
    "theorem_6": ("loss_quantile", "Theorem 6"),
    "corollary_7": ("loss_quantile", "Corollary 7"),
}


def bounds(rows: Rows) -> list[Finding]:
    """What theorems promise, beside the exact quantile."""
    lines = []
    for row in rows:
        if row["figure"] not in BOUNDED:
            continue
        figure, theorem = BOUNDED[row["figure"]]
        same = {key: row[key] for key in ("data", "n", "mechanism", "epsilon", "level")}
        quantiles = rows_with(rows, figure=figure, **same)
        exact = quantiles[0]["exact"] if quantiles else None
        loose = number(row["exact"] / exact) if exact else "-"
        place = [row["data"], str(row["n"]), f"{row['epsilon']:g}", f"{row['level']:g}"]
        lines.append([theorem, *place, number(exact), number(row["exact"]), loose])
    columns = ["theorem", "data", "n", "epsilon", "level", "exact quantile", "bound", "times"]
    note = "A bound holds for every data set; the exact quantile is of these. Error or loss."
    return [Finding("How loose the theorems are", columns, lines, note)]
