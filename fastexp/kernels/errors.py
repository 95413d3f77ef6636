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
from .jit import helper, kernel, stack, wide_vectors
from .weights import LOWEST

TINY = 2.0**-58  # the share of a sum that loose cells may have and be left out
LEAST = np.int64(-(1 << 62))
LANES = 64


@helper
def fill_weights(minus, count, rate, weights):
    """weights = those of one point of each cell, over that of the best cell that is not loose."""
    wide_vectors()
    best = LEAST
    for i in range(minus.size):
        best = max(best, minus[i] if 0 < count[i] < LOOSE else LEAST)
    for i in range(minus.size):
        weights[i] = weight(min(rate * np.float64(best - minus[i]), LOWEST), 1.0)


@helper
def add_cells(start, count, weights, near, rest, lanes):
    """lanes += the terms of weights, of |error| and of its square, of cells that are not loose."""
    wide_vectors()
    for at in range(0, count.size, LANES):
        for j in range(min(LANES, count.size - at)):
            i = at + j
            c = np.float64(count[i] if count[i] < LOOSE else 0)
            first, w = np.float64(start[i] - near) + rest, weights[i]
            k = min(max(np.floor(-first) + 1.0, 0.0), c)  # points that are not above the truth
            middle, high = first + 0.5 * (c - 1.0), c - k
            lanes[j] += w * c
            error = high * (first + k + 0.5 * (high - 1.0)) - k * (first + 0.5 * (k - 1.0))
            lanes[LANES + j] += w * error
            square = middle * middle + (c * c - 1.0) * (1.0 / 12.0)
            lanes[2 * LANES + j] += w * (c * square)


@helper
def folded(lanes):
    """The sum, in which errors grow with the logarithm of the size."""
    width = lanes.size
    while width > 1:
        width //= 2
        for j in range(width):
            lanes[j] += lanes[width + j]
    return lanes[0]


@helper
def is_small(first, count, weight, mass, error, square):
    """Whether a loose cell of at most that weight a point counts in none of the sums."""
    own = weight * count
    reach = max(abs(first), abs(first + count - 1.0))
    small = own <= TINY * mass and own * reach <= TINY * error
    return small and own * reach * reach <= TINY * square


@kernel("none(in_i64, in_i64, in_i64, i64, f64, in_i64, in_f64, i64, out_f64, out_i64)")
def fill_errors(points, parts, line, beyond, rate, near, rest, ranks, out, work):
    """out = E|error| and E error**2 of each data set; NaN where loose cells may count.

    points, parts, line, beyond: as `cells.draw_ranks` takes them. ranks: the most that matter in
    any data set. work: five arrays of 2 * ranks + 1.
    """
    room = 2 * ranks + 1
    start, count, minus = work[:room], work[room : 2 * room], work[2 * room : 3 * room]
    weights, scratch = work[3 * room : 4 * room].view(np.float64), stack()
    form, lanes = scratch[:COEFFICIENTS], scratch[COEFFICIENTS:].view(np.float64)[: 3 * LANES]
    bases = work[4 * room : 5 * room].view(np.float64)
    low, most, known = np.int64(0), np.int64(0), np.int64(-1)
    for d in range(near.size):
        part = parts[PART * d : PART * (d + 1)]
        n, records = part[ALL], points[part[START] :][: part[LENGTH]]
        if n != known:
            fill_form(line, n, form)
            low, most = ranks_that_matter(form, n, beyond)
            fill_distances(form, n, low, most, minus)
        m = 2 * most + 1
        ties = fill_cells(records, part, form, low, most, start, count, minus, bases[:m])
        if n != known or ties:
            fill_weights(minus[:m], count[:m], rate, weights)
        known = np.int64(-1) if ties else n
        for j in range(lanes.size):
            lanes[j] = 0.0
        add_cells(start[:m], count[:m], weights, near[d], rest[d], lanes)
        mass, error = folded(lanes[:LANES]), folded(lanes[LANES : 2 * LANES])
        square = folded(lanes[2 * LANES :])
        for i in range(0, m, max(most, 1)):  # the cells that may be loose
            c = np.float64(count[i] & (LOOSE - 1))
            first = np.float64(start[i] - near[d]) + rest[d]
            if count[i] >= LOOSE and not is_small(first, c, weights[i], mass, error, square):
                mass = np.nan
        out[2 * d], out[2 * d + 1] = error / mass, square / mass
