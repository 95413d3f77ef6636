"""The cases of private numbers and the ways of doing each; ../README.md says what each compares.

k is the number of records, or of prices in the cases of prices. Epsilon is 1 unless an id says
otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

import fastexp as fx

from ..harness.calls import from_law, released, simulated, two_threads
from ..harness.elsewhere import with_avx2
from ..harness.measure import made_in_call, timed, traced_memory
from ..harness.workload import DRAW_SEED, Call, Case, Entry, ours
from . import rivals, rivals_prices, rivals_rows
from .workload import CENTER, STEP, STUDY, TICKS
from .workload import NumberWork as Work

RECORDS, BIDS = attrgetter("records"), attrgetter("bids")


def median(work: Work) -> fx.Median:
    """Return the mechanism of most cases."""
    return fx.Median(work.epsilon, work.bounds)


def price(work: Work) -> fx.Price:
    """Return the mechanism of the case's prices."""
    bounds = float(work.prices[0]), float(work.prices[-1])
    return fx.Price(work.epsilon, bounds, step=1 / TICKS)


def laplace(work: Work) -> fx.Laplace:
    """Return exact noise on a grid of step `STEP`."""
    return fx.Laplace(work.epsilon, 1.0, step=STEP)


def center(_work: Work) -> float:
    """Return the statistic that gets noise."""
    return CENTER


def released_noise(work: Work) -> Call:
    """Release a statistic once; this takes no number of threads."""
    return partial(laplace(work).release, CENTER)


def study(work: Work) -> Call:
    """Draw for all data sets and epsilons, from records sorted once; mechanisms are built anew."""
    rng = np.random.default_rng(DRAW_SEED)

    def draws(ordered: Any, epsilon: float) -> Any:
        mechanism = fx.Median(epsilon, work.bounds)
        return mechanism.sample(ordered, size=work.size, rng=rng, assume_sorted=True)

    def call() -> list[Any]:
        ordered = np.sort(work.records, axis=1)
        return [draws(ordered, epsilon) for epsilon in STUDY]

    return call


def revenue(work: Work) -> Call:
    """Compute from bids the exact utilities of all prices, as for a release and a law."""
    from fastexp._intake.records import Records
    from fastexp._numbers.revenue import demand
    from fastexp._numbers.revenue_cells import shape_of

    mechanism = price(work)
    prices, grid = mechanism._prices, mechanism.grid
    return lambda: shape_of(prices, demand(Records(work.bids).source(), grid)).cells.bits


def from_middle(work: Work, draws: Any) -> Any:
    """Return the distances of draws from the median of their data set."""
    return np.abs(np.asarray(draws) - work.medians)


def price_from_middle(work: Work, draw: Any) -> Any:
    """Return the distance of a price from the middle price."""
    return abs(draw - work.prices[work.k // 2])


def shares(_work: Work, revenue: Any) -> Any:
    """Return the revenues relative to the greatest; those of fastexp are in ticks."""
    return revenue / np.max(revenue)


def noise(_work: Work, draws: Any) -> Any:
    """Return the absolute values of noise."""
    return np.abs(np.asarray(draws) - CENTER)


RELEASE = ours(released(median, RECORDS))
PARTITION = Entry("numpy_partition", rivals.numpy_partition, "limit")
LAPLACE_RIVAL = Entry("numpy_laplace", rivals.laplace)

IND_EXP, WINDOW = Entry("numpy_ind_exp", rivals.ind_exp), Entry("numpy_window", rivals.window)

MEDIAN_AT_EPSILON = (
    RELEASE,
    *with_avx2(IND_EXP),
    *with_avx2(WINDOW),
    Entry("opendp_1001_candidates", rivals.opendp, slack=100.0),
)
MEDIAN = (
    *MEDIAN_AT_EPSILON,
    Entry("diffprivlib", rivals.diffprivlib, slack=2.0, most_k=1_000_000, why="10 s a call"),
    *with_avx2(PARTITION),
)
MEDIAN_THREADS = two_threads(RELEASE.prepare)
MEDIAN_MEMORY = (
    RELEASE,
    replace(IND_EXP, prepare=made_in_call(rivals.ind_exp)),
    replace(WINDOW, prepare=made_in_call(rivals.window)),
    PARTITION,
)
MEDIAN_STUDY = (ours(study), Entry("numpy_counts_shuffled", rivals_rows.counted))
MEDIAN_SAMPLE = (ours(simulated(median, RECORDS)), *with_avx2(IND_EXP), *with_avx2(WINDOW))
MEDIAN_ROWS = (
    ours(simulated(median, RECORDS)),
    *with_avx2(Entry("numpy_race", rivals_rows.raced)),
)
MANY_DRAWS = (
    ours(simulated(median, RECORDS)),
    Entry("fastexp_from_law", from_law(median, RECORDS), "variant"),
    Entry("scipy_alias_urn", rivals_rows.many_alias),
)
REVENUE = (
    ours(revenue),
    *with_avx2(Entry("numpy_sort_search", rivals_prices.sort_search)),
)
PRICE = (
    ours(released(price, BIDS)),
    *with_avx2(Entry("numpy_sort_search", rivals_prices.drawn)),
)
LAPLACE = (ours(simulated(laplace, center)), LAPLACE_RIVAL)
LAPLACE_RELEASE = (
    ours(released_noise),
    LAPLACE_RIVAL,
    Entry("opendp_laplace", rivals.opendp_laplace),
)

_number = partial(Case, measure=timed, figures=from_middle, toy_k=1_000)
_median = partial(_number, "median_release")
_price = partial(_number, inputs=Work(10**5), toy_k=300)
MANY = 10**6
SIZES = (1_000, 10**5, 10**7)

CASES = (
    *(_median(Work(k, data="uniform"), MEDIAN) for k in (10, 100, *SIZES)),
    *(_median(Work(k, data="lognormal"), MEDIAN) for k in SIZES),
    *(
        _median(Work(SIZES[-1], data="uniform", epsilon=epsilon), MEDIAN_AT_EPSILON)
        for epsilon in (1e-4, 0.01, 10.0)
    ),
    _number("median_threads", Work(10**7, threads=2), MEDIAN_THREADS),
    _number("median_memory", Work(10**7), MEDIAN_MEMORY, measure=traced_memory),
    _number(
        "median_study",
        Work(1_000, rows=200, size=1_000, data="normal"),
        MEDIAN_STUDY,
        toy_k=100,
        toy_size=200,
        toy_rows=20,
    ),
    *(_number("median_sample", Work(k), MEDIAN_SAMPLE) for k in (10, 100, 1_000)),
    *(
        _number("median_rows", Work(k, rows=rows), MEDIAN_ROWS, toy_k=k, toy_rows=200)
        for k, rows in ((20, 10**4), (1_000, 10**3))
    ),
    _number("many_draws", Work(10**5, size=MANY), MANY_DRAWS, toy_size=5_000),
    _price("revenue_law", entries=REVENUE, figures=shares),
    _price("price_release", entries=PRICE, figures=price_from_middle),
    _number("laplace", Work(1, size=MANY), LAPLACE, figures=noise, toy_size=5_000),
    _number("laplace_release", Work(1), LAPLACE_RELEASE, figures=noise),
)
