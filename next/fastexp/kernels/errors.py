"""Expected errors of many data sets: sums over their cells, without draws.

Numbers are in steps of the grid, from the truth: point t is (t - near) + rest.
"""

from __future__ import annotations

import numpy as np

from .bits import weight
from .cells import (
    ALL,
    COEFFICIENTS,
    LENGTH,
    LOOSE,
    PART,
    START,
    fill_cells,
    fill_distances,
    fill_form,
    ranks_that_matter,
)
from .jit import helper, kernel, stack
from .weights import LOWEST

TINY = 2.0**-58  # the share of a sum that loose cells may have and be left out
LEAST = np.int64(-(1 << 62))


@helper
def add_cells(start, count, heights, near, rest):
    """The sums of weights, of |error| and of its square, over all cells that are not loose."""
    mass, error, square = 0.0, 0.0, 0.0
    for i in range(count.size):
        c = np.float64(count[i] if count[i] < LOOSE else 0)
        first, w = np.float64(start[i] - near) + rest, weight(min(heights[i], LOWEST), 1.0)
        k = min(max(np.floor(-first) + 1.0, 0.0), c)  # points that are not above the truth
        middle, high = first + 0.5 * (c - 1.0), c - k
        mass += w * c
        error += w * (high * (first + k + 0.5 * (high - 1.0)) - k * (first + 0.5 * (k - 1.0)))
        square += w * c * (middle * middle + (c * c - 1.0) / 12.0)
    return mass, error, square


@helper
def is_small(first, count, height, mass, error, square):
    """Whether a loose cell of at least that height counts in none of the sums."""
    own = weight(min(height, LOWEST), 1.0) * count
    reach = max(abs(first), abs(first + count - 1.0))
    small = own <= TINY * mass and own * reach <= TINY * error
    return small and own * reach * reach <= TINY * square


@kernel("none(in_i64, in_i64, in_i64, i64, f64, in_i64, in_f64, i64, out_f64, out_i64)")
def fill_errors(points, parts, line, beyond, rate, near, rest, ranks, out, work):
    """out = E|error| and E error**2 of each data set; NaN where loose cells may count.

    points, parts, line, beyond: as `cells.draw_ranks` takes them. ranks: the most that matter in
    any data set. work: four arrays of 2 * ranks + 1.
    """
    room = 2 * ranks + 1
    start, count, minus = work[:room], work[room : 2 * room], work[2 * room : 3 * room]
    heights, form = work[3 * room : 4 * room].view(np.float64), stack()[:COEFFICIENTS]
    for d in range(near.size):
        part = parts[PART * d : PART * (d + 1)]
        n, records = part[ALL], points[part[START] :][: part[LENGTH]]
        fill_form(line, n, form)
        low, most = ranks_that_matter(form, n, beyond)
        fill_distances(form, n, low, most, minus)
        fill_cells(records, part, form, low, most, start, count, minus, heights)
        m, best = 2 * most + 1, LEAST
        for i in range(m):
            best = max(best, minus[i] if 0 < count[i] < LOOSE else LEAST)
        for i in range(m):
            heights[i] = rate * np.float64(best - minus[i])
        mass, error, square = add_cells(start[:m], count[:m], heights[:m], near[d], rest[d])
        for i in range(0, m, max(most, 1)):  # the cells that may be loose
            c = np.float64(count[i] & (LOOSE - 1))
            first = np.float64(start[i] - near[d]) + rest[d]
            if count[i] >= LOOSE and not is_small(first, c, heights[i], mass, error, square):
                mass = np.nan
        out[2 * d], out[2 * d + 1] = error / mass, square / mass
