"""Which records count: those of listed groups that are there, within what a person may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._intake import arrays
from .._keys.group_keys import numbered
from .._keys.group_names import Names
from .._keys.keys import Keys
from .._typing import AnyArray, IntArray, WordArray
from ..errors import InvalidRecords
from .mechanism import GroupedMechanism


class Limits(NamedTuple):
    """In how many groups a person counts, and with how many records in each of them."""

    groups: int
    rows: int


class Rows(NamedTuple):
    """The group and the person of each record, by number: -1 for none."""

    codes: IntArray
    names: Names
    persons: IntArray | None = None  # None: each record is a person
    person_words: WordArray | None = None  # what persons are called in digests


def persons_of(keys: Keys) -> tuple[IntArray, WordArray]:
    """The number of each record's person, and what persons are called in digests."""
    numbers, people = numbered([keys], "person")
    return numbers, people.name_words()


def counted(
    rows: Rows,
    values: AnyArray,
    missing: AnyArray | None,
    nan: str,
    limits: Limits,
    mechanism: GroupedMechanism,
    choice: Callable[[], bytes],
) -> tuple[IntArray, AnyArray]:
    """The group of each record that counts, -1 for others; and records without gaps.

    Records that `nan` leaves out do not compete for what their person may have. `choice` is
    the key of the choice among too many, and is made only where there are persons.
    """
    codes, values = present(rows.codes, values, missing, nan)
    return bounded(rows, codes, values, limits, mechanism, choice), values


def present(
    codes: IntArray, values: AnyArray, missing: AnyArray | None, nan: str
) -> tuple[IntArray, AnyArray]:
    """The groups of the records that are there, -1 for others; and records without gaps."""
    if missing is None or not missing.any():
        return codes, values
    if nan == "raise" and bool((missing & (codes >= 0)).any()):
        raise InvalidRecords(arrays.MISSING)
    if nan in ("raise", "drop"):
        return np.where(missing, -1, codes), values
    return codes, arrays.filled(values, missing, nan)


def bounded(
    rows: Rows,
    codes: IntArray,
    values: AnyArray,
    limits: Limits,
    mechanism: GroupedMechanism,
    choice: Callable[[], bytes],
) -> IntArray:
    """The groups of `codes`, with -1 for what a person has beyond the limits."""
    if rows.persons is None or rows.person_words is None:
        return codes
    from . import contribution

    of_groups = codes >= 0
    mapped = np.zeros(codes.size, np.int64)
    mapped[of_groups] = mechanism._place(np.ascontiguousarray(values[of_groups]))  # no gaps
    within = contribution.keep(
        codes,
        rows.persons,
        rows.person_words,
        rows.names.name_words(),
        mapped,
        limits.groups,
        limits.rows,
        choice(),
    )
    return np.where(within, codes, -1)
