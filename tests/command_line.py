"""Calls of the command line in this process: what the fixture `run` gives (`conftest.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Ended(NamedTuple):
    """How a call ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]
