"""Files that are complete or absent, and locks that end with their process.

A lock is one of the operating system, on an open file, so that its holder may be killed at any
moment. Each caller opens the file anew: threads exclude each other as processes do. A forked child
closes the locked files of its parent, as the lock would otherwise last as long as the child.
"""

from __future__ import annotations

import io
import os
import secrets
import stat
import sys
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

BINARY = getattr(os, "O_BINARY", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # and no wait for a FIFO
NEW = os.O_CREAT | os.O_EXCL | os.O_WRONLY | BINARY
LOCK_AT = 1 << 40  # the byte that Windows locks, far beyond the end of the file
LOCKED_FILES: weakref.WeakSet[io.FileIO] = weakref.WeakSet()  # or waiting for a lock
PAUSE = 0.02  # seconds between attempts if the system cannot wait for a lock


class NotRegular(OSError):
    """The path is not a regular file."""


@contextmanager
def locked(path: str, *, write: bool) -> Iterator[int]:
    """Open the file at `path` under a lock, which is exclusive for writing."""
    if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116  # beside fstat
        raise NotRegular
    with _holding(path, (os.O_RDWR | os.O_APPEND) if write else os.O_RDONLY, write) as handle:
        yield handle


@contextmanager
def exclusive_lock(path: str) -> Iterator[None]:
    """Exclude other callers by a lock on an empty file, which is then removed."""
    with _holding(path, os.O_RDWR | os.O_CREAT, exclusive=True):
        process = os.getpid()
        try:
            yield
        finally:
            if os.getpid() == process:
                with suppress(OSError):  # Windows: it is open
                    Path(path).unlink()  # whoever waits for it notices that it is gone


def is_held(path: str) -> bool:
    """Return whether a file is locked; False if it does not exist."""
    try:
        handle = os.open(path, os.O_RDWR | BINARY | NO_LINK)
    except OSError:
        return False
    with io.FileIO(handle) as file:
        return not stat.S_ISREG(os.fstat(handle).st_mode) or not lock_until_closed(file)


def lock_until_closed(file: io.FileIO) -> bool:
    """Lock an open file until it is closed; False if it is locked or cannot be locked."""
    LOCKED_FILES.add(file)
    try:
        return _try_lock(file.fileno())
    except OSError:
        return False


@contextmanager
def _holding(path: str, flags: int, exclusive: bool) -> Iterator[int]:
    """Open and lock the file at `path`; if it was replaced meanwhile, the new one.

    The handle belongs to an object that closes it, and so releases the lock, when the object has
    no reference left, even if an interrupt comes at any moment.
    """
    process = os.getpid()
    while True:
        with io.FileIO(os.open(path, flags | BINARY, 0o600)) as file:
            LOCKED_FILES.add(file)
            try:
                _lock(file.fileno(), exclusive=exclusive)
                if _is_at(path, file.fileno()):
                    yield file.fileno()
                    return
            finally:
                if os.getpid() == process:  # a forked child has closed it; the lock stays
                    with suppress(OSError):  # the data are on disk in any case
                        _unlock(file.fileno())
                    with suppress(OSError):
                        file.close()


def _is_at(path: str, handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))  # noqa: PTH116  # beside fstat
    except FileNotFoundError:
        return False


def _leave_locks() -> None:
    """Close the locked files of the parent, first thing in a forked child."""
    for file in LOCKED_FILES:
        with suppress(OSError):
            file.close()
    LOCKED_FILES.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_locks)

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int, *, exclusive: bool) -> None:  # noqa: ARG001  # Windows has one kind
        while not _try_lock(handle):  # LK_LOCK would give up after a while
            time.sleep(PAUSE)

    def _try_lock(handle: int) -> bool:
        os.lseek(handle, LOCK_AT, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError:  # it is locked
            return False
        return True

    def _unlock(handle: int) -> None:
        os.lseek(handle, LOCK_AT, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

    def sync(handle: int) -> None:
        """Wait until all data written are on disk."""
        os.fsync(handle)

    def sync_folder(folder: str) -> None:
        """Do nothing: Windows cannot sync a folder."""

else:
    import fcntl

    def _lock(handle: int, *, exclusive: bool) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)

    def sync(handle: int) -> None:
        """Wait until all data written are on disk."""
        full: int | None = getattr(fcntl, "F_FULLFSYNC", None)
        if full is not None:  # macOS: also empties the cache of the drive
            fcntl.fcntl(handle, full)
        else:
            os.fsync(handle)

    def sync_folder(folder: str) -> None:
        """Wait until the names in a folder are on disk."""
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def contents(handle: int) -> bytes:
    """Return all bytes of an open file."""
    os.lseek(handle, 0, os.SEEK_SET)
    with io.FileIO(handle, closefd=False) as file:
        return file.readall()


def append(handle: int, length: int, line: bytes) -> None:
    """Write a line to disk after the first `length` bytes; if that fails, cut it off again."""
    try:
        if os.fstat(handle).st_size > length:
            os.ftruncate(handle, length)
        write(handle, line)
    except OSError:
        with suppress(OSError):  # if this fails, too, the line remains
            os.ftruncate(handle, length)
            os.fsync(handle)
        raise


def write(handle: int, data: bytes) -> None:
    """Write all data, and wait until they are on disk."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]
    sync(handle)


def create(path: str, data: bytes, kept_draft: str | None = None) -> None:
    """Create a file, for its user alone, complete and on disk; FileExistsError if it exists.

    It is written under another name first: `kept_draft`, if this name is to stay.
    """
    folder = str(Path(path).parent)
    draft = kept_draft or str(Path(folder) / f".budget-{secrets.token_hex(8)}")
    handle = os.open(draft, NEW, 0o600)
    try:
        try:
            write(handle, data)
        finally:
            os.close(handle)
        _publish(draft, path, data)
    finally:
        if kept_draft is None:
            Path(draft).unlink(missing_ok=True)
        sync_folder(folder)


def _publish(draft: str, path: str, data: bytes) -> None:
    try:
        os.link(draft, path)  # fails if the file exists, as O_EXCL does
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # a file system without links
        handle = os.open(path, NEW, 0o600)
        try:
            write(handle, data)
        except OSError:
            Path(path).unlink()
            raise
        finally:
            os.close(handle)
