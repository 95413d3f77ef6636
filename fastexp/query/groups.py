"""The public list of groups of a query, in whatever form."""

from __future__ import annotations

from typing import Any

from .._group_keys import names_of, names_of_tuples
from .._group_names import Names
from ..grouped.request import is_from_data


def groups_of(groups: Any, by: tuple[str, ...]) -> Names | None:
    """The list, in the order of the columns `by`; None for groups from the data."""
    if is_from_data(groups):
        return None
    return names_of(groups) if len(by) == 1 else names_of_tuples(groups, len(by))
