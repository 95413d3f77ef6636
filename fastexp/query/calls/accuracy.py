"""Not private: how accurate answers by group are, by their exact laws.

Figures of laws are functions of the records without any noise: for plans and studies, where the
records are public, simulated or one's own to look at, and never for publication.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._parameters import validate
from ..._typing import AnyArray
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

    probability: float

    def __init__(
        self,
        query: Scope,
        answers: tuple[Answer, ...],
        probability: object,
        rng: object,
        threads: int,
    ) -> None:
        super().__init__(query, answers, None, rng, threads)
        self.probability = validate.fraction("probability", probability)
        for name in query.by:
            if name in COLUMNS:
                taken = ", ".join(COLUMNS)
                raise ParameterError(f"by must have other names than {taken}, got {name!r}")

    def of(self, answer: Answer, law: Any) -> Accuracy:
        """The figures."""
        return law_accuracy(law, answer.mechanism, self.probability)


def accuracy_of(call: AccuracyCall, frame: Frame, room: Room) -> Any:
    """One row for each group and answer: columns `by`, then `COLUMNS`; the same kind of frame."""
    by, answers = call.query.by, call.answers
    frame.check_answers([*by, *COLUMNS], [])
    names, analyses = analyses_of(call, frame, room)
    columns = [
        Column(name, kind, _repeated(values, len(answers)))
        for name, (kind, values) in zip(by, names.columns() if by else [], strict=True)
    ]
    for name, words in (
        ("answer", [answer.name for answer in answers]),
        ("measure", [str(answer.mechanism._measure) for answer in answers]),
    ):
        columns.append(Column(name, "text", words * names.size))
    columns.append(Column("n", "integers", np.stack([a.records for a in analyses], 1).reshape(-1)))
    wanted: list[Accuracy] = [one for analysis in analyses for one in analysis.wanted]
    p = call.probability
    rows = [(one.truth, one.bias, one.expected, one.quantiles[p], one.best) for one in wanted]
    values = np.array(rows, np.float64).reshape(len(answers), -1, len(FIGURES) - 1)
    for name, column in zip(FIGURES[1:], values.transpose(2, 1, 0), strict=True):
        columns.append(Column(name, "floats", column.reshape(-1)))
    return frame.finished(columns)


def _repeated(values: AnyArray | list[str], times: int) -> AnyArray | list[str]:
    """Each of the values several times."""
    if isinstance(values, list):
        return [value for value in values for _ in range(times)]
    return np.repeat(values, times)
