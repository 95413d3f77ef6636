"""The code of the pages runs, in the order of its cells."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import pytest

DOCS = Path(__file__).parents[1] / "docs"
CELL = re.compile(r"^```\{code-cell\}\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page", sorted(path.relative_to(DOCS) for path in DOCS.rglob("*.md")), ids=str
)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    cells = CELL.findall((DOCS / page).read_text(encoding="utf-8"))
    for cell in cells:
        exec(compile(cell, str(page), "exec"), names)  # noqa: S102  # our own pages
    assert cells
