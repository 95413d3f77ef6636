"""Studies that take some milliseconds, for the tests of how studies run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fastexp as fx

EVIL = "<b>&\"'</b> $x_1$ \x1b[31m"  # a label that pages and pictures must escape

SETTINGS: dict[str, Any] = {
    "name": "small",
    "data": ["normal", "ages"],
    "n": [5, 12],
    "bounds": (-10, 120),
    "epsilon": [0.5, 2.0],
    "mechanisms": ["median", {"name": "quantile", "q": 0.9}],
    "datasets": 22,
    "draws": 8,
    "figures": ["error", "bias", "error_quantile"],
    "block": 4,
}
TASKS = 2 * 2 * 6  # data, n and blocks: the last block of each has two data sets


def small(**changes: Any) -> fx.Study:
    """A study of 24 tasks and 16 cells, with some settings changed."""
    return fx.Study(**{**SETTINGS, **changes})


def tables(folder: Path) -> tuple[bytes, bytes]:
    """The bytes of both tables of a results folder."""
    return (folder / "table.csv").read_bytes(), (folder / "table.json").read_bytes()


def undisturbed(study: fx.Study) -> tuple[bytes, bytes]:
    """The bytes that both tables must have."""
    results = study.run(workers=1)
    return results.to_csv().encode(), results.to_json().encode()
