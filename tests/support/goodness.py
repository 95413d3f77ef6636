"""Goodness of fit on integer counts, with the error probabilities stated.

`ALPHA` is the probability that a right sampler fails one test. Counts are refused unless
they are integers: a chi-square statistic of frequencies is N times too small and passes
everything.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

ALPHA = 1e-9
LEAST_EXPECTED = 10.0


def chi_square(counts: np.ndarray, probabilities: np.ndarray) -> tuple[float, float]:
    """(statistic, critical value at ALPHA) of counts against exact probabilities.

    Cells with an expectation below LEAST_EXPECTED are merged into one.
    """
    counts, probabilities = np.asarray(counts), np.asarray(probabilities, dtype=np.float64)
    if counts.dtype.kind not in "iu":
        raise TypeError("counts must be integers, not frequencies")
    if counts.shape != probabilities.shape or abs(probabilities.sum() - 1) > 1e-9:
        raise ValueError("one probability a cell, summing to 1")
    if counts[probabilities == 0].any():
        return np.inf, 0.0
    expected = counts.sum() * probabilities
    large = expected >= LEAST_EXPECTED
    cells = [*zip(counts[large], expected[large], strict=True)]
    if not large.all() and expected[~large].sum() >= LEAST_EXPECTED:
        cells.append((counts[~large].sum(), expected[~large].sum()))
    if len(cells) < 2:
        raise ValueError("too few draws: fewer than two cells with enough expectation")
    statistic = sum((c - e) ** 2 / e for c, e in cells)
    return float(statistic), float(chi2.isf(ALPHA, len(cells) - 1))


def fits(draws: np.ndarray, probabilities: np.ndarray) -> bool:
    """Whether indices are draws of a law, at ALPHA."""
    counts = np.bincount(np.asarray(draws), minlength=len(probabilities))
    statistic, critical = chi_square(counts, probabilities)
    return statistic <= critical


def two_sample_fits(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two sets of counts come from one law, at ALPHA."""
    table = np.array([first, second])
    table = table[:, table.sum(axis=0) >= 2 * LEAST_EXPECTED]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(((table - expected) ** 2 / expected).sum()) <= chi2.isf(ALPHA, table.shape[1] - 1)
