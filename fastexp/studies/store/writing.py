"""How a results folder is written: lines with checksums, whole files, a lock."""

from __future__ import annotations

import contextlib
import io
import json
import os
import zlib
from pathlib import Path

from ...budget.atomic_files import lock_until_closed
from ...errors import StudyError
from ..sums.totals import NOT_FINITE, TaskResult

FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)


def line_of(result: TaskResult) -> bytes:
    """A result as a line of the file. Floats are written so that they read back the same."""
    try:
        text = json.dumps(result, separators=(",", ":"), allow_nan=False).encode()
    except ValueError:
        raise StudyError(NOT_FINITE) from None
    return text + b"\t%08x\n" % zlib.crc32(text)


def parsed(line: bytes) -> TaskResult | None:
    """The result in a line; None if it is damaged."""
    text, _, check = line.rstrip(b"\n").rpartition(b"\t")
    try:
        return dict(json.loads(text)) if int(check, 16) == zlib.crc32(text) else None
    except (ValueError, TypeError):
        return None


def publish(path: Path, content: bytes) -> None:
    """Write a whole file or nothing. Only who holds the folder's lock does so."""
    draft = draft_of(path)
    try:
        draft.write_bytes(content)
        draft.replace(path)
    except OSError as error:
        raise unwritten(path, error) from None
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def draft_of(path: Path) -> Path:
    """Where a file is written before it takes its place; the next draft goes over it."""
    return path.with_name(f".{path.name}.draft")


def unwritten(path: Path, error: OSError) -> StudyError:
    """The error of a disk that is full, or a folder that must not be written."""
    reason = error.strerror or "system error"
    return StudyError(f"{path} cannot be written: {reason}; finished tasks are kept")


def locked(path: Path) -> io.FileIO:
    """The file of tasks, for this process alone; the system unlocks it when it ends."""
    file = io.FileIO(os.open(path, FLAGS, 0o666), "r+")
    if not lock_until_closed(file):
        file.close()
        raise StudyError(f"{path.parent} is in use: another run writes to it")
    file.seek(0)
    return file
