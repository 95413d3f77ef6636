"""Printing: results on stdout, everything else on stderr; text, or one JSON object."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from typing import Any

from ..._parameters.text import printable


def note(text: str) -> None:
    """Print lines on stderr; a stderr that is closed is not a failure."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(*map(printable, text.split("\n")), sep="\n", file=sys.stderr, flush=True)


def rewritten(text: str) -> None:
    """Print text on stderr without a new line, so that it can be rewritten."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(text, end="", file=sys.stderr, flush=True)


def line(text: str) -> None:
    """Print one line on stdout that may contain foreign text, such as a label or a path."""
    print(printable(text))


def as_json(values: dict[str, Any]) -> None:
    """Print one JSON object on stdout."""
    print(json_text(values, sys.stdout.encoding or "utf-8"))


def json_text(value: object, encoding: str = "utf-8") -> str:
    """Return JSON that every terminal shows as it is; numbers that JSON lacks become null.

    Characters that are not printable, or that the encoding lacks, are escaped.
    """
    text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)
    hidden = {c for c in set(text) if not (c.isprintable() and c.encode(encoding, "ignore"))}
    escapes = {ord(c): json.dumps(c)[1:-1] for c in hidden} | {0x7F: "\\u007f"}  # json keeps it
    return text.translate(escapes)


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
