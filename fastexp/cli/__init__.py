"""The command line: `main` takes signals first, and then imports the rest."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing's own takes 2 ms to import
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, by `argv` or the arguments of the process, and return the exit code.

    0: done; 1: a failure at run time (also if nobody reads the output); 2: the user's mistake; 3: a
    budget without room for the release; 4: charged, and no answers; 130: interrupted (143 by
    SIGTERM, 129 by SIGHUP). A process that is interrupted while it starts or ends dies by the
    signal: nothing needs cleaning up then.
    """
    if argv is None:  # this process is our own
        signal = import_module("_signal")  # built in: `signal` takes longer to import than fastexp
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    from .run import run

    return run(argv)
