"""The files of a path, which must not change after the start of a session."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ...errors import FastexpError, SessionError
from ..disk.memory import Room
from .path_frame import PathFrame
from .paths import files_of

CHANGED = "the files of the session changed since it began: nothing was read or charged"


class UnchangedFiles:
    """Files, and their state in the file system when the session began."""

    def __init__(self, path: Any, room: Room) -> None:
        files_of(path)  # refuses a path without files
        paths = path if isinstance(path, (list, tuple)) else [path]
        self._path = [os.path.abspath(one) for one in paths]  # noqa: PTH100  # as `files_of` does
        self._room = room
        self._state = _state_of(PathFrame(self._path))

    def opened(self, threads: int) -> PathFrame:
        """The same files, opened anew; SessionError if one has changed."""
        frame = PathFrame(self._path, self._room, threads)
        try:
            is_same = _state_of(frame) == self._state
        except (FastexpError, OSError):
            is_same = False
        if not is_same:
            raise SessionError(CHANGED)
        return frame


def _state_of(frame: PathFrame) -> list[Any]:
    return [(file, Path(file.path).stat().st_ctime_ns) for file in frame.files]
