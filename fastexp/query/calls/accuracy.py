"""Not private: how accurate answers by group are, by their exact laws.

Figures of laws are functions of the records without any noise: for plans and studies, where the
records are public, simulated or one's own to look at, and never for publication.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._parameters import validate
from ..._typing import FloatArray, IntArray
from ...errors import ParameterError
from ...laws.accuracy import accuracy_of as law_accuracy
from ..disk.memory import Room
from ..engines.frame import Column, Frame
from .answers import Answer
from .laws import Analyses, LawCall, analyses_of
from .scope import Scope

FIGURES = ("n", "truth", "bias", "expected", "quantile", "best")
COLUMNS = ("answer", "measure", *FIGURES)


class AccuracyCall(LawCall):
    """Figures of laws, of the rows that a sample counts."""

    def __init__(
        self,
        query: Scope,
        answers: tuple[Answer, ...],
        probability: object,
        rng: object,
        threads: int,
    ) -> None:
        super().__init__(query, answers, None, rng, threads)
        self.probability: float = validate.fraction("probability", probability)
        for name in query.by:
            if name in COLUMNS:
                taken = ", ".join(COLUMNS)
                raise ParameterError(f"by must have other names than {taken}, got {name!r}")

    def of(self, answer: Answer, law: Any) -> FloatArray:
        """The figures, after n: of lists of numbers those of each entry, a row each."""
        laws = [law.marginal(i) for i in range(len(_names(answer)))] if _is_list(answer) else [law]
        p = self.probability
        figures = [law_accuracy(one, answer.mechanism, p) for one in laws]
        rows = [(one.truth, one.bias, one.expected, one.quantiles[p], one.best) for one in figures]
        return np.array(rows, np.float64)

    def results(self, groups: int) -> Figures:
        """Those of each answer and group."""
        return Figures(self, groups)


class Figures(Analyses):
    """Figures of each answer for all groups."""

    @property
    def width(self) -> int:
        """How many numbers a group has."""
        return sum(1 + len(_names(a)) * (len(FIGURES) - 1) for a in self._call.answers)

    def columns(self) -> list[IntArray]:
        """How many records count, then the figures of each entry."""
        columns = []
        for records, wanted in zip(self._records, self._wanted, strict=True):
            figures = np.array(wanted, np.float64).reshape(len(wanted), -1)
            columns += [records, *np.ascontiguousarray(figures.T).view(np.int64)]
        return columns

    def put_columns(self, groups: IntArray, columns: list[IntArray]) -> None:
        """Figures of these groups, as `columns` gave them."""
        rest = iter(columns)
        for answer, records, wanted in zip(
            self._call.answers, self._records, self._wanted, strict=True
        ):
            records[groups] = next(rest)
            width = len(_names(answer)) * (len(FIGURES) - 1)
            figures = np.column_stack([next(rest) for _ in range(width)]).view(np.float64)
            for group, row in zip(groups.tolist(), figures, strict=True):
                wanted[group] = row.reshape(-1, len(FIGURES) - 1)


def accuracy_of(call: AccuracyCall, frame: Frame, room: Room) -> Any:
    """A row for each group and answer: columns `by`, then `COLUMNS`; the same kind of frame."""
    by, answers = call.query.by, call.answers
    frame.check_answers([*by, *COLUMNS], [])
    names, analyses = analyses_of(call, frame, room)
    each = [(name, i) for i, answer in enumerate(answers) for name in _names(answer)]
    columns = [
        Column(
            name,
            kind,
            [value for value in values for _ in each]
            if isinstance(values, list)
            else np.repeat(values, len(each)),
        )
        for name, (kind, values) in zip(by, names.columns() if by else [], strict=True)
    ]
    for title, words in (
        ("answer", [name for name, _ in each]),
        ("measure", [str(answers[i].mechanism._measure) for _, i in each]),
    ):
        columns.append(Column(title, "text", words * names.size))
    records = np.stack([analyses[i].records for _, i in each], 1)
    columns.append(Column("n", "integers", records.reshape(-1)))
    by_group = zip(*(analysis.wanted for analysis in analyses), strict=True)
    wanted: list[FloatArray] = [figures for group in by_group for figures in group]
    values = np.concatenate([*wanted, np.empty((0, len(FIGURES) - 1))])
    for name, column in zip(FIGURES[1:], values.T, strict=True):
        columns.append(Column(name, "floats", column.copy()))
    return frame.finished(columns)


def _is_list(answer: Answer) -> bool:
    """Whether an answer is a list of numbers; lists of candidates have figures of the first."""
    return bool(answer.mechanism._entries) and answer.mechanism._measure == "error"


def _names(answer: Answer) -> tuple[str, ...]:
    if not _is_list(answer):
        return (answer.name,)
    pairs = zip(answer.values, answer.mechanism._entries, strict=True)
    return tuple(name for name, entry in pairs if entry != "total")
