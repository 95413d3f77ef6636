"""Deterministic checks of the draws of rows: bounds, rounds, two levels, tiles."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

import fastexp as fx
from tests.doors.compiler import interpreted
from tests.doors.intake import utilities as data
from tests.doors.kernels import (
    BLOCK,
    chords,
    envelope,
    heights,
    rounds,
    single,
    tiles,
    two_level,
    words,
)
from tests.doors.randomness import ROW, Spare, seeds_of, stream_of
from tests.doors.reference import exact as exact_twin
from tests.doors.selection import Rows, bits_value, plan
from tests.support.altered import changed
from tests.support.cases import CASES, Case
from tests.twins import selection

SEED = 11
LOW = 3  # a precision at which every second draw needs an exact test


def rows_of(mechanism: fx.Exponential, utilities: np.ndarray) -> Rows:
    return Rows(*data.utilities(utilities, None, "raise"), mechanism._weighting)


def heights_of(rows: Rows) -> list[float | None]:
    """rate * (best - u) - log2(base) of each candidate in plain floats; None for base 0."""
    w = rows.weighting
    values = [bits_value(int(b), rows.kind) for b in rows.bits]
    best = max(v for i, v in enumerate(values) if w.base_of(i) > 0)
    gaps = (
        [float(best - v) for v in values] if rows.kind else [float(best) - float(v) for v in values]
    )
    out = [w.rate_log2 * (gap if abs(gap) >= 2.0**-1022 else 0.0) for gap in gaps]
    if w.base is None:
        return out
    logs = w.log2_base.tolist()
    return [h - x if x > -np.inf else None for h, x in zip(out, logs, strict=True)]


def lift_of(rows: Rows) -> float:
    """The whole number that is taken off heights."""
    return (
        0.0
        if rows.weighting.base is None
        else float(np.floor(min(h for h in heights_of(rows) if h is not None)))
    )


def bounds_of(rows: Rows, precision: int) -> list[list[int]]:
    """The chord bounds of each block's candidates, from the reference."""
    lift = lift_of(rows)
    bounds = [
        0 if h is None else selection.chord_bound(h - lift, precision) for h in heights_of(rows)
    ]
    return [bounds[a : a + BLOCK] for a in range(0, rows.k, BLOCK)]


def kernel_bounds(rows: Rows, precision: int) -> list[int]:
    """The same of one block, from the kernel."""
    w, work = rows.weighting, np.empty(rounds.SCRATCH, np.int64)
    top, _, _ = heights.block_top(rows.bits, rows.kind, w.log2_base)
    fixed = chords.FIXED + float(precision)
    args = rows.bits, rows.kind, top, w.rate_log2, w.log2_base, lift_of(rows), fixed, work
    total = chords.fill_chords(*args)
    bounds: list[int] = work[: rows.k].tolist()
    assert total == sum(bounds) == sum(work[2 * BLOCK : 2 * BLOCK + chords.LANES].tolist())
    return bounds


def exact_weights(rows: Rows, precision: int) -> list[tuple[Fraction, Fraction]]:
    """Bounds of f*w of each candidate, from the reference."""
    w = rows.weighting
    scale = Fraction(2) ** (precision + int(lift_of(rows)))
    values = [bits_value(int(b), rows.kind) for b in rows.bits]
    best = max(v for i, v in enumerate(values) if w.base_of(i) > 0)
    out = []
    for i, value in enumerate(values):
        own = scale * w.base_of(i)
        bits = 120 + int(own).bit_length()
        bounds = exact_twin.weight_bounds(w.rate, best - value, own, bits) if own else (own, own)
        out.append(bounds)
    return out


def chords_contain(case: Case, precision: int) -> None:
    """f*w <= B <= 1.0616 * f*w + 2, and B is 0 exactly where the base is."""
    rows = rows_of(case.mechanism, case.utilities)
    (bounds,) = bounds_of(rows, precision)
    for i, (low, high) in enumerate(exact_weights(rows, precision)):
        assert high <= bounds[i] or bounds[i] == 0 == high
        assert bounds[i] <= Fraction(10616, 10000) * low + 2
        assert (bounds[i] == 0) == (rows.weighting.base_of(i) == 0)


def chords_are_monotone_and_tight() -> None:
    """Over every height of the fixed point near whole numbers, and many others."""
    near = np.arange(-40, 41) * 2.0**-24
    heights_ = np.concatenate([n + near for n in (0.0, 0.5, 1.0, 7.0, 33.0, 49.0, 50.0, 59.9)])
    heights_ = np.unique(np.abs(heights_))
    found = [selection.chord_bound(h, 50) for h in heights_.tolist()]
    assert found == sorted(found, reverse=True)
    for h, bound in zip(heights_.tolist(), found, strict=True):
        # exp(-h ln 2) = 2**-h between bounds of ln 2
        exact = Fraction(2) ** 50 * power_of_two(-Fraction(h))
        assert exact <= bound <= Fraction(10616, 10000) * exact + 2


def power_of_two(x: Fraction) -> Fraction:
    """2**x to 2**-80, for x <= 0."""
    low, _ = exact_twin.log_bounds(Fraction(2), 200)
    lo, _ = exact_twin.exp_bounds(-x * Fraction(low, 1 << 200), 120)
    return Fraction(lo, 1 << 120)


def twin(rows: Rows, r: int, t: int, seeds: np.ndarray, precision: int, two: bool) -> int:
    """The draw that the reference makes from the kernel's bounds and the documented words."""
    row = Rows(rows.row(r), rows.kind, rows.weighting)
    stream = stream_of(seeds, r)
    pair = int(stream[0]), int(stream[1])
    bounds, lift, w = bounds_of(row, precision), lift_of(row), rows.weighting
    scale = Fraction(2) ** (precision + int(lift))
    values = [bits_value(int(b), row.kind) for b in row.bits]
    best = max(v for i, v in enumerate(values) if w.base_of(i) > 0)

    def accepts(index: int, rho: int, number: int) -> bool:
        coins = Spare(stream, t, number + 1 << 16)
        own = scale * w.base_of(index)
        return exact_twin.accept(w.rate, best - values[index], own, rho, coins)

    if row.k <= BLOCK:

        def word(number: int) -> int:
            return next(exact_twin.substream(pair, t, number))

        return selection.block_draw(bounds[0], word, accepts)

    def words(number: int) -> int:
        both = exact_twin.substream(pair, t, 2 * number)
        return next(both) | next(both) << 64

    coarse = [sum(block) for block in bounds]
    if two:
        coarse = [len(block) * max(block) for block in bounds]
    return selection.two_level_draw(coarse, bounds, words, accepts, two_level.ROUNDS)


def draws_follow_the_twin(
    mechanism: fx.Exponential, utilities: np.ndarray, size: int | None, precision: int = 50
) -> None:
    """Each draw of each row is the reference's, for the same words."""
    rows = rows_of(mechanism, utilities)
    names = np.arange(100, 100 + rows.rows, dtype=np.uint64)
    seeds, count = seeds_of(SEED, names), 1 if size is None else size
    found = rows.draw(seeds, size, 1, precision).reshape(rows.rows, count)
    two = size is None and mechanism.base is None
    for r in range(rows.rows):
        for t in range(count):
            assert found[r, t] == twin(rows, r, t, seeds, precision, two)


def single_draws_follow_the_twin(
    utilities: np.ndarray, draws: int, precision: int = 50, mechanism: fx.Exponential | None = None
) -> int:
    """A row in a call of its own, by key or raw words; returns how many draws were UNSURE."""
    rows = rows_of(mechanism or fx.Exponential(1.0, 1.0), utilities)
    args, unsure = (rows.bits, rows.kind, rows.weighting.rate_log2), 0
    raw = np.random.default_rng(6).integers(0, 2**64, 4, np.uint64)
    low, high = (int(a) % 2**32 | int(b) % 2**32 << 32 for a, b in (raw[:2], raw[2:]))
    for name in range(2**40, 2**40 + draws):
        seeds = np.array([low, high, ROW, name], np.uint64)
        with changed((single, "PRECISION", precision), (single, "SCALE", 2.0**precision)):
            found = single.single_draw(*args, raw, np.uint64(ROW), np.uint64(name))
            again = single.single_draw(*args, seeds[:2], np.uint64(ROW), np.uint64(name))
        assert found == again
        unsure += found == envelope.UNSURE
        if found != envelope.UNSURE:
            assert found == twin(rows, 0, 0, seeds, precision, False)
    return unsure


def single_draws() -> None:
    """Every kind and number of lanes; also with bounds so coarse that they decide little."""
    for case in CASES:
        if case.mechanism.base is None:
            assert single_draws_follow_the_twin(case.utilities, 8, 50, case.mechanism) == 0
    for k in (31, 32, 33, 64, 95, 1024):
        assert single_draws_follow_the_twin(20 * np.random.default_rng(k).random(k), 6) == 0
    if interpreted():
        words_that_do_not_count_are_passed_over()
        few = np.sin(np.arange(70.0))
        assert 20 < single_draws_follow_the_twin(few, 200, LOW) < 180


def rows_do_not_depend_on_each_other() -> None:
    """A row alone, with its name, gives what it gives in a matrix; also in tiles."""
    rng, m = np.random.default_rng(5), fx.Exponential(1.0, 1.0)
    for k in (1, 2, 7, 31, 32, 33, 70):
        for make in (
            lambda shape: 20 * rng.random(shape),
            lambda shape: rng.integers(-30, 30, shape),
            lambda shape: rng.integers(0, 30, shape).astype(np.uint64),
        ):
            u = make((70, k))
            for size in (None, 2):
                whole = m.sample(u, size, rng=3)
                alone = [m.sample(u[i], size, rng=3, streams=[i]) for i in (0, 1, 63, 64, 69)]
                assert np.array_equal(whole[[0, 1, 63, 64, 69]], np.array(alone))


SPIKES = {
    "flat": np.zeros(2100),
    "spread": 20 * np.random.default_rng(1).random(2100),
    "peaked": np.where(np.arange(2100) == 1500, 0.0, -200.0),
    "a spike in every block": np.where(np.arange(2100) % BLOCK == 7, 0.0, -30.0),
    "a spike in a block of ones": np.where(np.arange(2100) == 3, 6.0, 0.0),
}


def bounds_are_the_twins() -> None:
    """The kernel's bounds are the reference's; slow where helpers must be compiled."""
    for case in CASES:
        rows = rows_of(case.mechanism, case.utilities)
        for precision in (0, LOW, 50):
            assert kernel_bounds(rows, precision) == bounds_of(rows, precision)[0]
    for k in (33, 64, 65, 129, 1000, 1024):
        rows = rows_of(fx.Exponential(1.0, 1.0), 20 * np.random.default_rng(k).random(k))
        assert kernel_bounds(rows, 50) == bounds_of(rows, 50)[0]


def words_are_bounded_without_bias() -> None:
    """`below_word` and the tiles' rests against the reference, at the words that are refused."""
    for bound in (1, 3, 10, 2**50 + 7, 3 * 2**58 + 1, 2**61):
        for value in (0, 1, bound // 2, bound - 1):
            first = -(-(value << 64) // bound)  # the least word that gives the value
            for word in {w % 2**64 for w in (first - 1, first, first + 1)}:
                exact = exact_twin.below(bound, word, 64)
                found, counts = chords.below_word(np.uint64(word), np.uint64(bound))
                assert (int(found) if counts else None) == exact
                rest = np.empty(1, np.int64)
                total = np.array([bound], np.int64)
                tiles.fill_rests(np.array([word], np.uint64), total, rest)
                assert rest[0] in (-1, exact)


def blocks_are_located() -> None:
    """Every number below the sum, with empty blocks and beyond one limb."""
    for bounds in ([3, 0, 5, 7], [0, 0, 1], [2**61] * 9 + [5, 2]):
        total = sum(bounds)
        edges = [sum(bounds[:i]) for i in range(len(bounds) + 1)]
        some = range(total) if total < 100 else [e + d for e in edges for d in (-1, 0, 1)]
        for value in some:
            if 0 <= value < total:
                high, low = np.uint64(value >> 64), np.uint64(value % 2**64)
                found, rest = two_level.locate(np.array(bounds, np.int64), high, low)
                assert (int(found), int(rest)) == selection.place_of(bounds, value)


def edges_are_hit() -> None:
    """At a low precision bounds are small numbers, and draws fall on all their edges."""
    m = fx.Exponential(1.0, 1.0)
    few = np.tile(SPIKES["spread"][:9], (70, 1))
    for size in (None, 2):
        draws_follow_the_twin(m, few, size, LOW)
        draws_follow_the_twin(m, np.tile(np.sin(np.arange(70.0)), (40, 1)), size, LOW)
    draws_follow_the_twin(m, np.tile(SPIKES["flat"][:1100], (6, 1)), None, LOW)
    draws_follow_the_twin(m, np.tile(SPIKES["spread"][:1100], (30, 1)), None)
    draws_follow_the_twin(m, np.tile(np.sin(np.arange(1100.0)), (12, 1)), None, LOW)
    draws_follow_the_twin(m, np.sin(np.arange(210.0)).reshape(3, 70) * [[1], [9], [2]], None)
    for u in SPIKES.values():  # 12 bits: else far candidates' units of bound reject for long
        draws_follow_the_twin(m, np.tile(u[:1100], (4, 1)), None, 12)


@contextmanager
def first_words(low: int, high: int) -> Iterator[None]:
    """The first two words of every draw are these, of kernels and of the twin."""

    def philox(block: Any, prefix: Any, key: Any) -> Any:
        is_first = not block & np.uint64(2**32 - 1)
        return (np.uint64(low), np.uint64(high)) if is_first else words.philox(block, prefix, key)

    def substream(stream: Any, number: int, first: int = 0) -> Iterator[int]:
        return chain([low, high][first:], read(stream, number, max(first, 2)))

    read = exact_twin.substream
    kernels = [(module, "philox", philox) for module in (rounds, single, tiles, two_level)]
    with changed(*kernels, (exact_twin, "substream", substream)):
        yield


def words_that_do_not_count_are_passed_over() -> None:
    """Words of zeros, and a number between the refined sum of a block and its bound."""
    m, u = fx.Exponential(1.0, 1.0), SPIKES["spread"]
    with first_words(0, 0):
        for size in (None, 2):
            draws_follow_the_twin(m, np.tile(u[:9], (70, 1)), size)
        single_draws_follow_the_twin(u[:70], 6)
        draws_follow_the_twin(m, u[:1100], None)
    peaks = SPIKES["a spike in every block"][:1100]
    bounds = bounds_of(rows_of(m, peaks), 50)
    total = sum(len(block) * max(block) for block in bounds)
    both = -(-(sum(bounds[0]) << 128) // total) + 5
    with first_words(both % 2**64, both >> 64):
        draws_follow_the_twin(m, peaks, None)


def narrow_rows() -> list[np.ndarray]:
    """Float32 matrices: of either sign, of zeros, subnormal, next to the end, and of few."""
    rng = np.random.default_rng(6)
    spread = 20 * rng.standard_normal((3, 1100))
    tiny = np.where(np.arange(1100) % 2, -0.0, 1e-45) * np.ones((2, 1))
    ends = np.tile(np.append(np.zeros(1098), [3.4e38, -3.4e38]), (2, 1))
    many = [spread, -9 - abs(spread), tiny, ends, spread[:, :40], spread[:, :5].repeat(30, axis=0)]
    return [u.astype(np.float32) for u in many]


def narrow_rows_draw_as_wide_ones() -> None:
    """Float32 utilities are the doubles that are equal, and what is not finite is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fx.SensitivityWarning)
        m = fx.Exponential(1.0, 1.0)
        for u in narrow_rows():
            wide = u.astype(np.float64)
            for size in (None, 2):
                assert np.array_equal(m.sample(u, size, rng=2), m.sample(wide, size, rng=2))
            assert m.release(u).shape == u.shape[:1]
        base = fx.Exponential(1.0, 1.0, base=np.arange(u.shape[1]))
        assert np.array_equal(base.sample(u, rng=2), base.sample(wide, rng=2))
        for bad in (np.nan, np.inf, -np.inf):
            for k in (1100, 40):
                spoilt = np.zeros((2, k), np.float32)
                spoilt[1, k - 1] = bad
                for verb in (m.sample, m.release):
                    try:
                        verb(spoilt)
                    except fx.InvalidUtilities:
                        continue
                    raise AssertionError


def run() -> None:
    """Everything, as the mutants' jury; what is quick comes first."""
    bounds_are_the_twins()
    words_are_bounded_without_bias()
    narrow_rows_draw_as_wide_ones()
    blocks_are_located()
    everything_else()


def everything_else() -> None:
    """All that needs no helper by itself."""
    for case in CASES:
        for precision in (0, LOW, 50):
            chords_contain(case, precision)
        for size in (None, 3):
            draws_follow_the_twin(case.mechanism, case.utilities, size)
            draws_follow_the_twin(case.mechanism, case.utilities, size, LOW)
    chords_are_monotone_and_tight()
    m = fx.Exponential(1.0, 1.0)
    for u in SPIKES.values():
        draws_follow_the_twin(m, u[:1100], None)
    base = np.ones(1100)
    base[:1030] = 0
    draws_follow_the_twin(fx.Exponential(1.0, 1.0, base=base), SPIKES["spread"][:1100], None)
    few = np.tile(SPIKES["spread"][:9], (70, 1))
    draws_follow_the_twin(m, few, None)
    edges_are_hit()
    single_draws()
    rows_do_not_depend_on_each_other()
    assert plan.VERSION == 2


Check = Callable[[], None]

if __name__ == "__main__":
    run()
