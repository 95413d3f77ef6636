"""Records to the points of a grid of any spacing: a table of cells, then a few comparisons.

A point's *edge* is its least record; a record's index is the number of edges that are not above
it. Numbers are mapped to cells by a function that never decreases: a line, or the order of their
bits, which spaces decades evenly. So the edges in lower cells are below a record and those in
higher cells above it. Only the edges in its own cell are compared with it, by as many halvings as
the fullest cell needs: no branch depends on a record. Rounding moves numbers between cells, but
never past each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import float_bits, helper, wide_vectors

# Of a header: the least and the greatest edge, cells a unit (0: cells by bits), how many low bits
# of a number's order do not choose a cell, the first halving, how many cells.
LOW, HIGH, SHARE, SHIFT, HALVING, CELLS, HEADER = 0, 1, 2, 3, 4, 5, 8
AS_POINTS = 2.0  # in a header's last place, where `histogram.py` has a rule
PER_EDGE = 4  # least number of cells for each edge
ZERO, SIGN, ALL_BUT_SIGN = np.uint64(0), np.uint64(63), np.uint64(0x7FFFFFFFFFFFFFFF)
TOP = np.uint64(1 << 63)


@helper
def order(x: Any) -> Any:
    """The place of a double among all doubles, as a word; +0.0 and -0.0 have one."""
    bits = float_bits(x + 0.0)
    return (bits ^ ((ZERO - (bits >> SIGN)) & ALL_BUT_SIGN)) ^ TOP


@helper
def fill_table_cells(records: Any, form: Any, out: Any) -> None:
    """out[i] = the cell of records[i]; that of NaN is arbitrary."""
    wide_vectors()
    low, high, share = form[LOW], form[HIGH], form[SHARE]
    if share > 0.0:
        for i in range(out.size):
            x = records[i] if records[i] > low else low
            x = x if x < high else high
            out[i] = np.uint64(np.int64((x - low) * share))
    else:
        first, shift = order(low), np.uint64(form[SHIFT])
        for i in range(out.size):
            x = records[i] if records[i] > low else low
            x = x if x < high else high
            out[i] = (order(x) - first) >> shift


@helper
def fill_by_edges(records: Any, form: Any, out: Any) -> None:
    """out[i] = the index of the point that records[i] counts at; 0 for NaN."""
    fill_table_cells(records, form, out)
    cells, halving = np.int64(form[CELLS]), np.int64(form[HALVING])
    before, edges = form[HEADER : HEADER + cells], form[HEADER + cells :]
    for i in range(out.size):
        x, t, step = records[i], np.int64(before[np.int64(out[i])]), halving
        while step > 0:
            t += step if edges[t + step - 1] <= x else 0
            step >>= 1
        out[i] = np.uint64(t)


def edge_form(edges: Any) -> Any:
    """The form of increasing doubles for `fill_by_edges`: header, edges below each cell, edges.

    Of the two maps it takes the one whose fullest cell has fewer edges.
    """
    cells = 1 << (PER_EDGE * edges.size + 15).bit_length()
    bits = (edges + 0.0).view(np.uint64)
    orders = (bits ^ ((ZERO - (bits >> SIGN)) & ALL_BUT_SIGN)) ^ TOP  # as in `order`
    orders -= orders[0]
    shift = max(int(orders[-1]).bit_length() + 1 - cells.bit_length(), 0)
    with np.errstate(over="ignore", divide="ignore"):
        share = (cells - 1) / (edges[-1] - edges[0])
    maps = [(0.0, (orders >> np.uint64(shift)).astype(np.int64))]
    if np.isfinite(share):
        maps.append((share, ((edges - edges[0]) * share).astype(np.int64)))
    filled = [(np.bincount(cell, minlength=cells), share) for share, cell in maps]
    counts, share = min(filled, key=lambda choice: choice[0].max())
    halving = 1 << (int(counts.max()).bit_length() - 1)
    header = edges[0], edges[-1], share, shift, halving, cells, 0, AS_POINTS
    padding = np.full(2 * halving, np.nan)  # not <= any record, even an infinite one
    return np.concatenate([header, np.cumsum(counts) - counts, edges, padding])
