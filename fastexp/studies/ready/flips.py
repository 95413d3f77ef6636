"""Permute-and-flip against the exponential mechanism: a paper's worst case, and printed counts.

McKenna and Sheldon, "Permute-and-flip: a new mechanism for differentially private selection",
NeurIPS 2020. Both mechanisms err most, for their ε, where all candidates but one are equally bad.
Where these weigh p = exp(-ε·lead/(2Δ)) against 1, the expected losses are, with n candidates,

    exponential mechanism:  2Δ/ε · log(1/p) · (1 - 1/(1 + (n - 1)·p))
    permute-and-flip:       2Δ/ε · log(1/p) · (1 - (1 - (1 - p)**n)/(n·p))

Here lead = 2 and Δ = 1, so that p = exp(-ε) and 2Δ/ε·log(1/p) = 2.
"""

from __future__ import annotations

import math
from typing import Any

from ..._parameters.text import readable
from .best_and_next import DIGITS, WRONG, sentence
from .findings import Rows, crossed, rows_with
from .study_table import StudyTable

QUESTION = "By how much is permute-and-flip better than the exponential mechanism?"
EM, PF = "exponential", "permute-and-flip"
LEADER, STATUS = "one leads by 2", "marital status"
SETTINGS: dict[str, Any] = {
    "data": [
        {"name": "leader", "lead": 2.0, "label": LEADER},
        {
            "name": "utilities",
            "values": [10.683, 14.976, 4.443, 0.418, 1.025, 0.023, 0.993],
            "label": STATUS,
        },
    ],
    "n": (2, 3, 4, 10),
    "epsilon": (0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0),
    "mechanisms": [{"name": EM, "label": EM}, {"name": PF, "label": PF}],
    "datasets": 1,
    "draws": 100_000,
    "figures": ("loss", "error"),
}


def formula(mechanism: str, n: int, epsilon: float) -> float:
    """The paper's expected loss in its worst case, with a lead of 2 and a sensitivity of 1."""
    p = math.exp(-epsilon)
    if mechanism == EM:
        return 2.0 * (n - 1) * p / (1.0 + (n - 1) * p)
    return 2.0 * (1.0 + math.expm1(n * math.log1p(-p)) / (n * p))


def findings(rows: Rows) -> list[StudyTable]:
    """The worst case beside the paper's formulas, and the counts of a tutorial."""
    wrong = rows_with(rows, figure="error", data=STATUS)
    ours = [200 * r["exact"] for r in rows_with(wrong, epsilon=1.0, mechanism=EM)]
    note = (
        "Probability that the most common of seven marital statuses is not selected: counts of the "
        "Adult data, in thousands, with a sensitivity of 1; exact. A notebook by J. Near prints "
        "24 such answers of 200 of the exponential mechanism at epsilon = 1; expected are "
        f"{readable(sum(ours), DIGITS)}."
    )
    return [
        _worst(rows_with(rows, figure="loss", data=LEADER)),
        crossed(
            "A wrong marital status",
            wrong,
            ("epsilon", "mechanism"),
            note if ours else "",
            sentence(wrong, WRONG),
        ),
    ]


def _worst(rows: Rows) -> StudyTable:
    lines, apart, ratios = [], [0.0], [1.0]
    cells = {(row["n"], row["epsilon"], row["mechanism"]): row["exact"] for row in rows}
    for n, epsilon in dict.fromkeys((row["n"], row["epsilon"]) for row in rows):
        pairs = [(cells[n, epsilon, name], formula(name, n, epsilon)) for name in (EM, PF)]
        apart += [abs(ours - printed) / printed for ours, printed in pairs]
        ratios.append(pairs[0][0] / pairs[1][0])
        figures = [math.exp(-epsilon), *pairs[0], *pairs[1], ratios[-1]]
        lines.append([readable(n), *(readable(x, DIGITS) for x in figures)])
    columns = ["n", "p", EM, "its formula", PF, "the formula of it", "ratio"]
    note = (
        "Expected loss where one of n candidates is better by 2 than all others, whose weights are "
        "p = exp(-epsilon) of its. The paper plots both for n = 3, and the ratio for n = 2, 3, 4 "
        f"and 10; from its formulas ours differ by at most {max(apart):.0e} of them."
    )
    best = f"The exponential mechanism loses up to {readable(max(ratios), 4)} times as much."
    title = "The worst case of the permute-and-flip paper"
    return StudyTable(title, columns, lines, note, best, keys=2)
