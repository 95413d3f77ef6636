"""Mechanisms that release several quantiles at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, Unpack

import numpy as np

from .._compiler.rounding import check_rounding
from .._numbers import distance
from .._numbers.smooth import middle
from .._parameters import validate
from .._randomness.sampling import Sampling
from .._typing import (
    AnyArray,
    Converted,
    IntArray,
    Neighbors,
    Number,
)
from ..errors import ParameterError
from ..grouped.call_options import CallOptions
from ..privacy import amounts
from ..privacy.rates import LEAST_JOINT_EPSILON, MOST_JOINT_EPSILON
from ._number import GridMechanism
from ._totalled import several_answers, simulate_several
from .quantile import Quantile

if TYPE_CHECKING:
    from .._intake.record_sources import RecordSource
    from .._numbers.quantile_tree import QuantileTree
    from .._numbers.quantiles import QuantilesStatistic
    from .._numbers.rank import RankStatistic
    from ..grouped.segments import Draws, Segments
    from ..grouped.words import WordSource
    from ..laws.accuracy import Accuracy
    from ..laws.quantiles import QuantilesLaw
    from ._options import LawReading

MAX_QUANTILES = 4096  # if they are drawn one by one
MAX_JOINT_QUANTILES = 100  # the chains together have about m**3 numbers, or more
MAX_WORK = 1e5  # of (m - 1)**2 / epsilon: a chain has about m**2 / epsilon numbers
Which: TypeAlias = Converted[Iterable[Number] | None, tuple[Number, ...]]  # the field `q`


class QuantilesMechanism(GridMechanism):
    """A mechanism of m quantiles: the last axis of a draw has grid indices, perhaps a total.

    A single quantile is drawn by `_alone`, unless that is None.
    """

    q: Which
    count: int | None
    neighbors: Neighbors = "add-remove"
    with_total: bool = False
    _q: tuple[Fraction, ...]
    _most: ClassVar[int] = MAX_QUANTILES

    @property
    @abstractmethod
    def _statistic(self) -> QuantilesStatistic | QuantileTree:
        """The statistic that draws."""

    def _check(self) -> None:
        if self.epsilon is None:
            raise ParameterError("epsilon must be given")
        super()._check()
        exact = _quantiles(self.q, self.count, self._most)
        self._set_frozen(
            q=tuple(map(_written, exact)),
            count=None,
            neighbors=validate.neighbors(self.neighbors),
            _q=exact,
        )

    @cached_property
    def _alone(self) -> Quantile | None:
        """The mechanism that draws a single quantile; None for several, or with a total."""
        if len(self.q) > 1 or self.with_total:
            return None
        return Quantile(
            self.q[0],  # type: ignore[arg-type]  # a float or a fraction
            self.epsilon,
            self.bounds,
            step=self.step,
            grid=self.grid.parameter,
            neighbors=self.neighbors,
            any_epsilon=True,
        )

    @property
    def _entries(self) -> tuple[str, ...]:
        """The names of the entries: the quantiles, and "total" if there is one."""
        return (*map(str, self.q), *(["total"] if self.with_total else []))

    def _released(self, source: RecordSource) -> Any:
        if self._alone is not None:
            return np.array([self._alone._released(source)])
        return self._statistic.release(source)

    def _simulated(self, source: RecordSource, sampling: Sampling) -> Any:
        if self._alone is not None:
            return np.asarray(self._alone._simulated(source, sampling))[..., None]
        return simulate_several(self._statistic, source, sampling)

    def _simulate_rows(self, rows: AnyArray, options: CallOptions, sampling: Sampling) -> Any:
        if self._alone is None:
            return super()._simulate_rows(rows, options, sampling)
        return self._alone._simulate_rows(rows, options, sampling)[..., None]

    def _draws(self, segments: Segments, words: WordSource, size: int) -> Draws:
        """Return the draws of each segment."""
        if self._alone is not None:
            draws = self._alone._draws(segments, words, size)
            draws.shape = (1,)
            return draws
        return self._several_draws(segments, words, size)

    @abstractmethod
    def _several_draws(self, segments: Segments, words: WordSource, size: int) -> Draws:
        """Return the draws of each segment, with grid indices in the last axis."""

    @property
    def _ranks(self) -> RankStatistic | None:
        return None if self._alone is None else self._alone._ranks

    @property
    def _in_passes(self) -> bool:
        return True

    def _answer(self, index: int | IntArray, released: bool) -> Any:
        """Return numbers, and perhaps the total, in the last axis; one released draw is a list."""
        return several_answers(self.grid, index, len(self.q), len(self._entries), released)

    def accuracy(  # type: ignore[override]  # of each quantile
        self,
        data: Any,
        /,
        *,
        probability: float | Sequence[float] = (0.5, 0.95),
        truth: Sequence[float] | None = None,
        **reading: Unpack[LawReading],
    ) -> list[Accuracy]:
        """Return the exact accuracy of each quantile of a release of this data: not private.

        Parameters
        ----------
        data
            As for `law`.
        probability : float or sequence of float
            Which quantiles of the errors, in [0, 1].
        truth : sequence of float, optional
            The true values, in the order of the answers. Default: the quantiles of the data.
        **reading
            `nan` and `assume_sorted`, as `law` takes them.

        Returns
        -------
        list of Accuracy
            As from `Quantile.accuracy`, in the order of `q`.

        Raises
        ------
        ParameterError, ParameterTypeError, InvalidRecords
            As of `law`, and if another argument is outside its range.
        """
        check_rounding()
        from ..laws.accuracy import accuracy_of

        m = len(self.q)
        truths = [None] * m if truth is None else validate.reals("truth", truth).tolist()
        if np.shape(truths) != (m,):
            raise ParameterError(f"truth must have {m} numbers, one for each of q")
        exact: Any = self.law
        law, pairs = exact(data, **reading), enumerate(truths)
        return [accuracy_of(law.marginal(j), self, probability, t, curve=True) for j, t in pairs]

    def _truth(self, source: RecordSource) -> Any:
        """Return the quantiles of the records, each as `Quantile` has it; None without records."""
        n = source.total()
        if n == 0:
            return None
        return np.array([middle(source, *distance.quantile_ranks(q, "weak", n)) for q in self._q])


class JointMechanism(QuantilesMechanism):
    """A mechanism of quantiles that a `QuantilesStatistic` draws together, from one law."""

    _most = MAX_JOINT_QUANTILES

    @property
    @abstractmethod
    def _statistic(self) -> QuantilesStatistic:
        """The statistic, for draws and laws."""

    def _check(self) -> None:
        super()._check()
        least = max(LEAST_JOINT_EPSILON, (len(self.q) - 1) ** 2 / MAX_WORK)
        amounts.within("epsilon", self.epsilon, (least, MOST_JOINT_EPSILON))

    def _several_draws(self, segments: Segments, words: WordSource, size: int) -> Draws:
        from ..grouped.quantiles import QuantilesDraws

        return QuantilesDraws(self._statistic, segments, words, size, len(self._entries))

    def _law_of(self, source: RecordSource) -> QuantilesLaw:  # type: ignore[override]  # of several
        from ..laws.quantiles import OneQuantileLaw, QuantilesLaw

        draws = self._simulated, self._drawn_numbers
        arguments = self._statistic, source, self.epsilon, self._truth, *draws
        if self._alone is None:
            return QuantilesLaw(*arguments)
        return OneQuantileLaw(self._alone._law_of(source), *arguments)

    def _drawn_numbers(self, indices: IntArray) -> Any:
        """Return the output of `sample` for rows of grid indices and totals."""
        return self._returned(self._answer(indices, released=False))


def _quantiles(q: Any, count: object, most: int) -> tuple[Fraction, ...]:
    """Return the exact quantiles that the parameters state."""
    if (q is None) == (count is None):
        raise ParameterError("q (the quantiles) or count must be given, and not both")
    if q is None:
        parts = validate.counting("count", count, most=most) + 1
        return tuple(Fraction(j, parts) for j in range(1, parts))
    if isinstance(q, np.ndarray) and q.ndim == 1:
        q = list(q)  # a float32 prints fewer digits than its value has as a float
    exact = tuple(map(distance.as_quantile, validate.items("q", q, most)))
    if not exact:
        raise ParameterError("q must not be empty")
    for below, above in pairwise(exact):
        if not below < above:
            raise ParameterError(
                f"q must be increasing, got {_written(above)} after {_written(below)}"
            )
    return exact


def _written(q: Fraction) -> float | Fraction:
    """Return a quantile as a float if its decimal is exact, otherwise as a fraction."""
    number = float(q)
    return number if Fraction(repr(number)) == q else q
