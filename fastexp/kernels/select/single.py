"""One simulated draw from one row of at most a block: the draw of `rows.py`, in a call of 0.5 us.

A Monte Carlo loop is made of such calls, so the kernel takes a seed as it comes from a generator,
and no scratch. It has a loop of its own instead of that of `rounds.py`, which compiles in half the
time. It keeps nothing for an exact test: a draw that needs one is UNSURE, and `rows.py` makes it
again from the same words. Case `single`: a call takes 3 us for 10 candidates and 4 us for 1,000;
by way of `rows.py` it takes 13 us, four and three times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import F64, I64, IN_U64, U64, kernel, stack, wide_vectors
from ..bits.heights import BLOCK, NONE, best_key, height_of
from ..bits.words import philox, stream_of
from .chords import FIXED, LANES, REJECTED, below_word, chord, find_lane, judge
from .envelope import (
    DEEPEST,
    NOT_FINITE,
    PRECISION,
    ROUNDING_MODE,
    SCALE,
    UNSURE,
    rounds_to_nearest,
)

WORK = 2 * BLOCK + LANES  # bounds; after two blocks the lanes' sums, where `find_lane` reads them


@kernel(I64(IN_U64, I64, F64, IN_U64, U64, U64))
def single_draw(bits: Any, kind: Any, rate: Any, seed: Any, tag: Any, name: Any) -> Any:
    """The first draw of stream (tag, name): an index, UNSURE or an error's status."""
    wide_vectors()
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    top, finite = best_key(bits, kind)
    if not finite:
        return NOT_FINITE
    work, size, total = stack(WORK), bits.size, np.int64(0)
    for i in range(size):
        bound = chord(height_of(bits[i], kind, top, rate), DEEPEST, FIXED + np.float64(PRECISION))
        work[i] = bound
        total += bound
    sums, whole = work[2 * BLOCK :], size - size % LANES
    for lane in range(LANES):
        sums[lane] = work[whole + lane] if whole + lane < size else np.int64(0)
    for start in range(0, whole, LANES):
        for lane in range(LANES):
            sums[lane] += work[start + lane]
    key, prefix = stream_of(seed, tag, name)
    number, verdict, index, word, other = 0, REJECTED, np.int64(0), NONE, NONE
    while verdict == REJECTED:
        word = other
        if number % 2 == 0:
            word, other = philox(np.uint64(number // 2), prefix, key)
        r, counts = below_word(word, np.uint64(total))
        if counts:
            index, before = find_lane(work, size, np.int64(r))
            height = height_of(bits[index], kind, top, rate)
            verdict = judge(height, SCALE, np.int64(r) - before)
        number += 1
    return UNSURE if verdict == UNSURE else index
