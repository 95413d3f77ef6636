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
DRAW_SEED = 1  # of draws, which would depend on the data if both had one seed
HOME = ("fastexp", "benchmarks")


@dataclass(frozen=True, eq=False)
class Work:
    """The sizes of a case; subclasses add inputs, which are made once, at first use."""

    k: int
    size: int = 1
    threads: int = 1
    rows: int = 1
    is_toy: bool = False

    @property
    def label(self) -> str:
        """The kind of inputs, if the name of the case does not say it."""
        return ""

    def at_most(self, k: int, size: int, rows: int) -> Self:
        """Return the same kind of work at a size for checks and the test suite."""
        k, rows = min(self.k, k), min(self.rows, rows)
        return replace(self, k=k, size=size, rows=rows, is_toy=True)

    def on_one_thread(self) -> Self:
        """Return the work for one thread, with the same inputs, which are not made again."""
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
    slack: float = 1e-9  # share of fastexp's mean by which a peer of another law may differ
    least_k: int = 1
    most_k: int | None = None
    why: str = ""  # why it has limits of k

    def call(self, work: Work) -> Call:
        """Return the call that is timed; raise Absent if it cannot be made."""
        if not self.least_k <= work.k <= (self.most_k or work.k) and not work.is_toy:
            raise Absent(self.why)
        try:
            return self.prepare(work)
        except ImportError as problem:
            if str(problem.name).startswith(HOME):
                raise  # the fault is in this repository
            raise Absent(f"cannot be imported: {problem}") from problem


def ours(prepare: Prepare) -> Entry:
    """Return the entry of fastexp."""
    return Entry("fastexp", prepare, "ours")


@dataclass(frozen=True)
class Case:
    """A workload, the ways of doing it (first that of fastexp), and how it is measured.

    `figures` returns numbers of an answer, whose mean must be the same for all that draw.
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
        """Return the same case at a size for the test suite and for checks before a run."""
        inputs = self.inputs.at_most(self.toy_k, self.toy_size, self.toy_rows)
        return replace(self, inputs=inputs)

    def work(self) -> Work:
        """Return a copy of the work, whose inputs are made anew."""
        return replace(self.inputs)

    def row(self, entry: Entry, unit: str, suffix: str = "") -> Row:
        """Return an empty row of an entry."""
        work, name = self.inputs, entry.name + suffix
        return Row(self.id, work.k, name, entry.role, unit, rows=work.rows)
