"""Are the notebooks of the built site their pages' code? ``python -m tests.docs.notebooks FOLDER``.

A tutorial offers one notebook. It has the cells that the page shows, in order, and no text that
only Sphinx understands.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from tests.docs.page_code import DOCS, Block, blocks

TUTORIALS = [p for p in sorted((DOCS / "tutorial").glob("*.md")) if p.stem != "index"]
SPHINX_ONLY = re.compile(r"\{[a-z-]+\}`|^:::|^% |\.md[#)]", re.MULTILINE)


def shown(page: str) -> list[Block]:
    """The cells of a page's text that its reader sees."""
    cells = [block for block in blocks(page) if block.language == "code-cell"]
    return [cell for cell in cells if "remove-cell" not in cell.tags]


def mistakes(site: Path, pages: list[Path] = TUTORIALS) -> list[str]:
    """What is wrong with the notebook of each page."""
    lines = []
    for page in pages:
        found = list(site.glob(f"_downloads/*/{page.stem}.ipynb"))
        if len(found) != 1:
            lines.append(f"{page.name}: {len(found)} notebooks")
            continue
        text: dict[str, list[str]] = {"code": [], "markdown": []}
        for cell in json.loads(found[0].read_text(encoding="utf-8"))["cells"]:
            text[cell["cell_type"]].append("".join(cell["source"]).strip())
        if text["code"] != [cell.text.strip() for cell in shown(page.read_text(encoding="utf-8"))]:
            lines.append(f"{page.name}: other code than the page")
        lines += [f"{page.name}: {m[0]}" for m in SPHINX_ONLY.finditer("\n".join(text["markdown"]))]
    return lines


if __name__ == "__main__":
    wrong = mistakes(Path(sys.argv[1]))
    print("\n".join(wrong) or "every notebook is its page's code")
    sys.exit(bool(wrong))
