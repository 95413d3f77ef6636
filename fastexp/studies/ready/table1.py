"""Table 1 of the Duff paper: its cells beside ours, and the same rivals compared fairly.

Muñoz Medina and Gillenwater, "Duff: a dataset-based utility function family for the exponential
mechanism", 2020. The paper does not give its settings; these reproduce every printed cell to a
quarter of its printed standard deviation, or to its last digit: 1,000 records of N(0, 1) (as
delta = 0.001 is one over their number); bounds of +-10, to which answers are clipped; smooth
sensitivity for replaced records (Nissim, Raskhodnikova and Smith 2007) with Proposition 2's
delta', and Duff's distance for added or removed ones; 100 draws for each data set.
"""

from __future__ import annotations

from typing import Any

from ..._parameters.text import readable
from .best_and_next import sentence
from .findings import Rows, crossed
from .study_table import StudyTable

QUESTION = (
    "How far off is a private median: by smooth sensitivity, and by the exponential mechanism?"
)
SMOOTH = "smooth-sensitivity-median"
FAIR: list[dict[str, Any]] = [
    {"name": SMOOTH, "noise": "cauchy", "calibration": "tight", "label": "SS Cauchy, tight"},
    {"name": SMOOTH, "noise": "pareto-tail", "calibration": "tight", "label": "SS Pareto, tight"},
    {
        "name": SMOOTH,
        "noise": "laplace",
        "delta": 0.001,
        "calibration": "tight",
        "label": "SS Laplace, δ = 0.001, tight",
    },
    {"name": "median", "neighbors": "replace", "convention": "lower", "label": "Duff, replace"},
]
SETTINGS: dict[str, Any] = {
    "data": "normal",
    "n": 1000,
    "bounds": (-10, 10),
    "epsilon": (0.5, 1.0, 2.0),
    "mechanisms": [
        {"name": SMOOTH, "noise": "cauchy", "label": "SS, δ = 0"},
        {"name": SMOOTH, "noise": "laplace", "delta": 0.001, "label": "SS, δ = 0.001"},
        {"name": SMOOTH, "noise": "laplace", "delta": 0.9, "label": "SS, δ = 0.9"},
        {"name": "median", "label": "Duff"},
        *FAIR,
    ],
    "datasets": 2000,
    "draws": 100,
    "figures": ("error",),
}
# Average |T(S) - M(S)| x 100 and, across data sets, its standard deviation, as printed.
PRINTED: dict[tuple[str, float], tuple[float, float]] = {
    ("SS, δ = 0", 0.5): (64.3, 17.4),
    ("SS, δ = 0", 1.0): (22.6, 10.8),
    ("SS, δ = 0", 2.0): (7.9, 5.3),
    ("SS, δ = 0.001", 0.5): (14.8, 2.5),
    ("SS, δ = 0.001", 1.0): (4.0, 0.8),
    ("SS, δ = 0.001", 2.0): (1.2, 0.3),
    ("SS, δ = 0.9", 0.5): (2.8, 1.0),
    ("SS, δ = 0.9", 1.0): (1.1, 0.7),
    ("SS, δ = 0.9", 2.0): (0.4, 0.2),
    ("Duff", 0.5): (0.6, 0.1),
    ("Duff", 1.0): (0.3, 0.1),
    ("Duff", 2.0): (0.2, 0.1),
}


def findings(rows: Rows) -> list[StudyTable]:
    """The paper's cells beside ours; then the rivals under one relation, well calibrated."""
    return [_beside(rows), _fair(rows)]


def _beside(rows: Rows) -> StudyTable:
    lines, apart = [], []
    for row in rows:
        printed = PRINTED.get((row["mechanism"], row["epsilon"]))
        if printed is None:
            continue
        mean, sd = printed
        ours, drawn = 100 * row["exact"], row["monte_carlo_sd"]
        spread = "-" if drawn is None else f"{100 * drawn:.2f}"
        apart.append(abs(ours - mean) / sd)
        place = [row["mechanism"], readable(row["epsilon"]), f"{mean:.1f} ({sd:.1f})"]
        lines.append([*place, f"{ours:.2f} ({spread})", f"{(ours - mean) / sd:+.2f}"])
    columns = ["mechanism", "epsilon", "printed (sd)", "ours (sd)", "difference / sd"]
    note = (
        "Average error x 100, and its standard deviation across data sets. Ours: exact means; "
        "deviations of the mean of as many draws as the study has."
    )
    near = (
        f"Of the {len(apart)} printed means ours differ by at most {max(apart, default=0.0):.2f} "
        "of the printed standard deviation."
    )
    return StudyTable("Table 1 of the Duff paper", columns, lines, note, near, keys=2)


def _fair(rows: Rows) -> StudyTable:
    labels = [str(spec["label"]) for spec in FAIR]
    fair = [row for row in rows if row["mechanism"] in labels]
    note = (
        "Average error x 100, all for replaced records, and noise no wider than its proof needs: "
        "the distance between rivals is a few times, not the printed 10 to 100."
    )
    title, keys = "The same relation, tight calibration", ("mechanism", "epsilon")
    return crossed(title, fair, keys, note, sentence(fair, scale=100), scale=100)
