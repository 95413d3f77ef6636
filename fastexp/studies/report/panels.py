"""Which pictures a study's table makes: what is on their axes and in their panels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..._parameters.text import printable, readable
from ..ready.best_and_next import Row
from ..ready.findings import Rows, distinct

MOST_PANELS, COLUMNS = 12, 3  # of a picture
MOST_LINES = 8  # of a panel, if labels like "joint, k = 20" allow it
SIZED = re.compile(r"(.+), (?!n)([a-z]) = (\d+)")  # n is a column of its own
RECORDS, UTILITIES = "records", "utilities"
X_WORDS = {
    ("epsilon", RECORDS): "epsilon (nats)",
    ("epsilon", UTILITIES): "epsilon (nats)",
    ("n", RECORDS): "n (records in a data set)",
    ("n", UTILITIES): "n (candidates)",
}
WORDS = {
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
SELECTING = "wrong selections (probability)"


@dataclass
class Line:
    """A mechanism in a panel: `place` is the same in all pictures and decides its style."""

    mechanism: str
    place: int
    x: list[float] = field(default_factory=list)
    exact: list[float | None] = field(default_factory=list)
    drawn: list[float | None] = field(default_factory=list)
    low: list[float | None] = field(default_factory=list)
    high: list[float | None] = field(default_factory=list)

    def add(self, x: float, row: Row) -> None:
        """Take in a row of the table."""
        self.x.append(x)
        columns = ("exact", "monte_carlo", "low", "high")
        for values, column in zip(
            (self.exact, self.drawn, self.low, self.high), columns, strict=True
        ):
            values.append(row[column])

    def values(self, *, signed: bool) -> list[float]:
        """What an axis must show; of figures without a sign no estimates and ends below 0."""
        drawn = [v for v in (*self.drawn, *self.low, *self.high) if v is not None]
        exact = [v for v in self.exact if v is not None]
        return exact + [v for v in drawn if signed or v > 0 or not exact]


@dataclass
class Panel:
    """One pair of axes: one kind of data (and size, epsilon, level), a line a mechanism."""

    title: str
    lines: list[Line] = field(default_factory=list)


@dataclass(frozen=True)
class Picture:
    """A picture: one figure of the table in some panels.

    `x` is the column along the horizontal axis; None where there is one value only, and
    mechanisms are below each other instead.
    """

    figure: str
    x: str | None
    x_label: str
    y_label: str
    panels: list[Panel]
    columns: int

    @property
    def places(self) -> list[float]:
        """All places on the horizontal axis, in order."""
        return sorted({x for panel in self.panels for line in panel.lines for x in line.x})

    @property
    def values(self) -> list[float]:
        """All values of all panels, which decide the scale."""
        return [v for panel in self.panels for v in self.values_of(panel)]

    def values_of(self, panel: Panel) -> list[float]:
        """The values of one panel."""
        signed = self.figure == "bias"
        return [v for line in panel.lines for v in line.values(signed=signed)]


def pictures(rows: Rows, takes: Mapping[str, str]) -> list[Picture]:
    """The pictures of a tidy table, in its order of figures; none of an empty one.

    `takes` says for each mechanism's label whether it takes "records" or "utilities": units differ.
    """
    sizes = _sizes(distinct(rows, "mechanism"))
    names = dict.fromkeys(sizes[x][0] if sizes else x for x in distinct(rows, "mechanism"))
    places = {name: i for i, name in enumerate(names)}
    drawn: list[Picture] = []
    for figure, kind, words, part in parts(rows, takes):
        size = next((word for _, word, _ in sizes.values()), None)
        if size is not None:
            split = [(row, *sizes[row["mechanism"]]) for row in part]
            part = [{**row, "mechanism": name, word: value} for row, name, word, value in split]
        drawn += _of_figure(part, figure, kind, words, places, size)
    return drawn


def _sizes(labels: list[str]) -> dict[str, tuple[str, str, int]]:
    """Of many labels that all end in one size, like ", k = 20": name, word, value; else nothing."""
    ends = [SIZED.fullmatch(label) for label in labels]
    sizes = {end[0]: (end[1], end[2], int(end[3])) for end in ends if end}
    alike = len(sizes) == len(labels) and len({word for _, word, _ in sizes.values()}) == 1
    return sizes if alike and len(labels) > MOST_LINES else {}


def parts(rows: Rows, takes: Mapping[str, str]) -> list[tuple[str, str, str, Rows]]:
    """Rows whose numbers have one meaning: figure, what mechanisms take, both in words, rows."""
    groups: dict[tuple[str, str], Rows] = {}
    for row in rows:
        if row["exact"] is not None or row["monte_carlo"] is not None:
            kind = takes.get(row["mechanism"], RECORDS)
            groups.setdefault((row["figure"], kind), []).append(row)
    wrong = {("error", UTILITIES): SELECTING}
    return [
        (figure, kind, wrong.get((figure, kind)) or WORDS.get(figure, figure), part)
        for (figure, kind), part in groups.items()
    ]


def _of_figure(
    rows: Rows, figure: str, kind: str, words: str, places: dict[str, int], size: str | None
) -> list[Picture]:
    x = next((c for c in ("epsilon", "n") if len(distinct(rows, c)) > 1), None)
    columns = ["data", "n", "epsilon", "level"]
    if size is not None:
        x = size if x is None or len(distinct(rows, size)) > len(distinct(rows, x)) else x
        columns.append(size)
    apart = [c for c in columns if c != x]
    named = [c for c in apart if len(distinct(rows, c)) > 1]
    panels: dict[tuple[Any, ...], Panel] = {}
    lines: dict[tuple[Any, ...], Line] = {}
    for row in rows:
        key = tuple(row[c] for c in apart)
        if key not in panels:
            panels[key] = Panel(", ".join(text_of(c, row[c]) for c in named))
        label = row["mechanism"]
        if (key, label) not in lines:
            lines[key, label] = Line(printable(label), places[label])
            panels[key].lines.append(lines[key, label])
        lines[key, label].add(0.0 if x is None else float(row[x]), row)
    x_words = "" if x is None else X_WORDS.get((x, kind), x)
    all_panels = list(panels.values())
    beside = _columns(len(all_panels), [len(distinct(rows, c)) for c in reversed(named)])
    most = MOST_PANELS // beside * beside
    some = [all_panels[i : i + most] for i in range(0, len(all_panels), most)]
    return [Picture(figure, x, x_words, words, part, min(beside, len(part))) for part in some]


def _columns(panels: int, sizes: list[int]) -> int:
    """Panels beside each other: those that differ in what varies fastest, if they fit."""
    if panels <= COLUMNS:
        return max(1, panels)
    return next((size for size in sizes if 1 < size <= COLUMNS and panels % size == 0), COLUMNS)


def text_of(column: str, value: float | str) -> str:
    """A value with its column: "n = 1,000"; of data and mechanisms the name alone."""
    return printable(value) if isinstance(value, str) else f"{column} = {readable(value)}"
