"""The memory that rows may take: a given size, or half of the free memory."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from ..._parameters import validate
from ...errors import ParameterError

UNKNOWN = 2 << 30  # bytes, if the system does not tell what is free
MIN_MEMORY, MAX_MEMORY = 1 << 20, (1 << 60) - 1
INFO, GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
SIZE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?([kmgt]?)(?:i?b)?")
UNITS = ("", "k", "m", "g", "t")


class Room:
    """The memory for rows, and the folder for those that do not fit.

    memory: as of `release`; None: half of the free memory, looked up when it is needed. temp: the
    folder in which a private one is made; None: the system's.
    """

    temp: object

    def __init__(self, memory: object = None, temp: object = None) -> None:
        self.temp, self._limit = temp, None if memory is None else memory_of(memory)

    @cached_property
    def memory(self) -> int:
        """The bytes that rows may take."""
        return free() if self._limit is None else self._limit


def memory_of(memory: object) -> int:
    """The bytes of an argument `memory`: a number of bytes, or a text such as "200MB"."""
    if not isinstance(memory, str):
        return validate.counting("memory", memory, MIN_MEMORY, MAX_MEMORY)
    size = size_of(memory)
    if not MIN_MEMORY <= size <= MAX_MEMORY:
        raise ParameterError(
            f"memory must be a size of at least 1MB, such as '200MB', got {memory!r}"
        )
    return size


def size_of(text: str) -> int:
    """The bytes of a text such as 500MB, 2 GiB or 1.5g; 0 if it is not a size."""
    parts = SIZE.fullmatch(text.strip().lower())
    return int(float(parts[1]) * 1024 ** UNITS.index(parts[2])) if parts else 0


def free() -> int:
    """Half of the bytes that are free both in the system and in its container."""
    sizes = [size for size in (_of_system(), _of_container()) if size is not None]
    return max(min(sizes), 2 << 20) // 2 if sizes else UNKNOWN


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
