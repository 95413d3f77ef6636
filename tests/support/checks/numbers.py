"""Deterministic checks of private numbers: grids, cells, laws, promises, draws, ways of records.

Plain functions, so that `tests/mutants` can run them against broken copies of the
package, without the compiler (`python -m tests.support.checks.numbers`).
"""

from __future__ import annotations

import itertools
import math
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import fastexp as fx
from tests.doors.compiler import interpreted
from tests.doors.intake import Counted, Records, Sorted, Window
from tests.doors.kernels import DRAWS, SIGNED, places, ragged
from tests.doors.numbers import (
    Points,
    Runs,
    cells_of,
    rank,
    rank_cells,
    revenue,
    revenue_cells,
    row_cells,
)
from tests.doors.numbers import cells as _cells
from tests.doors.numbers import demand as _demand
from tests.doors.numbers import distance as _distance
from tests.doors.randomness import COIN, PLACE, ROUND, ROW, Sampling, seeds_of, stream_of, tagged
from tests.doors.reference import exact as exact_twin
from tests.doors.selection import Rows
from tests.doors.selection import draw as _draw
from tests.support.altered import changed
from tests.twins import numbers as twins
from tests.twins import selection

AR, SW = "add-remove", "replace"
HALF = Fraction(1, 2)
CONVENTIONS = ("weak", "lower", "upper", "strict")
EPSILONS = (0.1, 1.0, 4.0)
DIGITS = 300  # binary, of exact laws


# Statistics and their twins.


class Case(NamedTuple):
    """A statistic: its mechanism for epsilon and a grid, and every point's distance."""

    name: str
    make: Callable[..., Any]  # (epsilon, bounds, **grid) -> mechanism
    neighbors: str
    distances: Callable[[list[int], int], list[int | Fraction]]  # of indices, on a grid of size
    sensitivity: int = 1  # in integers of the form
    unit: Fraction = Fraction(1)  # one of them, in units of the distance
    widest: int = 2  # by how many integers one record moves two points apart, in few records

    def __repr__(self) -> str:
        return self.name


def on_ranks(distance: twins.Distance, width: int = 0) -> Callable[..., list[int | Fraction]]:
    """The distances of all points from L, E and U."""

    def found(indices: list[int], size: int) -> list[int | Fraction]:
        own = twins.distances(indices, size, distance)
        return twins.widened(own, width) if width else own

    return found


def mode_distances(indices: list[int], size: int) -> list[int | Fraction]:
    """The same of the mode."""
    counts = [indices.count(x) for x in range(size)]
    return [twins.mode_add_remove(counts, x) for x in range(size)]


def mode_widened(width: int) -> Callable[..., list[int | Fraction]]:
    return lambda indices, size: twins.widened(mode_distances(indices, size), width)


def median_case(neighbors: str, convention: str, width: int = 0) -> Case:
    twin = getattr(twins, f"{convention}_{neighbors.replace('-', '_')}")
    make = partial(fx.Median, neighbors=neighbors, convention=convention, widen=width)
    name = f"{convention} median, {neighbors}, widen {width}"
    return Case(name, make, neighbors, on_ranks(twin, width))


def quantile_case(q: Any, neighbors: str, convention: str, width: int = 0) -> Case:
    exact = _distance.as_quantile(q)
    twin = getattr(twins, f"quantile_{convention}_{neighbors.replace('-', '_')}")
    in_ranks = neighbors == AR and convention == "weak"
    part, whole = exact.numerator, exact.denominator
    unit, steps = (Fraction(1, whole), max(part, whole - part)) if in_ranks else (Fraction(1), 1)
    make = partial(fx.Quantile, q, neighbors=neighbors, convention=convention, widen=width)
    name = f"{convention} {exact}-quantile, {neighbors}, widen {width}"
    own = on_ranks(partial(twin, exact), width)
    return Case(name, make, neighbors, own, steps, unit, whole if in_ranks else 2)


def order_case(r: int, width: int = 0) -> Case:
    make, twin = partial(fx.OrderStatistic, r, widen=width), partial(twins.order_add_remove, r)
    return Case(f"{r}. largest, widen {width}", make, AR, on_ranks(twin, width))


MEDIANS = [median_case(n, c, w) for n in (AR, SW) for c in CONVENTIONS for w in (0, 1, 2)]
QUANTILES = [
    quantile_case(q, n, c)
    for q in (0.1, Fraction(1, 3), 0.75)
    for n in (AR, SW)
    for c in ("weak", "lower")
] + [quantile_case(0.75, AR, "weak", 1), quantile_case(0.1, AR, "lower", 2)]
ORDERS = [
    *(order_case(r) for r in (1, 2, 3)),
    order_case(2, 1),
    order_case(2, 2),
    Case("maximum", fx.Maximum, AR, on_ranks(twins.maximum_add_remove)),
]
MODES = [Case(f"mode, {w}", partial(fx.Mode, widen=w), AR, mode_widened(w)) for w in (0, 1)]
CASES = MEDIANS + QUANTILES + ORDERS + MODES


# Cells, and what they say.


def expanded(shape: Any, size: int) -> list[int]:
    """The distance of every point, of loose cells from `distance`, whose bounds must hold."""
    start, count, bits, kind, loose = shape.cells
    assert kind == SIGNED
    assert start[0] == 0
    assert (start[1:] == start[:-1] + count[:-1]).all()
    assert int(start[-1] + count[-1]) == size
    assert (count > 0).all()
    found: list[int] = np.repeat(-bits.view(np.int64), count).tolist()
    for cell in np.flatnonzero(loose) if loose is not None else ():
        bound = -int(bits[cell].astype(np.int64))
        for t in range(int(start[cell]), int(start[cell] + count[cell])):
            found[t] = shape.distance(t)
            assert found[t] >= bound
    return found


def shape_of(mechanism: Any, records: Any) -> Any:
    return mechanism._shape(Records(records).source())


def distances(mechanism: Any, records: Any) -> list[int]:
    """The integer distance of every grid point."""
    return expanded(shape_of(mechanism, records), mechanism.grid.size)


def cell_law(shape: Any, size: int, precision: int = DIGITS) -> list[Fraction]:
    """P(t) from the cells: a cell by count * exp(rate * utility), a point of it, its coin."""
    start, count, bits, _, loose = shape.cells
    rate, utilities = shape.weighting.rate, [Fraction(int(b)) for b in bits.view(np.int64)]
    chosen = selection.probabilities(rate, utilities, [Fraction(int(c)) for c in count], precision)
    weights = [Fraction(0)] * size
    for c, p in enumerate(chosen):
        for t in range(int(start[c]), int(start[c] + count[c])):
            weights[t] = p / int(count[c])
            if loose is not None and loose[c]:
                lo, hi = exact_twin.exp_bounds(shape.exponent(c, t), precision)
                weights[t] *= Fraction(lo + hi, 2 << precision)
    total = sum(weights)
    return [w / total for w in weights]


def cells_are_the_twin(case: Case, size: int, indices: list[int], **grid: Any) -> None:
    """At every grid point, of one data set, given as indices."""
    bounds, form = grid.get("bounds", (0, size - 1)), grid.get("form", {"step": 1})
    mechanism = case.make(1.0, bounds, **form)
    records = mechanism.grid.values(np.array(indices, np.int64))
    own = [d * case.unit for d in distances(mechanism, records)]
    assert own == case.distances(indices, size), (case, indices)


def laws_are_the_twin(size: int = 9) -> None:
    """Probabilities from cells, loose ones too, within 2**-200 of those of the twin."""
    rng = np.random.default_rng(3)
    for case in (*MEDIANS[::2], *QUANTILES[::2], *ORDERS, *MODES):
        mechanism = case.make(0.7, (0, size - 1), step=1)
        for n in (0, 1, 2, 7, 24):
            indices = np.sort(rng.integers(0, size, n)).tolist()
            true = twins.law(
                case.distances(indices, size),
                Fraction(0.7) / (2 * case.sensitivity * case.unit),
                DIGITS,
            )
            for shape in (shape_of(mechanism, indices), *small_windows(mechanism, indices)):
                own = cell_law(shape, size)
                error = max(abs(p - q) for p, q in zip(own, true, strict=True))
                assert error < Fraction(1, 1 << 200), (case, indices)


def with_reach(mechanism: Any, reach: int) -> rank.RankStatistic:
    """The statistic of a mechanism, with a window of only this many ranks on a side."""
    own = mechanism._statistic
    made = rank.RankStatistic(own.form, own.weighting.rate, own.grid, own.width, own.near)
    made.reach = reach
    return made


def small_windows(mechanism: Any, records: Any, reaches: Sequence[int] = (1, 3)) -> list[Any]:
    """Shapes from small windows: many points lie in loose cells."""
    if isinstance(mechanism, fx.Mode):
        return []
    return [with_reach(mechanism, reach).shape(Records(records).source()) for reach in reaches]


def loose_cells_are_bounds(sizes: Iterable[int] = (2, 7, 12), seed: int = 5) -> int:
    """Windows of a rank or a few: bounds hold, distances are the twin's; how many were loose."""
    rng, seen = np.random.default_rng(seed), 0
    for case in (*MEDIANS, *QUANTILES, *ORDERS):
        for size in sizes:
            for n in (1, 2, 5, 12, 31):
                spread = size if n % 2 else max(size // 3, 1)  # ties across the window's edge
                indices = np.sort(rng.integers(0, spread, n)).tolist()
                mechanism = case.make(1.0, (0, size - 1), step=1)
                true = case.distances(indices, size)
                for shape in small_windows(mechanism, indices, (1, 2, 4)):
                    own = [d * case.unit for d in expanded(shape, size)]
                    assert own == true, (case, indices, size)
                    seen += shape.cells.loose is not None
                    if shape.cells.loose is not None:
                        exponents_are_exact(shape)
    return seen


def windows_hold_what_is_near(reach: int = 6) -> None:
    """All ranks within reach of the gaps of least distance, also of more ranks than records."""
    far = (order_case(r) for r in (20, 45, 1000))
    for case in (*MEDIANS[::3], *QUANTILES, *ORDERS, *far):
        statistic = with_reach(case.make(1.0, (0, 9), step=1), reach)
        for n in (1, 2, 3, 10, 40, 41):
            form, low, high = statistic.ranks_that_matter(n)
            gaps = [int(_distance.distance(form, i, 0, n - i)) for i in range(n + 1)]
            best = [i for i, d in enumerate(gaps) if d == min(gaps)]
            assert 0 <= low <= max(best[0] - reach + 1, 0) <= n, (case, n)
            assert n > high >= min(best[-1] + reach - 2, n - 1), (case, n)


def exponents_are_exact(shape: Any) -> None:
    """Heights are floats of rate * (distance - bound), and coins those of their points."""
    start, count, bits, _, loose = shape.cells
    cells = np.flatnonzero(loose)
    index = start[cells] + count[cells] - 1
    heights = shape.heights(cells, index)
    for c, t, height in zip(cells.tolist(), index.tolist(), heights.tolist(), strict=True):
        exact = shape.weighting.rate * (shape.distance(t) + int(bits[c].astype(np.int64)))
        assert exact >= 0
        assert abs(Fraction(height) - exact) <= exact / 2**40
        lo, hi = exact_twin.exp_bounds(exact, 64)
        for lead, verdict in ((lo - 2, True), (hi + 1, False)):
            if 0 <= lead < 1 << 64:
                assert shape.accepts(c, t, lead, 64, lambda: 0) == verdict


# Promises.


class Powers:
    """exp(-rate * k) for k = 0, 1, ... as integers out of 2**DIGITS, rounded down."""

    def __init__(self, rate: Fraction) -> None:
        self._rate, self._kept = rate, {}  # type: Fraction, dict[int, int]

    def __getitem__(self, k: int) -> int:
        if k not in self._kept:
            self._kept[k] = exact_twin.exp_bounds(self._rate * k, DIGITS)[0]
        return self._kept[k]


def data_sets(size: int, most: int) -> dict[int, list[tuple[int, ...]]]:
    """All data sets on a grid of `size` points by their number of records, as sorted indices."""
    return {
        n: list(itertools.combinations_with_replacement(range(size), n)) for n in range(most + 1)
    }


def neighbours(neighbors: str, size: int, most: int) -> Iterator[tuple[tuple, tuple]]:
    """All pairs of data sets that are one step apart; those of add-remove up to `most` + 1."""
    if neighbors == AR:
        for n, sets in data_sets(size, most).items():
            del n
            for own in sets:
                yield from ((own, tuple(sorted((*own, x)))) for x in range(size))
        return
    for n, sets in data_sets(size, most).items():
        for own, place in itertools.product(sets, range(n)):
            rest = own[:place] + own[place + 1 :]
            yield from ((own, tuple(sorted((*rest, x)))) for x in range(size) if x != own[place])


def promise_holds(
    case: Case, size: int, most: int, form: dict[str, Any] | None = None
) -> tuple[float, int]:
    """Every data set has its twin's distances, every pair of neighbours keeps epsilon.

    Ranges of log-ratios are exact: rate times integers. Log-ratios themselves are compared in
    300 digits. Returns the largest share of epsilon that one of them reaches, and by how many
    integers two points move apart.
    """
    args = ((0, size - 1), {"step": 1}) if form is None else ((-5.0, 1e3), form)
    mechanism = case.make(1.0, args[0], **args[1])
    found = {}
    for sets in data_sets(size, most + (case.neighbors == AR)).values():
        for own in sets:
            records = mechanism.grid.values(np.array(own, np.int64))
            found[own] = tuple(distances(mechanism, records))
            assert [d * case.unit for d in found[own]] == case.distances(list(own), size), own
    pairs = {(found[a], found[b]) for a, b in neighbours(case.neighbors, size, most)}
    widest = max(np.ptp(np.subtract(two, one)) for one, two in pairs)
    assert widest <= 2 * case.sensitivity, (case, widest)
    worst = 0.0
    for epsilon in EPSILONS:
        rate = case.make(epsilon, args[0], **args[1])._statistic.weighting.rate
        # exactly: the range of log-ratios is at most rate * widest
        assert 2 * rate * case.sensitivity == Fraction(epsilon)
        worst = max(worst, worst_ratio(pairs, rate, epsilon) / epsilon)
    return worst, int(widest)


def worst_ratio(pairs: Iterable[tuple[Any, Any]], rate: Fraction, epsilon: float) -> float:
    """The largest log-ratio of an output's probabilities, either way; none above epsilon."""
    powers, one = Powers(rate), 1 << DIGITS
    least = exact_twin.exp_bounds(Fraction(epsilon), DIGITS)[0]
    sums: dict[Any, int] = {}
    most = 0.0
    for pair in pairs:
        z = [sums.setdefault(d, sum(map(powers.__getitem__, d))) for d in pair]
        moved = [b - a for a, b in zip(*pair, strict=True)]
        # p_1 / p_2 = exp(rate * moved) * z_2 / z_1, and the other way round
        for top, bottom, change in ((z[1], z[0], max(moved)), (z[0], z[1], -min(moved))):
            top *= one if change > 0 else powers[-change]
            bottom *= powers[change] if change > 0 else one
            assert top * least <= bottom * one
            most = max(most, top / bottom)
    return math.log(most)


def promises_hold(
    sizes: Iterable[int] = (2, 3, 4), most: int = 3, cases: Sequence[Case] = CASES
) -> dict[str, float]:
    """Of all cases; the worst log-ratio of each in units of epsilon."""
    worst = {}
    for case in cases:
        found = [promise_holds(case, size, most) for size in sizes]
        worst[case.name] = max(ratio for ratio, _ in found)
        if "widen" not in case.name or case.name.endswith("0"):
            assert max(width for _, width in found) >= case.widest, case
    return worst


IRREGULAR = [-4.5, -1.0, 0.0, 0.25, 17.0, 999.0]


def promises_hold_on_points(sizes: Iterable[int] = (2, 4), most: int = 3) -> None:
    """The same on grids whose points are given."""
    for case in (*MEDIANS[::3], *QUANTILES[:-2:4], *ORDERS[:3], MODES[0]):
        for size in sizes:
            promise_holds(case, size, most, {"grid": IRREGULAR[:size]})
    for case in (*MEDIANS[::6], QUANTILES[1], ORDERS[1], MODES[0]):
        wide = case._replace(distances=partial(widened_on_points, case, 1.25))
        for size in sizes:
            promise_holds(wide, size, most, {"grid": IRREGULAR[:size], "widen": 1.25})


def widened_on_points(case: Case, widen: float, indices: list[int], size: int) -> list[Any]:
    """The least distance among the points that lie within `widen`."""
    own = case.distances(indices, size)
    near = [[abs(x - y) <= widen for y in IRREGULAR[:size]] for x in IRREGULAR[:size]]
    return [min(itertools.compress(own, flags)) for flags in near]


def the_test_has_teeth(
    epsilon: float = 1.0, size: int = 1000, half: int = 14
) -> tuple[float, float]:
    """The worst log-ratio and range of medians, of epsilon; records at the ends and the middle."""
    top, middle = size - 1, size // 2
    ends = ([0], [middle], [top])
    ratio = widest = 0.0
    for case in (MEDIANS[0], MEDIANS[3], MEDIANS[9]):
        mechanism = case.make(epsilon, (0, top), step=1)
        rate = float(mechanism._statistic.weighting.rate)
        for low, high in itertools.combinations(ends, 2):
            for own in (low * half + high * half, low * (half + 1) + high * half, low + high):
                first = np.array(distances(mechanism, own))
                assert first.tolist() == case.distances(own, size)
                for x in (0, middle, top):
                    second = np.array(distances(mechanism, sorted([*own, x])))
                    z = [np.exp(-rate * (d - first.min())).sum() for d in (first, second)]
                    log_ratio = rate * (second - first) + math.log(z[1] / z[0])
                    ratio = max(ratio, float(np.abs(log_ratio).max()))
                    widest = max(widest, float(np.ptp(log_ratio)))
    assert max(ratio, widest) <= epsilon * (1 + 1e-12)
    return ratio / epsilon, widest / epsilon


# Cells by kernels.


def some_windows(rng: np.random.Generator, size: int) -> Iterator[tuple[list[int], Window]]:
    """Data sets as indices, and a window of them: all, or a part."""
    for n in (0, 1, 2, 3, 9, 30):
        indices = np.sort(rng.integers(0, size, n))
        points, records = np.unique(indices, return_counts=True)
        yield indices.tolist(), Window(points, records, 0, n)
        if points.size > 2:
            cut = slice(1, -1)
            yield indices.tolist(), Window(points[cut], records[cut], int(records[0]), n)


def cells_are_distances(sizes: Iterable[int] = (2, 5, 17), seed: int = 7) -> None:
    """`cells_fill` against `_distance.distance` of counted ranks, at every point."""
    rng = np.random.default_rng(seed)
    forms = [
        c.make(1.0, (0, 1), step=1)._statistic.form for c in (*MEDIANS[::3], *QUANTILES, *ORDERS)
    ]
    for size, form in itertools.product(sizes, forms):
        for indices, window in some_windows(rng, size):
            n = len(indices)
            start, count, key = rank_cells.cells_of(window, form(n), size, 0)
            assert start[0] == 0
            assert (start[1:] == start[:-1] + count[:-1]).all()
            assert int(start[-1] + count[-1]) == size
            own = np.repeat(key, count)
            for t in range(size):
                below, at = sum(x < t for x in indices), indices.count(t)
                true = int(_distance.distance(form(n), below, at, n - below - at))
                if own[t] & 1:
                    assert own[t] >> 1 <= true
                    assert t < window.points[0] or t > window.points[-1]
                else:
                    assert own[t] >> 1 == true


def widening_is_brute_force(count: np.ndarray, key: np.ndarray, width: int) -> None:
    """`widen_fill` against the least key of a sliding window."""
    start = np.cumsum(count) - count
    found = rank_cells.widened(start, count, key, width)
    own, flat = np.repeat(found[2], found[1]).tolist(), np.repeat(key, count).tolist()
    assert own == twins.widened(flat, width)
    assert found[0].tolist() == (np.cumsum(found[1]) - found[1]).tolist()
    if width:
        assert (np.diff(found[2]) != 0).all()


def widenings_are_brute_force(rounds: int = 60) -> None:
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(1, 12))
        count, key = rng.integers(1, 6, m), rng.integers(0, 9, m)
        widening_is_brute_force(count, key, int(rng.integers(0, 2 * count.sum())))


def cells_of_any_source_are_the_same(rounds: int = 12) -> None:
    """Cells of sorted, unsorted and counted records are those of their grid points."""
    grids = [{"step": 0.25}, {}, {"grid": [-9.0, -1.0, 0.5, 0.75, 3.0, 9.5]}, {"step": 5}]
    for seed, form in itertools.product(range(rounds), grids):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40))
        values = np.sort(rng.choice([rng.normal(size=n) * 6, np.round(rng.normal(size=n) * 9)]))
        case = (*MEDIANS[::3], *QUANTILES[:-2:3], *ORDERS[:3])[seed % 14]
        mechanism = case.make(1.0, (-10, 10), **form)
        points, records = np.unique(mechanism.grid.index(values), return_counts=True)
        law = Counted(points, records, mechanism.grid)
        ways = [values, values[::-1].copy(), (values, np.ones(n, int))]
        ways += [values.astype(int)] * bool((values == np.round(values)).all())
        for statistic in (mechanism._statistic, *(with_reach(mechanism, r) for r in (1, 3, 8))):
            wanted = told_of(statistic.shape(law))
            for data in ways:
                shape = statistic.shape(Records(data).source())
                assert told_of(shape) == wanted, (case, form)


def rows_have_the_cells_that_they_have_alone(rounds: int = 40) -> None:
    """Cells of many sorted rows at once are those of each row's own window."""
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        n, step = int(rng.integers(2, 60)), [None, 0.5, 1e-3, 0.0025][seed % 4]
        rows = np.sort(rng.normal(size=(4, n)) * 5, axis=1)
        rows[1] = rng.choice(rows[1], n)
        rows[2, n // 2 :] = rows[2, n // 2]
        rows[3] = np.arange(n) * 2 * (step or 1.0) - 3
        rows[3, : n // 3] += step or 1.0
        rows = np.sort(np.clip(rows, -9, 9), axis=1)
        case = (*MEDIANS[::3], *QUANTILES[:-2:3], *ORDERS[:3])[seed % 14]
        mechanism = case.make(1.0, (-10, 10), step=step)
        for reach in (1, 3, 8):
            statistic = with_reach(mechanism, reach)
            ranks = statistic.ranks_that_matter(n)
            cells = row_cells(mechanism.grid, ranks, rows)
            for row, first, last in zip(rows, cells.ends[:-1], cells.ends[1:], strict=True):
                window = Sorted(row).window(mechanism.grid, ranks.low, ranks.high)
                alone = cells_of(window, ranks.form, mechanism.grid.size, 0)
                several = cells.parts.reshape(3, -1)[:, first:last]
                assert several.tolist() == [part.tolist() for part in alone], (case, step)


def told_of(shape: Any) -> tuple[Any, ...]:
    """All that draws see of a shape."""
    start, count, bits, kind, loose = shape.cells
    own = shape.weighting
    own = own.measured(count) if own.base is None else own
    flags = np.zeros(start.size, bool) if loose is None else loose
    arrays = (start, count, bits, flags, own.base, own.log2_base)
    assert (own.base == count).all()
    assert np.abs(own.log2_base - np.log2(count)).max() < 1e-12
    assert [x.dtype.str for x in arrays] == ["<i8", "<i8", "<u8", "|b1", "<f8", "<f8"]
    return (*(x.tobytes() for x in arrays), kind, own.rate, own.rate_log2, shape.total)


# Places and coins.

SOME_COUNTS = (1, 2, 3, 5, 7, 10, 2**32, 2**33 + 1, 2**40 + 1, 3 * 2**50, 2**52 - 1, 2**52)


def the_twin_of_places_is_uniform(bits: int = 7) -> None:
    """Every bound and every word of few bits."""
    for bound in range(1, 1 << bits):
        told = [exact_twin.below(bound, word, bits) for word in range(1 << bits)]
        kept = [x for x in told if x is not None]
        assert [kept.count(v) for v in range(bound)] == [(1 << bits) // bound] * bound


def place(word: int, count: int) -> int | None:
    """A place from a word, None if the word is refused; doubt must come before refusal."""
    inside, perhaps = places.place(np.uint64(word), np.int64(count))
    if places.refused(np.uint64(word), np.int64(count)):
        assert perhaps
        return None
    return int(inside)


def places_are_the_twin() -> None:
    """At the edges of every value's words, where a slip of one shows."""
    rng = np.random.default_rng(2)
    for n in SOME_COUNTS:
        values = {0, 1, n // 2, n - 1, *rng.integers(0, n, 20).tolist()}
        starts = [-(-(v << 64) // n) for v in values if v < n]
        words = {s + d for s in starts for d in (-2, -1, 0, 1, 2)}
        words |= {int(w) for w in rng.integers(0, 2**64, 30, np.uint64)} | {2**64 - 1}
        for word in sorted(w for w in words if 0 <= w < 1 << 64):
            assert place(word, n) == exact_twin.below(n, word, 64), (n, word)


def filled_places_are_the_twin(size: int = 9000) -> None:
    """`place_fill` over several substreams; of huge counts every second word is refused."""
    start = np.array([5, -7, 0, 2**60])
    count = np.array([1, 2**40 + 1, 2**62 + 1, 3 * 2**61])
    cells = np.random.default_rng(1).integers(0, 4, size)
    stream, out = np.array([3, 4], np.uint64), np.empty(size, np.int64)
    refused = places.place_fill(start, count, cells, stream, 2, out, np.empty(DRAWS, np.uint64))
    wanted = []
    for j, c in enumerate(cells.tolist()):
        if j % DRAWS == 0:
            words = exact_twin.substream((3, 4), 2 + j // DRAWS)
        at = exact_twin.below(int(count[c]), next(words), 64)
        wanted.append(places.REFUSED if at is None else int(start[c]) + at)
    assert out.tolist() == wanted
    assert refused == wanted.count(places.REFUSED) > size // 10


def coin_words(height: float) -> list[int]:
    """Words around 2**64 * exp(-height), near and not so near, and at the ends."""
    lo, _ = exact_twin.exp_bounds(Fraction(height), 64)
    steps = [0, *(s << b for b in range(0, 64, 3) for s in (-1, 1))]
    return sorted({min(max(lo + s, 0), 2**64 - 1) for s in steps} | {0, 2**64 - 1})


def coins_are_never_wrong(heights: Iterable[float], exp: Any = None) -> float:
    """What `coin_fill` decides is right for heights off by as much as is allowed.

    Returns the largest chance that it decides nothing.
    """
    worst = 0.0
    for height in heights:
        words = coin_words(height)
        told = np.empty(len(words), np.int64)
        unsure = places.coin_fill(np.full(len(words), height), np.array(words, np.uint64), told)
        assert unsure == (told == places.UNSURE).sum()
        off = max(Fraction(height) / 2**40, Fraction(1, 2**45))
        low = exp(Fraction(height) + off) if exp else _exp(Fraction(height) + off)[0]
        high = (
            exp(max(Fraction(height) - off, Fraction(0)))
            if exp
            else _exp(max(Fraction(height) - off, Fraction(0)))[1]
        )
        for word, verdict in zip(words, told.tolist(), strict=True):
            if verdict == places.ACCEPT:
                assert Fraction(word + 1, 1 << 64) <= low
            elif verdict == places.REJECT:
                assert Fraction(word, 1 << 64) >= high
        open_ = [w for w, v in zip(words, told.tolist(), strict=True) if v == places.UNSURE]
        if open_:
            worst = max(worst, (max(open_) - min(open_)) / 2**64)
        decided = [v for v in told.tolist() if v != places.UNSURE]
        assert decided == sorted(decided, reverse=True)
    return worst


def _exp(exponent: Fraction) -> tuple[Fraction, Fraction]:
    lo, hi = exact_twin.exp_bounds(exponent, 200)
    return Fraction(lo, 1 << 200), Fraction(hi, 1 << 200)


HEIGHTS = (0.0, 1e-300, 1e-15, 1e-9, 1e-3, 0.5, math.log(2), 1.0, 3.7, 20.0, 44.0, 100.0)
HEIGHTS += (599.0, 601.0, 1e6, 1e300)


def exact_coins_draw_on() -> None:
    """`coin` reads words until it knows, and decides as a number of 192 digits does."""
    for exponent in (Fraction(1, 3), Fraction(0), Fraction(5), Fraction(1, 10**9), Fraction(50)):
        lo, _ = exact_twin.exp_bounds(exponent, 192)
        for shift in (-3, -1, 1, 3):
            value = min(max(lo + shift, 0), (1 << 192) - 1)
            more = iter([value >> 64 & exact_twin.MASK_64, value & exact_twin.MASK_64, 0, 0])
            found = _cells.coin(exponent, value >> 128, 64, more.__next__)
            assert found == (shift < 0 or exponent == 0), (exponent, shift)


# Draws, word for word.


def draws_are_the_twin(shape: Any, size: int, seed: int, method: str | None = None) -> int:
    """Points and coins of every round from the words that `Simulation` names; how many rounds."""
    found = _cells.simulate(shape, Sampling(size, seed, None, 1, method))
    start, count, bits, kind, loose = shape.cells
    rows = Rows(bits, kind, shape.weighting.measured(count))
    seeds = seeds_of(seed, np.zeros(1, np.uint64))
    pending, out, number = np.arange(size), [0] * size, 0
    while pending.size:
        own = [tagged(seeds, tag | number << ROUND) for tag in (ROW, PLACE, COIN)]
        cell = _draw.drawn(rows, own[0], pending.size, 1, method or "envelope").tolist()
        streams = [tuple(stream_of(s, 0).tolist()) for s in own[1:]]
        spares = [{}, {}]  # type: list[dict[int, Iterator[int]]]
        first = [_substream_words(s, pending.size) for s in streams]

        def spare(which: int, j: int, streams: Any = streams, spares: Any = spares) -> Any:
            b = j // DRAWS
            if b not in spares[which]:
                spares[which][b] = exact_twin.substream(streams[which], b, DRAWS)
            return spares[which][b].__next__

        again = []
        for j, c in enumerate(cell):
            at = exact_twin.below(int(count[c]), first[0][j], 64)
            if at is None:
                at = exact_twin.draw_below(int(count[c]), spare(0, j))
            t = int(start[c]) + at
            passes = loose is None or not loose[c]
            passes = passes or shape.accepts(c, t, first[1][j], 64, spare(1, j))
            if passes:
                out[int(pending[j])] = t
            else:
                again.append(int(pending[j]))
        pending, number = np.array(again, np.int64), number + 1
    assert found.tolist() == out
    return number


def _substream_words(stream: tuple[int, int], size: int) -> list[int]:
    """Word j % DRAWS of substream j // DRAWS."""
    parts = ((b, min(DRAWS, size - b * DRAWS)) for b in range(-(-size // DRAWS)))
    return [w for b, n in parts for w in itertools.islice(exact_twin.substream(stream, b), n)]


def simulations_are_the_twin(size: int = 60) -> None:
    """Windows of a rank or two, with refused coins, ties and wide cells; grids of any size."""
    rng, rounds = np.random.default_rng(1), []
    for top, n, epsilon in ((11, 30, 0.2), (2**40, 12, 0.5), (2**52 - 3, 5, 0.01), (3, 0, 1.0)):
        records = np.sort(rng.integers(0, top + 1, n))
        for make in (fx.Median, partial(fx.Quantile, 0.1), partial(fx.OrderStatistic, 2), fx.Mode):
            mechanism = make(epsilon, (0, top), step=1, widen=1)
            for shape in (shape_of(mechanism, records), *small_windows(mechanism, records, (1, 2))):
                rounds.append(draws_are_the_twin(shape, size, 5))
                one = _cells.simulate(shape, Sampling(None, 5, [9], 1, None))
                assert one == _cells.simulate(shape, Sampling(1, 5, [9], 1, None))[0]
    assert max(rounds) > 3


def open_places_and_coins_are_the_twin() -> None:
    """Words that are refused, all of them; and coins whose bounds are far apart."""
    shape = shape_of(fx.Median(1.0, (0, 10), step=1), np.array([5]))
    start, count = (column.tolist() for column in shape.cells[:2])
    more = exact_twin.substream((3, 4), 0, DRAWS).__next__
    simulation = _cells.Simulation(shape, seeds_of(1, np.zeros(1, np.uint64)), 1, "envelope")
    with changed((places, "fill_substream", lambda *arguments: arguments[3].fill(0))):
        found = simulation._points(np.arange(3), np.array([3, 4], np.uint64)).tolist()
    assert count == [5, 1, 5]
    assert found == [exact_twin.draw_below(5, more), 5, start[2] + exact_twin.draw_below(5, more)]
    (loose,) = small_windows(fx.Median(0.2, (0, 11), step=1), np.arange(12), (1,))
    with changed((places, "SHARE", 0.2)):
        assert draws_are_the_twin(loose, 60, 5) > 0


def rows_with_open_draws_are_drawn_alone() -> None:
    """Where a draw is of the slow cell or of a loose one, or words may have to be refused."""
    starts, counts, keys = [0, 4, 9, 0], [4, 5, 1, 3], [0, 1, 2, 0]  # of two rows, 3 and 1
    cells, ends = np.array(starts + counts + keys), np.array([0, 3, 4])
    seeds, work = np.array([1, 2, PLACE, 0, 1], np.uint64), np.empty(2 + DRAWS, np.int64)
    again, zeros = np.empty(2, np.int64), lambda *arguments: arguments[3].fill(0)
    for drawn, wanted in ((1, [1, 0]), (2, [0, 0]), (3, [1, 0])):
        out = np.array([0, drawn, 0, 0])
        assert ragged.ragged_places(cells, ends, seeds, out, again, work) == sum(wanted)
        assert again.tolist() == wanted
    with changed((ragged, "fill_substream", zeros)):
        assert ragged.ragged_places(cells, ends, seeds, np.zeros(4, np.int64), again, work) == 2


def gumbels_count_points() -> None:
    """The noisy maximum chooses cells by their number of points, too."""
    mechanism = fx.Median(1e-6, (0, 2**40), step=1)
    assert 5 not in mechanism.sample([5], 300, rng=1, method="gumbel")
    assert 5 not in mechanism.sample(([5], [1]), 300, rng=1, method="gumbel")


def releases_read_words(seeds: int = 60) -> None:
    """A release with given words: cell, then place, then coin; a refused one starts again."""
    mechanism = fx.Median(0.3, (0, 40), step=1)
    records = [1, 2, 3, 8, 9, 9, 20, 25, 26, 38, 39]
    (shape,) = small_windows(mechanism, records, (1,))
    start, count, _, _, loose = shape.cells
    draw, most = _draw.release, 0
    for seed in range(seeds):
        words = [*itertools.islice(exact_twin.substream((seed, 77), 0), 400)]
        read, drawn = iter(words), []

        def given(size: int, read: Iterator[int] = read) -> bytes:
            return b"".join(next(read).to_bytes(8, "little") for _ in range(size // 8))

        def noted(*args: Any, drawn: list = drawn, read: Any = read) -> int:
            drawn.append((draw(*args), 400 - operator.length_hint(read)))
            return drawn[-1][0]

        with changed((os, "urandom", given), (_draw, "release", noted)):
            found = _cells.release(shape)
        most = max(most, len(drawn))
        for number, (c, at) in enumerate(drawn):
            own = iter(words[at:])
            t = int(start[c])
            if count[c] > 1:
                t += exact_twin.draw_below(int(count[c]), own.__next__)
            passes = not loose[c] or shape.accepts(c, t, next(own), 64, own.__next__)
            assert passes == (number == len(drawn) - 1)
        assert t == found
        assert operator.length_hint(own) == operator.length_hint(read)
    assert most > 1


def draws_by_words_toss_coins(seeds: int = 40) -> None:
    """A point of a loose cell is drawn where its exact coin passes, and only there."""
    (shape,) = small_windows(fx.Median(0.3, (0, 40), step=1), [1, 2, 8, 9, 9, 20, 25, 38], (1,))
    start, loose, accepts, refused = shape.cells.start, shape.cells.loose, type(shape).accepts, 0
    for seed in range(seeds):
        tossed = []

        def noted(*given: Any, tossed: list = tossed) -> bool:
            tossed.append((given[2], accepts(*given)))
            return tossed[-1][1]

        with changed((type(shape), "accepts", noted)):
            index = _cells.WordDraw(shape)(exact_twin.substream((seed, 78), 0).__next__)
        if loose[np.searchsorted(start, index, "right") - 1]:
            assert tossed[-1:] == [(index, True)]
            tossed.pop()
        assert not any(passed for _, passed in tossed)
        refused += len(tossed)
    assert refused > 0


# Prices of many bids.

SHALLOW = (
    (revenue, "BUCKETS", 5),
    (revenue_cells, "MANY", 1),
    (revenue_cells, "HOPELESS", 0.25),
)


def price_shapes(mechanism: Any, bids: Any) -> Iterator[Any]:
    """The cells of bids, and of their runs, which are the same."""
    prices, source = mechanism._prices, Records(bids).source()
    every = _demand(source, mechanism.grid)
    weighting = prices.float_weighting
    sections = (
        revenue_cells.section_of(prices, source, weighting),
        revenue_cells.section_of_runs(prices, every, weighting),
    )
    kind = Runs if mechanism.grid.even else Points
    shapes = [kind(prices, section, weighting) for section in sections]
    both = zip(*(shape.cells for shape in shapes), strict=True)
    assert all(np.array_equal(one, other) for one, other in both)
    assert sections[0].runs.start == sections[1].runs.start
    yield from shapes


def sections_of_prices_are_bounded() -> int:
    """Cells partition the grid; every price's revenue is at most its cell's, exactly told.

    Returns how many prices lie outside a section.
    """
    outside = 0
    uneven = [1, 1.1, 1.25, 2, 3, 3.5, 4, 6.5, 7, 8, 11, 11.5]
    for given in ({"grid": uneven}, {"grid": [x / 3 for x in uneven]}, {"step": 0.25}):
        mechanism = fx.Price(3.0, (0, 12), **given)
        size = mechanism.grid.size
        for bids in ([7.0] * 9, [1.2, 3, 3.2, 8, 8, 8.5, 99], np.linspace(-1, 13, 40), [2] * 40):
            index = mechanism.grid.index(np.array(bids, float))
            paying = [int((index >= t).sum()) for t in range(size)]
            exact = [mechanism._prices.revenue(t, paying[t]) for t in range(size)]
            with changed(*SHALLOW):
                for shape in price_shapes(mechanism, bids):
                    start, count, bits, _, loose = shape.cells
                    assert start[0] == 0
                    assert np.array_equal(start + count, [*start[1:], size])
                    runs = shape.section.runs
                    outside += size - (int(runs.last[-1]) + 1 - runs.start)
                    for c in range(start.size):
                        for t in range(int(start[c]), int(start[c] + count[c])):
                            gap = Fraction(float(bits[c].view(np.float64))) - exact[t]
                            assert gap >= 0 if loose[c] else gap == 0
                            assert shape.exponent(c, t) == shape.weighting.rate * gap
    return outside


def run() -> None:
    """Everything, small enough for the interpreter; what is quick comes first."""
    widenings_are_brute_force()
    the_twin_of_places_is_uniform(5)
    places_are_the_twin()
    coins_are_never_wrong(HEIGHTS)
    exact_coins_draw_on()
    gumbels_count_points()
    cells_are_distances((5,))
    filled_places_are_the_twin(5000)
    windows_hold_what_is_near()
    rows_have_the_cells_that_they_have_alone()
    releases_read_words()
    draws_by_words_toss_coins()
    promises_hold_on_points((3,), 2)
    assert the_test_has_teeth() > (0.99, 0.999)
    cells_of_any_source_are_the_same(5)
    laws_are_the_twin(7)
    assert loose_cells_are_bounds((7,)) > 100
    promises_hold((2, 4), 2)
    simulations_are_the_twin(20)
    if interpreted():
        open_places_and_coins_are_the_twin()
        rows_with_open_draws_are_drawn_alone()
    assert sections_of_prices_are_bounded() > 200


if __name__ == "__main__":
    run()
