"""Runs a module of checks against mutants of the package, each in a process of its own.

Most of what a short check takes is the start: an interpreter, NumPy, numba, the package. So one
process (`Jury`) imports everything once without the compiler, forgets the package and the tests,
and forks for every mutant. The child imports the package anew, with the mutant's text in the
place of its file; nothing is written. Where there is no fork, every mutant has a process from the
start.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any, Self

from tests.house.rooms import PACKAGE, module

ROOT = PACKAGE.parent
SECONDS = 300  # of CPU; then a mutant that runs for ever ends
MEMORY = 6 << 30  # bytes that a mutant may allocate
FORKS = hasattr(os, "fork")
# Exit statuses; 2 is of a check that cannot be run.
SURVIVED, KILLED, BROKEN, UNVIABLE = 0, 1, 3, 4
ENDLESS = -int(getattr(signal, "SIGXCPU", 24))


class Jury:
    """The process that is asked, from the outside: a line of JSON each way for a mutant."""

    def __init__(self, modules: list[str]) -> None:
        self._modules = modules
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def verdict(
        self, checks: str, path: Path, text: str, seconds: int = SECONDS
    ) -> tuple[int, str]:
        """The exit status of these checks with a file's text changed, and its error."""
        process = self._process = self._process or self._start([checks] if checks else [])
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps([checks, str(path), text, seconds]) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not (FORKS and answer):
            self._end()  # the next one is given a new process
        assert answer, f"the checks of {path} took more than {seconds} s, or all was ended"
        status, error = json.loads(answer)
        return status, error

    def _start(self, modules: list[str]) -> subprocess.Popen[str]:
        loaded = self._modules if FORKS else modules
        command = [sys.executable, "-W", "ignore", "-m", "tests.mutants.jury", *loaded]
        env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "OPENBLAS_NUM_THREADS": "1"}
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=env, cwd=ROOT)

    def _end(self) -> None:
        if self._process:
            self._process.communicate(timeout=SECONDS)  # the end of its questions
            self._process = None


class Changed(SourceFileLoader):
    """Loads a file of the package with another text, past the compiled files."""

    def __init__(self, fullname: str, path: str, text: str) -> None:
        super().__init__(fullname, path)
        self._text = text

    def get_code(self, _fullname: str) -> CodeType:
        return compile(self._text, self.path, "exec", dont_inherit=True)


class Finder(MetaPathFinder):
    """Gives the one changed module to `Changed`, and leaves the others to Python."""

    def __init__(self, path: str, text: str) -> None:
        self._file, self._text = Path(path), text

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith("fastexp"):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec and spec.origin and Path(spec.origin) == self._file:
            spec.loader = Changed(fullname, spec.origin, self._text)
        return spec


def judge(checks: str, path: str, text: str, seconds: int) -> int:
    """Run the checks on the changed package: its exit status, and a traceback if they fail."""
    sys.meta_path.insert(0, Finder(path, text))
    faulthandler.dump_traceback_later(5 * seconds, exit=True)  # one that waits
    limit(seconds)
    try:
        importlib.import_module(module(Path(path)))
    except BaseException:
        traceback.print_exc()
        return UNVIABLE
    try:
        if checks:
            importlib.import_module(f"tests.support.checks.{checks}").run()
    except BaseException as error:
        traceback.print_exc()
        sys.stderr.flush()
        return KILLED if noticed(error) else BROKEN
    return SURVIVED


def limit(seconds: int) -> None:
    """End this process, where the system can, when it has used its CPU seconds or memory."""
    with contextlib.suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def noticed(error: BaseException) -> bool:
    """Whether it is of a check, an error of the package, or its index beyond an array.

    What any typing error would raise, as NameError, is not.
    """
    own = getattr(sys.modules.get("fastexp.errors"), "FastexpError", AssertionError)
    where = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    inside = PACKAGE in where.parents
    return isinstance(error, AssertionError | own) or (isinstance(error, IndexError) and inside)


def judge_apart(errors: int, question: list[Any]) -> int:
    """The same in a child that writes into a file: its exit status, less than 0 of a signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 2
    try:
        os.dup2(errors, 1)
        os.dup2(errors, 2)
        status = judge(*question)
    finally:
        os._exit(status)


def main(modules: list[str]) -> None:
    """Answer every line, `[checks, path, text, seconds]`, by one, `[status, error]`."""
    for name in modules:
        importlib.import_module(f"tests.support.checks.{name}")
    for name in list(sys.modules):
        if name.partition(".")[0] in ("fastexp", "tests"):
            del sys.modules[name]
    for line in sys.stdin:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
            if FORKS:
                status = judge_apart(errors.fileno(), json.loads(line))
            else:
                os.dup2(errors.fileno(), 2)
                status = judge(*json.loads(line))
            errors.seek(0)
            sys.stdout.write(json.dumps([status, errors.read()[-9000:]]) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
