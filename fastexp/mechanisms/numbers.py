"""Mechanisms that answer with a point of a public grid: the median, a quantile.

Points are numbers, or times (`data/times.py`), which are read and shown by their grid.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ..data.grid import make_grid
from ..data.records import read_records
from ..data.segments import Segments
from ..draws import ranks
from ..draws.distance import QuantileDistance
from ..parameters import checks, kinds
from ..privacy.guarantee import Guarantee, selection_guarantee
from ..privacy.rates import rank_rate
from ..types import Convention, Neighbors, Number, Step, Words
from .base import Mechanism

PUBLIC = "bounds and step, or grid, are public"
CONVENTIONS = "weak", "lower", "upper"  # the last one is for the median only


class NumberMechanism(Mechanism):
    """A mechanism that draws a grid point by its distance in rank."""

    epsilon: Number
    neighbors: Neighbors
    grid: Any
    _statistic: ranks.RankStatistic

    @property
    def guarantee(self) -> Guarantee:
        """The promise of one release."""
        return selection_guarantee(self.epsilon, self.neighbors, PUBLIC)

    def _set_statistic(
        self, q: Fraction, bounds: Any, step: Step | None, convention: Convention
    ) -> None:
        """Check the parameters, and keep what draws need."""
        checks.arithmetic()
        checks.choice("neighbors", self.neighbors, ("add-remove", "replace"))
        checks.choice("convention", convention, CONVENTIONS[: 3 if q.denominator == 2 else 2])
        distance = QuantileDistance(q, self.neighbors, convention)
        rate, grid = rank_rate(self.epsilon, distance.steps), self.grid
        is_pair = self.grid is None and isinstance(bounds, (tuple, list, np.ndarray))
        if is_pair and not kinds.TIMES.isdisjoint(kinds.kinds_of(bounds).values()):
            from ..data.times import make_times

            grid = make_times(bounds, step)
            vars(self).update(_times=grid, _read=grid.records, _answer=grid.shown)
        else:
            grid = make_grid(bounds, step, self.grid)
        statistic = ranks.RankStatistic(rate, distance, grid)
        points = None if self.grid is None else tuple(statistic.grid.values(slice(None)).tolist())
        vars(self).update(_statistic=statistic, grid=points)

    _read = staticmethod(read_records)

    def _draw(self, data: Segments, seeds: Words, size: int | None) -> Any:
        return ranks.draw(data, self._statistic, seeds, size)

    def _runs(self, data: Segments) -> Any:
        from ..laws.of_data import of_records

        return of_records(data, self._statistic)

    def _answer(self, drawn: Any) -> Any:
        grid = self._statistic.grid
        return grid.value(drawn) if isinstance(drawn, int) else grid.values(drawn)


@dataclass(frozen=True)
class Median(NumberMechanism):
    """The median on a public grid: r with probability proportional to exp(-ε·d(r)/2).

    d(r) is the Duff distance: the least number of records to add or remove (or to replace) until r
    is the median.

    Parameters
    ----------
    epsilon : float
        In nats, > 0.
    bounds : tuple of two numbers, or of two times
        The least and the greatest answer, public: chosen without the data. Times are two dates, two
        datetimes (both with a time zone, or both without), two timedeltas, or two scalars of
        datetime64 or timedelta64.
    step : number or timedelta, optional
        The distance between answers; it divides the bounds. Bounds and step are read as the
        decimals that they print. Default: a power of two, for about 2**40 points; of dates, a day.
        Other times need a step.
    grid : array_like of numbers, optional
        Instead of bounds and step: the answers themselves, public numbers in increasing order. If
        you know no bounds, give `fx.digits(3)`.
    neighbors : {"add-remove", "replace"}
        The neighbour relation: one record more or fewer, or one record changed.
    convention : {"weak", "lower", "upper"}
        What counts as the median if the number of records is even: any point with at most half of
        the records on either side (weak), or only the lower or the upper of the two middle records.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `step` does not fit.

    Notes
    -----
    **Match the step to the data.** A record counts at the nearest grid point. If records are
    rounded (ages, prices), give the same `step`. On a much finer grid all records of one value
    share a single point, and nearly all answers lie between two values.

    **Times**: records must be times of the kind of the bounds: dates, timestamps with or without a
    time zone, or durations. NumPy's datetime64 are timestamps; those of days are dates, too. One
    answer is an object of Python (of NumPy, if it is too fine), several are an array of NumPy; with
    a time zone all are Python's, in UTC. Figures of laws are numbers of the grid's unit: days since
    1970 of dates, else seconds (milli-, micro- or nanoseconds, if bounds or step need them), with
    records rounded to a quarter of it. Points are at most 2**40 steps from 1970, or from 0: a step
    of timestamps is 2 ms or more.

    **Privacy**: epsilon-differential privacy under `neighbors`; the log-ratios of all probabilities
    span at most epsilon (bounded range).

    **Numerics**: distances and numbers of points are exact integers, records are read as the exact
    numbers that they are, and the draw is exact. An answer is computed from its grid index alone,
    so that its low bits reveal nothing. There must be fewer than 2**32 records.

    References
    ----------
    Asi and Duchi, "Instance-optimality in differential privacy via approximate inverse sensitivity
    mechanisms", NeurIPS 2020 (the distance). McSherry and Talwar, FOCS 2007, Theorem 6.

    Examples
    --------
    >>> import fastexp as fx
    >>> ages = [23, 31, 35, 35, 38, 41, 44, 52, 58, 67] * 50
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 120), step=1)
    >>> median.release(ages) in range(36, 44)  # except with probability 1e-10 or so
    True
    >>> median.sample(ages, size=3, rng=1).shape  # a simulation: not private
    (3,)

    >>> from datetime import date, timedelta
    >>> visits = [date(2024, 5, 1) + timedelta(days) for days in range(101)] * 200
    >>> fx.Median(epsilon=1.0, bounds=(date(2024, 1, 1), date(2024, 12, 31))).release(visits)
    datetime.date(2024, 6, 20)
    """

    epsilon: Number
    bounds: Any = None
    _: KW_ONLY
    step: Step | None = None
    grid: Any = field(default=None, repr=False)
    neighbors: Neighbors = "add-remove"
    convention: Convention = "weak"

    def __post_init__(self) -> None:
        """Check the parameters."""
        self._set_statistic(Fraction(1, 2), self.bounds, self.step, self.convention)


@dataclass(frozen=True)
class Quantile(NumberMechanism):
    """The q-quantile on a public grid: r with probability proportional to exp(-ε·d(r)/(2Δ)).

    Parameters
    ----------
    q : float, Decimal or Fraction
        In (0, 1), with a denominator of at most 10**9. A float is read as the decimal that it
        prints; a Fraction, such as Fraction(1, 3), as it is.
    epsilon : float
        In nats, > 0.
    bounds, step, grid, neighbors
        As for `Median`.
    convention : {"weak", "lower"}
        Which distance. weak: d = max(0, L - q·n, U - (1-q)·n) with L records below r and U above
        it, and Δ = max(q, 1-q) (under replace d is rounded up to whole records, and Δ = 1). lower:
        the least number of changed records until r is the record of rank ⌈q·n⌉, and Δ = 1. For
        q = 1/2 also "upper", as for `Median`.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `step` does not fit.

    Notes
    -----
    ``Quantile(0.5, ...)`` has exactly the law of ``Median(...)``. Match the step to the data, as
    for `Median`.

    **Privacy**: epsilon-differential privacy under `neighbors`; the log-ratios of all probabilities
    span at most epsilon (bounded range).

    **Numerics**: q·n is exact, distances are integers, and the draw is exact. There must be fewer
    than 2**32 records.

    References
    ----------
    Smith, "Privacy-preserving statistical estimation with optimal convergence rates", STOC 2011
    (weak). Asi and Duchi, NeurIPS 2020 (lower). McSherry and Talwar, FOCS 2007, Theorem 6.

    Examples
    --------
    >>> import fastexp as fx
    >>> wages = fx.Quantile(0.9, epsilon=1.0, bounds=(0, 1000), step=1)
    >>> wages.release(range(500)) in range(410, 490)  # except with probability 1e-9 or so
    True
    """

    q: Number
    epsilon: Number
    bounds: Any = None
    _: KW_ONLY
    step: Step | None = None
    neighbors: Neighbors = "add-remove"
    convention: Convention = "weak"
    grid: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check the parameters."""
        q = checks.quantile("q", self.q)
        self._set_statistic(q, self.bounds, self.step, self.convention)
