"""Keys of files in which all is text: integers, if all of them are written as integers are."""

from __future__ import annotations

import re
from typing import Any

INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)  # 007 and +7 are text
INT64 = range(-(1 << 63), 1 << 63)


def settled(keys: list[Any], written: bool) -> list[Any]:
    """The keys of a column, as integers where they are `written` as such."""
    return [int(key) for key in keys] if written and keys and all(map(is_integer, keys)) else keys


def is_integer(text: str) -> bool:
    """Whether a text is an integer of 64 bits, without a sign or zeros that say nothing."""
    return len(text) < 21 and INTEGER.fullmatch(text) is not None and int(text) in INT64
