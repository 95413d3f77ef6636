"""Which group or person a row is of: by a public list, or by numbering keys as they come."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .._group_keys import names_of
from .._key_names import KeyNames
from .._key_rows import Rows
from .._key_values import present
from .._typing import IntArray
from .reading import INT64

INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)  # as it is written; 007 is text


class Listed:
    """Keys of a public list."""

    def __init__(self, names: KeyNames) -> None:
        self.names, self.size = names, names.size

    def codes(self, rows: list[Rows]) -> IntArray:
        """The place of each row's key in the list, -1 if it is not there."""
        return _joined([self.names.codes(part) for part in rows])


class Found:
    """Keys that are numbered as they come; they are as private as the rows.

    Parameters
    ----------
    argument : str
        What messages call them.
    written : bool
        Whether they come from CSV, where integers are texts.
    """

    def __init__(self, argument: str, written: bool) -> None:
        self._argument, self._written = argument, written
        self._places: dict[Any, int] = {}

    @property
    def size(self) -> int:
        """How many there are so far."""
        return len(self._places)

    def codes(self, rows: list[Rows]) -> IntArray:
        """The number of each row's key, -1 if it is missing."""
        return _joined([self._codes(part) for part in rows])

    def _codes(self, rows: Rows) -> IntArray:
        found = present(rows, self._argument)
        keys = list(dict.fromkeys(found if isinstance(found, list) else found.tolist()))
        local = (
            KeyNames("text", tuple(keys))
            if _are_texts(keys)
            else KeyNames("integers", np.array(keys, np.int64))
        )
        places = self._places
        numbers = [places.setdefault(key, len(places)) for key in keys]
        codes = local.codes(rows)
        return np.append(np.array(numbers, np.int64), -1)[codes]

    def settled(self) -> tuple[KeyNames, IntArray]:
        """All keys in increasing order, and the place there of the one with each number.

        Texts of CSV that are all integers as they are written count as such.
        """
        keys: list[Any] = list(self._places)
        if self._written and keys and all(map(is_integer, keys)):
            keys = [int(key) for key in keys]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        places = np.full(len(keys) + 1, -1)  # of -1, too
        places[order] = np.arange(len(keys))
        return names_of([keys[i] for i in order], self._argument), places


Keys = Listed | Found


def is_integer(text: str) -> bool:
    """Whether a text is an integer of 64 bits, without a sign or zeros that say nothing."""
    return len(text) < 21 and INTEGER.fullmatch(text) is not None and int(text) in INT64


def _are_texts(keys: list[Any]) -> bool:
    return bool(keys) and isinstance(keys[0], str)


def _joined(parts: list[IntArray]) -> IntArray:
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.int64), *parts])
