"""What a benchmark case is made of: inputs, and ways of doing the work."""

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
Figures = Callable[[Any, Any], npt.ArrayLike]
Role = Literal["ours", "variant", "rival", "limit"]

EPSILON = SENSITIVITY = 1.0
SEED = 20_261  # of the data
DRAW_SEED = 1  # of draws: from the same seed they would depend on the data
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
    slack: float = 1e-9  # share of fastexp's mean that a peer of another law may be off
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


def ours(prepare: Prepare) -> Entry:
    """fastexp's own way."""
    return Entry("fastexp", prepare, "ours")


@dataclass(frozen=True)
class Case:
    """A workload, the ways of doing it, fastexp's first, and how it is measured.

    `figures` gives numbers of an answer, whose mean is to be the same whoever draws.
    """

    name: str
    inputs: Work
    entries: tuple[Entry, ...]
    measure: Callable[[Case, Options], Outcome]
    figures: Figures | None = None
    toy_k: int = 300
    toy_size: int = 1
    toy_rows: int = 60

    @property
    def id(self) -> str:
        """The name under which results are filed."""
        work = self.inputs
        rows = f"rows={work.rows}" if work.rows > 1 else ""
        return "/".join(part for part in (self.name, work.label, rows, f"k={work.k}") if part)

    def toy(self) -> Case:
        """The same case at a size for the test-suite and for checks before a run."""
        inputs = self.inputs.at_most(self.toy_k, self.toy_size, self.toy_rows)
        return replace(self, inputs=inputs)

    def work(self) -> Work:
        """The inputs, to be made anew."""
        return replace(self.inputs)

    def row(self, entry: Entry, unit: str, suffix: str = "") -> Row:
        """An empty row of this entry."""
        work, name = self.inputs, entry.name + suffix
        return Row(self.id, work.k, name, entry.role, unit, rows=work.rows)
