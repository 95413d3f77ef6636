"""What exact laws, and draws of them, say in numbers: not private."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...grouped.accuracy import Exact, accuracy
from ...query.output import values_of
from .words import name_of

if TYPE_CHECKING:
    from ..._typing import AnyArray
    from ...query.laws import Laws
    from ..ask.call import Call

LEVELS = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
TAIL = 0.95  # of draws have at most this error or loss


@dataclass(frozen=True)
class Subject:
    """What is shown: laws of one mechanism, one a group, and what they are compared with.

    Attributes
    ----------
    mechanism
        One that a query takes, or over utilities.
    column : str
        What its records are called.
    labels : sequence of mapping
        The name of each group by column: one without columns where all rows are one group.
    laws : sequence of GridLaw or FiniteLaw
        Of top-k that of the first place.
    truths : sequence
        The true number of each group or None; of candidates how many records each has, or
        None of utilities.
    records : sequence of int
        How many records of each group count; of utilities none.
    draws : ndarray, shape (groups, size), or None
        Numbers, or candidates by number.
    nan : str, optional
        What is done with missing records.
    """

    mechanism: Any
    column: str
    labels: Sequence[Mapping[str, Any]]
    laws: Sequence[Any]
    truths: Sequence[Any]
    records: Sequence[int] = ()
    draws: AnyArray | None = None
    nan: str | None = None

    @property
    def by(self) -> list[str]:
        """The columns of groups."""
        return list(self.labels[0]) if self.labels else []

    @cached_property
    def names(self) -> list[str]:
        """The groups in words."""
        return [", ".join(map(str, label.values())) for label in self.labels]

    @property
    def candidates(self) -> tuple[Any, ...] | None:
        """None of numbers."""
        labels: tuple[Any, ...] | None = getattr(self.mechanism, "candidates", None)
        return labels

    @property
    def counts_records(self) -> bool:
        """Whether losses of candidates are counts of records."""
        return bool(self.truths) and self.truths[0] is not None

    @property
    def truth_name(self) -> str:
        """What the true number is called."""
        name = name_of(self.mechanism)
        if name == "price":
            return "best price"
        return f"true {self.mechanism.q}-quantile" if name == "quantile" else f"true {name}"

    @property
    def absent(self) -> list[str]:
        """What no record has: candidates, or groups; perhaps they are misspelt."""
        if self.candidates is not None and self.counts_records:
            unused = np.sum(self.truths, axis=0) == 0
            return [repr(self.candidates[i]) for i in np.flatnonzero(unused).tolist()]
        if not self.by:
            return []
        return [repr(name) for name, n in zip(self.names, self.records, strict=True) if n == 0]


def subject_of(call: Call, laws: Laws) -> Subject:
    """Of a call with one answer, what `laws_of` says.

    Parameters
    ----------
    call : Call
    laws : Laws
    """
    ((name, (mechanism, column)),) = call.answers.items()
    cells = [values_of(own) for own in laws.groups]
    names = [own.name for own in laws.groups]
    labels = [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]
    return Subject(
        mechanism,
        column,
        labels if call.query.by else [{}],
        laws.laws[name],
        laws.truths[name],
        laws.records[name].tolist(),
        laws.draws.get(name),
        None if name_of(mechanism) == "most-common" else call.nan[name],
    )


def number_facts(law: Any, truth: Any) -> dict[str, Any]:
    """Of an exact law of numbers: the truth, moments and quantiles, errors, losses.

    Parameters
    ----------
    law : GridLaw
    truth : int, float or None
        None: there are no records, and no errors.
    """
    error = accuracy(Exact(law, truth), "error", TAIL)
    return {
        "truth": truth,
        **moments(law),
        "expected_error": error.expected,
        "error_95": error.quantile,
        **losses(law),
    }


def moments(law: Any) -> dict[str, Any]:
    """Mean, standard deviation and quantiles of the output."""
    plain = int if law.grid.whole else float
    quantiles = {f"{p:g}": plain(law.ppf(p)) for p in LEVELS}
    return {"mean": law.mean(), "sd": math.sqrt(law.var()), "quantiles": quantiles}


def losses(law: Any) -> dict[str, float]:
    """By how much outputs are worse than the best one."""
    return {"expected_loss": float(law.expected_loss()), "loss_95": float(law.loss_quantile(TAIL))}


def observed(drawn: AnyArray, truth: Any) -> dict[str, Any]:
    """Mean, standard deviation, quantiles and mean error of draws."""
    quantiles = np.quantile(drawn, LEVELS, method="inverted_cdf").tolist()
    return {
        "mean": float(drawn.mean()),
        "sd": float(drawn.std()),
        "quantiles": {f"{p:g}": x for p, x in zip(LEVELS, quantiles, strict=True)},
        "expected_error": None if truth is None else float(np.abs(drawn - float(truth)).mean()),
    }


def point_rows(law: Any, drawn: AnyArray | None) -> list[dict[str, Any]]:
    """One object a grid point."""
    values, exact = law.points.tolist(), law.probabilities.tolist()
    if drawn is None:
        return [{"value": v, "probability": p} for v, p in zip(values, exact, strict=True)]
    counts = np.bincount(np.searchsorted(law.points, drawn), minlength=len(values)).tolist()
    return [
        {"value": v, "observed": c, "frequency": c / drawn.size, "probability": p}
        for v, c, p in zip(values, counts, exact, strict=True)
    ]


def candidate_rows(subject: Subject, group: int) -> list[dict[str, Any]]:
    """One object a candidate, by descending probability, equal ones as listed."""
    law, counts = subject.laws[group], subject.truths[group]
    logs = law.log_probabilities
    order = (-logs).argsort(kind="stable").tolist()
    columns: dict[str, Any] = {"candidate": subject.candidates or range(logs.size)}
    if counts is not None:
        columns["records"] = counts.tolist()
    if subject.draws is not None:
        drawn = subject.draws[group]
        times = np.bincount(drawn, minlength=logs.size)
        columns |= {"observed": times.tolist(), "frequency": (times / drawn.size).tolist()}
    columns["probability"] = law.probabilities.tolist()
    if subject.draws is None:
        columns["log_probability"] = logs.tolist()
    return [{name: column[i] for name, column in columns.items()} for i in order]


def number(x: Any, digits: int = 6) -> str:
    """A number for people: integers in full, others with at least so many digits."""
    if x is None or x != x:
        return "-"
    whole = isinstance(x, int) or 10**digits <= abs(x) < 1e15
    return f"{x:.0f}" if whole else f"{x:.{digits}g}"


def short(x: Any) -> str:
    """The same with 4 digits, where many are beside each other."""
    return number(x, 4)
