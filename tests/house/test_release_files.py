"""What a release needs by hand: the citation's version, homes of formats, hooks, least versions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from fastexp import __version__

ROOT = Path(__file__).resolve().parents[2]


def test_the_citation_has_the_version() -> None:
    versions = re.findall("^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert versions == [__version__]


def test_the_homes_of_formats_are_there() -> None:
    """Each holds the number that its row is about."""
    rows = re.findall(r"^\| .+ \| (`.+`) \|", (ROOT / "RELEASING.md").read_text(), re.MULTILINE)
    homes = [home for row in rows for home in re.findall("`(.+?)`", row)]
    assert len(homes) >= 5
    for home in homes:
        text = (ROOT / "fastexp" / home).read_text().lower()
        assert re.search("format|version", text), home


def test_the_hooks_are_the_lint_session() -> None:
    """What is checked before a commit is what `nox -s lint` checks."""
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    check = (ROOT / "noxfile.py").read_text().partition("def _check")[2].partition("\n\n\n")[0]
    programs = re.findall(r'session\.run\("(\w+)"', check)
    assert len(programs) == 3
    for program in programs:
        assert f"entry: {program}" in hooks


def test_the_hosted_runs_are_what_is_declared():
    """The workflow runs `.ci/run`, and the matrix on every Python of the classifiers."""
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    (listed,) = re.findall(r"^ +python: \[(.+)\]$", workflow, re.MULTILINE)
    assert re.findall(r"3\.\d+", listed) == re.findall(r":: (3\.\d+)", "\n".join(classifiers))
    assert "run: .ci/run\n" in workflow
    assert 'run: nox -s "matrix-' in workflow


def test_what_is_declared_is_what_the_matrix_runs():
    """Every Python of the classifiers, and every least version of a library, as `test` has it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pythons = re.findall(r":: (3\.\d+)", "\n".join(project["classifiers"]))
    assert project["requires-python"] == f">={pythons[0]}"
    extras = project["optional-dependencies"]
    tested = {*project["dependencies"], *extras["test"]}
    assert all(re.fullmatch(r"[\w-]+(\[\w+\])?>=[\d.]+", requirement) for requirement in tested)
    for extra in ("cli", "plot", "distributed", "dataframe", "files"):
        assert set(extras[extra]) <= tested, extra
