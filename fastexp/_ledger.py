"""Where a budget keeps what was spent: in memory, or in a file that outlives the process.

A file is JSON lines: a header with the limit, then a line a charge. Nothing is ever rewritten.
A charge locks the file, reads it again, checks, appends a line and waits until the line is on
disk; only then may randomness be drawn. A process that is killed leaves at most a last line
without its end, which nobody has drawn for: the next charge cuts it off. Everything else that
is not as it must be is refused, never taken for an empty file.
"""

from __future__ import annotations

import json
import math
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from .errors import BudgetError, BudgetExceeded
from .privacy import amounts

FORMAT, VERSION = "fastexp budget", 1
UNITS, RELATIONS = ("epsilon", "rho"), ("add-remove", "replace")
Known = tuple[bytes, Fraction, int]  # complete lines, what they spend, how many charges


@dataclass(frozen=True, slots=True)
class Terms:
    """What a budget is of: fixed when it is made."""

    unit: str
    limit: float
    neighbors: str

    def check(self, spent: Fraction, amount: float) -> None:
        """Refuse a charge that the rest does not cover. Amounts are the decimals that print."""
        limit = amounts.exact(self.limit)
        if math.isinf(amount) or spent + amounts.exact(amount) > limit:
            rest = amounts.down(max(limit - spent, Fraction(0)))
            raise BudgetExceeded(
                f"the release costs {amount!r} of {self.unit}, but of the budget of "
                f"{self.limit!r} only {rest!r} remains; nothing was drawn or charged"
            )


class Memory:
    """For one process: threads share it, a forked child may not spend."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._lock, self._process = threading.Lock(), os.getpid()
        self._state = (Fraction(0), 0)

    def state(self) -> tuple[Fraction, int]:
        """What is spent, in how many charges."""
        return self._state

    def charge(self, amount: float, name: str | None) -> None:  # noqa: ARG002  (files keep it)
        """Add a charge, or raise."""
        if os.getpid() != self._process:  # before the lock: another thread may have held it
            raise BudgetError(
                "this budget belongs to the process that made it, not to one forked from it "
                "(each would spend all of it); use Budget.file"
            )
        with self._lock:
            spent, count = self._state
            self.terms.check(spent, amount)
            self._state = (spent + amounts.exact(amount), count + 1)

    def __str__(self) -> str:
        return "Budget("


class File:
    """For many processes. Each access opens the file anew: forks and threads may use it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._known: Known = (b"", Fraction(0), 0)
        self.terms = Terms("", 0.0, "")
        with _locked(path, write=False) as handle:
            raw = _contents(handle)
            self.terms = self._header(raw)
            self._read(raw)

    def state(self) -> tuple[Fraction, int]:
        """What is spent, in how many charges."""
        with _locked(self.path, write=False) as handle:
            _, spent, count = self._read(_contents(handle))
        return spent, count

    def charge(self, amount: float, name: str | None) -> None:
        """Add a charge that is on disk when this returns, or raise."""
        with _locked(self.path, write=True) as handle:
            raw = _contents(handle)
            lines, spent, count = self._read(raw)
            self.terms.check(spent, amount)
            entry = {"charge": repr(amount), "name": name, "time": _now()}
            line = _line(entry)
            try:
                if len(lines) < len(raw):
                    os.ftruncate(handle, len(lines))
                _write(handle, line)
            except OSError:
                with suppress(OSError):  # if this fails too, the charge stands: the safe side
                    os.ftruncate(handle, len(lines))
                    os.fsync(handle)
                raise
            self._known = (lines + line, spent + amounts.exact(amount), count + 1)

    def _read(self, raw: bytes) -> Known:
        """Complete lines and their sum; those that this object has read before must be there."""
        lines = raw[: raw.rfind(b"\n") + 1]
        known, spent, count = self._known
        if not lines.startswith(known):
            raise _damaged(self.path, "lines that were there are gone or changed")
        if not known:
            self._header(raw)
            known = lines[: lines.find(b"\n") + 1]
        for line in lines[len(known) :].splitlines():
            count += 1
            spent += amounts.exact(_charge_of(self.path, line, count + 1))
        self._known = (lines, spent, count)
        return self._known

    def _header(self, raw: bytes) -> Terms:
        first, end, _ = raw.partition(b"\n")
        fields = _fields(first) if end else None
        if fields is None or fields.get("format") != FORMAT:
            raise _damaged(self.path, "its first line is not the header of a budget")
        if fields.get("version") != VERSION:
            raise BudgetError(f"{_called(self.path)} has a version that this fastexp cannot read")
        limit = _decimal(fields.get("limit"))
        unit, neighbors = fields.get("unit"), fields.get("neighbors")
        if not limit or unit not in UNITS or neighbors not in RELATIONS:
            raise _damaged(self.path, "its first line is not the header of a budget")
        return Terms(unit, limit, neighbors)

    def __str__(self) -> str:
        return f"Budget.file({self.path!r}, "


def exists(path: str) -> bool:
    """Whether there is anything at a path."""
    with _told(path):
        try:
            os.stat(path)  # noqa: PTH116  (Path.exists may hide what it was refused)
        except FileNotFoundError:
            return False
    return True


def create(path: str, terms: Terms) -> bool:
    """Make a budget file, for its user alone; False if there is one by now.

    It appears with its header complete or not at all.
    """
    header = {"format": FORMAT, "version": VERSION, "unit": terms.unit, "limit": repr(terms.limit)}
    line = _line({**header, "neighbors": terms.neighbors, "time": _now()})
    folder = str(Path(path).parent)
    with _told(path):
        handle, draft = tempfile.mkstemp(prefix=".budget-", dir=folder)  # mode 0600
        try:
            try:
                _write(handle, line)
            finally:
                os.close(handle)
            return _publish(draft, path, line)
        except FileExistsError:
            return False
        finally:
            Path(draft).unlink(missing_ok=True)
            _sync_folder(folder)


def _publish(draft: str, path: str, line: bytes) -> bool:
    try:
        os.link(draft, path)  # fails where there is a file, as O_EXCL does
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # a file system without links
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY, 0o600)
        try:
            _write(handle, line)
        except OSError:
            Path(path).unlink()
            raise
        finally:
            os.close(handle)
    return True


# ---- lines ----


def _line(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields).encode("ascii") + b"\n"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _fields(line: bytes) -> dict[str, Any] | None:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _charge_of(path: str, line: bytes, number: int) -> float:
    fields = _fields(line)
    amount = None if fields is None else _decimal(fields.get("charge"))
    if amount is None:
        raise _damaged(path, f"line {number} is not a charge")
    return amount


def _decimal(text: Any) -> float | None:
    """A number >= 0 as `repr` writes it, else None."""
    try:
        number = float(text) if isinstance(text, str) else math.nan
    except ValueError:
        return None
    return number if 0.0 <= number < math.inf and repr(number) == text else None


# ---- files ----

_BINARY = getattr(os, "O_BINARY", 0)
_LOCK_AT = 1 << 40  # Windows locks bytes: one far beyond the end


@contextmanager
def _locked(path: str, *, write: bool) -> Iterator[int]:
    """The open file, for this caller alone when writing; it is the one at `path` still."""
    with _told(path):
        while True:
            if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116  (beside fstat)
                raise BudgetError(f"{_called(path)} is not a regular file")
            handle = os.open(path, (os.O_RDWR | os.O_APPEND if write else os.O_RDONLY) | _BINARY)
            try:
                _lock(handle, exclusive=write)
                try:
                    if os.path.samestat(os.fstat(handle), os.stat(path)):  # noqa: PTH116
                        yield handle
                        return
                finally:
                    _unlock(handle)
            finally:
                os.close(handle)


@contextmanager
def _told(path: str) -> Iterator[None]:
    """What the system refuses, as a BudgetError: nothing is released."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or "system error"
        raise BudgetError(f"{_called(path)} cannot be used: {reason}") from None


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int, *, exclusive: bool) -> None:  # noqa: ARG001  (Windows has one kind)
        os.lseek(handle, _LOCK_AT, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # tries for ten seconds

    def _unlock(handle: int) -> None:
        os.lseek(handle, _LOCK_AT, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

    def _sync(handle: int) -> None:
        os.fsync(handle)

    def _sync_folder(folder: str) -> None:
        """Windows cannot."""

else:
    import fcntl

    def _lock(handle: int, *, exclusive: bool) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)  # also where a fork has inherited the handle

    def _sync(handle: int) -> None:
        if hasattr(fcntl, "F_FULLFSYNC"):  # macOS: through the drive's own cache
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
        else:
            os.fsync(handle)

    def _sync_folder(folder: str) -> None:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _contents(handle: int) -> bytes:
    os.lseek(handle, 0, os.SEEK_SET)
    parts = []
    while part := os.read(handle, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _write(handle: int, line: bytes) -> None:
    """All of it, and on disk."""
    while line:
        line = line[os.write(handle, line) :]
    _sync(handle)


def _called(path: str) -> str:
    return f"the budget file {path!r}"


def _damaged(path: str, why: str) -> BudgetError:
    return BudgetError(f"{_called(path)} is damaged, or is no budget: {why}; nothing is released")
