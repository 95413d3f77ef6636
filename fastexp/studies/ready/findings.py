"""Findings: small tables that answer a study's question, made of the rows of its table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._parameters.text import readable
from .best_and_next import DIGITS, WRONG, sentence
from .study_table import StudyTable

Rows = list[dict[str, Any]]


def nothing(rows: Rows) -> list[StudyTable]:  # noqa: ARG001  # as all others
    """No further tables."""
    return []


def rows_with(rows: Rows, **values: object) -> Rows:
    """The rows with these values in these columns."""
    return [row for row in rows if all(row[key] == value for key, value in values.items())]


def distinct(rows: Rows, column: str) -> list[Any]:
    """The values of a column, in the order in which they come."""
    return list(dict.fromkeys(row[column] for row in rows))


def by_epsilon(title: str, rows: Rows, note: str, verb: str | None = None) -> StudyTable:
    """One line an epsilon, one column a mechanism; exact figures.

    The rows are of one figure; `verb` is for its sentence, as in `best_and_next.sentence`.
    """
    columns = distinct(rows, "mechanism")
    lines = []
    for epsilon in distinct(rows, "epsilon"):
        at = {row["mechanism"]: row["exact"] for row in rows_with(rows, epsilon=epsilon)}
        lines.append([readable(epsilon), *(readable(at.get(name), DIGITS) for name in columns)])
    return StudyTable(title, ["epsilon", *map(str, columns)], lines, note, sentence(rows, verb))


def each(rows: Rows, *columns: str) -> Iterable[tuple[str, Rows]]:
    """The rows of each combination of columns, with words for it."""
    keys = dict.fromkeys(tuple(row[c] for c in columns) for row in rows)
    for key in keys:
        values = dict(zip(columns, key, strict=True))
        words = [f"n = {readable(v)}" if c == "n" else str(v) for c, v in values.items()]
        yield ", ".join(words), rows_with(rows, **values)


def revenue(rows: Rows) -> list[StudyTable]:
    """Mean revenue loss against epsilon."""
    note = (
        "Mean revenue lost against the best price; exact, on the grid of prices. The textbook's "
        "scaling spends half of epsilon."
    )
    return [
        by_epsilon(f"Revenue loss: {words}", part, note)
        for words, part in each(rows_with(rows, figure="loss"), "data", "n")
    ]


def truth(rows: Rows) -> list[StudyTable]:
    """The probability of a wrong answer against epsilon."""
    wrong = rows_with(rows, figure="error")
    note = (
        "Probability that the answer is not the bit; exact. The tutorial takes a sensitivity of "
        "1 where 1/2 would do, and the general factor 2; randomized response needs neither."
    )
    return [by_epsilon("Probability of a wrong answer", wrong, note, verb=WRONG)]


def noise(rows: Rows) -> list[StudyTable]:
    """The mean error of Laplace noise."""
    note = "Mean error, exact; without bounds it is sensitivity / epsilon except for the grid."
    return [by_epsilon("Error of Laplace noise", rows_with(rows, figure="error"), note)]


def nice(rows: Rows) -> list[StudyTable]:
    """The same mechanism on kind and unkind data."""
    note = "Expected error of the median, exact. Records and bounds are the same size throughout."
    findings = []
    for words, part in each(rows_with(rows, figure="error"), "mechanism"):
        epsilons = distinct(part, "epsilon")
        lines = []
        for data, n in dict.fromkeys((row["data"], row["n"]) for row in part):
            at = {row["epsilon"]: row["exact"] for row in rows_with(part, data=data, n=n)}
            lines.append([data, readable(n), *(readable(at.get(e), DIGITS) for e in epsilons)])
        columns = ["data", "n", *(f"epsilon = {readable(e)}" for e in epsilons)]
        best = sentence(part)
        findings.append(StudyTable(f"Error by data: {words}", columns, lines, note, best, keys=2))
    return findings


def selection(rows: Rows) -> list[StudyTable]:
    """Expected loss of three mechanisms."""
    note = "Expected loss, exact, in units of the utility (sensitivity 1)."
    return [
        by_epsilon(f"Loss: {words.replace('n =', 'k =')}", part, note)
        for words, part in each(rows_with(rows, figure="loss"), "data", "n")
    ]


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
