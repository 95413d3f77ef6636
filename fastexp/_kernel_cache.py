"""Where compiled kernels are kept on disk, and when not at all.

The folder's name is a hash of everything that the compiler reports about itself and the CPU,
so another option or another machine finds an empty folder instead of stale code. Cache files
are pickles: a folder that others can write to is refused, and work goes on without a cache.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from pathlib import Path

OFF = ("0", "off", "no", "false")


def root() -> Path | None:
    """The cache's root: ``FASTEXP_CACHE_DIR``, else the user's cache folder; None if off."""
    if os.environ.get("FASTEXP_CACHE", "1").lower() in OFF:
        return None
    chosen = os.environ.get("FASTEXP_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME")
    try:
        return Path(base or Path.home() / ".cache") / "fastexp"
    except RuntimeError:  # no home directory
        return None


def folder(target: str) -> Path | None:
    """The cache folder for `target` (a text that names compiler, CPU and flags), made 0700.

    None where there is no folder that only this user can write to.
    """
    base = root()
    if base is None:
        return None
    name = hashlib.blake2b(target.encode(), digest_size=16).hexdigest()
    path = base / f"kernels-{name}"
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        private = _private(base) and _private(path)
    except OSError:
        return None
    return path if private and os.access(path, os.W_OK) else None


def _private(path: Path) -> bool:
    """Whether `path` is a real folder of this user's that nobody else can write to."""
    info = os.lstat(path)
    if not stat.S_ISDIR(info.st_mode):
        return False
    if not hasattr(os, "getuid"):  # Windows: the profile's permissions are inherited
        return True
    return info.st_uid == os.getuid() and not info.st_mode & 0o022
