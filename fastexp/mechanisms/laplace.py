"""A number with Laplace noise."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import ceil, inf
from typing import Any

import numpy as np

from ..data.grid import Grid
from ..data.segments import Segments, shape
from ..draws import laplace
from ..errors import InvalidRecords, ParameterError, ParameterTypeError
from ..kernels.bits import FLOAT
from ..parameters import checks
from ..privacy.guarantee import Guarantee, laplace_guarantee
from ..privacy.rates import laplace_rate
from ..types import Missing, Number, Words
from .base import Mechanism

ASSUMES = (
    "sensitivity bounds how much one record changes the number, as numbers are represented; step "
    "and bounds are public"
)
MOST = 2.0**1000  # of a number
MOST_STEP = 10**270  # noise has less than 2**62 steps: no answer overflows
MOST_BOUND = 1 << 63  # int64 holds it
FINEST = 1 << 42  # steps of a change of the density by a factor e


@dataclass(frozen=True)
class Laplace(Mechanism):
    """A number x with Laplace noise: a multiple r of the step by exp(-ε·|r - x|/Δ).

    Parameters
    ----------
    epsilon : float
        In nats, > 0.
    sensitivity : float
        Δ, the most by which one record changes the number, > 0. It counts as the next multiple of
        the step.
    step : number
        The distance between answers, > 0, public; read as the decimal that it prints. At least
        sensitivity / epsilon / 2**42.
    bounds : tuple of two numbers, optional
        Public multiples of the step, to which answers are clamped.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `step` does not fit.

    Notes
    -----
    The data are one number: a sum, a count, a mean; an int, float, Fraction or Decimal, at most
    2**1000 in magnitude. `sample` also takes an array of them, each a row of its own. Noise is not
    added to the number, as this would reveal its low bits: a multiple of the step is selected.

    **Privacy**: epsilon-differential privacy for the neighbours for which the sensitivity was
    stated. The sum of all weights is the same for x and x + Δ if the step divides Δ, so that there
    is no factor 2. Clamping an answer costs nothing. If the sensitivity is m steps, rho is
    ε - a (1 - exp(-ε)) / sinh(a) with a = ε / m: the least one, for numbers on the grid or not.

    **Numerics**: the number is read as the exact number that it is, and the draw is exact and not
    truncated. The sensitivity is read as its decimal or as the stored number, whichever is more.
    Answers are integers if the step is one, else the double nearest to the multiple.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis",
    TCC 2006, Proposition 1. Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing
    privacy mechanisms", STOC 2009 (integers). Mironov, "On significance of the least significant
    bits for differential privacy", CCS 2012 (why not to add floats).

    Examples
    --------
    >>> import fastexp as fx
    >>> count = fx.Laplace(epsilon=1.0, sensitivity=1, step=1)
    >>> count.release(4217) in range(4217 - 50, 4217 + 50)  # except with probability 1e-21 or so
    True
    >>> count.sample(4217, size=5, rng=1).shape  # a simulation: not private
    (5,)
    """

    epsilon: Number
    sensitivity: Number
    _: KW_ONLY
    step: Number
    bounds: Any = None
    _noise: laplace.Noise = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.arithmetic()
        rate = laplace_rate(self.epsilon, self.sensitivity, self.step)
        if rate * FINEST < 1:
            raise ParameterError(
                f"step must be at least sensitivity / epsilon / 2**42, got {self.step!r}"
            )
        step, ends = checks.decimal("step", self.step), None
        if step > MOST_STEP:
            raise ParameterError(f"step must be at most 1e270, got {self.step!r}")
        is_whole = isinstance(self.step, (int, np.integer))
        if self.bounds is not None:
            low, high = (checks.decimal("bounds", x) for x in checks.bounds(self.bounds))
            if low % step or high % step or max(-low, high) >= MOST_BOUND:
                raise ParameterError(
                    "bounds must be multiples of the step, less than 2**63 in magnitude, got "
                    f"{self.bounds!r}, step {self.step!r}"
                )
            ends = (int(low), int(high)) if is_whole else (float(low), float(high))
        grid = Grid(2, is_whole, 0, step.numerator, step.denominator)
        vars(self).update(_noise=laplace.Noise(rate, grid, ends))

    @property
    def guarantee(self) -> Guarantee:
        """The promise of one release."""
        moves = checks.exact("sensitivity", self.sensitivity) / checks.decimal("step", self.step)
        return laplace_guarantee(self.epsilon, self._noise.rate, ceil(moves), ASSUMES)

    def _read(self, data: Any, nan: str = "raise") -> Segments:
        checks.choice("nan", nan, ("raise",))
        if isinstance(data, Decimal) and not (data.is_finite() and abs(data.adjusted()) < 1000):
            data = inf  # else a comparison raises, or an exponent fills the memory
        if getattr(data, "ndim", 1) == 0 and getattr(data, "dtype", "O") != "O":
            data = data.item()  # of NumPy
        numbers, rows = [data], None
        if not isinstance(data, (int, float, Fraction, Decimal)):
            array = checks.numbers(data)
            if array is None or array.ndim != 1 or not array.size:
                raise ParameterTypeError(
                    "data must be a number, or numbers of at most 64 bits, of shape (rows,)"
                )
            numbers, rows = array.reshape(-1).tolist(), array.size
        exact = [checks.exact("data", x) for x in numbers if -MOST <= x <= MOST]
        if len(exact) < len(numbers):
            raise InvalidRecords("numbers must be finite, and at most 2**1000 in magnitude")
        return Segments(np.array(exact, object), FLOAT, rows)

    def _form(self, data: Any, nan: Missing) -> Segments:
        return self._read(np.zeros(shape(data)), nan)

    def _draw(self, data: Segments, seeds: Words, size: int | None) -> Any:
        return laplace.draw(data, self._noise, seeds, size)

    def _runs(self, data: Segments) -> Any:
        from ..laws.of_data import of_noise

        return of_noise(data.values[0], self._noise)
