"""Files that no page asks for are not part of the site: it would be twice as large."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

USED = {"tex-chtml.js", "output", "input", "ui", "a11y", "sre"}  # of MathJax, at its top
UNUSED = ("mathjax/output/svg*", "mathjax/input/tex-*.js", "**/*.map")


def remove_unused(app: Any, exception: Exception | None) -> None:
    """Remove other bundles of MathJax, and what only maintainers of scripts need."""
    static = Path(app.outdir, "_static")
    if exception is not None or not static.is_dir():
        return
    others = [path for path in static.glob("mathjax/*") if path.name not in USED]
    for path in others + [path for pattern in UNUSED for path in static.glob(pattern)]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def setup(app: Any) -> dict[str, bool]:
    """Be called after the extension that copies MathJax."""
    app.connect("build-finished", remove_unused, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
