"""Segments: every line of their kernels."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import fastexp as fx
from tests.doors.kernels import (
    SIGNED,
    envelope,
    segment_counts,
    segment_draws,
    segment_prices,
    segment_window,
)
from tests.doors.numbers import table
from tests.doors.selection import storage
from tests.support.altered import changed
from tests.support.checks import groups as checks_groups

ELSEWHERE = (  # they run no line of a kernel that the others do not
    checks_groups.windows_are_those_of_sorted_records,  # but for some of its windows
    checks_groups.rows_between_pivots_are_enough,
    checks_groups.the_twin_has_the_law,
    checks_groups.the_flips_twin_has_the_law,
)


def segments(digest: Any) -> None:
    """Checks of short segments, and draws of long ones."""
    for check in checks_groups.CHECKS:
        if check not in ELSEWHERE:
            check()
    checks_groups.windows_are_those_of_sorted_records(checks_groups.WINDOWS[2:])
    rng = np.random.default_rng(1)
    values, offsets = rng.normal(0, 1, 1_800), np.array([0, 700, 700, 1_800])
    median = fx.Median(epsilon=3.0, bounds=(-4, 4))
    with changed((segment_window, "ENOUGH", 64)):
        digest.update(median.sample(values, 3, offsets=offsets, rng=2).tobytes())
    for integers in (np.floor(values * 9), np.zeros(1_800)):
        drawn = median.sample(integers.astype(np.int64), offsets=offsets, rng=2)
        digest.update(drawn.tobytes())
    statuses(digest)


def statuses(digest: Any) -> None:
    """Words that leave draws of candidates open, and a wrong rounding mode."""
    words = np.array([0, 0, 1 << 63, 0, 1 << 63, 1 << 63, 0, 0], np.uint64)
    out, work = np.empty(2, np.int64), np.empty(10, np.int64)
    weights = table(Fraction(1), 9)
    args = np.zeros(3, np.int64), np.array([0, 0, 3]), 2, weights, words
    segment_counts.counts_draw(*args, out, work)
    digest.update(out.tobytes())
    assert (out == segment_draws.OPEN).all()
    flips = *args[:4], 16, words
    segment_counts.counts_flip(*flips, out, work)
    digest.update(out.tobytes())
    store = np.empty(4 + storage(4).size, np.int64)
    bids = np.zeros(1, np.int64), np.array([0, 1]), np.arange(4), SIGNED
    status = segment_prices.prices_draw(
        *bids, np.nan, np.nan, np.empty(0), words[:4], out[:1], store
    )
    assert status == envelope.ROUNDING_MODE
