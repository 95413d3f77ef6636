"""What a user chooses besides ε: the step of a grid, widen, bounds of prices, sizes of groups."""

from __future__ import annotations

import math
from typing import Any

from ..._parameters.text import readable
from .findings import Rows, crossed, distinct, rows_with
from .study_table import StudyTable

GRIDS: dict[str, Any] = {
    "data": [
        {"name": "zipf", "values": 16, "exponent": 0.2, "label": "16 levels"},
        {"name": "uniform", "low": 0, "high": 16, "label": "numbers that are not rounded"},
    ],
    "n": 1000,
    "bounds": (0, 20),
    "epsilon": (0.02, 0.05, 0.1, 0.2, 0.5),
    "mechanisms": [
        {"name": "median", "step": step, "widen": widen, "label": f"step {step}, widen {widen}"}
        for step in (0.001, 0.1, 1)
        for widen in (0, 0.1)
    ],
    "datasets": 50,
    "draws": 50,
    "figures": ("error",),
}
HIGH, BIDS = 16, 200
MEDIANS = {f"bids around {median}": median for median in (8, 4, 2, 1)}
PRICE_STEPS = {f"step {step}": step for step in (0.01, 0.1, 1)}
PRICES: dict[str, Any] = {
    "data": [
        {"name": "lognormal", "median": median, "sigma": 0.4, "label": label}
        for label, median in MEDIANS.items()
    ],
    "n": BIDS,
    "bounds": (0, HIGH),
    "epsilon": (0.1, 1.0),
    "mechanisms": [
        {"name": "price", "step": step, "label": label} for label, step in PRICE_STEPS.items()
    ],
    "datasets": 50,
    "draws": 100,
    "figures": ("loss", "loss_quantile"),
}
GROUPS: dict[str, Any] = {
    "data": "ages",
    "n": (5, 10, 30, 100, 300, 1000),
    "bounds": (0, 120),
    "epsilon": (0.1, 0.2, 0.5, 1.0, 2.0),
    "mechanisms": [{"name": "median", "step": 1, "label": "median"}],
    "datasets": 500,
    "draws": 20,
    "figures": ("error", "error_quantile"),
    "levels": 0.95,
}


def prices(rows: Rows) -> list[StudyTable]:
    """Lost revenue by how far the upper bound lies above the bids, and by the step."""
    note = (
        f"Mean revenue lost by {BIDS} bids, in % of so many times their median; exact. The further "
        f"the upper bound, {HIGH}, lies above the bids, the more is lost."
    )
    tables = []
    for epsilon in distinct(rows, "epsilon"):
        part = rows_with(rows, epsilon=epsilon)
        shares = [
            {**row, "exact": 100 * row["exact"] / (BIDS * MEDIANS[row["data"]])}
            for row in rows_with(part, figure="loss")
        ]
        say = _bound(rows_with(part, figure="loss_quantile", level=0.95))
        title = f"Revenue loss at ε = {readable(epsilon)}"
        tables.append(crossed(title, shares, ("data", "mechanism"), note, say))
    return tables


def _bound(rows: Rows) -> str:
    times = []
    for row in rows:
        prices = HIGH / PRICE_STEPS[row["mechanism"]] + 1
        bound = HIGH / row["epsilon"] * (math.log(prices) + math.log(20))
        times += [bound / row["exact"]] if row["exact"] else []
    least, most = (readable(end(times, default=None), 2) for end in (min, max))
    return (
        f"The theorem's bound of the loss, 95 %, is {least} to {most} times the exact quantile "
        "(Corollary 3.12 of Dwork and Roth 2014, without the factor 2, as one bid moves all "
        "revenues in one direction)."
    )
