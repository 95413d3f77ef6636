"""The median with noise for its smooth sensitivity: a comparator for simulations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, field, replace
from functools import partial
from typing import Literal, TypeAlias

from .._intake.record_sources import RecordSource
from .._numbers import noise as _noise
from .._numbers import smooth as _smooth
from .._parameters import validate
from .._parameters.grid import make_grid
from .._typing import FloatArray, Neighbors, Number
from ..privacy import Guarantee
from ..privacy.smooth_noise import (
    CALIBRATIONS,
    CONCENTRATED,
    NOISES,
    Calibration,
    calibrate,
    noise_delta,
    smooth_guarantee,
)
from ._noisy import ASSUMES, NoisyMedian
from .base import frozen

NoiseName: TypeAlias = Literal[
    "cauchy",
    "laplace",
    "student-t",
    "pareto-tail",
    "laplace-lognormal",
    "uniform-lognormal",
    "arsinh-normal",
]
FINE = make_grid((0, 1), None)  # so fine a grid that held records are copied, not counted


@frozen
class SmoothSensitivityMedian(
    NoisyMedian, promise="What one draw of the ideal mechanism promises; see `delta`."
):
    """The median plus noise of scale SS_β/α, SS_β its smooth sensitivity. For simulations only.

    A comparator for `Median`. α and β depend on the noise, ε and δ alone, not on data.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of each answer, in nats; in [1e-9, 1e6]. The last three noises promise
        ε²/2 of zero-concentrated differential privacy.
    delta : float
        In (0, 1) with noise "laplace". With the last three noises 0, or the δ at which `guarantee`
        also states an ε. With the others, which are pure, 0.
    bounds : (number, number)
        Public limits, lower < upper; records and outputs are clamped to them.
    noise : {"cauchy", "laplace", "student-t", "pareto-tail", "laplace-lognormal", \
"uniform-lognormal", "arsinh-normal"}
        The law of Z: Student's t has 3 degrees of freedom, the Pareto tail the index 2.
    calibration : {"paper", "tight"}
        The published constants, or the exact cost of the noise (see Notes).
    neighbors : {"replace", "add-remove"}
        What one person may do; the smooth sensitivity is that of this relation.
    midpoint : bool
        Take the mean of lower and upper median instead of the lower one.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or delta does not fit.

    Notes
    -----
    ===================  ================================================  ==================
    noise                "paper"                                           "tight"
    ===================  ================================================  ==================
    cauchy               α = β = ε/6                                       exact, best pair
    laplace              α = ε/2, β = ε / (2 ln((1 + e^(ε/2))/δ))          exact, best pair
    student-t            ε = 4β + 2α/√3, halves                            exact, best pair
    pareto-tail          ε = α + 2β, halves                                exact, best pair
    laplace-lognormal    ε = β/σ + e^(3σ²/2) α, best σ                     the same
    uniform-lognormal    ε = β/σ + e^(3σ²/2) √(2/π) α/σ, σ = √2            the same
    arsinh-normal        ε = √(β(β/σ² + 1/σ + 2)) + (2/(3σ) + σ/2) α,      the same
                         σ = 2/√3
    ===================  ================================================  ==================

    "paper" is [1]_ for Cauchy and Laplace noise (for the latter with both half-steps of δ added up,
    which copies of that formula with ln(2/δ) forget), and [2]_ for Student's t and the last three.
    *Best pair*: of all pairs that cost exactly ε, about the one with the smallest error for evenly
    spaced records; it does not depend on data.

    **Privacy**: `guarantee`, of the ideal mechanism. The noise here is a float, so `release`
    raises `NotReleasable`.

    **Numerics**: float64 noise with tails to 2**-63; laws are exact to 1e-13. Where the smooth
    sensitivity is 0 in float64, the output is the median.

    References
    ----------
    .. [1] Nissim, Raskhodnikova and Smith, "Smooth sensitivity and sampling in private data
       analysis", STOC 2007.
    .. [2] Bun and Steinke, "Average-case averages: private algorithms for smooth sensitivity
       and mean estimation", NeurIPS 2019.

    Examples
    --------
    >>> import fastexp as fx
    >>> rival = fx.SmoothSensitivityMedian(epsilon=1.0, bounds=(0, 10), calibration="tight")
    >>> round(rival.alpha, 6), round(rival.beta, 6)
    (1.042191, 0.735326)
    >>> rival.sample([1, 2, 4, 7, 8], size=1000, rng=1).shape
    (1000,)
    >>> round(rival.law([1, 2, 4, 7, 8]).expected_error(4), 3)
    2.909
    >>> rival.release([1, 2, 4, 7, 8])
    Traceback (most recent call last):
    fastexp.errors.NotReleasable: SmoothSensitivityMedian is for simulations: use Median
    """

    epsilon: float
    delta: float = 0.0
    _: KW_ONLY
    bounds: tuple[Number, Number]
    noise: NoiseName = "cauchy"
    calibration: Literal["paper", "tight"] = "paper"
    neighbors: Neighbors = "replace"
    midpoint: bool = False
    _calibrated: Calibration = field(init=False, compare=False)

    def _check(self) -> None:
        super()._check()
        validate.choice("noise", self.noise, NOISES)
        validate.choice("calibration", self.calibration, CALIBRATIONS)
        self._set_frozen(
            neighbors=validate.neighbors(self.neighbors),
            midpoint=validate.flag("midpoint", self.midpoint),
            delta=noise_delta(self.noise, self.delta),
        )
        scale = calibrate(self.noise, self.calibration, self.epsilon, self.delta)
        self._set_frozen(_calibrated=scale)
        self._check_scale(scale.alpha)

    @property
    def alpha(self) -> float:
        """The noise is SS/alpha * Z."""
        return self._calibrated.alpha

    @property
    def beta(self) -> float:
        """The smoothing rate: one record changes the smooth sensitivity by a factor exp(beta)."""
        return self._calibrated.beta

    @property
    def sigma(self) -> float | None:
        """The noise's own parameter; None if it has none."""
        return self._calibrated.sigma or None

    def _promise(self) -> Guarantee:
        return smooth_guarantee(self.noise, self.epsilon, self.delta, self.neighbors, ASSUMES)

    @property
    def _kind(self) -> tuple[str, float]:
        return self.noise, self._calibrated.sigma

    def _scales(self, source: RecordSource) -> Callable[[float], float] | None:
        """Return the scale for published pairs; None for others.

        In these pairs alpha and beta rise with epsilon, and the scale falls with both. For
        beta = epsilon / (2 * (ln(1 + exp(y)) - ln(delta))), y = epsilon / 2, this holds as
        ln(1 + exp(y)) >= y * exp(y) / (1 + exp(y)). Pairs from a search may jump.
        """
        if self.calibration != "paper" or self.noise in CONCENTRATED:
            return None
        return partial(self._scale_at, source.held(FINE))

    def _scale_at(self, source: RecordSource, epsilon: float) -> float:
        return float(replace(self, epsilon=epsilon)._one(source)[1][0])

    def _centres_and_scales(self, ordered: FloatArray) -> tuple[FloatArray, FloatArray]:
        low, high = self._limits
        smooth = _smooth.rows(ordered, [self.beta], low, high, None, self.neighbors, self.midpoint)[
            :, 0
        ]
        return _noise.medians(ordered, low, high, self.midpoint), smooth / self.alpha

    def _centre_and_scale(self, source: RecordSource) -> tuple[float, float]:
        low, high = self._limits
        smooth = _smooth.one(source, self.beta, (low, high), None, self.neighbors, self.midpoint)
        return _noise.median_of(source, low, high, self.midpoint), smooth / self.alpha
