"""The options and the outcome of a measurement."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Options:
    """How long to measure."""

    repeats: int = 9
    sample_s: float = 0.1  # a sample lasts about this long
    check_s: float = 0.3  # time to gather answers for the check
    runs: int = 100_000  # calls for each class of the timing-leak test
    slow_s: float = 5.0  # an entry whose first call is slower is not called again


TOY = Options(repeats=2, sample_s=0.0005, check_s=0.02, runs=20, slow_s=0.1)


class Absent(Exception):
    """An entry cannot be measured here; the text says why."""


@dataclass
class Row:
    """The measurements of one entry."""

    case: str
    k: int
    name: str
    role: str
    unit: str
    repeats: list[float] = field(default_factory=list)
    calls: int = 1  # in one sample
    first_s: float | None = None
    rows: int = 1  # of k utilities each

    @property
    def median(self) -> float:
        """The median of the repeats."""
        return statistics.median(self.repeats)

    @property
    def spread(self) -> float:
        """The interquartile range over the median; 0 for one repeat."""
        if len(self.repeats) < 2 or self.median == 0:
            return 0.0
        low, _, high = statistics.quantiles(self.repeats, n=4, method="inclusive")
        return (high - low) / self.median


@dataclass
class Outcome:
    """The rows of a case, and why others are missing."""

    rows: list[Row] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def noting_absence(self, row_names: list[str]) -> Iterator[None]:
        """Note why these rows are missing if the block raises Absent."""
        try:
            yield
        except Absent as problem:
            self.absent |= dict.fromkeys(row_names, str(problem))
