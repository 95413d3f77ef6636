"""Streams that can be read once: what was read here, or is closed, is refused before a charge."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

from ..._parameters.foreign import attribute, has
from ...errors import ParameterError

AGAIN = (
    "frame must be a stream that was not read yet, got one whose rows are gone: make the stream "
    "anew, or read it into a table, which can be given again"
)
_READ: WeakValueDictionary[int, Any] = WeakValueDictionary()  # by id: a stream may have no hash


def check_unread(frame: object) -> None:
    """Refuse a stream that this process gave to `note_read`, or that says that it is closed.

    One that others read cannot be told from one without rows, which must not be refused.
    """
    if _READ.get(id(frame)) is frame or attribute(frame, "closed") is True:
        raise ParameterError(AGAIN)


def note_read(frame: object) -> None:
    """Remember an iterator for as long as it lives: it is read from now on, and only once."""
    if has(type(frame), "__next__"):
        with suppress(TypeError):  # its type allows no weak references
            _READ[id(frame)] = frame
