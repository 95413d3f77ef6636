"""The interface of a mechanism under study, and a block of data sets."""

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

MANY = ("worst_error", "rank_error", "worst_rank_error", "wrong")  # figures of many quantiles
# Figures that are averages over draws.
EXPECTED = ("error", "bias", "loss", "total_loss", "last_loss", *MANY)
LEVELLED = ("error_quantile", "loss_quantile")
THEOREMS = ("theorem_1", "theorem_6", "corollary_7")
FIGURES = (*EXPECTED, *LEVELLED, *THEOREMS)
FAR = 1024.0  # range of errors for what is not clamped, in widths of the bounds


Random: TypeAlias = np.random.Generator


def one_of_units(unit: object) -> str:
    """Check whether a study's epsilon is the total epsilon, or a total of rho = ε²/8."""
    return validate.choice("unit", unit, ("epsilon", "rho"))


def random_of(key: int, number: int) -> Random:
    """Return the random generator of a numbered item, under a key."""
    seed = np.random.SeedSequence(key, spawn_key=(number,))
    return np.random.Generator(np.random.SFC64(seed))


class Block:
    """The data sets of a task, as the rows of a matrix, clamped to the bounds if there are any."""

    rows: AnyArray
    first: AnyArray
    streams: WordArray

    def __init__(self, rows: AnyArray, first: int, bounds: tuple[float, float] | None) -> None:
        self.rows = rows if bounds is None else np.clip(rows, *bounds)
        self.first = self.rows[:, 0].copy()
        self.streams = np.arange(first, first + rows.shape[0], dtype=np.uint64)
        self.shared: dict[Any, Any] = {}  # cached results that several figures or cells need

    @cached_property
    def ordered(self) -> AnyArray:
        """The rows, each sorted in place: a copy of all records takes a fifth of the sort's time.

        Utilities, whose order matters, are read from `rows`.
        """
        self.rows.sort(axis=1)
        return self.rows

    @property
    def n(self) -> int:
        """The number of records of a data set, or of candidates."""
        return int(self.rows.shape[1])


def finite(values: object, what: str) -> AnyArray | None:
    """Return numbers of any kind as an array; None if they are not all finite numbers."""
    numbers = number_columns.read(values, what)
    if numbers is None or numbers.missing is not None or not np.isfinite(numbers.values).all():
        return None
    return numbers.values


class StudySubject(ABC):
    """A mechanism at one epsilon, as a study sees it. It has public parameters only."""

    figures: tuple[str, ...] = ("error", "bias", "error_quantile")
    closed: bool = True  # whether there are exact figures
    takes: ClassVar[str] = "records"
    is_bounded: ClassVar[bool] = True  # whether the mechanism needs bounds

    def __init__(self, mechanism: Any) -> None:
        self.mechanism = mechanism

    def exact(self, block: Block, names: Collection[str]) -> Figures:
        """Return those of the named figures that have an exact value, each of shape (rows,).

        The value is the expectation over the noise, given the data set. The expectation of a
        figure's square has the name in `laws.figures.SQUARES`.
        """
        raise NotImplementedError  # for subjects that are not closed

    @abstractmethod
    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        """Draw outputs of shape (rows, size); those of a data set depend on its number alone."""

    @abstractmethod
    def values(
        self, block: Block, drawn: AnyArray, figures: tuple[str, ...]
    ) -> dict[str, FloatArray]:
        """Return at least the named figures for each draw, each of shape (rows, size)."""

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:
        """Return P(error or loss <= edge) given each data set: shape (rows, edges)."""
        raise NotImplementedError  # only for figures that the subject lists

    @abstractmethod
    def most(self, figure: str, n: int) -> float:
        """Return a public number that errors or losses hardly ever exceed."""

    def truths(self, block: Block) -> AnyArray:
        """Return the true answer for each data set; for selections, a best candidate."""
        return np.asarray(block.rows.argmax(axis=1))

    def reach(self, block: Block, figure: str) -> float:
        """Return the most by which the figures of two draws can differ on these data sets."""
        return self.most(figure, block.n)

    def rounding(self, figure: str) -> float:
        """Return an upper bound of a figure's rounding error: smaller ones cannot be drawn."""
        return 0.0

    def resolution(self, figure: str, n: int, whole: bool) -> float:
        """Return a number of which all errors (or losses) are multiples; 0 if there is none.

        `whole` says whether all records are integers.
        """
        return 0.0

    def bound(self, block: Block, figure: str, failure: float) -> FloatArray:
        """Return a theorem's bound, which holds except with probability `failure`."""
        raise NotImplementedError  # only for figures that the subject lists


class TrueNumber(StudySubject):
    """A mechanism that returns a number: its error is the distance from the true statistic."""

    low: float
    high: float
    farthest: float = 0.0  # range of errors if data are not clamped to the mechanism's bounds

    def __init__(self, mechanism: Any, bounds: tuple[float, float]) -> None:
        super().__init__(mechanism)
        self.low, self.high = bounds

    @abstractmethod
    def truths(self, block: Block) -> FloatArray:
        """Return the true statistic of each data set, from the records as the study clamps them."""

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
