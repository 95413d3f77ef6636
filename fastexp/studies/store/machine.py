"""What a study ran on: versions and CPU; and the lock of a file."""

from __future__ import annotations

import os
import platform
import weakref
from importlib import metadata
from pathlib import Path
from typing import Any

from ..._version import __version__


def versions() -> dict[str, str]:
    """The versions of Python and of what decides figures and draws."""
    named = {name: metadata.version(name) for name in ("numpy", "numba")}
    return {"fastexp": __version__, "python": platform.python_version(), **named}


def described() -> dict[str, Any]:
    """The system, the CPU's name and how many cores there are."""
    return {"system": platform.platform(), "cpu": _cpu(), "cores": os.cpu_count()}


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


HELD: weakref.WeakSet[Any] = weakref.WeakSet()  # locked files of this process


def let_go() -> None:
    """In a forked child: a lock that it shared would outlive the process that holds it."""
    for file in HELD:
        file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=let_go)


try:
    import fcntl

    def lock(handle: int) -> None:
        """Lock a file for this process; OSError if another one holds it."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

except ImportError:  # Windows
    import msvcrt

    def lock(handle: int) -> None:
        """Lock a byte far behind the file's end."""
        place = os.lseek(handle, 0, os.SEEK_CUR)
        os.lseek(handle, 1 << 40, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        os.lseek(handle, place, os.SEEK_SET)
