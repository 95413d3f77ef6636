"""Text that may be anybody's, as one line that moves no cursor and changes no colours."""

from __future__ import annotations


def printable(text: str, keep: str = "") -> str:
    """A text with what cannot be printed shown by its code, except for characters to keep."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else repr(c)[1:-1] for c in text)
