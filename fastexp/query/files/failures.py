"""Errors of DuckDB as ours, without its messages, which quote rows; interrupts stay interrupts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..._parameters.foreign import is_interrupt
from ...errors import FastexpError
from .paths import File

T = TypeVar("T")
FULL = "takes more memory than it may (a larger memory= may help)"
DAMAGED = "cannot be read to its end (cut off, damaged, or not compressed as its name says?)"
OF_FILES = ("IOException", "EOFError", "error")  # the last of zlib


def attempted(read: Callable[[], T], file: File, form: str, error: type[FastexpError]) -> T:
    """What `read`, which asks DuckDB, returns; an interrupt of it is a KeyboardInterrupt.

    Where DuckDB fails, `error` says what `form` the file must have; the failure is no context of
    it.
    """
    try:
        return read()
    except (FastexpError, MemoryError):
        raise
    except Exception as failure:
        name = type(failure).__name__
        interrupted = is_interrupt(failure)
        damaged = name in OF_FILES or isinstance(failure, OSError)
        reason = DAMAGED if damaged else FULL if name == "OutOfMemoryException" else ""
    if interrupted:
        raise KeyboardInterrupt
    raise error(f"{file.called} {reason or f'must be {form}'}")
