"""That FILE is being read, and for how long: on a terminal with rich, else nothing.

How many rows there are is private, and so is how many a group has: neither is shown.
"""

from __future__ import annotations

import sys
from typing import Any

from . import output


class Progress:
    """Passes over FILE and the time they take, on stderr, while it is open.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    """

    def __init__(self, quiet: bool) -> None:
        shown = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._bar = _bar() if shown else None
        self._task: Any = None
        self._passes = 0

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self) -> None:
        """Another pass begins."""
        self._passes += 1
        if self._bar is not None:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(f"reading, pass {self._passes}", total=None)


def _bar() -> Any:
    rich, console = output.optional("rich.progress"), output.optional("rich.console")
    if rich is None or console is None:
        return None
    return rich.Progress(
        rich.SpinnerColumn(),
        rich.TextColumn("{task.description}"),
        rich.TimeElapsedColumn(),
        console=console.Console(file=sys.stderr),
        transient=True,
    )
