"""The trial of a mutant: the checks and the tests of its room, the cheap ones first.

Checks run in the interpreter (`jury`). Tests run in a copy of the checkout that has the mutant's
file, as the names of compiled kernels in their cache are hashes of files on disk; kernels of mutants
are kept in a folder that goes with the copy.
"""

from __future__ import annotations

import functools
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple, Self

from tests.mutants.jury import ENDLESS, ROOT, SURVIVED, UNVIABLE, Jury, limit
from tests.mutants.places import Mutant

STAGES = ("fast", "not fast and not process and not engines and not peers")
SECONDS = 60  # of CPU that a mutant may take, beside what its room takes without one


class Room(NamedTuple):
    """What notices mutants of a room: modules of checks, folders and files of tests."""

    checks: str = ""
    tests: str = ""


# The tests of a room are in the folder of its name, or of the part of it before the first slash.
# Here are the others.
ROOMS = {
    "_arrow": Room(tests="arrow query"),
    "_compiler": Room("inlining"),
    "_intake": Room("records numbers groups", "intake numbers mechanisms"),
    "_keys": Room("keys groups", "keys grouped"),
    "_numbers": Room("laplace numbers quantile_chains quantile_branches records rows studies groups"),
    "_parameters": Room("records"),
    "_randomness": Room("rows groups", "randomness selection grouped"),
    "_selection": Room("sampler selection joint_top_k rows"),
    "_threads": Room(tests="kernels"),
    "budget": Room("sampler"),
    "comparison": Room(tests="mechanisms/test_compare.py"),
    "exact_errors": Room(tests="mechanisms/test_expected_errors.py studies/test_exact.py"),
    "grouped": Room("keys groups"),
    "kernels/bits": Room("sampler selection rows laplace", "kernels proofs/test_golden.py"),
    "kernels/figures": Room("quantile_laws studies", "numbers studies laws"),
    "kernels/groups": Room("groups", "grouped proofs/test_golden.py"),
    "kernels/numbers": Room(
        "laplace quantile_chains numbers records rows studies quantile_branches",
        "numbers proofs/test_golden.py",
    ),
    "kernels/select": Room(
        "sampler selection joint_top_k rows", "kernels selection proofs/test_golden.py"
    ),
    "laws": Room("quantile_laws joint_top_k selection studies"),
    "mechanisms": Room("quantiles selection sampler"),
    "privacy": Room("quantiles joint_top_k sampler studies"),
    "reference": Room(
        "sampler joint_top_k laplace quantile_chains quantile_branches groups",
        "kernels selection numbers",
    ),
    "sensitivity": Room(tests="mechanisms/test_sensitivity.py"),
    "smooth": Room(tests="numbers/test_smooth.py"),
    "studies": Room("studies"),
    "sufficient_epsilon": Room(tests="mechanisms/test_sufficient_epsilon.py docs/test_epsilon_by_name.py"),
    "utilities": Room(tests="mechanisms"),
}


def notices(room: str) -> Room:
    """The checks and tests of a room, tests as paths that are there."""
    first = room.partition("/")[0]
    checks, tests = ROOMS.get(room) or ROOMS.get(first) or Room()
    paths = [f"tests/{name}" for name in (tests or first.strip("_")).split()]
    own = next(path for path in (f"fastexp/{room}", f"fastexp/{room}.py") if (ROOT / path).exists())
    return Room(checks, " ".join([p for p in paths if (ROOT / p).exists()] + [own]))


class Trial:
    """A jury, and a copy of the checkout in a folder of its own."""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="mutants")
        self._copy, self._kernels = Path(self._folder.name, "copy"), Path(self._folder.name, "kernels")
        left_out = shutil.ignore_patterns(".git", ".venv", ".nox", "_build", "build", "dist")
        shutil.copytree(ROOT, self._copy, ignore=left_out)
        self._jury = Jury(sorted({name for room in ROOMS.values() for name in room.checks.split()}))
        self._files = 0
        return self

    def __exit__(self, *error: object) -> None:
        self._jury.__exit__()
        self._folder.cleanup()

    def of(self, mutant: Mutant) -> str:
        """What kills a mutant, "" if nothing does, "not viable" if it cannot be imported."""
        checks, tests = notices(mutant.address.partition(":")[0])
        for name in checks.split() or ["inlining"]:  # of no room: whether it can be imported
            status, error = self._jury.verdict(name, mutant.path, mutant.text, SECONDS)
            if status == UNVIABLE:
                return "not viable"
            if status == ENDLESS:
                return f"checks of {name}, by their {SECONDS} s"
            if status != SURVIVED:
                return f"checks of {name}"
        for stage in STAGES:
            usual = self._usual(tests, stage)
            killer = self._killer(mutant, tests, stage, 2 * usual + SECONDS)
            if killer:
                return killer
        return ""

    def _killer(self, mutant: Mutant, tests: str, stage: str, seconds: float) -> str:
        # The test that fails if a mutant's file stands in the copy.
        path = self._copy / mutant.path.relative_to(ROOT)
        original = path.read_text(), path.stat()
        self._files += 1
        path.write_text(mutant.text)
        # Compiled files are known by their second and size.
        later = int(original[1].st_mtime) + 2 * self._files
        os.utime(path, (later, later))
        try:
            status, output, _ = self._pytest(tests, stage, seconds)
        finally:
            path.write_text(original[0])
            os.utime(path, ns=(original[1].st_atime_ns, original[1].st_mtime_ns))
        if status in (0, 5):
            return ""
        failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
        if status == ENDLESS:
            return f"tests ({stage}), by their {seconds:.0f} s"
        return failed[0][:200] if failed else f"tests ({stage}), exit status {status}"

    def _usual(self, tests: str, stage: str) -> float:
        # The CPU seconds of these tests in the copy as it is.
        if (tests, stage) not in USUAL:
            status, output, seconds = self._pytest(tests, stage, 3600)
            assert status in (0, 5), f"these tests fail without a mutant: {tests}\n{output}"
            USUAL[tests, stage] = seconds
        return USUAL[tests, stage]

    def _pytest(self, tests: str, stage: str, seconds: float) -> tuple[int, str, float]:
        # The exit status of tests in the copy, their output, the CPU seconds they took.
        options = "-x -q -n 0 --no-header --tb=no -p no:cacheprovider --hypothesis-seed=1".split()
        command = [sys.executable, "-m", "pytest", *options, "-m", stage, *tests.split()]
        env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
        if (tests, stage) in USUAL:  # its kernels may be a mutant's
            env["FASTEXP_CACHE_DIR"] = str(self._kernels)
        before = _cpu()
        try:
            run = subprocess.run(
                command,
                cwd=self._copy,
                env=env,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=5 * seconds,
                preexec_fn=functools.partial(limit, int(seconds)),
            )
            status, output = run.returncode, run.stdout
        except subprocess.TimeoutExpired:
            status, output = ENDLESS, ""
        shutil.rmtree(self._copy / ".hypothesis", ignore_errors=True)  # its failing examples
        return status, output, _cpu() - before


USUAL: dict[tuple[str, str], float] = {}  # CPU seconds of tests without a mutant


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
