"""Figures of many rows: every line of their kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

import fastexp as fx
from tests.doors.numbers import rank_errors as _rank_errors

SMOOTH = np.sort(np.random.default_rng(5).normal(size=(2, 120)), axis=1)
EDGES = np.array([0.0, 0.02, 0.25, 1.0, 9.0])


def rank_errors(digest: Any) -> None:
    """Data sets with equal keys and others, ties, integers, more ranks, grids that need a look."""
    tied, hundredths = (8 * SMOOTH).round() / 8, SMOOTH.round(2)
    twice = np.concatenate([SMOOTH[:, :44], SMOOTH[:, 43:77], SMOOTH[:, 76:]], axis=1)
    close = np.array([[-3.0, 0.6, 1.6, 1.7, 3.0, 3.0], [-3.0, -2.0, -2.0, 1.0, 2.0, 2.0]])
    pairs = np.repeat(SMOOTH[:, ::2], 2, axis=1)
    for mechanism, rows in (
        (fx.Median(1.0, (-4, 4)), SMOOTH),
        (fx.Median(0.05, (-4, 4)), SMOOTH),
        (fx.Median(1.0, (-4, 4)), pairs),
        (fx.Median(0.5, (-4, 4), step=0.01), hundredths),
        (fx.Median(0.5, (-4, 4), step=0.01), hundredths + 0.005),
        (fx.Median(0.5, (-4, 4.123457)), SMOOTH),
        (fx.Median(9.0, (-4, 4), step=0.25), tied),
        (fx.Median(1.0, (-4, 4), step=1), (2 * SMOOTH).astype(np.int64)),
        (fx.Median(1.0, (-4, 4), convention="strict", neighbors="replace"), SMOOTH[:, :4]),
        (fx.Median(9.0, (-4, 0), step=0.5), 2 * SMOOTH),
        (fx.Median(9.0, (0, 4), step=0.5), 2 * SMOOTH),
        (fx.Quantile(0.3, 2.0, (-4, 4), convention="lower"), pairs),
        (fx.Median(1.0, (10**6, 10**6 + 1)), np.sort(SMOOTH % 1 + 10**6, axis=1)),
        (fx.Median(1.0, (-4, 4), step=0.5, convention="strict", neighbors="replace"), close),
        (fx.Median(1.0, (-4, 4)), twice),
        (fx.Maximum(1.0, (-4, 4), step=0.5), SMOOTH[:, :3]),
        (fx.OrderStatistic(2, 1.0, (-4, 4)), SMOOTH[:, :1]),
        (fx.Median(20.0, (-(2**40), 2**40), step=1), SMOOTH.astype(np.int64)),
        (fx.Median(1.0, (-4, 200), step=1), np.array([np.arange(120), np.arange(1, 121)])),
    ):
        statistic, truths = mechanism._statistic, np.array([-0.25, 0.123])
        for figure in _rank_errors.figures(statistic, rows, truths):
            digest.update(figure.tobytes())
        edges = np.concatenate([EDGES, 2.0 * EDGES[-1:]])
        digest.update(_rank_errors.masses(statistic, rows, truths, edges).tobytes())
        outputs = mechanism.grid.values(np.array([[0, 1], [5, 8]]))
        digest.update(_rank_errors.distances(statistic, rows, outputs).tobytes())
