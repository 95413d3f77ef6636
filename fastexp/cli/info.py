"""``fastexp info`` and ``fastexp warmup``: what runs here, and compiling it beforehand."""

from __future__ import annotations

import platform
import sys
import time
from argparse import Namespace
from importlib import metadata
from pathlib import Path
from typing import Any

from . import output

PACKAGES = ("numpy", "numba", "llvmlite", "rich", "matplotlib", "polars", "pyarrow", "distributed")


def info(options: Namespace) -> None:
    """Print versions, CPU, cache and threads.

    Parameters
    ----------
    options : Namespace
        Of the command line.
    """
    facts = _facts()
    if options.json:
        output.as_json(facts)
        return
    versions = facts.pop("packages")
    cache = facts.pop("cache")
    for name, value in facts.items():
        output.line(f"{name:<11} {value}")
    kernels = f" ({cache['kernels']} kernels)" if cache["folder"] else ""
    output.line(f"{'cache':<11} {cache['folder'] or 'off'}{kernels}")
    for name, version in versions.items():
        print(f"{name:<11} {version or 'not installed'}")


def warmup(options: Namespace) -> None:
    """Compile all kernels, one after the other; print how many and how long it took.

    Parameters
    ----------
    options : Namespace
        Of the command line.
    """
    import fastexp

    start = time.perf_counter()
    number = fastexp.warmup()
    seconds = time.perf_counter() - start
    folder = cache_folder()
    if options.json:
        output.as_json({"kernels": number, "seconds": round(seconds, 3), "cache": folder})
        return
    print(f"{number} kernels ready in {seconds:.2f} s")
    if folder is None:
        output.note("the cache is off: every process compiles anew")
    else:
        output.note(f"cached in {output.printable(folder)}")


def announce_compiling() -> None:
    """On a terminal, say why a first call takes seconds."""
    if sys.stderr is not None and sys.stderr.isatty() and not _cached_kernels(cache_folder()):
        output.note("compiling (some seconds, only the first time; see fastexp warmup) ...")


def cache_folder() -> str | None:
    """Where compiled kernels are kept; None if nowhere."""
    from .. import _jit, _kernel_cache

    folder = _kernel_cache.folder(_jit._target())
    return None if folder is None else str(folder)


def _cached_kernels(folder: str | None) -> int:
    return 0 if folder is None else sum("." in path.name for path in Path(folder).iterdir())


def _facts() -> dict[str, Any]:
    from .. import __version__, _validate

    folder = cache_folder()
    return {
        "fastexp": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": _cpu(),
        "threads": _validate.threads(0),
        "cache": {
            "on": folder is not None,
            "folder": folder,
            "kernels": _cached_kernels(folder),
        },
        "packages": {name: _version(name) for name in PACKAGES},
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cpu() -> str:
    """The processor's name, as far as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()
