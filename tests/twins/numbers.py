"""The obvious, exact and slow twins of private numbers, in Fractions and Python integers.

Imports no kernel and no array library. A point has L records below it, E at it and U above
it. Functions are named after convention and relation; where a formula has a case for E = 0,
it is written out, as in the literature, not simplified.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, floor

from tests.twins.selection import probabilities

Distance = Callable[[int, int, int], int | Fraction]  # of L, E, U


def nearest_index(record: int | Fraction, points: Sequence[int | Fraction]) -> int:
    """The number of the point nearest to a record; of two that are as near, the even one."""
    return min(range(len(points)), key=lambda t: (abs(record - points[t]), t % 2))


def index_below(record: int | Fraction, points: Sequence[int | Fraction]) -> int:
    """The number of the largest point that is not above a record; 0 below all of them."""
    return max(sum(point <= record for point in points) - 1, 0)


def ranks(records: Sequence[int | Fraction], point: int | Fraction) -> tuple[int, int, int]:
    """How many records are below, at and above a point."""
    below, at = sum(x < point for x in records), sum(x == point for x in records)
    return below, at, len(records) - below - at


# The median: steps until it is the point.


def lower_add_remove(low: int, at: int, up: int) -> int:
    """To the record of rank ceil(n/2)."""
    return max(0, up - low - at, low + 1 - up - at)


def upper_add_remove(low: int, at: int, up: int) -> int:
    """To the record of rank floor(n/2) + 1."""
    return max(0, low - up - at, up + 1 - low - at)


def strict_add_remove(low: int, at: int, up: int) -> int:
    """To lower and upper median being the point."""
    return max(0, abs(low - up) - at + 1)


def weak_add_remove(low: int, at: int, up: int) -> int:
    """To any point with at most half of the records on either side; no records have none."""
    return max(0, abs(low - up) - at) if low + at + up else 1


def lower_replace(low: int, at: int, up: int) -> int:
    """As `lower_add_remove`, with n fixed."""
    return order_replace(-(-(low + at + up) // 2), low, at, up)


def upper_replace(low: int, at: int, up: int) -> int:
    """As `upper_add_remove`, with n fixed."""
    return order_replace((low + at + up) // 2 + 1, low, at, up)


def strict_replace(low: int, at: int, up: int) -> int:
    """As `strict_add_remove`, with n fixed."""
    n = low + at + up
    if n % 2:
        return lower_replace(low, at, up)
    return max(0, low - n // 2 + 1) + max(0, up - n // 2 + 1)


def weak_replace(low: int, at: int, up: int) -> int:
    """As `weak_add_remove`, with n fixed."""
    half = (low + at + up) // 2
    return max(0, low - half, up - half)


def order_replace(rank: int, low: int, at: int, up: int) -> int:
    """To the record of this rank, counted from the smallest, with n fixed."""
    return max(0, low - rank + 1, up - (low + at + up) + rank)


# Quantiles.


def quantile_weak_add_remove(q: Fraction, low: int, at: int, up: int) -> Fraction:
    """The rank distance, of sensitivity max(q, 1 - q): no number of steps."""
    n = low + at + up
    return max(Fraction(0), low - q * n, up - (1 - q) * n)


def quantile_weak_replace(q: Fraction, low: int, at: int, up: int) -> int:
    """To a point with at most q*n records below and (1-q)*n above it, with n fixed."""
    n = low + at + up
    return max(0, low - floor(q * n), up - floor((1 - q) * n))


def quantile_lower_replace(q: Fraction, low: int, at: int, up: int) -> int:
    """To the record of rank ceil(q*n), with n fixed."""
    return order_replace(max(1, ceil(q * (low + at + up))), low, at, up)


def quantile_lower_add_remove(q: Fraction, low: int, at: int, up: int) -> int:
    """To the record of rank max(1, ceil(q*n)): from too many below, or from too many above."""
    return max(0, _from_below(q, low, at, up), _from_above(q, low, at, up))


def _from_below(q: Fraction, low: int, at: int, up: int) -> int:
    surplus = (1 - q) * low - q * (at + up)  # must become negative
    if surplus < 0:
        return 0
    if q >= Fraction(1, 2):  # a copy of the point lowers it most
        return floor(surplus / q) + 1
    if at:  # removing one from below does
        return floor(surplus / (1 - q)) + 1
    return 1 if surplus < q else 2 + floor((surplus - q) / (1 - q))


def _from_above(q: Fraction, low: int, at: int, up: int) -> int:
    surplus = q * up - (1 - q) * (low + at)  # must become 0 or less
    if surplus <= 0:
        return 0
    if q <= Fraction(1, 2):
        return ceil(surplus / (1 - q))
    if at:
        return ceil(surplus / q)
    return 1 + ceil(max(Fraction(0), surplus - (1 - q)) / q)


# Other statistics, under add-remove.


def order_add_remove(r: int, low: int, at: int, up: int) -> int:
    """To the r-th largest record."""
    del low
    return max(0, r - up - at) if up < r else up - r + 1 + (at == 0)


def maximum_add_remove(low: int, at: int, up: int) -> int:
    """To the largest record."""
    del low
    return up + (at == 0)


def mode_add_remove(counts: Sequence[int], x: int) -> int:
    """To x being more frequent than every other; one count a point of the range."""
    return max(0, max(c for y, c in enumerate(counts) if y != x) - counts[x] + 1)


# Laws on a small grid.


def distances(indices: Sequence[int], size: int, distance: Distance) -> list[int | Fraction]:
    """The distance of every point of a grid, of records given as grid indices."""
    return [distance(*ranks(indices, point)) for point in range(size)]


def widened(distances: Sequence[int | Fraction], w: int) -> list[int | Fraction]:
    """The least distance among the points at most w away."""
    return [min(distances[max(0, i - w) : i + w + 1]) for i in range(len(distances))]


def law(losses: Sequence[int | Fraction], rate: Fraction, precision: int = 200) -> list[Fraction]:
    """Probabilities proportional to exp(-rate * loss), within 1 +- 2**(8 - precision) or so."""
    ones = [Fraction(1)] * len(losses)
    return probabilities(rate, [-Fraction(loss) for loss in losses], ones, precision)


def grid_law(
    indices: Sequence[int], size: int, distance: Distance, rate: Fraction, precision: int = 200
) -> list[Fraction]:
    """The law over a grid of `size` points, of records given as grid indices.

    `distance` takes L, E and U; `functools.partial` binds a quantile or a rank before them.
    """
    return law(distances(indices, size, distance), rate, precision)


def revenue(bids: Sequence[Fraction], prices: Sequence[Fraction]) -> list[Fraction]:
    """The utility of every price: what those pay who bid as much or more."""
    return [price * sum(bid >= price for bid in bids) for price in prices]


def laplace_law(
    truth: Fraction, points: Sequence[Fraction], rate: Fraction, precision: int = 200
) -> list[Fraction]:
    """Probabilities proportional to exp(-rate * |truth - point|) on finitely many points."""
    return law([abs(truth - point) for point in points], rate, precision)
