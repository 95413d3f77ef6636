"""Peers for revenues: how many bids pay each price, times the price; and a price drawn by them."""

from __future__ import annotations

import numpy as np

from ..harness.workload import DRAW_SEED, Call, FloatArray
from .workload import NumberWork


def sort_search(work: NumberWork) -> Call:
    """Sort the bids, and search each price in them."""
    bids, prices = work.bids, work.prices

    def call() -> FloatArray:
        revenue: FloatArray = prices * (bids.size - np.searchsorted(np.sort(bids), prices))
        return revenue

    return call


def drawn(work: NumberWork) -> Call:
    """Draw one price: the revenues of all prices, and a search in the cumulative weights."""
    utilities, rng = sort_search(work), np.random.default_rng(DRAW_SEED)
    rate = work.epsilon / float(work.prices[-1])  # a bid changes revenue by at most this price

    def call() -> float:
        u = utilities()
        sums = np.cumsum(np.exp(rate * (u - u.max())))
        r = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
        return float(work.prices[r])

    return call
