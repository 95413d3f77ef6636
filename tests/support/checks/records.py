"""Deterministic checks of records and grids: every form of the same records, every point.

Plain functions, so that `tests/mutants` can run them against broken copies of the
package, without the compiler (`python -m tests.support.checks.records`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import fastexp as fx
from tests.doors.grouped import placed
from tests.doors.intake import Counted, Records, Window, record_sources, unsorted
from tests.doors.intake import records as _records
from tests.doors.kernels import wide_point
from tests.doors.parameters import Grid, make_grid
from tests.support.altered import changed
from tests.twins.numbers import index_below, nearest_index

# Grids.

GRIDS: list[tuple[Any, dict[str, Any]]] = [
    ((0, 1), {"step": 1}),
    ((0, 120), {"step": 1}),
    ((-7, 14), {"step": 3}),
    ((0, 1), {"step": 0.1}),
    ((-0.3, 0.6), {"step": 0.1}),
    ((0.1, 0.7), {"step": Fraction(1, 10)}),
    ((-1e9, 1e9), {"step": 0.25}),
    ((1e15, 1e15 + 10), {"step": 0.25}),
    ((0.1, 2e14), {"step": 0.1}),
    ((0, 100), {}),
    ((-1e300, 1e300), {}),
    ((1.0, 1.0 + 2.0**-40), {}),
    ((5e-324, 1e-300), {}),
    ((-1e30, 1e30), {}),
    ((2**53, 2**53 + 50), {"step": 5}),
    (
        (-(2**63), 2**63 - 1),
        {"step": 2**62 - 1} if (2**64 - 1) % (2**62 - 1) == 0 else {"step": 2**64 // 5},
    ),
    ((0, 1), {"step": Fraction(1, 3)}),
    ((0, 10), {"step": 5}),
    ((0, 5001), {}),
    ((-4, 4.123457), {}),
    ((-1.7, 3.14159265), {}),
    ((2.0**54, 2.0**54 + 2**20), {"step": 4.0}),
    ((0, 1), {"step": 1e-13}),
    ((0, 1e-310), {}),
    ((-100, 1000), {"grid": [-99.5, 0.0, 1e-300, 0.1, 7, 999]}),
    ((-1, 1), {"grid": [-5e-322, -63 * 5e-324, -5e-324, 0.0, 63 * 5e-324]}),
    ((0, 100), {"grid": [0, 25, 50, 75, 100]}),
    ((-1e308, 1), {"grid": [-1e308, -9e307, -5e-324, 0.0, 5e-324, 1e-323, 2e-323, 1e-310]}),
    (None, {"grid": fx.digits(3)}),
    (None, {"grid": fx.digits(1, low=1, high=1000, negative=False)}),
    (None, {"grid": fx.digits(2, low=1, high=100, zero=False)}),
    (None, {"grid": fx.digits(1, low=1, high=10, negative=False, zero=False)}),
    (None, {"grid": fx.digits(1, low=1e23, high=1e26)}),
    (None, {"grid": fx.digits(13)}),
    (None, {"grid": fx.digits(15, low=1e15, high=1e17)}),
    ((0, 2.0**70), {"grid": [0.0, 2.0**53, 2.0**62, 2.0**63 - 1024, 2.0**63, 2.0**69]}),
    (
        (-(2**63), 2**63 - 1),
        {"grid": [-(2**63), -(2**62), 5, 2**53 + 1, 2**53 + 2, 2**62 + 1, 2**63 - 1]},
    ),
    ((-100, 1000), {"grid": [-100, 0, 3, 1000]}),
    ((0.0, 2.0**64), {"step": 2.0**60}),
    ((-(2.0**64), 2.0**64), {"step": 2.0**62}),
]


RULES = ("nearest", "below")


def point(grid: Grid, t: int) -> Fraction:
    """Point t, as it is released: the double nearest to the exact one."""
    if not grid.even or grid.whole:
        return grid.exact(t)
    return Fraction(float(grid.exact(t)))


def index_by_search(grid: Grid, record: Fraction | float) -> int:
    """The point that a record counts at: the twin, of the few points that bisection leaves."""
    if record in (-math.inf, math.inf):
        return 0 if record < 0 else grid.size - 1
    nearest, exact = grid.rule == "nearest", Fraction(record)
    number = grid.exact if nearest else lambda t: point(grid, t)
    low, high = 0, grid.size - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if number(middle) <= exact else (low, middle - 1)
    first = max(low - 1, 0) // 2 * 2  # even, so that even points stay even
    some = [number(t) for t in range(first, min(first + 5, grid.size))]
    return first + (nearest_index if nearest else index_below)(exact, some)


def middles(grid: Grid, seed: int) -> list[Fraction]:
    """Numbers exactly half-way between two points, at even and at odd ones."""
    rng = np.random.default_rng(seed)
    wanted = {1, 2, 3, grid.size - 2, grid.size - 1, *rng.integers(1, grid.size, 8).tolist()}
    some = [t for t in wanted if 0 < t < grid.size]
    return [(grid.exact(t - 1) + grid.exact(t)) / 2 for t in some]


def candidates(grid: Grid, seed: int) -> list[float]:
    """Records on points, half-way, beside these, between them and outside."""
    rng = np.random.default_rng(seed)
    some = {0, 1, grid.size - 2, grid.size - 1, *rng.integers(0, grid.size, 12).tolist()}
    on = [float(grid.value(t)) for t in some] + [float(x) for x in middles(grid, seed)]
    near = [math.nextafter(x, side) for x in on for side in (-math.inf, math.inf)]
    low, high = float(grid.value(0)), float(grid.value(grid.size - 1))
    outside = [-math.inf, math.inf, -1.7e308, 1.7e308, 0.0, -0.0, 5e-324, -5e-324]
    inside = (low + rng.random(20) * (high - low)).tolist() if math.isfinite(high - low) else []
    return [*on, *near, *outside, *inside]


def whole_candidates(grid: Grid, seed: int) -> list[int]:
    """The same, as 64-bit integers."""
    rounded = [x for x in candidates(grid, seed) if abs(x) < 2.0**63]
    ints = {int(x) + d for x in rounded for d in (-1, 0, 1)} | {2**63 - 1, -(2**63), 2**53 + 1}
    ints |= {math.floor(x) + d for x in middles(grid, seed) for d in (-1, 0, 1, 2)}
    return [x for x in ints if -(2**63) <= x < 2**63]


def grids_are_fractions() -> None:
    """Values, indices and places of every kind of grid, of floats and of integers."""
    for number, ((bounds, form), rule) in enumerate(itertools.product(GRIDS, RULES)):
        grid = make_grid(bounds, **form, rule=rule)
        some = np.unique(np.array([0, 1, grid.size // 2, grid.size - 1]))
        values = grid.values(some)
        assert values.dtype == (np.int64 if grid.whole else np.float64)
        for t, value in zip(some.tolist(), values.tolist(), strict=True):
            assert grid.value(t) == value
            assert type(grid.value(t)) is (int if grid.whole else float)
            assert Fraction(value) == point(grid, t)
        assert grid.index(values).tolist() == some.tolist()
        for listed, dtype in (
            (candidates(grid, number), np.float64),
            (whole_candidates(grid, number), np.int64),
        ):
            records = np.array(listed, dtype)
            wanted = [index_by_search(grid, x) for x in records.tolist()]
            assert grid.index(records).tolist() == wanted, (bounds, form, rule)
            assert placed(grid, records).tolist() == wanted, (bounds, form, rule)
            kernel_is_the_grid(grid, records)
            least_is_an_edge(grid, records, wanted)
        floats = np.array(candidates(grid, number))
        down = grid.below
        below = [0 if x < point(grid, 0) else index_by_search(down, x) + 1 for x in floats.tolist()]
        assert grid.places(floats).tolist() == below


def kernel_is_the_grid(grid: Grid, records: np.ndarray) -> None:
    """`grid_points` against `Grid.index` and run lengths, where it may be used."""
    own = np.sort(records)
    points, number = np.unique(grid.index(own), return_counts=True)
    found = record_sources.grid_runs(own, grid)
    assert [x.tolist() for x in found] == [points.tolist(), number.tolist()]


def least_is_an_edge(grid: Grid, records: np.ndarray, wanted: list[int]) -> None:
    """Records of index >= t are those >= least(t)."""
    floats = records.dtype.kind == "f"
    for t in {1, grid.size - 1, *wanted} - {0}:
        edge = grid.least(t, floats)
        told = [x >= edge for x in records.tolist()]
        assert told == [i >= t for i in wanted], (grid, t)


def bounds_are_kept_exactly() -> None:
    """Steps are decimals: the ends are points, and 0.1 divides 1."""
    grid = make_grid((0, 1), 0.1)
    assert grid.size == 11
    assert grid.values(np.arange(11)).tolist() == [float(Fraction(i, 10)) for i in range(11)]
    assert make_grid((0, 1)).size == 2**40 + 1
    assert make_grid((0, 1)).value(2**40) == 1.0
    near = make_grid((1.0, math.nextafter(1.0, 2)))
    assert (near.size, near.value(0), near.value(1)) == (2, 1.0, math.nextafter(1.0, 2))


# Records, whatever they lie in.


def window_of(source: Any, grid: Grid, low: int, high: int) -> Window:
    """A source's window of the ranks from low to high, as far as there are any."""
    window: Window = source.window(grid, max(low, 0), min(high, source.total() - 1))
    return window


def window_by_sorting(values: Any, grid: Grid, low: int, high: int) -> Window:
    """From the sorted grid indices of all records."""
    own = sorted(grid.index(np.asarray(values)).tolist())
    inside = sorted(set(own[max(low, 0) : min(high, len(own) - 1) + 1]))
    records = [own.count(t) for t in inside]
    return Window(np.array(inside), np.array(records), sum(t < inside[0] for t in own), len(own))


def same(one: Window, two: Window) -> bool:
    parts = zip(one, two, strict=True)
    return all(np.asarray(a).tolist() == np.asarray(b).tolist() for a, b in parts)


def ways_of(values: np.ndarray, seed: int = 3) -> dict[str, Any]:
    """The same records as every form that needs nothing but NumPy: (data, sorted already)."""
    rng = np.random.default_rng(seed)
    ordered = np.sort(values)
    mixed = rng.permutation(values)
    wide = np.empty(2 * values.size, values.dtype)
    wide[::2] = mixed
    cut = sorted(rng.integers(0, values.size + 1, 3).tolist())
    found, number = np.unique(values, return_counts=True)
    spread = rng.permutation(np.repeat(np.arange(found.size), 2))
    halves = np.where(np.arange(spread.size) % 2 == 0, number[spread] // 2, 0)
    for i in range(found.size):
        at = np.flatnonzero(spread == i)
        halves[at[0]], halves[at[1]] = number[i] // 2, number[i] - number[i] // 2
    locked = mixed.copy()
    locked.flags.writeable = False
    return {
        "sorted": ordered,
        "shuffled": mixed,
        "falling": ordered[::-1],
        "strided": wide[::2],
        "big-endian": mixed.astype(mixed.dtype.newbyteorder(">")),
        "read-only": locked,
        "parts": lambda: iter(np.split(mixed, cut)),
        "list of parts": lambda: [mixed[:1], mixed[1:1], mixed[1:]],
        "one array": lambda: mixed,
        "lists": lambda: (part.tolist() for part in np.array_split(mixed, 3)),
        "weighted": (found, number),
        "weighted, in any order, some twice": (found[spread], halves),
        "masked": np.ma.array(np.append(mixed, mixed[:1]), mask=[False] * mixed.size + [True]),
    }


def read_way(name: str, data: Any, nan: str = "raise", **how: Any) -> Any:
    """A source; the masked array's one missing record is left out."""
    return Records(data).source("drop" if name == "masked" else nan, **how)


SMALL_BUFFERS = (
    (_records, "MAX_SORTED_RECORDS", 8),
    (unsorted, "MIN_PASS", 8),
    (unsorted, "SAMPLE", 6),
    (unsorted, "BUFFER_SHARE", 64),
    (unsorted, "THREADED", 2),
    (unsorted, "PIECE", 5),
)


NO_ROOM = (unsorted, "MIN_PASS", 1), (unsorted, "FEW_MIDDLE_POINTS", 1)  # for what is then gathered


def bad_pivots(choose: Callable[[int, int, int], tuple[int, int]]) -> tuple[Any, str, Any]:
    """Pivots by another rule: from the sample's size and the wanted ranks' places in it."""

    def pivots(size: int, total: int, low: int, high: int) -> tuple[int, int]:
        left, right = choose(size, size * low // total, size * high // total)
        left = min(max(left, -1), size - 1)
        return left, min(max(right, left + 1), size)

    return unsorted, "pivots", pivots


PIVOTS = {
    "first": bad_pivots(lambda size, low, high: (0, 1)),
    "last": bad_pivots(lambda size, low, high: (size - 2, size - 1)),
    "all": bad_pivots(lambda size, low, high: (-1, size)),
    "tight": bad_pivots(lambda size, low, high: (low, low + 1)),
    "below": bad_pivots(lambda size, low, high: (low - 40, low - 30)),
}


def record_sets(sizes: Iterable[int] = (1, 2, 9, 40, 700)) -> Iterator[tuple[str, np.ndarray]]:
    """Ordinary and hostile records within about -100 to 100."""
    for n in sizes:
        rng = np.random.default_rng(n)
        yield f"uniform, {n}", rng.uniform(-120, 120, n)
        yield f"integers, {n}", rng.integers(-120, 120, n)
        yield f"ties, {n}", rng.choice([-3.0, 0.0, 5.5, 99.0], n, p=[0.1, 0.7, 0.15, 0.05])
        gaps = np.concatenate([2.0 ** -np.arange(n // 2), -(2.0 ** -np.arange(n - n // 2))])
        yield f"growing gaps, {n}", 100 * gaps
        yield f"equal, {n}", np.full(n, 7)
        zeros = np.where(rng.random(n) < 0.5, -0.0, 0.0)
        yield f"zeros of both signs, {n}", np.where(rng.random(n) < 0.2, 1.0, zeros)


def windows_agree(
    name: str, values: np.ndarray, grid: Grid, ranks: Iterable[tuple[int, int]], threads: int
) -> None:
    """Of every form of the same records."""
    for low, high in ranks:
        if low > values.size - 1 or high < low:
            continue
        wanted = window_by_sorting(values, grid, low, high)
        ways = ways_of(values)
        for way, data in ways.items():
            source = read_way(way, data, threads=threads)
            assert same(window_of(source, grid, low, high), wanted), (name, way, low, high, threads)
            first, last = max(low, 0), min(high, values.size - 1)
            ranked = source.ranked(first, last).tolist()
            assert ranked == ways["sorted"][first : last + 1].tolist(), (name, way, low, high)
        sorted_ = Records(ways["sorted"]).source(assume_sorted=True)
        assert same(window_of(sorted_, grid, low, high), wanted)
        points, records = np.unique(grid.index(values), return_counts=True)
        law = Counted(points, records, grid)
        assert same(window_of(law, grid, low, high), wanted)


def sources_agree(
    sizes: Iterable[int] = (1, 2, 9, 40, 300), pivots: Iterable[str] = PIVOTS, every: int = 1
) -> None:
    """Windows with small buffers, bad pivots and threads; on a coarse grid and a fine one."""
    grids = [
        make_grid((-100, 100), 1),
        make_grid((-100, 100)),
        make_grid((-100, 100), grid=[-50.0, 0.0, 0.5, 90.0]),
    ]
    for number, (name, values) in enumerate(record_sets(sizes)):
        n = values.size
        ranks = [(n // 2 - 3, n // 2 + 3), (0, 0), (n - 2, n - 1), (n // 4, n // 4), (0, n - 1)]
        grid = grids[(number + number // 6) % 3]
        if number % every == 0:
            windows_agree(name, values, grid, ranks, 1)
            with changed(*SMALL_BUFFERS):
                windows_agree(name, values, grid, ranks[: 4 if n > 50 else 5], 2)
                with changed(*NO_ROOM):
                    windows_agree(name, values, grid, ranks[:4], 1)
                for rule in pivots:
                    with changed(PIVOTS[rule]):
                        windows_agree(name, values, grid, ranks, 1 + number % 2)


ONE_PASS = (
    (unsorted, "MIN_RANGES", 2),
    (unsorted, "FEW_POINTS", 0),
    (unsorted, "MAX_GATHERED_SHARE", 0.7),
)
PASSES: dict[str, tuple[tuple[Any, str, Any], ...]] = {
    "as it is": (),
    "one pass": (*SMALL_BUFFERS, *ONE_PASS),
    "heavy points": (*SMALL_BUFFERS, *ONE_PASS, (unsorted, "HEAVY", 4)),
    "halves": (
        *SMALL_BUFFERS,
        *ONE_PASS,
        (unsorted, "MAX_SORTED", 0),
        (unsorted, "MAX_GATHERED_SHARE", 0.2),
    ),
    "on each point": (*SMALL_BUFFERS, (unsorted, "MIN_RANGES", 2)),
    "no room": (*SMALL_BUFFERS, *ONE_PASS, *NO_ROOM),
}


def several_agree(sizes: Iterable[int] = (1, 9, 40, 300), rules: Iterable[str] = PIVOTS) -> None:
    """Several windows at once, which may overlap, of every form, by every way through a pass."""
    grids = [make_grid((-100, 100), 5), make_grid((-100, 100), grid=[-50.0, 0.0, 0.5, 90.0])]
    grids.append(make_grid((-100, 100)))
    for number, (name, values) in enumerate(record_sets(sizes)):
        grid, n = grids[(number + number // 6 + 2) % 3], values.size
        ends = [(n * j // 7, min(n * j // 7 + j % 3, n - 1)) for j in range(7)]
        ranges = [*ends, (n // 3, n // 2), (n // 2, n // 2), (n - 1, n - 1)][::-1]
        wanted = [window_by_sorting(values, grid, *pair) for pair in ranges]
        chosen = [(way, ()) for way in PASSES]
        chosen += [("heavy points", (PIVOTS[rule],)) for rule in rules]
        for i, (way, more) in enumerate(chosen):
            with changed(*PASSES[way], *more):
                for form, data in ways_of(values).items():
                    windows = read_way(form, data, threads=1 + i % 2).windows(grid, ranges)
                    pairs = zip(windows, wanted, strict=True)
                    assert all(same(*pair) for pair in pairs), (name, way, more, form)


def misled_samples_agree() -> None:
    """Orders in which every so many-th record is unlike the others; and infinite records."""
    grid, rng = make_grid((-100, 100)), np.random.default_rng(8)
    for step in range(2, 9):
        values = rng.uniform(-99, 99, 240)
        values[::step] = rng.choice([50.0, np.inf, -np.inf], values[::step].size)
        ranges = [(0, 3), (100, 130), (200, 220), (238, 239)]
        wanted = [window_by_sorting(values, grid, *pair) for pair in ranges]
        for way in PASSES.values():
            with changed(*way, (unsorted, "SAMPLE", 30)):
                windows = Records(values).source().windows(grid, ranges)
                assert all(same(*pair) for pair in zip(windows, wanted, strict=True)), step


def arrays_without_records_are_passed() -> None:
    """As a pass over rows on disk, or over a task's rows, has them where no record counts."""
    values = np.random.default_rng(9).permutation(np.repeat([-5.0, 0.0, 5.0], [90, 600, 110]))
    parts = [values[:0], values[:500], values[:0], values[500:], values[:0]]
    ranges = [(0, 3), (300, 310), (400, 450), (799, 799)]
    for grid in (make_grid((-100, 100), 5), make_grid((-100, 100))):
        wanted = [window_by_sorting(values, grid, *pair) for pair in ranges]
        for way in PASSES.values():
            for threads in (1, 2):
                with changed(*way, (unsorted, "MIN_PASS", 8), (unsorted, "SAMPLE", 90)):
                    source = unsorted.Unsorted(partial(iter, parts), threads)
                    windows = [source.window(grid, *pair) for pair in ranges]
                    windows += source.windows(grid, ranges)
                    pairs = zip(windows, 2 * wanted, strict=True)
                    assert all(same(*pair) for pair in pairs), (grid, way, threads)


def looks_agree(sizes: Iterable[int] = (1, 9, 40)) -> None:
    """`total`, `counts`, `histogram` and `below` of every form."""
    grid = make_grid((-100, 100), 1)
    for name, values in record_sets(sizes):
        index = np.sort(grid.index(values)).tolist()
        points, records = np.unique(index, return_counts=True)
        ways = {w: read_way(w, d) for w, d in ways_of(values).items()}
        ways["law"] = Counted(points, records, grid)
        with changed(*SMALL_BUFFERS):
            ways["unsorted"] = Records(values).source()
            assert values.size <= 8 or isinstance(ways["unsorted"], unsorted.Unsorted)
            for way, source in ways.items():
                assert source.total() == len(index), (name, way)
                found = source.counts(grid)
                assert [x.tolist() for x in found] == [points.tolist(), records.tolist()], (
                    name,
                    way,
                )
                assert source.histogram(grid).tolist() == np.bincount(index, minlength=201).tolist()
                for t in {-1, 0, 1, 100, 200, 201, *index[:3], *index[-3:]}:
                    assert source.below(grid, t) == sum(i < t for i in index), (name, way, t)


def gathers_are_numpy(sizes: Iterable[int] = (1, 7, 9, 1023, 1024, 1025, 2500)) -> None:
    """`gathered` against comparisons of arrays: which lie within, how many below; NaN anywhere."""
    rng = np.random.default_rng(4)
    for n in sizes:
        floats = rng.choice([*rng.normal(size=9), -0.0, 0.0, np.inf, -np.inf, 5e-324], n)
        ints = rng.integers(-(2**63), 2**63 - 1, n)
        for values in (floats, ints, np.sort(floats), -np.sort(ints)):
            ends = [
                values.min().item(),
                values.max().item(),
                *values[:3].tolist(),
                values.dtype.type(0),
            ]
            for low, high in itertools.product(ends, ends):
                if low <= high:
                    gathered_is_numpy(values, low, high, 1)
            gathered_is_numpy(values, ends[2], max(ends[2:]), 2)
            gathered_is_numpy(values, ends[0], ends[1], 3)
        for bad in (np.nan, -np.nan, np.frombuffer(b"\1\0\0\0\0\0\xf0\xff")[0]):
            for at in {0, n // 2, n - 1}:
                broken = floats.copy()
                broken[at] = bad
                try:
                    gathered(broken, -1.0, 1.0, 8, 1 + at % 2)
                except fx.InvalidRecords:
                    continue
                raise AssertionError(at)


def gathered(values: np.ndarray, low: float, high: float, room: int, threads: int) -> Any:
    """One pass, by several threads."""
    one = partial(unsorted.gathered, low=low, high=high)
    return unsorted.passed(values, one, room, threads)


def gathered_is_numpy(values: np.ndarray, low: float, high: float, threads: int) -> None:
    """With no room, some, enough, and with as much as there can be in one of the threads."""
    flags = (values >= low) & (values <= high)
    inside = values[flags].tobytes()
    for room in {0, 1, int(flags.sum()), values.size, threads * values.size}:
        found = gathered(values, low, high, room, threads)
        assert found.counts.tolist() == [(values < low).sum(), flags.sum()]
        assert np.isin(found.values, values[flags]).all()
        assert found.values.size <= flags.sum()
        if found.values.size >= found.counts[1] or room == threads * values.size:
            assert found.values.tobytes() == inside


def missing_records_are_treated() -> None:
    """Of every form: left out, or at one end; the same for one that says how often."""
    grid = make_grid((0, 10), 1)
    nan = math.nan
    kept, treated = [1, 5, 5], {"drop": [], "lower": [0, 0], "upper": [10, 10]}
    masks = [0, 1, 0, 0, 1]
    forms: dict[str, Any] = {
        "floats": np.array([1, nan, 5, 5, -nan]),
        "floats in a list": [1.0, nan, 5.0, 5.0, nan],
        "None": [1, None, 5, 5, None],
        "None and NaN": [1.0, None, 5.0, 5.0, nan],
        "masked integers": np.ma.array([1, 7, 5, 5, 7], mask=masks),
        "masked floats": np.ma.array([1.0, 7.0, 5.0, 5.0, 7.0], mask=masks),
        "masked, and NaN": np.ma.array([1.0, 7.0, 5.0, 5.0, nan], mask=[0, 1, 0, 0, 0]),
        "parts": lambda: [np.array([1.0, nan]), [5.0, None], np.array([5.0])],
        "weighted": (np.array([1, nan, 5]), np.array([1, 2, 2])),
        "weighted, None": ([1, None, 5], [1, 2, 2]),
        "weighted, masked": (np.ma.array([1, 7, 5], mask=[0, 1, 0]), [1, 2, 2]),
    }
    wrong = []
    for (name, data), (policy, more) in itertools.product(forms.items(), treated.items()):
        points, records = np.unique(kept + more, return_counts=True)
        try:
            source = Records(data).source(policy)
            found = [x.tolist() for x in source.counts(grid)]
            own = (len(kept + more), [points.tolist(), records.tolist()])
            right = (source.total(), found) == own
        except fx.InvalidRecords:
            right = False
        wrong += [] if right else [(name, policy)]
    for name, data in forms.items():
        try:
            window_of(Records(data).source("raise"), grid, 0, 4)
        except fx.InvalidRecords:
            continue
        wrong.append((name, "raise"))
    assert wrong == []


def extreme_integers_are_exact() -> None:
    """Ties at the ends of int64 on grids that reach beyond it; differences of 1 above 2**53."""
    for value in (2**63 - 1, -(2**63), -(2**63) + 5, 2**53 + 1):
        for bounds, step in (((-1e30, 1e30), None), ((-(2.0**64), 2.0**64), 2.0**62)):
            grid = make_grid(bounds, step)
            for n in (3, 30):
                values = np.full(n, value)
                t = index_by_search(grid, Fraction(value))
                with changed(*SMALL_BUFFERS):
                    for data in (values, lambda v=values: [v]):
                        found = window_of(Records(data).source(), grid, n // 2, n // 2)
                        assert same(found, Window(np.array([t]), np.array([n]), 0, n)), (
                            value,
                            bounds,
                        )
            with changed(*PASSES["one pass"]):
                values = np.append(np.full(30, value), np.arange(30))
                ranges = [(0, 0), (2, 40), (59, 59)]
                windows = Records(values).source().windows(grid, ranges)
                wanted = [window_by_sorting(values, grid, *pair) for pair in ranges]
                assert all(same(*pair) for pair in zip(windows, wanted, strict=True)), value
    grid = make_grid((2**60, 2**60 + 9), 1)
    found = Records([2**60 + 1, 2**60 + 2, 2**60 + 2]).source().counts(grid)
    assert [x.tolist() for x in found] == [[1, 2], [1, 2]]


def more_than_there_is_room_for() -> None:
    """Ties between pivots: a first pass finds more records than it has room for."""
    grid = make_grid((-100, 100), 1)
    values = np.random.default_rng(5).choice([-3.0, -0.25, 0.25], 400)
    for ranks in ((199, 200), (300, 301)):  # the latter among the second numbers of a point
        wanted = window_by_sorting(values, grid, *ranks)
        with changed(*SMALL_BUFFERS):
            for i in range(-1, 6):  # one of the pairs has other points on its sides
                with changed(bad_pivots(lambda size, low, high, i=i: (i, i + 1))):
                    assert same(window_of(Records(values).source(), grid, *ranks), wanted)


def points_are_rounded_once() -> None:
    """Quotients just above the middle of two doubles, by less than two roundings can see."""
    rng = np.random.default_rng(8)
    for odd in (3, 5, 7, 25, 125):
        for m in rng.integers(2**52, 2**53, 20).tolist():
            for number in ((4 * (m // 2) + 1) * odd + d for d in (-1, 0, 1)):
                true = float(Fraction(number, odd))
                assert wide_point(np.int64(number), np.int64(odd)) == true
                assert wide_point(np.int64(-number), np.int64(odd)) == -true


def run() -> None:
    """Everything, small enough for the interpreter; what is quick comes first."""
    bounds_are_kept_exactly()
    points_are_rounded_once()
    missing_records_are_treated()
    extreme_integers_are_exact()
    more_than_there_is_room_for()
    looks_agree((9,))
    grids_are_fractions()
    sources_agree((2, 40), ("first", "tight"), 2)
    several_agree((9, 40), ("first", "tight"))
    misled_samples_agree()
    arrays_without_records_are_passed()
    gathers_are_numpy((9, 1030))


if __name__ == "__main__":
    run()
