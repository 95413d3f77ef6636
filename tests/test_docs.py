"""The code of the README and of the pages runs; the reference has all public names."""

from __future__ import annotations

import os
import re
import shutil
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
STEP = re.compile(r"^```(?:python|text)\n# (\S+?)(?:, after: (.*?))?\n(.*?)^```", re.M | re.S)
PAGES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))}
PAGES |= {ROOT / "README.md": (ROOT / "README.md").read_text(encoding="utf-8")}
CELLS = {str(path.relative_to(ROOT)): CELL.findall(text) for path, text in PAGES.items()}

SEARCHES = {
    "median by group": "tutorial/groups",
    "choose epsilon": "how-to/choose-epsilon",
    "budget": "tutorial/budgets",
    "docker": "faq",
    "FAQ": "faq",
    "spark": "how-to/clusters",
    "pandas": "tutorial/groups",
    "private list of groups": "how-to/private-groups",
    "error message": "faq",
    "retry": "tutorial/budgets",
    "csv": "how-to/files",
    "missing values": "how-to/files",
    "opendp": "how-to/coming-from",
    "airflow": "how-to/scheduling",
    "person": "how-to/persons",
    "seed": "faq",
}
SEARCH = """
const fs = require("fs"), vm = require("vm"), [site, ...queries] = process.argv.slice(1)
const tag = () => ({appendChild: (child) => child, classList: {add() {}}, setAttribute() {}})
const files = ["_static/language_data.js", "_static/searchtools.js", "searchindex.js"]
const code = files.map((file) => fs.readFileSync(`${site}/${file}`, "utf8")).join(";")
for (const q of queries) {
  const page = {URLSearchParams, SPHINX_HIGHLIGHT_ENABLED: false, _: (text) => text, _ready() {}, q}
  page.location = {search: `?q=${q}`}
  page.document = {getElementById: tag, createElement: tag}
  page.window = vm.createContext(page)
  vm.runInContext(code, page)
  console.log(vm.runInContext("Search._performSearch(...Search._parseQuery(q))", page).at(-1)[0])
}
"""


@pytest.mark.parametrize("page", [page for page, cells in CELLS.items() if cells])
def test_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    names: dict[str, object] = {"__name__": "page", "_run": subprocess.run}
    for cell in CELLS[page]:
        code = SHELL.sub(lambda line: f"_run(['/bin/sh', '-c', {line[1]!r}], check=True)", cell)
        exec(compile(code, page, "exec"), names)  # noqa: S102  # our own pages


@pytest.mark.site
def test_search(tmp_path: Path) -> None:
    """Sphinx's own script, run by node, finds the right page first."""
    code = [sys.executable, "-m", "sphinx", "-q", "-D", "nb_execution_mode=off"]
    subprocess.run([*code, "docs", tmp_path], check=True, cwd=ROOT, stderr=subprocess.DEVNULL)
    run = ["node", "-e", SEARCH, tmp_path, *SEARCHES]
    found = subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()
    assert dict(zip(SEARCHES, found, strict=True)) == SEARCHES


def test_reference() -> None:
    """Each public name has one entry; errors have a page of their own."""
    listed, module = [], ""
    for path in sorted((ROOT / "docs" / "reference").glob("*.md")):
        for changed, name in ENTRY.findall(PAGES[path]):
            module = changed or module
            listed += [f"{module}.{name}"] if name else []
    assert {*fx.__all__, "__version__"} <= {*dir(fx)}
    assert dir(fx.privacy) == sorted(fx.privacy.__all__)
    inner = {"fastexp.privacy": fx.privacy.__all__, "fastexp.studies": fx.studies.__all__}
    names = {*fx.__all__}.difference(*inner.values(), ["errors", "PrivacyWarning"], ROOMS)
    inner["fastexp"] = [*names]
    expected = [f"{module}.{name}" for module, some in inner.items() for name in some]
    assert sorted(listed) == sorted(expected)


def test_contributing(tmp_path: Path) -> None:
    """The steps of CONTRIBUTING.md add a mechanism to a copy: with its law, promise and command."""
    for name in ("fastexp", "tests", "docs"):
        ignored = shutil.ignore_patterns("__pycache__", "api")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, tmp_path)
    for name, line, code in STEP.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        path = tmp_path / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        before, found, rest = text.partition(f"{line}\n") if line else (text, "", "")
        assert bool(found) == bool(line), name
        path.write_text(before + found + code + rest, encoding="utf-8")

    def run(*arguments: str) -> str:
        command, places = [sys.executable, "-m", *arguments], {"PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, **places}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    asked = "mode-3 or test_reference or test_the_table_is_that"
    files = [f"tests/test_{name}.py" for name in ("conformance", "law", "laws", "promise", "query")]
    files += ["tests/test_cli.py", "tests/test_docs.py", "-p", "no:cacheprovider", "-k", asked]
    assert re.search("^14 passed", run("pytest", "-q", *files), re.MULTILINE)
    (tmp_path / "ages.csv").write_text("age\n" + "37\n" * 99)
    options = "ages.csv --column age --epsilon 1 --bounds 0 99 --step 1"
    assert run("fastexp", "mode", *options.split()) == "37\n"
    assert "the most frequent number" in run("fastexp", "mode", "--help")
