"""The one form of data between input and draw."""

from __future__ import annotations

from typing import NamedTuple

from ..types import Array, Integers


class Segments(NamedTuple):
    """Data sets, one after the other: utilities as 64-bit words of a kind, or records as doubles.

    A data set is a group of one: `rows` is None, and its answer is a number, not an array. Without
    `offsets`, where data sets begin and end, all have the same length.
    """

    values: Array
    kind: int
    rows: int | None = None
    offsets: Integers | None = None
