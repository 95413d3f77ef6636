"""The results of a run, in memory, or in a folder: a line a finished task, at the end the table.

    study.json    the study, its key, versions and CPU
    tasks.jsonl   a task a line: JSON, a tab, CRC-32; the order is that in which they finished
    table.csv, table.json    when all tasks are done

A line counts if it is whole and its checksum is right. Whatever a crash or a full disk left
after the last whole line is cut off when the folder is opened again; a line that is damaged
is as good as missing, and its task is run again.
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
    """Totals, and which tasks are done: memory does not grow with the data sets' results."""

    def __init__(self, study: Design) -> None:
        self.study, self.totals, self.done = study, Totals(study), bytearray(study.tasks)
        self.finished: int = 0

    def add(self, result: TaskResult) -> None:
        """Count a task's result, once."""
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
        """Count the results of whole lines that are not damaged; gives where the last one ends."""
        end = 0
        for line in lines:
            if line.endswith(b"\n"):
                end += len(line)
                result = parsed(line)
                if result is not None:
                    Progress.add(self, result)  # it is written
        return end

    def close(self) -> None:
        """Nothing to close."""


class Folder(Progress):
    """A run whose results are appended to a file before they count."""

    def __init__(self, path: Path, study: Design) -> None:
        super().__init__(study)
        self.path = path
        self._file = locked(path / TASKS)
        try:
            lines = io.BufferedReader(self._file)
            end = self.read(lines)
            lines.detach()
            self._file.truncate(end)  # what follows the last line
            self._file.seek(end)
        except BaseException:
            self._file.close()
            raise

    def add(self, result: TaskResult) -> None:
        """Write a task's line, then count it."""
        start, rest = self._file.tell(), memoryview(line_of(result))
        try:
            while rest:
                rest = rest[self._file.write(rest) or 0 :]  # unbuffered: may write a part
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
    """A new results folder; one that exists must be empty."""
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
        _check_empty(path)  # of two runs that begin at once the other may be done by now
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
    """Refuse a folder that holds something; a run that was killed as it began left nothing."""
    empty = {TASKS, draft_of(path / STUDY).name}
    if any(p.name not in empty or (p.name == TASKS and p.stat().st_size) for p in path.iterdir()):
        raise ParameterError(
            f"out must be a new or an empty folder, got {path}; to go on with a study there, "
            "resume it"
        )


def opened(path: Path, kind: type[D], study: D | None = None, allow_import: bool = False) -> Folder:
    """The folder of a study to go on with: of `study`, if that is given."""
    expected = study_of(path, kind, study, allow_import)
    try:
        return Folder(path, expected)
    except OSError as error:
        raise unwritten(path, error) from None


def read(path: Path, study: Design) -> Progress:
    """What is in a folder now; another run may be writing to it."""
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
    """The study of a folder; refused if it is of another version, or is not `study`."""
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
                f"{path} was made with {name} {versions.get(name)}, this is {version}: go on with "
                "that version, or run the study anew"
            )
    return settings, key


def compare(path: Path, there: dict[str, Any], here: dict[str, Any]) -> None:
    """Refuse a folder of another study, with the settings that differ (1 and 1.0 do)."""
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
