"""The tidy table turned for readers: data, n and epsilon down, mechanisms across."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._parameters.text import readable
from .study_table import StudyTable
from .table_rows import Row
from .words import DIGITS, Part, Rows, distinct, parts, several, text_of, value_of

PLACE = ("data", "n", "epsilon", "level")
DRAWN, DOUBTFUL = "~", " !"  # before a figure of draws alone, after one where both disagree


def pivots(rows: Rows, takes: Mapping[str, str]) -> list[StudyTable]:
    """A table for each figure, in the study's order; `takes` as for `parts`."""
    by_figure: dict[str, list[Part]] = {}
    for part in parts(rows, takes):
        by_figure.setdefault(part.figure, []).append(part)
    return [_pivot(meanings) for meanings in by_figure.values()]


def _pivot(meanings: list[Part]) -> StudyTable:
    rows = [row for part in meanings for row in part.rows]
    words = "; ".join(part.words for part in meanings)
    apart = several(rows, *PLACE, "mechanism")
    one = "mechanism" not in apart and "epsilon" in apart
    across, least = ("epsilon", "mechanism") if one else ("mechanism", "epsilon")
    down = [c for c in apart if c != across] or [least]
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
        note=" ".join(_notes(rows, all_drawn=all_drawn)),
        keys=len(down),
    )


def _cell(row: Row | None, *, all_drawn: bool) -> str:
    if row is None:
        return ""
    mark = DRAWN if row["exact"] is None and not all_drawn else ""
    return f"{mark}{readable(value_of(row), DIGITS)}{DOUBTFUL if row['agree'] is False else ''}"


def _notes(rows: Rows, *, all_drawn: bool) -> list[str]:
    """What marks mean, and that guarantees differ, which numbers beside each other hide."""
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
