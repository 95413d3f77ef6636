"""Public grids of significant digits: numbers of all magnitudes, if no bounds are known."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from fractions import Fraction
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np

from .._compiler.rounding import check_rounding
from .._typing import AnyArray, ArrayLike, FloatArray, IntArray, Number
from ..errors import ParameterError
from ..kernels.numbers import digit_points
from . import validate
from .grid import MOST_STEPS, UNEVEN, Grid, Rule, decimal
from .validate import MAX_EXACT

MOST_DIGITS = 15  # the most digits for which doubles tell all decimals apart
MAX_EXPONENT = 300  # of ten: points and their differences are normal doubles
MAX_LISTED = 1 << 24  # the most points that are ever listed: 128 MiB
MAX_EXACT_POWER = 22  # exponent of the largest power of ten that is a double
PARAMETERS = ("digits", "low", "high", "negative", "zero")
BINADES = 1 << 11  # binary exponents of doubles, and that of infinity
LARGEST_WHOLE = 18  # exponent of the largest power of ten in 64 bits


@dataclass(frozen=True, eq=False, repr=False)
class DigitGrid(Grid):
    """A grid of significant digits, computed by arithmetic; made and explained by `digits`.

    Attributes
    ----------
    digits : int
        The number of significant digits.
    low, high : int
        The exponents of the powers of ten between which positive points lie.
    negative, zero : bool
        Whether the negatives of these points, and 0, are points, too.
    """

    digits: int = 0
    low: int = 0
    high: int = 0
    negative: bool = True
    zero: bool = True

    @property
    def parameter(self) -> DigitGrid:
        return self if self.rule == "nearest" else self._of_rule("nearest")

    @cached_property
    def below(self) -> DigitGrid:
        return self if self.rule == "below" else self._of_rule("below")

    def _of_rule(self, rule: Rule) -> DigitGrid:
        return _grid(self.digits, self.low, self.high, self.negative, self.zero, rule)

    @property
    def table(self) -> dict[str, Any]:
        """Return the arguments of `digits`, as they are written in files."""
        return {
            "digits": self.digits,
            "low": float(f"1e{self.low}"),
            "high": float(f"1e{self.high}"),
            "negative": self.negative,
            "zero": self.zero,
        }

    @property
    def encoding(self) -> tuple[Any, ...]:
        return "digits", self.digits, self.low, self.high, self.negative, self.zero

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return *self.encoding, self.rule

    def __reduce__(self) -> tuple[Any, ...]:
        return _grid, self._key[1:]

    @property
    def call(self) -> str:
        """Return the call of `digits` that makes the grid."""
        table, usual = self.table, digits(self.digits).table
        arguments = [f", {name}={value}" for name, value in table.items() if value != usual[name]]
        return f"digits({self.digits}{''.join(arguments)})"

    def __repr__(self) -> str:
        first, last = (f"{end:.{self.digits}g}" for end in self.ends)
        return f"{self.call}: {self.size:,} numbers from {first} to {last}"

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: SupportsIndex) -> int | float:
        """Return point `index`, counted from the lowest; if negative, from the end."""
        return self.value(range(self.size)[index])

    def nearest(self, x: ArrayLike) -> Any:
        """Return the points at which numbers count.

        Parameters
        ----------
        x : array_like
            Numbers, infinite ones too.

        Returns
        -------
        int, float or ndarray of int64 or float64
            Of the shape of `x`. Half-way between two points, the one of even index.
        """
        numbers = validate.exact_reals("x", x)
        points = self.values(self.index(numbers))
        return points if numbers.ndim else points.item()

    def extra_ranks(self, epsilon: float, q: float = 0.5) -> float:
        """Return about how many ranks of error the number of points costs: a rule of thumb.

        Parameters
        ----------
        epsilon : float
            The epsilon of a `Median`, or of a `Quantile` under add-remove.
        q : float
            The quantile, in (0, 1).

        Returns
        -------
        float
            ln(number of points) · 2·max(q, 1 - q) / ε. Beyond it, the probability of an error in
            ranks falls by a factor e with every 2·max(q, 1 - q) / ε ranks.
        """
        q = validate.fraction("q", q)
        return math.log(self.size) * 2 * max(q, 1 - q) / validate.positive("epsilon", epsilon)

    @property
    def points(self) -> AnyArray:
        if self.size > MAX_LISTED:
            raise ParameterError(
                "grid of digits must have at most 2**24 points wherever its points are listed (in "
                f"laws, for prices, with widen), got {self.size}"
            )
        return np.asarray(self.values(np.arange(self.size)))

    @property
    def _per_decade(self) -> tuple[int, int]:
        """The number of points in a decade, and the smallest m."""
        return 9 * 10 ** (self.digits - 1), 10 ** (self.digits - 1)

    @cached_property
    def _center(self) -> int:
        """The number of negative points, which is the index of 0 if that is a point."""
        return (self.size - self.zero) // 2 if self.negative else 0

    def value(self, t: int) -> int | float:
        check_rounding()
        ahead, (per, least) = t - self._center, self._per_decade
        if self.zero and ahead == 0:
            return 0 if self.whole else 0.0
        j, place = divmod(-1 - ahead if ahead < 0 else ahead - self.zero, per)
        m, k = least + place, self.low + j - self.digits + 1
        m = -m if ahead < 0 else m
        over, under = int(m * 10 ** max(k, 0)), int(10 ** max(-k, 0))
        return over if self.whole else over / under  # the quotient of integers is rounded once

    def values(self, t: IntArray) -> Any:
        check_rounding()
        ahead, (per, least) = np.asarray(t, np.int64) - self._center, self._per_decade
        minus, zero = ahead < 0, (ahead == 0) & self.zero
        j, place = np.divmod(np.where(minus, -1 - ahead, np.maximum(ahead - self.zero, 0)), per)
        m = place + least
        if self.whole:
            powers = np.array([10**k for k in self._exponents])
            return np.where(zero, 0, np.where(minus, -m, m) * powers[j])
        powers, ways = self._factors[:, j]
        with np.errstate(over="ignore"):
            points = np.where(ways == digit_points.TIMES, m * powers, m / powers)
        points = np.where(zero, 0.0, np.where(minus, -points, points))
        for i in np.argwhere((ways == digit_points.UNKNOWN) & ~zero):
            points[tuple(i)] = self.value(int(np.asarray(t)[tuple(i)]))
        return points

    def index(self, records: AnyArray) -> IntArray:
        check_rounding()
        flat = records.reshape(-1)
        numbers, out = np.ascontiguousarray(flat, np.float64), np.empty(flat.size, np.int64)
        unsettled = digit_points.digit_indices(numbers, self._binades, self._header, out)
        if flat.dtype.kind != "f":  # integers that may have been rounded
            out[np.abs(numbers) >= MAX_EXACT] = digit_points.OPEN
            unsettled = 1
        for i in np.flatnonzero(out == digit_points.OPEN).tolist() if unsettled else ():
            out[i] = self._index_of(flat[i].item())
        return out.reshape(records.shape)

    def _index_of(self, record: int | float) -> int:
        """Return `index` by exact comparisons."""
        t = bisect_right(range(self.size), record, key=self.value) - 1
        if t < 0 or t == self.size - 1 or self.rule == "below":
            return max(t, 0)
        return t + (record >= self.least(t + 1, isinstance(record, float)))

    @cached_property
    def _exponents(self) -> range:
        """The exponent k of each decade, whose points are m * 10**k."""
        first = self.low - self.digits + 1
        return range(first, first + self.high - self.low)

    @cached_property
    def _factors(self) -> FloatArray:
        """10**|k| of each decade, and whether it multiplies or divides m, for kernels."""
        out = np.ones((2, len(self._exponents)))
        for j, k in enumerate(self._exponents):
            exact = abs(k) <= MAX_EXACT_POWER and not (
                self.whole and 10**self.digits * 5**k > MAX_EXACT
            )
            out[0, j] = float(10 ** abs(k)) if exact else 1.0
            known = digit_points.TIMES if k >= 0 else digit_points.OVER
            out[1, j] = known if exact else digit_points.UNKNOWN
        return out

    @cached_property
    def _binades(self) -> FloatArray:
        """The table of `digit_points.digit_indices`; numbers below all are in the first decade."""
        per, first = self._per_decade[0], self._center + self.zero
        starts = [self.value(first + j * per) for j in range(len(self._exponents))]
        shares = [float(f"1e{-k}") if k >= -308 else 0.0 for k in self._exponents]
        begin = np.ldexp(1.0, np.minimum(np.arange(BINADES), BINADES - 2) - 1023)
        decades = np.maximum(np.searchsorted(np.array(starts, float), begin, "right") - 1, 0)
        columns = np.array([[*starts[1:], math.nan], shares, [*shares[1:], 0.0]])
        return np.vstack([decades, columns[:, decades]]).T.reshape(-1)

    @cached_property
    def _header(self) -> FloatArray:
        """The description of the grid for `digit_points.digit_indices`."""
        per, least = self._per_decade
        size, margin = per * len(self._exponents), 10.0 * least * 2.0**-50
        header = size, per, least, margin, self.zero, self.negative, self.rule == "below"
        first = self.value(self._center + self.zero)
        return np.concatenate([header, [first], *self._factors])


def _grid(digits: int, low: int, high: int, negative: bool, zero: bool, rule: Rule) -> DigitGrid:
    size = (1 + negative) * 9 * 10 ** (digits - 1) * (high - low) + zero
    whole = low >= digits - 1 and high <= LARGEST_WHOLE
    return DigitGrid(size, whole, UNEVEN, rule, None, digits, low, high, negative, zero)


def digits(
    digits: int = 3,
    *,
    low: Number | str = 1e-12,
    high: Number | str = 1e15,
    negative: bool = True,
    zero: bool = True,
) -> DigitGrid:
    r"""Return a public grid of all numbers of so many significant digits, if no bounds are known.

    For ``grid=`` of `Median`, `Quantile`, `Quantiles` and every other mechanism of numbers.
    The error of a mechanism in ranks grows only with the logarithm of the number of points, so that
    27 decades of both signs cost few ranks if there are many records. A quantile with fewer than
    about 15/ε records beyond it needs bounds: without them, one of the many points beyond all
    records is drawn too often. `accuracy` shows this.

    Parameters
    ----------
    digits : int
        The number of significant digits, in 1, ..., 15.
    low, high : int, float, Decimal or str
        Powers of ten from 1e-300 to 1e300: positive points are at least `low` and below `high`.
    negative, zero : bool
        Whether the negatives of these points, and 0, are points, too.

    Returns
    -------
    DigitGrid
        Immutable; its memory does not depend on the number of points. It has ``len(grid)``,
        ``grid[i]``, ``grid.nearest(x)`` and ``grid.extra_ranks(epsilon, q)``.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or there are more than
        2**52 points.

    Notes
    -----
    Points are m·10^k with 10^(digits-1) <= m < 10^digits: as the nearest double (such as
    ``float("1.23e5")``), or as ints if all of them are integers below 1e18. A record counts at the
    nearest point; half-way between two points, at the one of even index, counted from the lowest;
    outside the grid, at the first or last point.

    **Privacy**: the grid is a constant. A mechanism has the same promise on it as on any public
    grid. The grid does not depend on the data, and no epsilon is spent on bounds.

    **Numerics**: with the same random words, the draws are exactly those from a list of these
    points. But no point is listed: records are compared exactly with computed points. Only laws,
    prices and `widen` list the points, and refuse more than 2**24. A record takes about 50 µs if
    doubles cannot decide: an integer beyond 2**53, or a number nearly half-way between two points
    m·10^k with \|k\| > 22.

    Examples
    --------
    >>> import fastexp as fx
    >>> grid = fx.digits(3)
    >>> grid
    digits(3): 48,601 numbers from -9.99e+14 to 9.99e+14
    >>> grid.nearest([1234.5, -0.00098765, 7e20])
    array([ 1.23e+03, -9.88e-04,  9.99e+14])
    >>> incomes = [1500 + 7 * i for i in range(1000)]
    >>> median = fx.Median(epsilon=1.0, grid=grid)
    >>> law = median.law(incomes)
    >>> law.truth, law.ppf(0.5)
    (4996.5, 5000.0)
    """
    number = validate.counting("digits", digits, most=MOST_DIGITS)
    first, last = _power("low", low), _power("high", high)
    if not first < last:
        raise ParameterError(f"low must be < high, got {low!r} and {high!r}")
    signs = validate.flag("negative", negative), validate.flag("zero", zero)
    grid = _grid(number, first, last, *signs, "nearest")
    if grid.size > MOST_STEPS:
        raise ParameterError(f"digits must make at most 2**52 points, got {grid.size}")
    return grid


def of_table(table: Mapping[str, Any]) -> DigitGrid:
    """Return the grid of a `table`, read from a file."""
    for key in table:
        if key not in PARAMETERS:
            raise ParameterError(f"grid has no {key!r}; there are {', '.join(PARAMETERS)}")
    return digits(**table)


def _power(name: str, value: Any) -> int:
    """Return the exponent of a public power of ten."""
    number: Any = value
    try:
        if isinstance(value, str):
            number = Decimal(value)
        else:
            validate.real(name, value)
        is_near = 1e-301 < number < 1e301  # so that its integers are not long
    except DecimalException:  # no number, or NaN
        is_near = False
    if is_near:
        exact = decimal(number) if isinstance(number, float) else validate.as_fraction(number)
        exponent = len(str(max(exact.numerator, exact.denominator))) - 1
        exponent = exponent if exact >= 1 else -exponent
        if abs(exponent) <= MAX_EXPONENT and exact == Fraction(10) ** exponent:
            return exponent
    raise ParameterError(f"{name} must be a power of ten in [1e-300, 1e300], got {value!r}")
