"""Draws of the most common candidate of each of many segments.

A candidate's distance is the highest count minus its own: a cell of one point, for the sampler
of `segment_draws.py`.
"""

from __future__ import annotations

from typing import Any

from .._jit import I64, IN_I64, IN_U64, NOTHING, OUT_I64, helper, kernel
from .segment_draws import WORDS, draw_points


@helper
def fill_cells(records: Any, start: Any, count: Any, key: Any) -> None:
    """A cell for each candidate: its number, 1, twice its distance."""
    k = key.size
    for i in range(k):
        start[i], count[i], key[i] = i, 1, 0
    for i in range(records.size):
        key[records[i]] += 1
    most = key[0]
    for i in range(1, k):
        most = max(most, key[i])
    for i in range(k):
        key[i] = 2 * (most - key[i])


@kernel(NOTHING(IN_I64, IN_I64, I64, IN_U64, IN_U64, OUT_I64, OUT_I64))
def counts_draw(
    records: Any, offsets: Any, k: Any, table: Any, words: Any, out: Any, work: Any
) -> None:
    """Draws of segments of numbers of k candidates, in 0..k-1; work: 5 words a candidate."""
    segments = offsets.size - 1
    size = out.size // segments
    start, count, key, sums = work[:k], work[k : 2 * k], work[2 * k : 3 * k], work[3 * k :]
    for s in range(segments):
        fill_cells(records[offsets[s] : offsets[s + 1]], start, count, key)
        own = words[WORDS * size * s : WORDS * size * (s + 1)]
        draw_points(start, count, key, table, own, out[size * s : size * (s + 1)], sums)
