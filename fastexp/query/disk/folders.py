"""Private folders for rows on disk: removed after use, or listed if their process has died.

A folder holds a file `alive` that is locked while its process uses the folder. The system releases
a lock when its process ends, so a folder without a lock was left behind.
"""

from __future__ import annotations

import atexit
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ...budget import atomic_files
from ...errors import ParameterError, ParameterTypeError

PREFIX = "fastexp-"
NAME = re.compile(PREFIX + r"[0-9]+-[0-9a-f]{16}")
ALIVE = "alive"
OF_SYSTEMS = ("/tmp", "/var/tmp", "/usr/tmp")  # noqa: S108  # names to compare with
SYSTEMS = frozenset(map(Path, OF_SYSTEMS))
NO_FOLDER = "temp must be a folder that can be written to, got {!r}"
USED: set[str] = set()  # folders of this process, without those of its parent


class LeftOver(NamedTuple):
    """A folder whose process died before it could remove it."""

    folder: str
    size: int  # bytes of the files in it


@contextmanager
def private_folder(temp: object = None) -> Iterator[str]:
    """A new folder that nobody else can read (mode 0700), in `temp` or the system's temporary one.

    It is removed with its content at the end of the block, at an error or an interrupt, or else
    when the interpreter exits; links in it are not followed. A process that is killed leaves it
    behind: see `left_overs`.
    """
    folder = str(_parent(temp) / f"{PREFIX}{os.getpid()}-{secrets.token_hex(8)}")
    try:
        _make(folder, temp)
        with atomic_files.exclusive_lock(str(Path(folder, ALIVE))):
            yield folder
    finally:
        _remove(folder)


def check_temp(temp: Any) -> None:
    """Refuse what `private_folder` cannot use, before anything is charged or read."""
    folder = _parent(temp)
    try:
        is_usable = folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
    except ValueError:  # a NUL in the path
        is_usable = False
    if not is_usable:
        raise ParameterError(NO_FOLDER.format(str(folder) if temp is None else os.fspath(temp)))


def left_overs() -> list[LeftOver]:
    """Folders of this user in the system's temporary folder whose processes have died, by name."""
    try:
        folders = sorted(path for path in _system().iterdir() if NAME.fullmatch(path.name))
    except (OSError, ParameterError):
        return []
    return [LeftOver(str(path), _size(path)) for path in folders if _is_left(path)]


def _parent(temp: object) -> Path:
    if temp is None:
        return _system()
    if not isinstance(temp, (str, os.PathLike)) or isinstance(os.fspath(temp), bytes):
        raise ParameterTypeError(f"temp must be the path of a folder, got {type(temp).__name__}")
    return Path(temp).absolute()


def _system() -> Path:
    """The system's temporary folder; refuse the current folder, which is Python's last resort."""
    try:
        place = Path(tempfile.gettempdir())
    except OSError:
        place = Path()
    variables = {Path(os.environ.get(name, "")) for name in ("TMPDIR", "TEMP", "TMP")}
    stated = place in SYSTEMS or (place.is_absolute() and place in variables)
    if not stated and place.resolve() == Path.cwd():
        raise ParameterError("temp must be given: the system has no folder for temporary files")
    return place


def _make(folder: str, temp: Any) -> None:
    USED.add(folder)  # first: an interrupt may come at any moment
    try:
        Path(folder).mkdir(mode=0o700)
    except (OSError, ValueError):  # ValueError: a NUL in the path
        USED.discard(folder)
        place = str(Path(folder).parent) if temp is None else os.fspath(temp)
        raise ParameterError(NO_FOLDER.format(place)) from None


def _remove(folder: str) -> None:
    if folder in USED:
        shutil.rmtree(folder, ignore_errors=True)  # `left_overs` lists what cannot be removed
        USED.discard(folder)


@atexit.register
def _remove_all() -> None:
    """Remove the folders of threads that the interpreter did not wait for."""
    for folder in tuple(USED):
        _remove(folder)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=USED.clear)


def _is_left(folder: Path) -> bool:
    try:
        about = folder.lstat()
    except OSError:  # removed meanwhile
        return False
    mine = not hasattr(os, "getuid") or about.st_uid == os.getuid()
    return mine and stat.S_ISDIR(about.st_mode) and not atomic_files.is_held(str(folder / ALIVE))


def _size(folder: Path) -> int:
    """Bytes of the files in it; links are not followed."""
    size = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                size += Path(where, name).lstat().st_size
            except OSError:  # removed meanwhile
                continue
    return size
