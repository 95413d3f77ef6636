"""``fastexp info``: versions, the CPU and caches of this installation."""

from __future__ import annotations

import platform
import sys
from argparse import Namespace
from collections.abc import Iterator
from importlib import metadata
from typing import TYPE_CHECKING, Any

from ...studies.store.machine import cpu
from ..terminal import printing

if TYPE_CHECKING:
    from ..._compiler.cache import State

PACKAGES = (
    "numpy",
    "numba",
    "llvmlite",
    "rich",
    "matplotlib",
    "duckdb",
    "polars",
    "pyarrow",
    "distributed",
)


def info(options: Namespace) -> None:
    """Print versions, CPU, threads, cache, and folders of private rows that were left over."""
    if options.json:
        printing.as_json(dict(_facts()))
        return
    for name, value in _facts():
        for label, text in _lines(name, value):
            printing.line(f"{label:<11} {text}")
            sys.stdout.flush()  # the next fact may need the compiler, whose import takes time


def _states() -> list[State]:
    # All places for this CPU, and then those that have kernels for the baseline.
    from ..._compiler import build, cache

    (here, _), *others = build.targets()
    places, features = cache.places(), build.host_features()
    states = [cache.state(place, here, features) for place in places]
    for text, _ in others:
        read_only = [place._replace(is_saved_to=False) for place in places]
        shared = [cache.state(place, text, features) for place in read_only]
        states += [state for state in shared if state.kernels]
    return states


def _current(kernels: frozenset[str]) -> int:
    """Return the number of these kernels that are compiled from the current sources."""
    from ..._compiler import kernel_sources

    return sum(
        kernel_sources.source_hash(f"fastexp.kernels.{kernel.rpartition('.')[0]}") == sources
        for kernel, _, sources in (name.rpartition("-") for name in kernels)
    )


def _lines(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if name == "cache":
        for place in value["places"]:
            line = f"{place['name']} {place['folder']} ({place['kernels']} kernels)"
            yield name, f"{line}: {place['refusal']}" if place["refusal"] else line
        if not value["places"]:
            yield name, "off"
    elif name == "left_over":
        for folder in value:
            yield "left over", f"{folder['folder']} ({folder['bytes']} bytes): remove it"
    elif name == "packages":
        for package, version in value.items():
            yield package, version or "not installed"
    else:
        yield name, str(value)


def _facts() -> Iterator[tuple[str, Any]]:
    """Yield the facts for ``--json``, first those that are known soonest."""
    from ... import __version__

    yield "fastexp", __version__
    yield "python", platform.python_version()
    yield "platform", platform.platform()
    yield "cpu", cpu()
    from ..._parameters import validate
    from ...query.disk.folders import left_overs

    yield "threads", validate.threads(0)
    states = _states()
    places = [
        {
            "name": state.place.name,
            "folder": str(state.folder),
            "kernels": _current(state.kernels),
            "refusal": state.refusal,
        }
        for state in states
    ]
    writable = next((str(state.folder) for state in states if state.is_writable), None)
    yield "cache", {"folder": writable, "places": places}
    yield "left_over", [{"folder": one.folder, "bytes": one.size} for one in left_overs()]
    yield "packages", {name: _version(name) for name in PACKAGES}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
