"""Processes that benchmarks start end with each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.harness import elsewhere


@pytest.fixture(autouse=True, scope="module")
def no_process_is_left() -> Iterator[None]:
    yield
    elsewhere.end()
