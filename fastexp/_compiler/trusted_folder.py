"""A folder that nobody but root and this user can have written to, and its files.

A path is walked from the root: each folder is opened from the one before it (openat), and the open
folder is checked, never its name, so that renaming or replacing a folder in between has no effect.
Each folder must belong to root or to this user, and nobody else may write to it. A sticky folder
such as /tmp may be on the way, since nobody can rename files of other users there. Links on the
way are followed if root or this user made them, and their targets are walked the same way; the
folder itself must not be a link. Files are opened from the folder, and checked when open.

A process trusts its user if it has only this user. A process with a second user or group, real,
effective or saved (a setuid program, a server that has temporarily dropped root's rights), has or
can regain rights that this user lacks, and trusts only root.

An owner that is not mapped in the user namespace (of a container) is not trusted. POSIX ACLs that
let others write show in the group bits of the mode; ACLs of NFSv4 and macOS do not, and are not
checked. Windows has neither owners nor modes of this kind: only the path's own permissions protect
it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

POSIX = hasattr(os, "geteuid") and os.open in os.supports_dir_fd
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
MAX_LINKS = 40  # most links on the way of one path, as in Linux
A_LINK = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)  # errors for a link that is not followed
ON_THE_WAY = getattr(os, "O_PATH", os.O_RDONLY)  # for folders that may be searched, but not read
DIRECTORY = sum(getattr(os, name, 0) for name in ("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC"))
FILE = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_BINARY"))
UID_MAP, OVERFLOW_UID = Path("/proc/self/uid_map"), Path("/proc/sys/kernel/overflowuid")
PRIVATE, PUBLIC = 0o700, 0o755  # modes of folders; files have the same bits for reading and writing


class Untrusted(OSError):
    """The error if others may have written here; its text is the reason, in one line."""


class Missing(FileNotFoundError):
    """The error if a folder is missing; `may_be_made`: whether this process may make it."""

    def __init__(self, path: Path | str, *, may_be_made: bool) -> None:
        super().__init__(errno.ENOENT, "not there", str(path))
        self.may_be_made = may_be_made


class Folder:
    """An open folder; `descriptor` is None if files are opened by their paths."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    def read(self, name: str, largest: int) -> bytes:
        """Return the contents of a file of at most `largest` bytes.

        Untrusted if others may have written it; OSError if it is larger.
        """
        descriptor = os.open(self._at(name), os.O_RDONLY | FILE, dir_fd=self._descriptor)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Untrusted(f"{self.path / name} is not a file")
            if self._descriptor is not None:
                _check(descriptor, self.path / name)
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                contents = file.read(largest + 1)
            if len(contents) > largest:
                raise OSError(errno.EFBIG, "file too large", str(self.path / name))
            return contents
        finally:
            os.close(descriptor)

    def write(self, name: str, data: bytes, mode: int) -> None:
        """Write a file under a name of its own, then rename it: readers see all of it or none."""
        part, here = self._at(f".{secrets.token_hex(8)}"), self._descriptor
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | FILE
        descriptor = os.open(part, flags, 0o600, dir_fd=here)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if here is not None:
                    os.fchmod(descriptor, mode & 0o666)
                file.write(data)
            os.replace(part, self._at(name), src_dir_fd=here, dst_dir_fd=here)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(part, dir_fd=here)
            raise

    def names(self) -> list[str]:
        """Return the names of its files, except those that are being written."""
        where = self.path if self._descriptor is None else self._descriptor
        with os.scandir(where) as entries:
            return [entry.name for entry in entries if not entry.name.startswith(".")]

    def is_writable(self) -> bool:
        """Whether this process may make files here."""
        return os.access(self._at("."), os.W_OK, dir_fd=self._descriptor)

    def _at(self, name: str) -> str:
        return name if self._descriptor is not None else str(self.path / name)


@contextlib.contextmanager
def opened(path: Path, create: int | None = None) -> Iterator[Folder]:
    """Open a folder that can be trusted, until the end of the block.

    A relative path begins at the working directory. create: the mode of missing folders, which are
    made with it whatever the umask is. Raises Untrusted if others may write to the folder or to one
    above it, Missing if it is missing and not to be made, OSError if it cannot be made or read.
    """
    path = Path.cwd() / path
    if not POSIX:
        if create is not None:
            path.mkdir(mode=create, parents=True, exist_ok=True)
        elif not path.exists():
            nearest = next((parent for parent in path.parents if parent.exists()), path)
            raise Missing(path, may_be_made=os.access(nearest, os.W_OK))
        yield Folder(path, None)
        return
    descriptor = _walk(path, create)
    try:
        yield Folder(path, descriptor)
    finally:
        os.close(descriptor)


def _walk(path: Path, create: int | None) -> int:
    here, walked = _root(), Path("/")  # the only folder that is open, and its path
    names, links = list(path.parts[:0:-1]), 0
    try:
        while names:
            name = names.pop()
            child = _child(here, name, create, last=not names)
            if child is None:
                links += 1
                target = _target(here, name, walked / name)
                if links > MAX_LINKS:
                    raise Untrusted(f"too many links on the way to {path}")
                names += [part for part in reversed(target.split("/")) if part not in ("", ".")]
                if not target.startswith("/"):
                    continue
                child, walked, name = _root(), Path("/"), ""
            os.close(here)
            here, walked = child, walked / name
            _check(here, walked, on_the_way=bool(names))
    except BaseException:
        os.close(here)
        raise
    return here


def _root() -> int:
    descriptor = os.open("/", ON_THE_WAY | DIRECTORY)
    try:
        _check(descriptor, Path("/"), on_the_way=True)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _child(parent: int, name: str, create: int | None, *, last: bool) -> int | None:
    """Return a descriptor of a folder in `parent`, made if need be; None for a link on the way."""
    flags = (os.O_RDONLY if last else ON_THE_WAY) | DIRECTORY
    try:
        return os.open(name, flags, dir_fd=parent)
    except FileNotFoundError:
        if create is None:
            may_be_made = os.access(".", os.W_OK | os.X_OK, dir_fd=parent)
            raise Missing(name, may_be_made=may_be_made) from None
    except OSError as error:
        if last or error.errno not in A_LINK:
            raise
        return None
    try:
        os.mkdir(name, create, dir_fd=parent)
    except FileExistsError:  # another process was faster
        return os.open(name, flags, dir_fd=parent)
    child = os.open(name, os.O_RDONLY | DIRECTORY, dir_fd=parent)
    with contextlib.suppress(OSError):  # the umask may have taken bits away
        os.fchmod(child, create)
    return child


def _target(parent: int, name: str, path: Path) -> str:
    """Return where a link in `parent` leads to.

    Others cannot replace it: `parent` has been checked, and in a sticky folder nobody can rename
    files of other users.
    """
    info = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISLNK(info.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "not a folder", str(path))
    if info.st_uid not in trusted_owners():
        raise Untrusted(f"{path} is a link of another user's (uid {info.st_uid})")
    return os.readlink(name, dir_fd=parent)


def _check(descriptor: int, path: Path, *, on_the_way: bool = False) -> None:
    info = os.fstat(descriptor)
    if info.st_uid not in trusted_owners():
        raise Untrusted(f"{path} belongs to another user (uid {info.st_uid})")
    if info.st_mode & OTHERS_WRITE and not (on_the_way and info.st_mode & stat.S_ISVTX):
        mode = stat.S_IMODE(info.st_mode)
        raise Untrusted(f"others may write to {path} (mode {mode:04o})")


def trusted_owners() -> set[int]:
    """Return root, and the user of this process if it has only one; no owner that stands for many.

    In a user namespace all unmapped owners look like a single owner, usually 65534.
    """
    owners = {0}
    users, groups = {os.getuid(), os.geteuid()}, {os.getgid(), os.getegid()}
    if hasattr(os, "getresuid"):  # macOS does not tell the saved ids
        users, groups = set(os.getresuid()), set(os.getresgid())
    if len(users) == len(groups) == 1:
        owners |= users
    with contextlib.suppress(OSError, ValueError):  # not Linux
        if UID_MAP.read_text().split() != ["0", "0", "4294967295"]:
            owners.discard(int(OVERFLOW_UID.read_text()))
    return owners
