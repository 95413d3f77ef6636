"""Draws of joint quantiles for many segments of few records, by the chains of `few_chains.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import F64, I64, IN_F64, IN_I64, IN_U64, NOTHING, OUT_F64, OUT_I64, kernel
from ..numbers.chain import AGAIN, DONE
from ..numbers.few_chains import FEWEST, FITS, HEAD, RANKS, TOTALS, M, draw_few, fill_few


@kernel(
    NOTHING(
        IN_I64, IN_I64, I64, IN_I64, F64, F64, IN_F64, IN_I64, I64, IN_U64, I64, OUT_I64, OUT_I64,
        OUT_F64,
    )
)  # fmt: skip
def draw_segments(
    points: Any, offsets: Any, size: Any, line: Any, rate: Any, log_ways: Any, weights: Any,
    wholes: Any, count: Any, words: Any, entries: Any, out: Any, numbers: Any, work: Any,
) -> None:  # fmt: skip
    """out = the `entries` numbers of each draw of each segment; others stay as they are (OPEN).

    points: sorted in each segment. A segment with more or fewer records than the tables allow stays
    OPEN. count: words of one attempt. A draw has words for one or more attempts, and stays OPEN if
    none of them gives an answer.
    """
    segments, m, ranks, totals = offsets.size - 1, line[M], line[RANKS], line[TOTALS]
    draws = out.size // (entries * segments)
    room, wide, length = words.size // (segments * draws), m + 1, m * ranks
    parts = max(m, 2) + 2
    cells, state, after = numbers, numbers[4 * ranks :], 4 * ranks + HEAD + totals
    ints, tail = numbers[after : after + 5 * wide], numbers[after + 5 * wide :]
    rank, phase, answer = tail[:m], tail[m : 2 * m], tail[2 * m : 2 * m + entries]
    floats, masses, arrived = work[: 7 * wide], work[7 * wide :], work[7 * wide + totals + 1 :]
    sums, phases, rest = arrived[length:], arrived[2 * length :], arrived[(2 + parts) * length :]
    for s in range(segments):
        segment = points[offsets[s] : offsets[s + 1]]
        n = np.int64(segment.size)
        if not line[FEWEST] <= n < ranks:
            continue
        here = cells[: 4 * (n + 1)]
        chains = fill_few(segment, size, line, rate, log_ways, weights, here, state, rest, masses)
        for d in range(draws * s, draws * (s + 1) if state[FITS] == 1 else 0):
            done, at = AGAIN, room * d
            while done == AGAIN and at + count <= room * (d + 1):
                done = draw_few(
                    n, line, rate, weights, wholes, here, state, rest, masses[: chains + 1],
                    words[at : at + count], ints, floats, arrived, phases, sums, rank, phase,
                    answer,
                )  # fmt: skip
                at += count
            for j in range(entries if done == DONE else 0):
                out[entries * d + j] = answer[j]
