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

UNTOUCHED = {  # signals, and what they have where nobody else took them
    "SIGINT": signal.default_int_handler,
    "SIGTERM": signal.SIG_DFL,
    "SIGHUP": signal.SIG_DFL,
}
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
        for name, handler in UNTOUCHED.items():
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            if number is not None and signal.getsignal(number) == handler:
                replaced[number] = handler
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
