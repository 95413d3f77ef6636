"""The results folder: what is studied, a line for each finished task, at the end the table.

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
from pathlib import Path
from typing import Any

from ...errors import ParameterError, StudyError
from ..design.settings import placeless
from . import machine
from .progress import Progress
from .written import draft_of, line_of, locked, publish, results_in, unwritten

__all__ = ["Folder", "Progress", "compare", "create", "described", "opened", "publish", "read"]

STUDY, TASKS, FORMAT = "study.json", "tasks.jsonl", 1


class Folder(Progress):
    """The same, with each result appended to a file before it counts."""

    def __init__(self, path: Path, study: Any) -> None:
        super().__init__(study)
        self.path = path
        self._file = locked(path / TASKS)
        try:
            self._read()
        except BaseException:
            self._file.close()
            raise

    def _read(self) -> None:
        """Take in all whole lines, and cut off what follows the last one."""
        end = 0
        lines = io.BufferedReader(self._file)
        for result, after in results_in(lines):
            self.read(result)
            end = after
        lines.detach()
        self._file.truncate(end)
        self._file.seek(end)

    def add(self, result: dict[str, Any]) -> None:
        """Write a task's line, then count it."""
        if self.has(int(result["task"])):
            return
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
        self.count(result)

    def close(self) -> None:
        """Release the folder."""
        self._file.close()


def create(path: Path, study: Any) -> Folder:
    """A new results folder; one that exists must be empty."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        _vacant(path)
        store = Folder(path, study)
    except OSError as error:
        raise ParameterError(f"out cannot be written: {error.strerror or 'system error'}") from None
    try:
        _vacant(path)  # of two runs that begin at once the other may be done by now
        told = {
            "study": study.to_dict(),
            "key": study.key,
            "format": FORMAT,
            "versions": machine.versions(),
            "machine": machine.described(),
        }
        publish(path / STUDY, json.dumps(told, indent=1).encode() + b"\n")
    except BaseException:
        store.close()
        raise
    return store


def _vacant(path: Path) -> None:
    """Refuse a folder that holds something; a run that was killed as it began left nothing."""
    empty = {TASKS, draft_of(path / STUDY).name}
    if any(p.name not in empty or (p.name == TASKS and p.stat().st_size) for p in path.iterdir()):
        raise ParameterError(
            f"out must be a new or an empty folder, got {path}; to go on with a study there, "
            "resume it"
        )


def opened(path: Path, study: Any | None) -> Folder:
    """The folder of a study that is gone on with; refused where it is of another one."""
    study = _own(path, study)
    try:
        return Folder(path, study)
    except OSError as error:
        raise unwritten(path, error) from None


def read(path: Path, study: Any | None = None) -> Progress:
    """What is in a folder now; another run may be writing to it."""
    found = Progress(_own(path, study))
    try:
        with (path / TASKS).open("rb") as file:
            for result, _ in results_in(file):
                found.read(result)
    except FileNotFoundError:
        pass  # it was stopped before its first task
    except OSError as error:
        raise StudyError(f"{path / TASKS} cannot be read: {error.strerror}") from None
    return found


def described(path: Path) -> dict[str, Any]:
    """What a folder says of its study; refused where its version is another."""
    return _told(path)[0]


def _told(path: Path) -> tuple[dict[str, Any], str]:
    try:
        told = json.loads((path / STUDY).read_bytes())
        versions, study, key = dict(told["versions"]), dict(told["study"]), str(told["key"])
    except (OSError, ValueError, KeyError, TypeError):
        raise StudyError(f"{path} is not the results folder of a study") from None
    if told.get("format") != FORMAT:
        raise StudyError(f"{path} is written in another format than this version's: run it anew")
    for name, own in machine.versions().items():
        if name in ("fastexp", "numpy") and versions.get(name) != own:
            raise StudyError(
                f"{path} was made with {name} {versions.get(name)}, this is {own}: go on with that "
                "version, or run the study anew"
            )
    return study, key


def _own(path: Path, wanted: Any | None) -> Any:
    """The study of a folder, which is the one that is wanted."""
    from ..study import Study

    told, key = _told(path)
    if wanted is not None:
        compare(path, told, wanted.to_dict())
    try:
        study = Study(**told) if wanted is None else wanted
    except TypeError:
        study = None
    if study is None or study.key != key:
        raise StudyError(f"{path / STUDY} is damaged: its key is not that of its study")
    return study


def compare(path: Path, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Refuse a folder of another study, with the settings that differ (1 and 1.0 do)."""
    found, wanted = placeless(found), placeless(wanted)
    lines = [
        f"\n  {key}: {found.get(key)!r} there, {wanted.get(key)!r} here"
        for key in sorted({*wanted, *found})
        if _text(found.get(key)) != _text(wanted.get(key))
    ]
    if lines:
        raise StudyError(f"{path} holds another study:{''.join(lines)}")


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
