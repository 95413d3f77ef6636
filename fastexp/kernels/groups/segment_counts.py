"""Draws of the most common candidate for each of many segments.

A candidate's distance is the highest count minus its own count. In the exponential mechanism it is
a cell of one point for the sampler of `segment_draws.py`. In permute-and-flip it tosses a coin, by
the steps of `reference/exact_groups.py: flip_draw`: `bits` digits of a uniform V are compared with
bounds of the weight from the table. Undecided draws are left to the caller (OPEN).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import I64, IN_I64, IN_U64, NOTHING, OUT_I64, helper, kernel, wide_product
from ..bits.words import ONE_WORD
from .segment_draws import OPEN, WORDS, draw_points

PRECISION = 60  # bits of the table's weights


@helper
def fill_distances(records: Any, out: Any) -> None:
    """out = how far each candidate's count is below the highest one."""
    for i in range(out.size):
        out[i] = 0
    for i in range(records.size):
        out[records[i]] += 1
    most = out[0]
    for i in range(1, out.size):
        most = max(most, out[i])
    for i in range(out.size):
        out[i] = most - out[i]


@helper
def fill_cells(records: Any, start: Any, count: Any, key: Any) -> None:
    """A cell for each candidate: its number, 1, twice its distance."""
    fill_distances(records, key)
    for i in range(key.size):
        start[i], count[i], key[i] = i, 1, 2 * key[i]


@helper
def flip(distance: Any, table: Any, bits: Any, words: Any, successes: Any) -> Any:
    """Draw one of the candidates whose coin is a success, or return OPEN; successes: scratch."""
    number, doubtful = 0, False
    shift, mask = PRECISION - bits, (ONE_WORD << np.uint64(bits)) - ONE_WORD
    for i in range(distance.size):
        at = i * bits
        rho = np.int64((words[at >> 6] >> np.uint64(at & 63)) & mask)
        weight = np.int64(table[min(distance[i], table.size - 1)])
        certain = distance[i] == 0
        success = certain or (rho + 1) << shift < weight  # the lower bound is weight - 1
        doubtful = doubtful or not (success or rho << shift >= weight)
        successes[number] = i
        number += 1 if success else 0
    place, rest = wide_product(words[words.size - 1], np.uint64(number))
    if doubtful or rest < np.uint64(number):
        return OPEN
    return successes[np.int64(place)]


@kernel(NOTHING(IN_I64, IN_I64, I64, IN_U64, IN_U64, OUT_I64, OUT_I64))
def counts_draw(
    records: Any, offsets: Any, k: Any, table: Any, words: Any, out: Any, work: Any
) -> None:
    """out = draws of segments of candidates, numbers in 0..k-1; work: 5 words a candidate."""
    segments = offsets.size - 1
    size = out.size // segments
    start, count, key, sums = work[:k], work[k : 2 * k], work[2 * k : 3 * k], work[3 * k :]
    for s in range(segments):
        fill_cells(records[offsets[s] : offsets[s + 1]], start, count, key)
        draw_words = words[WORDS * size * s : WORDS * size * (s + 1)]
        draw_points(start, count, key, table, draw_words, out[size * s : size * (s + 1)], sums)


@kernel(NOTHING(IN_I64, IN_I64, I64, IN_U64, I64, IN_U64, OUT_I64, OUT_I64))
def counts_flip(
    records: Any, offsets: Any, k: Any, table: Any, bits: Any, words: Any, out: Any, work: Any
) -> None:
    """Do the same by permute-and-flip, with coins of `bits` bits; work: 2 words a candidate."""
    segments = offsets.size - 1
    size, per = out.size // segments, words.size // out.size
    distance, successes = work[:k], work[k : 2 * k]
    for s in range(segments):
        fill_distances(records[offsets[s] : offsets[s + 1]], distance)
        for j in range(size * s, size * (s + 1)):
            out[j] = flip(distance, table, bits, words[per * j : per * (j + 1)], successes)
