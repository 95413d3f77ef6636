"""One pass over the rows: in memory as far as they fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._keys.group_keys import Codes
from ..._keys.group_names import Names
from ...grouped.counted import Rows, persons_of
from ...grouped.intake import grouped
from .answers import naming
from .call import Call
from .draws import counted, together
from .parts import Held
from .reader import Reader, Uses

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
        codes = np.append(np.argsort(order), -1)[codes]
    rows = Rows(codes, names, *(() if part.persons is None else persons_of(part.persons)))
    results = call.results(names.size)
    for reading, which in together(call, reader):
        values, missing = part.records[reading], part.missing[reading]
        present = codes if missing is None else np.where(missing, -1, codes)
        with naming(call.answers[which[0]].column):
            counted_codes = counted(call, which[0], rows, present, values)
            segments = grouped(
                results.ranks(which), values, Codes(counted_codes), names.size, call.threads
            )
            results.draw(which, segments, names)
    return names, results.answers(None)
