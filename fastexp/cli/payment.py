"""``--budget`` and ``--label``: a release is charged before a record is read, drawn once, not lost.

Under a label the ledger keeps the answers. Without one, answers that cannot be shown or written
go to a file of their own, whose name is told.
"""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .. import _files
from .._question import Question
from ..budget import once
from ..errors import BudgetError
from . import interrupts
from .budget import opened
from .output import json_text, note, printable

FAILED = "charged nevertheless, as a failure may tell of the data"
INTERRUPTED = "charged nevertheless, as it was interrupted after the charge"


class Payment:
    """What a release costs, and to whom.

    Parameters
    ----------
    options : Namespace
        Of a command that releases.
    question : Question
        Public.
    """

    def __init__(self, options: Namespace, question: Question) -> None:
        self._question, self._label = question, options.label
        self._budget = None if options.budget is None else opened(options.budget)
        self._state = self._state_of_label()
        self._drawn = False

    def _state_of_label(self) -> str | None:
        if self._budget is None or self._label is None:
            return None
        states = [e["state"] for e in self._budget.log() if e["label"] == self._label]
        return states[-1] if states else None

    @property
    def settled(self) -> bool:
        """Whether the ledger has the answer already, so that FILE need not be there."""
        return self._state in ("answered", "failed")

    def answers(self, draw: Callable[[], Any]) -> Any:
        """Those of the ledger, or of `draw`, which reads the records, after a charge."""

        def after_the_charge() -> Any:
            self._drawn = True
            return draw()

        interrupts.check()
        before = 0 if self._budget is None else self._budget.charges
        try:
            return once(self._budget, self._label, self._question, after_the_charge)
        except BudgetError:  # says itself what is charged
            raise
        except BaseException as error:
            state = self._state_since(before)
            if state is not None:
                note(self._without_answers(state, isinstance(error, Exception)))
            raise

    def _state_since(self, before: int) -> str | None:
        """What became of this call's charge, by the ledger itself; None: there is none.

        A charge of an equal command that runs at the same time may be taken for this one's.
        """
        if self._budget is None:
            return None
        try:
            if self._label is not None:
                return self._state_of_label()
            new = [entry["name"] for entry in self._budget.log()[before:]]
        except BudgetError:  # it cannot be read any more
            return "charged" if self._drawn else None
        return "charged" if self._drawn or self._question.name in new else None

    def _without_answers(self, state: str, failed: bool) -> str:
        if state == "open":
            return f"charged; the same command with label {self._label!r} goes on without a charge"
        if state == "answered":
            return f"charged; {self._kept()}"
        why = FAILED if failed else INTERRUPTED
        used_up = f": label {self._label!r} is used up" if state == "failed" else ""
        return f"{why}{used_up}; {self._left()}"

    @contextmanager
    def shown(self, facts: dict[str, Any], *folders: str) -> Iterator[None]:
        """While answers are shown: if that fails after a charge, they are elsewhere.

        Parameters
        ----------
        facts : dict
            The answers and what they are of, as for ``--json``.
        *folders : str
            Where a file may be made of them, before others.
        """
        try:
            yield
            sys.stdout.flush()
        except BaseException:
            if self._budget is not None:
                note(self._whereabouts(facts, folders))
            raise

    def _whereabouts(self, facts: dict[str, Any], folders: tuple[str, ...]) -> str:
        if self._label is not None:
            return f"charged; {self._kept()}"
        text = json_text(facts)
        for folder in (*folders, os.curdir, tempfile.gettempdir()):
            with suppress(OSError):
                return f"charged; the answers are in {printable(_rescued(text, folder))} (JSON)"
        return f"charged; the answers are: {text}"

    def _kept(self) -> str:
        return (
            f"the answers are kept in the budget file under label {self._label!r}: "
            "the same command gives them again at no cost"
        )

    def tell(self) -> None:
        """Say what was charged and what is left."""
        if self._budget is None:
            return
        if self._drawn:
            promise = self._question.promise(self._budget.neighbors)
            amount = promise.epsilon if self._budget.unit == "epsilon" else promise.rho
            note(f"budget: charged {amount!r} for {self._budget.neighbors}; {self._left()}")
        else:
            note(f"budget: nothing charged, kept under label {self._label!r}; {self._left()}")

    def _left(self) -> str:
        """That it cannot be read does not undo a release."""
        if self._budget is None:
            return ""
        try:
            left = f"{self._budget.remaining!r} of {self._budget.total!r}"
        except BudgetError as error:
            return f"but now {error}"
        return f"{left} {self._budget.unit} remains"


def _rescued(text: str, folder: str) -> str:
    """The name of a new file, for its user alone, that has the text."""
    path = Path(folder).resolve() / f"fastexp-answers-{secrets.token_hex(8)}.json"
    _files.create(str(path), f"{text}\n".encode())
    return str(path)
