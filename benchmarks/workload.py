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
IntArray = npt.NDArray[np.int64]
Call = Callable[[], Any]
Check = Callable[[Any, list[Any]], None]
Role = Literal["ours", "variant", "rival", "limit"]

EPSILON = SENSITIVITY = 1.0
RATE = EPSILON / (2 * SENSITIVITY)  # weight exp(RATE * u)
SPREAD = 20.0  # utilities are SPREAD * U(0, 1)
SEED = 20_261  # of the data
DRAW_SEED = 1  # of draws: from the same seed they would depend on the data
SLOW_S = 2.0


@dataclass(frozen=True, eq=False)
class Work:
    """The inputs of one case; made once and shared by all its entries."""

    k: int
    size: int = 1
    threads: int = 1
    toy: bool = False
    rows: int = 1
    chosen: int = 1  # of each draw: a top-k's k

    @property
    def rate(self) -> float:
        """The rate of one selection: `chosen` ones share epsilon."""
        return RATE / self.chosen

    @cached_property
    def utilities(self) -> FloatArray:
        """k utilities, or rows of k, SPREAD * U(0, 1), from a fixed seed."""
        shape = self.k if self.rows == 1 else (self.rows, self.k)
        return SPREAD * np.random.default_rng(SEED).random(shape)

    @cached_property
    def bits(self) -> npt.NDArray[np.bool_]:
        """k fair bits from a fixed seed."""
        return np.random.default_rng(SEED).random(self.k) < 0.5

    @cached_property
    def listed(self) -> list[float]:
        """The utilities as a list, for peers that take nothing else; made outside the clock."""
        values: list[float] = self.utilities.tolist()
        return values

    @cached_property
    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the drawn utility, row by row, by plain NumPy."""
        u = self.utilities.reshape(self.rows, self.k)
        p = np.exp(RATE * (u - u.max(axis=1, keepdims=True)))
        p /= p.sum(axis=1, keepdims=True)
        mean = (p * u).sum(axis=1)
        return mean, (p * (u - mean[:, None]) ** 2).sum(axis=1)

    @cached_property
    def flip_moments(self) -> tuple[float, float]:
        """The same of permute-and-flip, one row, by quadrature.

        Candidates arrive at uniform times t and are accepted with probability q, so r is the
        first with density q_r prod(1 - t q_s, s != r).
        """
        u = self.utilities
        q = np.exp(RATE * (u - u.max()))
        nodes, weights = np.polynomial.legendre.leggauss(100)
        end = min(1.0, 60.0 / float(q.sum()))  # nobody yet: a probability below e**-60
        p = np.zeros(self.k)
        for t, weight in zip(end * (nodes + 1) / 2, end * weights / 2, strict=True):
            p += weight * np.exp(np.log1p(-t * q).sum()) * q / (1 - t * q)
        assert abs(float(p.sum()) - 1) < 1e-9
        mean = float((p * u).sum())
        return mean, float((p * (u - mean) ** 2).sum())


@dataclass(frozen=True)
class Entry:
    """One way of doing a case's work: `prepare` makes the call that is timed.

    Roles: *ours*, what the others are compared with; *variant*, another call of fastexp;
    *rival*, a peer; *limit*, a floor that does less than the whole work.
    """

    name: str
    role: Role
    prepare: Callable[[Any], Call]
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
    rows: int = 1
    chosen: int = 1
    toy_k: int = 300
    toy_size: int = 1
    toy_rows: int = 60
    suffixes: tuple[str, ...] = ("",)  # an entry's rows
    slow_s: float = SLOW_S  # an entry whose first call is slower gets no other one
    is_toy: bool = False

    @property
    def id(self) -> str:
        """The name under which results are filed."""
        rows = f"rows={self.rows}/" if self.rows > 1 else ""
        return f"{self.name}/{rows}k={self.k}"

    @property
    def row_names(self) -> list[str]:
        """Every row that a result must have, measured or declared absent."""
        return [entry.name + suffix for entry in self.entries for suffix in self.suffixes]

    def toy(self) -> Case:
        """The same case at a size for the test-suite and for checks before a run."""
        k, slow_s = min(self.k, self.toy_k), 0.0 if self.slow_s > SLOW_S else self.slow_s
        rows = min(self.rows, self.toy_rows)
        toy = replace(self, k=k, size=self.toy_size, rows=rows, slow_s=slow_s, is_toy=True)
        return replace(toy, chosen=min(self.chosen, k // 10 or 1))

    def work(self) -> Work:
        """The inputs."""
        return Work(self.k, self.size, self.threads, self.is_toy, self.rows, self.chosen)
