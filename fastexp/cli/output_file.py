"""``--output``: a file that is whole or not there; its place is made before there is a charge."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .. import _files
from .errors import Failure, UserMistake

SUFFIXES = (".parquet", ".csv", ".json")
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def check(file: str, force: bool) -> None:
    """Refuse a name that is none for answers, or a file that is there.

    Parameters
    ----------
    file : str
        What follows ``--output``.
    force : bool
        A regular file that is there may be replaced.

    Raises
    ------
    UserMistake
    """
    kinds = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
    if suffix(file) not in SUFFIXES:
        raise UserMistake(f"--output must end in {kinds} (for stdout leave it out), got {file!r}")
    try:
        mode = os.stat(file).st_mode  # noqa: PTH116  (Path.exists hides what was refused)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise _mistake(file, error) from None
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise UserMistake(f"cannot write --output {file!r}: it is {what}")
    if not force:
        raise UserMistake(
            f"--output {file!r} exists, and may hold answers that were paid for: take another "
            "name, or add --force to replace it"
        )


def suffix(file: str) -> str:
    """What a file's name ends in."""
    return Path(file).suffix.lower()


class OutputFile:
    """A file beside the place of the answers, for now without a name that anybody looks for.

    Parameters
    ----------
    file : str
        That `check` took. Where it is a link, the answers go to where that leads.
    force : bool
    room : int
        Bytes that are reserved on the disk.

    Raises
    ------
    UserMistake, Failure
        If it cannot be made, or there is no room.
    """

    def __init__(self, file: str, force: bool, room: int) -> None:
        self._file, self._force = file, force
        self._target = os.path.realpath(file)
        self.folder = str(Path(self._target).parent)
        self._draft = str(Path(self.folder) / f".fastexp-{secrets.token_hex(8)}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _files.BINARY
        try:
            self._handle = os.open(self._draft, flags, 0o666)  # as any file that is made
        except OSError as error:
            raise _mistake(file, error) from None
        try:
            self._reserve(room)
        except BaseException:
            self.close()
            raise

    def _reserve(self, room: int) -> None:
        if room and hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(self._handle, 0, room)
            except OSError as error:
                if error.errno in FULL:
                    raise Failure(
                        f"cannot write --output {self._file!r}: {error.strerror}; nothing was "
                        "read, drawn or charged"
                    ) from None

    def write(self, content: bytes) -> None:
        """Put the answers in their place; they are on disk when this returns."""
        try:
            if self._force:
                with suppress(FileNotFoundError):
                    mode = os.stat(self._target).st_mode  # noqa: PTH116
                    Path(self._draft).chmod(stat.S_IMODE(mode))
            os.ftruncate(self._handle, len(content))  # keeps what is reserved of it
            _files.write(self._handle, content)
            self._publish()
            _files.sync_folder(self.folder)
        except OSError as error:
            reason = error.strerror or "system error"
            raise Failure(f"cannot write --output {self._file!r}: {reason}") from None

    def _publish(self) -> None:
        if self._force:
            os.replace(self._draft, self._target)  # noqa: PTH105  (beside link)
            return
        try:
            os.link(self._draft, self._target)  # fails where there is a file by now
        except FileExistsError:
            raise
        except (OSError, NotImplementedError):  # a file system without links
            if os.path.lexists(self._target):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
            os.replace(self._draft, self._target)  # noqa: PTH105

    def close(self) -> None:
        """Leave nothing but the answers, if they are there."""
        os.close(self._handle)
        with suppress(OSError):
            Path(self._draft).unlink(missing_ok=True)


@contextmanager
def reserved(file: str | None, force: bool, room: int) -> Iterator[OutputFile | None]:
    """The place of ``--output``, while answers are drawn; None where there is no such option."""
    if file is None:
        yield None
        return
    place = OutputFile(file, force, room)
    try:
        yield place
    finally:
        place.close()


def _mistake(file: str, error: OSError | ValueError) -> UserMistake:
    reason = getattr(error, "strerror", None) or "not a path"
    return UserMistake(f"cannot write --output {file!r}: {reason}")
