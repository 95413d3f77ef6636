"""Does the kernel cache ever serve stale or foreign code, or stand in the way?

Numba's own cache does, in four ways: code of an edited callee in another file, two
processes that fill one index at once, options that are not part of its key, and an error
where no folder is writable. Each test copies the package and works on the copy.
"""

from __future__ import annotations

import inspect
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fastexp import _jit, _kernel_cache, _kernel_sources, _warmup

ROOT = Path(__file__).parent.parent
RUN = """
import numpy as np, sys
from fastexp import _jit
from fastexp.kernels import logexp
out = np.empty(1)
logexp.exp_fill(np.array([1.0]), out)
kernel = logexp.exp_fill.dispatcher
print(repr(float(out[0])), kernel._cache.cache_path)
"""


@pytest.fixture
def copy(tmp_path):
    """A copy of the package with an empty cache folder beside it."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "fastexp", tmp_path / "fastexp", ignore=ignore)
    return tmp_path


def start(copy: Path, code: str = RUN, **env: str) -> subprocess.Popen[str]:
    settings = {"PYTHONPATH": str(copy), "FASTEXP_CACHE_DIR": str(copy / "cache"), **env}
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("FASTEXP", "NUMBA"))}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-B", "-c", code]
    return subprocess.Popen(command, env={**clean, **settings}, cwd=copy, **pipes)


def run(copy: Path, code: str = RUN, **env: str) -> tuple[float, str]:
    """What a fresh process prints: for `RUN` exp(1), the cache folder."""
    process = start(copy, code, **env)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    value, folder = out.split(maxsplit=1)
    return float(value), folder.strip()


def files(copy: Path) -> list[Path]:
    return sorted(p for p in (copy / "cache").rglob("*") if p.is_file())


@pytest.mark.process
def test_the_second_process_finds_the_first_ones_code(copy):
    first = run(copy)
    (kept,) = files(copy)
    stamp = kept.stat().st_mtime_ns
    assert run(copy) == first
    assert files(copy) == [kept]
    assert kept.stat().st_mtime_ns == stamp  # loaded, not written again


def edit(path: Path, old: str, new: str) -> None:
    """Replace `old`, which must be there, by `new`."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.process
def test_an_edited_kernel_is_compiled_again(copy):
    value, folder = run(copy)
    edit(copy / "fastexp/kernels/logexp.py", "p = 1.0 + (r", "p = 2.0 + (r")
    edited, same = run(copy)
    assert edited > value + 0.5
    assert same == folder
    assert len(files(copy)) == 2


@pytest.mark.process
def test_an_edited_flag_or_intrinsic_compiles_all_again(copy):
    run(copy)
    edit(copy / "fastexp/_jit.py", "bitcast(args[0], context.get_value_type(target))", "_wrong()")
    process = start(copy)
    assert "_wrong" in process.communicate(timeout=100)[1]  # nothing was loaded


KERNEL = """
from fastexp._jit import IN_F64, NOTHING, OUT_F64, kernel
{imports}

@kernel(NOTHING(IN_F64, OUT_F64))
def scaled(x, out):
    for i in range(x.size):
        out[i] = {value}
"""
HELPER = """
from .._jit import helper
if True:
    from .room import constant

@helper
def scale(x):
    return constant.FACTOR * x
"""
RUN_SCALED = """
import numpy as np
from fastexp.kernels.{module} import scaled
out = np.empty(1)
scaled(np.array([3.0]), out)
print(out[0], None)
"""


@pytest.mark.process
def test_an_edit_two_imports_away_compiles_its_dependents_again_and_no_other_kernel(copy):
    """A kernel in a folder calls a helper in a file, which names a constant in a third one."""
    kernels = copy / "fastexp/kernels"
    (kernels / "room").mkdir()
    (kernels / "room/__init__.py").touch()
    (kernels / "room/constant.py").write_text("FACTOR = 2.0")
    (kernels / "between.py").write_text(HELPER)
    calling = KERNEL.format(imports="from ..between import scale", value="scale(x[i])")
    (kernels / "room/dependent.py").write_text(calling)
    (kernels / "other.py").write_text(KERNEL.format(imports="", value="5.0 * x[i]"))
    dependent, other = (RUN_SCALED.format(module=m) for m in ("room.dependent", "other"))
    assert run(copy, dependent)[0] == 6
    assert run(copy, other)[0] == 15
    before = {path: path.stat().st_mtime_ns for path in files(copy)}
    names = [path.name.rpartition("-")[0] for path in before]
    assert names == ["other.scaled", "room.dependent.scaled"]
    (kernels / "room/constant.py").write_text("FACTOR = 7.0")
    assert run(copy, dependent)[0] == 21  # 6, if the edit were missed
    assert run(copy, other)[0] == 15
    after = {path: path.stat().st_mtime_ns for path in files(copy)}
    assert {path: after[path] for path in before} == before  # loaded, not written again
    (added,) = after.keys() - before.keys()
    assert added.name.startswith("room.dependent.scaled-")


EDITED_AFTER_THE_IMPORT = """
import pathlib, time
from fastexp.kernels import logexp
time.sleep(0.1)  # more than the clock of a file system is late
path = pathlib.Path(logexp.__file__)
path.write_text(path.read_text().replace("p = 1.0 + (r", "p = 2.0 + (r"))
"""


@pytest.mark.process
def test_a_file_that_was_edited_after_its_import_is_not_what_is_cached(copy):
    """The process runs the old text, and the new one's hash would name its code."""
    assert run(copy, EDITED_AFTER_THE_IMPORT + RUN) == (pytest.approx(2.718281828459045), "None")
    assert files(copy) == []
    assert run(copy)[0] > 3


class TestSources:
    """Which files does a kernel depend on, however its imports are written?"""

    @pytest.fixture
    def package(self, tmp_path, monkeypatch):
        """The folder of a package that stands in for this one."""
        for name in ("__init__", "errors", "kernels/__init__", "kernels/a", "kernels/b"):
            path = tmp_path / f"{name}.py"
            path.parent.mkdir(exist_ok=True)
            path.touch()
        monkeypatch.setattr(_kernel_sources, "FOLDER", tmp_path)
        monkeypatch.setattr(_kernel_sources, "STARTED", time.time_ns() + 10**12)
        _kernel_sources._source.cache_clear()
        yield tmp_path
        _kernel_sources._source.cache_clear()

    @pytest.mark.parametrize(
        ("statement", "expected"),
        [
            ("from .a import f", {"kernels.a"}),
            ("from .a import *", {"kernels.a"}),
            ("from . import a", {"kernels.a"}),
            ("from . import a as c, b", {"kernels.a", "kernels.b"}),
            ("from . import name_of_the_package", set()),
            ("from ..errors import E", {"errors"}),
            ("from .. import errors", {"errors"}),
            ("from fastexp.kernels.a import f", {"kernels.a"}),
            ("from fastexp.kernels import a", {"kernels.a"}),
            ("import fastexp.kernels.a as c", {"kernels.a"}),
            ("def f():\n    from .a import f", {"kernels.a"}),
            ("if f():\n    pass\nelse:\n    from .a import f", {"kernels.a"}),
            ("try:\n    pass\nexcept OSError:\n    from .a import f", {"kernels.a"}),
            ("match f():\n    case 1:\n        from .a import f", {"kernels.a"}),
            ("class A:\n    with f(): from .a import g", {"kernels.a"}),
            ("x = 1; from .a import (\n  f,  # )\n  g,\n)", {"kernels.a"}),
            ("import numpy.linalg, os.path\nfrom json import loads", set()),
            ("'from .a import f'", set()),
        ],
    )
    def test_every_form_of_import(self, package, statement, expected):
        (package / "kernels/tried.py").write_text(statement)
        imported = _kernel_sources.sources("fastexp.kernels.tried").keys()
        always = {"fastexp.kernels", "fastexp.kernels.tried"}
        assert imported == always | {f"fastexp.{name}" for name in expected}

    @pytest.mark.parametrize(
        ("statement", "expected"),
        [
            ("from .. import kernels", {"kernels.a", "kernels.b"}),
            ("import fastexp.kernels as k", {"kernels.a", "kernels.b"}),
            ("import fastexp.kernels.a", {"errors", "kernels.a", "kernels.b"}),
        ],
    )
    def test_a_package_stands_for_every_module_in_it(self, package, statement, expected):
        """`kernels.a.f` reaches a file that no import statement names."""
        (package / "kernels/tried.py").write_text(statement)
        imported = _kernel_sources.sources("fastexp.kernels.tried").keys()
        always = {"fastexp", "fastexp.kernels", "fastexp.kernels.tried"}
        assert imported | {"fastexp"} == always | {f"fastexp.{name}" for name in expected}

    @pytest.mark.parametrize(
        "statement", ["from .nowhere import f", "from . import (", "\xff", "\0"]
    )
    def test_what_cannot_be_followed_has_no_hash(self, package, statement):
        (package / "kernels/tried.py").write_bytes(statement.encode("latin-1"))
        assert _kernel_sources.source_hash.__wrapped__("fastexp.kernels.tried") is None
        assert _kernel_sources.source_hash("numpy.linalg") is None

    def test_all_that_numba_compiles_into_a_kernel_is_among_them(self):
        """Every function that a kernel names, and that these name, at whatever depth."""
        _warmup.import_kernels()
        for kernel in _jit.KERNELS.values():
            modules = _kernel_sources.sources(kernel.function.__module__)
            waiting, functions = [kernel.function], set()
            while waiting:
                function = waiting.pop()
                functions.add(function)
                values = inspect.getclosurevars(function).globals.values()
                called = {getattr(v, "py_func", None) or getattr(v, "_defn", None) for v in values}
                waiting += called - functions - {None}
            assert {f.__module__ for f in functions} <= modules.keys(), kernel.name


@pytest.mark.process
def test_processes_that_fill_the_cache_at_once_get_right_code(copy):
    processes = [start(copy) for _ in range(4)]
    results = [p.communicate(timeout=100) for p in processes]
    assert [p.returncode for p in processes] == [0] * 4, results
    assert len({out for out, _ in results}) == 1
    assert len(files(copy)) == 1  # no index, no numbered files, no left-overs
    assert run(copy)[0] == pytest.approx(2.718281828459045)


@pytest.mark.process
def test_a_changed_option_is_another_folder(copy):
    _, folder = run(copy)
    _, other = run(copy, NUMBA_OPT="1")
    edit(copy / "fastexp/_jit.py", '"nogil": True', '"nogil": False')
    _, third = run(copy)
    _, cpu = run(copy, NUMBA_CPU_NAME="generic")
    assert len({folder, other, third, cpu}) == 4


@pytest.mark.process
@pytest.mark.parametrize("place", ["/proc/nowhere", "/dev/null/x", "/sys/x"])
def test_no_writable_folder_is_no_error(copy, place):
    value, folder = run(copy, FASTEXP_CACHE_DIR=place)
    assert folder == "None"
    assert value == pytest.approx(2.718281828459045)


@pytest.mark.process
def test_the_cache_can_be_switched_off(copy):
    assert run(copy, FASTEXP_CACHE="0")[1] == "None"
    assert files(copy) == []


@pytest.mark.process
@pytest.mark.parametrize("damage", [b"", b"torn", b"\x80\x04."])
def test_a_damaged_file_is_compiled_again(copy, damage):
    value, _ = run(copy)
    (kept,) = files(copy)
    kept.write_bytes(damage)
    assert run(copy)[0] == value
    assert files(copy)[0].stat().st_size > 1000


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of another kind")
class TestFolder:
    def test_it_is_private(self, tmp_path, monkeypatch):
        monkeypatch.setenv("FASTEXP_CACHE_DIR", str(tmp_path / "new"))
        path = _kernel_cache.folder("target")
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert _kernel_cache.folder("other") != path

    @pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
    @pytest.mark.parametrize("which", ["root", "folder"])
    def test_one_that_others_can_write_to_is_refused(self, tmp_path, monkeypatch, mode, which):
        monkeypatch.setenv("FASTEXP_CACHE_DIR", str(tmp_path / "new"))
        path = _kernel_cache.folder("target")
        (path if which == "folder" else path.parent).chmod(mode)
        assert _kernel_cache.folder("target") is None

    def test_a_link_or_a_file_is_refused(self, tmp_path, monkeypatch):
        monkeypatch.setenv("FASTEXP_CACHE_DIR", str(tmp_path / "new"))
        path = _kernel_cache.folder("target")
        path.rmdir()
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        path.symlink_to(tmp_path / "elsewhere")
        assert _kernel_cache.folder("target") is None
        path.unlink()
        path.write_text("a file")
        assert _kernel_cache.folder("target") is None

    def test_where_it_lies(self, monkeypatch):
        monkeypatch.delenv("FASTEXP_CACHE_DIR", raising=False)
        monkeypatch.delenv("FASTEXP_CACHE", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", "/x")
        assert _kernel_cache.root() == Path("/x/fastexp")
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", "/h")
        assert _kernel_cache.root() == Path("/h/.cache/fastexp")
        monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError))
        assert _kernel_cache.root() is None
        assert _kernel_cache.folder("target") is None


def test_a_full_disk_is_no_error(monkeypatch):
    """Saving fails, the kernel is there all the same."""
    import numpy as np

    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    monkeypatch.setattr(_jit._Cache, "load_overload", lambda *_: None)
    kernel = _jit.KERNELS["logexp.exp_fill"]
    again = _jit.Kernel(kernel.function, kernel.signature)
    out = np.empty(1)
    again(np.zeros(1), out)
    assert out[0] == 1
