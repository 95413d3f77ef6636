"""One run of the command line: find the command, and turn every outcome into an exit code."""

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
    """Run one command, and return the exit code of `main`."""
    if sys.stdout is None:  # a release that nobody sees would still cost epsilon
        note("fastexp: there is no stdout")
        return FAILURE
    if argv is None:  # this process is our own; no command multiplies matrices
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # starting more takes 0.1 s of CPU
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

    if isinstance(sys.stdout, TextIOWrapper):  # escape characters that the terminal cannot show
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
        interrupts.check()  # an import may fail in its own way when it is interrupted
    return code


def _silence() -> None:
    """Discard further output, so that the interpreter's flush at exit cannot fail again."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # stdout is not a file
        return
