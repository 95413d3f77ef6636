"""The studies that come with fastexp, each a question from the literature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...errors import ParameterError
from ..design.design import Design, check_settings
from . import choices, findings, flips, quantile_rivals, table1, top_k
from .findings import Rows
from .study_table import StudyTable


@dataclass(frozen=True)
class Ready:
    """A ready-made study: its question, what it repeats, its settings, and its findings.

    Without findings its tables are those of any study.
    """

    question: str
    repeats: str
    settings: dict[str, Any]
    findings: Callable[[Rows], list[StudyTable]] | None = None
    fixed: tuple[str, ...] = ("data", "mechanisms", "figures")  # what the findings rest on


TENS = (0.001, *(10.0 * i + 0.001 for i in range(1, 10)))  # the tutorial's epsilons
MOST = 10**6
READY: dict[str, Ready] = {
    "table1": Ready(
        table1.QUESTION,
        "Repeats Table 1 of Muñoz Medina and Gillenwater 2020.",
        table1.SETTINGS,
        table1.findings,
        fixed=("data", "n", "bounds", "mechanisms", "figures"),
    ),
    "price-tradeoff": Ready(
        "How much revenue does the privacy of bids cost?",
        "The four bids are those of Example 3.5 of Dwork and Roth 2014, of which a tutorial draws "
        "this curve without printing its numbers; its scaling spends half of epsilon.",
        {
            "data": [
                {"name": "values", "values": [1, 1, 1, 3.01], "label": "four bids"},
                {"name": "lognormal", "sigma": 0.4, "label": "log-normal bids"},
            ],
            "n": 100,
            "bounds": (0, 3.5),
            "epsilon": TENS,
            "mechanisms": [
                {"name": "price", "step": 0.001, "label": "price"},
                {"name": "price", "step": 0.001, "scaling": "textbook", "label": "textbook"},
            ],
            "datasets": 50,
            "draws": 200,
            "figures": ("loss",),
        },
    ),
    "randomized-response": Ready(
        "How often is a private bit true?",
        "A tutorial draws this curve, as the share of true answers, without printing its numbers; "
        "it takes a sensitivity of 1 where 1/2 would do, and the general factor 2.",
        {
            "data": {"name": "utilities", "values": [0, 0.25], "label": "one bit"},
            "epsilon": (0.1, 1.0, 2.0, 5.0, *TENS[1:]),
            "mechanisms": [
                {"name": "randomized-response", "label": "randomized response"},
                {"name": "exponential", "sensitivity": 0.5, "label": "exponential"},
                {"name": "exponential", "sensitivity": 1, "label": "tutorial"},
            ],
            "datasets": 1,
            "draws": 100_000,
            "figures": ("error",),
        },
    ),
    "laplace": Ready(
        "How wrong is a number with Laplace noise, with and without bounds?",
        "A tutorial draws the density of the same answers to 3.5, and prints no errors.",
        {
            "data": {"name": "values", "values": [3.5], "label": "3.5"},
            "bounds": (-20, 20),
            "epsilon": (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
            "mechanisms": [
                {"name": "laplace", "sensitivity": 1, "step": 0.001, "label": "Laplace"},
                {
                    "name": "laplace",
                    "sensitivity": 1,
                    "step": 0.001,
                    "bounded": True,
                    "label": "bounded Laplace",
                },
            ],
            "datasets": 1,
            "draws": 100_000,
            "figures": ("error", "bias", "error_quantile"),
        },
    ),
    "nice-and-nasty": Ready(
        "Why is a private median good on some data and useless on others?",
        "With n = 7 the nasty data are those of S. Goldberg's notes of 2012, which draw no figure.",
        {
            "data": [
                {"name": "normal", "mean": MOST // 2, "sd": MOST // 10, "label": "nice"},
                {
                    "name": "bimodal",
                    "low": 0.2 * MOST,
                    "high": 0.8 * MOST,
                    "sd": 0.05 * MOST,
                    "label": "two groups",
                },
                {"name": "adversarial", "low": 0, "high": MOST, "label": "nasty"},
            ],
            "n": (7, 100, 1000),
            "bounds": (0, MOST),
            "epsilon": (0.5, 1.0, 2.0, 5.0, 10.0),
            "mechanisms": [
                {"name": "median", "step": 1, "convention": "strict", "label": "median"}
            ],
            "datasets": 200,
            "draws": 100,
            "figures": ("error", "error_quantile"),
        },
    ),
    "selection": Ready(
        "Which mechanism selects best, by epsilon and the number of candidates?",
        "Repeats no figure.",
        {
            "data": [{"name": "leader", "lead": 10.0}, {"name": "scores", "most": 20}],
            "n": (10, 100, 1000),
            "epsilon": (0.2, 0.5, 1.0, 2.0, 5.0),
            "mechanisms": [
                {"name": "exponential", "label": "exponential"},
                {"name": "permute-and-flip", "label": "permute-and-flip"},
                {"name": "report-noisy-max", "noise": "laplace", "label": "noisy max, Laplace"},
            ],
            "datasets": 20,
            "draws": 500,
            "figures": ("loss", "error"),
        },
    ),
    "bounds": Ready(
        "How loose are the theorems that promise accuracy?",
        "Repeats no figure; Theorem 1 is of Muñoz Medina and Gillenwater 2020, Theorem 6 and "
        "Corollary 7 are Theorem 3.11 and Corollary 3.12 of Dwork and Roth 2014.",
        {
            "data": ["normal", {"name": "leader", "lead": 10.0}, {"name": "scores", "most": 20}],
            "n": (100, 1000),
            "bounds": (-10, 10),
            "epsilon": (0.5, 1.0, 2.0),
            "mechanisms": [
                {"name": "median", "convention": "lower", "label": "median"},
                "exponential",
            ],
            "datasets": 50,
            "draws": 100,
            "figures": (
                "error_quantile",
                "loss_quantile",
                "theorem_1",
                "theorem_6",
                "corollary_7",
            ),
            "levels": (0.5, 0.95),
        },
        findings.bounds,
    ),
    "permute-and-flip": Ready(
        flips.QUESTION,
        "Repeats the figures of the worst case of McKenna and Sheldon 2020, by their formulas.",
        flips.SETTINGS,
        flips.findings,
    ),
    "top-k": Ready(
        top_k.QUESTION,
        "Repeats the form of the figures of Gillenwater, Joseph, Muñoz Medina and Ribero 2022, on "
        "counts of its own.",
        top_k.SETTINGS,
        top_k.findings,
    ),
    "grids": Ready(
        "What do the step of a median's grid and widen do to its error?",
        "Repeats no paper's figure. On a grid finer than the records, equal ones are one point "
        "among many; their own step or widen mends it. Records that are not rounded need neither.",
        choices.GRIDS,
    ),
    "prices": Ready(
        "What do the bounds and the step of a price cost?",
        "Repeats no figure.",
        choices.PRICES,
        choices.prices,
        fixed=("data", "n", "bounds", "mechanisms", "figures", "levels"),
    ),
    "groups": Ready(
        "How large must a group be for a private median?",
        "Repeats no paper's figure.",
        choices.GROUPS,
        fixed=("data", "mechanisms", "figures", "levels"),
    ),
    "quantiles": Ready(
        quantile_rivals.QUESTION,
        quantile_rivals.REPEATS,
        quantile_rivals.SETTINGS,
        quantile_rivals.findings,
        fixed=("mechanisms", "figures"),
    ),
}


def settings_of(name: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a ready-made study, some of them changed; refuses unknown names."""
    if name not in list(READY):  # a list cannot be looked up
        raise ParameterError(f"study must be one of {', '.join(READY)}, got {name!r}")
    check_settings(changes)
    study = READY[name]
    return {"name": name, "question": study.question, **study.settings, **changes}


def findings_of(table: dict[str, Any], pivots: list[StudyTable]) -> list[StudyTable]:
    """The tables of a ready-made study, with what it repeats; of the user's own the `pivots`.

    `table`: what `StudyResults.to_dict` gives.
    """
    settings = table["study"]
    if settings["name"] not in READY:
        return pivots
    study = READY[settings["name"]]
    unchanged = Design(**settings_of(settings["name"], {})).to_dict()
    if any(settings[key] != unchanged[key] for key in study.fixed):
        return pivots
    findings = [] if study.findings is None else study.findings(table["rows"])
    tables = [finding for finding in findings if finding.rows] or pivots
    said = [replace(first, note=f"{first.note} {study.repeats}".strip()) for first in tables[:1]]
    return [*said, *tables[1:]]
