"""The cache of compiled kernels on disk: its folders, and when they are used.

Three folders are searched, in this order. A kernel that is in none of them is compiled, and saved
in the first folder marked * that this process may write to:

* the folder that the variable ``FASTEXP_CACHE_DIR`` names; *
* ``share/fastexp`` below ``sys.prefix``, which an image can carry: filled by ``fastexp warmup
  --image``, and read by everybody;
* the user's own: ``fastexp`` below ``XDG_CACHE_HOME`` or ``~/.cache``, on Windows below
  ``LOCALAPPDATA``. *

``FASTEXP_CACHE=0`` switches all of them off. In each of them a subfolder is named by a hash of the
compiler, its options and the CPU that it compiles for (its *target*), so that other options and
other machines find other subfolders, not wrong code. Entries are pickles, that is, code: a folder
is used only if nobody but root and this user can have written to it (`trusted_folder`). Otherwise
it is silently skipped, and ``fastexp info`` says why. On Windows, where this cannot be known, only
the user's own folder is used. Relative paths are ignored, too; ``~`` is not expanded.

An entry begins with a digest of the rest, and with the features of the CPU that its code needs.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from . import trusted_folder
from .trusted_folder import POSIX, PRIVATE, PUBLIC, Folder, Missing, Untrusted

OFF = ("0", "off", "no", "false")
MAX_ENTRY_BYTES = 1 << 26  # most bytes of an entry that is read; kernels have less than 1 MB


class CacheFolder(NamedTuple):
    """A folder of the cache: its name, its path, and whether kernels are saved there."""

    name: str
    path: Path
    is_saved_to: bool
    mode: int = PRIVATE  # the mode of subfolders that are made


class State(NamedTuple):
    """The state of a folder of the cache for one target.

    refusal: why the folder, or an entry in it, is not used. kernels: the names of the entries that
    are used. is_writable: whether further entries may be saved there.
    """

    place: CacheFolder
    folder: Path
    kernels: frozenset[str] = frozenset()
    refusal: str | None = None
    is_writable: bool = False


def places() -> list[CacheFolder]:
    """Return the folders of the cache in the order of the search; none if the cache is off."""
    if os.environ.get("FASTEXP_CACHE", "1").lower() in OFF:
        return []
    chosen = os.environ.get("FASTEXP_CACHE_DIR")
    base = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME")
    shared = [CacheFolder("FASTEXP_CACHE_DIR", Path(chosen), is_saved_to=True)] if chosen else []
    shared.append(image()._replace(is_saved_to=False))
    try:
        cache = Path(base) if base else Path.home() / ".cache"
        users = [CacheFolder("own", cache / "fastexp", is_saved_to=True)]
    except RuntimeError:  # no home directory
        users = []
    if POSIX and not base and os.environ.get("HOME") == "":  # it would be "/"
        users = []
    return [*shared, *users] if POSIX else users


def image() -> CacheFolder:
    """Return the folder of an image, to be filled: everybody may read what is saved there."""
    return public(Path(sys.prefix, "share", "fastexp"))


def public(folder: Path) -> CacheFolder:
    """Return a folder to be filled for others, which everybody may read."""
    return CacheFolder("image", folder.absolute(), is_saved_to=True, mode=PUBLIC)


def load(
    where: Sequence[CacheFolder], targets: Sequence[str], name: str, features: frozenset[str]
) -> Iterator[tuple[Path, bytes]]:
    """Yield (folder, body) of every entry `name` that a CPU with `features` can run.

    Entries of the first target come first.
    """
    for target in targets:
        for place in where:
            folder = place.path / _folder_name(target)
            try:
                with _opened(folder) as opened:
                    body = unpacked(opened.read(name, MAX_ENTRY_BYTES), features)
            except (OSError, ValueError):  # missing, not trusted, damaged, or for another CPU
                continue
            yield folder, body


def save(
    where: Sequence[CacheFolder], target: str, name: str, body: bytes, features: frozenset[str]
) -> Path | None:
    """Save an entry in the first place that takes it; return the folder, None if none does."""
    for place in where:
        if place.is_saved_to:
            with contextlib.suppress(OSError):  # refused, read-only, a full disk
                return save_in(place, target, name, body, features)
    return None


def save_in(
    place: CacheFolder, target: str, name: str, body: bytes, features: frozenset[str]
) -> Path:
    """Save an entry in this place; return the folder, or raise OSError."""
    folder = place.path / _folder_name(target)
    with _opened(folder, create=place.mode) as opened:
        opened.write(name, packed(body, features), place.mode)
    return folder


def packed(body: bytes, features: frozenset[str]) -> bytes:
    """Return an entry: a line of digest and features, then the body."""
    rest = " ".join(sorted(features)).encode() + b"\n" + body
    return hashlib.blake2b(rest, digest_size=16).hexdigest().encode() + b" " + rest


def unpacked(entry: bytes, features: frozenset[str]) -> bytes:
    """Return the body of an entry; ValueError if it is damaged or needs other features."""
    digest, _, rest = entry.partition(b" ")
    if digest != hashlib.blake2b(rest, digest_size=16).hexdigest().encode():
        raise ValueError("a damaged entry")
    head, _, body = rest.partition(b"\n")
    if not features.issuperset(head.decode().split()):
        raise ValueError("an entry for another CPU")
    return body


def state(place: CacheFolder, target: str, features: frozenset[str]) -> State:
    """Return the state of a place for a target and a CPU, without changing anything on disk."""
    folder, kernels, refusal = place.path / _folder_name(target), set(), None
    try:
        with _opened(folder) as opened:
            for name in opened.names():
                try:
                    unpacked(opened.read(name, MAX_ENTRY_BYTES), features)
                    kernels.add(name)
                except (OSError, ValueError) as error:
                    refusal = reason(error)
            writable = place.is_saved_to and opened.is_writable()
            return State(place, folder, frozenset(kernels), refusal, writable)
    except Missing as error:
        writable = place.is_saved_to and error.may_be_made
        refusal = "not there, and may not be made" if place.is_saved_to else "not there"
        return State(place, folder, refusal=None if writable else refusal, is_writable=writable)
    except OSError as error:
        return State(place, folder, refusal=reason(error))


def reason(error: Exception) -> str:
    """Return why a folder or an entry is refused, in one line that begins with a small letter."""
    if isinstance(error, FileNotFoundError):
        return "not there"
    strerror = getattr(error, "strerror", None)
    return strerror.lower() if strerror else str(error)  # which may name a path


def _opened(folder: Path, create: int | None = None) -> AbstractContextManager[Folder]:
    if not folder.is_absolute():
        raise Untrusted("not an absolute path")
    return trusted_folder.opened(folder, create)


def _folder_name(target: str) -> str:
    return f"kernels-{hashlib.blake2b(target.encode(), digest_size=16).hexdigest()}"
