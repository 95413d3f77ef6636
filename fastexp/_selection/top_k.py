"""Top-k: peeling with the exact envelope, or the greatest Gumbel keys at once.

Peeling (`kernels/select/peel.py`) takes one exact selection after the other. One-shot Gumbel keys
give the same law (Durfee and Rogers 2019) up to rounding errors; a row whose keys would be too
coarse is peeled.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._parameters import validate
from .._randomness.sampling import Sampling
from .._randomness.streams import Spare, os_word, os_words, stream_of
from .._typing import IntArray, WordArray
from ..kernels.select.envelope import TAIL, UNSURE
from ..kernels.select.peel import FRESH, SETTLED, peel
from ..reference import exact
from . import plan
from .rows import Rows
from .scan import Scan, check, storage
from .weighting import Weighting

PEELED = 1 << 32  # the first word of a substream for peeling, behind those for Gumbel noise


class Peeling:
    """One vector of utilities, from which candidates are taken one after the other."""

    def __init__(self, bits: WordArray, kind: int, weighting: Weighting, threads: int = 1) -> None:
        self._length = plan.peeled_block(bits.size)
        store, peeling = storage(bits.size, self._length), weighting.peeling(bits.size)
        self._scan, self._last = Scan(bits, kind, peeling, plan.PRECISION, store), FRESH
        self._triples = np.empty(self._scan.blocks.size - TAIL, np.int64)
        if threads > 1 and bits.size >= plan.THREADED_CANDIDATES:
            self._scan.fill(threads)
            self._last = SETTLED

    def take(self, words: Callable[[int], WordArray], word: exact.NextWord, out: IntArray) -> None:
        """out = selections, each among the candidates left; `words(n)` gives n words."""
        scan, w, settled = self._scan, self._scan.weighting, 0
        round_words = words(2 * out.size).copy()
        while settled < out.size:
            rest = out[settled:]
            rounds: int = peel(
                scan.bits,
                scan.kind,
                w.log2_base,
                w.rate_log2,
                scan.scale,
                self._length,
                self._triples,
                scan.blocks,
                scan.work,
                round_words[2 * settled :],
                self._last,
                rest,
            )
            check(rounds)
            settled += rounds
            self._last = int(out[-1]) if settled == out.size else SETTLED
            if settled < out.size:  # about one round in 1e7
                if out[settled] == UNSURE and scan.accepts_last(word):
                    self._last = out[settled] = scan.tail(4)
                    settled += 1
                else:
                    round_words[2 * settled : 2 * settled + 2] = words(2)


def release(rows: Rows, rounds: int, threads: int) -> IntArray:
    """An ordered selection from each row, from the operating system's randomness."""
    out = np.empty((rows.rows, rounds), np.int64)
    for r in range(rows.rows):
        peeling = Peeling(rows.row(r), rows.kind, rows.weighting, threads)
        peeling.take(os_words, os_word, out[r])
    return out


def simulate(
    rounds: int, bits: WordArray, kind: int, weighting: Weighting, sampling: Sampling
) -> IntArray:
    size, rng, streams, threads, method = sampling
    way = validate.method(method, ("gumbel", "envelope"))
    draws, workers = validate.size(size), validate.threads(threads)
    rows = Rows(bits, kind, weighting)
    seeds = rows.seeds(rng, streams)
    if way == "gumbel":
        out = rows.noisy_max(seeds, draws, workers, chosen=rounds)
    else:
        out = np.full((rows.rows, 1 if draws is None else draws, rounds), -1, np.int64)
    for r, t in zip(*np.nonzero(out[:, :, 0] < 0), strict=True):
        spare = Spare(stream_of(seeds, int(r)), int(t), PEELED)
        Peeling(rows.row(int(r)), kind, weighting).take(spare.words, spare, out[r, t])
    return out.reshape(*rows.shape(draws), rounds)
