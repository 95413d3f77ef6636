"""Signals that end a command: remembered, and held back while answers are on their way.

SIGTERM and SIGHUP end it as SIGINT does, by a KeyboardInterrupt, so that copies of rows go with
it. All are remembered, as what is imported or called back may swallow that (numba catches
everything while it is imported; Python only warns of one in a destructor): a release asks, right
before it is charged, whether there was one. From the draw until its answers are about to be shown
the first one waits, so that none comes where answers are nowhere but in memory.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
UNTOUCHED = (signal.default_int_handler, signal.SIG_DFL)  # what they have where nobody took them
BY_A_SIGNAL = 128  # what shells add to the number of a signal
_seen: list[int] = []
_waits = threading.Event()  # whether the next one waits


@contextmanager
def remembered() -> Iterator[None]:
    """They are remembered from here on; where one is ignored, or another's, nothing changes."""
    _seen.clear()
    _waits.clear()
    replaced = {}
    if threading.current_thread() is threading.main_thread():
        numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
        handlers = {number: signal.getsignal(number) for number in numbers}
        replaced = {number: handler for number, handler in handlers.items() if handler in UNTOUCHED}
    try:
        for number in replaced:
            signal.signal(number, _remember)
        yield
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)


def check() -> None:
    """Stop here, if there was one that nobody heeded."""
    if _seen:
        raise KeyboardInterrupt


def hold() -> None:
    """Let the next one wait until `heed`; a second one does not wait."""
    _waits.set()


def heed() -> None:
    """Hold none back any more, and stop here if there was one."""
    _waits.clear()
    check()


def exit_code() -> int:
    """That of a command that was interrupted."""
    return BY_A_SIGNAL + (_seen[-1] if _seen else signal.SIGINT)


def _remember(number: int, frame: FrameType | None) -> None:
    _seen.append(number)
    if _waits.is_set():
        _waits.clear()
    else:
        signal.default_int_handler(number, frame)
