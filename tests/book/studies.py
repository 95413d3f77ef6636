"""Tables of all ready studies and of one with own settings, from a few data sets and draws."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import fastexp as fx
from tests.book.entries import Entry, digest
from tests.support.small_study import small

SHOWN = 25  # rows of a table whose figures are written; all count in a digest
READY = (
    *("table1", "price-tradeoff", "randomized-response", "laplace", "nice-and-nasty", "selection"),
    *("bounds", "permute-and-flip", "top-k", "grids", "prices", "groups", "quantiles"),
)
KEYS = ("data", "n", "mechanism", "epsilon", "figure", "level")
SMALLER: dict[str, dict[str, Any]] = {
    "selection": {"n": 20},
    "bounds": {"n": 20},
    "nice-and-nasty": {"n": 20},
    "quantiles": {"n": 100, "epsilon": 1.0, "datasets": 1},
}


def entries() -> Iterator[Entry]:
    """All of them."""
    yield from _table("small", small())
    for name in READY:
        changes = {"datasets": 2, "draws": 5, **SMALLER.get(name, {})}
        yield from _table(name, fx.Study.ready(name, **changes))


def _table(name: str, study: fx.Study) -> Iterator[Entry]:
    """What a study is, its table in words, and its figures."""
    results = study.run(workers=1)
    yield Entry(f"{name} / settings", [json.dumps(study.to_dict(), sort_keys=True), study.key])
    yield Entry(f"{name} / size", [study.tasks, len(results.rows), results.agree, study.question])
    yield Entry(f"{name} / table", results.table().text(80))
    step = 1 + len(results.rows) // SHOWN
    for row in results.rows[::step]:
        place = ", ".join(str(row[key]) for key in KEYS if row[key] is not None)
        figures = {key: _figure(row[key]) for key in ("exact", "exact_sd", "monte_carlo")}
        yield Entry(f"{name} / {place}", figures)
    rounded = [[_rounded(value) for value in row.values()] for row in results.rows]
    yield Entry(f"{name} / all figures to 7 digits", digest(json.dumps(rounded).encode()))


def _figure(value: Any) -> Any:
    """A figure; one that is 0 but for its last bits is 0."""
    return 0.0 if isinstance(value, float) and abs(value) < 1e-9 else value


def _rounded(value: Any) -> Any:
    return f"{_figure(value):.6e}" if isinstance(value, float) else value
