"""Several quantiles in one draw, privately."""

from __future__ import annotations

from dataclasses import KW_ONLY, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from .._numbers.quantiles import QuantilesStatistic
from .._parameters import validate
from .._typing import ABSENT, Neighbors, Number
from ._number import Bounds, Points
from ._several import JointMechanism, Which
from ._totalled import checked_total, joint_statistic, without_total
from .base import frozen

if TYPE_CHECKING:
    from ._options import NumberReleaseOptions, NumberSampleOptions


@frozen
class Quantiles(
    JointMechanism,
    promise="ε-DP and ε-bounded-range under `neighbors`, of all answers together.",
):
    """Several quantiles of the same records in one draw, in order, and perhaps a private total.

    Outcomes are o_1 <= ... <= o_m of the grid and a total t of a public lattice, each with
    probability ∝ exp(-(ε/2)·Σ_j |c_j - t·(q_j - q_{j-1})|), where c_j counts the records between
    o_{j-1} and o_j, q_0 = 0 and q_{m+1} = 1.

    Parameters
    ----------
    q : sequence of float, Decimal or Fraction
        Each in (0, 1), increasing, at most 100 of them. Floats are read as the decimals that they
        print. Either this or `count`.
    epsilon : float
        Privacy parameter of all quantiles together, in nats. For m quantiles in
        [1e-5·(m - 1)², 1024], so that a draw takes seconds (a minute and more with an m of 50 or
        more, if many answers lie between equal records on a much finer grid); for one in
        [1e-9, 1024] or, with `any_epsilon`, in [1e-15, 1024].
    bounds
    count : int, optional
        The number of evenly spaced quantiles, instead of `q`: 9 gives the deciles.
    step, grid, neighbors
    with_total : bool
        Answers are (values, total). The total t is a private number of records, which costs no
        epsilon: a multiple of the least power of two >= 8/ε, at least 1. Needs add-remove.
    any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError

    Notes
    -----
    Under "replace" the number n of records is public: t is n, the weight exp(-(ε/4)·...). That is
    JointExp with half the sensitivity that add-remove would need.

    **When to use `ApproximateQuantiles` instead**: if ε·n/m is below about 30 and the bounds are
    10,000 times as wide as most of the records; below about 6, if they are 40 times as wide. Judge
    n and the width by public knowledge, not by the records.

    One quantile without a total is that of `Quantile`, with the same bytes; it counts records that
    equal an answer on neither side. With a total it has a law of its own, whose errors are larger.

    **Privacy**: ε-DP and ε-bounded-range under `neighbors`, for all answers and the total
    together. The targets t·(q_j - q_{j-1}) do not depend on records, so that one record changes
    one c_j by 1, and the sum by at most 1; replacing one changes two of them. Records on the point
    of an answer are split between its two sides in all proportions, so that rounded records (ages,
    prices) have quantiles, too: the *weight* of an outcome is an average over the positions of
    records within their points, which are uniform. For fixed positions one record changes the
    weight by a factor of at most exp(ε/2), hence also the average, which is normalised once.

    **Numerics**: c_j and t are integers, q_j exact, the draw is exact. Fewer than 2**32 records.

    References
    ----------
    Gillenwater, Joseph and Kulesza, "Differentially private quantiles", ICML 2021 (JointExp).
    Lalanne, Gastaud, Grislain, Garivier and Gribonval, "Private quantiles estimation in the
    presence of atoms", 2022 (ties, and that JointExp is the inverse sensitivity under replace).
    Asi and Duchi, NeurIPS 2020. We know of no earlier description of the weights above.

    Examples
    --------
    >>> import fastexp as fx
    >>> ages = [23, 31, 35, 35, 38, 41, 44, 52, 58, 67] * 50
    >>> quartiles = fx.Quantiles([0.25, 0.5, 0.75], epsilon=1.0, bounds=(0, 120), step=1)
    >>> low, middle, high = quartiles.release(ages)
    >>> low <= middle <= high, middle in range(35, 45)  # except with probability 1e-10 or so
    (True, True)
    >>> quartiles.sample(ages, size=1000, rng=7).shape
    (1000, 3)
    """

    q: Which = ABSENT
    epsilon: float = ABSENT
    bounds: Bounds = ABSENT
    _: KW_ONLY
    count: int | None = field(default=None, compare=False)
    step: Number | None = None
    grid: Points = ABSENT
    neighbors: Neighbors = "add-remove"
    with_total: bool = False
    any_epsilon: bool = field(default=False, compare=False)

    def _check(self) -> None:
        super()._check()
        self._set_frozen(with_total=checked_total(self.with_total, self.neighbors))

    @cached_property
    def _statistic(self) -> QuantilesStatistic:
        """The statistic, for draws and laws."""
        return joint_statistic(self._q, self.epsilon, self.neighbors, self.grid)

    def release(
        self,
        records: object,
        *,
        by: object = None,
        groups: object = None,
        with_total: bool | None = None,
        **options: Unpack[NumberReleaseOptions],
    ) -> Any:
        """Release quantiles in one draw, or in one for each group, using the system's randomness.

        Parameters
        ----------
        records
        by, groups
        with_total : bool, optional
            Default: as the mechanism was made.
        **options
            As of `Quantile.release`.

        Returns
        -------
        list, or ndarray of int64 or float64
            Points of `grid` in increasing order, one for each of `q`: of groups, rows and lists an
            array of shape (groups, m), with ``groups="from-data"`` a tuple of the groups and that.
            With a total a tuple (values, total), of groups with an array of shape (groups,).

        Raises
        ------
        ParameterTypeError, ParameterError, InvalidRecords
            As of `Quantile.release`; or `with_total` does not go with q or neighbors.

        Notes
        -----
        **Privacy**: `guarantee`, for all answers and the total of a data set together.
        """
        mechanism = self._totalling(with_total)
        return super(Quantiles, mechanism).release(records, by=by, groups=groups, **options)

    def sample(
        self,
        records: object,
        size: int | None = None,
        *,
        by: object = None,
        groups: object = None,
        with_total: bool | None = None,
        **options: Unpack[NumberSampleOptions],
    ) -> Any:
        """Draw from the law of `release`, reproducibly from `rng`: a simulation, not private.

        Parameters
        ----------
        records : array_like, str, Path, callable or tuple
            As in `release`; an array of shape (rows, n) is a data set a row.
        size
        by, groups
        with_total : bool, optional
            As in `release`.
        **options
            As of `Quantile.sample`; `method` is None or "envelope".

        Returns
        -------
        ndarray of int64 or float64
            The shape is (m,) or (size, m); (rows, m) or (rows, size, m) for rows, groups and
            lists. With a total a tuple of that and an array of totals, without the last axis.

        Raises
        ------
        ParameterTypeError, ParameterError, InvalidRecords
            As in `release`, and for `size`, `rng` and `streams`.
        """
        mechanism = self._totalling(with_total)
        return super(Quantiles, mechanism).sample(records, size, by=by, groups=groups, **options)

    def _totalling(self, with_total: object) -> Quantiles:
        """Return the same mechanism with or without a total; None: this one."""
        wanted = self.with_total if with_total is None else validate.flag("with_total", with_total)
        return self if wanted == self.with_total else replace(self, with_total=wanted)

    def _returned(self, answers: Any) -> Any:
        return without_total(answers) if self.with_total else answers
