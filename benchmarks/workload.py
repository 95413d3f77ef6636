"""What a benchmark case is made of: inputs, ways of doing the work, and their check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .measure import Options, Outcome

FloatArray = npt.NDArray[np.float64]
Call = Callable[[], Any]
Check = Callable[["Work", list[Any]], None]
Role = Literal["ours", "variant", "rival", "limit"]

EPSILON = SENSITIVITY = 1.0
RATE = EPSILON / (2 * SENSITIVITY)  # weight exp(RATE * u)
SPREAD = 20.0  # utilities are SPREAD * U(0, 1)
SEED = 20_261
SLOW_S = 2.0


@dataclass(frozen=True, eq=False)
class Work:
    """The inputs of one case; made once and shared by all its entries."""

    k: int
    size: int = 1
    threads: int = 1
    toy: bool = False

    @cached_property
    def utilities(self) -> FloatArray:
        """k utilities, SPREAD * U(0, 1), from a fixed seed."""
        return SPREAD * np.random.default_rng(SEED).random(self.k)

    @cached_property
    def listed(self) -> list[float]:
        """The utilities as a list, for peers that take nothing else; made outside the clock."""
        values: list[float] = self.utilities.tolist()
        return values

    @cached_property
    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation of the drawn utility, by plain NumPy."""
        u = self.utilities
        p = np.exp(RATE * (u - u.max()))
        p /= p.sum()
        mean = float((p * u).sum())
        return mean, float(np.sqrt((p * (u - mean) ** 2).sum()))


@dataclass(frozen=True)
class Entry:
    """One way of doing a case's work: `prepare` makes the call that is timed.

    Roles: *ours*, what the others are compared with; *variant*, another call of fastexp;
    *rival*, a peer; *limit*, a floor that does less than the whole work.
    """

    name: str
    role: Role
    prepare: Callable[[Work], Call]
    needs: str = ""  # the module that must be importable
    check: Check | None = None  # in place of the case's
    least_k: int = 1
    most_k: int | None = None
    why: str = ""  # why it has limits of k


@dataclass(frozen=True)
class Case:
    """A workload, the ways of doing it, how an answer is checked and how it is measured."""

    name: str
    k: int
    entries: tuple[Entry, ...]
    check: Check
    measure: Callable[[Case, Options], Outcome]
    size: int = 1
    threads: int = 1
    toy_k: int = 300
    toy_size: int = 1
    suffixes: tuple[str, ...] = ("",)  # an entry's rows
    slow_s: float = SLOW_S  # an entry whose first call is slower gets no other one
    is_toy: bool = False

    @property
    def id(self) -> str:
        """The name under which results are filed."""
        return f"{self.name}/k={self.k}"

    @property
    def row_names(self) -> list[str]:
        """Every row that a result must have, measured or declared absent."""
        return [entry.name + suffix for entry in self.entries for suffix in self.suffixes]

    def toy(self) -> Case:
        """The same case at a size for the test-suite and for checks before a run."""
        k, slow_s = min(self.k, self.toy_k), 0.0 if self.slow_s > SLOW_S else self.slow_s
        return replace(self, k=k, size=self.toy_size, slow_s=slow_s, is_toy=True)

    def work(self) -> Work:
        """The inputs."""
        return Work(self.k, self.size, self.threads, self.is_toy)
