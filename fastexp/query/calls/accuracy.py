"""Not private: how accurate answers by group are, by their exact laws.

Figures of laws are functions of the records without any noise: for plans and studies, where the
records are public, simulated or one's own to look at, and never for publication.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._parameters import validate
from ...errors import ParameterError
from ...laws.accuracy import Accuracy
from ...laws.accuracy import accuracy_of as law_accuracy
from ..disk.memory import Room
from ..engines.frame import Column, Frame
from .answers import Answer
from .laws import LawCall, analyses_of
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

    def of(self, answer: Answer, law: Any) -> list[Accuracy]:
        """The figures: of lists of numbers those of each entry."""
        laws = [law.marginal(i) for i in range(len(_names(answer)))] if _is_list(answer) else [law]
        return [law_accuracy(one, answer.mechanism, self.probability) for one in laws]


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
    wanted: list[Accuracy] = [one for group in by_group for several in group for one in several]
    p = call.probability
    rows = [(one.truth, one.bias, one.expected, one.quantiles[p], one.best) for one in wanted]
    values = np.array(rows, np.float64).reshape(-1, len(FIGURES) - 1)
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
