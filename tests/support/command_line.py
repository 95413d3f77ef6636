"""Calls of the command line in this process: what the fixture `run` gives (`conftest.py`)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple


class Ended(NamedTuple):
    """How a call ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@contextmanager
def released_pipes(*pipes: Path) -> Iterator[None]:
    """New named pipes; whoever waits for their other ends has them, empty, after a while."""

    def release() -> None:
        for pipe in pipes:
            with suppress(OSError):
                os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))

    for pipe in pipes:
        os.mkfifo(pipe)
    timer = threading.Timer(30, release)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
