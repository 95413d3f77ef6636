"""Mechanisms of users in studies: the interface to implement, and how a study calls it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..._intake import arrays
from ..._typing import AnyArray, FloatArray
from ...errors import StudyError
from ...privacy import Guarantee
from .record_subjects import ByLaw
from .selections import Selection
from .subject import FAR, Block, finite, random_of

OPTIONAL = ("law", "truth", "promise")
UTILITIES = "utilities"


class StudyMechanism(Protocol):
    """A mechanism of your own, or of another library, for `Study`.

    Any object with these two members is a subject; it need not be a subclass.

    Attributes
    ----------
    name : str
        The name in tables.

    Notes
    -----
    A subject may also have

    * ``truth(data)``: the true statistic, from which errors are measured;
    * ``law(data, epsilon)``: the exact law of an answer, for exact figures, which draws then
      check. It is a law of fastexp, or an object with ``expected_error(truth)``, ``mean()``,
      ``var()`` and ``cdf(x)``. Its ``truth`` is used if the subject has none;
    * ``promise(epsilon)``: the `Guarantee` of an answer, for the table, such as
      ``fx.privacy.pure_guarantee(epsilon, "add-remove", "noise in floats")``;
    * ``takes = "utilities"``: data are then utilities of candidates, answers are their indices,
      and a law needs only ``probabilities``.

    Without truth and law, only figures of your own are available, and without `bounds` in the study
    no ``error_quantile``. Exact figures compute a law for each data set.

    Examples
    --------
    A median with noise for the whole range, as an object of your own:

    >>> import fastexp as fx
    >>> import numpy as np
    >>> class NoisyMedian:
    ...     name = "noisy median"
    ...
    ...     def truth(self, data):
    ...         return np.median(data)
    ...
    ...     def sample(self, data, epsilon, size, rng):
    ...         return np.median(data) + rng.laplace(0, 120 / epsilon, size)
    >>> study = fx.Study(
    ...     name="medians", mechanisms=[NoisyMedian()], epsilon=1.0, data="ages", n=99, datasets=50
    ... )
    >>> 110 < study.run().rows[0]["monte_carlo"] < 130
    True
    """

    name: str

    def sample(self, data: AnyArray, epsilon: float, size: int, rng: np.random.Generator) -> Any:
        """Draw answers for one data set.

        Parameters
        ----------
        data : ndarray of int64 or float64, shape (n,)
            Records in increasing order, clamped to the bounds of the study if it has any; or
            utilities of candidates.
        epsilon : float
            In nats.
        size : int
            The number of draws.
        rng : numpy.random.Generator
            A generator for this data set, mechanism and epsilon alone.

        Returns
        -------
        array_like of numbers, shape (size,)
        """
        ...


@dataclass(frozen=True)
class AtEpsilon:
    """A subject at one epsilon."""

    subject: Any
    epsilon: float
    sensitivity: float = 1.0  # the unit of losses, which is unknown

    @property
    def guarantee(self) -> Guarantee | None:
        """Return the promise of the subject, if it states one."""
        promise = getattr(self.subject, "promise", None)
        return None if promise is None else promise(self.epsilon)

    def law(self, data: AnyArray) -> Any:
        """Return the exact law of an answer; not private."""
        return self.subject.law(data, self.epsilon)

    def answers(self, block: Block, rows: AnyArray, size: int, key: int) -> AnyArray:
        """Draw from each data set, with a generator that depends on its number alone."""
        draws = []
        for row, number in zip(rows, block.streams.tolist(), strict=True):
            random = random_of(key, number)
            answer = self.subject.sample(row.copy(), self.epsilon, size, random)
            values = finite(answer, f"answers of {self.subject.name}")
            if values is None or values.shape != (size,):
                raise StudyError(f"{self.subject.name} must give size = {size} finite answers")
            draws.append(arrays.canonical(values))
        return np.array(draws)


class UserNumber(ByLaw):
    """Answers that are numbers."""

    mechanism: AtEpsilon

    def __init__(
        self, mechanism: AtEpsilon, bounds: tuple[float, float] | None, parts: tuple[str, ...]
    ) -> None:
        super().__init__(mechanism, (0.0, 0.0) if bounds is None else bounds)
        self.farthest = FAR * (self.high - self.low)  # answers may be beyond the bounds
        self.closed: bool = "law" in parts
        self._has_truth = "truth" in parts
        self.figures: tuple[str, ...] = () if not parts else ("error", "bias")
        if bounds is not None and self.figures:  # bounds determine the range of bins for quantiles
            self.figures = (*self.figures, "error_quantile")

    def truths(self, block: Block) -> FloatArray:
        if self._has_truth:
            rows = [self.mechanism.subject.truth(row) for row in block.ordered]
        elif self.closed:
            rows = [self.law(block, row).truth for row in range(block.rows.shape[0])]
        else:
            rows = [np.nan] * block.rows.shape[0]
        return np.array(rows, dtype=np.float64)

    def law(self, block: Block, row: int) -> Any:
        return self.mechanism.law(block.ordered[row])

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        return self.mechanism.answers(block, block.ordered, size, key)


class UserSelection(Selection):
    """Answers that are indices of candidates."""

    closed: bool
    figures: tuple[str, ...]

    def __init__(self, mechanism: AtEpsilon, parts: tuple[str, ...]) -> None:
        super().__init__(mechanism)
        self.figures, self.closed = ("error", "loss", "loss_quantile"), "law" in parts

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        chosen: AnyArray = self.mechanism.answers(block, block.rows, size, key)
        if chosen.dtype.kind != "i" or chosen.min() < 0 or chosen.max() >= block.n:
            name = self.mechanism.subject.name
            raise StudyError(f"{name} must return indices of candidates, from 0")
        return chosen


def user_subject(
    subject: Any, epsilon: float, bounds: tuple[float, float] | None, takes: str, parts: Any
) -> UserNumber | UserSelection:
    """Return a subject in the form of studies; `parts` are those of `OPTIONAL` that it has."""
    mechanism = AtEpsilon(subject, epsilon)
    figure_parts = tuple(part for part in parts if part != "promise")
    if takes == UTILITIES:
        return UserSelection(mechanism, figure_parts)
    return UserNumber(mechanism, bounds, figure_parts)
