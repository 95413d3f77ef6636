"""Peers for revenues: how many bids pay each price, times the price; and a price drawn by them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..harness.workload import DRAW_SEED, Call, FloatArray
from .workload import NumberWork


def histogram(work: NumberWork) -> Call:
    """`np.histogram` on even edges, summed up from the highest price."""
    bids, prices = work.bids, work.prices
    ends = float(prices[0]), float(prices[-1])

    def call() -> FloatArray:
        number, _ = np.histogram(bids, bins=work.k - 1, range=ends)
        paying = np.zeros(work.k)  # nobody bids the highest price itself
        paying[:-1] = number[::-1].cumsum()[::-1]
        return np.multiply(paying, prices, out=paying)

    return call


def sort_search(work: NumberWork) -> Call:
    """Bids in order, and a search of each price in them."""
    bids, prices = work.bids, work.prices

    def call() -> FloatArray:
        revenue: FloatArray = prices * (bids.size - np.searchsorted(np.sort(bids), prices))
        return revenue

    return call


def _rate(work: NumberWork) -> float:
    """Revenue is monotone, and a bid moves it by at most the highest price."""
    return work.epsilon / float(work.prices[-1])


def drawn_by(revenue: Callable[[NumberWork], Call], work: NumberWork) -> Call:
    """One price: its revenues, and a search in the cumulated weights."""
    utilities, rng, rate = revenue(work), np.random.default_rng(DRAW_SEED), _rate(work)

    def call() -> float:
        u = utilities()
        sums = np.cumsum(np.exp(rate * (u - u.max())))
        r = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
        return float(work.prices[r])

    return call
