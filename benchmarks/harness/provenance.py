"""The provenance of a result: commit, machine, versions."""

from __future__ import annotations

import os
import platform
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
    """Return all facts on this checkout and machine that a reader needs to compare figures."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": git("rev-parse", "HEAD"),
        "dirty": bool(git("status", "--porcelain", "--", ":!bench_results")),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: installed(name) for name in ("fastexp", *PACKAGES)},
    }


def installed(name: str) -> str | None:
    """Return the version of a distribution; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def git(*arguments: str) -> str:
    """Return the output of git in this checkout; "" if there is no output."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def cpu_model() -> str:
    """Return the name of the CPU; Linux knows most about it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    fields = {name.strip(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    if "model name" not in fields:
        return platform.processor()
    numbers = [fields[name] for name in ("cpu family", "model", "stepping")]
    return f"{fields['model name']} ({'/'.join(numbers)})"


def load() -> float:
    """Return the mean number of processes that wanted a core during the last minute."""
    return round(os.getloadavg()[0], 2)
