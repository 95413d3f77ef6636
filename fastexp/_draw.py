"""One finite selection, from utilities as bits to an index: a release, or reproducible draws.

The way of one draw: `envelope_scan` (threads over blocks) -> `envelope_settle` ->
`envelope_draw` from two words -> an index, or the exact test (`_scan.py`). Many draws build
an alias table instead and look up one word a draw (`_table.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _plan, _validate
from ._randomness import Spare, os_word, os_words, row_stream
from ._scan import Scan, storage
from ._table import Table
from ._typing import IntArray, WordArray
from ._weighting import Weighting
from .kernels import alias, envelope
from .kernels.words import substream_words


def release(bits: WordArray, kind: int, weighting: Weighting, threads: int = 1) -> int:
    """One index from the operating system's randomness."""
    if threads > 1 and bits.size >= _plan.THREADED_CANDIDATES:
        scan = Scan(bits, kind, weighting, _plan.PRECISION)
        scan.fill(threads)
        return scan.resolve(envelope.AGAIN, os_words, os_word)
    store, w = storage(bits.size), weighting
    args = bits, kind, w.log2_base, w.rate_log2, _plan.SCALE, store, os_words()
    status: int = envelope.envelope_one(*args)
    if status >= 0:
        return status
    scan = Scan(bits, kind, weighting, _plan.PRECISION, store)
    return scan.resolve(status, os_words, os_word)


def simulate(
    bits: WordArray,
    kind: int,
    weighting: Weighting,
    size: Any,
    rng: Any,
    streams: Any,
    threads: Any,
    method: Any,
) -> int | IntArray:
    """`sample`, from the public arguments of the verb."""
    _validate.method(method)
    draws, workers = _validate.size(size), _validate.threads(threads)
    stream = row_stream(rng, _validate.stream(streams))
    return sample(bits, kind, weighting, draws, stream, workers)


def sample(
    bits: WordArray,
    kind: int,
    weighting: Weighting,
    size: int | None,
    stream: WordArray,
    threads: int = 1,
) -> int | IntArray:
    """Reproducible indices from a stream: one as an int, or `size` of them."""
    scan = Scan(bits, kind, weighting, _plan.PRECISION)
    scan.fill(threads if bits.size >= _plan.THREADED_CANDIDATES else 1)
    if _plan.by_table(bits.size, size):
        return Table(scan, *_plan.table_shape(bits.size)).draws(size or 0, stream, threads)
    draws = scan_draws(scan, 1 if size is None else size, stream)
    return int(draws[0]) if size is None else draws


def scan_draws(scan: Scan, size: int, stream: WordArray) -> IntArray:
    """`size` draws, each from the scanned blocks and two words of its own.

    Draw t of a substream's 4,096 takes words 2t and 2t + 1; what further rounds and exact
    tests need is taken from word 8,192 on, in the order of the draws.
    """
    out = np.empty(size, dtype=np.int64)
    for start in range(0, size, alias.DRAWS):
        part, number = out[start : start + alias.DRAWS], start // alias.DRAWS
        words = np.empty(2 * part.size, dtype=np.uint64)
        substream_words(stream, number, 0, words)
        spare = Spare(stream, number, 2 * alias.DRAWS)
        for t in range(part.size):
            status = envelope.envelope_draw(*scan.arguments(), words[2 * t : 2 * t + 2])
            part[t] = scan.resolve(status, spare.words, spare)
    return out
