"""Cold starts: what a fresh Python process takes from its start to its end."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache, partial

from ..harness.outcome import Absent
from ..harness.workload import Call, Prepare, Work

RELEASE = (
    "import numpy, fastexp; "
    "r = fastexp.Exponential(1.0, 1.0).release(numpy.arange(8.0)); "
    "print(0 <= r < 8)"
)
MEDIAN = (
    "import numpy, fastexp; "
    "r = fastexp.Median(1.0, (0.0, 8.0)).release(numpy.arange(8.0)); "
    "print(0 <= r <= 8)"
)
GROUPS = (
    "import numpy, fastexp; "
    "m = fastexp.Median(1.0, (0.0, 8.0)); "
    "r = m.release(numpy.arange(8.0), by=[0, 1] * 4, groups=[0, 1]); "
    "print(r.shape == (2,))"
)
TABLE1 = (  # a few data sets: what is left is compiling
    "import fastexp; "
    "r = fastexp.Study.ready('table1', datasets=2).run(workers=1); "
    "print(len(r.rows) == 24)"
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


@cache
def warm_folder() -> str:
    """A kernel cache of this process, filled by the first release and removed at exit."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def run(code: str, cache_folder: str, is_toy: bool) -> str:
    """Run `code` in a fresh process; what it printed. At toy size nothing is compiled."""
    settings = {"FASTEXP_CACHE_DIR": cache_folder, "XDG_CACHE_HOME": cache_folder}
    settings |= {"NUMBA_DISABLE_JIT": "1"} if is_toy else {}
    command, env = [sys.executable, "-c", code], os.environ | settings
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Absent(f"the process failed: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout.strip()


def process(code: str) -> Prepare:
    """A fresh process, kernels from a warm cache; what it must print and what it prints."""
    prints = "True" if "print" in code else ""
    return lambda work: lambda: (prints, run(code, warm_folder(), work.is_toy))


def compiling(code: str) -> Prepare:
    """A first answer that has to compile: the kernel cache is an empty folder."""

    def call(work: Work) -> tuple[str, str]:
        with tempfile.TemporaryDirectory() as folder:
            return "True", run(code, folder, work.is_toy)

    return lambda work: partial(call, work)


def show_help(work: Work) -> Call:
    """The command line's help."""
    return lambda: (True, "fastexp" in run(HELP, warm_folder(), work.is_toy))
