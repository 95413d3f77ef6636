"""One pass over the rows: in memory as far as they fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._keys.group_names import Names
from ...grouped.contribution import Rows, persons_of
from .call import Call
from .draws import in_memory
from .parts import Held
from .reader import Reader
from .uses import Uses

if TYPE_CHECKING:
    from ..disk.memory import Room


def read_and_draw(
    call: Call, uses: Uses, parts: Iterator[Sequence[Any]], room: Room | None
) -> tuple[Names, list[Any]]:
    """The groups in order, and each answer for all of them.

    room: where rows go that do not fit into memory; None: they stay there.
    """
    reader = Reader(call, uses)
    held = Held(reader.none(), streamed=room is not None)
    for columns in parts:
        held.add(reader.part(columns))
        if room is not None and held.bytes > room.memory:
            from .beyond import beyond_memory

            return beyond_memory(call, reader, held, parts, room)
    part = held.joined()
    names, order = reader.groups.numbering()
    codes = part.codes
    if order is not None:  # of groups of the data, which were numbered as they came
        place = np.empty(order.size + 1, np.int64)
        place[order], place[-1] = np.arange(order.size), -1
        codes = place[codes]
    rows = Rows(codes, names)
    if part.persons is not None:
        rows = Rows(codes, names, *persons_of(part.persons))
    return names, in_memory(call, reader, rows, part).answers(None)
