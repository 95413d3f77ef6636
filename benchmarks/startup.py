"""Cold starts: what a fresh Python process takes from its start to its end."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache

from .workload import Call, Work

RELEASE = (
    "import numpy, fastexp; "
    "r = fastexp.Exponential(1.0, 1.0).release(numpy.arange(8.0)); "
    "print(0 <= r < 8)"
)
NUMPY = (
    "import numpy; u = numpy.arange(8.0); "
    "r = int(numpy.argmax(0.5 * u + numpy.random.default_rng().gumbel(size=8))); "
    "print(0 <= r < 8)"
)
OPENDP = (
    "import opendp.prelude as dp; dp.enable_features('contrib'); "
    "m = dp.m.make_noisy_max(dp.vector_domain(dp.atom_domain(T=float, nan=False)), "
    "dp.linf_distance(T=float), dp.zero_concentrated_divergence(), scale=2.0); "
    "print(0 <= m([float(i) for i in range(8)]) < 8)"
)
DIFFPRIVLIB = (
    "from diffprivlib.mechanisms import Exponential; "
    "m = Exponential(epsilon=1.0, sensitivity=1.0, utility=[float(i) for i in range(8)]); "
    "print(0 <= m.randomise() < 8)"
)
HELP = "from fastexp.cli import main; main(['--help'])"  # what the command `fastexp` runs


class Absent(Exception):
    """An entry cannot be measured here; the text says why."""


@cache
def warm_folder() -> str:
    """A kernel cache of this process, filled by the first release and removed at exit."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def environment(cache_folder: str, toy: bool) -> dict[str, str]:
    """The environment of a fresh process; at toy size nothing is compiled."""
    extra = {"NUMBA_DISABLE_JIT": "1"} if toy else {}
    folders = {"FASTEXP_CACHE_DIR": cache_folder, "XDG_CACHE_HOME": cache_folder}
    return {**os.environ, **folders, **extra}


def run(code: str, cache_folder: str, toy: bool) -> str:
    """Run `code` in a fresh process; what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(cache_folder, toy),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Absent(f"the process failed: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout.strip()


def process(code: str, *, prints: str = "") -> Callable[[Work], Call]:
    """An entry's `prepare`: a fresh process, kernels from a warm cache."""

    def prepare(work: Work) -> Call:
        return lambda: (prints, run(code, warm_folder(), work.toy))

    return prepare


def cold_release(work: Work) -> Call:
    """A first release that has to compile: the kernel cache is an empty folder."""

    def call() -> tuple[str, str]:
        with tempfile.TemporaryDirectory() as folder:
            return "True", run(RELEASE, folder, work.toy)

    return call


def show_help(work: Work) -> Call:
    """The command line's help."""

    def call() -> tuple[bool, bool]:
        return True, "fastexp" in run(HELP, warm_folder(), work.toy)

    return call
