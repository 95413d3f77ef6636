"""Not private: how accurate answers by group are, by their exact laws.

Figures of laws are functions of the records without any noise: for plans and studies, where the
records are public, simulated or one's own to look at, and never for publication.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _validate
from .._group_names import Names
from .._typing import AnyArray, IntArray
from ..errors import FastexpError, ParameterError
from ..grouped.mechanism import GroupedMechanism
from ..grouped.segments import Segments
from .answers import Answer
from .call import Sampled
from .columns import fit, parts_of, uses_of
from .draws import Results
from .engines.frame import Column, Frame
from .memory import Room
from .reading import drawn

if TYPE_CHECKING:
    from .query import Query

FIGURES = ("n", "truth", "bias", "expected", "quantile")
COLUMNS = ("answer", "measure", *FIGURES)


class Accurate(Sampled):
    """Figures of laws, of the rows that a sample counts."""

    def __init__(
        self,
        query: Query,
        answers: tuple[Answer, ...],
        probability: Any,
        rng: Any,
        threads: int,
    ) -> None:
        super().__init__(query, answers, None, rng, threads)
        self.probability = _validate.fraction("probability", probability)
        for name in query.by:
            if name in COLUMNS:
                taken = ", ".join(COLUMNS)
                raise ParameterError(f"by must have other names than {taken}, got {name!r}")

    def results(self, groups: int) -> Results:
        """Their figures."""
        return Figures(self, groups)


class Figures:
    """Figures of each answer for all groups."""

    def __init__(self, way: Accurate, groups: int) -> None:
        self._way = way
        self._figures = [
            {name: np.empty(groups, np.int64 if name == "n" else np.float64) for name in FIGURES}
            for _ in way.answers
        ]

    def draw(self, which: list[int], segments: Segments, names: Names, first: int = 0) -> None:
        """Of answers of the same segments; `names` begin with the group of this place."""
        for i in which:
            mechanism = self._way.answers[i].mechanism
            own = accuracy_of(mechanism, segments, self._way.probability)
            for name, values in own.items():
                self._figures[i][name][first : first + names.size] = values

    def put(self, which: int, group: int, index: int) -> None:  # noqa: ARG002
        """Only releases are drawn in passes."""
        raise FastexpError("a draw where figures are wanted: please report this")

    def answers(self, order: IntArray | None) -> list[dict[str, AnyArray]]:
        """By answer, in the order of the groups."""
        if order is None:
            return self._figures
        return [{name: x[order] for name, x in own.items()} for own in self._figures]


def accurate(way: Accurate, frame: Frame, room: Room) -> Any:
    """A row a group and answer: the columns `by`, then `COLUMNS`; as a frame of the same kind."""
    by, answers, uses = way.query.by, way.answers, uses_of(way.query, way.answers)
    fit(way, frame, uses)
    frame.check_answers([*by, *COLUMNS], [])
    with closing(parts_of(way, frame, uses)) as parts:
        names, figures = drawn(way, uses, parts, room if frame.spills else None)
    columns = [
        Column(name, kind, _repeated(values, len(answers)))
        for name, (kind, values) in zip(by, names.columns() if by else [], strict=True)
    ]
    for name, words in (
        ("answer", [answer.name for answer in answers]),
        ("measure", [str(answer.mechanism._measure) for answer in answers]),
    ):
        columns.append(Column(name, "text", words * names.size))
    for name in FIGURES:
        values = np.stack([own[name] for own in figures], axis=1).reshape(-1)
        columns.append(Column(name, "integers" if name == "n" else "floats", values))
    return frame.finished(columns)


def _repeated(values: AnyArray | list[str], times: int) -> AnyArray | list[str]:
    """Each of the values several times."""
    if isinstance(values, list):
        return [value for value in values for _ in range(times)]
    return np.repeat(values, times)


def accuracy_of(
    mechanism: GroupedMechanism, segments: Segments, probability: float
) -> dict[str, AnyArray]:
    """Figures of each group's exact law, as `mechanism.law` of its records alone has them.

    Parameters
    ----------
    mechanism : GroupedMechanism
    segments : Segments
        Records that `mechanism._read` gave, without missing ones, group after group.
    probability : float
        Of the quantile, in [0, 1].

    Returns
    -------
    dict of str to ndarray of shape (groups,)
        By the names of `FIGURES`: n, how many records count, of int64; the others are float64:
        see `Accuracy`.
    """
    groups = segments.offsets.size - 1
    figures = np.empty((groups, len(FIGURES) - 1))
    for g in range(groups):
        values = segments.some(g, g + 1).values
        figures[g] = mechanism._accuracy(np.ascontiguousarray(values), probability)
    return {"n": np.diff(segments.offsets), **dict(zip(FIGURES[1:], figures.T, strict=True))}
