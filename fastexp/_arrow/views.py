"""Arrow's views: rows that lie anywhere in their buffers, copied to where they follow each other.

Polars hands out its strings in this form only. A row is 16 bytes: its length, then either up to
12 bytes of text, or 4 bytes of it, the number of a buffer and a place there.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .._typing import AnyArray, IntArray
from .c_interface import malformed
from .tree import Part

SHORT = 12  # bytes: longer texts lie in buffers of their own
BLOCK = 1 << 15  # items copied at once: the index of a block stays in the cache


def texts(part: Part, first: int, count: int, valid: AnyArray | None) -> tuple[AnyArray, IntArray]:
    """(bytes, offsets) of rows of the type utf8view; null ones are empty."""
    words = part.buffer(1, np.int32, 4 * (part.offset + first), 4 * count).reshape(-1, 4)
    lengths = words[:, 0].astype(np.int64)
    if valid is not None:
        lengths[~valid] = 0
    if int(lengths.min(initial=0)) < 0:
        malformed(part.owner.argument, "a text of a negative length")
    starts = np.arange(4, 16 * count, 16, dtype=np.int64)
    source, far = words.reshape(-1).view(np.uint8), np.flatnonzero(lengths > SHORT)
    if far.size:
        spans, where = _spans(part, words[far, 2], words[far, 3], lengths[far])
        starts[far] = source.size + where
        source = np.concatenate([source, *spans])
    return gathered(source, starts, lengths)


def lists(
    part: Part, kind: npt.DTypeLike, first: int, count: int, valid: AnyArray | None
) -> tuple[IntArray, IntArray]:
    """(numbers of items, offsets) of rows of a list view; null ones are empty."""
    start, most = part.offset + first, part.child(0).length
    starts = part.buffer(1, kind, start, count).astype(np.int64)
    sizes = part.buffer(2, kind, start, count).astype(np.int64)
    if valid is not None:
        starts[~valid], sizes[~valid] = 0, 0
    if min(int(starts.min(initial=0)), int(sizes.min(initial=0))) < 0:
        malformed(part.owner.argument, "a list of a negative length")
    if bool((starts > most - sizes).any()):
        malformed(part.owner.argument, "a list beyond its items")
    offsets = ends(sizes)
    return np.repeat(starts - offsets[:-1], sizes) + np.arange(int(offsets[-1])), offsets


def ends(lengths: IntArray) -> IntArray:
    """Offsets of rows of these lengths, one after the other."""
    offsets = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _spans(
    part: Part, buffers: AnyArray, begins: AnyArray, lengths: IntArray
) -> tuple[list[AnyArray], IntArray]:
    """The stretches of the buffers that rows use, and where rows begin once these are joined."""
    number = max(part.buffers - 3, 0)
    sizes = part.buffer(number + 2, np.int64, 0, number)
    used, which = np.unique(buffers, return_inverse=True)
    if int(used[0]) < 0 or int(used[-1]) >= number:
        malformed(part.owner.argument, "a text in a buffer that is not there")
    lasts = begins + lengths
    if int(begins.min()) < 0 or bool((lasts > sizes[buffers]).any()):
        malformed(part.owner.argument, "a text beyond its buffer")
    order = np.argsort(which, kind="stable")  # texts of one buffer next to each other
    firsts = ends(np.bincount(which))[:-1]
    low = np.minimum.reduceat(begins[order], firsts).astype(np.int64)
    high = np.maximum.reduceat(lasts[order], firsts)
    spans = [
        part.buffer(2 + int(b), np.uint8, int(i), int(j - i))
        for b, i, j in zip(used, low, high, strict=True)
    ]
    return spans, begins + (ends(high - low)[:-1] - low)[which]


def gathered(source: AnyArray, starts: AnyArray, lengths: IntArray) -> tuple[AnyArray, IntArray]:
    """Stretches of the source, one after the other, and offsets of them."""
    offsets = ends(lengths)
    out = np.empty(int(offsets[-1]), source.dtype)
    cuts = np.searchsorted(offsets, np.arange(0, out.size + BLOCK, BLOCK))
    cuts[-1] = starts.size
    for i, j in pairwise(cuts):
        low, high = int(offsets[i]), int(offsets[j])
        moves = starts[i:j] - offsets[i:j]
        if low < high and moves.min() == moves.max():  # they follow each other in the source
            out[low:high] = source[low + moves[0] : high + moves[0]]
            continue
        index = np.repeat(moves, lengths[i:j])
        index += np.arange(low, high)
        np.take(source, index, out=out[low:high], mode="clip")  # no copy; all are within
    return out, offsets
