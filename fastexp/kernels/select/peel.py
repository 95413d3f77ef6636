"""Rounds of the exponential mechanism, each among the candidates that earlier ones left.

A selected candidate's base becomes 0, its logarithm minus infinity, and only its block is
scanned again: a round costs two looks at a block and one at all blocks' sums. Blocks are short,
so that neither is most of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import F64, I64, IN_U64, OUT_F64, OUT_I64, helper, kernel
from .envelope import ROUNDING_MODE, draw, rounds_to_nearest, scan, settle

FRESH = -1  # in the place of the last candidate: none is selected yet, no block is scanned
SCANNED = -2  # likewise, but threads have scanned the blocks


@helper
def scan_block(
    b: Any, length: Any, bits: Any, kind: Any, log_base: Any, rate: Any, scale: Any, triples: Any,
    work: Any,
) -> Any:  # fmt: skip
    """Scan block b of `length` candidates; returns the status."""
    part = slice(b * length, (b + 1) * length)
    return scan(bits[part], kind, log_base[part], rate, scale, triples[3 * b : 3 * b + 3], work)


@kernel(I64(IN_U64, I64, OUT_F64, F64, F64, I64, OUT_I64, OUT_I64, OUT_I64, IN_U64, I64, OUT_I64))
def peel(
    bits: Any, kind: Any, log_base: Any, rate: Any, scale: Any, length: Any, triples: Any,
    blocks: Any, work: Any, words: Any, last: Any, out: Any,
) -> Any:  # fmt: skip
    """out = the candidates of successive rounds, each from two words.

    Returns how many rounds were settled, or an error's status. A round that is not ends the
    call, with its status in `out`; its blocks are in `blocks`, and the next call says by `last`
    what was selected. `triples` are the blocks as `scan` leaves them, before `settle`.
    """
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    if last == FRESH:
        status = 0
        for b in range(triples.size // 3):
            status = min(
                status,
                scan_block(b, length, bits, kind, log_base[:0], rate, scale, triples, work),
            )
        if status < 0:
            return status
    for r in range(out.size):
        if last >= 0:
            log_base[last] = -np.inf
            scan_block(last // length, length, bits, kind, log_base, rate, scale, triples, work)
        for i in range(triples.size):
            blocks[i] = triples[i]
        settle(kind, rate, blocks)
        two = words[2 * r : 2 * r + 2]
        last = draw(bits, kind, log_base, rate, scale, length, blocks, work, two)
        out[r] = last
        if last < 0:
            return r
    return out.size
