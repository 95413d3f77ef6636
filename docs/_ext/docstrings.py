"""Docstrings as they are written for ``help()``, made ready for Sphinx."""

from __future__ import annotations

import re
from typing import Any

BARS = re.compile(r"``.*?``|\|(?=[^\s|][^|]*\|)")  # literal text; |x|, which is no substitution


def absolute_values(*event: Any) -> None:
    """Keep |x| as it is: without this it would be a name that nobody has defined."""
    lines: list[str] = event[-1]
    lines[:] = [BARS.sub(lambda bar: bar[0] if len(bar[0]) > 1 else r"\|", line) for line in lines]


def setup(app: Any) -> dict[str, bool]:
    """Be heard after numpydoc."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", absolute_values, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
