"""The notebooks that pages offer by ``{nb-download}``, in words that every notebook program shows.

myst-nb runs a page and writes it as a notebook. Here the notebook loses the cells that the page
hides, and its text what only Sphinx understands: roles, directives, remarks, and links to other
pages.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

OFFER = re.compile(r"^\{nb-download\}.*?(\n\n|\Z)", re.MULTILINE | re.DOTALL)
MARKUP = re.compile(r"^(:::.*|% .*)\n?", re.MULTILINE)
ROLE = re.compile(r"\{[a-z]+\}`([^`]*)`")
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")


def _name(role: re.Match[str]) -> str:
    """The title of a role, or its target; of ``~package.name`` the last part."""
    title, _, _ = role[1].partition("<")
    return f"`{title.rpartition('.')[2] if title.startswith('~') else title.strip()}`"


def plain(text: str) -> str:
    """A page's Markdown without what only Sphinx understands."""
    without = MARKUP.sub("", OFFER.sub("", text))
    return LINK.sub(r"\1", ROLE.sub(_name, without)).strip()


def tidy(notebook: dict[str, Any]) -> dict[str, Any]:
    """A notebook of a page, as a reader wants it."""
    cells = []
    for cell in notebook["cells"]:
        if "remove-cell" in cell["metadata"].get("tags", ()):
            continue
        if cell["cell_type"] == "markdown":
            cell = cell | {"source": plain("".join(cell["source"]))}
        cells.append(cell)
    return notebook | {"cells": cells}


def tidy_file(app: Any, _doctree: Any) -> None:
    """Tidy the notebook that myst-nb has just written of the page that is read."""
    path = Path(app.env.mystnb_config.output_folder, f"{app.env.docname}.ipynb")
    if path.is_file():
        notebook = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(tidy(notebook), indent=1, ensure_ascii=False), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """After each page is read."""
    app.connect("doctree-read", tidy_file)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
