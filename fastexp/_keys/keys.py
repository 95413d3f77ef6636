"""Keys of rows: numbers, and a tag for their meaning.

A key is an integer, a text, a boolean, a date or a timestamp. All except texts are numbers of at
most 64 bits: booleans are 0 and 1, dates are days since 1970-01-01, timestamps are ticks of a
stated unit since that day began, without a zone. Texts are entries of a dictionary. Keys of two
kinds are never equal: 1, True and "1" are three keys, a date and its midnight are two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from .._parameters.validate import is_utf8
from .._typing import AnyArray, IntArray
from ..errors import FastexpError

KeyKind: TypeAlias = Literal["integers", "text", "booleans", "dates", "timestamps"]
Unit: TypeAlias = Literal["", "s", "ms", "us", "ns"]  # of timestamps only

TICKS: dict[Unit, int] = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # ticks per second
NAT = -(1 << 63)  # NumPy's missing date or timestamp; missing in all other forms, too
HIGHEST, LOWEST = (1 << 63) - 1, -(1 << 63)
BEYOND = (
    "{} must hold integers within int64 (timestamps: as counts of their finest unit), or texts in "
    "UTF-8"
)


@dataclass(frozen=True, eq=False, slots=True)
class Keys:
    """The keys of some rows.

    The numbers in `values` are of any dtype that int64 holds. Row i of the kind "text" is
    `texts[values[i]]`; -1 is none of these. Texts are distinct, and may occur in no row.
    """

    kind: KeyKind | None  # None: there is no key
    values: AnyArray
    valid: AnyArray | None = None  # which rows have a key; None: all of them
    unit: Unit = ""
    texts: Sequence[str] = ()
    exceeds_int64: bool = False  # whether rows that are not valid have integers beyond int64

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.values.size

    @property
    def has_key(self) -> AnyArray:
        """A mask of the rows that have a key."""
        return np.ones(self.size, np.bool_) if self.valid is None else self.valid

    def taken(self, index: Any) -> Keys:
        """Return the rows at these places."""
        valid = None if self.valid is None else self.valid[index]
        return replace(self, values=self.values[index], valid=valid)

    def nameable(self) -> Keys:
        """Return the rows; keys that are beyond int64 or not UTF-8 become missing."""
        if is_utf8("".join(self.texts)):
            return replace(self, exceeds_int64=False)
        is_name = np.array([*map(is_utf8, self.texts), False])
        values = np.where(is_name, np.cumsum(is_name) - 1, -1)[self.values]
        texts = [text for text in self.texts if is_utf8(text)]
        return replace(self, values=values, valid=values >= 0, texts=texts)

    def numbers(self, argument: str, error: type[FastexpError]) -> IntArray:
        """Return the numbers of all rows; refuse keys that are beyond int64 or not UTF-8."""
        if self.exceeds_int64 or not is_utf8("".join(self.texts)):
            raise error(BEYOND.format(argument))
        return np.ascontiguousarray(self.values, dtype=np.int64)


def finest(units: Iterable[Unit]) -> Unit:
    """Return the unit with the most ticks per second."""
    return max(units, key=lambda unit: TICKS.get(unit, 0), default="")


def in_unit(numbers: IntArray, unit: Unit, other: Unit) -> tuple[IntArray, AnyArray | None]:
    """Return (numbers, mask) of timestamps in another unit, for those that it can hold exactly.

    The mask None stands for all of them.
    """
    if unit == other:
        return numbers, None
    if TICKS[other] > TICKS[unit]:
        factor = TICKS[other] // TICKS[unit]
        most = HIGHEST // factor
        fit = (numbers <= most) & (numbers >= -most)
        return numbers[fit] * factor, fit
    factor = TICKS[unit] // TICKS[other]
    fit = numbers % factor == 0
    return numbers[fit] // factor, fit
