"""Scores of a session: utilities that the curator states, and that answers name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .._parameters import validate
from .._typing import AnyArray
from ..budget.question import Question
from ..errors import ParameterTypeError
from ..mechanisms.exponential import Exponential
from ..mechanisms.most_common import MostCommon
from .calls.answers import column_name
from .engines.frame import ColumnKind, ColumnRead, Frame

FORM = (
    "scores must be a dict from names to (score, candidates, sensitivity): score(columns, "
    "candidates) gives a number for each candidate"
)


class Score(NamedTuple):
    """A utility, with its candidates and its sensitivity."""

    function: Callable[..., Any]
    candidates: tuple[Any, ...]
    raw_candidates: Any  # in the form in which the curator gave them
    sensitivity: float
    kind: ColumnKind  # of the candidates

    def mechanism(self, epsilon: Any) -> Exponential:
        """The mechanism that selects a candidate."""
        return Exponential(epsilon, self.sensitivity, candidates=self.candidates)

    def question(self, mechanism: Exponential, called: str, answer: str) -> Question:
        """The question of an answer; `called` is the name of the score."""
        form = "score", called, column_name("the names of answers", answer)
        return Question(mechanism, form=form, column=called)

    def selected(self, columns: dict[str, AnyArray], epsilon: float, threads: int) -> Any:
        """Select a candidate; NaN is the lowest utility."""
        scored = Exponential.from_score(
            self.function,
            self.raw_candidates,
            epsilon=epsilon,
            sensitivity=self.sensitivity,
            vectorized=True,
        )
        return scored.release(columns, nan="lowest", threads=threads)


def scores_of(scores: object) -> dict[str, Score]:
    """Check the scores of a `Session`."""
    if scores is None:
        return {}
    if not isinstance(scores, Mapping):
        raise ParameterTypeError(f"{FORM}, got {type(scores).__name__}")
    checked = {}
    for name, score in scores.items():
        column = column_name("scores", name)
        if not isinstance(score, (tuple, list)) or len(score) != 3 or not callable(score[0]):
            raise ParameterTypeError(f"{FORM}, got another object for {name!r}")
        labels, sensitivity = validate.candidates(score[1]), validate.sensitivity(score[2])
        kinds = set(map(type, labels))
        if kinds not in ({int}, {float}, {str}, {bool}):
            raise ParameterTypeError(
                f"scores[{name!r}] must have candidates that are all int, all float, all text or "
                "all bool"
            )
        kind = "floats" if kinds == {float} else MostCommon(1.0, labels)._kind(released=True)
        raw_candidates = validate.as_given(score[1], labels)
        checked[column] = Score(score[0], labels, raw_candidates, sensitivity, kind)
    return checked


def arrays_of(frame: Frame) -> dict[str, AnyArray]:
    """Copies of all columns of rows in memory, for one score; they are read-only."""
    uses = [ColumnRead(name, "keys") for name in frame.names() or ()]
    (part,) = frame.parts(uses)
    columns = zip(uses, part, strict=True)
    arrays = {use.column: np.asanyarray(column).copy() for use, column in columns}
    for array in arrays.values():
        array.flags.writeable = False
    return arrays
