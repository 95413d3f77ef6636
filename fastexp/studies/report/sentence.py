"""What a table of a study says of one of its rows, in a sentence: the best, and the next best."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from ..._parameters.text import readable
from .table_rows import Row
from .words import DIGITS, Part, Rows, distinct, several, value_of

SAME, TWICE = 1.005, 2.0  # ratios from which on there is a difference, and a multiple


def sentence(part: Part) -> str:
    """The best mechanism of these rows at ε near 1, and the next best."""
    rows, verb = part.rows, part.verb
    apart = several(rows, "data", "n", "level")
    if not verb:
        return _range(rows, f"{part.figure} is {{}}", apart)
    if len(distinct(rows, "mechanism")) == 1:
        return _range(rows, f"{_name(rows[0])} {verb}", apart)
    groups: dict[tuple[Any, ...], Rows] = {}
    for row in rows:
        groups.setdefault(tuple(row[c] for c in ("data", "n", "level", "epsilon")), []).append(row)
    fittest = max(groups.values(), key=_weight)
    best, *others = sorted(fittest, key=_size)
    place = _place(best, {*apart, "n"})
    text = f"{place[0].upper()}{place[1:]}, {_name(best)} {verb.format(_number(best))}"
    return f"{text}{_next(best, others[0])}." if others else f"{text}."


def _weight(group: Rows) -> tuple[float, ...]:
    """How fit a row of the table is for a sentence: many mechanisms, ε near 1, many records."""
    row = group[0]
    return len(group), -abs(math.log(row["epsilon"])), row["n"], row["level"] or 0.0


def _next(best: Row, second: Row) -> str:
    low, high = _size(best), _size(second)
    start = f"; the next best, {_name(second)}, {_number(second)}"
    if None in (best["exact"], second["exact"]) and _ends(best)[1] >= _ends(second)[0]:
        return f"{start}: no difference beyond the noise of the draws"
    if low == 0:
        return start
    ratio = high / low
    if ratio < SAME:
        return f"{start}: as much"
    if ratio < TWICE:
        return f"{start}: {readable(100 * (ratio - 1), 2)} % more"
    return f"{start}: {readable(ratio, 2)} times as much"


def _range(rows: Rows, words: str, apart: list[str]) -> str:
    least, *_, most = sorted([*rows, rows[0]], key=lambda row: value_of(row) or 0.0)
    which = {*apart, *several(rows, "mechanism")}
    ends = [f"{_number(row)} ({_place(row, which)})" for row in (least, most)]
    return f"{words.format(' to '.join(ends[: 1 if least is most else 2]))}."


def _place(row: Row, which: Collection[str]) -> str:
    """Which cell: "on normal at ε = 1 and n = 1,000"."""
    terms = [f"ε = {readable(row['epsilon'])}"]
    terms += [f"n = {readable(row['n'])}"] if "n" in which else []
    terms += [f"level {readable(row['level'])}"] if "level" in which else []
    words = [f"by {_name(row)}"] if "mechanism" in which else []
    words += [f"on {row['data']}"] if "data" in which else []
    listed_terms = terms[0] if len(terms) == 1 else f"{', '.join(terms[:-1])} and {terms[-1]}"
    return " ".join([*words, f"at {listed_terms}"])


def _name(row: Row) -> str:
    """A mechanism's label, in quotation marks where it would be read as several."""
    label = str(row["mechanism"])
    return f"“{label}”" if "," in label or ";" in label else label


def _number(row: Row) -> str:
    return readable(value_of(row), DIGITS)


def _ends(row: Row) -> tuple[float, float]:
    """Between which sizes a row's figure is: of an exact one, twice itself."""
    if row["exact"] is not None or row["low"] is None:
        return _size(row), _size(row)
    low, high = row["low"], row["high"]
    return max(low, -high, 0.0), max(abs(low), abs(high))


def _size(row: Row) -> float:
    return abs(value_of(row) or 0.0)
