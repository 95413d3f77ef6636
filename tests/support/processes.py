"""Processes that a test starts and that end with it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def started(command: list[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """A process that is killed where the block has not waited for its end."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()
