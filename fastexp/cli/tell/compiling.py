"""Why a first call takes its time."""

from __future__ import annotations

import sys

from . import tables


def announce() -> None:
    """On a terminal, say that kernels are compiled, if no cache has any."""
    if sys.stderr is None or not sys.stderr.isatty():
        return
    from ..._compiler import build, cache

    if cache.is_empty([target.text for target in build.targets()]):
        tables.note("compiling (some seconds, only the first time; see fastexp warmup) ...")
