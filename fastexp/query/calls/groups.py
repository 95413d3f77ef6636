"""Reading the public list of groups of a query, in any of its forms."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ..._keys.group_lists import names_of_columns
from ..._keys.group_names import Names
from ..._keys.key_columns import joined, read
from ..._keys.keys import Keys
from ..._keys.product import Product
from ..._parameters.foreign import readable
from ...errors import FastexpError, ParameterError, ParameterTypeError
from ...grouped.private_groups import PrivateGroups
from ...grouped.request import is_from_data, listed_groups
from ..engines.frame import ColumnRead, Frame
from ..frames.find import frame_of


def groups_of(groups: object, by: Sequence[str]) -> Names | PrivateGroups | None:
    """Return the public list of groups in its order; None for ``"from-data"``.

    The list is a sequence of distinct keys (of tuples, for several columns), a `Product` of the
    columns `by` in any order, or a frame of any kind or the path of a file with these columns and
    perhaps others. `PrivateGroups` are returned as they are.
    """
    readable(groups, "groups")
    if is_from_data(groups):
        return None
    if type(groups) is PrivateGroups:
        return groups
    if isinstance(groups, Names):  # the groups of another query
        return listed_groups(groups, len(by))
    if isinstance(groups, Product):
        if set(groups.names) != set(by):
            columns = ", ".join(map(repr, groups.names))
            raise ParameterError(
                f"groups must be a product of the columns {', '.join(map(repr, by))}, the columns "
                f"of by, got {columns}"
            )
        return groups.group_names(by)
    try:
        frame = _frame(groups)
        return listed_groups(groups, len(by)) if frame is None else _of_frame(frame, by)
    except FastexpError as error:  # it calls the groups a frame
        if str(error).startswith("groups"):
            raise
        if isinstance(groups, str) and groups == "private":
            raise ParameterError(
                "groups must be a public list or the path of one, got 'private': for private "
                "groups pass fastexp.PrivateGroups(delta=...)"
            ) from None
        one = f" (to list one group, pass [{groups!r}])" if isinstance(groups, str) else ""
        raise type(error)(f"groups: {error}{one}") from None


def _frame(groups: object) -> Frame | None:
    """The frame or file with the groups; None for a sequence."""
    if isinstance(groups, (list, tuple, range, np.ndarray)):
        return None
    if isinstance(groups, (str, os.PathLike, dict)):
        return frame_of(groups)
    try:
        return frame_of(groups)
    except ParameterTypeError:  # a series or an array; `listed_groups` refuses other objects
        return None


def _of_frame(frame: Frame, by: Sequence[str]) -> Names:
    present = frame.names()
    if present is not None and len(by) == len(present) == 1:
        by = present  # a single column may have any name
    for name in by:
        if present is not None and present.count(name) != 1:
            got = "several" if name in present else "none"
            raise ParameterError(f"groups must have one column named {name!r}, got {got}")
    columns: list[list[Keys]] = [[] for _ in by]
    uses = [ColumnRead(name, "keys") for name in by]
    frame.empty(uses)  # refuses what is no column
    for part in frame.parts(uses):
        for name, chunks, column in zip(by, columns, part, strict=True):
            chunks.append(read(column, f"groups[{name!r}]"))
    return names_of_columns([joined(chunks, "groups") for chunks in columns])
