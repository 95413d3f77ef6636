"""One pass over the rows: in memory as far as they fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._keys.group_names import Names
from ..grouped.counted import Rows
from .draws import in_memory
from .rows import Held, Reader, persons_of

if TYPE_CHECKING:
    from .call import Way
    from .columns import Uses
    from .memory import Room


def drawn(
    way: Way, uses: Uses, parts: Iterator[Sequence[Any]], room: Room | None
) -> tuple[Names, list[Any]]:
    """The groups in order, and each answer for all of them.

    room: where rows go that do not fit into memory; None: they stay there.
    """
    reader = Reader(way, uses)
    held = Held(reader, streamed=room is not None)
    for columns in parts:
        held.add(reader.part(columns))
        if room is not None and held.bytes > room.memory:
            from .beyond import beyond_memory

            return beyond_memory(way, reader, held, parts, room)
    part = held.joined()
    names, order = reader.groups.settled()
    codes = part.codes
    if order is not None:  # of groups of the data, which were numbered as they came
        place = np.empty(order.size + 1, np.int64)
        place[order], place[-1] = np.arange(order.size), -1
        codes = place[codes]
    rows = Rows(codes, names)
    if part.persons is not None:
        rows = Rows(codes, names, *persons_of(part.persons))
    return names, in_memory(way, reader, rows, part).answers(None)
