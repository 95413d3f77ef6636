"""Report-noisy-max: a comparator for simulations."""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from functools import partial
from typing import TYPE_CHECKING, Literal

from .._parameters import validate
from .._randomness.sampling import Sampling
from .._selection.rows import Rows
from .._selection.weighting import Weighting
from .._typing import IntArray, WordArray
from ..errors import ParameterError
from ..kernels.select import gumbel
from ._finite import Simulator, UtilityMechanism
from .base import Comparator, frozen

if TYPE_CHECKING:
    from ..laws.finite import FiniteLaw

NOISES = {
    "exponential": gumbel.EXPONENTIAL,
    "gumbel": gumbel.GUMBEL,
    "laplace": gumbel.LAPLACE,
}


@frozen
class ReportNoisyMax(
    Comparator,
    UtilityMechanism,
    promise="ε-DP of the ideal mechanism; of bounded range only with Gumbel noise.",
):
    """Report-noisy-max: the candidate of greatest utility plus noise. For simulations only.

    With exponential noise it is `PermuteAndFlip` in law, with Gumbel noise `Exponential`;
    with Laplace noise it is the textbooks' mechanism, offered for comparison.

    Parameters
    ----------
    epsilon, sensitivity
    noise : {"exponential", "gumbel", "laplace"}
        Its scale is 2Δ/ε, or Δ/ε where `monotonic`.
    monotonic, any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError

    Notes
    -----
    **Privacy**: ε-differential privacy of the ideal mechanism, for the neighbours for which Δ was
    stated. The noise here is a float, so `release` raises `NotReleasable`.

    **Numerics**: keys are float64 with noise of full relative precision in its upper tail; the law
    is right to some 1e-15.

    References
    ----------
    Dwork and Roth, "The algorithmic foundations of differential privacy" (2014), Claim 3.9.
    Ding et al., "The permute-and-flip mechanism is identical to report-noisy-max with
    exponential noise", 2021.

    Examples
    --------
    >>> import fastexp as fx
    >>> rival = fx.ReportNoisyMax(epsilon=1.0, sensitivity=1.0, noise="laplace")
    >>> rival.sample([3.0, 5.0], size=8, rng=1).shape
    (8,)
    >>> rival.release([3.0, 5.0])
    Traceback (most recent call last):
    fastexp.errors.NotReleasable: ReportNoisyMax is for simulations: use PermuteAndFlip
    """

    epsilon: float
    sensitivity: float
    _: KW_ONLY
    noise: Literal["exponential", "gumbel", "laplace"] = "exponential"
    monotonic: bool = False
    any_epsilon: bool = field(default=False, compare=False)

    def _check(self) -> None:
        super()._check()
        validate.choice("noise", self.noise, tuple(NOISES))
        self._weigh_epsilon(self.epsilon)
        self._set_frozen(_instead="Exponential" if self._has_bounded_range else "PermuteAndFlip")

    @property
    def _has_bounded_range(self) -> bool:
        return self.noise == "gumbel"

    def _simulator(self) -> Simulator:
        return partial(_simulate, NOISES[self.noise])

    def _law(self, bits: WordArray, kind: int) -> FiniteLaw:
        """Return the law: with exponential noise permute-and-flip's, with Gumbel exponential's."""
        if self.noise == "laplace":
            raise ParameterError("noise must be 'exponential' or 'gumbel' for a law, got 'laplace'")
        return super()._law(bits, kind)


def _simulate(
    noise: int,
    bits: WordArray,
    kind: int,
    weighting: Weighting,
    sampling: Sampling,
) -> int | IntArray:
    """Draw for `sample` from utilities."""
    size, rng, streams, threads, method = sampling
    rows = Rows(bits, kind, weighting)
    validate.method(method, ("noise",))
    draws, workers = validate.size(size), validate.threads(threads)
    indices = rows.noisy_max(rows.seeds(rng, streams), draws, workers, noise)
    return rows.shaped(indices.reshape(-1), draws)
