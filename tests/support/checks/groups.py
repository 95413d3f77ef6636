"""Deterministic checks of answers by group: kernels against the twin, words, persons, promises.

Plain functions, so that `tests/mutants` can run them against broken copies of the
package, without the compiler (`python -m tests.support.checks.groups`).
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

import fastexp as fx
from tests.doors.grouped import (
    WORDS,
    FlipCountDraws,
    Limits,
    PriceDraws,
    RankDraws,
    Segments,
    draw_all,
    gather,
    keep,
    pivots,
    ranks,
    sample_choice,
    segments,
)
from tests.doors.grouped import counts as count_draws
from tests.doors.intake import Records, Window, cut, runs, unsorted
from tests.doors.kernels import (
    FLOAT,
    OPEN,
    SIGNED,
    between,
    rank_draws,
    segment_counts,
    segment_prices,
    segment_ranks,
    segment_sort,
    segment_window,
)
from tests.doors.kernels import long_draws as kernel_long
from tests.doors.keys import Codes, codes_of, names_of
from tests.doors.numbers import (
    RankStatistic,
    SegmentCells,
    farthest,
    few_records,
    table,
)
from tests.doors.numbers import rank as rank_file
from tests.doors.numbers import rank_distance as distance
from tests.doors.randomness import GROUP, make_key, query_digest, some_seeds
from tests.doors.reference import exact, flip_draw, flip_words, group_draw, upper
from tests.doors.reference import exact_groups as reference_groups
from tests.doors.selection import storage
from tests.support.altered import changed
from tests.support.checks.records import SMALL_BUFFERS
from tests.support.key_numbers import distinct
from tests.support.small_words import GivenWords, SortedWords
from tests.twins import selection

KEY = (0x1234567890ABCDEF, 0xFEDCBA0987654321)
SECRET = bytes(range(32))
FLIP = "permute-and-flip"
Offsets = Any


def restored_key() -> fx.ReleaseKey:
    """The key of the bytes 0, 1, ..., 31."""
    made = object.__new__(fx.ReleaseKey)
    object.__setattr__(made, "_secret", SECRET)
    return made


def twin_draws(statistic: Any, values: Any, words: Any, group: int, size: int) -> list[int]:
    """Draws of one group by the twin, from the cells of one data set alone."""
    shape = statistic.shape(Records(values).source())
    start, count, bits, _, loose = shape.cells
    bounds = (-bits.view(np.int64)).tolist()
    marks = [False] * len(bounds) if loose is None else loose.tolist()
    cells = list(zip(start.tolist(), count.tolist(), bounds, marks, strict=True))
    stream, rate = words.stream(group), statistic.weighting.rate
    own = [words_of(stream, j) for j in range(size)]
    return [group_draw(cells, rate, *pair, shape.distance) for pair in own]


def words_of(stream: tuple[int, int], draw: int, count: int = 4) -> tuple[list[int], Any]:
    """The first words of a draw that takes `count` of them, and those after these."""
    first = list(islice(exact.substream(stream, 0, count * draw), count))
    return first, exact.substream(stream, 1 + count // 4 * draw).__next__


def by_kernel(
    statistic: Any, values: Any, offsets: Offsets, words: Any, size: int, threads: int = 1
) -> Any:
    """Draws of all groups by kernels, of shape (groups, size)."""
    some = Segments(values, np.asarray(offsets, np.int64))
    return draw_all(RankDraws(statistic, some, words, size), size, threads)


def exact_draws(draws: Any, size: int) -> Any:
    """The same by the exact way: as if the kernel left all draws open."""
    with changed((type(draws), "_fill", lambda *_: None)):
        return draw_all(draws, size, 1)


def weights_are_next_integers() -> None:
    """Of each table's entries, some by exact bounds."""
    for rate in (Fraction(1, 2), Fraction(1, 400), Fraction(9)):
        found = table(rate, 5_000)
        for e in sorted({0, 1, 2, 40, min(1_025, found.size - 1), found.size - 1}):
            if e < found.size:
                assert int(found[e]) == upper(rate, e)
                lo, hi = exact.exp_bounds(rate * e, 400)
                assert int(found[e]) << 340 >= hi
                assert e == 0 or int(found[e]) - 1 << 340 <= lo


MECHANISMS = [
    fx.Median(epsilon=1.0, bounds=(0, 20), step=1),
    fx.Median(epsilon=0.3, bounds=(0, 20), step=1, neighbors="replace"),
    fx.Median(epsilon=6.0, bounds=(0, 1000)),
    fx.Quantile(0.9, epsilon=4.0, bounds=(0, 20), step=1, convention="lower"),
    fx.OrderStatistic(2, epsilon=1.0, bounds=(0, 20), step=1),
]


def never(*_: Any) -> Any:
    """Instead of the exact way of draws that are left open: some one in 10**9 of them are."""
    raise AssertionError("a draw was left open")


def draws_are_the_twins() -> None:
    """Short segments, with and without equal records, and empty ones."""
    rng, lengths = np.random.default_rng(1), [0, 1, 2, 7, 20, 33]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    words = GivenWords(KEY, len(lengths))
    for values in (rng.integers(-2, 24, offsets[-1]), rng.permutation(offsets[-1]) / 3.0):
        for mechanism in MECHANISMS:
            statistic = mechanism._statistic
            with changed((RankDraws, "_exactly", never)):
                found = by_kernel(statistic, values, offsets, words, 2)
            for g in range(len(lengths)):
                own = values[offsets[g] : offsets[g + 1]]
                assert found[g].tolist() == twin_draws(statistic, own, words, g, 2)


FINE, COARSE = fx.Median(epsilon=0.4, bounds=(-4, 4)), fx.Median(0.4, (-4, 4), step=0.5)
WINDOWS = (FINE, 700), (FINE, 2_100), (COARSE, 2_100)


def windows_are_those_of_sorted_records(windows: Any = WINDOWS) -> None:
    """Long segments, whether pivots find the window, mislead, or all records are sorted."""
    rng = np.random.default_rng(2)
    words = [kind(KEY, 1) for kind in (GivenWords, SortedWords)]
    for mechanism, n in windows:
        sampled, normal = np.isin(np.arange(n), np.arange(256) * n // 256), rng.normal(0, 1, n)
        # All but the sample lie on one point of the coarse grid, on both sides of its number.
        tied = np.where(sampled, 0.4, 0.2)
        tied[rng.permutation(np.flatnonzero(~sampled))[: n // 2 - 4]] = -0.2
        several = normal, rng.integers(0, 9, n) / 3.0, np.where(sampled, 3.9, normal), tied, -tied
        ways = (60, never), (2, RankDraws._exactly)  # 60 ranks on each side leave no draw open
        for values, (reach, exactly) in itertools.product(several, ways):
            narrow = (mechanism._statistic, "reach", reach), (RankDraws, "_exactly", exactly)
            with changed(*narrow):
                both = [by_kernel(mechanism._statistic, values, [0, n], w, 20) for w in words]
                assert (both[0] == both[1]).all()
                twin = twin_draws(mechanism._statistic, values, words[0], 0, 20)
                assert both[0][0].tolist() == twin


def a_record_that_is_no_number_is_refused() -> None:
    """In a short segment and in a long one, between the pivots or not."""
    median = fx.Median(epsilon=1.0, bounds=(-4, 4))
    for n in (9, 2_100):
        values = np.append(np.random.default_rng(2).normal(0, 1, n), np.nan)
        try:
            median.sample(values, offsets=[0, n + 1], rng=1)
        except fx.InvalidRecords:
            continue
        raise AssertionError("NaN was drawn from")


def rows_between_pivots_are_enough() -> None:
    """Rows in any order, also with records at edges: no pivots, good or bad, change a draw.

    With a reach of two ranks draws from loose cells need all records of their groups.
    """
    rng, n = np.random.default_rng(12), 1_600
    by = np.concatenate([rng.integers(0, 4, n - 300), np.full(200, 2), np.full(100, -1)])
    few, much = (
        [(pivots, name, 64) for name in ("MIN_ROWS", "MIN_MEAN_RECORDS")],
        (pivots, "MAX_SHARE", 0.7),
    )
    small = *few, much, (pivots, "STEP_BITS", (1, 1)), (segment_window, "ENOUGH", 0)
    mechanism, words = fx.Median(epsilon=0.2, bounds=(-4, 60), step=0.5), GivenWords(KEY, 5)
    statistic = mechanism._statistic
    ends = rng.normal(20, 9, n)
    ends[rng.random(n) < 0.3], ends[rng.random(n) < 0.5] = -np.inf, np.inf
    for values in (
        rng.integers(-8, 130, n) / 2.0, rng.integers(0, 9, n), rng.normal(20, 9, n), ends
    ):  # fmt: skip
        records, offsets = gather(by, values, 5)
        for reach, spread in itertools.product((20, 2), (3.0, -1.0)):
            with changed(*small, (statistic, "reach", reach), (pivots, "SPREAD", spread)):
                whole = by_kernel(statistic, records, offsets, words, 6)
                some = pivots.windowed(statistic, values, Codes(by), 5)
                assert some is not None
                assert spread < 0 or some.values.size < 0.8 * n
                drawn = draw_all(RankDraws(statistic, some, words, 6), 6, 1)
            assert (drawn == whole).all()


def rows_lie_between_their_edges() -> None:
    """Records at edges, NaN, and rows of no group."""
    codes, values = (
        np.tile([0, 1, -1], 9),
        np.repeat([0.0, 1.0, 1.5, 2.0, np.nan, 3.0, 1.0, np.inf, -1], 3),
    )
    for (kind, bits), high in itertools.product(
        ((0, values), (1, np.nan_to_num(values, posinf=5).astype(np.int64))), (2.0, between.NO_EDGE)
    ):
        edges, counts = np.array([1.0, high, -np.inf, 1.5, np.inf, np.inf]), np.zeros(3, np.int64)
        slots, taken, work = (
            np.empty(27, np.int64),
            np.empty(27, np.uint64),
            np.empty(1_024, np.int64),
        )
        floats = bits.astype(np.float64)
        low, end = edges.reshape(-1, 2)[codes].T
        inside = ~((floats < low) | (floats >= end))
        args = codes, bits.view(np.uint64), kind, edges, counts, slots, taken, work
        assert between.keep_between(*args) == inside.sum()
        assert (slots[: inside.sum()] == np.where(codes < 0, 2, codes)[inside]).all()
        assert (taken[: inside.sum()] == bits[inside].view(np.uint64)).all()
        under = [int((floats < low)[codes == c].sum()) for c in (0, 1, -1)]
        assert counts.tolist() == [9 + (number << 32) for number in under]


def forms_are_those_of_each_length() -> None:
    """Forms and ranks that matter, of many numbers of records at once."""
    lengths = np.array([0, 1, 2, 3, 4, 7, 1_000, 1_001, 2**31])
    for mechanism in (
        *MECHANISMS,
        fx.OrderStatistic(500, 1.0, (0, 20)),
        fx.Quantile(0.3, 1.0, (0, 9)),
    ):
        statistic = mechanism._statistic
        distances = ranks.distances_of(statistic, lengths)
        that_matter = ranks.ranks_of(distances, lengths, statistic.reach).tolist()
        for n, numbers, pair in zip(lengths.tolist(), distances, that_matter, strict=True):
            form, *both = statistic.ranks_that_matter(n)
            assert (form == numbers).all()
            assert both == pair


def ties_at_the_ends_of_a_window_belong_to_it() -> None:
    """Few distinct records, so that both ends of a narrow window lie among equal ones."""
    rng = np.random.default_rng(7)
    mechanism = fx.Median(epsilon=0.1, bounds=(0, 12), step=1)
    words, lengths = GivenWords(KEY, 6), [40, 41, 60, 77, 90, 30]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    values = rng.integers(0, 12, offsets[-1])
    for reach in (2, 5, 9):
        with changed((mechanism._statistic, "reach", reach)):
            found = by_kernel(mechanism._statistic, values, offsets, words, 9)
            for g in range(6):
                own = values[offsets[g] : offsets[g + 1]]
                assert found[g].tolist() == twin_draws(mechanism._statistic, own, words, g, 9)


def open_draws_are_exact() -> None:
    """With a reach of two ranks most points are in cells that are only bounded."""
    mechanism = fx.Median(epsilon=0.2, bounds=(0, 2**30), step=1)
    statistic, rng = mechanism._statistic, np.random.default_rng(4)
    values, offsets = rng.integers(0, 2**30, 400), np.arange(0, 401, 20)
    words = GivenWords(KEY, 20)
    with changed((statistic, "reach", 2)):
        found = by_kernel(statistic, values, offsets, words, 4)
        for g in range(20):
            own = values[offsets[g] : offsets[g + 1]]
            assert found[g].tolist() == twin_draws(statistic, own, words, g, 4)


FEW = [
    *MECHANISMS,
    fx.Quantile(0.1, epsilon=0.5, bounds=(0, 20), step=1),
    fx.OrderStatistic(30, epsilon=1.0, bounds=(0, 20), step=0.25),
    fx.Median(epsilon=1.0, bounds=(0, 20), grid=[0.0, 3.0, 3.5, 19.0]),
    fx.Median(epsilon=0.5, bounds=(0, 3.14159)),
]


def few_records_are_the_twins(lengths: tuple[int, ...] = (0, 1, 2, 9, 33)) -> None:
    """A data set alone and among rows; grids with and without kernels, ties, narrow windows."""
    rng, names = np.random.default_rng(8), np.arange(3, dtype=np.uint64)
    seeds = np.concatenate([np.array([*KEY, GROUP], np.uint64), names])
    for mechanism, n in itertools.product(FEW, lengths):
        tied, apart = rng.integers(-2, 24, (3, n)), rng.permuted(np.arange(3 * n) / 5.0)
        statistic, words = mechanism._statistic, GivenWords(KEY, 3)
        few = statistic.few(n, 2)
        for rows, reach in itertools.product((tied, apart.reshape(3, n)), (statistic.reach, 3)):
            with changed((statistic, "reach", reach)):
                drawn = few.simulate_rows(np.sort(rows), seeds, 2).reshape(3, 2)
                for g in range(3):
                    source, stream = Records(rows[g]).source(), some_seeds(seeds, g, g + 1)
                    alone = few.simulate(source, stream, 2)
                    twin = twin_draws(statistic, rows[g], words, g, 2)
                    assert drawn[g].tolist() == alone.tolist() == twin


POINTS = [0.0, 0.5, 0.75, 2, 3, 5, 5.5, 9, 14, 20]
WIDE = [
    fx.Median(epsilon=0.7, bounds=(0, 20), step=1, widen=2),
    fx.Median(epsilon=0.7, bounds=(0, 1e6), widen=0.7),
    fx.Quantile(0.8, epsilon=2.0, bounds=(0, 20), grid=POINTS, convention="lower", widen=2.5),
    fx.OrderStatistic(2, epsilon=1.0, bounds=(0, 20), step=0.5, widen=30),
    fx.Mode(epsilon=1.0, bounds=(0, 20), step=1),
    fx.Mode(epsilon=1.0, bounds=(0, 20), step=1, widen=3),
    fx.Mode(epsilon=1.0, bounds=(0, 20), grid=POINTS, widen=1),
]


def cells_by_segment_are_the_twins(lengths: tuple[int, ...] = (0, 1, 7, 24)) -> None:
    """Widths and modes: groups, rows and a data set alone; ties, windows that are too narrow."""
    rng, offsets = np.random.default_rng(12), np.concatenate([[0], np.cumsum(lengths)])
    words, total = GivenWords(KEY, len(lengths)), int(offsets[-1])
    seeds = np.array([*KEY, GROUP, 0], np.uint64)
    for mechanism in WIDE:
        statistic = mechanism._statistic
        reaches = (3, statistic.reach) if isinstance(statistic, RankStatistic) else (None, None)
        sets = (rng.integers(-2, 24, total), rng.permutation(total) / 7.0)
        for values, reach in zip(sets, reaches, strict=False):
            some = Segments(values, offsets)
            narrow = () if reach is None else ((statistic, "reach", reach),)
            with changed(*narrow, (segment_window, "ENOUGH", 16)):
                drawn = draw_all(mechanism._draws(some, words, 2), 2, 1)
                for g in range(len(lengths)):
                    own = values[offsets[g] : offsets[g + 1]]
                    twin = twin_draws(statistic, own, words, g, 2)
                    assert drawn[g].tolist() == twin, (mechanism, lengths[g], reach)
                    few = statistic.few(own.size, 2)
                    seeds[3] = g
                    assert few.simulate(Records(own).source(), seeds, 2).tolist() == twin
                first, more = words_of(words.stream(len(lengths) - 1), 1)
                points = np.sort(statistic.grid.index(own))
                again = SegmentCells(statistic, []).exactly(points, np.array(first, "u8"), more)
                assert again == twin[1]


def released_few_read_words() -> None:
    """A release with given words is the twin's draw; and an open one takes more of them."""
    mechanism, rng = fx.Median(epsilon=0.3, bounds=(0, 2**30), step=1), np.random.default_rng(9)
    statistic, words, open_draws = mechanism._statistic, GivenWords(KEY, 40), 0
    for reach, g in itertools.product((2, statistic.reach), range(40)):
        values, sizes = rng.integers(0, 2**30, 20), list[int]()
        first, more = words_of(words.stream(g), 0)

        def given(size: int, first: Any = first, more: Any = more, sizes: Any = sizes) -> bytes:
            drawn = [more()] if sizes else first
            sizes.append(size)
            return b"".join(word.to_bytes(8, "little") for word in drawn)

        with changed((statistic, "reach", reach), (os, "urandom", given)):
            answer = mechanism.release(values)
            assert [answer] == twin_draws(statistic, values, words, g, 1)
        assert sizes == [8 * WORDS] + [8] * (len(sizes) - 1)
        open_draws += len(sizes) > 1
    assert open_draws > 3


SLOW = [  # their weights reach beyond what is gathered
    fx.Quantile(0.3, epsilon=0.004, bounds=(0, 20), step=0.125),
    fx.Quantile(0.7, epsilon=0.006, bounds=(0, 20)),
]
LONG = [
    fx.Quantile(0.001, epsilon=0.5, bounds=(0, 20), step=1),
    fx.Quantile(0.995, epsilon=0.5, bounds=(0, 20), step=0.125),
    fx.Quantile(0.003, epsilon=0.2, bounds=(0, 3.14159)),
    fx.Quantile(0.002, epsilon=1.0, bounds=(0, 20), grid=[0.0, 3.0, 3.5, 19.0]),
]


def long_windows_are_the_twins(draws: int = 6) -> None:
    """Releases whose points take the place of records; distances of both tables, loose ends."""
    rng, words, open_draws = np.random.default_rng(10), GivenWords(KEY, draws), 0
    buffers = *SMALL_BUFFERS, (unsorted, "SAMPLE", 60), (unsorted, "SPREAD", 0.2)
    cases = [*itertools.product(LONG, (1, 2, 30, 120)), *((mechanism, 600) for mechanism in SLOW)]
    for mechanism, n in cases:
        statistic, grid = mechanism._statistic, mechanism.grid
        tied, apart = rng.integers(-2, 24, n), rng.permutation(n) * 20.0 / n
        for values, reach in itertools.product((tied, apart), (statistic.reach, 3)):
            with changed((statistic, "reach", reach), (rank_file, "MIN_LONG_RANKS", 0), *buffers):
                source = Records(lambda values=values: np.array_split(values, 3)).source()
                statistic.release(source)  # what a first call imports has taken its own words
                for g in range(draws):
                    first, more = words_of(words.stream(g), 0)
                    given, sizes = chain(first, iter(more, None)), list[int]()

                    def urandom(size: int, given: Any = given, sizes: Any = sizes) -> bytes:
                        sizes.append(size)
                        return b"".join(next(given).to_bytes(8, "little") for _ in range(size // 8))

                    with changed((os, "urandom", urandom)):
                        answer = statistic.release(source)
                    twin = long_twin(statistic, source, np.sort(grid.index(values)), g)
                    assert answer == twin
                    open_draws += len(sizes) > 1
    assert open_draws > 5


def long_twin(statistic: Any, source: Any, points: Any, group: int) -> int:
    """The twin's draw from all that the source gathers of sorted grid indices."""
    n = points.size
    form, low, high = statistic.ranks_that_matter(n)
    middle = source.middle(statistic.grid, low, high)
    window = middle if isinstance(middle, Window) else None
    if window is None:
        inside = points[middle[1] : middle[1] + middle[0].size]
        window = Window(*np.unique(inside, return_counts=True), middle[1], n)
    cells = few_records.listed_cells(window, form, statistic.grid.size)

    def true(point: int) -> int:
        under, upto = np.searchsorted(points, [point, point + 1]).tolist()
        return int(distance(form, under, upto - under, n - upto))

    first, more = words_of(GivenWords(KEY, group + 1).stream(group), 0)
    weight = reference_groups.long_weight
    return group_draw(cells, statistic.weighting.rate, first, more, true, weight)


def long_weights_are_bounds() -> None:
    """W is at least the weight, and less than 4 above it; the kernel's is that of the twin."""
    for rate in (Fraction(1, 3), Fraction(1, 500), Fraction(1, 20_000), Fraction(1, 10**6)):
        near, far = table(rate, 4095), table(rate * 4096, 300)
        for e in (0, 1, 77, 4095, 4096, 4097, 8191, 8192, 50_000, 1_000_000):
            lo, hi = exact.exp_bounds(rate * e, 400)
            weight = reference_groups.long_weight(rate, e)
            assert int(kernel_long.long_weight(e, near, far)) == weight
            assert weight << 340 >= hi
            assert weight - 4 << 340 < lo


def forms_are_lines() -> None:
    """Where a form is said to be linear it is, and no table is shorter than its distances."""
    for mechanism in FEW:
        statistic = mechanism._statistic
        few, rate = statistic.few(9, None), statistic.weighting.rate
        for n in (*range(66), 1000, 1001, 4095, 4096):
            line = few._line_of(n)
            assert (line[:16] + n * line[16:] == statistic.form(n)).all()
            assert table(rate, farthest(statistic.form(n), n)).size <= few._table.size
            if n > 0:
                form, *ends = statistic.ranks_that_matter(n)
                assert [*rank_draws.ranks_that_matter(form, n, statistic.reach)] == ends


def the_twin_has_the_law() -> None:
    """Three cells, one of them only bounded: true distances 1, 0, 0, 0, 3 and 2."""
    cells = [(0, 1, 1, False), (1, 3, 0, False), (4, 2, 2, True)]
    rng, counts, draws = np.random.default_rng(3), np.zeros(6), 8_000

    def word() -> int:
        return int(rng.integers(2**64, dtype=np.uint64))

    for _ in range(draws):
        first = [word() for _ in range(4)]
        counts[group_draw(cells, Fraction(7, 10), first, word, {4: 3, 5: 2}.__getitem__)] += 1
    weights = np.exp(-0.7 * np.array([1, 0, 0, 0, 3, 2]))
    expected = weights / weights.sum() * draws
    assert ((counts - expected) ** 2 / expected).sum() < 51  # chi2.isf(1e-9, 5)


def words_are_those_of_the_stream() -> None:
    """Four words at first, then those of a substream of the draw's own."""
    words, size = GivenWords((0xABCDEF, 0x123456), 3), 6
    early, later = words.round(1, 3, size)
    for g, draw in itertools.product(range(2), range(size)):
        first, more = words_of(words.stream(1 + g), draw)
        at = WORDS * (size * g + draw)
        assert early[at : at + WORDS].tolist() == first
        kernels_more = later(g, draw)
        assert [kernels_more() for _ in range(5)] == [more() for _ in range(5)]


def words_for(rest: int, total: int) -> list[int]:
    """Two words from which the integer below `total` is `rest`."""
    both = -(-(rest << 128) // total) + 5
    assert both * total >> 128 == rest
    return [both & (1 << 64) - 1, both >> 64]


def sums_and_bounds_are_met() -> None:
    """At the ends of each cell: the first integer is its own, the last ones are left open."""
    median = fx.Median(epsilon=1.0, bounds=(0, 2**40), step=1)
    values = np.array([5, 2**38, 2**39])
    start, count, bits, _, _ = median._shape(Records(values).source()).cells
    away = -bits.view(np.int64)
    weights = [upper(Fraction(1, 2), int(d - away.min())) for d in away]
    ends = np.cumsum([int(c) * w for c, w in zip(count, weights, strict=True)], dtype=object)
    for i, end in enumerate(ends):
        first = int(ends[i - 1]) if i else 0
        sure = away[i] == away.min()
        for rest, known in (
            (first, True),
            (int(end) - 1, sure),
            (int(end) - int(count[i]) - 1, True),
        ):
            words = [*words_for(rest, int(ends[-1])), 0x9E3779B97F4A7C15, 0]
            found = kernel_draw(median, values, words)
            if known:
                assert start[i] <= found < start[i] + count[i]
            else:
                assert found == -1


def kernel_draw(mechanism: Any, values: Any, words: list[int]) -> int:
    """What the kernel makes of these words, -1 if it leaves the draw open."""
    form, out = ranks.forms_of(mechanism._statistic, np.array([values.size])), np.empty(1, np.int64)
    parts, size = np.array([0, values.size, 0, values.size, 0]), mechanism.grid.size
    arrays = values, parts, form.flat, size, form.most, form.weights, np.array(words, np.uint64)
    segment_ranks.ranks_draw(*arrays, out, np.empty(8 * form.most + 8, np.int64))
    return int(out[0])


def decisions_are_the_twins(
    draw: Any, cells: list[Any], rate: Fraction, weight: Any = upper
) -> None:
    """At the ends of cells and of places: what a kernel decides, the twin decides by those words.

    So a draw that takes further words, or the true distance of a point, is left open.
    """
    least = min(bound for _, _, bound, _ in cells)
    shares = [count * weight(rate, bound - least) for _, count, bound, _ in cells]
    total, end, decided, left_open = sum(shares), 0, 0, 0
    assert total & (total - 1)
    for (_, count, _, _), share in zip(cells, shares, strict=True):
        end += share
        for back in (1, count, count + 1, 4 * count, 4 * count + 1, share):
            for first, place in itertools.product(
                words_at(end - min(back, share), total), (0, 7 << 60)
            ):
                words = [*first, place, 0]
                answer = draw(np.array(words, np.uint64))
                if answer == OPEN:
                    left_open += 1
                    continue
                decided += 1
                assert answer == group_draw(cells, rate, words, never, never, weight)
    assert decided > len(cells)
    assert left_open > len(cells)


def words_at(rest: int, total: int) -> list[list[int]]:
    """Two pairs of words whose integer below `total` is `rest`; the first may not count."""
    first = -(-(rest << 128) // total)
    return [[both & (1 << 64) - 1, both >> 64] for both in (first, first + 5)]


def open_draws_are_left_open() -> None:
    """By all kernels that draw by whole weights: a data set alone, a segment, a long window."""
    values = np.array([3, 4, 4, 8, 12, 12, 13])
    steep, flat = (fx.Median(e, (0, most), step=1) for e, most in ((1.0, 2**40), (0.0007, 16)))
    for mechanism, reach in itertools.product((steep, flat), (1, 60)):  # loose cells, and none
        statistic, rate = mechanism._statistic, mechanism._statistic.weighting.rate
        with changed((statistic, "reach", reach)):
            form, low, high = statistic.ranks_that_matter(values.size)
            window = cut(*runs(values), values.size, low, high)
            cells = few_records.listed_cells(window, form, mechanism.grid.size)
            alone = partial(few_draw, statistic.few(values.size, 1), values)
            decisions_are_the_twins(alone, cells, rate)
            decisions_are_the_twins(partial(kernel_draw, mechanism, values), cells, rate)
    for mechanism, n in ((steep, values.size), (flat, values.size), (flat, 9_000)):
        statistic, rate, size = mechanism._statistic, mechanism._statistic.weighting.rate, 17
        form, tables = statistic.form(n), (table(rate, 4095), table(rate * 4096, 9))
        cells = few_records.listed_cells(Window(*runs(values), 0, n), form, size)
        draw = partial(kernel_long.draw_long, values, 0, n, size, form, *tables)
        decisions_are_the_twins(draw, cells, rate, reference_groups.long_weight)


def few_draw(few: Any, values: Any, words: Any) -> Any:
    """The draw of `few` from grid indices, which are of its data set alone."""
    out = np.empty(1, np.int64)
    assert few._fill(values, values.size, True, words, out) == (out[0] == OPEN)
    return out[0]


def segments_are_sorted() -> None:
    """Of all lengths about the kernel's own."""
    rng = np.random.default_rng(6)
    for n in (1, 2, 8, 9, 33, 63, 64, 65, 130):
        t = rng.integers(0, 2**52, n)
        expected = np.sort(t)
        work = np.empty(max(n, segment_sort.SCRATCH_WORDS), np.int64)
        segment_sort.sort_segments(np.array([0, n]), n, t, work)
        assert (t == expected).all()


def counts_and_prices_are_the_twins() -> None:
    """The most common candidate by the twin; prices by the exact way of each draw."""
    mechanism = fx.MostCommon(epsilon=0.7, candidates=range(5))
    labels = np.array([0, 1, 1, 2, 2, 2, 4, 9, 3, 3])
    found = mechanism.sample(labels, 6, offsets=[0, 8, 8, 10], rng=3)
    words = GivenWords([int(w) for w in np.random.SeedSequence(3).generate_state(2, np.uint64)], 3)
    for g, counts in enumerate([[1, 2, 3, 0, 1], [0] * 5, [0, 0, 0, 2, 0]]):
        cells = [(i, 1, max(counts) - c, False) for i, c in enumerate(counts)]
        for j in range(6):
            own, more = words_of(words.stream(g), j)
            rate = mechanism._weighting.rate
            assert found[g, j] == group_draw(cells, rate, own, more, None)  # type: ignore[arg-type]
    price = fx.Price(epsilon=2.0, bounds=(0, 9), step=1)
    bids = np.array([1, 3, 3, 5, 8, 8, 2, 11, -4])
    some = Segments(bids, np.array([0, 6, 9]))
    words = GivenWords(KEY, 2)
    drawn = draw_all(PriceDraws(price._prices, some, words, 30), 30, 1)
    assert (exact_draws(PriceDraws(price._prices, some, words, 30), 30) == drawn).all()
    revenue = np.empty(10, np.int64)
    segment_prices.revenues_fill(np.clip(bids[:6], 0, 9), np.arange(10), SIGNED, revenue)
    assert revenue.tolist() == [
        sum(b >= p for b in np.clip(bids[:6], 0, 9).tolist()) * p for p in range(10)
    ]
    likely = np.exp(2.0 / 9 * revenue)
    seen = np.bincount(drawn[0], minlength=10)
    assert abs(seen @ np.arange(10) / 30 - likely @ np.arange(10) / likely.sum()) < 1.5


UNEVEN = [
    fx.Price(epsilon=3.0, bounds=(0, 9), grid=[0.0, 0.1, 1 / 3, 2.5, 2.7, 9]),
    fx.Price(epsilon=3.0, bounds=(0, 2**62), grid=[0, 3, 2**60, 2**61 + 1, 2**62 - 1]),
    fx.Price(epsilon=3.0, bounds=(0, 1), grid=[5e-324, 3e-323, 1e-310, 1e-270, 2e-270]),
]


def uneven_prices_are_bounded() -> None:
    """Bounds are those of one data set; draws are the exact way's; open coins are left to it."""
    rng, words = np.random.default_rng(6), GivenWords(KEY, 3)
    offsets = np.array([0, 0, 9, 40])
    for mechanism in UNEVEN:
        prices, k = mechanism._prices, mechanism.grid.size
        bids = rng.integers(0, k, 40)
        some = Segments(mechanism.grid.values(bids), offsets)
        draws = PriceDraws(prices, some, words, 8)
        drawn = draw_all(draws, 8, 1)
        assert (exact_draws(draws, 8) == drawn).all()
        for g in range(3):
            own = bids[offsets[g] : offsets[g + 1]]
            bits = np.empty(k, np.int64)
            segment_prices.revenues_fill(own, draws._points, FLOAT, bits)
            paying = np.array([(own >= t).sum() for t in range(k)])
            assert np.array_equal(bits.view(np.float64), prices.bounds(paying, np.arange(k)))
        last = words_of(words.stream(2), 0)[0]
        for coin, index in ((0, drawn[2, 0]), (2**64 - 1, OPEN)):
            out, rate = np.empty(1, np.int64), prices.float_weighting
            segment_prices.prices_draw(
                own, np.array([0, 31]), draws._points, FLOAT, rate.rate_log2, rate.rate_nats,
                np.empty(0), np.array([*last[:2], coin, 0], np.uint64), out,
                np.empty(k + storage(k).size, np.int64),
            )  # fmt: skip
            assert out[0] == index or drawn[2, 0] == 0


def coins_of_prices_pass_surely() -> None:
    """What the kernel lets pass does, however much too high a bound may be; most words pass."""
    rng, passed = np.random.default_rng(7), 0
    for bound in (5e-324, 1e-310, 1e-9, 1.0, 1e6, 1e13, 1e300):
        bits, excess = np.float64(bound).view(np.uint64), Fraction(bound) / 2**47
        excess += Fraction(5e-324) * 2
        for height in (1e-30, 1e-9, 0.01, 0.3, 0.9, 40.0):
            nats = min(height / float(excess), 2.0**900)
            words = [0, 2**64 - 1, *rng.integers(0, 2**64, 20, np.uint64).tolist()]
            words += [
                max(int(2**64 * (1 - share * height)), 0) for share in (0.5, 0.99, 1.01, 2.01)
            ]
            for word in words:
                sure = segment_prices.passes.function(bits, nats, np.uint64(word % 2**64))
                if sure:
                    passed += 1
                    low, _ = exact.exp_bounds(Fraction(nats) * excess, 80)
                    assert (word % 2**64) + 1 << 16 <= low
    assert passed > 200
    assert segment_prices.passes.function(np.uint64(0), 1.0, np.uint64(2**64 - 1))


def flips_are_the_twins() -> None:
    """Permute-and-flip of a few candidates and of many, with and without long coins."""
    rng = np.random.default_rng(8)
    key = [int(w) for w in np.random.SeedSequence(3).generate_state(2, np.uint64)]
    for k in (2, 5, 12, 13, 70):
        mechanism, words = fx.MostCommon(0.7, range(k), mechanism=FLIP), GivenWords(key, 4)
        labels, offsets = rng.integers(0, k, 40), np.array([0, 8, 8, 10, 40])
        with changed((FlipCountDraws, "_exactly", never)):
            found = mechanism.sample(labels, 5, offsets=offsets, rng=3)
            check_flips(found, labels, offsets, words, k)
        for bits in (2, 4):  # these are often left open; of 70 candidates 4 take several fours
            with changed(*coins_of(bits)):
                found = mechanism.sample(labels, 5, offsets=offsets, rng=3)
                check_flips(found, labels, offsets, words, k)


def coins_of(bits: int) -> list[tuple[Any, str, Any]]:
    """All coins with that many bits at first."""
    return [(where, "coin_bits", lambda _: bits) for where in (count_draws, reference_groups)]


def check_flips(found: Any, labels: Any, offsets: Any, words: GivenWords, k: int) -> None:
    """Each draw is the twin's."""
    for g, drawn in enumerate(found.tolist()):
        number = np.bincount(labels[offsets[g] : offsets[g + 1]], minlength=k)
        distances, count = (number.max() - number).tolist(), flip_words(k)
        for j, index in enumerate(drawn):
            own = words_of(words.stream(g), j, count)
            assert index == flip_draw(distances, Fraction(0.7), *own)


def kernel_flip(labels: Any, rate: Fraction, words: list[int]) -> int:
    """What the kernel makes of these words of two candidates."""
    out, work = np.empty(1, np.int64), np.empty(4, np.int64)
    args = labels, np.array([0, labels.size]), 2, table(rate, 9), 16, np.array(words, np.uint64)
    segment_counts.counts_flip(*args, out, work)
    return int(out[0])


def coins_are_left_open_at_their_bounds() -> None:
    """A digit below the weight's is a success, one above a failure; between is the exact test."""
    rate, labels, second = Fraction(1, 3), np.array([0, 0, 0, 1]), (1 << 63) + 1
    weight = upper(rate, 2)
    digits = weight >> 44
    for rho, answer in ((0, 1), (digits - 1, 1), (digits, -1), (digits + 1, 0), (65_535, 0)):
        assert kernel_flip(labels, rate, [rho << 16 | 0xFFFF, 0, 0, second]) == answer
    words = [digits << 16, 0, 0, second]
    assert flip_draw([0, 2], rate, words, lambda: 0) == 1
    assert flip_draw([0, 2], rate, words, lambda: (1 << 64) - 1) == 0
    assert kernel_flip(labels, rate, [0, 0, 0, 1]) == 0  # a choice among two successes
    assert kernel_flip(labels, rate, [0, 0, 0, 0]) == -1  # a word that might favour one
    assert flip_draw([0, 2, 2], rate, [0, 0, 0, 0], lambda: second) == 1


def the_flips_twin_has_the_law() -> None:
    """Four candidates, by its integral."""
    rng, seen, draws = np.random.default_rng(3), np.zeros(4), 8_000
    distances = [1, 0, 3, 0]

    def word() -> int:
        return int(rng.integers(2**64, dtype=np.uint64))

    for _ in range(draws):
        seen[flip_draw(distances, Fraction(7, 10), [word() for _ in range(4)], word)] += 1
    weights = [Fraction(float(w)) for w in np.exp(-0.7 * np.array(distances))]
    expected = np.array([float(p) for p in selection.permute_and_flip_law(weights)]) * draws
    assert ((seen - expected) ** 2 / expected).sum() < 45  # chi2.isf(1e-9, 3)


def keyed_flips_go_on_in_their_stream() -> None:
    """A keyed release of many candidates: more words of ChaCha20 than one block has."""
    k, key = 70, restored_key()
    mechanism = fx.MostCommon(0.01, range(k), mechanism=FLIP)
    labels = np.array([3, 3, 69, 0, 12, 12])
    names = hashlib.blake2b(b"b", digest_size=32, person=b"fastexp.name").digest()
    records = hashlib.blake2b(np.sort(labels).astype("<i8").tobytes(), digest_size=32).digest()
    number = np.bincount(labels, minlength=k)
    for bits, label in itertools.product((32, 2), ("rent", "heating", "size", "floor")):
        question = query_digest(mechanism, label, "nan=drop").tobytes()
        inner = hashlib.blake2b(question, digest_size=32, key=SECRET).digest()
        own = hashlib.blake2b(names + records, digest_size=32, key=inner).digest()
        with changed(*coins_of(bits)):
            count = flip_words(k)
            how = {"by": ["b"] * 6, "groups": ["a", "b"], "key": key, "label": label}
            found = mechanism.release(labels, **how)[1]
            stream = (word for block in range(99) for word in chacha_words(own, block))
            first = [next(stream) for _ in range(count)]
            distances = (number.max() - number).tolist()
            assert found == flip_draw(distances, Fraction(0.01), first, stream.__next__)


def quarter_round(x: list[int], a: int, b: int, c: int, d: int) -> None:
    """Of ChaCha20 (RFC 8439, 2.1)."""
    for i, j, k, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        x[i] = (x[i] + x[j]) & 0xFFFFFFFF
        y = x[k] ^ x[i]
        x[k] = (y << turn | y >> (32 - turn)) & 0xFFFFFFFF


def chacha_words(key: bytes, block: int) -> list[int]:
    """A block of the keystream with nonce 0 as eight words (RFC 8439, 2.3)."""
    head = np.frombuffer(b"expand 32-byte k" + key, "<u4").tolist()
    first = [*head, block, 0, 0, 0]
    x = list(first)
    for _ in range(10):
        for i in range(4):
            quarter_round(x, i, i + 4, i + 8, i + 12)
        for i in range(4):
            quarter_round(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    out = np.array([(a + b) & 0xFFFFFFFF for a, b in zip(x, first, strict=True)], "<u4")
    return out.view("<u8").tolist()


def keyed_words_are_the_standards() -> None:
    """A keyed release, from hashlib's BLAKE2b and a plain ChaCha20."""
    key, median = restored_key(), fx.Median(epsilon=0.01, bounds=(0, 1000), step=1)
    values, names = np.array([5.5, 900.0, 17.0, 17.9, 600.0]), ["b", "a"]
    found = median.release(
        values, by=["a", "b", "a", "a", "b"], groups=names, key=key, label="rent"
    )
    question = query_digest(median, "rent", "nan=raise").tobytes()
    assert question != query_digest(median, "income", "nan=raise").tobytes()
    assert question != query_digest(median, "rent", "nan=drop").tobytes()
    for name, mapped, answer in (("b", [600, 900], found[0]), ("a", [6, 17, 18], found[1])):
        told = hashlib.blake2b(name.encode(), digest_size=32, person=b"fastexp.name").digest()
        records = hashlib.blake2b(np.array(mapped, "<i8").tobytes(), digest_size=32).digest()
        inner = hashlib.blake2b(question, digest_size=32, key=SECRET).digest()
        own = hashlib.blake2b(told + records, digest_size=32, key=inner).digest()
        words = (word for block in range(9) for word in chacha_words(own, block))
        first = [next(words) for _ in range(4)]
        shape = median._shape(Records(np.array(mapped)).source())
        start, count, bits, _, _ = shape.cells
        bounds = (-bits.view(np.int64)).tolist()
        cells = [
            (*pair, False) for pair in zip(start.tolist(), count.tolist(), bounds, strict=True)
        ]
        rate = median._statistic.weighting.rate
        assert answer == group_draw(cells, rate, first, words.__next__, shape.distance)


def persons_are_bounded() -> None:
    """Of what a person has beyond the limits some rows count, whatever else there is."""
    person = np.array([1, 1, 1, 1, 1, 2, 2, 3, 3, 3])
    by = np.array([0, 0, 0, 1, 1, 0, 1, 1, 1, 1])
    values = np.arange(10.0)
    how = {"groups": [0, 1], "rng": 5, "max_groups": 1, "max_rows": 2}
    median = fx.Median(epsilon=0.02, bounds=(0, 100), step=1)
    kept = kept_rows(values, by, person, how)
    for one in (1, 2, 3):
        mine = kept & (person == one)
        groups, number = np.unique(by[mine], return_counts=True)
        assert groups.size == 1
        assert number.max() == min(2, int(((person == one) & (by == groups[0])).sum()))
        alone = person == one
        assert (kept_rows(values[alone], by[alone], person[alone], how) == kept[alone]).all()
    found = median.sample(values, 5, by=by, person=person, **how)
    plain = {"groups": [0, 1], "rng": 5}
    assert (found == median.sample(values[kept], 5, by=by[kept], **plain)).all()


def kept_rows(values: Any, by: Any, person: Any, how: dict[str, Any]) -> Any:
    """Which rows count in a sample."""
    groups, people = names_of(how["groups"]), distinct(person, "person")
    words = people[1].name_words(), groups.name_words()
    limits, key = Limits(how["max_groups"], how["max_rows"]), sample_choice(make_key(how["rng"]))
    return keep(codes_of(by, groups), people[0], *words, values.astype(np.int64), limits, key)


def groups_are_answered_in_order() -> None:
    """Listed groups, also without records; others, and gaps, count nowhere."""
    values, by = np.array([4.0, 90.0, np.nan, 5.0, 50.0]), ["a", "b", "a", "a", None]
    median = fx.Median(epsilon=9.0, bounds=(0, 100), step=1)
    found = median.sample(values, 40, by=by, groups=["z", "b", "a"], rng=1, nan="drop")
    assert np.abs(np.median(found[1:], axis=1) - [90, 4.5]).max() < 3
    assert found[0].max() - found[0].min() > 60
    assert (median.sample([90.0], 40, by=["b"], groups=["b"], rng=1)[0] == found[1]).all()


def promises_are_those_of_groups() -> None:
    """What a budget is charged."""
    values, by = np.arange(6.0), [0, 0, 1, 1, 2, 2]
    for relation, factor in (("add-remove", 1), ("replace", 2)):
        median = fx.Median(epsilon=0.5, bounds=(0, 9), step=1, neighbors=relation)
        budget = fx.Budget(epsilon=99.0, neighbors=relation)
        how = {"by": by, "groups": range(3), "budget": budget}
        median.release(values, **how, max_groups=2, max_rows=3)
        assert budget.spent == 3.0 * factor
        median.release(values, **how)
        assert budget.spent == 3.5 * factor
        median.release(values.reshape(2, 3), budget=budget)
        assert budget.spent == 3.5 * factor + 1.0


def chunks_do_not_matter() -> None:
    """Chunks of few records, and a spread of lengths."""
    mechanism, rng = MECHANISMS[0], np.random.default_rng(5)
    lengths = rng.integers(0, 9, 60)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    values, words = rng.random(offsets[-1]) * 20, GivenWords(KEY, lengths.size)
    whole = by_kernel(mechanism._statistic, values, offsets, words, 2)
    with changed((segments, "CHUNK_RECORDS", 30), (ranks, "MAX_LISTED_RECORDS", 3)):
        assert (by_kernel(mechanism._statistic, values, offsets, words, 2) == whole).all()


CHECKS: list[Callable[[], None]] = [
    promises_are_those_of_groups,
    groups_are_answered_in_order,
    persons_are_bounded,
    weights_are_next_integers,
    keyed_words_are_the_standards,
    draws_are_the_twins,
    segments_are_sorted,
    sums_and_bounds_are_met,
    open_draws_are_left_open,
    few_records_are_the_twins,
    cells_by_segment_are_the_twins,
    released_few_read_words,
    forms_are_lines,
    long_weights_are_bounds,
    long_windows_are_the_twins,
    words_are_those_of_the_stream,
    ties_at_the_ends_of_a_window_belong_to_it,
    open_draws_are_exact,
    counts_and_prices_are_the_twins,
    uneven_prices_are_bounded,
    coins_of_prices_pass_surely,
    flips_are_the_twins,
    coins_are_left_open_at_their_bounds,
    the_flips_twin_has_the_law,
    keyed_flips_go_on_in_their_stream,
    chunks_do_not_matter,
    the_twin_has_the_law,
    windows_are_those_of_sorted_records,
    a_record_that_is_no_number_is_refused,
    rows_lie_between_their_edges,
    rows_between_pivots_are_enough,
    forms_are_those_of_each_length,
]


def run() -> None:
    """All of them."""
    for check in CHECKS:
        check()


if __name__ == "__main__":
    run()
