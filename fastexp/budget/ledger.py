"""Ledgers: the charges and answers of a budget, kept in memory or in a file.

Both follow the same rules. A charge is checked and kept before records are read. A release with a
label is kept in two steps, its charge and its outcome. Between them it draws, under a lock of the
label alone, so that other releases need not wait. A second call with the label waits for that lock
and finds the answers. If the first process died, there are no answers and nobody has seen any, so
the second call takes over the charge (except with `no_retry`, if the length of the answers depends
on the draw).

Lines in a file are never rewritten (`ledger_lines.py` defines them). A charge locks the file, reads
it again, checks, appends a line, and waits until the line is on disk. A process that is killed
leaves at most an incomplete last line, before anything is drawn: the next charge cuts it off. A
file that is damaged in any other way is refused, and never taken for an empty one.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import sys
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BudgetError, LabelError, ParameterError, ParameterTypeError
from . import answer_text, atomic_files, ledger_lines
from .ledger_lines import Lines
from .terms import ANSWERED, OPEN, USED_UP, Charge, Entry, History, Outcome, Terms

MAX_INLINE = 4096  # the most characters of answers in the ledger itself; longer ones have a file
KEY_BYTES = 32
LABEL = b"fastexp.label"  # domain of BLAKE2b
OTHER = (
    "another list of groups, answer, nan, promise or parameter, or on the command line another file"
)

Write = Callable[[Entry | Outcome], Charge]  # returns once the step is kept


class Ledger(ABC):
    """Charges and answers of a budget, by rules that are the same in memory and in a file."""

    terms: Terms
    name: str  # in messages
    path = ""  # of a file

    def __str__(self) -> str:
        """Return the call that makes the budget, up to its terms."""
        return f"Budget.file({self.path!r}, " if self.path else "Budget("

    @abstractmethod
    def look(self) -> History:
        """Return all steps so far."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[tuple[History, Write]]:
        """Give all steps so far, and a function that adds one, to a single caller at a time."""

    @abstractmethod
    def _lock(self, label: str) -> AbstractContextManager[None]:
        """Return the lock of a label."""

    def _outcome(
        self,
        label: str,
        text: str | None,
        no_retry: bool,  # noqa: ARG002  # of files
    ) -> Outcome:
        """Return the outcome of a label: its answers, or (None) its failure."""
        return Outcome(label, text)

    def _text(self, outcome: Outcome) -> str | None:
        """Return the text of the answers of an outcome."""
        return outcome.text

    def charge(self, entry: Entry) -> tuple[Charge, bool]:
        """Make a charge, or find the earlier one of its label; return it and whether it is new."""
        with _budget_errors(self.name), self._writing() as (history, write):
            known = history.of(entry.label)
            if known is not None:
                return known, False
            self.terms.check(history.spent, entry.cost)
            return write(entry), True

    def charged(self, entry: Entry) -> str:
        """Return the words of a charge, for the note of an error that came after it."""
        return f"{entry.cost.amount!r} of {self.terms.unit} was charged to {self.name}"

    def answers(self, label: str) -> Any:
        """Return the answers that are kept under a label."""
        charge = self.look().of(label)
        if charge is None or charge.state == OPEN:
            raise LabelError(f"{self.name} has no answers under the label {label!r}")
        return self._answers(charge)

    def charge_and_draw(
        self,
        entry: Entry,
        label: str,
        width: int,
        draw: Callable[[], Any],
        check: Callable[[], None],
        *,
        no_retry: bool = False,
    ) -> Any:
        """Return the answers kept under the label of an entry, or those of `draw` after a charge.

        `check` refuses a mistaken call before a charge. With `no_retry`, a charge without answers
        uses up the label, as the process that made the charge may have begun to draw.
        """
        known = self.look().of(label)
        if known is not None and self._same(known, entry).state == ANSWERED:
            return self._answers(known)
        check()
        process, before = os.getpid(), sys.exc_info()[1]
        text: str | None = None
        failure: BaseException | None = None
        try:
            with self._exclusive(label):
                charge, is_new = self.charge(entry)
                known = self._same(charge, entry)
                if known.state == ANSWERED:
                    return self._answers(known)
                if no_retry and not is_new:
                    self._keep_outcome(label, None, no_retry)
                    raise LabelError(
                        f"label {label!r} is used up in {self.name}: its draw began and gave no "
                        "answers, and is not repeated, because its duration may have been seen"
                    )
                text, failure = _drawn(draw, width)
                if os.getpid() != process:
                    raise BudgetError(
                        "the process was forked while it drew: the release belongs to its parent"
                    )
                known = self._keep_outcome(label, text, no_retry)
                if failure is not None and known.state == USED_UP:
                    failure.add_note(f"{self.charged(entry)}; label {label!r} is used up")
                    raise failure
                return self._answers(known)
        except BaseException as error:
            if error is not failure:  # nobody has seen the draw, so that it may be repeated
                _clear_frames(error, before)
            raise
        finally:
            text = failure = None  # a failure refers to this frame, and so to the records

    def _keep_outcome(self, label: str, text: str | None, no_retry: bool) -> Charge:
        """Keep answers, or (None) the failure of the release, before anybody learns of it.

        If another process has already kept an outcome (it opened the file under another name), that
        outcome counts. Errors have the same text for answers and failures, which it must not tell
        apart.
        """
        unseen = (
            f"; the label {label!r} is charged, but its answers could not be kept and nobody has "
            "seen them: "
        )
        unseen += (
            "it is used up, as which groups appear is not drawn again"
            if no_retry
            else "the same call with this label gives answers without a further charge"
        )
        with _budget_errors(self.name, unseen):
            outcome = self._outcome(label, text, no_retry)
            with self._writing() as (history, write):
                known = history.of(label)
                return write(outcome) if known is None or known.state == OPEN else known

    def _answers(self, charge: Charge) -> Any:
        """Return the answers of a charge."""
        text = None if charge.outcome is None else self._text(charge.outcome)
        if text is None:
            raise self._used_up(charge)
        try:
            return answer_text.value(json.loads(text))
        except (ValueError, TypeError, KeyError, ArithmeticError):
            label = charge.entry.label
            raise _damaged(self.name, f"the answers under {label!r} cannot be read") from None

    def _same(self, charge: Charge, entry: Entry) -> Charge:
        """Return the charge under the label of an entry, if it has the same question."""
        first = charge.entry
        if first.question != entry.question:
            change = OTHER
            if first.about != entry.about:
                change = f"that was {first.about!r}, and this is {entry.about!r}"
            raise LabelError(
                f"label {first.label!r} belongs to another question in {self.name}: {change}; "
                "nothing was read or charged: use another label"
            )
        if charge.state == USED_UP:
            raise self._used_up(charge)
        return charge

    def _used_up(self, charge: Charge) -> LabelError:
        return LabelError(
            f"label {charge.entry.label!r} is used up in {self.name}: its release failed after the "
            "charge, and is not repeated; use another label, which is charged again"
        )

    @contextmanager
    def _exclusive(self, label: str) -> Iterator[None]:
        """Let only this caller draw for a label."""
        if _is_drawing():
            raise BudgetError(
                f"label {label!r}: a release with a label cannot start inside the draw of another "
                "one (each could wait for the other)"
            )
        with ExitStack() as stack:
            with _budget_errors(
                self.name
            ):  # an error of the draw must not pass for one of the system
                stack.enter_context(self._lock(label))
            yield


class Memory(Ledger):
    """A ledger in memory, for the threads of one process; a forked child may not spend."""

    name = "the budget"

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._history, self._process = History(), os.getpid()
        self._writer = threading.Lock()
        self._labels: dict[str, threading.Lock] = {}

    def look(self) -> History:
        """Return all steps so far."""
        return self._history

    @contextmanager
    def _writing(self) -> Iterator[tuple[History, Write]]:
        self._check_process()
        with self._writer:
            yield self._history, lambda step: self._history.add(step, ledger_lines.now())

    @contextmanager
    def _lock(self, label: str) -> Iterator[None]:
        self._check_process()
        with self._labels.setdefault(label, threading.Lock()):
            yield

    def _check_process(self) -> None:
        """Refuse a forked child, before any lock: another thread may have held it at the fork."""
        if os.getpid() != self._process:
            raise BudgetError(
                "this budget belongs to the process that made it, not to one forked from it "
                "(each would spend all of it); use Budget.file"
            )


class File(Ledger):
    """A ledger for many processes. Each access reopens the file: forks and threads may use it."""

    name: str
    path: str

    def __init__(self, path: str) -> None:
        self.path, self.name = path, _name(path)
        self._known: Lines | None = None
        self.terms: Terms = self._lines().terms

    def look(self) -> History:
        """Return all steps so far."""
        return self._lines().history

    @contextmanager
    def _writing(self) -> Iterator[tuple[History, Write]]:
        with atomic_files.locked(self.path, write=True) as handle:
            lines = self._read(atomic_files.contents(handle))
            yield lines.history, partial(self._append, handle, lines)

    @contextmanager
    def _lock(self, label: str) -> Iterator[None]:
        with atomic_files.exclusive_lock(self._label_path(label, "lock")):
            yield

    def _outcome(self, label: str, text: str | None, no_retry: bool) -> Outcome:
        """Return the outcome of a label, with long answers in a separate file.

        That file is encrypted with a key that only the line of the ledger has. If the line is not
        written, no file shows the draw, so that it can be repeated. If it must not be repeated
        (`no_retry`), a draft of the label stays until there is a line, so that the file is found.
        """
        if text is None or len(text) <= MAX_INLINE:
            return Outcome(label, text)
        key = os.urandom(KEY_BYTES)
        sealed = _sealed(text.encode("ascii"), key)
        digest = _digest(sealed)
        draft = self._label_path(label, "draft") if no_retry else None
        atomic_files.create(self._beside(f"{digest}.answers"), sealed, draft)
        return Outcome(label, beside=(digest, key.hex()))

    def _keep_outcome(self, label: str, text: str | None, no_retry: bool) -> Charge:
        try:
            return super()._keep_outcome(label, text, no_retry)
        finally:
            if no_retry:
                self._remove_draft(label)

    def _remove_draft(self, label: str) -> None:
        """Remove the draft of a label's answers, and their file if no line names it.

        Otherwise its length would reveal something of a draw that nobody has seen.
        """
        with suppress(OSError, BudgetError):
            draft = Path(self._label_path(label, "draft"))
            digest = _digest(draft.read_bytes())
            if digest.encode() not in self._lines().raw:
                Path(self._beside(f"{digest}.answers")).unlink(missing_ok=True)
            draft.unlink()

    def _text(self, outcome: Outcome) -> str | None:
        if outcome.beside is None:
            return outcome.text
        digest, key = outcome.beside
        path = self._beside(f"{digest}.answers")
        with _budget_errors(f"the file of answers {path!r}"):
            sealed = Path(path).read_bytes()
        if _digest(sealed) != digest:
            raise BudgetError(f"the file of answers {path!r} was changed: it is not used")
        return _sealed(sealed, bytes.fromhex(key)).decode("ascii")

    def _label_path(self, label: str, ending: str) -> str:
        """Return the path of a file for a label; it is the same for all names of the ledger."""
        words = f"{Path(self.path).stat().st_ino}\0{label}".encode()
        name = hashlib.blake2b(words, digest_size=16, person=LABEL).hexdigest()
        return self._beside(f".budget-{name}.{ending}")

    def _beside(self, name: str) -> str:
        """Return the path of a file in the folder of the ledger, with all links resolved."""
        return str(Path(os.path.realpath(self.path)).parent / name)

    def _lines(self) -> Lines:
        with _budget_errors(self.name), atomic_files.locked(self.path, write=False) as handle:
            return self._read(atomic_files.contents(handle))

    def _append(self, handle: int, lines: Lines, step: Entry | Outcome) -> Charge:
        """Append a line that can be read again, and wait until it is on disk."""
        line = ledger_lines.line(step, lines.check)
        try:
            longer = lines.then(line)
        except ValueError:
            raise BudgetError(
                f"{self.name} was not changed: a line written for it could not be read back; "
                "please report this"
            ) from None
        atomic_files.append(handle, len(lines.raw), line)
        self._known = longer
        return longer.history.of(step.label) or longer.history.charges[-1]

    def _read(self, raw: bytes) -> Lines:
        """Return the complete lines; they must begin with those that this object read before."""
        end, known = raw.rfind(b"\n") + 1, self._known
        try:
            if known is None:
                known = ledger_lines.from_header(raw[: raw.find(b"\n") + 1])
            if not raw.startswith(known.raw):
                raise ValueError("lines that were there are gone or changed")
            known = known.then(raw[len(known.raw) : end])
            known.check_rest(raw[end:])
            self._known = known
        except ledger_lines.OtherVersion:
            raise BudgetError(
                f"{self.name} has a version that this fastexp cannot read (it reads "
                f"version {ledger_lines.VERSION}): use the fastexp that wrote it; nothing is "
                "released"
            ) from None
        except ValueError as error:
            raise _damaged(self.name, str(error)) from None
        return known


def checked_path(value: object) -> str:
    """Return the absolute path of a file."""
    if not isinstance(value, (str, os.PathLike)):
        raise ParameterTypeError(f"path must be text or path-like, got {type(value).__name__}")
    plain = os.fspath(value)
    if not isinstance(plain, str) or not plain or "\0" in plain:
        raise ParameterError("path must be the name of a file")
    return str(Path(plain).absolute())


def exists(path: str) -> bool:
    """Return whether anything exists at a path."""
    with _budget_errors(_name(path)):
        try:
            os.stat(path)  # noqa: PTH116  # Path.exists may hide a refused access
        except FileNotFoundError:
            return False
    return True


def create(path: str, terms: Terms) -> None:
    """Create a budget file that only its user can read, unless one exists by now.

    It appears with a complete header or not at all.
    """
    with _budget_errors(_name(path)), suppress(FileExistsError):
        atomic_files.create(path, ledger_lines.header(terms))


INTERRUPTED = (KeyboardInterrupt, SystemExit, GeneratorExit)


def _drawn(draw: Callable[[], Any], width: int) -> tuple[str, None] | tuple[None, BaseException]:
    """Return the answers as text, or the error of drawing them.

    An interrupt from outside is not a failure: it does not depend on the records, and leaves the
    charge as a killed process does.
    """
    try:
        return answer_text.text(draw(), width), None
    except INTERRUPTED:
        raise
    except BaseException as error:
        return None, error


def _is_drawing() -> bool:
    """Return whether this thread is in the draw of a label, by its stack."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code is not _drawn.__code__:
        frame = frame.f_back
    return frame is not None


def _clear_frames(error: BaseException, before: BaseException | None) -> None:
    """Clear the frames of an error, and of the errors that led to it since `before`."""
    link: BaseException | None = error
    while link is not None and link is not before:
        traceback.clear_frames(link.__traceback__)
        link = link.__context__


def _digest(sealed: bytes) -> str:
    """Return the digest that names and identifies a file of answers."""
    return hashlib.blake2b(sealed, digest_size=32).hexdigest()


def _sealed(data: bytes, key: bytes) -> bytes:
    """Encrypt or decrypt data with the stream of a key."""
    stream = hashlib.shake_256(key).digest(len(data))
    return np.bitwise_xor(np.frombuffer(data, np.uint8), np.frombuffer(stream, np.uint8)).tobytes()


@contextmanager
def _budget_errors(name: str, detail: str = "") -> Iterator[None]:
    """Raise a BudgetError for an error of the operating system: nothing is released."""
    try:
        yield
    except atomic_files.NotRegular:
        raise BudgetError(f"{name} is not a regular file") from None
    except OSError as error:
        reason = error.strerror or "system error"
        raise BudgetError(f"{name} cannot be used: {reason}{detail}") from None


def _name(path: str) -> str:
    return f"the budget file {path!r}"


def _damaged(name: str, why: str) -> BudgetError:
    return BudgetError(f"{name} is damaged, or not a budget: {why}; nothing is released")
