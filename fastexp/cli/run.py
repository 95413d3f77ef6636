"""One run of the command line: the command is found, and every ending becomes an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

from .terminal import interrupts
from .terminal.errors import FAILURE, OK, reason_of, report
from .terminal.printing import note


def run(argv: Sequence[str] | None) -> int:
    """Run one command; returns the exit code of `main`."""
    if sys.stdout is None:  # a release that nobody sees would cost epsilon all the same
        note("fastexp: there is no stdout")
        return FAILURE
    if argv is None:  # this process is ours; no command multiplies matrices
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # others take 0.1 s of CPU to start
    try:
        with interrupts.remembered():
            code = _run(argv)
            sys.stdout.flush()  # a full disk or a closed pipe shows here, not at exit
    except KeyboardInterrupt:
        note("fastexp: interrupted")
        return interrupts.exit_code()
    except BrokenPipeError:
        _silence()
        return FAILURE
    except OSError as error:
        _silence()
        note(f"fastexp: the output could not be written: {reason_of(error, 'system error')}")
        return FAILURE
    return code


def _run(argv: Sequence[str] | None) -> int:
    from .._compiler.rounding import check_rounding
    from .options.parser import build

    if isinstance(sys.stdout, TextIOWrapper):  # a label beyond the terminal's alphabet is escaped
        sys.stdout.reconfigure(errors="backslashreplace")
    publication = False
    try:
        options = build().parse_args(argv)
        publication = options.command == "release"
        check_rounding()
        command = import_module(f".{options.module}", __package__)
        getattr(command, options.function)(options)
    except SystemExit as stop:  # argparse: --help, --version, a usage error
        return stop.code if isinstance(stop.code, int) else FAILURE
    except OSError:
        raise
    except Exception as error:
        message, code = report(error, publication)
    else:
        return OK
    note(f"fastexp: {message}")
    if code == FAILURE:
        interrupts.check()  # what is imported may fail in a way of its own by one
    return code


def _silence() -> None:
    """Nothing more is written: the interpreter's own flush at exit cannot fail again."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # stdout is not a file
        return
