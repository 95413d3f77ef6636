"""Private numbers: every line of their kernels."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import fastexp as fx
from tests.doors.intake import Counted, runs, unsorted
from tests.doors.kernels import (
    FLOAT,
    SIGNED,
    UNSIGNED,
    density,
    few_quantiles,
    histogram,
    places,
    ragged,
    select_rank,
)
from tests.doors.laws import law_chain
from tests.doors.numbers import QuantilesStatistic, quantile_few, quantile_sites
from tests.doors.parameters import make_grid
from tests.doors.randomness import seeds_of, stream_of
from tests.support.altered import changed
from tests.support.checks import quantile_chains, quantile_laws

NUMBERS = np.random.default_rng(8).normal(size=700).round(2)


def numbers(digest: Any) -> None:
    """Draws of every mechanism of numbers, on every path, and what kernels refuse."""
    for draws in (*ranked(), *others()):
        digest.update(np.ascontiguousarray(draws).tobytes())
    for records in (NUMBERS, NUMBERS.tolist(), (100 * NUMBERS).astype(np.int64)):
        assert -400 <= fx.Median(1.0, (-400, 400)).release(records) <= 400
    counting(digest)
    rounding()
    coins(digest)
    laws(digest)
    histograms(digest)
    digits(digest)
    several(digest)


def ranked() -> list[Any]:
    """Rank distances: fine, stepped, listed and widened grids; one data set and rows of them."""
    fine, whole = fx.Median(0.3, (-4, 4)), fx.Quantile(0.9, 0.5, (-300, 300), step=1)
    tied = fx.Median(0.2, (-4, 4), step=0.5, convention="strict", neighbors="replace")
    lower = fx.Quantile(0.3, 1.0, (-4, 4), convention="lower")
    listed = fx.Median(1.0, (-4, 4), grid=[-3.5, -1, 0, 0.25, 2])
    integers = (100 * NUMBERS).astype(np.int64)
    late = np.minimum(np.arange(60), 31) / 3.5  # equal records go on above the window only
    hundredths, middles = np.arange(101) / 100, np.arange(-199, 200, 2) / 200
    rows, ties = NUMBERS.reshape(7, 100), np.zeros((3, 40))
    return [
        fine.sample(NUMBERS, rng=1),
        fine.sample(NUMBERS, 300, rng=1),
        fine.sample(NUMBERS[:0], 5, rng=1),
        whole.sample(integers, 40, rng=2),
        tied.sample(NUMBERS, 40, rng=3),
        lower.sample(NUMBERS, 9, rng=4),
        listed.sample(NUMBERS, 9, rng=4),
        fx.Median(1.0, (-4, 4), widen=0.3).sample(NUMBERS, 9, rng=5),
        fx.Maximum(1.0, (-4, 4), step=0.25).sample(NUMBERS, 9, rng=5),
        fx.Mode(1.0, (-4, 4), step=0.25, widen=0.5).sample(NUMBERS, 9, rng=5),
        fine.sample(rows, 60, rng=6),
        fx.Median(1.0, (-4, 4.123457)).sample(NUMBERS, 50, rng=6),
        fx.Median(1.0, (-40, 3.14159)).sample(NUMBERS, 50, rng=6),
        fx.Median(9.0, (-4, 4), step=4).sample(np.sort(NUMBERS), 3, assume_sorted=True, rng=6),
        fx.Median(9.0, (0, 9), step=0.25).sample(late, 3, assume_sorted=True, rng=6),
        fx.Median(9.0, (0, 9)).sample(np.sqrt(np.arange(60)), 3, rng=6),
        fx.Median(0.1, (0, 1), step=0.01).sample(hundredths, 3, rng=6),
        fx.Median(0.1, (-1, 1), step=0.01).sample(middles, 3, rng=6),
        fx.Median(0.1, (-1, 1), step=0.01).sample(np.nextafter(middles, 2), 3, rng=6),
        fx.Median(9.0, (-4, 4), step=4).sample(rows, 50, rng=6),
        whole.sample(integers.reshape(7, 100), 5000, rng=6),
        tied.sample(ties, 50, rng=7),
    ]


def others() -> list[Any]:
    """Prices and noise around a statistic."""
    bids = np.abs(NUMBERS)
    price, fine = fx.Price(1.0, (0, 4), step=0.01), fx.Price(1.0, (0, 4))
    noise, inside = fx.Laplace(1.0, 1.0, step=0.01), fx.Laplace(1.0, 1, step=1, bounds=(0, 9))
    tiny, flat = fx.Laplace(1.0, 1.0, step=1e-9), fx.Laplace(1e-9, 1, step=1, bounds=(0, 9))
    one_sided = fx.Laplace(1.0, 1.0, step=1e-9, bounds=(0, 1))
    return [
        price.sample(bids, 20, rng=1),
        fine.sample(bids, 20, rng=1),
        price.law(bids).cdf([0.5, 1, 2]),
        noise.sample(1.003, 200, rng=1),
        inside.sample(4, 20, rng=1),
        tiny.sample(1.003, 200, rng=1),
        flat.sample(4.2, 20, rng=1),
        one_sided.sample(0, 20, rng=1),
    ]


def laws(digest: Any) -> None:
    """Laws: constant and geometric cells, densities with and without slopes, half-lines."""
    median = fx.Median(0.3, (-4, 4))
    for law in (
        median.law(NUMBERS),
        median.continuous_law(NUMBERS),
        fx.Price(1.0, (0, 4)).law(np.abs(NUMBERS)),
        fx.Price(1.0, (0, 4)).continuous_law(np.abs(NUMBERS[:9])),
        fx.Laplace(1.0, 1.0, step=0.01).law(0.5),
        fx.Laplace(1.0, 1.0, step=0.01).continuous_law(0.5),
    ):
        found = [law.mean(), law.var(), law.expected_error(0.3), law.expected_loss()]
        digest.update(np.array([*found, *law.cdf([-1, 0.25, 1]), law.ppf(0.3)]).tobytes())
    for ties in quantile_laws.TIES:
        joint = quantile_laws.law_of([0, 3, 3, 3, 7, 9], 11, quantile_laws.QUARTILES, 1, 1, ties)
        digest.update(np.array([joint.log_normalizer, *joint.expected_rank_error()]).tobytes())
    twelve = tuple(Fraction(i, 13) for i in range(1, 13))
    # Numbers with exponents, upwards and downwards.
    for records, size, q, rate in (
        ([], 1 << 50, twelve, 1),
        ([0, 0, 0, 2, 2, 2], 5, quantile_laws.QUARTILES, 200),
        ([0] * 200 + [3] * 200, 5, quantile_laws.QUARTILES, 1),
    ):
        joint = quantile_laws.law_of(records, size, q, rate, None, "spread")
        digest.update(np.array(joint.log_normalizer).tobytes())
    with changed((law_chain, "SUMS", 4)):
        joint = quantile_laws.law_of([0, 3, 3, 7], 11, quantile_laws.QUARTILES, 1, 1, "spread")
        try:
            digest.update(np.array(joint.log_normalizer).tobytes())
        except fx.InvalidRecords as error:
            digest.update(str(error).encode())
    for kernel in (density.expm1_fill, density.log1p_fill):
        out = np.empty(5)
        kernel(np.array([-0.9, -1e-9, 0.0, 0.2, 9.0]), out)
        digest.update(out.tobytes())


def digits(digest: Any) -> None:
    """Records on grids of digits: clear, half-way, beyond the ends, in decades out of reach."""
    lone = np.array([0.0, 0.5, -0.5, 1.5, 3.14159, 99.95, 1e9, -1e9, np.inf, 1e-9, 1e25, 6.5e-31])
    kinds = ((2, 0, 2), (3, -3, 5), (1, 24, 26), (1, -31, -30))
    for (count, low, high), negative, zero in product(kinds, (True, False), (True, False)):
        ends = {"low": float(f"1e{low}"), "high": float(f"1e{high}")}
        grid = fx.digits(count, **ends, negative=negative, zero=zero)
        points = grid.values(np.arange(min(grid.size, 900)))
        near = (np.nextafter(points, np.inf * way) for way in (1, -1))
        records = np.concatenate([lone, points, *near])
        for rule in (grid, grid.below):
            digest.update(rule.index(records).tobytes())


def several(digest: Any) -> None:
    """Joint quantiles: both ties, totals that move and do not, long runs, equal records."""
    quantile_chains.run()
    records = np.random.default_rng(4).integers(0, 9, 60)
    kinds = (
        fx.Quantiles,
        partial(fx.Quantiles, neighbors="replace"),
        fx.JointExponentialQuantiles,
    )
    grid = make_grid((0, 8), step=1)
    source = Counted(*runs(np.sort(records[:40])), grid)
    stream = stream_of(seeds_of(1, np.arange(1, dtype=np.uint64)), 0)
    for ties in quantile_laws.TIES:
        of = QuantilesStatistic(quantile_laws.QUARTILES, Fraction(1, 2), 4, grid, ties)
        chain = quantile_sites.SiteChain(of, source)
        digest.update(of.draws(chain, stream, 5).tobytes())
        known, out = of.tables(3), np.zeros(4, np.int64)
        few_quantiles.draw_segments(
            np.array([2]), np.array([0, 1]), grid.size, known.line, float(of.rate), of.log_ways,
            known.weights, known.wholes, of.words, np.zeros(of.words, np.uint64), 4, out,
            np.empty(known.numbers, np.int64), np.empty(known.floats + known.rows),
        )  # fmt: skip
        assert not out.any()  # the least word leaves the total open
    for kind in kinds:
        joint = kind([0.1, 0.15, 0.2, 0.9], 1.0, (0, 9), step=1)
        for some in (records, records[:3], records[:1].repeat(3)):
            digest.update(joint.sample(some, 40, rng=1).tobytes())
        apart = kind([0.1, 0.5, 0.9], 9.0, (0, 1000), step=1)
        digest.update(apart.sample(np.arange(1000), 20, rng=1).tobytes())
        shops = np.repeat(range(4), [130, 40, 10, 3])
        every = joint.sample(shops % 9, 3, by=shops, groups=range(5), rng=1)
        digest.update(every.tobytes())
    dense = fx.Quantiles([0.2, 0.4, 0.5, 0.6, 0.8], 1.0, (0, 9), step=1)
    digest.update(dense.sample(np.repeat([3, 7], [12, 8]), 9, rng=1).tobytes())
    for nats in (quantile_few.GROWS_NATS, 0.0):  # chains reach farther, or others take over
        with changed((quantile_few, "GUESS_NATS", -30.0), (quantile_few, "GROWS_NATS", nats)):
            joint = fx.Quantiles([0.2, 0.5], 1.0, (0, 9), step=1, with_total=True)
            for several_draws in (
                joint.sample(records[:20], 9, rng=1),
                joint.sample([2], 9, by=[0], groups=[0], rng=1),
            ):
                for part in several_draws:
                    digest.update(part.tobytes())


def histograms(digest: Any) -> None:
    """Counts on grids: floats, integers, a NaN, grids of points."""
    grid, out = make_grid((-4, 4), step=0.5), np.zeros(17, np.int64)
    integers = np.arange(-9, 9)
    assert histogram.histogram(NUMBERS, FLOAT, grid, out)
    assert histogram.histogram(integers, SIGNED, grid, out)
    assert histogram.histogram(integers[9:].astype(np.uint64), UNSIGNED, grid, out)
    digest.update(out.tobytes())
    assert not histogram.histogram(np.array([1.0, np.nan]), FLOAT, grid, out)
    listed = make_grid((-4, 4), grid=[-3.5, -1, 0, 0.25, 2])
    few = np.zeros(5, np.int64)
    assert not histogram.histogram(np.array([1.0, np.nan]), FLOAT, listed, few)
    assert histogram.histogram(NUMBERS, FLOAT, listed, few)
    digest.update(few.tobytes())
    by_bits = make_grid((-4, 4), grid=[-4, -1e-9, 1e-300, 1e-12, 1e-6, 4])
    by_index = make_grid((0, 2**60), grid=[0, 2**60]), make_grid((0, 2**60), step=2**59)
    for grid in (by_bits, *by_index):
        few = np.zeros(grid.size, np.int64)
        assert histogram.histogram(NUMBERS, FLOAT, grid, few)
        digest.update(few.tobytes())
        assert not histogram.histogram(np.array([1.0, np.nan]), FLOAT, grid, few)


def counting(digest: Any) -> None:
    """Gathering with room, with too little, of integers, of a NaN and of a short block.

    Of one range, and of regions.
    """
    values = np.concatenate([NUMBERS, NUMBERS[:339]])
    for room, part in ((2000, values), (20, values), (2000, (100 * values).astype(np.int64))):
        found = unsorted.gathered(part, room, -1, 1)
        digest.update(found.values.tobytes() + repr(tuple(found.counts.tolist())).encode())
        cuts = np.array([-90.0, -1.0, 0.0, 1.0, 40.0, 2.0**62]).astype(part.dtype)
        regions = unsorted.gathered_regions(part, room, cuts, np.arange(6) % 2)
        digest.update(regions.values.tobytes() + regions.counts.tobytes())
    told, work = np.zeros(3, np.int64), np.empty(select_rank.BLOCK // 8, np.uint64)
    select_rank.gather_floats(np.array([1.0, np.nan]), 2.0, 5.0, work, np.empty(9), told)
    assert told.tolist() == [1, 0, 1]


def rounding() -> None:
    """A rate that is not a number, as after a wrong rounding mode, is a status."""
    ends, seeds = np.array([0, 1]), np.zeros(4, np.uint64)
    work = np.empty(ragged.ragged_work(1), np.int64)
    args = np.zeros(1, np.uint64), np.zeros(1), ends, np.inf, seeds, np.zeros(2, np.int64), work
    assert ragged.ragged_cells(*args) < 0


def coins(digest: Any) -> None:
    """Places that are refused, and coins of every sort."""
    stream, count = np.arange(2, dtype=np.uint64), np.array([3, (1 << 62) + 1])
    start, cells = np.array([0, 5]), np.arange(200) % 2
    out, words = np.empty(200, np.int64), np.empty(4096, np.uint64)
    assert places.place_fill(start, count, cells, stream, 0, out, words) > 0
    digest.update(out.tobytes())
    heights = np.array([0.0, 0.5, 0.5, 0.5, 50.0, 700.0])
    half = int(np.exp(-0.5) * 2**64)
    drawn = np.array([2**64 - 1, 0, half, 2**64 - 1, 0, 2**63], np.uint64)
    told = np.empty(6, np.int64)
    places.coin_fill(heights, drawn, told)
    assert told[1:4].tolist() == [places.ACCEPT, places.UNSURE, places.REJECT]
    digest.update(told.tobytes())
