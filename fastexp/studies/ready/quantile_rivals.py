"""Many quantiles in one draw against the rivals: by their number, by epsilon, and on ties.

What is compared is what one draw of all m quantiles costs: the same ε under add-remove. Only the
quantiles that share ρ promise less: ε·√m, and the ρ of the others.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from ..._parameters.text import readable
from .best_and_next import DIGITS, Row, ends, value_of
from .findings import Rows, distinct, rows_with
from .study_table import StudyTable

Place: TypeAlias = tuple[Any, ...]
Lines: TypeAlias = dict[Place, dict[str, Row]]  # rows of a place, by the kind of mechanism
QUESTION = "How many records off are m private quantiles, drawn together or one by one?"
REPEATS = (
    "The joint rival is of Gillenwater, Joseph and Kulesza 2021, the recursive one of Kaplan, "
    "Schnapp and Stemmer 2022; repeats no figure of theirs."
)
NEW = "quantiles"
KINDS: dict[str, dict[str, Any]] = {
    NEW: {"name": NEW},
    "joint, 2021": {"name": "joint-exponential-quantiles", "ties": "spread"},
    "recursive, 2022": {"name": "approximate-quantiles"},
    "one by one, ρ/m": {"name": "independent-quantiles", "unit": "rho"},
    "one by one, ε/m": {"name": "independent-quantiles"},
}
FAIR = [kind for kind, spec in KINDS.items() if kind != NEW and spec.get("unit") != "rho"]
SIZES = (3, 9, 19, 39)
MOST = 3  # places that a sentence names
ALL = (*KINDS, "joint as published")
AGES = "ages of Adult"
PUBLISHED = {  # counts records that equal an answer on one side of it
    "name": "joint-exponential-quantiles",
    "ties": "left",
    "count": 9,
    "step": 1,
    "label": f"{ALL[-1]}, m = 9",
}
SETTINGS: dict[str, Any] = {
    "data": [
        {"name": "normal", "sd": 50_000, "bounds": (-(10**6), 10**6), "label": "normal"},
        {"name": "uniform", "low": 0, "high": 10**6, "bounds": (0, 10**6), "label": "uniform"},
        {
            "name": "lognormal",
            "median": 10**4,
            "sigma": 1.5,
            "bounds": (0, 10**8),
            "label": "incomes",
        },
        {"name": "adult-ages", "n": 32_561, "bounds": (0, 120), "label": AGES},
    ],
    "n": (1000, 10_000),
    "epsilon": (0.1, 1.0),
    "mechanisms": [
        {**spec, "count": m, "step": 1, "label": f"{kind}, m = {m}"}
        for m in SIZES
        for kind, spec in KINDS.items()
    ]
    + [PUBLISHED],
    "datasets": 3,
    "draws": 40,
    "figures": ("rank_error", "worst_rank_error", "wrong"),
}


def findings(rows: Rows) -> list[StudyTable]:
    """Records off, a table for each epsilon; then how often an age is not the true one."""
    tables = [_records_off(rows_with(rows, epsilon=x), x) for x in distinct(rows, "epsilon")]
    lines = _lines(rows_with(rows, figure="wrong", data=AGES), ("epsilon",))
    note = "The share of answers that are not the true quantile, where many records are equal."
    texts = {place: [_number(line, kind, 100) for kind in ALL] for place, line in lines.items()}
    title, columns = f"Wrong answers in %: {AGES}", ["epsilon", "m", *ALL]
    return [*tables, StudyTable(title, columns, _texts(texts), note, keys=2)]


def _records_off(rows: Rows, epsilon: float) -> StudyTable:
    means = _lines(rows_with(rows, figure="rank_error"), ("data", "n"))
    worst = _lines(rows_with(rows, figure="worst_rank_error"), ("data", "n"))
    texts = {
        place: [f"{_number(line, kind)} ({_number(worst[place], kind)})" for kind in KINDS]
        for place, line in means.items()
    }
    note = (
        "Records between an answer and the true quantile: the mean over m quantiles, and in "
        "brackets that of the worst one of each draw. Means are exact where there is a law."
    )
    title, columns = f"Rank error at ε = {readable(epsilon)}", ["data", "n", "m", *KINDS]
    return StudyTable(title, columns, _texts(texts), note, _lost(means), keys=3)


def _lines(rows: Rows, columns: tuple[str, ...]) -> Lines:
    lines: Lines = {}
    for row in rows:
        kind, _, m = row["mechanism"].rpartition(", m = ")
        lines.setdefault((*(row[c] for c in columns), int(m)), {})[kind] = row
    return lines


def _texts(lines: dict[Place, list[str]]) -> list[list[str]]:
    return [
        [*(part if isinstance(part, str) else readable(part) for part in place), *texts]
        for place, texts in lines.items()
    ]


def _number(line: dict[str, Row], kind: str, scale: float = 1.0) -> str:
    value = value_of(line[kind]) if kind in line else None
    return readable(None if value is None else scale * value, DIGITS)


def _lost(means: Lines) -> str:
    """How often a rival that promises no less is better, beyond the noise, and where the most."""
    lost = []
    for (data, n, m), line in means.items():
        new = ends(line[NEW])[0]
        high, kind = min((ends(line[kind])[1], kind) for kind in FAIR)
        values = f"{_number(line, kind)} against {_number(line, NEW)}"
        text = f"{data}, n = {readable(n)}, m = {m} ({kind}: {values})"
        lost += [(high / new, text)] if high < new else []
    most = "; ".join(text for _, text in sorted(lost)[:MOST])
    return (
        f"In {len(means) - len(lost)} of {len(means)} rows no rival of the same ε is better beyond "
        f"the noise{'; one is above all in ' if lost else ''}{most}."
    )
