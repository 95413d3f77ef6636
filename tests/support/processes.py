"""Processes that a test starts and that end with it; those of Python are forked where they can be.

A forked one (`fork_server.py`) is like a new one but for what it has imported, its hash seed and
the memory that this takes: a test of these, and of the start itself, says `imported="nothing"`.
"""

from __future__ import annotations

import atexit
import functools
import inspect
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.fork_server import NUMBER

ROOT = Path(__file__).parents[2]
FORKS = sys.platform == "linux"  # elsewhere what has imported NumPy may not fork
AT_START = ("PYTHON", "NUMBA", "OPENBLAS", "OMP")  # variables that are read while imports run
ARGUMENTS = {"stdin", "stdout", "stderr", "env", "cwd", "text", "encoding"}
PIPES = ("p2cread", "c2pwrite", "errwrite", "p2cwrite", "c2pread", "errread")  # theirs, ours
SECONDS = 300


@functools.cache
def _server(what: str) -> socket.socket:
    """The way to this process's server, which ends with it; `what` it has imported."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "tests.support.fork_server", str(theirs.fileno()), what]
    nothing, handles = subprocess.DEVNULL, [theirs.fileno()]
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # no thread where there are forks
    process = subprocess.Popen(
        command, cwd=ROOT, env=env, stdin=nothing, stdout=nothing, pass_fds=handles
    )
    theirs.close()
    atexit.register(process.wait, 60)
    atexit.register(ours.close)  # first
    return ours


class Forked(subprocess.Popen[Any]):
    """A process with the face of `subprocess.Popen` whose parent is the server."""

    def __init__(self, command: list[Any], imported: str, **options: Any) -> None:
        self._imported = imported
        super().__init__(command, **options)

    def _execute_child(self, *given: Any) -> None:
        of = inspect.signature(super()._execute_child).bind(*given).arguments
        sys.audit("subprocess.Popen", of["executable"], of["args"], of["cwd"], of["env"])
        pipes = [of[name] for name in PIPES]
        streams = [own if handle == -1 else handle for own, handle in enumerate(pipes[:3])]
        request = {
            "cwd": str(Path.cwd() / (of["cwd"] or "")),
            "env": dict(os.environ if of["env"] is None else of["env"]),
            "words": [os.fspath(word) for word in of["args"][1:]],
        }
        self._ended, telling = os.pipe()
        handles = [*streams, telling]
        try:
            socket.send_fds(_server(self._imported), [json.dumps(request).encode()], handles)
        finally:
            os.close(telling)
            self._close_pipe_fds(**{name: of[name] for name in PIPES})
        self.pid = self._number()
        self._child_created = True

    def _number(self) -> int:
        return NUMBER.unpack(os.read(self._ended, NUMBER.size))[0]

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        limit = 0 if wait_flags & os.WNOHANG else None
        if not select.select([self._ended], [], [], limit)[0]:
            return 0, 0
        status = self._number()
        os.close(self._ended)
        return self.pid, status

    def _internal_poll(self, *_: object, **__: object) -> int | None:
        if self.returncode is None:
            pid, status = self._try_wait(os.WNOHANG)
            if pid:
                self._handle_exitstatus(status)
        return self.returncode


def _can_fork(command: list[Any], options: dict[str, Any]) -> bool:
    """Whether it is Python, and a child would have all options and all variables."""
    how = str(command[2 if command[1] == "-B" else 1])
    ours = command[0] == sys.executable and (how in ("-c", "-m") or not how.startswith("-"))
    env = options.get("env") or {}
    read = {k for k in env if k.startswith(AT_START)} - {"PYTHONPATH"}
    as_here = all(env[name] == os.environ.get(name) for name in read)
    return FORKS and ours and as_here and options.keys() <= ARGUMENTS


def start(
    command: list[Any], *, imported: str = "package", **options: Any
) -> subprocess.Popen[Any]:
    """A process of Python that has imported the package, "compiler" (numba) or "nothing".

    It is a new one also where it cannot be forked; then it has imported nothing.
    """
    if imported != "nothing" and _can_fork(command, options):
        return Forked(command, imported, **options)
    return subprocess.Popen(command, **options)


@contextmanager
def started(
    command: list[Any], *, imported: str = "package", **options: Any
) -> Iterator[subprocess.Popen[Any]]:
    """A process that is killed where the block has not waited for its end."""
    with start(command, imported=imported, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def run(
    command: list[Any],
    *,
    imported: str = "package",
    given: Any = None,
    check: bool = False,
    timeout: float = SECONDS,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """How a process ended and what it said, as `subprocess.run` has it; `given` is its stdin."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    pipes |= {} if given is None else {"stdin": subprocess.PIPE}
    with started(command, imported=imported, **(pipes | options)) as process:
        out, err = process.communicate(given, timeout=timeout)
    done = subprocess.CompletedProcess(command, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done
