"""How much memory there is for records."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

UNKNOWN = 2 << 30  # bytes, where the system does not tell
INFO, GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def free() -> int:
    """Half of the memory that is free, in the system and in its container."""
    found = [size for size in (_of_system(), _of_container()) if size is not None]
    return max(min(found), 2 << 20) // 2 if found else UNKNOWN


def _of_system() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in INFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return None


def _of_container() -> int | None:
    with suppress(OSError, ValueError):  # "max" is no limit
        most = int((GROUP / "memory.max").read_text())
        return most - int((GROUP / "memory.current").read_text())
    return None
