"""The versions and the CPU with which a study ran."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from ..._version import __version__


def versions() -> dict[str, str]:
    """Return the versions of Python, and of the packages that determine figures and draws."""
    packages = {name: metadata.version(name) for name in ("numpy", "numba")}
    return {"fastexp": __version__, "python": platform.python_version(), **packages}


def described() -> dict[str, Any]:
    """Return the system, the name of the CPU and the number of cores."""
    return {"system": platform.platform(), "cpu": cpu(), "cores": os.cpu_count()}


def cpu() -> str:
    """Return the name of the processor, as far as the system knows it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()
