"""A statistic with Laplace noise, on a public grid."""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack, overload

from .._compiler.rounding import check_rounding
from .._numbers import laplace as _laplace
from .._numbers.laplace import FINEST, LaplaceSampler, Truth
from .._parameters import validate
from .._parameters.grid import Grid, _number, decimal, make_grid
from .._randomness.sampling import Sampling
from .._selection.weighting import Weighting
from .._typing import ArrayLike, Method, Number, NumberArray, RNGLike, SeedLike
from ..errors import ParameterError
from ..grouped.call_options import DEFAULTS, CallOptions
from ..privacy.bounded_laplace import continuous_laplace_rate
from ..privacy.rates import laplace_rate
from .base import Mechanism, frozen

if TYPE_CHECKING:
    from ..budget.budget import Budget
    from ..budget.question import Question
    from ..laws.densities import ContinuousLaw
    from ..laws.grid import GridLaw
    from ._options import KernelSimulation

ASSUMES = (
    "sensitivity bounds how much one record changes f, as the numbers are represented; "
    "step and bounds were chosen without looking at the data"
)
MAX_CHARACTERS = 320  # most characters of an answer: those of 2**1000 and more


@frozen
class Laplace(
    Mechanism,
    promise="ε-DP for the neighbours for which the sensitivity was stated; not ε-bounded-range.",
):
    """A statistic f with Laplace noise: r with probability ∝ exp(-c·|f - r|) on a public grid.

    Parameters
    ----------
    epsilon
    sensitivity : number
        > 0: the most that one record can change f.
    step : number
        The distance between possible answers, > 0, public. Answers are ints if step and bounds
        are. Without bounds it must divide the sensitivity (as decimals: 0.1 divides 0.5), and
        answers are its multiples; with bounds it must divide these.
    bounds : (number, number), optional
        Public limits, lower < upper, chosen without looking at the data: answers are
        lower + t·step up to the upper one, and f is clamped to them.
    any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `step` does not fit.

    Notes
    -----
    The data are the statistic f(x): an int, float, Decimal or Fraction, read as the exact number
    that it is and *not* rounded to the grid. Noise is not added to f, as this would reveal its low
    bits: a grid point is selected, with weights that need no rounding.

    **Without bounds** c = ε/Δ: the exponential mechanism without its factor of 2, since the sum of
    the weights is the same for f and f + Δ. This holds only if the step divides Δ; otherwise the
    promise would be more than ε. **Within bounds** that sum is smallest if f is at an end. c is
    then the greatest number (a double, per step) for which the worst log-ratio is at most ε, over
    all f and f' that are at most Δ apart, wherever they lie between grid points; this is the exact
    supremum. c is between ε/(2Δ), for a small ε and wide bounds, and ε/Δ, for a large ε or narrow
    bounds. If answers at the ends are acceptable, an unbounded answer that is clamped afterwards
    costs the same and is often more accurate.

    **Privacy**: ε-DP, for the neighbours for which Δ was stated. The range of log-ratios is up to
    2ε, so rho is ε·tanh(ε/2), not ε²/8.

    **Numerics**: exact; the noise is not truncated. Sensitivity, step and bounds are read as the
    decimals that they print (the sensitivity as the stored float, where that is greater).

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data
    analysis", TCC 2006. McSherry and Talwar, FOCS 2007 (as an exponential mechanism). Ghosh,
    Roughgarden and Sundararajan, STOC 2009 (on integers). Mironov, "On significance of the
    least significant bits for differential privacy", CCS 2012 (why not to add floats).

    Examples
    --------
    A number of people, to which one of them adds 1:

    >>> import fastexp as fx
    >>> count = fx.Laplace(epsilon=1.0, sensitivity=1, step=1)
    >>> count.release(4217) in range(4217 - 50, 4217 + 50)  # but in some 1e-21 of cases
    True
    >>> count.sample(4217, size=5, rng=3)
    array([4215, 4218, 4217, 4217, 4217])
    >>> round(count.law(4217).expected_error(4217), 3)
    0.851

    A mean of 200 ratings from 1 to 5, where their number is public:

    >>> mean = fx.Laplace(epsilon=1.0, sensitivity=0.02, step=0.001, bounds=(1, 5))
    >>> law = mean.law(4.97)
    >>> law.ppf([0.025, 0.5, 0.975]), round(law.expected_error(4.97), 4)
    (array([4.868, 4.963, 4.997]), 0.0246)
    """

    epsilon: float
    sensitivity: Number
    _: KW_ONLY
    step: Number
    bounds: tuple[Number, Number] | None = None
    any_epsilon: bool = field(default=False, compare=False)
    _has_bounded_range = False
    _assumes = ASSUMES
    _grid: Grid = field(init=False)
    _weighting: Weighting = field(init=False, compare=False)

    def _check(self) -> None:
        super()._check()
        self._set_frozen(
            sensitivity=_positive("sensitivity", self.sensitivity),
            step=_positive("step", self.step),
        )
        validate.rate(Fraction(self.epsilon) / decimal(self.sensitivity))
        if self.bounds is None:
            self._set_frozen(_grid=_multiples(self.step, self.sensitivity))
        else:
            self._set_frozen(_grid=make_grid(self.bounds, self.step))
            self._set_frozen(bounds=tuple(_number("bounds", end) for end in self.bounds))
        rate = self._rate(self.epsilon)
        if self.bounds is None and rate * FINEST < 1:
            raise ParameterError(
                "step must be at least sensitivity / epsilon / 2**42 without bounds, got "
                f"{self.step!r}"
            )
        if rate > validate.RATE_RANGE[1]:
            raise ParameterError(
                f"step must be at most sensitivity / epsilon * 2**900, got {self.step!r}"
            )
        self._set_frozen(_weighting=Weighting(rate, None))

    def _rate(self, epsilon: float) -> Fraction:
        """The rate, a step, at any epsilon."""
        _, s, d = self._grid.unit
        steps = None if self.bounds is None else self._grid.size - 1
        exact = validate.as_fraction(self.sensitivity)
        return laplace_rate(epsilon, decimal(self.sensitivity), exact, Fraction(s, d), steps)

    @property
    def grid(self) -> Grid | None:
        """The public points; None where they have no end."""
        return None if self.bounds is None else self._grid

    def release(
        self, f: Number, *, budget: Budget | None = None, label: str | None = None
    ) -> int | float:
        """Release one private number, using the system's randomness.

        The draw is exact: integers and lazily drawn bits decide it. There is no seed and no state.

        Parameters
        ----------
        f : int, float, Decimal or Fraction
            The statistic, as the exact number it is; at most 2**1000 in magnitude.
        budget : Budget, optional
            Is charged before f is read. The charge is never refunded.
        label

        Returns
        -------
        int or float
            A multiple of the step, or a point of `grid`: an int if step and bounds are, however
            large; otherwise the nearest float64.

        Raises
        ------
        BudgetExceeded
        LabelError
        BudgetError
        ParameterTypeError, InvalidRecords
            If f is not a number, NaN, infinite or too large; this depends on the data and is
            outside the guarantee. A budget is charged before.
        RandomnessError

        Notes
        -----
        **Privacy**: `guarantee`, for every call anew.

        **Timing**: no promise; it depends on where f lies between two points, and on whether it is
        near a bound.
        """
        is_plain = budget is None and label is None
        options = DEFAULTS if is_plain else CallOptions(budget=budget, label=label)
        number: int | float = self._release(f, options)
        return number

    def _answered(self, data: Any, options: CallOptions) -> Any:
        return self._charged(options, lambda: self._sampler(data).release())

    def _question(self, options: CallOptions, rows: int | None) -> Question:  # noqa: ARG002  # none
        from ..budget.question import Question

        return Question(self, widest=MAX_CHARACTERS)

    @overload
    def sample(
        self, f: Number, size: None = None, **options: Unpack[KernelSimulation]
    ) -> int | float: ...
    @overload
    def sample(self, f: Number, size: int, **options: Unpack[KernelSimulation]) -> NumberArray: ...
    def sample(
        self,
        f: Number,
        size: int | None = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        method: Method | None = None,
    ) -> int | float | NumberArray:
        """Draw from the law of `release`, reproducibly from `rng`: a simulation, not private.

        Parameters
        ----------
        f : int, float, Decimal or Fraction
            As in `release`.
        size, rng
        streams : array_like of one int, optional
            The name of the stream; default 0.
        threads
        method : {None, "inversion"}, optional
            There is one way.

        Returns
        -------
        int, float or ndarray of int64 or float64, shape (size,)
            The bytes depend only on f, key, stream and size.

        Raises
        ------
        ParameterTypeError, ParameterError, InvalidRecords
            As in `release`, for the other arguments, and if integers leave int64.
        """
        check_rounding()
        sampling = Sampling(size, rng, streams, threads, method)
        numbers: int | float | NumberArray = self._sampler(f).sample(sampling)
        return numbers

    def law(self, f: Number) -> GridLaw:
        """Return the exact law of `release` and `sample` for this statistic: as private as that.

        Parameters
        ----------
        f : int, float, Decimal or Fraction
            As in `release`.

        Returns
        -------
        GridLaw
            Without bounds a `LaplaceLaw`: the same over all multiples of the step.

        Raises
        ------
        ParameterTypeError, InvalidRecords
            As in `release`, and if f is so large that the points around it are one float64.
        """
        check_rounding()
        from ..laws import laplace

        sampler = self._sampler(f)
        law: GridLaw
        if self.bounds is None:
            law = laplace.LaplaceLaw(sampler, self.epsilon)
        else:
            law = laplace.bounded_law(sampler, self.epsilon, self._rate)
        law._statistic = partial(_plain, _laplace.statistic(f))
        return self._with_maker(law)

    def continuous_law(self, f: Number) -> ContinuousLaw:
        """Return the density of the papers; for analysis, as nothing is released from it.

        Within bounds the rate is that of the whole interval: the limit of `law` as the step goes
        to 0.

        Parameters
        ----------
        f : int, float, Decimal or Fraction
            As in `release`.

        Returns
        -------
        ContinuousLaw
        """
        check_rounding()
        from ..laws import densities

        at = float(_laplace.statistic(f))
        law: ContinuousLaw
        if self.bounds is None:
            rate = Fraction(self.epsilon) / decimal(self.sensitivity)
            law = densities.laplace_density(at, rate, None, self.epsilon)
        else:
            ends = float(self._grid.value(0)), float(self._grid.value(self._grid.size - 1))
            rate, solve = self._continuous_rate(self.epsilon), self._continuous_rate
            law = densities.laplace_density(at, rate, ends, self.epsilon, solve)
        law._statistic = partial(_plain, _laplace.statistic(f))
        return self._with_maker(law)

    def _continuous_rate(self, epsilon: float) -> Fraction:
        width = self._grid.exact(self._grid.size - 1) - self._grid.exact(0)
        return continuous_laplace_rate(Fraction(epsilon), width, decimal(self.sensitivity))

    def _sampler(self, f: Number) -> LaplaceSampler:
        endless = self.bounds is None
        return LaplaceSampler(
            Truth(_laplace.statistic(f), self._grid, endless=endless), self._weighting
        )


def _plain(f: Fraction) -> int | float:
    """Return a statistic as an int or the nearest float."""
    return f.numerator if f.denominator == 1 else float(f)


def _positive(name: str, value: Number) -> Number:
    """Check a public number > 0, and return it; NumPy's scalars become those of Python."""
    number: Number = _number(name, value)
    if not number > 0:
        raise ParameterError(f"{name} must be > 0, got {value!r}")
    return number


def _multiples(step: Number, sensitivity: Number) -> Grid:
    """Return a grid of two multiples of a step, which stands for all multiples."""
    width = decimal(step)
    if (decimal(sensitivity) / width).denominator != 1:
        raise ParameterError(
            "step must divide the sensitivity if there are no bounds (otherwise the sum of the "
            "weights would differ between f and f + sensitivity, and more than epsilon would be "
            f"spent): got step {step!r}, sensitivity {sensitivity!r}"
        )
    unit = 0, width.numerator, width.denominator
    return Grid(2, isinstance(step, int), unit)
