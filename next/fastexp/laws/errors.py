"""Expected errors of many data sets at once: of ranks, and of smooth noise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..data.segments import Segments
from ..draws.ranks import RankStatistic
from ..kernels.cells import ALL, LENGTH, PART, START, TOP
from ..kernels.errors import fill_errors
from ..kernels.places import place_records
from ..types import Floats
from .runs import quiet

BITS = 96  # cells beyond the window have less than 2**-96 of all weight
FAR, LEAST = 1e150, 1e-300  # the most and the least scale of noise, over a distance


def rank_errors(data: Segments, statistic: RankStatistic, truths: Floats) -> Floats:
    """Return E|error| and E error**2 of each row of sorted records; NaN where far cells count."""
    grid, fine = statistic.grid, replace(statistic, bits=BITS)
    line, beyond, rate, size = fine.public
    rows, points = truths.size, np.empty(data.values.size, np.int64)
    n = points.size // rows
    place_records(data.values, grid.form, points)
    parts = np.zeros((rows, PART), np.int64)
    parts[:, START], parts[:, LENGTH], parts[:, ALL] = np.arange(rows) * n, n, n
    parts[:, TOP] = size
    most = min(n, 2 * beyond + 2)
    work = np.empty(5 * (2 * most + 1), np.int64)
    near, out = grid.near(truths), np.empty((truths.size, 2))
    rest = (grid.values(near) - truths) / grid.width
    fill_errors(
        points, parts.reshape(-1), line, beyond, rate, near, rest, most, out.reshape(-1), work
    )
    return out * (grid.width, grid.width**2)


@quiet
def smooth_errors(
    centres: Floats, scales: Floats, bounds: Any, is_cauchy: bool, truths: Floats
) -> Floats:
    """Return E|error| and E error**2 of clamp(centre + scale * noise), by closed forms.

    With M(r) = E min(|Z|, r) and S(r) = E min(Z**2, r**2) of the noise Z, the parts of the error
    above and below a centre within the bounds are scale / 2 * M(distance of the bound / scale).
    """
    low, high = map(float, bounds)
    scale = np.maximum(scales, LEAST)
    form = _cauchy if is_cauchy else _laplace
    (below, square), (above, other), (inside, _) = (
        form(np.minimum(np.abs(away) / scale, FAR))
        for away in (centres - low, high - centres, truths.clip(low, high) - centres)
    )
    gap = np.abs(truths.clip(low, high) - centres)
    error = scale / 2 * (below + above) + (gap - scale * inside)
    error += np.abs(truths - truths.clip(low, high))
    bias, away = scale / 2 * (above - below), centres - truths
    return np.stack([error, scale * scale / 2 * (square + other) + away * (away + 2 * bias)], 1)


def _laplace(r: Floats) -> tuple[Floats, Floats]:
    near = np.minimum(r, 1.0)
    far = 2 - 2 * (1 + r) * np.exp(-r)
    return -np.expm1(-r), np.where(r < 1, 2 * np.exp(-near) * (np.expm1(near) - near), far)


def _cauchy(r: Floats) -> tuple[Floats, Floats]:
    away = r * np.arctan2(1.0, r)
    square = r - np.arctan(r) + r * away
    return (np.log1p(r * r) / 2 + away) * (2 / np.pi), square * (2 / np.pi)
