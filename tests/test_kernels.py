"""Which code of the kernels runs: compiled at the install, by numba, or by the interpreter.

What runs is made from the sources that are there. `test_conformance.py` compares all draws,
`test_machine.py` looks at arguments, threads and instructions.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest

import fastexp as fx
from fastexp.kernels import jit

from . import child

SOURCES = Path(jit.__file__).parent
numba = pytest.mark.skipif(not importlib.util.find_spec("numba"), reason="no numba")

DRAWS = """
import sys, hashlib, fastexp as fx, numpy as np
from fastexp.kernels import jit
rows, choose, total = np.arange(30.0).reshape(5, 6) % 7, fx.Exponential(0.9, 1), hashlib.sha256()
for draws in choose.sample(rows, rng=1), choose.sample(rows[0], rng=2), fx.log_normalizer(rows, 1):
    total.update(np.asarray(draws).tobytes())
print(jit.MODE, getattr(jit.MODULE, "LEVEL", ""), "numba" in sys.modules, total.hexdigest())
"""


def test_tests_see_the_installed_package() -> None:
    """A checkout beside the tests is not what they import, unless it is installed as such."""
    installed = distribution("fastexp")
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    if not origin.get("dir_info", {}).get("editable"):
        assert Path(fx.__file__) == Path(str(installed.locate_file("fastexp/__init__.py")))
        assert Path(jit.MODULE.__file__).parent == SOURCES.parents[1]


def test_a_wheel_needs_numpy_alone() -> None:
    needed = [name for name in requires("fastexp") or [] if "extra ==" not in name]
    assert needed == ["numpy>=2.1"]


def test_compiled_code_needs_no_numba() -> None:
    mode, level, has_numba, digest = child.run(DRAWS).split(" ")
    assert (mode, level, has_numba) == ("compiled", str(jit.MODULE.LEVEL), "False")
    assert child.run(DRAWS, FASTEXP_BASELINE="1").split(" ") == [mode, "0", has_numba, digest]
    assert child.run(DRAWS, FASTEXP_KERNELS="python").split(" ") == ["python", "", "False", digest]


@numba
def test_numba_draws_the_same(tmp_path: Path) -> None:
    """With a folder of its own, so that nothing of another run serves."""
    variables = {"FASTEXP_KERNELS": "jit", "NUMBA_CACHE_DIR": str(tmp_path)}
    mode, _, _, digest = child.run(DRAWS, **variables).split(" ")
    assert (mode, digest) == ("jit", child.run(DRAWS).split(" ")[3])
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}
    assert child.run(DRAWS, **variables).split(" ")[3] == digest
    assert kept
    assert kept == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}


def copied(folder: Path) -> str:
    """Copy the package; returns the code that puts it before the installed one."""
    shutil.copytree(
        SOURCES.parent, folder / "fastexp", ignore=shutil.ignore_patterns("__pycache__")
    )
    return f"sys.path.insert(0, {str(folder)!r})\nfrom fastexp.kernels import jit\n"


def test_edited_kernels_do_not_run_as_compiled(tmp_path: Path) -> None:
    start = copied(tmp_path)
    tell = "assert jit.__file__.startswith(sys.path[0])\nprint(jit.MODE, bool(jit.MODULE))"
    assert child.run(start + tell) == "compiled True\n"
    with (tmp_path / "fastexp/kernels/bits.py").open("a") as file:
        file.write("# edited\n")
    with pytest.raises(subprocess.CalledProcessError):  # a warning is an error there
        child.run(start + tell)
    with pytest.raises(subprocess.CalledProcessError):
        child.run(start + tell, FASTEXP_KERNELS="compiled")
    if importlib.util.find_spec("numba"):
        assert child.run("import warnings; warnings.simplefilter('ignore')\n" + start + tell) == (
            "jit False\n"
        )


@numba
def test_numba_sees_an_edit_of_another_file(tmp_path: Path) -> None:
    """Its own cache looks at the file of a kernel alone."""
    start = copied(tmp_path)
    folder = tmp_path / "fastexp/kernels"
    for path in folder.glob("*.py"):
        if path.stem not in ("__init__", "jit"):
            path.unlink()
    (folder / "two.py").write_text(
        "from .jit import kernel\nfrom .one import N\n"
        "@kernel('i64(i64)')\ndef plus(x):\n    return x + N\n"
    )
    for number in (1, 2):
        (folder / "one.py").write_text(f"N = {number}\n")
        tell = "from fastexp.kernels.two import plus\nprint(plus(5))"
        assert child.run(start + tell, FASTEXP_KERNELS="jit") == f"{5 + number}\n"


def test_the_interpreter_has_the_width_of_the_machine() -> None:
    code = """
import numpy as np
from fastexp.kernels import jit
inside = []
def see(x, y, z, out):
    inside.extend([x + x == 0, y - y, type(z), out])
    return x * x + (1 << 40)
out = np.zeros(3, np.uint64)
found = jit.kernel("u64(u64, i64, f64, out_u64)")(see)(1 << 63, -3, 2, out)
names = [type(inside[1]).__name__, inside[2].__name__]
print(inside[0], *names, np.shares_memory(inside[3], out), type(found))
"""
    told = child.run(code, FASTEXP_KERNELS="python")
    assert told == "True int64 float64 True <class 'int'>\n"


@pytest.mark.parametrize("mode", ["compiled", pytest.param("jit", marks=numba)])
def test_wrong_arguments_are_refused(mode: str, tmp_path: Path) -> None:
    code = """
import numpy as np
from fastexp.kernels import envelope
seeds, out = np.zeros(4, np.uint64), np.zeros(2, np.uint64)
envelope.fill_words(seeds, 1, out)
for wrong in np.zeros(2), np.zeros(2, np.int64), np.zeros(4, np.uint64)[::2], [0, 0], None:
    for call in (wrong, 1, out), (seeds, 1, wrong), (seeds, wrong, out):
        try:
            envelope.fill_words(*call)
        except TypeError:
            continue
        raise SystemExit(f"{call} was taken")
print(out.any())
"""
    variables = {"FASTEXP_KERNELS": mode, "NUMBA_CACHE_DIR": str(tmp_path)}
    assert child.run(code, **variables) == "True\n"
