"""Does the kernel cache ever serve stale or foreign code, or stand in the way?

Numba's own cache does, in four ways: code of an edited callee in another file, two
processes that fill one index at once, options that are not part of its key, and an error
where no folder is writable. Each test copies the package and works on the copy.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fastexp import _kernel_cache

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


def start(copy: Path, **env: str) -> subprocess.Popen[str]:
    settings = {"PYTHONPATH": str(copy), "FASTEXP_CACHE_DIR": str(copy / "cache"), **env}
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("FASTEXP", "NUMBA"))}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-B", "-c", RUN]
    return subprocess.Popen(command, env={**clean, **settings}, cwd=copy, **pipes)


def run(copy: Path, **env: str) -> tuple[float, str]:
    """(exp(1), the cache folder) of a fresh process."""
    process = start(copy, **env)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    value, folder = out.split(maxsplit=1)
    return float(value), folder.strip()


def files(copy: Path) -> list[Path]:
    return sorted(p for p in (copy / "cache").rglob("*") if p.is_file())


def test_the_second_process_finds_the_first_ones_code(copy):
    first = run(copy)
    (kept,) = files(copy)
    stamp = kept.stat().st_mtime_ns
    assert run(copy) == first
    assert files(copy) == [kept]
    assert kept.stat().st_mtime_ns == stamp  # loaded, not written again


def test_an_edited_callee_in_another_file_is_noticed(copy):
    """exp_fill's constant is edited first, then `helper` itself, in `_jit.py`."""
    value, folder = run(copy)
    path = copy / "fastexp/kernels/logexp.py"
    path.write_text(path.read_text().replace("p = 1.0 + (r", "p = 2.0 + (r"))
    edited, other = run(copy)
    assert edited > value + 0.5
    assert other != folder
    path = copy / "fastexp/kernels/heights.py"
    path.write_text(path.read_text() + "\n# an edit of a file that exp_fill does not even use\n")
    assert run(copy)[1] not in (folder, other)


def test_processes_that_fill_the_cache_at_once_get_right_code(copy):
    processes = [start(copy) for _ in range(4)]
    results = [p.communicate(timeout=100) for p in processes]
    assert [p.returncode for p in processes] == [0] * 4, results
    assert len({out for out, _ in results}) == 1
    assert len(files(copy)) == 1  # no index, no numbered files, no left-overs
    assert run(copy)[0] == pytest.approx(2.718281828459045)


def test_a_changed_option_is_another_folder(copy):
    _, folder = run(copy)
    _, other = run(copy, NUMBA_OPT="1")
    path = copy / "fastexp/_jit.py"
    path.write_text(path.read_text().replace('"nogil": True', '"nogil": False'))
    _, third = run(copy)
    _, cpu = run(copy, NUMBA_CPU_NAME="generic")
    assert len({folder, other, third, cpu}) == 4


@pytest.mark.parametrize("place", ["/proc/nowhere", "/dev/null/x", "/sys/x"])
def test_no_writable_folder_is_no_error(copy, place):
    value, folder = run(copy, FASTEXP_CACHE_DIR=place)
    assert folder == "None"
    assert value == pytest.approx(2.718281828459045)


def test_the_cache_can_be_switched_off(copy):
    assert run(copy, FASTEXP_CACHE="0")[1] == "None"
    assert files(copy) == []


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

    from fastexp import _jit

    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    monkeypatch.setattr(_jit._Cache, "load_overload", lambda *_: None)
    kernel = _jit.KERNELS["logexp.exp_fill"]
    again = _jit.Kernel(kernel.function, kernel.signature)
    out = np.empty(1)
    again(np.zeros(1), out)
    assert out[0] == 1
