"""Another value of a constant or a function for a while: rare paths become common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def changed(*changes: tuple[Any, str, Any]) -> Iterator[None]:
    """Attributes of modules with other values for a while."""
    kept = [(where, name, getattr(where, name)) for where, name, _ in changes]
    try:
        for where, name, value in changes:
            setattr(where, name, value)
        yield
    finally:
        for where, name, value in kept:
            setattr(where, name, value)
