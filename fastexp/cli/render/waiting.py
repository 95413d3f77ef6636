"""Messages while a command takes time: about kernels that are compiled, and a progress bar."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..terminal import errors, printing

if TYPE_CHECKING:
    from ..._compiler.cache import CacheFolder

SOON = 0.5  # seconds of compiling before the first message


def announce_compilation(place: CacheFolder | None = None, number: int | None = None) -> None:
    """On a terminal, show from now on which kernel is being compiled, if that takes long.

    Kernels are saved in `place` if it is given, or else in the folders of the cache. `number` is
    the number of all kernels, if it is known.
    """
    if _on_terminal():
        from ..._compiler import cache, jit

        jit.watch(CompilerNotes([place] if place else cache.places(), number).kernel)


class CompilerNotes:
    """One line on stderr, which is rewritten for each kernel after half a second of compiling.

    places: folders in which kernels may be saved; number: that of all kernels, None if not known.
    """

    def __init__(self, places: list[CacheFolder], number: int | None = None) -> None:
        self._places, self._all = places, f" of {number}" * (number is not None)
        self._number, self._length = 0, 0
        self._spent = 0.0

    @contextmanager
    def kernel(self) -> Iterator[None]:
        """Show the line while one kernel is compiled."""
        self._number += 1
        text = f"compiling kernel {self._number}{self._all}, {self._when} ..."
        timer = threading.Timer(max(0.0, SOON - self._spent), self._show, (text,))
        timer.daemon = True
        start = time.perf_counter()
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            if self._length:
                self._show("")
            self._spent += time.perf_counter() - start

    def _show(self, text: str) -> None:
        blank, self._length = " " * self._length, len(text)
        printing.rewritten(f"\r{blank}\r{text}")

    @cached_property
    def _when(self) -> str:
        from ..._compiler import build, cache

        target, features = build.targets()[0]
        states = (cache.state(place, target, features) for place in self._places)
        if any(state.is_writable for state in states):
            return "once on this machine (see fastexp warmup)"
        return "in every process (see fastexp info)"


class ProgressBar:
    """A progress bar on stderr, if that is a terminal, rich is installed and `quiet` is false.

    Also without a bar, `finished` and `tasks` are the arguments of the last call of `progress`.
    """

    finished: int
    tasks: int

    def __init__(self, quiet: bool, unit: str = "tasks") -> None:
        self.finished = self.tasks = 0
        self._bar = None if quiet or not _on_terminal() else _bar(unit)
        self._task: Any = None
        self._start, self._before = 0.0, 0

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def progress(self, finished: int, tasks: int) -> None:
        """Update the number of finished tasks, and that of all tasks."""
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
        """Stop updating the bar, which stays as it is."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _bar(unit: str) -> Any:
    rich, console = errors.optional("rich.progress"), errors.optional("rich.console")
    if rich is None or console is None:
        return None
    return rich.Progress(
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn(f"{unit}  {{task.fields[rate]}}"),
        rich.TextColumn("left"),
        rich.TimeRemainingColumn(),
        console=console.Console(file=sys.stderr),
    )
