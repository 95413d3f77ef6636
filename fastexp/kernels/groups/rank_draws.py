"""Draws of a rank statistic from rows of sorted records, in one call: a data set is one row.

Records become the points and cells that matter (`numbers/rank_rows.py`, `numbers/runs.py`), then
sums of integer weights and draws (`segment_draws.py`). Only the ranks of a row that matter are
looked at, and the records that are equal to the outermost of these.
"""

from __future__ import annotations

from typing import Any

from ..._compiler.jit import I64, IN_F64, IN_I64, IN_U64, OUT_I64, helper, kernel
from ..numbers.rank_rows import window
from ..numbers.runs import GATE, LEFT, RIGHT, S, fill_cells
from .segment_draws import draw_points

FORM = 16  # numbers of a form


@helper
def ranks_that_matter(form: Any, n: Any, reach: Any) -> Any:
    """Return the first and the last rank that matter among n > 0 records.

    left, right: the gaps at which the distance of each side begins. The least distance is at one of
    these gaps or next to it.
    """
    left = min(max(n + (-form[RIGHT + GATE] // form[RIGHT + S]), 0), n)
    right = min(max(-(-form[LEFT + GATE] // form[LEFT + S]), 0), n)
    low = min(max(min(left, right - 1) - reach, 0), n - 1)
    return low, max(min(max(left + 1, right) + reach, n) - 1, low)


@kernel(I64(IN_I64, I64, IN_I64, I64, I64, IN_I64, IN_F64, IN_U64, IN_U64, OUT_I64, OUT_I64))
def draw_rows(
    records: Any, n: Any, line: Any, reach: Any, size: Any, unit: Any, scale: Any, table: Any,
    words: Any, out: Any, work: Any,
) -> Any:  # fmt: skip
    """out = draws (grid indices, or OPEN) of each row, row after row, from WORDS words a draw.

    records: the bits of n sorted records for each row; line: the form for no records, then what
    each record adds to it; reach: how many ranks further out matter; size: points of the grid;
    table: weights by distance; work: `work_size(n)` words. Returns how many draws are OPEN.
    """
    form, room = work[:FORM], 2 * n + 1
    for i in range(FORM):
        form[i] = line[i] + n * line[FORM + i]
    points, counts, cells = work[FORM : FORM + n], work[FORM + n : FORM + 2 * n], work[-5 * room :]
    start, count, key = cells[:room], cells[room : 2 * room], cells[2 * room : 3 * room]
    rows = records.size // n if n > 0 else 1
    first, last, m, below, total = 0, 0, 0, 0, 0
    if n > 0:
        first, last = ranks_that_matter(form, n, reach)
    for r in range(rows):
        if n > 0:
            row = records[r * n : (r + 1) * n]
            m, below = window(row, first, last, unit, scale, points, counts)
        k = fill_cells(points[:m], counts[:m], below, n, size, form, start, count, key)
        draws = out.size // rows
        total += draw_points(
            start[:k], count[:k], key[:k], table, words[4 * draws * r : 4 * draws * (r + 1)],
            out[draws * r : draws * (r + 1)], cells[3 * room :],
        )  # fmt: skip
    return total


def work_size(n: int) -> int:
    """The number of words of scratch for rows of n records."""
    return FORM + 2 * n + 5 * (2 * n + 1)
