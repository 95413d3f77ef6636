"""Draws of permute-and-flip."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..data.segments import Segments
from ..kernels.envelope import AGAIN, BEST
from ..kernels.flips import ROOM, TRIES, draw_flips
from ..types import Words
from .choose import Weighting, candidates_of, check, shaped
from .words import SPARE, further_words, system_bytes

CHOICES = 8  # words for choices among coins that may be successes: mostly two are enough


def draw(rows: Segments, weighting: Weighting, seeds: Words, size: int | None) -> Any:
    """Return indices of candidates: an int, or int64 of shape (size,), (rows,) or (rows, size)."""
    values, kind, count = rows.values, rows.kind, rows.rows or 1
    k = values.size // count
    if count > 1 and not seeds.size:
        each = values.reshape(count, k)
        return np.array([draw(Segments(one, kind), weighting, seeds, size) for one in each])
    words, out = _words(seeds, TRIES), np.empty(count * (size or 1), np.int64)
    work, rate, at, refused = np.empty(ROOM, np.int64), weighting.rate_log2, 0, 0
    while True:
        done = draw_flips(values, kind, rate, k, seeds, at, refused, words, out, work)
        if done == out.size:
            return shaped(out, rows.rows, size)
        refused, at = refused if done == at else 0, done
        stop, index, rho = work[:BEST].tolist()
        if check(stop) == AGAIN:
            further = _words(seeds, k + k % 2 + CHOICES)
            words, work = np.concatenate([words, further]), np.empty(ROOM + k, np.int64)
            continue
        row, t = divmod(at, size or 1)
        spare = further_words(seeds, row, (t << 32) + SPARE + (refused << 8))
        one = candidates_of(values[row * k : (row + 1) * k], kind, weighting, work[BEST:])
        refused += 1
        if one.accepts(index, Fraction(1), rho, spare):
            out[at], at, refused = index, at + 1, 0


def _words(seeds: Words, count: int) -> Words:
    """Return a release's words, or room for those of a simulation."""
    if seeds.size:
        return np.empty(count, np.uint64)
    return np.frombuffer(bytearray(system_bytes(8 * count)), np.uint64)
