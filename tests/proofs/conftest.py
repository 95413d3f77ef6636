"""Where machine code is read, every kernel is compiled before the first test."""

from __future__ import annotations

import os

import pytest

from tests.doors.compiler import jit, warmup


def pytest_collection_finish(session: pytest.Session) -> None:
    if any(item.path.stem == "test_assembly" for item in session.items):
        build_in_turns()


def build_in_turns() -> None:
    """Import and build every kernel; of several processes of tests, each its own share first.

    Of the others' it takes the last ones first, so that two processes meet where both have done
    as much: each kernel is compiled once in a run, and the cache has it when another one asks.
    """
    warmup.import_kernels()
    names = list(jit.KERNELS)
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    start, stop = (len(names) * n // workers for n in (worker, worker + 1))
    for name in names[start:stop] + (names[stop:] + names[:start])[::-1]:
        jit.KERNELS[name].build()
