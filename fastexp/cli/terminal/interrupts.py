"""Signals that end a command: remembered, and held back while answers are in memory only.

SIGTERM and SIGHUP end a command as SIGINT does, by a KeyboardInterrupt, so that copies of rows are
removed. Signals are also remembered, because code that is imported or called back may swallow the
exception (numba catches all exceptions while it is imported; Python only warns of one in a
destructor): right before its charge, a release checks whether there was a signal. From the draw
until answers are about to be shown, the first signal waits, as answers are in memory only.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
UNTOUCHED = (signal.default_int_handler, signal.SIG_DFL)  # handlers that nobody has replaced
BY_A_SIGNAL = 128  # shells add this to the number of a signal
_seen: list[int] = []
_waits = threading.Event()  # whether the next signal waits


@contextmanager
def remembered() -> Iterator[None]:
    """Remember signals in this block, except those that are ignored or have another handler."""
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
    """Raise KeyboardInterrupt if there was a signal."""
    if _seen:
        raise KeyboardInterrupt


def hold() -> None:
    """Let the next signal wait until `heed`; a second one does not wait."""
    _waits.set()


def heed() -> None:
    """Hold back no more signals, and raise KeyboardInterrupt if there was one."""
    _waits.clear()
    check()


def exit_code() -> int:
    """Return the exit code of a command that was interrupted."""
    return BY_A_SIGNAL + (_seen[-1] if _seen else signal.SIGINT)


def _remember(number: int, frame: FrameType | None) -> None:
    _seen.append(number)
    if _waits.is_set():
        _waits.clear()
    else:
        signal.default_int_handler(number, frame)
