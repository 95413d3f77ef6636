"""Where and of what a result was measured: commit, machine, versions."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench_results"
PACKAGES = (
    *("numpy", "numba", "llvmlite", "scipy", "opendp", "diffprivlib", "scikit-learn"),
    *("polars", "duckdb", "pandas", "pyarrow"),
)


def provenance() -> dict[str, Any]:
    """Everything about this checkout and machine that a reader needs to compare figures."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": git("rev-parse", "HEAD") or "unknown",
        "dirty": bool(git("status", "--porcelain", "--", ":!bench_results")),
        "cpu": cpu_model(),
        "cores": cores or 1,
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {name: installed(name) for name in ("fastexp", *PACKAGES)},
    }


def installed(name: str) -> str | None:
    """The version of an installed distribution; None if there is none."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def git(*arguments: str) -> str:
    """What git prints in this checkout; empty where there is none."""
    program = shutil.which("git")
    if program is None:
        return ""
    command = [program, "-C", str(ROOT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def cpu_model() -> str:
    """The CPU's name: Linux knows the most; elsewhere what Python reports."""
    info = Path("/proc/cpuinfo")
    fields = {}
    if info.exists():
        lines = [line.partition(":") for line in info.read_text().splitlines()]
        fields = {name.strip(): value.strip() for name, _, value in reversed(lines)}
    name = fields.get("model name") or platform.processor() or platform.machine()
    numbers = [fields[n] for n in ("cpu family", "model", "stepping") if n in fields]
    return f"{name} ({'/'.join(numbers)})" if numbers else name


def load() -> float | None:
    """How many processes have wanted a core during the last minute."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
