"""What a session holds behind its door: rows, budget, limits and scores."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..budget.budget import Budget
from ..errors import FastexpError, ParameterError, SessionError
from .disk.memory import Room
from .engines.frame import Frame, Use
from .engines.types import check_keys
from .files.path_frame import PathFrame
from .scores import Score

CHANGED = "the files of the session changed since it began: nothing was read or charged"


class Files(NamedTuple):
    """Where rows are that memory does not hold, and what their files were at the start."""

    path: str
    memory: int | str | None
    state: list[Any]

    def frame(self, threads: int) -> Any:
        """The same files, opened anew."""
        frame = PathFrame(self.path, self.memory, threads)
        try:
            same = state_of(frame) == self.state
        except (FastexpError, OSError):
            same = False
        if not same:
            raise SessionError(CHANGED)
        return frame


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Door:
    """What a session holds."""

    rows: Frame | Files
    room: Room
    budget: Budget
    person: str | None
    max_groups: int
    max_rows: int
    scores: dict[str, Score]

    def frame(self, threads: int) -> Frame:
        """The rows."""
        opened: Frame = self.rows.frame(threads) if isinstance(self.rows, Files) else self.rows
        return opened


def state_of(frame: PathFrame) -> list[Any]:
    """What the file system says of the files of a path."""
    return [
        (file, os.stat(file.path).st_ctime_ns)  # noqa: PTH116  # paths are text here
        for file in frame.files
    ]


def check_person(frame: Frame, person: str | None) -> None:
    """Refuse a frame that has no column of persons, where one is named."""
    names = frame.names() or []
    if person is None:
        return
    if names.count(person) != 1:
        raise ParameterError(f"person must be a column of the frame, got {person!r}")
    use = Use(person, "keys")
    for column in frame.empty([use]) or ():
        check_keys("person", use, column)
