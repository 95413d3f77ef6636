"""What a table of a study says of one of its rows, in a sentence: the best, and the next best."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeAlias

from ..._parameters.text import readable

Row: TypeAlias = dict[str, Any]
VERBS = {  # of figures that are better the nearer they are to 0
    "error": "errs {}",
    "bias": "is off by {} on average",
    "loss": "loses {}",
    "total_loss": "loses {} in all places together",
    "last_loss": "loses {} in the last place",
    "rank_error": "is off by {} records",
    "worst_error": "errs {} in the worst quantile",
    "worst_rank_error": "is off by {} records in the worst quantile",
    "wrong": "answers wrongly with probability {}",
    "error_quantile": "errs at most {}",
    "loss_quantile": "loses at most {}",
    "theorem_1": "has an error of at most {} by the theorem",
    "theorem_6": "has a loss of at most {} by the theorem",
    "corollary_7": "has a loss of at most {} by the corollary",
}
WRONG = "selects wrongly with probability {}"
DIGITS = 3
SAME, TWICE = 1.005, 2.0  # ratios from which on there is a difference, and a multiple


def value_of(row: Row) -> float | None:
    """What a reader takes from a row: the exact figure, else that of draws."""
    exact: float | None = row["exact"]
    return row["monte_carlo"] if exact is None else exact


def sentence(rows: list[Row], verb: str | None = None, *, scale: float = 1.0) -> str:
    """The best mechanism of these rows at ε near 1, and the next best; "" if there is nothing.

    The rows of a study's table are all of one figure; `verb` has {} for the number, by default it
    is that of the figure. Numbers are `scale` times those of the rows.
    """
    rows = [row for row in rows if value_of(row) is not None]
    if not rows:
        return ""
    verb = verb or VERBS.get(rows[0]["figure"])
    several = [c for c in ("data", "n", "level") if len({row[c] for row in rows}) > 1]
    if verb is None:
        return _range(rows, f"{rows[0]['figure']} is {{}}", several, scale)
    if len({row["mechanism"] for row in rows}) == 1:
        return _range(rows, f"{_name(rows[0])} {verb}", several, scale)
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[c] for c in ("data", "n", "level", "epsilon")), []).append(row)
    best, *others = sorted(max(groups.values(), key=_weight), key=_size)
    place = _place(best, {*several, "n"})
    text = f"{place[0].upper()}{place[1:]}, {_name(best)} {verb.format(_number(best, scale))}"
    return f"{text}{_next(best, others[0], scale)}." if others else f"{text}."


def _weight(group: Iterable[Row]) -> tuple[float, ...]:
    """How fit a row of the table is for a sentence: many mechanisms, ε near 1, many records."""
    group = list(group)
    row = group[0]
    return len(group), -abs(math.log(row["epsilon"])), row["n"], row["level"] or 0.0


def _next(best: Row, second: Row, scale: float) -> str:
    low, high = _size(best), _size(second)
    start = f"; the next best, {_name(second)}, {_number(second, scale)}"
    if None in (best["exact"], second["exact"]) and ends(best)[1] >= ends(second)[0]:
        return f"{start}: no difference beyond the noise of the draws"
    if low == 0:
        return start
    ratio = high / low
    if ratio < SAME:
        return f"{start}: as much"
    if ratio < TWICE:
        return f"{start}: {readable(100 * (ratio - 1), 2)} % more"
    return f"{start}: {readable(ratio, 2)} times as much"


def _range(rows: list[Row], words: str, several: list[str], scale: float) -> str:
    least, *_, most = sorted([*rows, rows[0]], key=lambda row: value_of(row) or 0.0)
    which = {*several, *(["mechanism"] if len({row["mechanism"] for row in rows}) > 1 else [])}
    ends = [f"{_number(row, scale)} ({_place(row, which)})" for row in (least, most)]
    return f"{words.format(' to '.join(ends[: 1 if least is most else 2]))}."


def _place(row: Row, which: set[str]) -> str:
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


def _number(row: Row, scale: float) -> str:
    value = value_of(row)
    return readable(None if value is None else value * scale, DIGITS)


def ends(row: Row) -> tuple[float, float]:
    """Between which sizes a row's figure is: of an exact one, twice itself."""
    if row["exact"] is not None or row["low"] is None:
        return _size(row), _size(row)
    low, high = row["low"], row["high"]
    return max(low, -high, 0.0), max(abs(low), abs(high))


def _size(row: Row) -> float:
    value = value_of(row)
    return math.inf if value is None else abs(value)
