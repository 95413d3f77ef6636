"""How far a study is: a bar on a terminal with rich, else nothing; always a count."""

from __future__ import annotations

import sys
import time
from typing import Any

from . import tables


class Shown:
    """A progress bar on stderr, while it is open.

    Parameters
    ----------
    quiet : bool
        Show nothing, and count.

    Attributes
    ----------
    finished, tasks : int
        As they were told last.
    """

    def __init__(self, quiet: bool) -> None:
        self.finished = self.tasks = 0
        self._bar = None if quiet or not _on_terminal() else _bar()
        self._task: Any = None
        self._start, self._before = 0.0, 0

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def progress(self, finished: int, tasks: int) -> None:
        """Take in how many tasks are finished, of how many."""
        self.finished, self.tasks = finished, tasks
        if self._bar is None:
            return
        if self._task is None:
            self._start, self._before = time.perf_counter(), finished
            self._task = self._bar.add_task("", total=tasks, completed=finished, rate="")
            self._bar.start()
            return
        seconds = time.perf_counter() - self._start
        rate = f"{(finished - self._before) / seconds:.3g}/s" if seconds > 0 else ""
        self._bar.update(self._task, completed=finished, rate=rate)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _bar() -> Any:
    """A bar of rich, not begun; None where rich is not installed."""
    rich, console = tables.optional("rich.progress"), tables.optional("rich.console")
    if rich is None or console is None:
        return None
    return rich.Progress(
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn("tasks  {task.fields[rate]}"),
        rich.TextColumn("left"),
        rich.TimeRemainingColumn(),
        console=console.Console(file=sys.stderr),
    )
