"""Cold starts: the time of a new Python process from its start to its end."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache, partial

from ..harness.outcome import Absent
from ..harness.workload import Prepare, Work

RELEASE = (
    "import numpy, fastexp; "
    "r = fastexp.Exponential(1.0, 1.0).release(numpy.arange(8.0)); "
    "assert 0 <= r < 8"
)
MEDIAN = (
    "import numpy, fastexp; "
    "r = fastexp.Median(1.0, (0.0, 8.0)).release(numpy.arange(8.0)); "
    "assert 0 <= r <= 8"
)
GROUPS = (
    "import numpy, fastexp; "
    "m = fastexp.Median(1.0, (0.0, 8.0)); "
    "r = m.release(numpy.arange(8.0), by=[0, 1] * 4, groups=[0, 1]); "
    "assert r.shape == (2,)"
)
TABLE1 = (  # with few data sets, nearly all of the time is compilation
    "import fastexp; "
    "r = fastexp.Study.ready('table1', datasets=2).run(workers=1); "
    "assert len(r.rows) == 24"
)
NUMPY = (
    "import numpy; u = numpy.arange(8.0); "
    "r = int(numpy.argmax(0.5 * u + numpy.random.default_rng().gumbel(size=8))); "
    "assert 0 <= r < 8"
)
OPENDP = (
    "import opendp.prelude as dp; dp.enable_features('contrib'); "
    "m = dp.m.make_noisy_max(dp.vector_domain(dp.atom_domain(T=float, nan=False)), "
    "dp.linf_distance(T=float), dp.zero_concentrated_divergence(), scale=2.0); "
    "assert 0 <= m([float(i) for i in range(8)]) < 8"
)
DIFFPRIVLIB = (
    "from diffprivlib.mechanisms import Exponential; "
    "m = Exponential(epsilon=1.0, sensitivity=1.0, utility=[float(i) for i in range(8)]); "
    "assert 0 <= m.randomise() < 8"
)
HELP = "from fastexp.cli import main; main(['--help'])"  # as the command `fastexp` does


@cache
def warm_folder() -> str:
    """Return a folder for the kernel cache, filled by the first release and removed at exit."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def run(code: str, cache_folder: str, is_toy: bool) -> None:
    """Run `code` in a new process, which must succeed. At toy size nothing is compiled."""
    settings = {"FASTEXP_CACHE_DIR": cache_folder, "XDG_CACHE_HOME": cache_folder}
    settings |= {"NUMBA_DISABLE_JIT": "1"} if is_toy else {}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | settings, capture_output=True, check=False
    )
    if done.returncode:
        raise Absent(f"the process failed: {done.stderr.decode().strip().splitlines()[-1:]}")


def process(code: str) -> Prepare:
    """Run code in a new process, with kernels from a warm cache."""
    return lambda work: lambda: run(code, warm_folder(), work.is_toy)


def compiling(code: str) -> Prepare:
    """Run code in a new process that has to compile: the kernel cache is an empty folder."""

    def call(work: Work) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run(code, folder, work.is_toy)

    return lambda work: partial(call, work)
