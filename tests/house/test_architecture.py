"""Is the house what its plan says: rooms in one order, no circle, one importer of numba?"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fastexp as fx
from tests.house import rooms
from tests.house.rooms import (
    FLOOR,
    PACKAGE,
    ROOMS,
    circles,
    graph,
    parsed,
    room,
    room_arrows,
    upward,
)
from tests.support.each import each

FILES = sorted(PACKAGE.rglob("*.py"))
KERNEL_FILES = sorted((PACKAGE / "kernels").rglob("*.py"))
FLAT = {"__main__", "_threads", "_typing", "_version"}
FLAT_PUBLIC = {
    *("comparison", "errors", "exact_errors", "sensitivity", "smooth", "sufficient_epsilon"),
    "utilities",
}


@pytest.fixture(scope="module")
def arrows():
    return graph()


class TestImports:
    def test_every_room_is_on_the_list_and_every_listed_one_is_there(self):
        assert len(FLOOR) == sum(map(len, ROOMS)), "a room is listed twice"
        assert {room(path) for path in FILES} == set(FLOOR)

    def test_what_is_private_lies_in_a_folder(self):
        """But what all share, and what starts the command."""
        flat = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
        assert flat <= FLAT | FLAT_PUBLIC

    @pytest.mark.slow
    def test_no_files_import_each_other(self, arrows):
        assert circles(arrows) == []

    def test_no_rooms_import_each_other(self, arrows):
        assert circles(room_arrows(arrows)) == []

    def test_imports_go_down(self, arrows):
        assert upward(arrows) == []


def mistakes(package):
    """Circles of files, circles of rooms, imports that go up."""
    arrows = graph(package)
    return circles(arrows), circles(room_arrows(arrows, package)), upward(arrows, package)


class TestTheseTestsCanFail:
    """On a house of three files in two rooms."""

    @pytest.fixture
    def house(self, tmp_path, monkeypatch):
        monkeypatch.setattr(rooms, "ROOMS", [["low"], ["high"]])
        monkeypatch.setattr(rooms, "FLOOR", {"low": 0, "high": 1})
        package = tmp_path / "fastexp"
        for file in ("low/one", "low/two", "high/three"):
            (package / file).parent.mkdir(parents=True, exist_ok=True)
            (package / f"{file}.py").write_text("import numpy\nfrom . import nothing\n")
        (package / "high" / "three.py").write_text("from ..low import one, two\n")
        return package

    def test_a_sound_house(self, house):
        assert graph(house)["fastexp.high.three"] == {"fastexp.low.one", "fastexp.low.two"}
        assert mistakes(house) == ([], [], [])

    @pytest.mark.parametrize(
        "text",
        [
            "from ..high import three",
            "from ..high.three import name",
            "from fastexp.high import three",
            "import fastexp.high.three",
            "def work():\n    from ..high.three import name",
            "if TYPE_CHECKING:\n    from ..high.three import name",
        ],
    )
    def test_an_import_that_goes_up(self, house, text):
        (house / "low" / "one.py").write_text(text)
        assert mistakes(house) == (
            [["fastexp.high.three", "fastexp.low.one"]],
            [["high", "low"]],
            ["fastexp.low.one <- fastexp.high.three"],
        )

    def test_a_circle_of_rooms_without_one_of_files(self, house):
        (house / "low" / "one.py").write_text("from ..high import four")
        (house / "high" / "three.py").write_text("from ..low import two")
        (house / "high" / "four.py").write_text("")
        up = ["fastexp.low.one <- fastexp.high.four"]
        assert mistakes(house) == ([], [["high", "low"]], up)

    def test_a_circle_inside_of_a_room(self, house):
        (house / "low" / "one.py").write_text("from .two import name")
        (house / "low" / "two.py").write_text("from . import one")
        assert mistakes(house) == ([["fastexp.low.one", "fastexp.low.two"]], [], [])

    def test_rooms_of_one_floor_do_not_know_each_other(self, house, monkeypatch):
        monkeypatch.setattr(rooms, "FLOOR", {"low": 0, "high": 0})
        assert len(upward(graph(house), house)) == 2

    def test_long_circles_and_several(self):
        arrows = {"a": "b", "b": "c", "c": "ad", "d": "e", "e": "d", "f": "a", "g": ""}
        assert sorted(circles(arrows)) == [["a", "b", "c"], ["d", "e"]]


def imported_packages(path: Path) -> set[str]:
    """The top-level names of other packages that a file imports, wherever in the file."""
    packages = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            packages |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            packages.add((node.module or "").split(".")[0])
    return packages


@pytest.mark.slow
def test_numba_is_imported_in_one_file():
    importers = [p for p in FILES if imported_packages(p) & {"numba", "llvmlite"}]
    assert [room(path) for path in importers] == ["_compiler"]


@each("path", KERNEL_FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_kernels_are_loops_and_nothing_else(path):
    """No defaults, raises, prints or strings; at most 60 lines."""
    for node in parsed(path).body:
        if not isinstance(node, ast.FunctionDef) or not node.decorator_list:
            continue
        assert not node.args.defaults
        assert not node.args.kwonlyargs
        assert node.end_lineno - node.lineno < 60, node.name
        body = node.body[1:] if ast.get_docstring(node) else node.body
        inner = [n for statement in body for n in ast.walk(statement)]
        assert not any(isinstance(n, ast.Raise) for n in inner), node.name
        texts = [n.value for n in inner if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        assert texts == [], node.name


@pytest.mark.slow
def test_only_the_command_line_prints():
    printers = {
        room(p).partition("/")[0]
        for p in FILES
        for n in ast.walk(parsed(p))
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
    fx.Quantiles(count=3, epsilon=1.0, bounds=(0, 120), step=1),
    fx.ApproximateQuantiles(count=3, epsilon=1.0, bounds=(0, 120), step=1),
    fx.JointExponentialQuantiles(count=3, epsilon=1.0, bounds=(0, 120), step=1),
    fx.JointTopK(2, 1.0),
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
from tests.doors.compiler import jit
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
        assert sorted(fx.__all__) == fx.__all__
        for name in fx.__all__:
            assert getattr(fx, name).__name__ == name
        assert {*fx.__all__, "privacy", "__version__"} == set(dir(fx))
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            fx.nothing  # noqa: B018

    def test_each_is_stated_once(self):
        """In the stub, from the file that defines it."""
        stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
        names = [alias.name for node in stub.body[1:] for alias in node.names]
        assert sorted(names) == sorted(dir(fx))
        for node in stub.body[1:]:
            for alias in node.names if node.module not in (None, "_version", "privacy") else ():
                assert getattr(fx, alias.name).__module__ == f"fastexp.{node.module}"

    def test_none_is_a_modules_name(self):
        """An import of the module would put it in the function's place."""
        modules = {path.stem for path in PACKAGE.iterdir() if path.name != "__init__.py"}
        assert modules.isdisjoint(fx.__all__)

    def test_the_version_is_the_packages(self):
        from importlib.metadata import version

        assert version("fastexp") == fx.__version__


def test_kernels_are_registered_once():
    from tests.doors.compiler import jit
    from tests.doors.kernels import exp_fill

    with pytest.raises(RuntimeError, match="two kernels"):
        jit.kernel(None)(exp_fill.function)


def test_warmup_builds_every_kernel():
    from tests.doors.compiler import jit

    assert fx.warmup() == len(jit.KERNELS) >= 12
    assert all(k._entry is not None for k in jit.KERNELS.values())
    folder = PACKAGE / "kernels"
    files = [p for p in folder.rglob("*.py") if "\n@kernel(" in p.read_text()]
    modules = {".".join(p.relative_to(folder).with_suffix("").parts) for p in files}
    assert {name.rpartition(".")[0] for name in jit.KERNELS} == modules
