"""The lines of a budget in a SQLite database: its terms, then charges and their outcomes.

Lines are only added. Each has the sums so far, and a seal: a digest of itself and of the seal
before it. SQLite has the locks between processes and threads, and atomic commits on disk. A line
is added in one transaction of milliseconds; none is open while data are read or drawn.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sqlite3
import struct
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..errors import BudgetError, BudgetExceeded
from .guarantee import down

FORMAT, VERSION = "fastexp budget", 5
SUMS = Context(prec=2000, Emin=-9999, Emax=9999, traps=[Inexact])  # sums of decimals are exact
LINES = "create table lines(id integer primary key, label text, body text, seal text)"
LABELS = "create index labels on lines(label)"
TIMEOUT = 600  # seconds, to wait for others
LOCKS = fcntl.F_WRLCK, fcntl.F_UNLCK
EARLIER = b'{"format": "fastexp budget"'
Line = dict[str, Any]
Cost = tuple[str, str]  # of the unit and of delta, as they print
FREE = "0", "0"
_drawing = threading.local()


class Ledger:
    """The lines of one budget, in a file or in memory."""

    def __init__(self, path: str | None, terms: Line) -> None:
        self.path, self.name = path, "the budget" if path is None else f"the budget file {path!r}"
        self._process, self._lock = os.getpid(), threading.RLock()
        self._labels: dict[str, threading.Lock] = {}
        self._memory = None
        if path is None:
            self._memory = sqlite3.connect(
                ":memory:", isolation_level=None, check_same_thread=False
            )
            self._begin(self._memory, terms)
        elif terms:
            self._create(path, terms)
        self.terms: Line = {}
        self.all()

    def __del__(self) -> None:
        """Close what is in memory: Python 3.13 warns of a database that was not closed."""
        if self._memory is not None:
            self._memory.close()

    def _begin(self, db: sqlite3.Connection, terms: Line) -> None:
        db.execute(LINES)
        db.execute(LABELS)
        first = {"format": FORMAT, "version": VERSION, **terms, "spent": ["0", "0"]}
        _append(db, None, first)

    def _create(self, path: str, terms: Line) -> None:
        """Create a file that only its user can read, unless there is one; complete or not at all.

        Its number on the disk is in its terms: a copy of the file has another one.
        """
        try:
            if Path(path).exists():
                return
            handle, draft = tempfile.mkstemp(dir=Path(path).parent, prefix=".budget-")
            os.close(handle)
            try:
                with closing(sqlite3.connect(draft)) as db, db:
                    db.execute("pragma synchronous=full")
                    self._begin(db, {**terms, "inode": Path(draft).stat().st_ino})
                with self._held(""):  # a link to the draft would be a second name for a moment
                    if not os.path.lexists(path):
                        Path(draft).rename(path)
            finally:
                Path(draft).unlink(missing_ok=True)
            folder = os.open(Path(path).parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        except (OSError, sqlite3.Error) as error:
            raise BudgetError(f"{self.name} cannot be created: {error}") from None

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """Give the lines to one caller at a time; what it adds is on disk when the block ends."""
        if self._memory is not None and os.getpid() != self._process:
            raise BudgetError(
                "a budget in memory belongs to the process that made it, not to one forked from it "
                "(each would spend all of it): use Budget.file"
            )
        try:
            if self._memory is None:
                with closing(self._connected()) as db, _transaction(db):
                    self._look(db)
                    yield db
            else:
                with self._lock, _transaction(self._memory):
                    self._look(self._memory)
                    yield self._memory
        except (sqlite3.Error, OSError) as error:
            raise BudgetError(
                f"{self.name} cannot be used: {error}; {self._remedy(str(error))}"
            ) from None

    def _connected(self) -> sqlite3.Connection:
        """Open the file, which must be there, by SQLite alone: other handles drop its locks."""
        where = Path(self.path or "")
        if where.is_dir():
            raise BudgetError(f"{self.name} is a directory")
        if not where.is_file():
            raise BudgetError(f"{self.name} is not there; Budget.file(path, epsilon=...) makes one")
        return sqlite3.connect(
            f"{where.as_uri()}?mode=rw", uri=True, timeout=TIMEOUT, isolation_level=None
        )

    def _look(self, db: sqlite3.Connection) -> None:
        """Read the terms, after a check that the file is the one that was opened, and no copy."""
        (terms,) = self.lines(db, 1, 1)
        if (terms.get("format"), terms.get("version")) != (FORMAT, VERSION):
            raise self._damaged("its first line is another one")
        if terms != (self.terms or terms):
            raise BudgetError(f"{self.name} was replaced by another one: open that one")
        self.terms = terms
        state = Path(self.path).stat() if self.path else None
        if state and (state.st_nlink, state.st_ino) != (1, terms["inode"]):
            # SQLite finds the journal of a death by one name: by another, charges would be lost.
            raise BudgetError(
                f"{self.name} is a copy, and each copy would spend all of it, or has a second name "
                "(a hard link): use the first file, and remove the other; or make a budget in "
                "another file and charge there what was spent"
            )

    def _remedy(self, error: str) -> str:
        """Return what to do. What is no database has no locks that an ordinary open could drop."""
        if self.path and "not a database" in error:
            with suppress(OSError), Path(self.path).open("rb") as file:
                if file.read(len(EARLIER)) == EARLIER:
                    return (
                        "an earlier fastexp wrote it: make a budget in another file, and charge "
                        "there, by budget.charge(fx.Guarantee(...)), the sum that the earlier "
                        "fastexp shows as spent"
                    )
        return "if it is no budget or damaged, nothing is released from it"

    def lines(self, db: sqlite3.Connection, first: int, last: int) -> list[Line]:
        """Return lines of consecutive numbers, after a check of their seals."""
        query = "select label, body, seal from lines where id between ? and ? order by id"
        rows = db.execute(query, (first - 1, last)).fetchall()
        seal = rows.pop(0)[2] if first > 1 and rows else ""
        found = []
        for i, (label, body, own) in enumerate(rows, first):
            seal = _sealed(seal, label, body)
            if own != seal:
                raise self._damaged(f"line {i} was changed")
            found.append(json.loads(body) | {"label": label})
        if len(found) != last - first + 1:
            raise self._damaged("lines are missing")
        return found

    def _last(self, db: sqlite3.Connection) -> int:
        """Return the number of lines."""
        query = "select max(id), user_version from lines, pragma_user_version"
        ((last, counted),) = db.execute(query)
        if not last or last != counted:
            raise self._damaged("lines are missing")
        return int(last)

    def all(self) -> list[Line]:
        """Return all lines, after a check of the whole file."""
        with self.open() as db:
            return self.lines(db, 1, self._last(db))

    def spent(self, db: sqlite3.Connection) -> list[Decimal]:
        """Return the exact sums of all charges: of the unit, and of delta."""
        last = self._last(db)
        (line,) = self.lines(db, last, last)
        return [Decimal(text) for text in line["spent"]]

    def add(self, db: sqlite3.Connection, label: str | None, line: Line, cost: Cost = FREE) -> None:
        """Add a line in an open transaction, if the limits cover its cost."""
        limits, sums = zip((self.terms["unit"], "delta"), self.terms["limits"], strict=True), []
        for (unit, limit), before, price in zip(limits, self.spent(db), cost, strict=True):
            after = SUMS.add(before, Decimal(price))
            if after > Decimal(limit):
                raise BudgetExceeded(
                    f"the release costs {price} of {unit}, but only "
                    f"{down(Fraction(limit) - Fraction(before))} of the budget of {limit} remains; "
                    "nothing was drawn or charged"
                )
            sums.append(str(after))
        _append(db, label, {**line, "cost": cost, "spent": sums})

    def of(self, db: sqlite3.Connection, label: str) -> list[Line]:
        """Return the charge under a label, and its outcome; or those that there are."""
        ids = db.execute("select id from lines where label = ? order by id", (label,)).fetchall()
        return [line for (number,) in ids for line in self.lines(db, number, number)]

    def settle(self, label: str, line: Line) -> Line:
        """Add the outcome of an open charge, and return it; or return the one that there is."""
        with self.open() as db:
            last = self.of(db, label)[-1]
            if last["state"] != "open":
                return last
            self.add(db, label, line)
            return line

    def _damaged(self, why: str) -> BudgetError:
        return BudgetError(f"{self.name} is damaged or no budget: {why}; nothing is released")

    @contextmanager
    def alone(self, label: str) -> Iterator[None]:
        """Let only this caller draw under a label; others with this label wait."""
        if getattr(_drawing, "is_on", False):
            raise BudgetError(
                f"label {label!r}: a release with a label cannot start inside the draw of another "
                "one (each could wait for the other)"
            )
        with self._held(label):
            try:  # an interrupt between the two would refuse this thread for good
                _drawing.is_on = True
                yield
            finally:
                _drawing.is_on = False

    @contextmanager
    def _held(self, label: str) -> Iterator[None]:
        """Hold the lock of a label: in a file, that of one byte of a file beside it.

        The lock belongs to the open file, so that threads exclude each other as processes do; it
        ends with the process. It is dropped by name, as a forked child has the open file too.
        """
        if self.path is None:
            with self.open():  # refuses a forked child, which may have a lock that nobody drops
                lock = self._labels.setdefault(label, threading.Lock())
            with lock:
                yield
            return
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            handle = os.open(f"{os.path.realpath(self.path)}-labels", flags, 0o600)
        except OSError as error:
            raise BudgetError(f"{self.name}: its file of locks cannot be used: {error}") from None
        byte = int.from_bytes(hashlib.blake2b(label.encode(), digest_size=7).digest(), "little")
        locked, free = (struct.pack("hhqqi", kind, 0, byte, 1, 0) for kind in LOCKS)
        try:
            fcntl.fcntl(handle, fcntl.F_OFD_SETLKW, locked)
            yield
        finally:
            fcntl.fcntl(handle, fcntl.F_OFD_SETLK, free)
            os.close(handle)


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("pragma journal_mode=truncate")  # others can lose a charge at a power failure
    db.execute("pragma synchronous=full")
    db.execute("begin immediate")
    try:
        yield
        db.execute("commit")
    finally:
        db.rollback()  # unless it was committed


def _append(db: sqlite3.Connection, label: str | None, line: Line) -> None:
    before = db.execute("select id, seal from lines order by id desc limit 1").fetchone()
    number, seal = before or (0, "")
    body = json.dumps(line | {"time": datetime.now(UTC).isoformat(timespec="seconds")})
    row = number + 1, label, body, _sealed(seal, label, body)
    db.execute("insert into lines values (?, ?, ?, ?)", row)
    db.execute(f"pragma user_version={number + 1}")


def _sealed(seal: str, label: str | None, body: str) -> str:
    return hashlib.blake2b(f"{seal!r}{label!r}{body!r}".encode(), digest_size=16).hexdigest()
