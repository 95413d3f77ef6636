"""Attributes of foreign objects, read so that their error messages cannot leak data."""

from __future__ import annotations

from typing import Any

from ..errors import ParameterTypeError


def attribute(thing: object, name: str, default: object = None) -> Any:
    """Return an attribute; the default if there is none, or if reading it fails."""
    try:
        return getattr(thing, name, default)
    except Exception:  # its message may hold data
        return default


def has(thing: object, *names: str) -> bool:
    """Whether an object has attributes of all these names."""
    absent = object()
    return all(attribute(thing, name, absent) is not absent for name in names)


def is_a(thing: object, kinds: type | tuple[type, ...]) -> bool:
    """Whether an object is an instance; False if the check itself fails."""
    try:
        return isinstance(thing, kinds)
    except Exception:  # its message may hold data
        return False


def is_pandas(thing: Any) -> bool:
    """Whether an object is a series, index or array of pandas, or like one; imports nothing."""
    return has(thing, "isna", "to_numpy")


def readable(thing: object, argument: str) -> None:
    """Refuse an object whose type cannot be read, such as a proxy of an object that is gone."""
    if attribute(thing, "__class__") is None:
        raise ParameterTypeError(
            f"{argument} must be data, got an object that fails when it is read"
        )


def is_interrupt(failure: Exception) -> bool:
    """Whether a failure is DuckDB's report of an exception from a signal handler.

    Such a failure says nothing about the data: callers turn it into a KeyboardInterrupt again.
    """
    return type(failure) is RuntimeError and str(failure) == "Query interrupted"


def length(thing: Any) -> int | None:
    """Return the number of entries; None if it is not known."""
    try:
        return len(thing)
    except Exception:  # there is no length, or it fails
        return None


def agree(index: Any, other: Any) -> bool:
    """Whether two pandas indexes are equal; objects without an index count as equal."""
    if not (has(index, "equals") and has(other, "equals")):
        return True
    try:
        return bool(index.equals(other))
    except Exception:  # raised by a foreign object; its message may hold data
        return False
