"""Not private: the exact law and the accuracy of each answer of each group, in one pass.

Laws and their figures are functions of the records, without noise. They are for plans and studies
on records that are public, simulated or the user's to look at, and never for publication.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..._keys.group_names import Names
from ..._parameters import validate
from ..._typing import AnyArray, FloatArray, IntArray, RNGLike, SeedLike
from ...errors import ParameterError
from ...grouped.private_groups import Appearance
from ...grouped.segments import Segments
from ...laws.accuracy import accuracy_of as law_accuracy
from ...laws.finite import FiniteLaw
from ...laws.top_k import JointTopKLaw
from ..engines.frame import Column, Frame, key_columns
from .answers import Answer, answers_of
from .appearance import deciding_of, visible, with_coin
from .draws import Indices
from .frame_columns import fit
from .on_workers import answered
from .scope import Results, Scope
from .verbs import SampleCall

FIGURES = ("n", "truth", "bias", "expected", "quantile", "best")
APPEARS = "appears"  # only for private groups: the probability that a group appears
COLUMNS = ("answer", "measure", *FIGURES, APPEARS)
TOTAL = "total"  # the entry of a list that is a private number of records


class LawCall(SampleCall):
    """A call for exact laws of the rows that a sample counts; with `size`, also for draws."""

    def of(self, answer: Answer, law: Any) -> Any:  # noqa: ARG002  # calls for accuracy use it
        """The result for a group: its law."""
        return law

    def results(self, groups: int) -> Analyses:
        """Empty results for each answer and group."""
        return Analyses(self, groups)


class Analysis(NamedTuple):
    """One answer by group: laws or figures, the numbers of records that count, and draws."""

    results: AnyArray
    records: IntArray
    draws: AnyArray | None


class Analyses(Results):
    """The laws or figures of each answer for all groups."""

    def __init__(self, call: LawCall, groups: int) -> None:
        self._call = call
        self._results: list[AnyArray] = [self._room(groups, answer) for answer in call.answers]
        self._records = [np.zeros(groups, np.int64) for _ in call.answers]
        self._draws = None if call.size is None else Indices(call, groups)
        self.arrays = [*self._records, *self._results]

    def _room(self, groups: int, answer: Answer) -> AnyArray:  # noqa: ARG002  # figures use it
        """An empty array for the laws or figures of an answer."""
        return np.empty(groups, object)

    def draw(self, answers: list[int], segments: Segments, names: Names, first: int = 0) -> None:
        """Analyse these answers from the same segments; `first` is the index of the first group."""
        if self._draws is not None:
            self._draws.draw(answers, segments, names, first)
        for i in answers:
            answer = self._call.answers[i]
            self._records[i][first : first + names.size] = np.diff(segments.offsets)
            for g in range(names.size):
                values = np.ascontiguousarray(segments.chunk(g, g + 1).values)
                self._results[i][first + g] = self._call.of(answer, answer.mechanism._exact(values))

    def answers(self, order: IntArray | None) -> list[Analysis]:
        """The analyses by answer, in the order of the groups."""
        draws = [None] * len(self._results) if self._draws is None else self._draws.answers(order)
        groups = slice(None) if order is None else order
        return [
            Analysis(results[groups], records[groups], drawn)
            for results, records, drawn in zip(self._results, self._records, draws, strict=True)
        ]


def analyses_of(call: LawCall, frame: Frame) -> tuple[Names, list[Analysis]]:
    """Return the groups in order, and the analysis of each answer, from one pass."""
    fit(call, frame)
    return answered(call, frame)


class Laws(NamedTuple):
    """Exact laws by answer and group: **private data**.

    A true number is that of records that are not clamped to the bounds, except that modes and
    prices are points of the grid; None without records. For candidates, it is the number of
    records of each.
    """

    groups: list[Column]  # their keys, in order; empty if all rows are one group
    laws: dict[str, list[Any]]
    truths: dict[str, list[Any]]  # the true number of each group; or its utilities
    records: dict[str, IntArray]  # the number of records that count in each group
    draws: dict[str, AnyArray]  # as `Query.sample` gives them; empty without `size`


def laws_of(
    query: Scope,
    answers: Mapping[str, Any],
    frame: Frame,
    *,
    size: int | None = None,
    rng: SeedLike | RNGLike | None = None,
    nan: object = "raise",
    threads: int = 1,
) -> Laws:
    """The exact law of each answer of each group; with `size`, also draws from the same rows.

    Arguments are as for `Query.sample`; `rng` is the seed of the draws, and of the choice among too
    many rows of a person. A law takes some 10 kB for each group and answer.
    """
    call = LawCall(query, answers_of(answers, query.by, nan), size, rng, threads)
    names, analyses = analyses_of(call, frame)
    by_name = {answer.name: a for answer, a in zip(call.answers, analyses, strict=True)}
    return Laws(
        key_columns(query.by, names) if query.by else [],
        {name: a.results.tolist() for name, a in by_name.items()},
        {name: [_true_of(law) for law in a.results] for name, a in by_name.items()},
        {name: a.records for name, a in by_name.items()},
        {name: a.draws for name, a in by_name.items() if a.draws is not None},
    )


def _true_of(law: Any) -> Any:
    return law._utilities if isinstance(law, (FiniteLaw, JointTopKLaw)) else law.truth


class AccuracyCall(LawCall):
    """A call for the figures of exact laws, of the rows that a sample counts."""

    def __init__(
        self,
        query: Scope,
        answers: tuple[Answer, ...],
        probability: object,
        rng: object,
        threads: int,
    ) -> None:
        super().__init__(query, with_coin(query, answers), None, rng, threads)
        self.probability: float = validate.fraction("probability", probability)
        self._deciding = deciding_of(query, answers)
        for name in query.by:
            if name in COLUMNS:
                taken = ", ".join(COLUMNS)
                raise ParameterError(f"by must not have the names {taken}, got {name!r}")

    def of(self, answer: Answer, law: Any) -> FloatArray:
        """The figures after n: one row, or a row for each entry of a list of numbers.

        For the coin and the answer that decides, the last figure is the probability that the group
        appears.
        """
        if isinstance(answer.mechanism, Appearance):
            return np.append(np.full(len(FIGURES) - 1, np.nan), law)[None]
        laws = [law]
        if _is_list(answer):
            entries = enumerate(answer.mechanism._entries)
            laws = [law.total() if name == TOTAL else law.marginal(i) for i, name in entries]
        p, appears = self.probability, np.nan
        if self._deciding is not None and answer is self.answers[self._deciding.answer]:
            appears = 1.0 - laws[-1].cdf(self._deciding.threshold - 1)
        figures = [law_accuracy(one, answer.mechanism, p) for one in laws]
        rows = [
            (one.truth, one.bias, one.expected, one.quantiles[p], one.best, appears)
            for one in figures
        ]
        return np.array(rows, np.float64)

    def appears(self, analyses: list[Analysis]) -> FloatArray:
        """The probability that each group appears."""
        decider = analyses[-1 if self._deciding is None else self._deciding.answer]
        return np.where(decider.records > 0, decider.results[:, 0, -1], 0.0)

    def results(self, groups: int) -> Figures:
        """Empty figures for each answer and group."""
        return Figures(self, groups)


class Figures(Analyses):
    """Figures of each answer for all groups."""

    def _room(self, groups: int, answer: Answer) -> AnyArray:
        return np.empty((groups, len(_names(answer)), len(FIGURES)))


def accuracy_of(call: AccuracyCall, frame: Frame) -> Any:
    """Return a frame of the same kind, a row for each group and answer: `by`, then `COLUMNS`."""
    by, answers = call.query.by, visible(call.answers)
    frame.check_answers([*by, *COLUMNS[: None if call.query.private else -1]], [])
    names, analyses = analyses_of(call, frame)
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
    figures = np.concatenate([a.results for a in analyses[: len(answers)]], axis=1)
    has_truth = [name.endswith(f"_{TOTAL}") and _is_list(answers[i]) for name, i in each]
    figures[(records == 0) & ~np.array(has_truth)] = (
        np.nan
    )  # without records nothing is to be found
    for name, column in zip(FIGURES[1:], figures.reshape(-1, len(FIGURES)).T, strict=False):
        columns.append(Column(name, "floats", column.copy()))
    if call.query.private is not None:
        columns.append(Column(APPEARS, "floats", np.repeat(call.appears(analyses), len(each))))
    return frame.finished(columns)


def _is_list(answer: Answer) -> bool:
    """Whether an answer is a list of numbers; a list of candidates has figures as a whole."""
    return bool(answer.mechanism._entries) and answer.mechanism._measure == "error"


def _names(answer: Answer) -> tuple[str, ...]:
    return answer.values if _is_list(answer) else (answer.name,)
