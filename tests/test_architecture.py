"""Is the house what its map says: one direction of imports, one importer of numba, thin files?"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fastexp as fx

PACKAGE = Path(fx.__file__).parent
# A file imports only from rooms above its own.
ROOMS = [
    ["errors", "_typing", "_version", "_threads"],
    ["_compiler"],
    ["kernels"],
    ["reference"],
    ["_parameters"],
    ["_randomness"],
    ["_arrow"],
    ["privacy"],
    ["_intake"],
    ["_selection"],
    ["budget", "sensitivity"],
    ["_keys"],
    ["_numbers"],
    ["smooth"],
    ["grouped"],
    ["utilities"],
    ["laws"],
    ["mechanisms"],
    ["pictures"],
    ["studies", "query"],
    ["cli"],
    ["__main__"],
]
LEVEL = {name: i for i, room in enumerate(ROOMS) for name in room}
FILES = sorted(PACKAGE.rglob("*.py"))
KERNEL_FILES = sorted((PACKAGE / "kernels").rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_rooms(source: str, path: Path) -> set[str]:
    """The rooms that a file imports from, wherever in the file."""
    inside = path.relative_to(PACKAGE).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = inside[: len(inside) - node.level + 1]
            parts = [*base, *(node.module or "").split(".")]
            full = [p for p in parts if p]
            found |= {full[0]} if full else {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fastexp."):
            found.add(node.module.split(".")[1])
    return found


def violations(source: str, path: Path) -> set[str]:
    own = room_of(path)
    rooms = {r for r in imported_rooms(source, path) if r in LEVEL and r != own}
    return {r for r in rooms if LEVEL[r] >= LEVEL[own]}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    if path == PACKAGE / "__init__.py":
        return
    assert room_of(path) in LEVEL, "a room that is not on the map"
    assert violations(path.read_text(), path) == set()


def test_an_import_the_other_way_is_noticed():
    path = PACKAGE / "kernels" / "bits" / "words.py"
    assert violations("from ..._parameters import validate", path) == {"_parameters"}
    assert violations("from ...laws.finite import FiniteLaw", path) == {"laws"}
    assert violations("def f():\n    from fastexp.cli import main", path) == {"cli"}
    assert violations("from ..._compiler.jit import kernel", path) == set()


def imported_packages(path: Path) -> set[str]:
    """The top-level names of other packages that a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").split(".")[0])
    return found


def test_numba_is_imported_in_one_file():
    assert [p.name for p in FILES if imported_packages(p) & {"numba", "llvmlite"}] == ["build.py"]


@pytest.mark.parametrize("path", KERNEL_FILES, ids=lambda p: p.name)
def test_kernels_are_loops_and_nothing_else(path):
    """No defaults, raises, prints or strings; at most 8 arguments and 60 lines."""
    for node in ast.parse(path.read_text()).body:
        if not isinstance(node, ast.FunctionDef) or not node.decorator_list:
            continue
        decorator = ast.unparse(node.decorator_list[0])
        assert not node.args.defaults
        assert not node.args.kwonlyargs
        assert node.end_lineno - node.lineno < 60, node.name
        if decorator.startswith("kernel"):
            assert len(node.args.args) <= 8, node.name
        body = node.body[1:] if ast.get_docstring(node) else node.body
        inner = [n for statement in body for n in ast.walk(statement)]
        assert not any(isinstance(n, ast.Raise) for n in inner), node.name
        texts = [n.value for n in inner if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        assert texts == [], node.name


def test_only_the_command_line_prints():
    printers = {
        room_of(p)
        for p in FILES
        for n in ast.walk(ast.parse(p.read_text()))
        if isinstance(n, ast.Call) and ast.unparse(n.func) == "print"
    }
    assert printers <= {"cli"}


PROMISES = """
import sys, fastexp as fx
assert not {"numba", "numpy", "llvmlite"} & set(sys.modules)
mechanisms = [
    fx.Exponential(1.0, 1.0),
    fx.ScoredExponential(1.0, 1.0, candidates=["a", "b"], score=max),
    fx.MostCommon(1.0, ["a", "b"]),
    fx.PermuteAndFlip(1.0, 1.0),
    fx.TopK(2, 1.0, 1.0),
    fx.ReportNoisyMax(1.0, 1.0),
    fx.RandomizedResponse(1.0),
    fx.Median(1.0, (0, 120), step=1),
    fx.Quantile(0.25, 1.0, (0, 120), step=1),
    fx.OrderStatistic(3, 1.0, (0, 120), step=1),
    fx.Maximum(1.0, (0, 120), step=1),
    fx.Mode(1.0, (0, 120), step=1),
    fx.Price(1.0, (0, 120), step=1),
    fx.Laplace(1.0, 1, step=0.5),
    fx.SmoothSensitivityMedian(1.0, bounds=(0, 120)),
    fx.LaplaceMedian(1.0, (0, 120)),
]
for mechanism in mechanisms:
    repr(mechanism), hash(mechanism), mechanism.guarantee.rho
answers = {"median": (mechanisms[7], "age"), "mode": (mechanisms[2], "status")}
query = fx.Query(by="city", groups=["x", "y"], person="name", max_groups=1, max_rows=2)
query.total(answers), mechanisms[7].total(groups=True)
fx.product(city=["x", "y"], sex=["f", "m"])
fx.release_key()
assert fx.privacy
fx.Budget(epsilon=1.0).charge(mechanisms[0].guarantee)
print("numba" in sys.modules)
from fastexp._compiler import jit
assert not [kernel for kernel in jit.KERNELS.values() if kernel._entry]
assert mechanisms[7].release([1]) in range(121)
print("numba" in sys.modules)
"""


@pytest.mark.process
def test_what_is_public_needs_no_compiler():
    """Mechanisms, queries and promises are there before numba is; a release imports it."""
    command = [sys.executable, "-c", PROMISES]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert (done.stdout.split(), done.stderr) == (["False", "True"], "")


class TestPublicNames:
    def test_they_are_all_there(self):
        assert sorted(fx.__all__) == fx.__all__ == sorted(fx._HOME)
        for name in fx.__all__:
            assert getattr(fx, name).__name__ == name
        assert set(fx.__all__) <= set(dir(fx))
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            fx.nothing  # noqa: B018

    def test_type_checkers_see_the_same_names(self):
        """The TYPE_CHECKING block and the lazy table agree."""
        tree = ast.parse((PACKAGE / "__init__.py").read_text())
        block = next(n for n in tree.body if isinstance(n, ast.If))
        seen = {a.name: n.module for n in block.body for a in n.names}
        assert seen == fx._HOME

    def test_the_version_is_the_packages(self):
        from importlib.metadata import version

        assert version("fastexp") == fx.__version__


def test_kernels_are_registered_once():
    from fastexp._compiler import jit
    from fastexp.kernels.bits.logexp import exp_fill

    with pytest.raises(RuntimeError, match="two kernels"):
        jit.kernel(None)(exp_fill.function)


def test_warmup_builds_every_kernel():
    from fastexp._compiler import jit

    assert fx.warmup() == len(jit.KERNELS) >= 12
    assert all(k._entry is not None for k in jit.KERNELS.values())
    folder = PACKAGE / "kernels"
    files = [p for p in folder.rglob("*.py") if "\n@kernel(" in p.read_text()]
    modules = {".".join(p.relative_to(folder).with_suffix("").parts) for p in files}
    assert {name.rpartition(".")[0] for name in jit.KERNELS} == modules
