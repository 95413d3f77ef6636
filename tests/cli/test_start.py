"""Is something seen before numba and DuckDB are imported, but for what checks of FILE need?

They take a second of CPU together; the rest of a start is measured, not tested.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import fastexp as fx

pytestmark = [pytest.mark.process, pytest.mark.engines]
SCRIPT = """
import sys
from fastexp.cli import main

class Watched:
    def __init__(self, stream): self.stream = stream
    def __getattr__(self, name): return getattr(self.stream, name)
    def write(self, text):
        if not seen:
            seen.append(HEAVY & set(sys.modules))
        return self.stream.write(text)

seen, HEAVY = [], {"numba", "duckdb", "rich", "pandas", "polars", "pyarrow", "scipy", "matplotlib"}
sys.stdout, sys.stderr = Watched(sys.stdout), Watched(sys.stderr)
code = main(sys.argv[1:])
print(code, sorted(seen[0]), sorted({"numba", "duckdb"} & set(sys.modules)), file=sys.stderr)
"""
AGES = ["--column", "age", "--epsilon", "1", "--bounds", "0", "120", "--step", "1"]
CITIES = ["--by", "city", "--groups", "a,b"]
PUBLICATION = """
source = "ages.csv"
budget = "b"
label = "ages"
[answers.age]
mechanism = "median"
column = "age"
epsilon = 1
bounds = [0, 120]
step = 1
"""
BOTH, NUMBA, NEITHER = ["duckdb", "numba"], ["numba"], []
FILE, GROUPS = {"duckdb"}, {"duckdb", "numba", "scipy"}  # by which checks before a promise are made
CHECKED = {"median": FILE, "median by": GROUPS, "select": GROUPS, "release": FILE}
COMMANDS = {
    "median": (["median", "ages.csv", *AGES], BOTH),
    "median by": (["median", "ages.csv", *AGES, *CITIES, "--budget", "b"], BOTH),
    "select": (
        ["select", "ages.csv", "--column", "city", "--candidates", "a,b", "--epsilon", "1"],
        BOTH,
    ),
    "release": (["release", "p.toml"], BOTH),
    "check": (["release", "p.toml", "--check"], NEITHER),
    "budget": (["budget", "b"], NEITHER),
    "log": (["budget", "b", "--log"], NEITHER),
    "key": (["key", "k"], NEITHER),
    "demo": (["demo"], NUMBA),
    "info": (["info"], NUMBA),
    "study list": (["study", "list"], NEITHER),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_line_comes_first(name: str, tmp_path: Path) -> None:
    (tmp_path / "ages.csv").write_text("city,age\na,36\nb,37\n")
    (tmp_path / "p.toml").write_text(PUBLICATION)
    fx.Budget.file(tmp_path / "b", epsilon=9.0)
    arguments, imported = COMMANDS[name]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    checked = sorted(CHECKED.get(name, ()))
    assert done.stderr.splitlines()[-1] == f"0 {checked} {imported}"
