"""Packages that only some options need, and that may not be installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .errors import Failure


def optional(name: str) -> Any:
    """Import an optional module; None where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def needed(name: str, option: str) -> Any:
    """Import an optional module that an option cannot do without."""
    module = optional(name)
    if module is None:
        raise Failure(f"{option} needs a package that is not installed: pip install {name}")
    return module
