"""Quantile sketches: counts in bins of fixed edges, so that they merge by adding integers.

A bin is 1/16 of an octave: 4.4 % wide. A quantile is read by going linearly through the bin
that holds it, which for a smooth distribution errs by some 0.1 %. The same edges serve
drawn errors (counts) and exact laws (probabilities).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ..._typing import FloatArray, IntArray
from ..design.design import Cell

PER_OCTAVE, OCTAVES = 16, 40
BINS = PER_OCTAVE * OCTAVES + 3  # with those of 0 and of all that is beyond the last edge
UNIT = 1 << 30  # of expected numbers
OCTAVE_STEPS = np.array([2.0 ** (i / PER_OCTAVE) for i in range(PER_OCTAVE)])


@lru_cache(maxsize=64)
def edges_below(most: float) -> FloatArray:
    """The edges for errors up to `most`: 0, then 40 octaves, the last at or above `most`.

    Bin 0 holds the errors of exactly 0, bin j those in (edge j - 1, edge j].
    """
    top = math.frexp(most)[1]
    octaves = [np.ldexp(OCTAVE_STEPS, top - OCTAVES + o) for o in range(OCTAVES)]
    edges = np.concatenate([[0.0], *octaves, [math.ldexp(1.0, top)]])
    edges.flags.writeable = False
    return edges


def edges_of(cell: Cell, figure: str) -> FloatArray:
    """The edges of the bins for quantiles of a figure of a cell."""
    return edges_below(cell.subject.most(figure, cell.n))


def counts(values: FloatArray, edges: FloatArray) -> IntArray:
    """How many of the values >= 0 fall in each bin; what is beyond the last edge, in one more."""
    where = np.searchsorted(edges, values.reshape(-1), "left")
    return np.bincount(where, minlength=edges.size + 1).astype(np.int64)


def quantile(
    cumulative: FloatArray, edges: FloatArray, p: float, resolution: float
) -> float | None:
    """The p-quantile of bins whose running sums are given, relative to their last one.

    Where values are multiples of a `resolution` > 0, one of these in the bin is given. None
    where it is beyond all edges.
    """
    level = p * float(cumulative[-1])
    j = int(np.searchsorted(cumulative, level * (1 - 1e-12), "left"))
    if j == 0:
        return 0.0
    if j >= edges.size:
        return None
    low, high = float(edges[j - 1]), float(edges[j])
    before, mass = float(cumulative[j - 1]), float(cumulative[j] - cumulative[j - 1])
    part = min(1.0, max(0.0, (level - before) / mass)) if mass > 0 else 1.0
    if resolution > 0.0:
        first, last = math.floor(low / resolution) + 1, math.floor(high / resolution)
        if last >= first:
            step = max(1, math.ceil(part * (last - first + 1) - 1e-9))
            return (first + step - 1) * resolution
    return low + part * (high - low)


def quanta(masses: FloatArray) -> IntArray:
    """Expected numbers of data sets in bins, in units of 2**-30: integers add in any order."""
    return np.rint(np.maximum(masses, 0.0) * float(UNIT)).astype(np.int64)


def packed(values: IntArray) -> list[Any]:
    """Bins as they are written: the first that is not 0, and what it and those after it hold."""
    first = int((values != 0).argmax())
    return [first, values[first:].tolist()]
