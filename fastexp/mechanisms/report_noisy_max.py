"""Report-noisy-max: a comparator for simulations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

from .._compiler.rounding import check_rounding
from .._intake import utilities
from .._parameters import validate
from .._randomness.streams import seeds_of
from .._selection import gumbel
from .._selection.rows import Rows
from .._selection.weighting import Weighting
from .._typing import ArrayLike, IntArray, NaN, RNGLike, SeedLike, WordArray
from ..errors import NotReleasable, ParameterError
from ..laws.finite import FiniteLaw
from ..laws.permute_flip import PermuteAndFlipLaw
from ..privacy import Guarantee, pure_guarantee, selection_guarantee, selection_rate
from ._finite import ASSUMES, MONOTONIC, check_selection, selection_repr

NOISES = {
    "exponential": gumbel.EXPONENTIAL,
    "gumbel": gumbel.GUMBEL,
    "laplace": gumbel.LAPLACE,
}


@dataclass(frozen=True, repr=False)
class ReportNoisyMax:
    """Report-noisy-max: the candidate of greatest utility plus noise. For simulations only.

    With exponential noise it is `PermuteAndFlip` in law, with Gumbel noise `Exponential`;
    with Laplace noise it is the textbooks' mechanism, offered for comparison.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of each answer, in nats; in [1e-9, 1e6] unless `any_epsilon`.
    sensitivity : float
        Δ > 0: the most that one record can change the utility of any one candidate, for the
        neighbours that you have in mind, in units of the utility.
    noise : {"exponential", "gumbel", "laplace"}
        Its scale is 2Δ/ε, or Δ/ε where `monotonic`.
    monotonic : bool
        One record moves all utilities in the same direction. **Not for counts where a record
        is replaced.**
    any_epsilon : bool
        Lift the limits on epsilon.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type.

    Notes
    -----
    **Privacy**: ε-differential privacy of the ideal mechanism, for the neighbours for which Δ
    was stated. The noise here is a float, so `release` raises `NotReleasable`. **Numerics**:
    keys are float64 with noise of full relative precision in its upper tail; the law is right
    to some 1e-15.

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
    noise: str = field(default="exponential", kw_only=True)
    monotonic: bool = field(default=False, kw_only=True)
    any_epsilon: bool = field(default=False, kw_only=True, compare=False)
    _weighting: Weighting = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Validate once; the mechanism is immutable afterwards."""
        check_selection(self)
        validate.choice("noise", self.noise, tuple(NOISES))
        rate = selection_rate(self.epsilon, self.sensitivity, self.monotonic)
        object.__setattr__(self, "_weighting", Weighting(rate, None))

    def __repr__(self) -> str:
        return selection_repr(self)

    @property
    def guarantee(self) -> Guarantee:
        """ε-DP of the ideal mechanism; of bounded range only with Gumbel noise."""
        promise = selection_guarantee if self.noise == "gumbel" else pure_guarantee
        return promise(self.epsilon, None, ASSUMES + (MONOTONIC if self.monotonic else ""))

    def release(self, data: Any, **how: Any) -> NoReturn:  # noqa: ARG002  (the verb's own)
        """Raise `NotReleasable`: the noise is a float.

        Parameters
        ----------
        data : array_like
            Not looked at.
        how
            Not looked at.

        Raises
        ------
        NotReleasable
            Always; use `PermuteAndFlip` or `Exponential`.
        """
        same = "Exponential" if self.noise == "gumbel" else "PermuteAndFlip"
        raise NotReleasable(f"ReportNoisyMax is for simulations: use {same}")

    def sample(
        self,
        data: Any,
        size: int | None = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        nan: NaN = "raise",
    ) -> int | IntArray:
        """Simulation: reproducible draws.

        Parameters
        ----------
        data : array_like
            Utilities of shape (k,) or (rows, k).
        size : int, optional
            How many draws of each row; None: one.
        rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
            None: fresh from the operating system; else as in SPEC 7.
        streams : array_like of int, shape (rows,), optional
            The name of each row's stream; default its number.
        threads : int
            1; 0 for all. Never changes the draws.
        nan : {"raise", "lowest"}
            NaN utilities: refuse, or read them as the lowest finite number.

        Returns
        -------
        int or ndarray of int64, shape (size,), (rows,) or (rows, size)
            Indices of candidates.

        Raises
        ------
        ParameterTypeError, ParameterError, InvalidUtilities
            If an argument or the form of the data is wrong, or a utility is not finite.
        """
        check_rounding()
        bits, kind = self._utilities(data, nan)
        draws, workers = validate.size(size), validate.threads(threads)
        rows = Rows(bits, kind, self._weighting)
        seeds = seeds_of(rng, validate.streams(streams, rows.rows))
        found = gumbel.noisy_max(rows, seeds, draws, workers, NOISES[self.noise])
        return rows.shaped(found.reshape(-1), bits.ndim, draws)

    def law(self, data: Any, *, nan: NaN = "raise") -> FiniteLaw:
        """The exact law of the ideal mechanism on this data, **which it holds**.

        Parameters
        ----------
        data : array_like
            Utilities of shape (k,).
        nan : {"raise", "lowest"}
            As in `sample`.

        Returns
        -------
        FiniteLaw
            With exponential noise permute-and-flip's, with Gumbel noise the exponential
            mechanism's.

        Raises
        ------
        ParameterError
            With Laplace noise: no closed form is offered.
        """
        check_rounding()
        if self.noise == "laplace":
            raise ParameterError("noise must be 'exponential' or 'gumbel' for a law, got 'laplace'")
        bits, kind = self._utilities(data, nan)
        utilities.one_row(bits)
        form = PermuteAndFlipLaw if self.noise == "exponential" else FiniteLaw
        return form(bits.copy(), kind, self._weighting, self.epsilon, None)

    def _utilities(self, data: Any, nan: NaN) -> tuple[WordArray, int]:
        return utilities.utilities(data, None, nan)
