"""What a benchmark case is made of: inputs, ways of doing the work, and their check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from .outcome import Absent, Options, Outcome, Row

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Generator = np.random.Generator
Call = Callable[[], Any]
Prepare = Callable[[Any], Call]
Check = Callable[[Any, list[Any]], None]
Role = Literal["ours", "variant", "rival", "limit"]

EPSILON = SENSITIVITY = 1.0
SEED = 20_261  # of the data
DRAW_SEED = 1  # of draws: from the same seed they would depend on the data
SLOW_S = 2.0
HOME = ("fastexp", "benchmarks")


@dataclass(frozen=True, eq=False)
class Work:
    """The sizes of a case; areas add inputs, which are made once, at first use."""

    k: int
    size: int = 1
    threads: int = 1
    rows: int = 1
    is_toy: bool = False

    @property
    def label(self) -> str:
        """What the inputs are, where a case's name does not say it."""
        return ""

    def at_most(self, k: int, size: int, rows: int) -> Self:
        """The same kind of work at a size for checks and the test-suite."""
        k, rows = min(self.k, k), min(self.rows, rows)
        return replace(self, k=k, size=size, rows=rows, is_toy=True)

    def on_one_thread(self) -> Self:
        """The same inputs, not made again, for one thread."""
        one = replace(self, threads=1)
        vars(one).update({name: value for name, value in vars(self).items() if name != "threads"})
        return one


@dataclass(frozen=True)
class Entry:
    """One way of doing a case's work: `prepare` makes the call that is timed.

    Roles: *ours*, what the others are compared with; *variant*, another call of fastexp;
    *rival*, a peer; *limit*, a floor that does less than the whole work.
    """

    name: str
    prepare: Prepare
    role: Role = "rival"
    check: Check | None = None  # in place of the case's
    least_k: int = 1
    most_k: int | None = None
    why: str = ""  # why it has limits of k

    def call(self, work: Work) -> Call:
        """The call that is timed, or Absent where it cannot be made."""
        if not self.least_k <= work.k <= (self.most_k or work.k) and not work.is_toy:
            raise Absent(self.why)
        try:
            return self.prepare(work)
        except ImportError as problem:
            if str(problem.name).startswith(HOME):
                raise  # what is wrong is here
            raise Absent(f"cannot be imported: {problem}") from problem


def ours(prepare: Prepare, check: Check | None = None) -> Entry:
    """fastexp's own way."""
    return Entry("fastexp", prepare, "ours", check)


@dataclass(frozen=True)
class Case:
    """A workload, the ways of doing it, how an answer is checked and how it is measured."""

    name: str
    inputs: Work
    entries: tuple[Entry, ...]
    check: Check
    measure: Callable[[Case, Options], Outcome]
    toy_k: int = 300
    toy_size: int = 1
    toy_rows: int = 60
    suffixes: tuple[str, ...] = ("",)  # an entry's rows
    slow_s: float = SLOW_S  # an entry whose first call is slower gets no other one

    @property
    def id(self) -> str:
        """The name under which results are filed."""
        work = self.inputs
        rows = f"rows={work.rows}" if work.rows > 1 else ""
        return "/".join(part for part in (self.name, work.label, rows, f"k={work.k}") if part)

    @property
    def row_names(self) -> list[str]:
        """Every row that a result must have, measured or declared absent."""
        return [name for entry in self.entries for name in self.row_names_of(entry)]

    def row_names_of(self, entry: Entry) -> list[str]:
        """The rows of one entry."""
        return [entry.name + suffix for suffix in self.suffixes]

    def toy(self) -> Case:
        """The same case at a size for the test-suite and for checks before a run."""
        slow_s = 0.0 if self.slow_s > SLOW_S else self.slow_s
        inputs = self.inputs.at_most(self.toy_k, self.toy_size, self.toy_rows)
        return replace(self, inputs=inputs, slow_s=slow_s)

    def work(self) -> Work:
        """The inputs, to be made anew."""
        return replace(self.inputs)

    def row(self, entry: Entry, unit: str, suffix: str = "") -> Row:
        """An empty row of this entry."""
        work = self.inputs
        sizes = work.k, work.size, work.threads
        return Row(self.id, *sizes, entry.name + suffix, entry.role, unit, rows=work.rows)

    def check_answers(self, entry: Entry, work: Work, answers: list[Any]) -> int:
        """Raise WrongAnswer unless all answers are right; how many there are."""
        (entry.check or self.check)(work, answers)
        return len(answers)
