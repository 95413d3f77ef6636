"""The trial of a mutant: the checks and the tests of its room, the cheap ones first.

Checks run in the interpreter (`jury`). Tests run in a copy of the checkout that has the mutant's
file, as compiled kernels are kept under the hash of files on disk; a mutant's kernels are kept in
a folder that goes with the copy.
"""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

from tests.mutants.jury import ENDLESS, ROOT, SURVIVED, UNVIABLE, Jury, limit
from tests.mutants.places import Mutant

STAGES = ("fast", "not fast and not process and not engines and not peers")
OPTIONS = ("-x", "-q", "-n0", "--no-header", "--tb=no", "-pno:cacheprovider", "--hypothesis-seed=1")
SECONDS = 60  # of CPU that a mutant may take, beside what its room takes without one


class Room(NamedTuple):
    """What notices mutants of a room: modules of checks, folders and files of tests."""

    checks: str = ""
    tests: str = ""


# Tests are in the folder of the room's name, or of what stands before its slash, but for these.
ROOMS = {
    "_arrow": Room(tests="arrow query"),
    "_compiler": Room("inlining"),
    "_intake": Room("records numbers groups", "intake numbers mechanisms"),
    "_keys": Room("keys groups", "keys grouped"),
    "_numbers": Room(
        "quantile_chains laplace studies numbers records rows groups quantile_branches"
    ),
    "_parameters": Room("records"),
    "_randomness": Room("rows groups", "randomness selection grouped"),
    "_selection": Room("joint_top_k selection sampler rows"),
    "_threads": Room(tests="kernels"),
    "budget": Room("sampler"),
    "comparison": Room(tests="mechanisms/test_compare.py"),
    "exact_errors": Room(tests="mechanisms/test_expected_errors.py studies/test_exact.py"),
    "grouped": Room("keys groups"),
    "kernels/bits": Room("selection sampler laplace rows", "kernels book"),
    "kernels/figures": Room("quantile_laws studies", "numbers studies laws"),
    "kernels/groups": Room("groups", "grouped book"),
    "kernels/numbers": Room(
        "quantile_chains laplace studies numbers records rows quantile_branches",
        "numbers book",
    ),
    "kernels/select": Room("joint_top_k selection sampler rows", "kernels selection book"),
    "laws": Room("quantile_laws joint_top_k selection studies"),
    "mechanisms": Room("quantiles selection sampler"),
    "privacy": Room("quantiles joint_top_k studies sampler"),
    "reference": Room(
        "joint_top_k quantile_chains sampler laplace quantile_branches groups",
        "kernels selection numbers",
    ),
    "sensitivity": Room(tests="mechanisms/test_sensitivity.py"),
    "smooth": Room(tests="numbers/test_smooth.py"),
    "studies": Room("studies"),
    "sufficient_epsilon": Room(tests="mechanisms/test_sufficient_epsilon.py"),
    "utilities": Room(tests="mechanisms/test_counts_with_labels.py"),
}


def notices(room: str) -> Room:
    """The checks and tests of a room, tests as the paths that are there, with its doctests."""
    above = room.partition("/")[0]
    checks, tests = ROOMS.get(room) or ROOMS.get(above) or Room()
    tests = f"{tests or above.strip('_')} messages"  # these have calls that are refused
    paths = [f"tests/{name}" for name in tests.split()]
    paths += [f"fastexp/{room}", f"fastexp/{room}.py"]
    return Room(checks, " ".join(path for path in paths if (ROOT / path).exists()))


class Trial:
    """A jury, and a copy of the checkout in a folder of its own."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="mutants")
        self._copy, self._kernels = (Path(self._folder.name, name) for name in ("copy", "kernels"))
        left_out = shutil.ignore_patterns(".git", ".venv", ".nox", "_build", "build", "dist")
        shutil.copytree(ROOT, self._copy, ignore=left_out)
        modules = {name for room in ROOMS.values() for name in room.checks.split()}
        self._jury = Jury(sorted(modules))
        self._tried = 0

    def close(self) -> None:
        """End the jury and remove the copy."""
        self._jury.__exit__()
        self._folder.cleanup()

    def killer(self, mutant: Mutant) -> str | None:
        """What notices a mutant, "" if nothing does; None of one that cannot be imported."""
        checks, tests = notices(mutant.address.partition(":")[0])
        for name in checks.split() or [""]:  # without checks, it is imported alone
            status, _ = self._jury.verdict(name, mutant.path, mutant.text, SECONDS)
            if status == UNVIABLE:
                return None
            if status != SURVIVED:
                return f"checks of {name}{_time(status, SECONDS)}"
        for stage in STAGES:
            seconds = SECONDS + 2 * self._usual(tests, stage)
            status, output = self._with(mutant, tests, stage, seconds)
            if status not in PASSED:
                lines = output.splitlines()
                failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
                return "".join(failed[:1]) or f"tests{_time(status, seconds)}, {status}"
        return ""

    def _with(self, mutant: Mutant, tests: str, stage: str, seconds: float) -> tuple[int, str]:
        # The exit status of tests with the mutant's file in the copy, and their output.
        path = self._copy / mutant.path.relative_to(ROOT)
        original, times = path.read_text(), path.stat()
        self._tried += 1
        try:
            path.write_text(mutant.text)
            # Compiled files are known by the size of their source and its second.
            os.utime(path, (0, times.st_mtime + 2 * self._tried))
            status, output, _ = self._run(tests, stage, seconds, self._kernels)
        finally:
            path.write_text(original)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        return status, output

    def _usual(self, tests: str, stage: str) -> float:
        # The CPU seconds that tests take in the copy as it is.
        with USUAL_LOCK:
            if (tests, stage) not in USUAL:
                status, output, USUAL[tests, stage] = self._run(tests, stage, 3600)
                assert status in PASSED, f"they fail without a mutant: {tests}\n{output}"
        return USUAL[tests, stage]

    def _run(
        self, tests: str, stage: str, seconds: float, kernels: Path | None = None
    ) -> tuple[int, str, float]:
        # The exit status of tests in the copy, their output, the CPU seconds they took.
        env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
        if kernels:
            env["FASTEXP_CACHE_DIR"] = str(kernels)
        before = _cpu()
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *OPTIONS, "-m", stage, *tests.split()],
            cwd=self._copy,
            env=env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=functools.partial(limit, int(seconds)),
        )
        try:
            output, _ = process.communicate(timeout=5 * seconds)
            status = process.returncode
        except subprocess.TimeoutExpired:
            status, output = ENDLESS, ""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # and what it left behind
        process.wait()
        shutil.rmtree(self._copy / ".hypothesis", ignore_errors=True)  # examples that failed
        return status, output, _cpu() - before


PASSED = (0, 5)  # exit statuses of pytest: all passed, there are none
USUAL: dict[tuple[str, str], float] = {}  # CPU seconds of tests without a mutant
USUAL_LOCK = threading.Lock()


def _time(status: int, seconds: float) -> str:
    return f", which took {seconds:.0f} s" if status == ENDLESS else ""


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
