"""The median with noise for its global sensitivity: a comparator for simulations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import truediv

import numpy as np

from .._compiler.rounding import check_rounding
from .._intake.record_sources import RecordSource
from .._numbers import noise
from .._typing import FloatArray, Number
from ._noisy import NoisyMedian
from .base import frozen


@frozen
class LaplaceMedian(
    NoisyMedian, promise="ε-DP of the ideal mechanism, for both neighbour relations."
):
    """The lower median plus Laplace noise of scale (upper - lower)/ε. For simulations only.

    A comparator for `Median`: one record can move a median from one bound to the other, so the
    noise must hide the whole range.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of each answer, in nats; in [1e-9, 1e6].
    bounds : (number, number)
        Public limits, lower < upper; records and outputs are clamped to them.

    Raises
    ------
    ParameterError, ParameterTypeError

    Notes
    -----
    **Privacy**: ε-differential privacy of the ideal mechanism, for records that are added or
    removed (of data sets that are not empty) and for those that are replaced. The noise here is a
    float, so `release` raises `NotReleasable`.

    **Numerics**: float64 noise with tails to 2**-63; the law is exact to 1e-13.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data
    analysis", TCC 2006, Proposition 1.

    Examples
    --------
    >>> import fastexp as fx
    >>> rival = fx.LaplaceMedian(epsilon=1.0, bounds=(0, 10))
    >>> rival.sample([1, 2, 4, 7, 8], size=1000, rng=1).shape
    (1000,)
    >>> round(rival.law([1, 2, 4, 7, 8]).expected_error(4), 4)
    3.9043
    >>> rival.release([1, 2, 4, 7, 8])
    Traceback (most recent call last):
    fastexp.errors.NotReleasable: LaplaceMedian is for simulations: use Median
    """

    epsilon: float
    bounds: tuple[Number, Number]
    _relation = "both"

    def _check(self) -> None:
        super()._check()
        self._check_scale(self.epsilon)

    @property
    def scale(self) -> float:
        """The noise's scale, (upper - lower)/ε."""
        check_rounding()
        low, high = self._limits
        return (high - low) / self.epsilon

    @property
    def _kind(self) -> tuple[str, float]:
        return "laplace", 0.0

    def _centres_and_scales(self, ordered: FloatArray) -> tuple[FloatArray, FloatArray]:
        low, high = self._limits
        return noise.medians(ordered, low, high), np.full(ordered.shape[0], self.scale)

    def _scales(self, source: RecordSource) -> Callable[[float], float]:  # noqa: ARG002  # unused
        return partial(truediv, self._limits[1] - self._limits[0])

    def _centre_and_scale(self, source: RecordSource) -> tuple[float, float]:
        low, high = self._limits
        return noise.median_of(source, low, high), self.scale
