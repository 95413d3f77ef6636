"""Forks a process of Python for each request: ``python -m tests.support.fork_server SOCKET WHAT``.

Most of what a short process takes is its start: an interpreter, NumPy, numba, the package. This
one has imported them; it has no child but those it forks, and no thread but that of pyarrow's
allocator. A child goes on as if it had just been started: with streams, environment, folder and
`__main__` of its own, and the end of an interpreter. `tests/support/processes.py` asks, and says
when a process is started in earnest.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import struct
import sys
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

NUMBER = struct.Struct("q")  # a child's id, and later how it ended, as `os.waitpid` has it
LIBRARIES = ["numpy", "numba", "duckdb", "pyarrow", "rich"]


def import_all(what: str) -> None:
    """Import what processes of tests use: the package and LIBRARIES, or the compiler alone."""
    if what == "compiler":
        import numba

        numba.njit("float64(float64)")(lambda x: x)  # what a first compilation sets up
    else:
        import fastexp

        names = (module.name for module in pkgutil.walk_packages(fastexp.__path__, "fastexp."))
        for name in [*names, *LIBRARIES]:
            if not name.endswith((".__main__", ".spark")):
                with suppress(ImportError):
                    importlib.import_module(name)
    gc.collect()
    gc.freeze()  # or every child would copy all pages that it looks through


def serve(channel: socket.socket) -> dict[str, Any] | None:
    """Fork for every request: the request in its child, and at the end None in the server."""
    children: dict[int, int] = {}
    waking, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready, _, _ = select.select([channel, waking], [], [])
        if waking in ready:
            os.read(waking, 1 << 12)
            _tell(children)
        if channel in ready:
            request, handles, *_ = socket.recv_fds(channel, 1 << 20, 4)
            if not request:
                return None
            child = os.fork()
            if child == 0:
                channel.detach()
                _take(handles[:3])
                return json.loads(request)
            for handle in handles[:3]:
                os.close(handle)
            children[child] = handles[3]
            os.write(handles[3], NUMBER.pack(child))


def _tell(children: dict[int, int]) -> None:
    while children:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        handle = children.pop(child)
        with suppress(BrokenPipeError):  # nobody waited for it
            os.write(handle, NUMBER.pack(status))
        os.close(handle)


def _take(handles: list[int]) -> None:
    """Make these the standard streams; nothing else of the server stays open."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for stream, handle in enumerate(handles):
        os.dup2(handle, stream)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    for stream, name in enumerate(("stdin", "stdout", "stderr")):
        before = getattr(sys, name)
        new = io.TextIOWrapper(
            open(stream, "wb" if stream else "rb", closefd=False),  # noqa: SIM115
            before.encoding,
            before.errors,
            newline="\n",
            line_buffering=before.line_buffering or os.isatty(stream),
            write_through=before.write_through,
        )
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


def become(cwd: str, env: Mapping[str, str], words: list[str]) -> None:
    """Run `-c CODE`, `-m MODULE` or a script, each with its arguments."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.path[1:1] = [place for place in env.get("PYTHONPATH", "").split(os.pathsep) if place]
    if words[0] == "-B":
        sys.dont_write_bytecode, words = True, words[1:]
    how, *rest = words
    if how == "-m":
        sys.argv, sys.path[0] = rest, cwd
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__annotations__ = {}
    if how == "-c":
        code, path, sys.argv = rest[0], "<string>", ["-c", *rest[1:]]
        sys.path[0] = ""
    else:
        code, path, sys.argv = Path(how).read_text(), how, words
        sys.path[0] = str(Path(how).parent)
        main.__file__ = how
    exec(compile(code, path, "exec", dont_inherit=True), main.__dict__)  # noqa: S102  # the test's


def leave() -> None:
    """End the process where all others are done: nobody waits while its modules are taken apart."""
    for code in codes:
        with suppress(OSError, ValueError):  # of a stdout that is full or closed
            sys.stdout.flush()
            os._exit(code)


codes: list[int] = []  # with which the process ends, once that is known

if __name__ == "__main__":
    atexit.register(leave)  # first, so that it is called last
    import_all(sys.argv[2])
    warnings.filterwarnings("ignore", "This process .* multi-threaded", DeprecationWarning)
    request = serve(socket.socket(fileno=int(sys.argv[1])))
    if request is not None:
        try:
            become(**request)
        except SystemExit as end:
            if isinstance(end.code, int):
                codes.append(end.code & 0xFF)
            raise
        codes.append(0)
