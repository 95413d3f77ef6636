"""The figures of exact laws, and of draws from them: not private."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._parameters.descriptions import MAX_LISTED, Described
from ..._typing import AnyArray, FloatArray
from ...laws.accuracy import accuracy_of
from ...laws.finite import FiniteLaw
from ...laws.grid import GridLaw
from ...laws.quantile_marginals import MarginalLaw
from ...laws.top_k import JointTopKLaw, TopKLaw
from ...pictures.law_painters import Laws

LEVELS = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
TAIL = 0.95  # the level of quantiles of errors and losses


class FirstPlace:
    """Figures of joint top-k: probabilities of the first place, and losses of the worst place."""

    k: int
    probabilities: FloatArray

    def __init__(self, law: JointTopKLaw) -> None:
        self.probabilities, self.k = law.first_place_probabilities, law._sizes()["candidates"]
        with np.errstate(divide="ignore"):
            self.log_probabilities: FloatArray = np.log(self.probabilities)
        self.expected_loss, self.loss_quantile = law.expected_loss, law.loss_quantile


def of_one_place(law: Any) -> Any:
    """Return a law with a probability for each candidate; of several places, that of the first."""
    if isinstance(law, JointTopKLaw):
        return FirstPlace(law)
    return law.first_place if isinstance(law, TopKLaw) else law


@dataclass(frozen=True)
class LawFacts(Laws):
    """Laws of one mechanism, one for each group, with the treatment of missing records (`nan`)."""

    mechanism: Described
    laws: Sequence[FiniteLaw | FirstPlace] | Sequence[GridLaw]
    nan: str | None = None

    @property
    def unit(self) -> str:
        """The unit of losses."""
        if self.candidates is None:
            return "revenue" if self.priced else "records"
        return "records" if self.counts else "units of the utility"

    @property
    def loss(self) -> str:
        """The meaning of a loss."""
        worst = any(isinstance(law, FirstPlace) for law in self.laws)
        return "best minus obtained" + ", of the worst place" * worst

    @property
    def counts(self) -> bool:
        """Whether utilities of candidates are counts of records."""
        return self.candidates is not None and all(truth is not None for truth in self.truths)

    @property
    def absent(self) -> list[str]:
        """The candidates, or else the groups, that no record has: they may be misspelt."""
        names: Sequence[Any] = self.names
        sizes: Sequence[int] = self.records
        if self.candidates is not None:
            names = self.candidates if self.counts and self.truths else ()
            sizes = [sum(counts[i] for counts in self.truths) for i in range(len(names))]
        return [repr(name) for name, n in zip(names, sizes, strict=False) if n == 0]

    def facts(self, group: int) -> dict[str, Any]:
        """Return the facts of a group, as ``--json`` prints them."""
        law, truth = self.laws[group], self.truths[group]
        facts: dict[str, Any] = {"n": self.records[group]} if self.records else {}
        losses = {}
        if not isinstance(law, MarginalLaw):  # one of several answers has no loss of its own
            losses = {"expected_loss": law.expected_loss(), "loss_95": law.loss_quantile(TAIL)}
        if not isinstance(law, GridLaw):
            facts |= losses
            points = law.k
        else:
            exact, points = _exact(law, self.mechanism), law.grid.size
            facts["truth"] = truth
            if self.draws is None:
                facts |= {**exact, **losses}
            else:
                facts |= {"observed": _observed(self.draws[group], truth), "exact": exact}
        if points * len(self.laws) <= MAX_LISTED:
            facts["rows"] = self.rows(group)
        elif self.draws is not None and self.draws.size <= MAX_LISTED:
            facts["values"] = self.draws[group].tolist()
        return facts

    def rows(self, group: int) -> list[dict[str, Any]]:
        """Return a dict for each grid point, or each candidate (the likeliest first)."""
        law = self.laws[group]
        draws = None if self.draws is None else self.draws[group]
        columns: dict[str, Sequence[Any]] = {}
        if not isinstance(law, GridLaw):
            columns["candidate"] = self.candidates or ()
            if self.truths[group] is not None:
                columns["records"] = self.truths[group].tolist()
        else:
            columns["value"] = law.points.tolist()
            draws = None if draws is None else np.searchsorted(law.points, draws)
        size = law.probabilities.size
        if draws is not None:
            counts = np.bincount(draws, minlength=size)
            columns |= {"observed": counts.tolist(), "frequency": (counts / draws.size).tolist()}
        columns["probability"] = law.probabilities.tolist()
        order: Sequence[int] = range(size)
        if not isinstance(law, GridLaw):
            logs = law.log_probabilities
            if draws is None:
                columns["log_probability"] = logs.tolist()
            order = (-logs).argsort(kind="stable").tolist()
        return [{name: column[i] for name, column in columns.items()} for i in order]


def _exact(law: GridLaw, mechanism: Any) -> dict[str, Any]:
    plain = int if law.grid.whole else float
    error = accuracy_of(law, mechanism, TAIL, measure="error")
    return {
        "mean": law.mean(),
        "sd": math.sqrt(law.var()),
        "quantiles": {f"{p:g}": plain(law.ppf(p)) for p in LEVELS},
        "expected_error": error.expected,
        "error_95": error.quantiles[TAIL],
    }


def _observed(draws: AnyArray, truth: float | None) -> dict[str, Any]:
    errors = np.abs(draws - math.nan if truth is None else draws - float(truth))
    quantiles = np.quantile(draws, LEVELS, method="inverted_cdf").tolist()
    return {
        "mean": float(draws.mean()),
        "sd": float(draws.std()),
        "quantiles": {f"{p:g}": x for p, x in zip(LEVELS, quantiles, strict=True)},
        "expected_error": float(errors.mean()),
        "error_95": float(np.quantile(errors, TAIL, method="inverted_cdf")),
    }
