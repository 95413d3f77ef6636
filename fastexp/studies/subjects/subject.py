"""The face of a mechanism under study, and a block of data sets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..._intake import number_columns
from ..._parameters import validate
from ..._typing import AnyArray, FloatArray, WordArray
from ...laws.figures import Figures

MANY = ("worst_error", "rank_error", "worst_rank_error", "wrong")  # of draws of many quantiles
# averages of something that each draw has
EXPECTED = ("error", "bias", "loss", "total_loss", "last_loss", *MANY)
LEVELLED = ("error_quantile", "loss_quantile")
THEOREMS = ("theorem_1", "theorem_6", "corollary_7")
FIGURES = (*EXPECTED, *LEVELLED, *THEOREMS)


Random: TypeAlias = np.random.Generator


def one_of_units(unit: object) -> str:
    """Which total a study's epsilon is: its own, or the rho = ε²/8 of a draw of it."""
    return validate.choice("unit", unit, ("epsilon", "rho"))


def random_of(key: int, number: int) -> Random:
    """The generator of what has a number, under a key."""
    seed = np.random.SeedSequence(key, spawn_key=(number,))
    return np.random.Generator(np.random.SFC64(seed))


class Block:
    """The data sets of one task: a row each, clamped to the bounds where there are any."""

    rows: AnyArray
    first: AnyArray
    streams: WordArray

    def __init__(self, rows: AnyArray, first: int, bounds: tuple[float, float] | None) -> None:
        self.rows = rows if bounds is None else np.clip(rows, *bounds)
        self.first = self.rows[:, 0].copy()
        self.streams = np.arange(first, first + rows.shape[0], dtype=np.uint64)
        self.shared: dict[Any, Any] = {}  # what several figures of a subject need

    @cached_property
    def ordered(self) -> AnyArray:
        """Each row sorted, in place: a copy of all records takes as long as a fifth of the sort.

        Utilities are read from `rows`, in their order.
        """
        self.rows.sort(axis=1)
        return self.rows

    @property
    def n(self) -> int:
        """Records of a data set, or candidates."""
        return int(self.rows.shape[1])


def finite(values: object, what: str) -> AnyArray | None:
    """Finite numbers of any kind; None if they are none."""
    numbers = number_columns.read(values, what)
    if numbers is None or numbers.missing is not None or not np.isfinite(numbers.values).all():
        return None
    return numbers.values


class StudySubject(ABC):
    """A mechanism at one epsilon, as a study sees it. Holds public parameters only."""

    figures: tuple[str, ...] = ("error", "bias", "error_quantile")
    closed: bool = True  # whether there are exact figures
    takes: ClassVar[str] = "records"
    is_bounded: ClassVar[bool] = True  # whether the mechanism has bounds, which must be given

    def __init__(self, mechanism: Any) -> None:
        self.mechanism = mechanism

    def exact(self, block: Block, names: Collection[str]) -> Figures:
        """Of some figures those that are known, given each data set: shape (rows,).

        A figure's expectation over the noise; under its name in `laws.figures.SQUARES`, that of its
        square.
        """
        raise NotImplementedError  # only where there are some

    @abstractmethod
    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        """Outputs of shape (rows, size); a data set's depend on its number alone."""

    @abstractmethod
    def values(
        self, block: Block, drawn: AnyArray, figures: tuple[str, ...]
    ) -> dict[str, FloatArray]:
        """The same figures of each draw, shape (rows, size), and perhaps others."""

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:
        """P(error or loss <= edge) given each data set: shape (rows, edges)."""
        raise NotImplementedError  # only for figures that are listed

    @abstractmethod
    def most(self, figure: str, n: int) -> float:
        """A public number that errors or losses hardly exceed."""

    def truths(self, block: Block) -> AnyArray:
        """What answers are compared with, of each data set; of selections the best candidate."""
        return np.asarray(block.rows.argmax(axis=1))

    def reach(self, block: Block, figure: str) -> float:
        """By how much one draw's figure can differ from another's at most, on these data sets."""
        return self.most(figure, block.n)

    def rounding(self, figure: str) -> float:
        """What rounding an output can make of a figure: smaller ones cannot be drawn."""
        return 0.0

    def resolution(self, figure: str, n: int, whole: bool) -> float:
        """A number that all errors (or losses) are multiples of; 0: there is none.

        `whole` says that all records are integers.
        """
        return 0.0

    def bound(self, block: Block, figure: str, failure: float) -> FloatArray:
        """What a theorem promises but with probability `failure`, given each data set."""
        raise NotImplementedError  # only for figures that are listed


class TrueNumber(StudySubject):
    """A mechanism that gives a number: its error is the distance from the true statistic."""

    low: float
    high: float
    farthest: float = 0.0  # of an error, where data are not clamped to the mechanism's bounds

    def __init__(self, mechanism: Any, bounds: tuple[float, float]) -> None:
        super().__init__(mechanism)
        self.low, self.high = bounds

    @abstractmethod
    def truths(self, block: Block) -> FloatArray:
        """The true statistic of each data set, of the records as the study clamps them."""

    def values(
        self, block: Block, drawn: AnyArray, figures: tuple[str, ...]
    ) -> dict[str, FloatArray]:
        deviations = drawn - self.truths(block)[:, None]
        return {"bias": deviations, "error": np.abs(deviations)}

    def rounding(self, figure: str) -> float:
        ends = max(abs(self.low), abs(self.high))
        return 0.0 if figure.startswith("loss") else 4.0 * float(np.spacing(ends))

    def most(self, figure: str, n: int) -> float:
        widest = max(self.high - self.low, self.farthest)
        return float(n) if figure.startswith("loss") else widest
