"""Processes that a test starts and that end with it; those of Python are forked where they can be.

A forked one (`fork_server.py`) is like a new one but for what it has imported, its hash seed and
the memory of its imports: a test of these, and of the start itself, says `anew=True`.
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
def _server() -> socket.socket:
    """The way to this process's server, which ends with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "tests.support.fork_server", str(theirs.fileno())]
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
        try:
            socket.send_fds(_server(), [json.dumps(request).encode()], [*streams, telling])
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
    ours = command[0] == sys.executable and (
        command[1] in ("-c", "-m") or not str(command[1]).startswith("-")
    )
    env = options.get("env") or {}
    read = {k for k in env if k.startswith(AT_START) and k != "PYTHONPATH"}
    as_here = all(env[name] == os.environ.get(name) for name in read)
    return FORKS and ours and as_here and options.keys() <= ARGUMENTS


def start(command: list[Any], *, anew: bool = False, **options: Any) -> subprocess.Popen[Any]:
    """A process, which is forked where it is one of Python that can be and need not be new."""
    forked = not anew and _can_fork(command, options)
    return (Forked if forked else subprocess.Popen)(command, **options)


@contextmanager
def started(
    command: list[Any], *, anew: bool = False, **options: Any
) -> Iterator[subprocess.Popen[Any]]:
    """A process that is killed where the block has not waited for its end."""
    with start(command, anew=anew, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def run(
    command: list[Any],
    *,
    given: Any = None,
    check: bool = False,
    timeout: float = SECONDS,
    anew: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """How a process ended and what it said, as `subprocess.run` has it; `given` is its stdin."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    pipes |= {} if given is None else {"stdin": subprocess.PIPE}
    with started(command, anew=anew, **(pipes | options)) as process:
        out, err = process.communicate(given, timeout=timeout)
    done = subprocess.CompletedProcess(command, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done
