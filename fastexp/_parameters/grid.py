"""Public grids: the numbers that can be released, and the point at which a record counts.

Two maps are defined here, from index to number and from record to index. Both are fixed: they do
not depend on other records, and so reveal nothing about them. A released number is computed from
its index alone.

A record counts at the *nearest* point; half-way between two points, at the one of even index. Here
points are the exact numbers of `Grid.exact`, and records the exact numbers that they are. For
prices, a record counts at the largest point, as it is released, that is not above the record: the
rule *below*. Both rules are increasing, so that each point has a smallest record.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

from .._compiler.rounding import check_rounding
from .._typing import AnyArray, FloatArray, IntArray
from ..errors import ParameterError, ParameterTypeError
from ..kernels.numbers import edges, grid_points
from . import validate
from .foreign import is_a
from .validate import MAX_EXACT

DEFAULT_STEPS = 1 << 40  # the default number, if neither step nor points are given
MOST_STEPS = (1 << 52) - 2  # a count of points is exact in float64, and a bound of the sampler
INT64 = range(-(1 << 63), 1 << 63)
NATIVE = (np.dtype(np.float64), np.dtype(np.int64))
LARGEST = (1 << 62) - 512  # two such numbers together, as a double, fit into 64 bits
UNEVEN = (0, 0, 1)  # the unit of a grid that is not evenly spaced
Rule = Literal["nearest", "below"]


@dataclass(frozen=True, eq=False)
class Grid:
    """The points of a public grid in increasing order, with the indices 0, ..., size - 1.

    If the grid is evenly spaced, point t is the double nearest to (A + t * S) / D, with `unit` =
    (A, S, D); it is an int if bounds and step are ints (`whole`). Otherwise S is 0, and the points
    are those of `listing`, as a user listed them.
    """

    size: int
    whole: bool
    unit: tuple[int, int, int]
    rule: Rule = "nearest"
    listing: AnyArray | None = field(default=None, repr=False)

    @property
    def even(self) -> bool:
        """Whether the points are evenly spaced."""
        return self.unit[1] != 0

    @property
    def points(self) -> AnyArray:
        """All points of a grid that is not evenly spaced."""
        return np.asarray(self.listing)

    @property
    def parameter(self) -> Any:
        """The parameter `grid` that makes the grid again; None if bounds and step do."""
        return self.listing

    @property
    def encoding(self) -> tuple[Any, ...]:
        """The encoding of the grid in digests of questions."""
        if self.listing is None:
            return self.size, self.whole, self.unit, b""
        return self.size, self.whole, UNEVEN, self.listing.tobytes()  # int64 if it is whole

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        points = None if self.even else self.points.tobytes()
        return self.size, self.whole, self.unit, points, self.rule

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[Any, ...]:  # without computed values
        return Grid, (self.size, self.whole, self.unit, self.rule, self.listing)

    @cached_property
    def below(self) -> Grid:
        """The same points, if a record counts at the largest one that is not above it."""
        return self if self.rule == "below" else replace(self, rule="below")

    @cached_property
    def form(self) -> tuple[IntArray, IntArray, FloatArray] | None:
        """The grid in the form that kernels take, for floats and integers; None if they cannot.

        Layout: `kernels/numbers/grid_points.py`. If `odd` is not 0, `wide_point` gives points.
        """
        if not self.even:
            return None
        a, s, d = self.unit
        divisor = d & -d
        odd = d // divisor
        most = max(abs(a), abs(a + (self.size - 1) * s))
        if max(most, d) <= MAX_EXACT:
            odd, divisor = 0, d  # doubles are converted and divided exactly, and rounded once
        elif self.whole or most > LARGEST or odd >= 1 << 29 or divisor >= 1 << 900:
            return None
        elif odd == 1:
            odd = 0  # the conversion rounds, and the division by a power of two is exact
        low, high = map(float, self.ends)
        last, below = self.size - 1, self.rule == "below"
        share = Fraction(last) / Fraction(high - low)  # points per unit
        if not Fraction(1, 1 << 900) < share < 1 << 900:
            return None
        floats, integers = (
            grid_points.new_unit(a, s, last, floats=floats, odd=odd, below=below)
            for floats in (True, False)
        )
        scale = grid_points.new_scale(float(divisor), low, high, float(share), 2.0 * d)
        return floats, integers, scale

    @cached_property
    def for_kernels(self) -> tuple[IntArray, IntArray, FloatArray] | None:
        """`form`, if kernels may also map records, for which integers must be exact doubles."""
        return self.form if max(map(abs, self.ends)) <= MAX_EXACT else None

    def exact(self, t: int) -> Fraction:
        """Return the exact number of point t, which `value` rounds once."""
        return Fraction(*self._ratio(t))

    def _ratio(self, t: int) -> tuple[int, int]:
        """Return `exact` as two integers, perhaps not in lowest terms."""
        if not self.even:
            over, under = self.value(t).as_integer_ratio()
            return over, under
        a, s, d = self.unit
        return a + t * s, d

    def value(self, t: int) -> int | float:
        """Return point t, as it is released."""
        check_rounding()
        if not self.even:
            number: int | float = self.points[t].item()
            return number
        over, under = self._ratio(t)
        return over if self.whole else over / under  # the quotient of integers is rounded once

    @property
    def ends(self) -> tuple[int | float, int | float]:
        """Return the first and the last point, as they are released."""
        return self.value(0), self.value(self.size - 1)

    def values(self, t: IntArray) -> Any:
        """Return points t, an int64 or float64 array of the same shape."""
        check_rounding()
        if not self.even:
            return self.points[t]
        a, s, _ = self.unit
        index = np.asarray(t, np.int64)
        if self.whole:
            return a + index * s
        if self.form is not None:
            out = np.empty(index.size)
            flat = np.ascontiguousarray(index.reshape(-1))
            grid_points.points_fill(flat, self.form[0], self.form[2], out)
            return out.reshape(index.shape)
        points = [self.value(int(i)) for i in index.reshape(-1)]
        return np.array(points, np.float64).reshape(index.shape)

    def index(self, records: AnyArray) -> IntArray:
        """Return the point at which each record counts; float64 or 64-bit integers, no NaN."""
        check_rounding()
        floats = records.dtype.kind == "f"
        if not self.even:
            edges = self._float_edges if floats else self._whole_edges[records.dtype.kind]
            return np.searchsorted(edges, records, "right").astype(np.int64)
        form = self.form if floats else self.for_kernels
        if form is not None and records.dtype in NATIVE:
            flat, out = np.ascontiguousarray(records).reshape(-1), np.empty(records.size, np.int64)
            unit = form[0] if floats else form[1]
            grid_points.index_fill(flat.view(np.int64), unit, form[2], out)
            return out.reshape(records.shape)
        flat = records.reshape(-1)
        out = self._index_of_whole(flat) if self.whole else self._index_by_estimate(flat)
        return out.reshape(records.shape)

    def _index_of_whole(self, records: AnyArray) -> IntArray:
        """Return `index` on evenly spaced integers, exactly.

        A record x = floor + fraction lies `passed` + fraction above point t and `ahead` - fraction
        below the next point, which is nearer if 2 * fraction > ahead - passed. The right side is an
        integer, so only the floor of the left side (`half`, 0 or 1) matters, and whether the
        remainder is above 0 (`has_rest`). Both are exact: doubling a double does not round, and
        doubles of 2**52 and more have no fraction.
        """
        a, s, _ = self.unit
        floor = _floors(records)
        clamped = np.clip(floor, a, a + (self.size - 1) * s)
        offset = clamped.view(np.uint64) - np.uint64(a % (1 << 64))
        t = offset // np.uint64(s)
        if self.rule == "below":
            return t.astype(np.int64)
        passed = offset - t * np.uint64(s)
        lack = (np.uint64(s) - passed).astype(np.int64) - passed.astype(np.int64)
        odd = (t & np.uint64(1)).astype(bool)
        if records.dtype.kind == "f":
            fractional = (floor == clamped) & (np.abs(records) < 2.0**52)
            x = np.where(fractional, records, 0.0)
            twice = np.floor(2.0 * x)
            half, has_rest = twice - 2.0 * np.floor(x), 2.0 * x > twice
            lack -= half.astype(np.int64)
            odd |= has_rest  # beyond half-way counts like half-way after an odd point
        up = (lack < 0) | ((lack == 0) & odd)
        index: IntArray = np.minimum(t.astype(np.int64) + up, self.size - 1)
        return index

    def _index_by_estimate(self, records: AnyArray) -> IntArray:
        """Return `index` on evenly spaced numbers, in float64 if its errors cannot matter.

        The estimate is off by less than `margin` steps: by its own 4 roundings, and by those of the
        ends, of their difference and of a record. If points are compared as they are released,
        half an ulp is added.
        """
        last = self.size - 1
        low, high = map(float, self.ends)
        _, s, d = self.unit
        ulp = Fraction(math.ulp(max(abs(low), abs(high))))
        margin = float(min(Fraction(last, 1 << 50) + 4 * ulp * d / s, Fraction(1)))
        shift = 0.0 if self.rule == "below" else 0.5
        x = np.clip(records.astype(np.float64), low, high)
        exact = x if records.dtype.kind == "f" else records
        estimate = (x - low) / (high - low) * last + shift
        t = np.clip(estimate.astype(np.int64), 0, last)
        part = estimate - t
        for i in np.flatnonzero((part <= margin) | (part >= 1.0 - margin)).tolist():
            t[i] = self._index_of_one(exact[i].item())
        return t

    def _index_of_one(self, record: int | float) -> int:
        """Return `index` of a finite record, by exact arithmetic."""
        a, s, d = self.unit
        over, under = record.as_integer_ratio()
        ahead = over * d - a * under  # from the first point, in units of 1 / (d * under)
        last = self.size - 1
        if self.rule == "nearest":
            t, rest = divmod(2 * ahead + s * under, 2 * s * under)
            return min(max(t - (rest == 0 and t % 2), 0), last)
        t = min(max(ahead // (s * under), 0), last)
        if t < last and self.value(t + 1) <= record:  # points are rounded
            return t + 1
        return t - 1 if t > 0 and self.value(t) > record else t

    @cached_property
    def _float_edges(self) -> FloatArray:
        """The smallest double of each given point but the first.

        `least` computes it if float64 might round more than once.
        """
        check_rounding()
        points = np.asarray(self.points)
        known, whole = points.astype(np.float64), points.dtype.kind == "i"
        left, right = known[:-1], known[1:]
        hard = whole & (np.maximum(np.abs(left), np.abs(right)) >= MAX_EXACT)
        if self.rule == "below":
            edges = right.copy()
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                total = left + right
                back = total - left
                error = (left - (total - back)) + (right - back)  # left + right = total + error
            odd = (np.arange(left.size) & 1).astype(bool)
            is_above = (error > 0.0) | ((error == 0.0) & ~odd)
            edges = np.where(is_above, np.nextafter(total / 2, np.inf), total / 2)
            hard |= (np.abs(total) < 2.0**-1000) | (np.abs(total) > 2.0**1000)
        for i in np.flatnonzero(hard).tolist():
            edges[i] = self.least(i + 1, True)
        return edges

    @cached_property
    def _whole_edges(self) -> dict[str, AnyArray]:
        """The smallest int64 and uint64 of each given point but the first, if there is one."""
        return {kind: self._integer_edges(np.dtype(f"{kind}8")) for kind in "iu"}

    def _integer_edges(self, dtype: np.dtype[Any]) -> AnyArray:
        lowest, highest = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        rounded = np.ceil(self._float_edges)
        easy = np.abs(rounded) < MAX_EXACT
        edges = np.maximum(np.where(easy, rounded, 0.0), lowest).astype(dtype)
        for i in np.flatnonzero(~easy).tolist():
            edge = int(self.least(i + 1, False))
            if edge > highest:
                return edges[:i]
            edges[i] = max(edge, lowest)
        return edges

    @cached_property
    def edge_form(self) -> FloatArray:
        """The edges of given points, in the form in which kernels look up records."""
        form: FloatArray = edges.edge_form(self._float_edges)
        return form

    def places(self, x: AnyArray) -> IntArray:
        """Return the number of points <= x for each x, in 0, ..., size.

        x are float64, int64 or uint64 without NaN, and are compared exactly.
        """
        least = self.below.least(0, x.dtype.kind == "f")  # NumPy would round an int beside floats
        return np.where(x < least, 0, self.below.index(x) + 1)

    def least(self, t: int, floats: bool) -> int | float:
        """Return the smallest double or integer of index t > 0; by rule "below" also of 0."""
        check_rounding()
        if self.rule == "below":
            return _at_least(*self.value(t).as_integer_ratio(), floats)[0]
        (n, d), (m, e) = self._ratio(t - 1), self._ratio(t)  # Fraction takes 20 times as long
        edge, half_way = _at_least(n * e + m * d, 2 * d * e, floats)
        if t % 2 == 0 or not half_way:  # half-way counts at the point of even index
            return edge
        return math.nextafter(edge, math.inf) if floats else edge + 1

    def under(self, t: int, records: AnyArray) -> AnyArray:
        """Return which records have an index < t, for 0 < t < size."""
        edge = self.least(t, records.dtype.kind == "f")
        below: AnyArray = records < edge  # NumPy compares integers beyond 64 bits exactly
        return below


def _at_least(over: int, under: int, floats: bool) -> tuple[int | float, bool]:
    """Return the smallest double or integer >= over / under, and whether it is equal."""
    if not floats:
        edge = -(-over // under)
        return edge, edge * under == over
    rounded = over / under  # the quotient of integers is rounded once
    numerator, denominator = rounded.as_integer_ratio()
    excess = numerator * under - over * denominator
    return (rounded if excess >= 0 else math.nextafter(rounded, math.inf)), excess == 0


def make_grid(
    bounds: object,
    step: object = None,
    grid: object = None,
    rule: Rule = "nearest",
) -> Grid:
    """Return a grid from public parameters: a step that divides the bounds, or points, or neither.

    Floats are read as the decimals that they print, so that 0.1 divides 1. Points may be given
    without bounds: the first and the last point are then the bounds.

    Raises
    ------
    ParameterError, ParameterTypeError
        If they do not fit together.
    """
    points: Any = grid
    if is_a(points, Grid):  # made by `digits`, or from a mechanism that is built again
        points = points.parameter  # any other grid follows from bounds and step
    if bounds is None and points is None:
        raise ParameterTypeError(
            "bounds are missing: two public numbers (lower, upper), chosen without the data; "
            "if you know none, give grid=fastexp.digits(3)"
        )
    limits: Any = None if bounds is None else plain_bounds(bounds)
    if step is not None and points is not None:
        raise ParameterError("give step or grid, not both")
    if is_a(points, Grid):
        _check_limits(limits, *points.ends)
        of_digits: Grid = points if rule == "nearest" else points.below
        return of_digits
    if points is not None:
        return _of_points(limits, points, rule)
    width = None if step is None else _number("step", step)
    low, high = limits
    return _even(low, high, width, rule)


@lru_cache(maxsize=256, typed=True)  # public numbers recur; 1 and 1.0 give different grids
def _even(low: Any, high: Any, step: Any, rule: Rule) -> Grid:
    """Return an evenly spaced grid: the same object again, with its form for kernels."""
    check_rounding()  # the kept grid must be right for later calls
    a, b = decimal(low), decimal(high)
    ulp = Fraction(math.ulp(max(abs(float(low)), abs(float(high)))))
    if step is None:
        last = DEFAULT_STEPS
        while last > 1 and (b - a) / last <= ulp:
            last >>= 1  # closer points would be equal doubles
        whole, width = False, (b - a) / last
    else:
        width = decimal(step)
        if width <= 0:
            raise ParameterError(f"step must be > 0, got {step!r}")
        count = (b - a) / width
        if count.denominator != 1:
            raise ParameterError(
                f"step must divide the bounds: got step {step!r}, bounds {(low, high)!r}"
            )
        if count > MOST_STEPS:
            raise ParameterError(
                f"step must be larger, for at most 2**52 points, got step {step!r}"
            )
        whole, last = all(isinstance(x, int) for x in (low, high, step)), int(count)
        # Points an ulp apart may both round to the double between them.
        if not whole and (width < ulp or (width == ulp and a % ulp != 0)):
            raise ParameterError(
                f"step must be large enough for points to differ in float64, got {step!r}"
            )
    common = math.lcm(a.denominator, width.denominator)
    start, apart = int(a * common), int(width * common)
    if not whole and not start / common < (start + apart) / common:
        raise ParameterError(
            "bounds must be far enough apart for the points of their grid to differ"
        )
    return Grid(last + 1, whole, (start, apart, common), rule=rule)


def _of_points(limits: tuple[Any, Any] | None, grid: object, rule: Rule) -> Grid:
    points = validate.exact_array(grid)
    plain = points is not None and points.dtype.kind in "iuf" and points.itemsize <= 8
    if points is None or not plain or points.ndim != 1:
        raise ParameterTypeError("grid must be a one-dimensional array of 64-bit numbers")
    if points.size < 2 or not bool(np.isfinite(points).all() and (points[1:] > points[:-1]).all()):
        raise ParameterError("grid must hold at least two finite numbers in increasing order")
    first, last = points[0].item(), points[-1].item()
    _check_limits(limits, first, last)
    whole = points.dtype.kind in "iu"
    if whole and last not in INT64:
        raise ParameterError("grid must fit into 64 bits if it holds integers")
    plain_bounds((first, last))  # their difference must not be infinite
    exact = np.array(points, dtype=np.int64 if whole else np.float64)
    exact.flags.writeable = False
    return Grid(exact.size, whole, _even_unit(exact) or UNEVEN, rule, exact)


def _check_limits(limits: tuple[Any, Any] | None, first: float, last: float) -> None:
    if limits is not None and not limits[0] <= first <= last <= limits[1]:
        raise ParameterError("grid must lie within the bounds")


def _even_unit(points: AnyArray) -> tuple[int, int, int] | None:
    """Return the unit of points whose exact numbers are evenly spaced; otherwise None.

    With at most 15 digits, these are also the printed decimals, as which a step is read.
    """
    (first, under), (second, other) = (point.as_integer_ratio() for point in points[:2].tolist())
    d = max(under, other)  # powers of two
    a = first * (d // under)
    s = second * (d // other) - a
    most = max(abs(a), abs(a + (points.size - 1) * s))
    if most * 5 ** (d.bit_length() - 1) >= 10**15:
        return None
    even = a + s * np.arange(points.size)
    exact = even if d == 1 else even / d  # an exact double
    return (a, s, d) if bool((points == exact).all()) else None


def plain_bounds(bounds: Any) -> tuple[Any, Any]:
    """Return two finite public numbers, the lower first."""
    try:
        low, high = bounds
    except Exception:  # not two numbers, or any error of a foreign object
        raise ParameterTypeError(
            "bounds must be two public numbers (lower, upper), chosen without the data"
        ) from None
    low, high = _number("bounds", low), _number("bounds", high)
    if not low < high or not math.isfinite(float(high) - float(low)):
        raise ParameterError(f"bounds must be finite with lower < upper, got {bounds!r}")
    return low, high


def _number(name: str, value: Any) -> Any:
    """Return a finite number: an int within 64 bits, or a float, Decimal or Fraction."""
    if (type(value) is int and value in INT64) or (type(value) is float and value - value == 0):
        return value  # the common case, in a tenth of the time
    if is_a(value, np.generic):  # a float32 also stands for the decimal that it prints
        value = float(str(value)) if isinstance(value, np.floating) else value.item()
    number = validate.real(name, value)
    if not math.isfinite(number):
        raise ParameterError(f"{name} must be finite, got {value!r}")
    if isinstance(value, numbers.Integral):
        if int(value) not in INT64:
            raise ParameterError(f"{name} must fit into 64 bits if it is an integer")
        return int(value)
    return value if isinstance(value, (Decimal, Fraction)) else number


def decimal(value: Any) -> Fraction:
    """Return a public number as the exact decimal that it prints: 0.1 is one tenth."""
    return _printed(value) if isinstance(value, float) else Fraction(value)


@lru_cache(maxsize=256)  # public numbers recur: a bound, a step, a sensitivity
def _printed(value: float) -> Fraction:
    # Decimal parses exactly, too, in a third of the time of Fraction.
    return Fraction(*Decimal(float.__repr__(value)).as_integer_ratio())


def _floors(records: AnyArray) -> IntArray:
    """Return the largest int64 <= each record, clamped to int64."""
    if records.dtype.kind == "f":
        inside = np.clip(np.floor(records), -(2.0**63), 2.0**63 - 1024)
        return np.where(records >= 2.0**63, INT64[-1], inside.astype(np.int64))
    if records.dtype.kind == "u":
        return np.minimum(records, np.uint64(INT64[-1])).astype(np.int64)
    return records.astype(np.int64, copy=False)
