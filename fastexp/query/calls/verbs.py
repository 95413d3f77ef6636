"""What releases and samples differ in: charge, randomness, where draws go."""

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
        """Their draws."""
        return Indices(self, groups)


class ReleaseCall(DrawingCall, Call):
    """Charged, and drawn from the system's randomness or under a key."""

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
                answer.mechanism.release()  # refuses
        self.query, self.answers = query, with_coin(query, answers)
        self.uses = uses_of(query, self.answers)
        self.threads = validate.threads(threads)
        default = label is None and key is not None
        named = _default_label(query, answers) if default else label
        line = check_key(CallOptions(key=key, label=named, budget=budget))
        self._key, self._budget, self._line = key, budget, line
        self._note = checked_note(note, budget)
        self._label, self.fresh = None if default else line, key is None
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
        if self._key is None or self._line is None:
            return FreshWords()
        return KeyedWords(self._question_key(self._key, answer), names)

    def choice(self, answer: Answer) -> bytes:
        """Fresh without a key."""
        return contribution.release_choice(self._key, answer.mechanism, self._label_of(answer))

    def sent(self, query: Scope) -> SentCall:
        """The call as workers get it; without a key a fresh one stands behind it.

        So a task that runs again draws the same, and there is nothing to choose among its runs.
        """
        key = release_key() if self._key is None else self._key
        labels = [(answer, self._label_of(answer)) for answer in self.answers]
        return SentCall(
            query,
            self.answers,
            [self._question_key(key, answer) for answer in self.answers],
            [contribution.release_choice(key, a.mechanism, label) for a, label in labels],
        )

    def _label_of(self, answer: Answer) -> str:
        plain = visible(self.answers)
        return label_of(answer, plain, self._line or "") if answer in plain else self._line or ""

    def _question_key(self, key: ReleaseKey, answer: Answer) -> WordArray:
        rule = self._rules[answer.nan, rows_of(self.query, answer)]
        return question_key(key, query_digest(answer.mechanism, self._label_of(answer), rule))

    def settle(self, draw: Draw, check: Check) -> list[Any]:
        """Charged before a row is read."""
        answers: list[Any] = charge_and_draw(
            self._budget, self._label, self.question, draw, check, self._note,
            no_retry=self.query.private is not None,
        )  # fmt: skip
        return answers

    @cached_property
    def _rules(self) -> dict[tuple[str, int], str]:
        """Which records count, by what is done with missing ones and how many of a person do."""
        query = self.query
        options = CallOptions(
            groups=None if not query.by else FROM_DATA if query.groups is None else query.groups,
            person=query.person,
            max_groups=query.max_groups,
        )
        ways = {(answer.nan, rows_of(query, answer)) for answer in self.answers}
        return {way: rule_of(options._replace(nan=way[0], max_rows=way[1])) for way in ways}


class SentCall(DrawingCall):
    """A release on an engine's workers: of its key they have what its own questions need."""

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
        """As it was made for all workers."""
        return self._choices[self.answers.index(answer)]


class SampleCall(DrawingCall, Call):
    """Drawn from a seed."""

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
        """Words of the answer's seed."""
        return contribution.sample_choice(self._seed_of(answer))

    def settle(self, draw: Draw, check: Check) -> list[Any]:
        """Nothing is charged."""
        check()
        return draw()

    def sent(self, query: Scope) -> CoreCall:
        """The call as workers get it."""
        call = copy(self)
        call.query, call.uses, call.threads = query, uses_of(query, self.answers), 1
        return call

    def _seed_of(self, answer: Answer) -> WordArray:
        """The call's seed; of several answers one for each, or all would have the same words."""
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
    """What a call asks, for budgets; its form only where there is a label, to keep answers under.

    (Of a list of 1e6 groups the form takes a second.)
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
        deciding_of(query, answers)  # or refuses
        whole = questions[0]._replace(mechanism=query.private, column="", form=form)
        questions.append(whole._replace(max_rows=1))
    return Questions(tuple(questions))


def _default_label(query: Scope, answers: tuple[Answer, ...]) -> str:
    """What the words of a key are named by without a label: the columns."""
    columns = ", ".join(dict.fromkeys(answer.column for answer in answers))
    label = f"{columns} by {', '.join(query.by)}" if query.by else columns
    if label.isprintable() and len(label) <= validate.MOST_LABEL:
        return label
    return hashlib.blake2b(label.encode(), digest_size=32).hexdigest()
