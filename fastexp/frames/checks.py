"""What frames of all kinds are asked before anything is charged or read: names of columns."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..errors import ParameterError, ParameterTypeError


def result_name(column: Any, by: Any, name: Any) -> str:
    """What the column of answers is called."""
    chosen = column if name is None else name
    if not isinstance(chosen, str):
        argument = "column" if name is None else "name"
        kind = type(chosen).__name__
        raise ParameterTypeError(f"{argument} must be a column's name, got {kind}")
    if isinstance(by, str) and chosen == by:
        raise ParameterError("name must be given, and differ from by: the answers' column")
    return chosen


def wanted(present: Collection[Any], column: Any, by: Any, person: Any) -> list[str]:
    """The columns that a call needs, each once; refused if the frame has no such column.

    What is no text is left to `release_call`, which refuses it.
    """
    asked = {"column": column, "by": by, "person": person}
    named = {argument: name for argument, name in asked.items() if isinstance(name, str)}
    for argument, name in named.items():
        if name not in present:
            raise ParameterError(f"{argument} must be a column of the frame, got {name!r}")
    return list(dict.fromkeys(named.values()))
