"""Peers for exact errors of private medians: closed forms of gaps that count, in NumPy."""

from __future__ import annotations

import numpy as np

from ..harness.workload import Call, FloatArray
from ..numbers.workload import STUDY
from .workload import StudyWork, median_errors


def batched(work: StudyWork) -> Call:
    """All data sets at once, sorted, for each epsilon: shape (rows, epsilons)."""
    records = work.records.reshape(-1, work.k)

    def call() -> FloatArray:
        knots = sorted_knots(records, work)
        return np.stack([median_errors(knots, epsilon)[0] for epsilon in STUDY], axis=1)

    return call


def single(work: StudyWork) -> Call:
    """One data set at one epsilon."""
    records = work.records.reshape(1, -1)
    return lambda: float(median_errors(sorted_knots(records, work), work.epsilon)[0, 0])


def sorted_knots(records: FloatArray, work: StudyWork) -> FloatArray:
    """Sorted rows between the bounds, to which they are clamped."""
    knots = np.empty((records.shape[0], work.k + 2))
    knots[:, 0], knots[:, -1] = work.bounds
    np.clip(records, *work.bounds, out=knots[:, 1:-1])
    knots[:, 1:-1].sort(axis=1)
    return knots
