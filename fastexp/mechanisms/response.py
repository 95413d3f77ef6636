"""Randomised response: bits that are flipped with a known probability."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.segments import Segments, shape
from ..draws.choose import shaped
from ..draws.coins import draw_lies, words_of_truth
from ..errors import InvalidRecords, ParameterTypeError
from ..kernels.bits import SIGNED
from ..parameters import checks, kinds
from ..privacy.guarantee import Guarantee, pure_guarantee
from ..privacy.rates import response_rate
from ..types import Missing, Number, Words
from .base import Mechanism

if TYPE_CHECKING:
    from ..privacy.budget import Budget


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    """Randomised response: a bit, with probability e^ε / (1 + e^ε), else the other one.

    Parameters
    ----------
    epsilon : float
        In nats, > 0.

    Raises
    ------
    ParameterError, ParameterTypeError
        If epsilon is outside its range or of the wrong type.

    Notes
    -----
    The data are a bit, 0 or 1, an integer or a truth value; or bits of shape (n,), each of another
    person. Each bit has an answer of its own, 0 or 1.

    **Privacy**: epsilon-differential privacy under replace (a bit changes), also locally: each
    person can run it before anyone sees the bit. A call with many bits costs epsilon once, **as
    long as each person has one of them**; a person with m bits pays m times epsilon.

    **Numerics**: the probability is the exact, irrational number, and the draw is exact.

    References
    ----------
    Warner, "Randomized response: a survey technique for eliminating evasive answer bias", JASA
    1965. Kairouz, Oh and Viswanath, "Extremal mechanisms for local differential privacy", JMLR
    2016.

    Examples
    --------
    >>> import fastexp as fx
    >>> response = fx.RandomizedResponse(epsilon=1.0)
    >>> response.release(1) in (0, 1)
    True

    The share of ones among many people, from their noisy bits (post-processing is free):

    >>> lie = fx.probabilities([1, 0], epsilon=1.0, monotonic=True)[1]
    >>> noisy = response.sample([1] * 3000 + [0] * 7000, rng=1).mean()
    >>> bool(abs((noisy - lie) / (1 - 2 * lie) - 0.3) < 0.05)
    True
    """

    epsilon: Number
    _gap: Fraction = field(init=False, repr=False, compare=False)
    _limits: tuple[int, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the parameter."""
        checks.arithmetic()
        gap = response_rate(self.epsilon)
        vars(self).update(_gap=gap, _limits=words_of_truth(gap))

    @property
    def guarantee(self) -> Guarantee:
        """The promise of one release."""
        return pure_guarantee(self.epsilon, "replace", "each person has one bit of the data")

    def release(
        self,
        data: Any,
        *,
        nan: Missing = "raise",
        disjoint: bool | None = True,
        budget: Budget | None = None,
        label: str | None = None,
    ) -> Any:
        """Release a noisy answer for each bit, using the operating system's randomness.

        Parameters
        ----------
        data : int, bool or array_like of shape (n,)
            0 or 1, one for each person.
        budget, label : optional
            As for other mechanisms.

        Returns
        -------
        int or ndarray of int64, shape (n,)
            0 or 1.

        Raises
        ------
        ParameterTypeError, InvalidRecords
            If the bits are of another type, or not all 0 or 1.
        RandomnessError, RoundingModeError
            If the system gives no randomness, or the processor does not round to nearest.

        Notes
        -----
        **Privacy**: each call costs `guarantee`: two releases of the same data cost it twice.
        """
        return super().release(data, nan=nan, disjoint=disjoint, budget=budget, label=label)

    def _read(self, data: Any, nan: str = "raise") -> Segments:
        checks.choice("nan", nan, ("raise",))
        try:
            array = np.asarray(data)
        except ValueError:  # lists of several lengths
            array = np.empty(0)
        is_masked = kinds.mask_of(data).any()
        if array.dtype.kind not in "biu" or array.ndim > 1 or not array.size or is_masked:
            raise ParameterTypeError("data must be a bit, or bits of shape (n,): 0, 1 or booleans")
        bits = array.reshape(-1, 1).astype(np.int64, copy=False)
        if bits.min() < 0 or bits.max() > 1:
            raise InvalidRecords("bits must be 0 or 1")
        return Segments(bits, SIGNED, array.size if array.ndim else None)

    def _form(self, data: Any, nan: Missing) -> Segments:
        return self._read(np.zeros(shape(data), np.int64), nan)

    def _draw(self, data: Segments, seeds: Words, size: int | None) -> Any:
        lies = draw_lies(self._gap, self._limits, data.values.size, seeds, size or 1)
        return shaped(data.values ^ lies, data.rows, size)

    def _runs(self, data: Segments) -> Any:
        from ..laws.of_data import of_bit

        return of_bit(int(data.values[0, 0]), self._gap)
