"""TOML files of bounded size and depth: `tomllib`'s time and memory are quadratic in depth."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import Any

MAX_BYTES = 1 << 20
MAX_DEPTH = 8  # most dots in a key, and most brackets within brackets
TOKEN = re.compile(
    r'"""(?:[^"\\]++|\\[\s\S]?|""?(?!"))*+"{0,5}'  # strings of many lines or one, to be skipped
    r"|'''(?:[^']++|''?(?!'))*+'{0,5}"
    r'|"(?:[^"\\\n]++|\\[^\n]?)*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+"
    r"|[=,\n]++"  # a key has ended
    r"|[][{}.]"
)


def parsed(raw: bytes, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Return the tables of a TOML file; ValueError if it is invalid, too large or too deep."""
    if len(raw) > MAX_BYTES:
        raise ValueError(f"a file must have at most {MAX_BYTES >> 20} MB")
    text = raw.decode("utf-8-sig")
    _check_depth(text)
    return tomllib.loads(text, parse_float=parse_float)


def _check_depth(text: str) -> None:
    """Refuse a key with too many dots, and brackets that are nested too deeply."""
    dots = depth = 0
    for token in TOKEN.finditer(text):
        mark = token[0]
        if mark == ".":
            dots += 1
        elif mark[0] not in "\"'#":
            dots, depth = 0, depth + (mark in "[{") - (mark in "]}")
        if dots > MAX_DEPTH or depth > MAX_DEPTH:
            rule = "a key must have at most {} dots" if dots else "brackets must be at most {} deep"
            line = 1 + text.count("\n", 0, token.start())
            raise ValueError(f"{rule.format(MAX_DEPTH)} (at line {line})")
