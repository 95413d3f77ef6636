"""A run in memory: totals, and which tasks are in them."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import StudyError
from ..design.design import Design
from ..sums.totals import NOT_OF_IT, TaskResult, Totals


class Progress:
    """Totals, and a bit for each task: memory does not grow with the data sets' results."""

    study: Design
    totals: Totals
    tasks: int
    finished: int

    def __init__(self, study: Design) -> None:
        self.study, self.totals = study, Totals(study)
        self.tasks, self.finished = study.tasks, 0
        self._done = bytearray((self.tasks + 7) // 8)

    def has(self, number: int) -> bool:
        """Whether a task is done."""
        return bool(self._done[number >> 3] >> (number & 7) & 1)

    def add(self, result: TaskResult) -> None:
        """Add a task's result, once."""
        self.count(result)

    def count(self, result: TaskResult) -> None:
        """The same, whether or not it is to be written down."""
        number = int(result["task"])
        if not 0 <= number < self.tasks:
            raise StudyError(NOT_OF_IT)
        if not self.has(number):
            self.totals.add(result, number // self.study.blocks)
            self._done[number >> 3] |= 1 << (number & 7)
            self.finished += 1

    def read(self, result: TaskResult | None) -> None:
        """Add what a line of a file held; None: it was damaged."""
        try:
            if result is not None:
                self.count(result)
        except (KeyError, TypeError, AttributeError):
            raise StudyError(NOT_OF_IT) from None

    def missing(self) -> Iterator[int]:
        """The tasks that are not done, in order."""
        return (number for number in range(self.tasks) if not self.has(number))

    def close(self) -> None:
        """Nothing to close."""
