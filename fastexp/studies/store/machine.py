"""What a study ran on: versions and CPU."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from ..._version import __version__


def versions() -> dict[str, str]:
    """The versions of Python and of what decides figures and draws."""
    packages = {name: metadata.version(name) for name in ("numpy", "numba")}
    return {"fastexp": __version__, "python": platform.python_version(), **packages}


def described() -> dict[str, Any]:
    """The system, the CPU's name and how many cores there are."""
    return {"system": platform.platform(), "cpu": cpu(), "cores": os.cpu_count()}


def cpu() -> str:
    """The processor's name, as far as the system knows it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()
