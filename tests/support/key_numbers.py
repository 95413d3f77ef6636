"""The keys of one column by number, as groups and persons of the data are numbered."""

from __future__ import annotations

from typing import Any

from tests.doors.keys import Names, numbered, read
from tests.doors.shared import IntArray


def distinct(keys: Any, argument: str) -> tuple[IntArray, Names]:
    """The number of each row's key, and the keys in increasing order."""
    return numbered([read(keys, argument)], argument)
