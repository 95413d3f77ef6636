"""The code of the README and of the pages runs; the reference has all public names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

import fastexp as fx

ROOMS = "privacy", "studies"
ROOT = Path(__file__).parents[1]
CELL = re.compile(r"^```(?:\{code-cell\}|python)\n(?::.*\n)*(.*?)^```", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^!((?:.*\\\n)*.*)$", re.MULTILINE)  # as in a notebook
ENTRY = re.compile(r"currentmodule:: (\S+)|^   (\w+)$", re.MULTILINE)
PAGES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))}
PAGES |= {ROOT / "README.md": (ROOT / "README.md").read_text(encoding="utf-8")}
CELLS = {str(path.relative_to(ROOT)): CELL.findall(text) for path, text in PAGES.items()}


@pytest.mark.parametrize("page", [page for page, cells in CELLS.items() if cells])
def test_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    names: dict[str, object] = {"__name__": "page", "_run": subprocess.run}
    for cell in CELLS[page]:
        code = SHELL.sub(lambda line: f"_run(['/bin/sh', '-c', {line[1]!r}], check=True)", cell)
        exec(compile(code, page, "exec"), names)  # noqa: S102  # our own pages


def test_reference() -> None:
    """Each public name has one entry; errors have a page of their own."""
    listed, module = [], ""
    for path in sorted((ROOT / "docs" / "reference").glob("*.md")):
        for changed, name in ENTRY.findall(PAGES[path]):
            module = changed or module
            listed += [f"{module}.{name}"] if name else []
    inner = {"fastexp.privacy": fx.privacy.__all__, "fastexp.studies": fx.studies.__all__}
    names = {*fx.__all__}.difference(*inner.values(), ["errors", "PrivacyWarning"], ROOMS)
    inner["fastexp"] = [*names]
    expected = [f"{module}.{name}" for module, some in inner.items() for name in some]
    assert sorted(listed) == sorted(expected)
