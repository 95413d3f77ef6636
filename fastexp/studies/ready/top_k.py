"""Top-k in one draw, or by rounds: where each of them is better.

Counts by Zipf's law, a geometric series, twenty frequent items above a flat tail, and the
combinations of education and marital status in the Adult data (UCI), which are public. Errors are
those of Gillenwater, Joseph, Muñoz Medina and Ribero 2022, with their bands of a quarter to three
quarters of draws.
"""

from __future__ import annotations

from typing import Any

from .findings import Rows, crossed, rows_with
from .study_table import StudyTable

QUESTION = "Top-k in one draw or in k rounds: which errs less?"
ADULT = """\
4845 3089 2933 2818 2768 1795 1613 1069 1003 689 586 546 460 414 412 406 404 362 361 359 354
349 337 286 234 233 232 230 220 203 172 172 155 130 130 121 120 113 93 92 89 82 81 76 73 73
68 64 64 55 49 48 42 41 41 39 39 39 38 33 33 30 25 23 23 23 22 20 20 20 19 18 17 17 15 14 14
14 13 13 12 12 10 10 9 9 8 8 7 7 7 5 4 4 3 3 3 2 1 1 1"""
FLAT = [2000 - 50 * i for i in range(20)] + [1000 - i // 2 for i in range(1000)]
COUNTS = {
    "Zipf": [round(5e4 / rank**1.1) for rank in range(1, 1001)],
    "geometric": [round(2e4 * 0.93**i) for i in range(600)],
    "flat tail": FLAT,
    "Adult": [int(count) for count in ADULT.split()],
}
RIVALS: dict[str, dict[str, Any]] = {
    "joint": {"name": "joint-top-k"},
    "rounds": {"name": "top-k", "monotonic": True},
    "rounds, δ = 1e-6": {"name": "top-k", "monotonic": True, "delta": 1e-6},
    "rounds, ρ": {"name": "top-k", "monotonic": True, "unit": "rho"},
    "permute-and-flip": {"name": "permute-and-flip-top-k", "monotonic": True},
    "Laplace": {"name": "laplace-top-k", "monotonic": True},
}
PLACES = (20, 50)
SETTINGS: dict[str, Any] = {
    "data": [
        {"name": "utilities", "values": values, "label": label} for label, values in COUNTS.items()
    ],
    "epsilon": (0.1, 0.3, 1.0, 3.0),
    "mechanisms": [
        {**spec, "k": k, "label": f"{label}, k = {k}"}
        for k in PLACES
        for label, spec in RIVALS.items()
    ],
    "datasets": 1,
    "draws": 100,
    "figures": ("loss", "error", "total_loss", "last_loss", "loss_quantile"),
    "levels": (0.25, 0.5, 0.75),
}
WORDS = {
    "loss": "Mean loss of the worst place, in records",
    "error": "Mean share of the answer that is not of the k most frequent",
}
NOTE = (
    "One person adds at most 1 to each of any number of counts. All promise the same ε, and δ = 0 "
    "where none is given; or, in rounds by ρ, the same ρ = ε²/8 alone. Losses of the joint "
    "mechanism are exact, all else are means of draws."
)


def findings(rows: Rows) -> list[StudyTable]:
    """The worst place and the wrong candidates at ε = 1, for each k."""
    tables = []
    for k in PLACES:
        ending = f", k = {k}"
        part = [
            {**row, "mechanism": row["mechanism"].removesuffix(ending)}
            for row in rows_with(rows, epsilon=1.0)
            if row["mechanism"].endswith(ending)
        ]
        tables += [
            crossed(
                f"{words} (k = {k}, ε = 1)",
                rows_with(part, figure=figure),
                ("data", "mechanism"),
                NOTE,
            )
            for figure, words in WORDS.items()
        ]
    return tables
