"""Does the kernel cache ever serve stale or foreign code, or stand in the way?

Numba's own cache does, in four ways: code of an edited callee in another file, two
processes that fill one index at once, options that are not part of its key, and an error
where no folder is writable. Each test copies the package and works on the copy.
"""

from __future__ import annotations

import compileall
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType

import pytest

from tests.doors.compiler import build, cache, jit, kernel_sources, target, trusted_folder
from tests.doors.kernels import logexp
from tests.messages import says
from tests.support import processes
from tests.support.each import each

pytestmark = pytest.mark.skipif(not trusted_folder.POSIX, reason="permissions of another kind")
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
has_v3 = pytest.mark.skipif(
    not build.host_features() >= target.IMPLIED["x86-64-v3"],
    reason="a CPU without AVX2",
)
SOMEBODY = 12345
ROOT = Path(__file__).parents[2]
MODULES = (build, cache, jit, kernel_sources, logexp)
# Beside each copy of the package: what the programs below import from it.
DOORS = f"""
from importlib import import_module
MODULES = { {module.__name__.rpartition(".")[2]: module.__name__ for module in MODULES} }
def __getattr__(name):
    if name not in MODULES:
        raise AttributeError(name)
    return import_module(MODULES[name])
"""
RUN = """
import numpy as np, sys
from doors import jit, logexp
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
    (tmp_path / "doors.py").write_text(DOORS)
    return tmp_path


def start(
    copy: Path, code: str = RUN, *, imported: str = "compiler", **env: str
) -> subprocess.Popen[str]:
    folders = {"FASTEXP_CACHE_DIR": str(copy / "cache"), "XDG_CACHE_HOME": str(copy / "own")}
    settings = {"PYTHONPATH": str(copy), **folders, **env}
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("FASTEXP", "NUMBA"))}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-B", "-c", code]
    env = {**clean, **settings}
    return processes.start(command, imported=imported, env=env, cwd=copy, **pipes)


def run(
    copy: Path, code: str = RUN, *, imported: str = "compiler", **env: str
) -> tuple[float, str]:
    """What a fresh process prints: for `RUN` exp(1), the cache folder."""
    process = start(copy, code, imported=imported, **env)
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


def file_of(module: ModuleType, folder: Path) -> Path:
    """The file of a module in a copy of the package."""
    return folder.joinpath(*module.__name__.split(".")).with_suffix(".py")


def edit(path: Path, old: str, new: str) -> None:
    """Replace `old`, which must be there, by `new`."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.process
def test_an_edited_kernel_is_compiled_again(copy):
    value, folder = run(copy)
    edit(file_of(logexp, copy), "p = 1.0 + (r", "p = 2.0 + (r")
    edited, same = run(copy)
    assert edited > value + 0.5
    assert same == folder
    assert len(files(copy)) == 2


@pytest.mark.process
def test_an_edited_flag_or_intrinsic_compiles_all_again(copy):
    run(copy)
    edit(
        file_of(build, copy),
        "bitcast(args[0], context.get_value_type(target))",
        "_wrong()",
    )
    process = start(copy)
    assert "_wrong" in process.communicate(timeout=100)[1]  # nothing was loaded


KERNEL = f"""
from {jit.__name__} import IN_F64, NOTHING, OUT_F64, kernel
{{imports}}

@kernel(NOTHING(IN_F64, OUT_F64))
def scaled(x, out):
    for i in range(x.size):
        out[i] = {{value}}
"""
HELPER = f"""
from {jit.__name__} import helper
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
from doors import logexp
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


@pytest.mark.process
@pytest.mark.parametrize("deployed", ["link", "folder"])
def test_a_release_that_takes_anothers_place_is_not_what_is_cached(copy, deployed):
    """No file's time of change shows it: the old process would save under the new text's hash."""
    for version in ("old", "new"):
        shutil.copytree(copy / "fastexp", copy / version / "fastexp")
    shutil.rmtree(copy / "fastexp")
    edit(file_of(logexp, copy / "new"), "p = 1.0 + (r", "p = 2.0 + (r")
    if deployed == "link":
        (copy / "current").symlink_to("old")
        (copy / "next").symlink_to("new")
        switch = "os.replace('next', 'current')"
    else:
        (copy / "old").rename(copy / "current")
        switch = "os.rename('current', 'old'); os.rename('new', 'current')"
    time.sleep(0.1)  # more than the clock of a file system is late
    path = {"PYTHONPATH": str(copy / "current")}
    imported = f"import os, {logexp.__name__}"
    value, folder = run(copy, f"{imported}; {switch}\n{RUN}", **path)
    assert (value, folder) == (pytest.approx(2.718281828459045), "None")
    assert run(copy, **path)[0] > 3


EDITED_DURING_THE_IMPORT = """
import pathlib, sys
import fastexp

class Editor:
    def find_spec(self, name, path, target=None):
        if name == "numba":
            sys.meta_path.remove(self)
            file = pathlib.Path(fastexp.__file__).parents[1] / {file!r}
            file.write_text(file.read_text().replace("FACTOR = 2.0", "FACTOR = 7.0"))

import numpy  # takes a while too
sys.meta_path.insert(0, Editor())
"""


@pytest.mark.process
def test_a_file_that_is_edited_while_numba_is_imported_is_not_what_is_cached(copy):
    with file_of(jit, copy).open("a") as file:
        file.write("\nFACTOR = 2.0\n")
    factor = f"from {jit.__name__} import FACTOR"
    scaled = KERNEL.format(imports=factor, value="FACTOR * x[i]")
    (copy / "fastexp/kernels/scaled.py").write_text(scaled)
    time.sleep(0.1)
    scaled = RUN_SCALED.format(module="scaled")
    edited = EDITED_DURING_THE_IMPORT.format(file=str(file_of(jit, Path())))
    assert run(copy, edited + scaled, imported="nothing")[0] == 6  # it was read before
    assert files(copy) == []
    assert run(copy, scaled)[0] == 21


@pytest.mark.process
def test_a_package_without_sources_is_compiled_and_not_cached(copy):
    compileall.compile_dir(copy / "fastexp", quiet=2, legacy=True, force=True)
    for source in (copy / "fastexp").rglob("*.py"):
        source.unlink()
    assert run(copy) == (pytest.approx(2.718281828459045), "None")
    assert files(copy) == []


FORK = """
import os, signal, threading, time
from numba.core.compiler_lock import global_compiler_lock
from doors import jit, logexp
import numpy as np
jit.ready()
x, out = np.array([1.0]), np.empty(1)
compiling = threading.Event()

def compile():
    with global_compiler_lock:
        compiling.set()
        time.sleep(1)

thread = threading.Thread(target=compile)
thread.start()
compiling.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)
    logexp.exp_fill(x, out)
    os._exit(0)
logexp.log_fill(x, out)  # the lock is let go of here, too
print(os.waitpid(child, 0)[1], None)
"""


FORK_IN_AN_IMPORT = """
import os, signal, sys, threading, time
from doors import logexp
import numpy as np
x, out = np.array([1.0]), np.empty(1)
importing = threading.Event()

class Slow:
    def find_spec(self, name, path, target=None):
        if name == "numba":
            importing.set()
            time.sleep(1)

sys.meta_path.insert(0, Slow())
assert "numba" not in sys.modules
thread = threading.Thread(target=logexp.exp_fill, args=(x, np.empty(1)))
thread.start()
importing.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)
    logexp.exp_fill(x, out)
    os._exit(0)
print(os.waitpid(child, 0)[1], None)
"""


FORK_IN_A_BUILD = """
import os, signal, threading, time
from doors import build, logexp
import numpy as np
x, out = np.array([1.0]), np.empty(1)
building, lock, compiled = threading.Event(), threading.Lock(), build.compiled

def slowly(*arguments, **more):
    with lock:  # as imports and LLVM have theirs
        building.set()
        time.sleep(1)
    return compiled(*arguments, **more)

build.compiled = slowly
thread = threading.Thread(target=logexp.log_fill, args=(x, np.empty(1)))
thread.start()
building.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)
    logexp.exp_fill(x, out)
    os._exit(0)
print(os.waitpid(child, 0)[1], None)
"""
FORKS = {"compiles": FORK, "imports": FORK_IN_AN_IMPORT, "builds": FORK_IN_A_BUILD}


@pytest.mark.process
@pytest.mark.parametrize("script", FORKS.values(), ids=FORKS)
def test_a_child_does_not_wait_for_a_thread_of_its_parent(copy, script):
    assert (
        run(copy, script, imported="nothing" if script == FORK_IN_AN_IMPORT else "compiler")[0] == 0
    )


MANY_THREADS = """
import sys, threading
from doors import logexp
import numpy as np
assert "numba" not in sys.modules
outs = [np.empty(1) for _ in range(8)]
threads = [threading.Thread(target=logexp.exp_fill, args=(np.array([1.0]), o)) for o in outs]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*{float(out[0]) for out in outs}, None)
"""


@pytest.mark.process
def test_the_first_call_may_be_of_many_threads_at_once(copy):
    assert run(copy, MANY_THREADS, imported="nothing")[0] == pytest.approx(2.718281828459045)


THREADS_OF_ALL_KINDS = """
import threading
from doors import jit, logexp
import numba, numpy as np
x = np.array([1.0])

@jit.helper
def one_third(x):
    return logexp.log_one(x) / 3.0

def foreign():
    return float(numba.njit(lambda x: np.sort(x)[-1] + 1.0)(x))

def kernel(function):
    def call():
        function(x, out := np.empty(1))
        return float(out[0])
    return call

calls = [kernel(logexp.exp_fill), foreign, kernel(logexp.log_fill), lambda: one_third(1.0)] * 2
results, start = [None] * len(calls), threading.Barrier(len(calls))

def work(i):
    start.wait()
    results[i] = calls[i]()

threads = [threading.Thread(target=work, args=(i,)) for i in range(len(calls))]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert results == [results[0], 2.0, 0.0, 0.0] * 2, results
print(results[0], logexp.log_fill.folder)
"""


@pytest.mark.process
def test_threads_may_compile_anything_at_once(copy):
    value, folder = run(copy, THREADS_OF_ALL_KINDS)
    assert value == pytest.approx(2.718281828459045)
    assert {path.name.partition("-")[0] for path in Path(folder).iterdir()} == {
        "bits.logexp.exp_fill",
        "bits.logexp.log_fill",
    }


INTERRUPTED = """
from doors import build, cache, jit, logexp
import numpy as np
engine = build._TARGET.target_context.codegen()._engine._ee
interrupts = []

def interrupt(*_):  # as a signal does while LLVM is busy; ctypes drops what it raises
    interrupts.append(1)
    raise KeyboardInterrupt

engine._object_cache_notify = interrupt
logexp.exp_fill(np.array([1.0]), out := np.empty(1))
assert interrupts and logexp.exp_fill.folder is None
try:
    with jit.kept_in(cache.public(cache.Path.cwd() / "image")):
        logexp.log_fill.build()
except OSError as error:
    assert "the compiler was interrupted" in str(error), error
else:
    raise AssertionError
print(float(out[0]), None)
"""


@pytest.mark.process
def test_a_signal_while_llvm_is_busy_costs_the_saved_copy_alone(copy):
    assert run(copy, INTERRUPTED)[0] == pytest.approx(2.718281828459045)
    assert files(copy) == []
    assert run(copy)[1] != "None"  # the next process saves it


NUMBA_OF_ANOTHER_KIND = """
import builtins
has = hasattr
builtins.hasattr = lambda value, name: name != "{part}" and has(value, name)
from doors import build
builtins.hasattr = has
from doors import logexp
import numpy as np
logexp.exp_fill(np.array([1.0]), out := np.empty(1))
print(float(out[0]), type(logexp.exp_fill.dispatcher._compiler).__module__)
"""


@pytest.mark.process
@pytest.mark.skipif(build.INTERPRETED, reason="nothing is compiled")
@pytest.mark.parametrize("part", ["no_cfunc_wrapper", "load_additional_registries", None])
def test_a_numba_without_a_part_that_is_replaced_compiles_as_it_is(copy, part):
    """Helpers are functions of their own then; the kernel computes the same."""
    code = NUMBA_OF_ANOTHER_KIND.format(part=part)
    value, kind = run(copy, code)
    assert value == run(copy)[0]
    assert kind == ("numba.core.dispatcher" if part else build.__name__)


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
    edit(file_of(build, copy), '"nogil": True', '"nogil": False')
    _, third = run(copy)
    _, cpu = run(copy, NUMBA_CPU_NAME="generic")
    assert len({folder, other, third, cpu}) == 4


@pytest.mark.process
@pytest.mark.parametrize("place", ["/proc/nowhere", "/dev/null/x", "/sys/x"])
def test_no_writable_folder_is_no_error(copy, place):
    """Of two that are looked into, the other one is taken; then none."""
    value, folder = run(copy, FASTEXP_CACHE_DIR=place)
    assert Path(folder).parent == copy / "own" / "fastexp"
    assert run(copy, FASTEXP_CACHE_DIR=place, XDG_CACHE_HOME=place) == (value, "None")
    assert value == pytest.approx(2.718281828459045)


@pytest.mark.process
def test_what_is_in_a_later_folder_is_not_compiled_again(copy):
    own = str(copy / "own/fastexp")
    value, folder = run(copy, FASTEXP_CACHE_DIR=own)
    assert run(copy) == (value, folder)
    assert files(copy) == []


@pytest.mark.process
def test_the_cache_can_be_switched_off(copy):
    assert run(copy, FASTEXP_CACHE="0")[1] == "None"
    assert files(copy) == []


@pytest.mark.process
@pytest.mark.parametrize("damage", [b"", b"torn", b"\x80\x04."])
def test_a_damaged_file_is_compiled_again(copy, damage):
    value, _ = run(copy)
    (entry,) = files(copy)
    entry.write_bytes(damage)
    assert run(copy)[0] == value
    assert files(copy)[0].stat().st_size > 1000


@pytest.mark.process
def test_a_changed_bit_is_noticed(copy):
    """Of machine code it could be anything: it is not loaded, but compiled and saved again."""
    value, _ = run(copy)
    (entry,) = files(copy)
    whole = entry.read_bytes()
    for place in (40, len(whole) // 2, len(whole) - 1):
        damaged = whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :]
        with pytest.raises(ValueError, match=says("damaged cache entry")):
            cache.unpacked(damaged, build.host_features())
    entry.write_bytes(damaged)
    assert run(copy)[0] == value
    assert cache.unpacked(entry.read_bytes(), build.host_features())


class TestTargets:
    """Which processes share a folder?"""

    @pytest.mark.process
    def test_options_that_change_no_code_do_not_matter(self, copy):
        first = run(copy)
        harmless = {
            "NUMBA_NUM_THREADS": "1",
            "NUMBA_THREADING_LAYER": "workqueue",
            "NUMBA_CACHE_DIR": str(copy / "elsewhere"),
            "NUMBA_CUDA_LOG_LEVEL": "DEBUG",
        }
        assert run(copy, **harmless) == first
        assert len(files(copy)) == 1

    @each("name", ["NUMBA_OPT", "NUMBA_SLP_VECTORIZE", "NUMBA_BOUNDSCHECK", "NUMBA_OF_NEXT_YEAR"])
    def test_any_other_option_does(self, name):
        settings = {"OPT": 3, "SLP_VECTORIZE": 0, "BOUNDSCHECK": None, "NUMBA_NUM_THREADS": 2}
        plain = target.code_options(settings, {})
        assert plain == {"OPT": "3", "SLP_VECTORIZE": "0", "BOUNDSCHECK": "None"}
        known = name.removeprefix("NUMBA_")
        changed = {**settings, known: 1} if known in settings else settings
        assert target.code_options(changed, {name: "1"}) != plain

    @pytest.mark.process
    def test_numbas_file_of_settings_counts_as_its_variables_do(self, copy):
        pytest.importorskip("yaml")
        _, folder = run(copy, imported="nothing")
        (copy / ".numba_config.yaml").write_text("opt: '1'\n")  # of the working directory
        assert run(copy, imported="nothing")[1] != folder

    def test_a_target_needs_what_its_names_imply(self):
        def needs(cpu: str, listed: str = "") -> set[str]:
            return set(target.target((), {}, cpu, listed).features)

        assert needs("skylake", "+avx2,-avx512f,+fma") == {"cpu=skylake", "avx2", "fma"}
        assert needs("generic") == set()
        assert needs("x86-64-v3") >= {"avx2", "bmi2", "fma", "lzcnt", "movbe"}
        assert not any(name.startswith(("avx512", "cpu=")) for name in needs("x86-64-v3"))
        assert needs("x86-64-v3", "+avx512f") == needs("x86-64-v3") | {"avx512f"}

    def test_an_entry_is_used_where_the_cpu_has_all_that_it_needs(self):
        entry = cache.packed(b"body\n", frozenset({"avx2", "fma"}))
        assert cache.unpacked(entry, frozenset({"avx2", "fma", "sse"})) == b"body\n"
        with pytest.raises(ValueError, match=says("cache entry of another CPU")):
            cache.unpacked(entry, frozenset({"avx2", "sse"}))

    @pytest.mark.process
    def test_without_one_of_its_features_it_is_compiled_again(self, copy):
        value, _ = run(copy)
        (entry,) = files(copy)
        stamp = entry.stat().st_mtime_ns
        poorer = """
from doors import build
features = build.host_features()
build.host_features = lambda: frozenset(sorted(features)[1:])
"""
        assert run(copy, poorer + RUN) == (value, "None")  # nor saved, as it would not be loaded
        assert entry.stat().st_mtime_ns == stamp

    @pytest.mark.process
    def test_code_that_this_cpu_would_not_load_is_not_saved(self, copy):
        """A name that is neither the CPU's own nor known says nothing of what it needs."""
        other = "core2" if build.llvm.get_host_cpu_name() != "core2" else "nehalem"
        value, folder = run(copy, NUMBA_CPU_NAME=other, NUMBA_CPU_FEATURES="")
        assert (value, folder) == (pytest.approx(2.718281828459045), "None")
        assert files(copy) == []

    @pytest.mark.process
    @has_v3
    def test_the_baseline_is_tried_after_the_cpus_own(self, copy):
        baseline = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""}
        value, folder = run(copy, **baseline)
        assert run(copy) == (value, folder)  # found, not compiled
        elsewhere = str(copy / "elsewhere")
        _, host = run(copy, FASTEXP_CACHE_DIR=elsewhere, XDG_CACHE_HOME=elsewhere)
        assert Path(host).name != Path(folder).name
        Path(host).rename(copy / "cache" / Path(host).name)
        assert Path(run(copy)[1]).name == Path(host).name

    @pytest.mark.process
    @has_v3
    def test_the_baseline_is_not_tried_where_the_cpu_is_less(self, copy):
        value, folder = run(copy, NUMBA_CPU_NAME="x86-64-v3", NUMBA_CPU_FEATURES="")
        assert run(copy, NUMBA_ENABLE_AVX="0")[1] != folder
        assert run(copy, NUMBA_CPU_NAME="generic") != (value, folder)


IMAGE = """
import os, sys
sys.prefix = {prefix!r}
from doors import cache, jit, kernel_sources, logexp
import numpy as np
out = np.empty(1)
"""
FILL = """
jit.KERNELS = {"bits.logexp.exp_fill": logexp.exp_fill}
with jit.kept_in(cache.image()):
    jit.warmup()
print(0, logexp.exp_fill.dispatcher._cache.cache_path)
"""
USE = """
logexp.log_fill(out, out)  # what numba imports late is imported
kernel_sources.source_hash(logexp.__name__)
os.setgroups([])
os.setgid({user})
os.setuid({user})
logexp.exp_fill(np.array([1.0]), out)
print(out[0], logexp.exp_fill.dispatcher._cache.cache_path)
"""


@pytest.mark.process
class TestImage:
    """Kernels that root has put into an image serve whoever uses it."""

    @pytest.fixture
    def prefix(self):
        with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed to others
            Path(folder).chmod(0o755)
            yield Path(folder)

    def fill(self, copy: Path, prefix: Path) -> str:
        code = IMAGE.format(prefix=str(prefix)) + FILL
        return run(copy, code)[1]

    def test_it_is_filled_on_request_alone(self, copy, prefix):
        run(copy, IMAGE.format(prefix=str(prefix)) + RUN)
        assert list(prefix.iterdir()) == []
        folder = Path(self.fill(copy, prefix))
        assert folder.parent == prefix / "share" / "fastexp"
        (entry,) = folder.iterdir()
        modes = [stat.S_IMODE(p.stat().st_mode) for p in (folder.parent, folder, entry)]
        assert modes == [0o755, 0o755, 0o644]

    def test_it_is_used(self, copy, prefix):
        folder = self.fill(copy, prefix)
        assert run(copy, IMAGE.format(prefix=str(prefix)) + RUN)[1] == folder
        assert files(copy) == []

    def test_one_that_cannot_be_filled_is_an_error(self, copy, prefix):
        prefix.chmod(0o777)
        process = start(copy, IMAGE.format(prefix=str(prefix)) + FILL)
        _, err = process.communicate(timeout=100)
        assert f"OSError: kernels cannot be kept in {prefix}/share/fastexp: others may" in err

    def test_why_it_cannot_be_filled_is_told(self, copy, prefix):
        """No permission is to blame where a file has changed, or a disk is full."""
        full = """
def full(*_, **__):
    raise OSError(28, "No space left on device")
os.replace = full
"""
        unknown = "kernel_sources.source_hash = lambda _: None\n"
        reasons = {
            full: "no space left on device",
            unknown: "its source files are missing, or differ",
        }
        for cause, reason in reasons.items():
            process = start(copy, IMAGE.format(prefix=str(prefix)) + cause + FILL)
            _, err = process.communicate(timeout=100)
            assert f"kernels cannot be kept in {prefix}/share/fastexp: {reason}" in err

    @as_root
    def test_by_another_user(self, copy, prefix):
        folder = self.fill(copy, prefix)
        code = IMAGE.format(prefix=str(prefix)) + USE.format(user=SOMEBODY)
        value, used = run(copy, code)
        assert value == pytest.approx(2.718281828459045)
        assert used == folder

    @as_root
    def test_not_where_it_is_another_users(self, copy, prefix):
        folder = self.fill(copy, prefix)
        os.chown(prefix / "share", SOMEBODY + 1, SOMEBODY + 1)
        code = IMAGE.format(prefix=str(prefix)) + USE.format(user=SOMEBODY)
        assert run(copy, code)[1] not in (folder, "")


@pytest.mark.slow
def test_a_full_disk_is_no_error(monkeypatch):
    """Saving fails, the kernel is there all the same."""
    import numpy as np

    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(build._Cache, "load_overload", lambda *_: None)
    kernel = logexp.exp_fill
    again = jit.Kernel(kernel.function, kernel.signature)
    out = np.empty(1)
    again(np.zeros(1), out)
    assert out[0] == 1
