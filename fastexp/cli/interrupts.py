"""SIGINT, remembered: what is imported or called back may swallow a KeyboardInterrupt.

(numba catches everything while it is imported; Python only warns of one in a destructor.) So a
release asks, right before it is charged, whether there was one.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_seen = threading.Event()


@contextmanager
def remembered() -> Iterator[None]:
    """SIGINT is remembered from here on; where it is ignored, or another's, nothing changes."""
    _seen.clear()
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def check() -> None:
    """Stop here, if there was one that nobody heeded."""
    if _seen.is_set():
        raise KeyboardInterrupt


def _remember(number: int, frame: FrameType | None) -> None:
    _seen.set()
    signal.default_int_handler(number, frame)
