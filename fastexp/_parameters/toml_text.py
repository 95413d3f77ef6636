"""TOML files of bounded size and depth, as time and memory of `tomllib` are quadratic in depth."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import Any

MAX_BYTES = 1 << 20
MAX_DEPTH = 8  # dots of a key, and brackets within brackets
TOKEN = re.compile(
    r'"""(?:[^"\\]++|\\[\s\S]?|""?(?!"))*+"{0,5}'  # strings: of many lines, of one; to be skipped
    r"|'''(?:[^']++|''?(?!'))*+'{0,5}"
    r'|"(?:[^"\\\n]++|\\[^\n]?)*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+"
    r"|[=,\n]++"  # a key has ended
    r"|[][{}.]"
)


def parsed(raw: bytes, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The tables of a TOML file; ValueError if it is none, or is too large or nested too deeply."""
    if len(raw) > MAX_BYTES:
        raise ValueError(f"a file must have at most {MAX_BYTES >> 20} MB")
    text = raw.decode("utf-8-sig")
    _check_depth(text)
    return tomllib.loads(text, parse_float=parse_float)


def _check_depth(text: str) -> None:
    """Refuse a key of too many dots, and brackets within too many others."""
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
