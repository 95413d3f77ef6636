"""The one form of data between input and draw, and rows in the order of their groups."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ..kernels.bits import FLOAT
from ..kernels.rows import sort_by_code
from ..types import Array, Floats, Integers

PART = 1 << 24  # records that are held at a time, or those of one group


class Segments(NamedTuple):
    """Data sets, one after the other: utilities as 64-bit words of a kind, or records as doubles.

    A data set is a group of one: `rows` is None, and its answer is a number, not an array. Without
    `offsets`, where data sets begin and end, all have the same length.
    """

    values: Array
    kind: int
    rows: int | None = None
    offsets: Integers | None = None


def in_order(codes: Integers, values: Array, count: int) -> tuple[Array, Integers]:
    """Return 64-bit values in the order of their codes below `count`, and where each code begins.

    Values of equal codes stay in order; those of code -1 are left out.
    """
    offsets, out = np.zeros(count + 3, np.int64), np.empty(codes.size, np.int64)
    sort_by_code(codes, values.view(np.int64), offsets, out)
    return out[: offsets[count]].view(values.dtype), offsets[: count + 1]


def segments_of(
    records: Floats, codes: Integers, count: int, times: Integers | None = None
) -> Iterator[Segments]:
    """Give the records of each group: of code 0, ..., count - 1, also of groups without any.

    times: how often each record stands there, for some groups at a time; None: once, for all.
    """
    values, offsets = in_order(codes, records, count)
    if times is None:
        yield Segments(values, FLOAT, count, offsets)
        return
    times, _ = in_order(codes, times, count)
    ends = np.append(0, np.cumsum(times))[offsets]
    a = 0
    while a < count:
        z = max(a + 1, int(np.searchsorted(ends, ends[a] + PART, "right")) - 1)
        own = slice(offsets[a], offsets[z])
        yield Segments(np.repeat(values[own], times[own]), FLOAT, z - a, ends[a : z + 1] - ends[a])
        a = z


def shape(data: Any) -> tuple[int, ...]:
    """Return the lengths of data along their axes, without a look at a value."""
    with suppress(Exception):  # an error of a foreign object may hold data
        if hasattr(data, "shape"):
            return tuple(data.shape)
        if isinstance(data, (list, tuple)) and data:
            return (len(data), *shape(data[0]))
        if hasattr(data, "__len__") and not isinstance(data, str):
            return (len(data),)
    return ()
