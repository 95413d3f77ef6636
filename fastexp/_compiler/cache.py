"""Where compiled kernels are kept on disk, and when they are not.

Three folders are looked into, in this order; a kernel that is in none of them is compiled, and
kept in the first of those marked * that this process may write to:

* the folder that the variable ``FASTEXP_CACHE_DIR`` names; *
* ``share/fastexp`` below ``sys.prefix``, which an image can carry: filled by ``fastexp warmup
  --image``, and read by everybody;
* the user's own: ``fastexp`` below ``XDG_CACHE_HOME`` or ``~/.cache``, on Windows below
  ``LOCALAPPDATA``. *

``FASTEXP_CACHE=0`` switches all of them off. In each of them a folder is named by a hash of the
compiler, its options and the CPU that it compiles for (its target); so other options and other
machines find other folders, not wrong code. Entries are pickles, that is, code: a folder is used
only where root or this user alone can have written to it (`trusted_folder`), and otherwise
silently skipped; ``fastexp info`` says why. On Windows, where this cannot be known, only the
user's own folder is used. Relative paths are ignored too; ``~`` is not expanded.

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
LARGEST = 1 << 26  # bytes of an entry that is read; kernels have less than 1 MB


class CacheFolder(NamedTuple):
    """A folder of the cache: what it is called, where it is, whether kernels are saved there."""

    name: str
    path: Path
    is_saved_to: bool
    mode: int = PRIVATE  # of folders that are made


class State(NamedTuple):
    """What a place has for one target.

    `refusal` says why the folder is not used, or some of its entries; `kernels` names those that
    are. `is_writable` says whether further ones may be saved there.
    """

    place: CacheFolder
    folder: Path
    kernels: frozenset[str] = frozenset()
    refusal: str | None = None
    is_writable: bool = False


def places() -> list[CacheFolder]:
    """The folders of the cache, in the order in which they are looked into; none if it is off."""
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
    """The folder that an image carries, to be filled: everybody may read what is saved there."""
    return public(Path(sys.prefix, "share", "fastexp"))


def public(folder: Path) -> CacheFolder:
    """A folder that is to be filled for others, which everybody may read."""
    return CacheFolder("image", folder.absolute(), is_saved_to=True, mode=PUBLIC)


def load(
    where: Sequence[CacheFolder], targets: Sequence[str], name: str, features: frozenset[str]
) -> Iterator[tuple[Path, bytes]]:
    """Every entry `name` that a CPU with `features` can run, those of the first target first.

    It comes with its folder.
    """
    for target in targets:
        for place in where:
            folder = place.path / _folder_name(target)
            try:
                with _opened(folder) as opened:
                    body = unpacked(opened.read(name, LARGEST), features)
            except (OSError, ValueError):  # not there, not ours, not whole or not for this CPU
                continue
            yield folder, body


def save(
    where: Sequence[CacheFolder], target: str, name: str, body: bytes, features: frozenset[str]
) -> Path | None:
    """Keep an entry in the first place that takes it; return the folder, None if none does."""
    for place in where:
        if place.is_saved_to:
            with contextlib.suppress(OSError):  # refused, read-only, a full disk
                return save_in(place, target, name, body, features)
    return None


def save_in(
    place: CacheFolder, target: str, name: str, body: bytes, features: frozenset[str]
) -> Path:
    """Keep an entry in this place; return the folder, or raise OSError."""
    folder = place.path / _folder_name(target)
    with _opened(folder, create=place.mode) as opened:
        opened.write(name, packed(body, features), place.mode)
    return folder


def packed(body: bytes, features: frozenset[str]) -> bytes:
    """An entry: a line of digest and features, then the body."""
    rest = " ".join(sorted(features)).encode() + b"\n" + body
    return hashlib.blake2b(rest, digest_size=16).hexdigest().encode() + b" " + rest


def unpacked(entry: bytes, features: frozenset[str]) -> bytes:
    """The body of an entry; ValueError if it is damaged or needs more than these features."""
    digest, _, rest = entry.partition(b" ")
    if digest != hashlib.blake2b(rest, digest_size=16).hexdigest().encode():
        raise ValueError("a damaged entry")
    head, _, body = rest.partition(b"\n")
    if not features.issuperset(head.decode().split()):
        raise ValueError("an entry for another CPU")
    return body


def state(place: CacheFolder, target: str, features: frozenset[str]) -> State:
    """What a place has for a target and a CPU; nothing is made or changed."""
    folder, kernels, refusal = place.path / _folder_name(target), set(), None
    try:
        with _opened(folder) as opened:
            for name in opened.names():
                try:
                    unpacked(opened.read(name, LARGEST), features)
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
    """Why a folder or an entry is refused, in one line that begins with a small letter."""
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
