"""Objects of others, whose own errors may hold data: what is asked of them without any."""

from __future__ import annotations

from typing import Any

from ..errors import ParameterTypeError


def attribute(thing: object, name: str, default: object = None) -> Any:
    """An attribute; the default where there is none, or where asking for it fails."""
    try:
        return getattr(thing, name, default)
    except Exception:  # its message may hold data
        return default


def has(thing: object, *names: str) -> bool:
    """Whether there are attributes of all these names."""
    absent = object()
    return all(attribute(thing, name, absent) is not absent for name in names)


def is_a(thing: object, kinds: type | tuple[type, ...]) -> bool:
    """Whether it is an instance; an object that cannot even be asked is none."""
    try:
        return isinstance(thing, kinds)
    except Exception:  # its message may hold data
        return False


def is_pandas(thing: Any) -> bool:
    """Whether it is a series, an index or an array of pandas, or like one, without its import."""
    return has(thing, "isna", "to_numpy")


def readable(thing: object, argument: str) -> None:
    """Refuse what cannot even be asked for its type, such as a proxy whose object is gone."""
    if attribute(thing, "__class__") is None:
        raise ParameterTypeError(
            f"{argument} must be data, got an object that fails when it is read"
        )


def is_interrupt(failure: Exception) -> bool:
    """Whether it stands for what the handler of a signal raised, in the words of DuckDB.

    Such a failure says nothing of the data: it is to be a KeyboardInterrupt again.
    """
    return type(failure) is RuntimeError and str(failure) == "Query interrupted"


def length(thing: Any) -> int | None:
    """How many entries there are; None where that is not known."""
    try:
        return len(thing)
    except Exception:  # it has none, or fails
        return None


def agree(index: Any, other: Any) -> bool:
    """Whether two pandas indexes are equal; objects without an index count as equal."""
    if not (has(index, "equals") and has(other, "equals")):
        return True
    try:
        return bool(index.equals(other))
    except Exception:  # of a foreign object; its message may hold data
        return False
