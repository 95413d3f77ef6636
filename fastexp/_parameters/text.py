"""Text for people: anybody's as one line that changes no colours, and numbers, all alike."""

from __future__ import annotations

LARGEST = 1e15  # from here on with a power of ten: a float64 is no longer exact to the unit


def printable(text: str, keep: str = "") -> str:
    """A text with what cannot be printed shown by its code, except for characters to keep."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else repr(c)[1:-1] for c in text)


def readable(x: float | None, digits: int = 6) -> str:
    """A number as tables, axes and titles have it: "19,100", "0.0525", "1e-5", "-" for none.

    Integers in full, others with so many digits, or more where those are before the point.
    """
    if x is None or x != x:
        return "-"
    if isinstance(x, int):
        return f"{x:,}"
    text, _, power = f"{x:,.{digits}g}".partition("e")
    if not power:
        return text
    return f"{x:,.0f}" if 1 <= abs(x) < LARGEST else f"{text}e{int(power)}"
