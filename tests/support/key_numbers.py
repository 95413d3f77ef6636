"""The keys of one column by number, as groups and persons of the data are numbered."""

from __future__ import annotations

from typing import Any

from fastexp._keys.group_keys import numbered
from fastexp._keys.group_names import Names
from fastexp._keys.key_columns import read
from fastexp._typing import IntArray


def distinct(keys: Any, argument: str) -> tuple[IntArray, Names]:
    """The number of each row's key, and the keys in increasing order."""
    return numbered([read(keys, argument)], argument)
