"""The cases of private numbers; what each compares is in README.md.

k is the number of records, in the cases of prices that of the prices. Epsilon is 1 unless an
id says otherwise.
"""

from __future__ import annotations

from functools import partial

from . import checks_numbers as checks
from . import entries_numbers as entries
from .measure import memory, timed
from .workload_numbers import NumberCase


def a_tenth(k: int) -> int:
    """What a release may take: a tenth of its records, but not less than 256 KiB."""
    return max(8 * k // 10, 1 << 18)


_number = partial(NumberCase, check=checks.median, measure=timed, toy_k=1_000)
_median = partial(_number, "median_release")
_prices = partial(_number, k=10**5, toy_k=300)
_noise = partial(_number, k=1, check=checks.laplace, toy_k=1)
MILLION = 10**6
SIZES = (1_000, 10**5, 10**7)

CASES: tuple[NumberCase, ...] = (
    *(_median(k, entries.MEDIAN, data="uniform") for k in SIZES),
    *(_median(k, entries.MEDIAN, data="lognormal") for k in SIZES),
    *(
        _median(SIZES[-1], entries.MEDIAN_AT_EPSILON, data="uniform", epsilon=epsilon)
        for epsilon in (1e-4, 0.01, 10.0)
    ),
    _number("median_threads", 10**7, entries.MEDIAN_THREADS, threads=2),
    _number("median_memory", 10**7, entries.MEDIAN_MEMORY, measure=partial(memory, most=a_tenth)),
    _number(
        *("median_study", 1_000, entries.STUDY),
        check=checks.study,
        rows=200,
        size=1_000,
        data="normal",
        toy_k=100,
        toy_size=200,
        toy_rows=20,
    ),
    _number("many_draws", 10**5, entries.MANY_DRAWS, size=MILLION, toy_size=5_000),
    _prices("revenue_law", entries=entries.REVENUE, check=checks.revenue),
    _prices("price_release", entries=entries.PRICE, check=checks.price),
    _noise("laplace", entries=entries.LAPLACE, size=MILLION, toy_size=5_000),
    _noise("laplace_release", entries=entries.LAPLACE_RELEASE),
)
