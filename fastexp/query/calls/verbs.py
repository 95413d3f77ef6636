"""Releases and samples: their charge, their randomness, and where their draws go."""

from __future__ import annotations

import hashlib
from copy import copy
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..._keys.group_names import Names
from ..._parameters import validate
from ..._randomness.release_key import ReleaseKey, query_digest, question_key, release_key
from ..._randomness.streams import make_key
from ..._typing import WordArray
from ...budget.budget import Budget, charge_and_draw, checked_note
from ...budget.question import Question, Questions, groups_in_words
from ...errors import PrivacyWarning, warn
from ...grouped import contribution
from ...grouped.call_options import CallOptions
from ...grouped.request import FROM_DATA, check_key, list_digest, rule_of
from ...grouped.verbs import TELLS
from ...grouped.words import FreshWords, KeyedWords, SimulatedWords, WordSource
from ...mechanisms.base import Comparator
from ..engines.frame import ColumnReads
from .answers import Answer, label_of
from .appearance import deciding_of, rows_of, visible, with_coin
from .draws import Indices
from .reader import uses_of
from .scope import Call, Check, CoreCall, Draw, Results, Scope

ANSWER = b"fastexp.answer"  # the domain of the seeds of several answers


class DrawingCall(CoreCall, Protocol):
    """A call whose results are draws."""

    def results(self, groups: int) -> Results:
        """Empty draws for these groups."""
        return Indices(self, groups)


class ReleaseCall(DrawingCall, Call):
    """A call that is charged, and drawn from the system's randomness or under a key."""

    query: Scope
    answers: tuple[Answer, ...]
    uses: ColumnReads
    threads: int
    fresh: bool

    size = None
    released = True

    def __init__(
        self,
        query: Scope,
        answers: tuple[Answer, ...],
        key: ReleaseKey | None,
        label: str | None,
        budget: Budget | None,
        threads: int,
        note: str | None = None,
        origin: tuple[str, ...] = (),
    ) -> None:
        for answer in answers:
            if isinstance(answer.mechanism, Comparator):
                answer.mechanism.release()  # always raises
        self.query, self.answers = query, with_coin(query, answers)
        self.uses = uses_of(query, self.answers)
        self.threads = validate.threads(threads)
        is_default = label is None and key is not None
        word_label = _default_label(query, answers) if is_default else label
        checked_label = check_key(CallOptions(key=key, label=word_label, budget=budget))
        self._key, self._budget, self._word_label = key, budget, checked_label
        self._note = checked_note(note, budget)
        self._label, self.fresh = None if is_default else checked_label, key is None
        self._origin = origin
        questions_of(query, answers).promise()  # refuses limits that mean nothing here
        if query.by and query.groups is None and query.private is None:
            warn(TELLS, PrivacyWarning)

    @cached_property
    def question(self) -> Questions:
        """The question, for the budget; made before the charge."""
        return questions_of(self.query, self.answers, self._label, self._origin)

    def words(self, answer: Answer, names: Names) -> WordSource:
        """Words of the system, or of the key, the query, the group and its records."""
        if self._key is None or self._word_label is None:
            return FreshWords()
        return KeyedWords(self._question_key(self._key, answer), names)

    def choice(self, answer: Answer) -> bytes:
        """The key of the hash; it is fresh without a release key."""
        return contribution.release_choice(self._key, answer.mechanism, self._label_of(answer))

    def for_workers(self, query: Scope) -> WorkerCall:
        """The call for workers, under a fresh key if the release has none.

        A task that runs again therefore draws the same, and nobody can choose among its runs.
        """
        key = release_key() if self._key is None else self._key
        labels = [(answer, self._label_of(answer)) for answer in self.answers]
        return WorkerCall(
            query,
            self.answers,
            [self._question_key(key, answer) for answer in self.answers],
            [contribution.release_choice(key, a.mechanism, label) for a, label in labels],
        )

    def _label_of(self, answer: Answer) -> str:
        plain, label = visible(self.answers), self._word_label or ""
        return label_of(answer, plain, label) if answer in plain else label

    def _question_key(self, key: ReleaseKey, answer: Answer) -> WordArray:
        rule = self._rules[answer.nan, rows_of(self.query, answer)]
        return question_key(key, query_digest(answer.mechanism, self._label_of(answer), rule))

    def charge_and_draw(self, draw: Draw, check: Check) -> list[Any]:
        """Charge before a row is read, and then draw."""
        answers: list[Any] = charge_and_draw(
            self._budget, self._label, self.question, draw, check, self._note,
            no_retry=self.query.private is not None,
        )  # fmt: skip
        return answers

    @cached_property
    def _rules(self) -> dict[tuple[str, int], str]:
        """The rule for which records count, by treatment of missing ones and limit of rows."""
        query = self.query
        options = CallOptions(
            groups=None if not query.by else FROM_DATA if query.groups is None else query.groups,
            person=query.person,
            max_groups=query.max_groups,
        )
        ways = {(answer.nan, rows_of(query, answer)) for answer in self.answers}
        return {way: rule_of(options._replace(nan=way[0], max_rows=way[1])) for way in ways}


class WorkerCall(DrawingCall):
    """A release on an engine's workers, which get only keys derived for its own questions."""

    query: Scope
    answers: tuple[Answer, ...]
    uses: ColumnReads
    threads: int

    size = None
    released, fresh = True, False

    def __init__(
        self,
        query: Scope,
        answers: tuple[Answer, ...],
        keys: list[WordArray],
        choices: list[bytes],
    ) -> None:
        self.query, self.answers, self.uses = query, answers, uses_of(query, answers)
        self.threads = 1
        self._keys, self._choices = keys, choices

    def words(self, answer: Answer, names: Names) -> WordSource:
        """Words of the question's key, the group and its records."""
        return KeyedWords(self._keys[self.answers.index(answer)], names)

    def choice(self, answer: Answer) -> bytes:
        """The key of the hash, the same for all workers."""
        return self._choices[self.answers.index(answer)]


class SampleCall(DrawingCall, Call):
    """A call that is drawn from a seed, and not charged."""

    query: Scope
    answers: tuple[Answer, ...]
    uses: ColumnReads
    threads: int
    size: int | None

    released = fresh = False

    def __init__(
        self, query: Scope, answers: tuple[Answer, ...], size: object, rng: object, threads: int
    ) -> None:
        self.query, self.answers, self.uses = query, answers, uses_of(query, answers)
        self.threads = validate.threads(threads)
        self.size, self._seed = validate.size(size), make_key(rng)

    def words(self, answer: Answer, names: Names) -> WordSource:
        """Words of the answer's seed and the group."""
        return SimulatedWords(self._seed_of(answer), names)

    def choice(self, answer: Answer) -> bytes:
        """The key of the hash, from the answer's seed."""
        return contribution.sample_choice(self._seed_of(answer))

    def charge_and_draw(self, draw: Draw, check: Check) -> list[Any]:
        """Draw without a charge."""
        check()
        return draw()

    def for_workers(self, query: Scope) -> CoreCall:
        """The call for workers."""
        call = copy(self)
        call.query, call.uses, call.threads = query, uses_of(query, self.answers), 1
        return call

    def _seed_of(self, answer: Answer) -> WordArray:
        """The call's seed; several answers have one each, or all would have the same words."""
        if len(self.answers) == 1:
            return self._seed
        seed = hashlib.blake2b(
            answer.name.encode(), digest_size=16, key=self._seed.tobytes(), person=ANSWER
        )
        return np.frombuffer(seed.digest(), np.dtype("<u8")).astype(np.uint64)


def questions_of(
    query: Scope,
    answers: tuple[Answer, ...],
    label: str | None = None,
    origin: tuple[str, ...] = (),
) -> Questions:
    """Return the questions of a call, for its budget; they have a form only if there is a label.

    The form identifies the question whose answers are kept under the label. (For a list of 1e6
    groups it takes a second.)
    """
    form: tuple[Any, ...] = ()
    if label is not None:
        groups = None if query.groups is None else list_digest(query.groups)
        form = "query", query.by, query.person, groups, *origin
    grouping = ""
    if query.by:
        count = "groups from the data" if query.private is None else "private groups"
        count = count if query.groups is None else groups_in_words(query.groups.size)
        grouping = f"by {', '.join(query.by)} ({count})"
    person = None if query.person is None else f"person {query.person}"
    questions = [
        Question(
            answer.mechanism,
            groups=bool(query.by),
            membership=query.membership,
            max_groups=query.max_groups,
            max_rows=query.max_rows,
            form=(*form, answer.name, answer.column, answer.nan),
            column=answer.column,
            grouping=grouping,
            person=person,
        )
        for answer in visible(answers)
    ]
    if query.private is not None:  # persons are counted: one more changes a group's number by 1
        deciding_of(query, answers)  # refuses answers of which none can decide
        group_question = questions[0]._replace(mechanism=query.private, column="", form=form)
        questions.append(group_question._replace(max_rows=1))
    return Questions(tuple(questions))


def _default_label(query: Scope, answers: tuple[Answer, ...]) -> str:
    """The label of the words of a key if none is given: the names of the columns."""
    columns = ", ".join(dict.fromkeys(answer.column for answer in answers))
    label = f"{columns} by {', '.join(query.by)}" if query.by else columns
    if label.isprintable() and len(label) <= validate.MOST_LABEL:
        return label
    return hashlib.blake2b(label.encode(), digest_size=32).hexdigest()
