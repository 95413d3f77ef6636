"""What a session holds behind its door: rows, budget, limits, and scores that answers name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._parameters import validate
from .._typing import AnyArray
from ..budget.budget import Budget
from ..errors import FastexpError, ParameterError, ParameterTypeError, SessionError
from ..mechanisms.exponential import Exponential
from ..mechanisms.most_common import MostCommon
from .calls.answers import column_name
from .disk.memory import Room
from .engines.frame import Frame, Kind, Use
from .engines.types import check_keys
from .files.path_frame import PathFrame

CHANGED = "the files of the session changed since it began: nothing was read or charged"

FORM = (
    "scores must be a dict from names to (score, candidates, sensitivity): score(columns, "
    "candidates) gives a number for each candidate"
)


class Score(NamedTuple):
    """A utility, and what it is of."""

    function: Callable[..., Any]
    candidates: tuple[Any, ...]
    given: Any  # the candidates in the form in which the curator gave them
    sensitivity: float
    kind: Kind  # of the candidates

    def mechanism(self, epsilon: Any) -> Exponential:
        """What draws among the candidates."""
        return Exponential(epsilon, self.sensitivity, candidates=self.candidates)

    def drawn(self, columns: dict[str, AnyArray], epsilon: float, threads: int) -> Any:
        """A candidate; NaN is the lowest utility."""
        scored = Exponential.from_score(
            self.function,
            self.given,
            epsilon=epsilon,
            sensitivity=self.sensitivity,
            vectorized=True,
        )
        return scored.release(columns, nan="lowest", threads=threads)


class Files(NamedTuple):
    """Where rows are that memory does not hold, and what their files were at the start."""

    path: str
    memory: int | str | None
    state: list[Any]

    def frame(self, threads: int) -> Any:
        """The same files, opened anew."""
        frame = PathFrame(self.path, self.memory, threads)
        try:
            same = state_of(frame) == self.state
        except (FastexpError, OSError):
            same = False
        if not same:
            raise SessionError(CHANGED)
        return frame


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Door:
    """What a session holds."""

    rows: Frame | Files
    room: Room
    budget: Budget
    person: str | None
    max_groups: int
    max_rows: int
    scores: dict[str, Score]

    def frame(self, threads: int) -> Frame:
        """The rows."""
        opened: Frame = self.rows.frame(threads) if isinstance(self.rows, Files) else self.rows
        return opened


def state_of(frame: PathFrame) -> list[Any]:
    """What the file system says of the files of a path."""
    return [
        (file, os.stat(file.path).st_ctime_ns)  # noqa: PTH116  # paths are text here
        for file in frame.files
    ]


def check_person(frame: Frame, person: str | None) -> None:
    """Refuse a frame that has no column of persons, where one is named."""
    names = frame.names() or []
    if person is None:
        return
    if names.count(person) != 1:
        raise ParameterError(f"person must be a column of the frame, got {person!r}")
    use = Use(person, "keys")
    for column in frame.empty([use]) or ():
        check_keys("person", use, column)


def scores_of(scores: object) -> dict[str, Score]:
    """Check what `Session` is given."""
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
        given = validate.as_given(score[1], labels)
        checked[column] = Score(score[0], labels, given, sensitivity, kind)
    return checked


def arrays_of(frame: Frame) -> dict[str, AnyArray]:
    """All columns of rows in memory: copies, for one score, which it cannot write to by mistake."""
    uses = [Use(name, "keys") for name in frame.names() or ()]
    (part,) = frame.parts(uses)
    columns = zip(uses, part, strict=True)
    arrays = {use.column: np.asanyarray(column).copy() for use, column in columns}
    for array in arrays.values():
        array.flags.writeable = False
    return arrays
