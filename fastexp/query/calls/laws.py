"""Not private: the exact law of each answer of each group, in one pass over the rows.

Laws are functions of the records without any noise: for plans and studies, where the records are
public, simulated or one's own to look at, and never for publication.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..._keys.group_names import Names
from ..._typing import AnyArray, IntArray, RNGLike, SeedLike
from ...errors import FastexpError
from ...grouped.segments import Segments
from ...laws.finite import FiniteLaw
from ...laws.top_k import JointTopKLaw
from ..disk.memory import Room
from ..engines.frame import Column, Frame, key_columns
from .answers import Answer, answers_of
from .draws import Indices
from .frame_columns import fit
from .on_workers import answered
from .reader import uses_of
from .scope import Scope
from .verbs import SampleCall


class LawCall(SampleCall):
    """Something of each law, of the rows that a sample counts; and draws, where `size` is given."""

    def of(self, answer: Answer, law: Any) -> Any:  # noqa: ARG002  # those of accuracy use it
        """What is wanted of a group: the law."""
        return law

    def results(self, groups: int) -> Analyses:
        """One for each answer and group."""
        return Analyses(self, groups)


class Analysis(NamedTuple):
    """One answer by group: what the call wants of the law, how many records count, draws."""

    wanted: list[Any]
    records: IntArray
    draws: AnyArray | None


class Analyses:
    """What is wanted of each answer for all groups."""

    def __init__(self, call: LawCall, groups: int) -> None:
        self._call = call
        self._wanted: list[list[Any]] = [[None] * groups for _ in call.answers]
        self._records = [np.zeros(groups, np.int64) for _ in call.answers]
        self._draws = None if call.size is None else Indices(call, groups)

    def draw(self, which: list[int], segments: Segments, names: Names, first: int = 0) -> None:
        """Analyse answers of the same segments; `first` is the place of the first of `names`."""
        if self._draws is not None:
            self._draws.draw(which, segments, names, first)
        for i in which:
            answer = self._call.answers[i]
            self._records[i][first : first + names.size] = np.diff(segments.offsets)
            for g in range(names.size):
                values = np.ascontiguousarray(segments.some(g, g + 1).values)
                self._wanted[i][first + g] = self._call.of(answer, answer.mechanism._exact(values))

    def ranks(self, which: list[int]) -> None:  # as of `Results`
        """Laws need all records."""

    def put(self, which: int, group: int, index: Any) -> None:  # noqa: ARG002  # as of `Results`
        """Only releases are drawn in passes."""
        raise FastexpError("a draw where a law is wanted: please report this")

    def answers(self, order: IntArray | None) -> list[Analysis]:
        """The analyses by answer, in the order of the groups."""
        draws = [None] * len(self._wanted) if self._draws is None else self._draws.answers(order)
        whole = zip(self._wanted, self._records, draws, strict=True)
        if order is None:
            return [Analysis(wanted, records, drawn) for wanted, records, drawn in whole]
        return [
            Analysis([wanted[i] for i in order.tolist()], records[order], drawn)
            for wanted, records, drawn in whole
        ]


def analyses_of(call: LawCall, frame: Frame, room: Room) -> tuple[Names, list[Analysis]]:
    """The groups in order, and an analysis an answer, in one pass."""
    uses = uses_of(call.query, call.answers)
    fit(call, frame, uses)
    return answered(call, frame, uses, room)


class Laws(NamedTuple):
    """Exact laws by answer and group: **private data**.

    A true number is of records that are not clamped to the bounds, except for modes and prices,
    which are points of the grid; None without records. Of candidates it is how many records each
    has.
    """

    groups: list[Column]  # their names, in order; none where all rows are one group
    laws: dict[str, list[Any]]
    truths: dict[str, list[Any]]  # the true number of each group; or its utilities
    records: dict[str, IntArray]  # how many count
    draws: dict[str, AnyArray]  # as `Query.sample` gives them; empty where none are wanted


def laws_of(
    query: Scope,
    answers: Mapping[str, Any],
    frame: Frame,
    *,
    size: int | None = None,
    rng: SeedLike | RNGLike | None = None,
    nan: object = "raise",
    threads: int = 1,
    room: Room | None = None,
) -> Laws:
    """The exact law of each answer of each group; of the same rows draws, where `size` is given.

    Arguments are as for `Query.sample`; `rng` is the seed of draws, and of which rows of a person
    count where there are too many. Laws take some 10 kB a group and answer.
    """
    call = LawCall(query, answers_of(answers, query.by, nan), size, rng, threads)
    names, analyses = analyses_of(call, frame, Room(None, None) if room is None else room)
    by_name = {answer.name: a for answer, a in zip(call.answers, analyses, strict=True)}
    return Laws(
        key_columns(query.by, names) if query.by else [],
        {name: a.wanted for name, a in by_name.items()},
        {
            name: [
                law._utilities if isinstance(law, (FiniteLaw, JointTopKLaw)) else law.truth
                for law in a.wanted
            ]
            for name, a in by_name.items()
        },
        {name: a.records for name, a in by_name.items()},
        {name: a.draws for name, a in by_name.items() if a.draws is not None},
    )
