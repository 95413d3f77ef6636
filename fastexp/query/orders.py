"""What a release of a session asks for, as plain values; then it is charged, read and drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from .._parameters import validate
from ..budget.budget import charge_and_draw, checked_note
from ..budget.question import Question, Questions
from ..errors import ParameterError, ParameterTypeError, SessionError
from ..grouped.call_options import CallOptions
from ..grouped.request import check_key
from ..mechanisms._counting import CountingMechanism
from .calls.answers import answers_of, column_name
from .calls.perform import as_column, perform
from .calls.scope import Check, Draw
from .calls.verbs import ReleaseCall
from .door import Door, arrays_of
from .engines.frame import Column
from .query import Query
from .untrusted import is_exactly, plain

T = TypeVar("T")
FAILED = "the release failed once it was charged; why is withheld, as it may depend on the records"
NAN = ("drop", "lower", "upper")


@dataclass(repr=False, eq=False)
class Order(ABC):
    """What a release asks, of plain values; `has_read` once records may have been read.

    It holds nothing of the session: it is in the traceback of what the release raises.
    """

    query: Query
    items: list[tuple[str, Any, Any]]
    label: str | None
    note: str | None
    nan: object
    threads: int
    expand: object
    has_read: bool = False

    def __post_init__(self) -> None:
        for argument, value in (("label", self.label), ("note", self.note)):
            if value is not None and not is_exactly(value, str):
                raise ParameterTypeError(f"{argument} must be text (no subclass of str)")
        if not is_exactly(self.threads, int):
            raise ParameterTypeError("threads must be an int (no subclass)")
        self.threads = validate.threads(self.threads)
        self.expand = validate.flag("expand", self.expand)

    @abstractmethod
    def answers(self, door: Door) -> Any:
        """Charged, read and drawn."""

    def reading(self, draw: Callable[[], T]) -> T:
        """What `draw` returns, which reads records: NumPy warns of none of them meanwhile.

        Whatever it raises is a failure, also what a score raises: nobody interrupts this thread.
        """
        self.has_read = True
        try:
            with np.errstate(all="ignore"):
                return draw()
        except BaseException:
            raise SessionError(FAILED) from None


class OfMechanisms(Order):
    """Answers of fastexp's own mechanisms."""

    def answers(self, door: Door) -> Any:
        """Answers by one call of a query."""
        pairs = {name: pair for name, *pair in self.items}
        wanted = answers_of(pairs, self.query.by, _policies(self.nan, pairs), self.expand)
        threads, note = self.threads, self.note
        call = _Watched(self.query, wanted, None, self.label, door.budget, threads, note)
        call.order = self
        return perform(call, door.frame(self.threads), door.room)


class _Watched(ReleaseCall):
    """A release that tells its call when it reads."""

    order: Order

    def settle(self, draw: Draw, check: Check) -> list[Any]:
        return super().settle(lambda: self.order.reading(draw), check)


class OfScores(Order):
    """Answers of scores, by the exponential mechanism."""

    def answers(self, door: Door) -> Any:
        """Answers from all rows together: one draw for each score."""
        if self.query.by:
            raise ParameterError("query must be None for scores, which are of all rows together")
        if self.nan is not None:
            raise ParameterError("nan must be None for scores: NaN is the lowest utility")
        label = check_key(CallOptions(label=self.label, budget=door.budget))
        note = checked_note(self.note, door.budget)
        questions, draws = [], []
        for name, called, epsilon in self.items:
            if called not in door.scores:
                names = ", ".join(map(repr, door.scores)) or "none"
                raise ParameterError(
                    f"answer {name!r} must name a score of the session ({names}), got {called!r}"
                )
            score = door.scores[called]
            mechanism = score.mechanism(plain("epsilon", epsilon))
            form = "score", called, column_name("the names of answers", name)
            questions.append(Question(mechanism, form=form, column=called))
            draws.append((name, score, mechanism.epsilon))
        frame = door.frame(self.threads)

        def draw() -> list[Any]:
            return [
                score.drawn(arrays_of(frame), epsilon, self.threads) for _, score, epsilon in draws
            ]

        def check() -> None:
            frame.check_answers([name for name, *_ in draws], [])

        values = charge_and_draw(
            door.budget,
            label,
            Questions(tuple(questions)),
            lambda: self.reading(draw),
            check,
            note,
        )
        return frame.finished(
            [
                Column(name, score.kind, as_column([value], score.kind))
                for (name, score, _), value in zip(draws, values, strict=True)
            ]
        )


def _policies(nan: Any, pairs: dict[str, Any]) -> dict[str, str]:
    """What is done with missing records, by answer: never what tells of them."""
    counted = {  # whether the number of records must be the same in neighbouring data
        name: not isinstance(mechanism, CountingMechanism)
        and mechanism.guarantee.neighbors == "replace"
        for name, (mechanism, _) in pairs.items()
    }
    policies = {name: "lower" if counted[name] else "drop" for name in counted}
    stated = nan if is_exactly(nan, dict) else dict.fromkeys(pairs, nan)
    for name, policy in dict.copy(stated).items() if nan is not None else ():
        if not is_exactly(name, str) or not is_exactly(policy, str) or policy not in NAN:
            raise ParameterError(f"nan must be one of {', '.join(map(repr, NAN))} in a session")
        if policy == "drop" and counted.get(name):
            raise ParameterError(
                'nan must be "lower" or "upper" where neighbors="replace": the number of records '
                "is public there"
            )
        policies[name] = policy
    return policies
