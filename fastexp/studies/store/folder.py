"""The results of a run, in memory or in a folder.

    study.json    the study, its key, versions and CPU
    tasks.jsonl   a line for each task, in the order in which they finished: JSON, a tab, CRC-32
    table.csv, table.json    when all tasks are finished

A line counts if it is complete and its checksum is right. If a crash or a full disk left bytes
after the last complete line, they are cut off when the folder is opened again. A damaged line
counts as missing, and its task is run again.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from ...budget.atomic_files import lock_until_closed
from ...errors import ParameterError, StudyError
from ..design.code import CODE_DIFFERS, imported, replaced, written_codes
from ..design.design import Design
from ..design.settings import without_paths
from ..sums.totals import FOREIGN_RESULT, NOT_FINITE, TaskResult, Totals
from . import machine

D = TypeVar("D", bound=Design)
STUDY, TASKS = "study.json", "tasks.jsonl"


class Progress:
    """Totals, and which tasks are finished. Memory does not grow with the number of data sets."""

    def __init__(self, study: Design) -> None:
        self.study, self.totals, self.done = study, Totals(study), bytearray(study.tasks)
        self.finished: int = 0

    def add(self, result: TaskResult) -> None:
        """Add the result of a task to the totals, unless it is there already."""
        try:
            number = int(result["task"])
            if not 0 <= number < len(self.done):
                raise StudyError(FOREIGN_RESULT)
            if not self.done[number]:
                self.totals.add(result, number // self.study.blocks)
                self.done[number] = True
                self.finished += 1
        except (KeyError, TypeError, AttributeError):
            raise StudyError(FOREIGN_RESULT) from None

    def read(self, lines: Iterable[bytes]) -> int:
        """Add the results of complete, undamaged lines; return the end of the last complete one."""
        end = 0
        for line in lines:
            if line.endswith(b"\n"):
                end += len(line)
                result = parsed(line)
                if result is not None:
                    Progress.add(self, result)  # without writing the line again
        return end

    def close(self) -> None:
        """Nothing to close."""


class Folder(Progress):
    """A run in a folder: results are appended to a file before they count."""

    def __init__(self, path: Path, study: Design) -> None:
        super().__init__(study)
        self.path = path
        self._file = locked(path / TASKS)
        try:
            lines = io.BufferedReader(self._file)
            end = self.read(lines)
            lines.detach()
            self._file.truncate(end)  # cut off what follows the last complete line
            self._file.seek(end)
        except BaseException:
            self._file.close()
            raise

    def add(self, result: TaskResult) -> None:
        """Write a task's line, then count it."""
        start, rest = self._file.tell(), memoryview(line_of(result))
        try:
            while rest:
                rest = rest[self._file.write(rest) or 0 :]  # an unbuffered file may write a part
        except OSError as error:
            raise unwritten(self.path / TASKS, error) from None
        finally:
            if rest:  # a part of a line would spoil the next one
                with contextlib.suppress(OSError):
                    self._file.truncate(start)
                self._file.seek(start)
        super().add(result)

    def close(self) -> None:
        """Release the folder."""
        self._file.close()


def create(path: Path, study: Design) -> Folder:
    """Make a results folder; a folder that exists must be empty."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        _check_empty(path)
        store = Folder(path, study)
    except OSError as error:
        reason = error.strerror or "system error"
        raise ParameterError(
            f"out must be a folder that can be written to, got {path}: {reason}"
        ) from None
    try:
        _check_empty(path)  # a run that began at the same time may have finished by now
        description = {
            "study": study.to_dict(),
            "key": study.key,
            "versions": machine.versions(),
            "machine": machine.described(),
        }
        publish(path / STUDY, json.dumps(description, indent=1).encode() + b"\n")
    except BaseException:
        store.close()
        raise
    return store


def _check_empty(path: Path) -> None:
    """Refuse a folder that is not empty; the leftovers of a run that did not begin do not count."""
    empty = {TASKS, draft_of(path / STUDY).name}
    if any(p.name not in empty or (p.name == TASKS and p.stat().st_size) for p in path.iterdir()):
        raise ParameterError(
            f"out must be a new or an empty folder, got {path}; to continue a study there, resume "
            "it"
        )


def opened(path: Path, kind: type[D], study: D | None = None, allow_import: bool = False) -> Folder:
    """Open the folder of a study to continue it; it must be that of `study`, if that is given."""
    expected = study_of(path, kind, study, allow_import)
    try:
        return Folder(path, expected)
    except OSError as error:
        raise unwritten(path, error) from None


def read(path: Path, study: Design) -> Progress:
    """Return the results in a folder; another run may be writing to it."""
    progress = Progress(study)
    try:
        with (path / TASKS).open("rb") as file:
            progress.read(file)
    except FileNotFoundError:
        pass  # it was stopped before its first task
    except OSError as error:
        raise StudyError(f"{path / TASKS} cannot be read: {error.strerror}") from None
    return progress


def study_of(path: Path, kind: type[D], study: D | None = None, allow_import: bool = False) -> D:
    """Return the study of a folder; refuse one of another version, or one that is not `study`."""
    settings, key = _description(path)
    if study is not None:
        compare(path, settings, study.to_dict())
    elif allow_import:
        version = settings.get("version", "")
        settings = replaced(settings, lambda name, digest: imported(name, digest, version))
    try:
        described = kind(**settings) if study is None else study
    except TypeError:
        described = None
    if described is None or described.key != key:
        raise StudyError(f"{path / STUDY} is damaged: its key is not that of its study")
    return described


def _description(path: Path) -> tuple[dict[str, Any], str]:
    try:
        content = json.loads((path / STUDY).read_bytes())
        versions, key = dict(content["versions"]), str(content["key"])
        settings = dict(content["study"])
    except (OSError, ValueError, KeyError, TypeError):
        raise StudyError(f"{path} is not the results folder of a study") from None
    for name, version in machine.versions().items():
        if name in ("fastexp", "numpy") and versions.get(name) != version:
            raise StudyError(
                f"{path} was made with {name} {versions.get(name)}, this is {version}: continue "
                "with that version, or run the study again"
            )
    return settings, key


def compare(path: Path, there: dict[str, Any], here: dict[str, Any]) -> None:
    """Refuse a folder of another study; the message lists settings that differ, as 1 and 1.0 do."""
    old, new = (
        without_paths(replaced(settings, lambda name, _: name)) for settings in (there, here)
    )
    lines = [
        f"\n  {key}: {old.get(key)!r} there, {new.get(key)!r} here"
        for key in sorted({*old, *new})
        if repr(old.get(key)) != repr(new.get(key))
    ]
    if lines:
        raise StudyError(f"{path} holds another study:{''.join(lines)}")
    codes = {code["code"] for code in written_codes(here) if code not in written_codes(there)}
    if codes:
        raise StudyError(CODE_DIFFERS.format(", ".join(sorted(codes))))


FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)


def line_of(result: TaskResult) -> bytes:
    """Return a result as a line of the file. Floats are read back unchanged."""
    try:
        text = json.dumps(result, separators=(",", ":"), allow_nan=False).encode()
    except ValueError:
        raise StudyError(NOT_FINITE) from None
    return text + b"\t%08x\n" % zlib.crc32(text)


def parsed(line: bytes) -> TaskResult | None:
    """Return the result in a line; None if the line is damaged."""
    text, _, check = line.rstrip(b"\n").rpartition(b"\t")
    try:
        return dict(json.loads(text)) if int(check, 16) == zlib.crc32(text) else None
    except (ValueError, TypeError):
        return None


def publish(path: Path, content: bytes) -> None:
    """Write a file completely or not at all. The caller must hold the folder's lock."""
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
    """Return the path of a file's draft, which replaces the file; drafts overwrite each other."""
    return path.with_name(f".{path.name}.draft")


def unwritten(path: Path, error: OSError) -> StudyError:
    """Return the error for a full disk, or a folder that this process must not write to."""
    reason = error.strerror or "system error"
    return StudyError(f"{path} cannot be written: {reason}; finished tasks are kept")


def locked(path: Path) -> io.FileIO:
    """Open and lock the file of tasks; the lock ends with the process at the latest."""
    file = io.FileIO(os.open(path, FLAGS, 0o666), "r+")
    if not lock_until_closed(file):
        file.close()
        raise StudyError(f"{path.parent} is in use: another run writes to it")
    file.seek(0)
    return file
