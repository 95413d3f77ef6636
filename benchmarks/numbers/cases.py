"""The cases of private numbers and the ways of doing each; what each compares is in ../README.md.

k is the number of records, in the cases of prices that of the prices. Epsilon is 1 unless an
id says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any, Literal

import numpy as np

import fastexp as fx

from ..harness.calls import from_law, released, simulated, two_threads
from ..harness.elsewhere import with_avx2
from ..harness.measure import timed
from ..harness.memory import made_in_call, traced_memory
from ..harness.workload import Call, Case, Entry, ours
from ..selection.checks import built as built_check
from . import checks, rivals, rivals_prices, rivals_rows, sorted_file
from .sorted_file import FileWork
from .workload import CENTER, STEP, STUDY, TICKS
from .workload import NumberWork as Work

STUDY_SEED = 7
RECORDS, BIDS = attrgetter("records"), attrgetter("bids")


def median(work: Work) -> fx.Median:
    """The mechanism of most cases."""
    return fx.Median(work.epsilon, work.bounds)


def middle_quantile(work: Work) -> fx.Quantile:
    """The median as a quantile, which has the same law."""
    return fx.Quantile(0.5, work.epsilon, work.bounds)


def ten_quantiles(work: Work, neighbors: Literal["add-remove", "replace"]) -> fx.Quantiles:
    """Ten quantiles at once, evenly spaced."""
    return fx.Quantiles(
        epsilon=work.epsilon, bounds=work.bounds, count=checks.TEN, neighbors=neighbors
    )


def coarse_median(work: Work) -> fx.Median:
    """The same of a coarse grid, of which a point holds a hundredth of uniform records."""
    return fx.Median(work.epsilon, work.bounds, step=1)


def listed_records(work: Work) -> list[float]:
    """The records as a list of Python's floats."""
    return list(work.records.tolist())


def single_records(work: Work) -> Any:
    """The records in single precision: as good as the same to a law."""
    return work.records.astype(np.float32)


def price(work: Work) -> fx.Price:
    """The mechanism of the case's prices."""
    bounds = float(work.prices[0]), float(work.prices[-1])
    return fx.Price(work.epsilon, bounds, step=1 / TICKS)


def price_points(work: Work) -> fx.Price:
    """The same prices as an array, whose spacing is not told."""
    bounds = float(work.prices[0]), float(work.prices[-1])
    return fx.Price(work.epsilon, bounds, grid=work.prices)


def price_anywhere(work: Work) -> fx.Price:
    """Prices on the default grid, between the same bounds."""
    return fx.Price(work.epsilon, (float(work.prices[0]), float(work.prices[-1])))


def laplace(work: Work) -> fx.Laplace:
    """Exact noise, on a grid of its steps."""
    return fx.Laplace(work.epsilon, 1.0, step=STEP)


def center(_work: Work) -> float:
    """The statistic that gets noise."""
    return CENTER


def released_noise(work: Work) -> Call:
    """One release of a statistic; it has no threads."""
    return partial(laplace(work).release, CENTER)


def built(mechanism: Callable[[Work], Any], work: Work) -> Call:
    """The mechanism itself."""
    return lambda: mechanism(work)


def guarantee(work: Work) -> Call:
    """What a mechanism promises, asked again."""
    mechanism = median(work)
    return lambda: mechanism.guarantee


def study(work: Work) -> Call:
    """Draws for every data set and epsilon, of records sorted once; mechanisms are built anew."""

    def draws(ordered: Any, epsilon: float) -> Any:
        mechanism = fx.Median(epsilon, work.bounds)
        return mechanism.sample(ordered, size=work.size, rng=STUDY_SEED, assume_sorted=True)

    def call() -> list[Any]:
        ordered = np.sort(work.records, axis=1)
        return [draws(ordered, epsilon) for epsilon in STUDY]

    return call


def revenue(work: Work) -> Call:
    """Bids to the exact utilities of all prices, as a release and a law have them."""
    from fastexp._intake.records import Records
    from fastexp._numbers.revenue import demand
    from fastexp._numbers.revenue_cells import shape_of

    mechanism = price(work)
    prices, grid = mechanism._prices, mechanism.grid
    return lambda: shape_of(prices, demand(Records(work.bids).source(), grid)).cells.bits


def a_tenth(work: Work) -> int:
    """What a release may take: a tenth of its records, but not less than 256 KiB."""
    return max(8 * work.k // 10, 1 << 18)


def a_copy(work: Work) -> int:
    """What a release may take where all ranks matter: a copy of the records and 1 MB."""
    return 8 * work.k + 10**6


RELEASE = ours(released(median, RECORDS))
PARTITION = Entry("numpy_partition", rivals.numpy_partition, "limit", check=checks.middle)
SORT = Entry("numpy_sort", rivals.numpy_sort, "limit", check=checks.middle)
MAX = Entry("numpy_max", rivals.numpy_max, "limit", check=checks.highest)
LAPLACE_RIVAL = Entry("numpy_laplace", rivals.laplace)

MEDIAN_AT_EPSILON = (
    RELEASE,
    *with_avx2(Entry("numpy_ind_exp", rivals.ind_exp)),
    *with_avx2(Entry("numpy_window", rivals.window)),
    Entry("opendp_1001_candidates", rivals.opendp, check=checks.candidates),
)
MEDIAN = (
    *MEDIAN_AT_EPSILON,
    Entry(
        "diffprivlib",
        rivals.diffprivlib,
        check=checks.cautious_median,
        most_k=1_000_000,
        why="10 s a call",
    ),
    *with_avx2(PARTITION),
    *with_avx2(SORT),
    MAX,
)
MEDIAN_THREADS = (*two_threads(RELEASE.prepare), MAX)
MEDIAN_COARSE = (
    ours(released(coarse_median, RECORDS)),
    *with_avx2(PARTITION),
    MAX,
)
MEDIAN_LIST = (
    ours(released(median, listed_records)),
    Entry("numpy_asarray", rivals.numpy_asarray, "limit", check=checks.highest),
)
QUANTILES = (
    ours(released(partial(ten_quantiles, neighbors="add-remove"), RECORDS)),
    Entry(
        "fastexp_replace", released(partial(ten_quantiles, neighbors="replace"), RECORDS), "variant"
    ),
)
MEDIAN_MEMORY = (
    RELEASE,
    Entry("numpy_ind_exp", partial(made_in_call, rivals.ind_exp)),
    Entry("numpy_window", partial(made_in_call, rivals.window)),
    PARTITION,
)
MEDIAN_STUDY = (
    ours(study),
    Entry("numpy_counts_shuffled", partial(rivals_rows.counted, shuffled=True)),
    Entry("numpy_counts_in_order", partial(rivals_rows.counted, shuffled=False), "limit"),
)
MEDIAN_SAMPLE = (
    ours(simulated(median, RECORDS)),
    *with_avx2(Entry("numpy_ind_exp", rivals.ind_exp)),
    *with_avx2(Entry("numpy_window", rivals.window)),
)
MEDIAN_ROWS = (
    ours(simulated(median, RECORDS)),
    Entry("fastexp_float32", simulated(median, single_records), "variant"),
    Entry("fastexp_quantile", simulated(middle_quantile, RECORDS), "variant"),
    *with_avx2(Entry("numpy_race", rivals_rows.raced)),
)
MANY_DRAWS = (
    ours(simulated(median, RECORDS)),
    Entry("fastexp_from_law", from_law(median, RECORDS), "variant"),
    Entry("scipy_alias_urn", rivals_rows.many_alias),
)
REVENUE = (
    ours(revenue, check=checks.exact_revenue),
    *with_avx2(Entry("numpy_histogram", rivals_prices.histogram)),
    *with_avx2(Entry("numpy_sort_search", rivals_prices.sort_search)),
)
drawn_by = rivals_prices.drawn_by
SORT_SEARCH = with_avx2(Entry("numpy_sort_search", partial(drawn_by, rivals_prices.sort_search)))
PRICE = (
    ours(released(price, BIDS)),
    *with_avx2(Entry("numpy_histogram", partial(drawn_by, rivals_prices.histogram))),
    *SORT_SEARCH,
)
PRICE_POINTS = (ours(released(price_points, BIDS)), *SORT_SEARCH)
PRICE_ANYWHERE = (ours(released(price_anywhere, BIDS), check=checks.price_anywhere), *SORT_SEARCH)
LAPLACE = (ours(simulated(laplace, center)), LAPLACE_RIVAL)
LAPLACE_RELEASE = (
    ours(released_noise),
    LAPLACE_RIVAL,
    Entry("opendp_laplace", rivals.opendp_laplace),
)

GUARANTEE = (ours(guarantee),)
BUILD_MEDIAN = (ours(partial(built, median)),)
BUILD_LAPLACE = (
    ours(partial(built, laplace)),
    Entry("opendp", rivals.opendp_laplace_built, check=checks.built_map),
    Entry("diffprivlib", rivals.diffprivlib_laplace_built),
)

SORTED_FILE = (
    ours(sorted_file.mapped),
    Entry("fastexp_disk", sorted_file.from_disk, "variant"),
)

_number = partial(Case, check=checks.median, measure=timed, toy_k=1_000)
_median = partial(_number, "median_release")
MANY = 10**6
SIZES = (1_000, 10**5, 10**7)

CASES = (
    *(_median(Work(k, data="uniform"), MEDIAN) for k in (10, 100, *SIZES)),
    *(_median(Work(k, data="lognormal"), MEDIAN) for k in SIZES),
    *(
        _median(Work(SIZES[-1], data="uniform", epsilon=epsilon), MEDIAN_AT_EPSILON)
        for epsilon in (1e-4, 0.01, 10.0)
    ),
    _number("median_coarse", Work(10**7), MEDIAN_COARSE, check=checks.coarse_median),
    *(_number("median_list", Work(k), MEDIAN_LIST) for k in (1_000, 10**6)),
    *(
        _number(
            "quantiles_release",
            Work(10**4, data="uniform", epsilon=epsilon),
            QUANTILES,
            check=checks.ten_quantiles,
            toy_k=10**4,
        )
        for epsilon in (1.0, 0.1)
    ),
    _number("median_threads", Work(10**7, threads=2), MEDIAN_THREADS),
    _number(
        "median_memory",
        Work(10**7),
        MEDIAN_MEMORY,
        measure=partial(traced_memory, allowance=a_tenth),
    ),
    _number(
        "median_memory",
        Work(10**6, epsilon=1e-4),
        MEDIAN_MEMORY,
        measure=partial(traced_memory, allowance=a_copy),
    ),
    _number(
        "median_study",
        Work(1_000, rows=200, size=1_000, data="normal"),
        MEDIAN_STUDY,
        check=checks.study,
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
    _number("revenue_law", Work(10**5), REVENUE, check=checks.revenue, toy_k=300),
    _number("price_release", Work(10**5), PRICE, check=checks.price, toy_k=300),
    _number("price_points", Work(10**5), PRICE_POINTS, check=checks.price, toy_k=300),
    _number("price_anywhere", Work(10**5), PRICE_ANYWHERE, check=checks.price, toy_k=300),
    _number("laplace", Work(1, size=MANY), LAPLACE, check=checks.laplace, toy_size=5_000),
    _number("laplace_release", Work(1), LAPLACE_RELEASE, check=checks.laplace),
    _number("build_median", Work(1), BUILD_MEDIAN, check=built_check),
    _number("build_laplace", Work(1), BUILD_LAPLACE, check=built_check),
    _number("guarantee", Work(1), GUARANTEE, check=built_check),
    _number(
        "sorted_file",
        FileWork(10**8),
        SORTED_FILE,
        check=sorted_file.near_the_middle,
        toy_k=20_000,
    ),
)
