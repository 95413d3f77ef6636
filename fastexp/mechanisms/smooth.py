"""The median with noise for its smooth sensitivity: a comparator, for simulations only."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from math import inf
from typing import Any, Literal, NoReturn

import numpy as np

from ..data.records import read_records
from ..data.segments import Segments
from ..draws import smooth
from ..draws.choose import shaped
from ..errors import NotReleasable, ParameterError
from ..parameters import checks
from ..privacy.guarantee import Guarantee, pure_guarantee
from ..privacy.rates import smooth_rates
from ..types import Floats, Missing, Neighbors, Number, Words
from .base import Mechanism


@dataclass(frozen=True)
class SmoothSensitivityMedian(Mechanism):
    """The lower median plus noise of scale S/α, S its smooth sensitivity for β. For simulations.

    A comparator for `Median`: `release` raises `NotReleasable`.

    Parameters
    ----------
    epsilon : float
        In nats, > 0.
    delta : float
        0 with Cauchy noise; in (0, 1) with Laplace noise.
    bounds : tuple of two numbers
        The least and the greatest answer, public; records and answers are clamped to them.
    noise : {"cauchy", "laplace"}
        α = β = ε/6; or α = ε/2, β = ε / (2 ln((1 + e^(ε/2)) / δ)).
    neighbors : {"replace", "add-remove"}
        The neighbour relation of the smooth sensitivity.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or delta does not fit the noise.

    Notes
    -----
    **Privacy**: (epsilon, delta)-differential privacy of the ideal mechanism. The noise here is a
    double, whose low bits reveal the median. With Laplace noise no rho is promised: it is infinite.

    **Numerics**: doubles, with tails to 2**-63; the smooth sensitivity is within a relative 1e-12.

    References
    ----------
    Nissim, Raskhodnikova and Smith, "Smooth sensitivity and sampling in private data analysis",
    STOC 2007. Both half-steps of δ are added up; copies of the formula with ln(2/δ) forget this.

    Examples
    --------
    >>> import fastexp as fx
    >>> rival = fx.SmoothSensitivityMedian(epsilon=1.0, bounds=(0, 10))
    >>> rival.sample([1, 2, 4, 7, 8], size=1000, rng=1).shape
    (1000,)
    >>> rival.release([1, 2, 4, 7, 8])
    Traceback (most recent call last):
    fastexp.errors.NotReleasable: SmoothSensitivityMedian is for simulations: use Median
    """

    epsilon: Number
    delta: Number = 0.0
    _: KW_ONLY
    bounds: Any
    noise: Literal["cauchy", "laplace"] = "cauchy"
    neighbors: Neighbors = "replace"
    _rates: tuple[float, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.arithmetic()
        checks.choice("noise", self.noise, ("cauchy", "laplace"))
        checks.choice("neighbors", self.neighbors, ("add-remove", "replace"))
        checks.bounds(self.bounds)
        delta = checks.exact("delta", self.delta)
        if not 0 <= delta < 1 or (delta > 0) != (self.noise == "laplace"):
            raise ParameterError(
                f"delta must be 0 with Cauchy noise, in (0, 1) with Laplace noise: {self.delta!r}"
            )
        vars(self).update(_rates=smooth_rates(self.epsilon, self.delta))

    @property
    def alpha(self) -> float:
        """The noise has the scale S/alpha."""
        return self._rates[0]

    @property
    def beta(self) -> float:
        """One record changes S by a factor of at most exp(beta)."""
        return self._rates[1]

    @property
    def guarantee(self) -> Guarantee:
        """The promise of one draw of the ideal mechanism."""
        assumes = "bounds and noise are public"
        pure = pure_guarantee(self.epsilon, self.neighbors, assumes)
        return replace(pure, rho=inf, delta=float(self.delta)) if self.delta else pure

    def release(
        self,
        data: Any,  # noqa: ARG002  # none is read
        *,
        nan: Missing = "raise",  # noqa: ARG002
        disjoint: bool | None = None,  # noqa: ARG002
        budget: Any = None,  # noqa: ARG002
        label: Any = None,  # noqa: ARG002
    ) -> NoReturn:
        """Refuse."""
        raise NotReleasable("SmoothSensitivityMedian is for simulations: use Median")

    def _read(self, data: Any, nan: Missing) -> Segments:
        checks.choice("nan", nan, ("raise",))
        return read_records(data)

    def _draw(self, data: Segments, seeds: Words, size: int | None) -> Any:
        centres, spreads = smooth.sensitivities(
            sorted_rows(data), self.beta, self.bounds, self.neighbors
        )
        scales, is_cauchy = spreads / self.alpha, self.noise == "cauchy"
        draws = smooth.draw(centres, scales, self.bounds, is_cauchy, seeds, size)
        return shaped(draws, data.rows, size)


def smooth_sensitivity(
    records: Any, beta: float, *, bounds: Any, neighbors: Neighbors = "replace"
) -> float | Floats:
    """Return the smooth sensitivity of the lower median: for analysis, not private.

    It is the greatest exp(-beta * k) * A(k), k = 0, 1, ..., where A(k) is the most by which one
    record changes the median of any data set that differs by k records.

    Parameters
    ----------
    records : array_like of float, shape (n,) or (rows, n)
        At least one (of each row); those beyond the bounds count at the bounds.
    beta : float
        In nats a record, > 0; public.
    bounds : tuple of two numbers
        The least and the greatest record.
    neighbors : {"replace", "add-remove"}
        What a change is.

    Returns
    -------
    float or ndarray of float64, shape (rows,)
        In units of the records, within a relative 1e-12.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type.
    InvalidRecords
        If there are no records, or a record is NaN.

    References
    ----------
    Nissim, Raskhodnikova and Smith, "Smooth sensitivity and sampling in private data analysis",
    STOC 2007, Section 3.1 (replaced records).

    Examples
    --------
    >>> import fastexp as fx
    >>> round(fx.smooth_sensitivity([1, 2, 4, 7, 8], 0.5, bounds=(0, 10)), 6)
    3.032653
    >>> fx.smooth_sensitivity([1, 2, 4, 7, 8], 1.0, bounds=(0, 10), neighbors="add-remove")
    2.0
    """
    checks.arithmetic()
    rate = float(checks.positive("beta", beta))
    checks.choice("neighbors", neighbors, ("add-remove", "replace"))
    data = read_records(records)
    _, out = smooth.sensitivities(sorted_rows(data), rate, checks.bounds(bounds), neighbors)
    return float(out[0]) if data.rows is None else out


def sorted_rows(data: Segments) -> Floats:
    """Return the records of each data set in order."""
    return np.sort(data.values.reshape(data.rows or 1, -1))
