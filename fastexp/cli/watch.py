"""Signals: a command ends within a second, and says whether something was charged."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from argparse import Namespace

QUIET, GRACE, LAST = 2.0, 0.7, 0.2  # seconds before a note; to end by itself; to say how it stands
SIGNALS = signal.SIGINT, signal.SIGTERM
NOTHING = "nothing was charged"
STATES = {
    "open": "the same command goes on under label {!r} at no further cost",
    "answered": "the answers are kept under label {!r}: the same command prints them at no cost",
    "failed": "label {!r} is used up",
}


def note(text: str) -> None:
    """Print a line for the user, apart from answers."""
    if sys.stderr is not None:  # print would take stdout
        print(text, file=sys.stderr, flush=True)


def state(options: Namespace) -> str:
    """Return the state of a label in the budget at this moment; empty if it was not charged."""
    import fastexp as fx

    log = fx.Budget.file(options.budget).log()
    found = next((line["state"] for line in log if line["label"] == options.label), "")
    # Private groups, which alone have a delta, are not drawn again for an open charge.
    return "failed" if found == "charged" or (found == "open" and options.delta) else found


def charged(options: Namespace | None) -> str:
    """Return whether something is charged, in words."""
    has_begun = "fastexp.privacy.ledger" in sys.modules  # NumPy cannot be imported again
    if options is None or not getattr(options, "budget", None) or not has_begun:
        return NOTHING
    found = state(options)
    return f"charged; {STATES[found].format(options.label)}" if found else NOTHING


class Watch:
    """A thread that ends the process if an interrupt does not: in C code, Python hears of it late.

    It also prints a note after a while.
    """

    number = int(signal.SIGINT)  # that was received
    options: Namespace | None = None

    def __enter__(self) -> Watch:
        """Begin to watch."""
        self._ends = os.pipe()
        os.set_blocking(self._ends[1], False)
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()
        self._before = {
            number: signal.signal(number, signal.default_int_handler)
            for number in SIGNALS
            if signal.getsignal(number) != signal.SIG_IGN
        }
        self._descriptor = signal.set_wakeup_fd(self._ends[1], warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        """End: what is watched has ended."""
        signal.set_wakeup_fd(self._descriptor)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.write(self._ends[1], b"\0")
        self._thread.join()
        for end in self._ends:
            os.close(end)

    def ignore(self) -> None:
        """Ignore further signals: the command ends."""
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def _wait(self) -> None:
        if not self._hears(QUIET):
            note("still reading and drawing; Ctrl-C stops it")
        (number,) = os.read(self._ends[0], 1)
        self.number = number or self.number
        if number and not (self._hears(GRACE) and os.read(self._ends[0], 1) == b"\0"):
            threading.Timer(LAST, os._exit, [128 + number]).start()  # the budget may be locked
            note("fastexp: interrupted")
            note(charged(self.options))
            os._exit(128 + number)

    def _hears(self, seconds: float) -> bool:
        return bool(select.select([self._ends[0]], [], [], seconds)[0])
