"""``--budget`` and ``--label``: a release is charged before a record is read, and is never lost.

Under a label the ledger keeps the answers. Without a label, answers that cannot be printed or
written are saved in a file of their own, which a note names.
"""

from __future__ import annotations

import os
import secrets
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._compiler import jit
from ..._parameters.text import printable
from ...budget import atomic_files
from ...budget.budget import Budget, charge_and_draw, checked_note, state_of
from ...errors import BudgetError, BudgetExceeded
from ..terminal import interrupts
from ..terminal.errors import NoAnswers, UserMistake
from ..terminal.printing import json_text, note

if TYPE_CHECKING:
    from ...budget.question import Question, Questions
    from ...privacy import Guarantee

FAILED = "charged nevertheless, as a failure may depend on the data"
INTERRUPTED = "charged nevertheless, as it was interrupted after the charge"


def budget_of(file: str, *, has_delta: bool = False) -> Budget:
    """Return the budget in a file, which must exist.

    `has_delta`: whether it is charged for a release with a delta.
    """
    if not Path(file).exists():
        limits = "--epsilon E --delta D" if has_delta else "--epsilon E (or --rho R)"
        raise UserMistake(
            f"there is no budget file {file!r}; create it with: "
            f"fastexp budget {printable(shlex.quote(file))} {limits}"
        )
    return Budget.file(file)


def check_delta(budget: Budget | None, promise: Guarantee) -> None:
    """Refuse a promise that is charged with a delta, if the budget has none."""
    if budget is None or budget.total_delta or not promise.delta:
        return
    if budget.unit == "epsilon" or promise.rho is None:
        raise BudgetExceeded(
            f"the release costs {promise.delta!r} of delta, but the budget has none; nothing was "
            "drawn or charged. A budget with delta is created with: "
            "fastexp budget FILE --epsilon E --delta D"
        )


class Payment:
    """The charge of a release to a budget; `note` is the user's remark on it.

    `drawn`: whether this call drew; it does not if the ledger has the answers. `announce` is called
    right before the charge, or after answers came from the ledger.
    """

    announce: Callable[[], None] | None = None

    def __init__(
        self, file: str | None, label: str | None, note: str | None, *, has_delta: bool = False
    ) -> None:
        self._label = label
        self.budget: Budget | None = None if file is None else budget_of(file, has_delta=has_delta)
        self._note = checked_note(note, self.budget)
        self._state = self._state_of_label()
        self.drawn = False
        self._promise: Guarantee | None = None

    def _state_of_label(self) -> str | None:
        return state_of(self.budget, self._label)

    @property
    def has_stored_answer(self) -> bool:
        """Whether the ledger has the answers already, so that FILE need not exist."""
        return self._state in ("answered", "failed")

    @property
    def _went_on(self) -> bool:
        """Whether this call drew under the charge of an earlier run that died."""
        return self.drawn and self._state == "open"

    def promise(self, question: Question | Questions) -> Guarantee:
        """Return the guarantee of the release, under the budget's relation if there is a budget."""
        return question.promise(None if self.budget is None else self.budget.neighbors)

    def answers(
        self,
        question: Question | Questions,
        draw: Callable[[], Any],
        check: Callable[[], None],
        *,
        no_retry: bool = False,
    ) -> Any:
        """Return the ledger's answers, or charge and return those of `draw`, which reads records.

        `draw`, `check` and `no_retry` are those of `budget.charge_and_draw`.
        """
        self._promise, self._no_retry = self.promise(question), no_retry
        check_delta(self.budget, self._promise)

        def check_last() -> None:
            check()
            self._announce()  # before the compiler is imported, which takes time
            jit.ready()  # its import may swallow an interrupt, which the next line raises
            interrupts.check()

        def draw_charged() -> Any:
            self.drawn = True
            answers = draw()
            interrupts.hold()  # from here on, answers could be lost
            return answers

        before = 0 if self.budget is None else self.budget.charges
        try:
            answers = charge_and_draw(
                self.budget, self._label, question, draw_charged, check_last, self._note,
                no_retry=no_retry,
            )  # fmt: skip
        except BudgetError:  # its message says what is charged
            raise
        except BaseException as error:
            state = self._state_since(before, question.name)
            if state is not None:
                note(self._without_answers(state, isinstance(error, Exception)))
            if state in ("charged", "failed") and isinstance(error, Exception):
                raise NoAnswers(error) from None
            raise
        self._announce()
        return answers

    def _announce(self) -> None:
        announce, self.announce = self.announce, None
        if announce is not None:
            announce()

    def _state_since(self, before: int, name: str) -> str | None:
        """Return the state of this call's charge in the ledger; None if nothing was charged.

        The charge of an equal command that runs at the same time may be mistaken for it.
        """
        if self.budget is None:
            return None
        try:
            if self._label is not None:
                return self._state_of_label()
            names = [entry["name"] for entry in self.budget.log()[before:]]
        except BudgetError:  # the budget cannot be read any more
            return "charged" if self.drawn else None
        return "charged" if self.drawn or name in names else None

    def _without_answers(self, state: str, failed: bool) -> str:
        if state == "open" and self._no_retry:
            return f"charged; label {self._label!r} is used up"
        if state == "open":
            return f"charged; the same command with label {self._label!r} goes on without a charge"
        if state == "answered":
            return f"charged; {self._place_of_answers()}"
        why = FAILED if failed else INTERRUPTED
        used_up = f": label {self._label!r} is used up" if state == "failed" else ""
        return f"{why}{used_up}; {self.left()}"

    @contextmanager
    def rescuing(
        self, facts: Callable[[], dict[str, Any]], folders: Sequence[str]
    ) -> Iterator[None]:
        """Guard the printing of answers: if it fails after a charge, a note says where they are.

        `facts` returns the content of ``--json``. It is saved to a file in the first of `folders`
        that can be written to, or elsewhere.
        """
        try:
            interrupts.heed()
            yield
            sys.stdout.flush()
        except BaseException:
            interrupts.hold()
            self.rescue(facts, folders)
            raise

    def rescue(self, facts: Callable[[], dict[str, Any]], folders: Sequence[str]) -> None:
        """Say where answers are that were charged and cannot be printed."""
        if self.budget is None:
            return
        if self._label is not None:
            note(f"charged; {self._place_of_answers()}")
            return
        text = json_text(facts())
        for folder in (*folders, os.curdir, tempfile.gettempdir()):
            with suppress(OSError):  # a new file that only its user can read
                path = str(Path(folder).resolve() / f"fastexp-answers-{secrets.token_hex(8)}.json")
                atomic_files.create(path, f"{text}\n".encode())
                note(f"charged; the answers are in {printable(path)} (JSON)")
                return
        note(f"charged; the answers are: {text}")

    def _place_of_answers(self) -> str:
        return (
            f"the answers are kept in the budget file under label {self._label!r}: "
            "the same command gives them again at no cost"
        )

    def facts(self) -> dict[str, Any] | None:
        """Return what was charged and what is left, for ``--json``; None without a budget."""
        budget = self.budget
        if budget is None:
            return None
        left: float | None = None
        left_delta: float | None = None
        with suppress(BudgetError):
            left, left_delta = budget.remaining, budget.remaining_delta
        facts: dict[str, Any] = {"unit": budget.unit, "neighbors": budget.neighbors}
        facts |= {"charged": self._charged(budget.unit), "total": budget.total, "remaining": left}
        if budget.total_delta:
            facts |= {"charged_delta": self._charged("delta"), "total_delta": budget.total_delta}
            facts["remaining_delta"] = left_delta
        return {**facts, "label": self._label}

    def sentence(self) -> str:
        """Return what was charged and what is left, in words; empty without a budget."""
        if self.budget is None:
            return ""
        place = f"kept under label {self._label!r}"
        if not self.drawn:
            return f"charged nothing: these answers were {place}; {self.left()}"
        if self._went_on:
            drawn = "these answers were drawn under the charge of a run that died"
            return f"charged nothing: {drawn}, and {place}; {self.left()}"
        label = "" if self._label is None else f", {place}"
        amount = f"{self._charged(self.budget.unit)!r}"
        if self.budget.total_delta:
            amount += f" and {self._charged('delta')!r} of delta"
        return f"charged {amount}{label}; {self.left()}"

    def _charged(self, unit: str) -> float | None:
        if not self.drawn or self._went_on or self._promise is None:
            return 0.0
        amount: float | None = getattr(self._promise, unit)
        return amount

    def left(self) -> str:
        """Return what is left, in words. A budget that cannot be read does not undo a release."""
        budget = self.budget
        if budget is None:
            return ""
        try:
            left = f"{budget.remaining!r} of {budget.total!r} {budget.unit}"
            if budget.total_delta:
                left += f" and {budget.remaining_delta!r} of {budget.total_delta!r} delta"
        except BudgetError as error:
            return f"but now {error}"
        return f"{left} remains"
