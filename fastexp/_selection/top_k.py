"""Top-k: peeling with the exact envelope, or the greatest Gumbel keys at once.

Peeling scans all blocks once; after a round the selected candidate's base is 0, and only its
block is scanned again. One-shot Gumbel keys give the same law (Durfee and Rogers 2019) up to
roundings; where they would be too coarse a row is peeled.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._parameters import validate
from .._randomness.streams import Spare, os_word, os_words, stream_of
from .._typing import IntArray, WordArray
from ..kernels.bits.heights import BLOCK
from ..kernels.select import envelope
from ..reference import exact
from . import plan
from .gumbel import noisy_max
from .rows import Rows
from .scan import Scan
from .weighting import Weighting

PEELED = 1 << 32  # the first word of a substream that peeling takes: behind Gumbel's words


class Peeling:
    """One vector of utilities, from which candidates are taken one after the other."""

    __slots__ = ("_raw", "_scan")

    def __init__(self, bits: WordArray, kind: int, weighting: Weighting, threads: int = 1) -> None:
        self._scan = Scan(bits, kind, weighting.peeling(bits.size), plan.PRECISION)
        self._scan.scan(threads if bits.size >= plan.THREADED_CANDIDATES else 1)
        self._raw = self._scan.blocks.copy()

    def take(self, words: Callable[[], WordArray], word: exact.Words) -> int:
        """One selection among those that are left, which is then left out."""
        scan = self._scan
        scan.blocks[:] = self._raw  # settling changes the sums of blocks
        scan.settle()
        index = scan.resolve(envelope.AGAIN, words, word)
        block = index // BLOCK
        scan.weighting.log2_base[index] = -np.inf
        scan.rescan(block)
        triple = slice(3 * block, 3 * block + 3)
        self._raw[triple] = scan.blocks[triple]
        return index


def release(rows: Rows, rounds: int, threads: int) -> IntArray:
    """An ordered selection from each row, from the operating system's randomness."""
    out = np.empty((rows.rows, rounds), dtype=np.int64)
    for r in range(rows.rows):
        peeling = Peeling(rows.row(r), rows.kind, rows.weighting, threads)
        for i in range(rounds):
            out[r, i] = peeling.take(os_words, os_word)
    return out


def simulate(
    rows: Rows,
    rounds: int,
    size: object,
    rng: object,
    streams: object,
    threads: object,
    method: object,
) -> IntArray:
    """`sample`, from the public arguments of the verb; selections along the last axis."""
    way = validate.method(method, ("gumbel", "envelope"))
    draws, workers = validate.size(size), validate.threads(threads)
    seeds = rows.seeds(rng, streams)
    if way == "gumbel":
        out = noisy_max(rows, seeds, draws, workers, chosen=rounds)
    else:
        out = np.full((rows.rows, 1 if draws is None else draws, rounds), -1, dtype=np.int64)
    for r, t in zip(*np.nonzero(out[:, :, 0] < 0), strict=True):
        _peel(rows, seeds, int(r), int(t), out[r, t])
    shape = ((rows.rows,) if rows.is_matrix else ()) + (() if draws is None else (draws,))
    return out.reshape(*shape, rounds)


def _peel(rows: Rows, seeds: WordArray, r: int, t: int, out: IntArray) -> None:
    """Draw t of row r by peeling."""
    spare = Spare(stream_of(seeds, r), t, PEELED)
    peeling = Peeling(rows.row(r), rows.kind, rows.weighting)
    for i in range(out.size):
        out[i] = peeling.take(spare.words, spare)
