"""fastexp's own calls for private numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import fastexp as fx

from .workload import DRAW_SEED, Call
from .workload_numbers import CENTER, STEP, STUDY, TICKS, NumberWork

STUDY_SEED = 7


def _median(work: NumberWork) -> fx.Median:
    return fx.Median(work.epsilon, work.bounds)


def release_median(work: NumberWork) -> Call:
    """One release of a median of unsorted records: checks, their counting and the draw."""
    return partial(_median(work).release, work.records, threads=work.threads)


def release_median_one_thread(work: NumberWork) -> Call:
    """The same with the default of one thread."""
    return partial(_median(work).release, work.records)


def many_medians(work: NumberWork) -> Call:
    """Many seeded draws from one data set, unsorted."""
    return partial(_median(work).sample, work.records, work.size, rng=DRAW_SEED)


def many_from_law(work: NumberWork) -> Call:
    """The same from a law that is there already."""
    return partial(_median(work).law(work.records).sample, work.size, rng=DRAW_SEED)


def study(work: NumberWork) -> Call:
    """Draws for every data set and epsilon, of records sorted once; mechanisms are built anew."""

    def call() -> list[Any]:
        ordered = np.sort(work.records, axis=1)
        medians = [fx.Median(epsilon, work.bounds) for epsilon in STUDY]
        how = {"size": work.size, "rng": STUDY_SEED, "assume_sorted": True}
        return [one.sample(ordered, **how) for one in medians]

    return call


def price(work: NumberWork) -> fx.Price:
    """The mechanism of the case's prices."""
    bounds = float(work.prices[0]), float(work.prices[-1])
    return fx.Price(work.epsilon, bounds, step=1 / TICKS)


def revenue(work: NumberWork) -> Call:
    """Bids to the exact utilities of all prices, as a release and a law have them."""
    from fastexp._intake.records import intake
    from fastexp._numbers.revenue import demand
    from fastexp._numbers.revenue_cells import shape_of

    mechanism = price(work)
    prices, grid = mechanism._prices, mechanism.grid

    def call() -> Any:
        return shape_of(prices, demand(intake(work.bids), grid)).cells.bits

    return call


def release_price(work: NumberWork) -> Call:
    """One release of a price."""
    return partial(price(work).release, work.bids)


def _laplace(work: NumberWork) -> Any:
    return fx.Laplace(work.epsilon, 1.0, step=STEP)


def laplace(work: NumberWork) -> Call:
    """Many seeded draws of exact noise about one statistic."""
    return partial(_laplace(work).sample, CENTER, work.size, rng=DRAW_SEED)


def release_laplace(work: NumberWork) -> Call:
    """One release of a statistic with exact noise."""
    return partial(_laplace(work).release, CENTER)
