"""How a value differs from what the book has, in a line or some."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

TOLERANCE = 1e-12  # relative, of figures; absolute where a figure is 0
LINES = 12  # of a difference between texts
NOTHING = object()


def differences(place: str, old: Any, new: Any) -> Iterator[str]:
    """What changed, each with the place where it did."""
    if old is NOTHING or new is NOTHING:
        yield f"{place}: {'is new' if old is NOTHING else 'is gone'}"
    elif isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from differences(
                _inside(place, key), old.get(key, NOTHING), new.get(key, NOTHING)
            )
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(f"{place}[{i}]", *pair)
    elif not _equal(old, new):
        yield f"{place}: {_change(old, new)}"


def _inside(place: str, key: str) -> str:
    return f"{place}{'.' if key.isidentifier() else ' / '}{key}"


def _equal(old: Any, new: Any) -> bool:
    """Figures to the tolerance, whatever else exactly."""
    if isinstance(old, float) and isinstance(new, float):
        if math.isnan(old) or math.isnan(new):
            return math.isnan(old) and math.isnan(new)
        return math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=0 if old else TOLERANCE)
    return type(old) is type(new) and bool(old == new)


def _change(old: Any, new: Any) -> str:
    """One change as a text."""
    if not (isinstance(old, str) and isinstance(new, str)):
        return f"{old!r} -> {new!r}"
    if "\n" in old or "\n" in new:
        return "\n" + "\n".join(_lines(old, new))
    pairs = list(zip(old.split(), new.split(), strict=False))
    changes = [(i, a, b) for i, (a, b) in enumerate(pairs) if a != b]
    if len(old.split()) != len(new.split()) or len(pairs) < 4 or not changes:
        return f"{old!r} -> {new!r}"
    i, a, b = changes[0]
    if i == len(pairs) - 1 and pairs[i - 1][0] == "...":
        return f"the draws that are written agree, later ones do not ({a} -> {b})"
    return f"{len(changes)} of {len(pairs)} words differ, first at {i}: {a} -> {b}"


def _lines(old: str, new: str) -> list[str]:
    """The beginning of the difference of two texts."""
    changed = list(
        difflib.unified_diff(old.splitlines(), new.splitlines(), "book", "now", "", "", 1, "")
    )
    left = len(changed) - LINES
    return [*islice(changed, LINES), *([f"... {left} more lines"] if left > 0 else [])]
