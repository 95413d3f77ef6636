"""Goodness of fit on integer counts, with the probability of failing by chance stated.

A right sampler fails one test with a probability of at most `ALPHA`. Half of it is for exact tests
of the outcomes that are expected less than LEAST_EXPECTED times, one by one and together. Half is
for the statistic G of all others: of counts of ten, its chi-square tail is up to five times too
small, hence a tenth of `ALPHA` there (`tests/house/test_goodness.py` adds up the exact chances).
Pearson's statistic would be hundreds of times too small.

A wrong p-value comes from this file, from the law that a test expects, or from the draws: look for
it in this order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import kl_div
from scipy.stats import binom, chi2, hypergeom

ALPHA = 1e-9
LEAST_EXPECTED = 10.0
OF_STATISTIC, OF_RARE = 0.1 * ALPHA, 0.5 * ALPHA


@dataclass(frozen=True, eq=False)
class Fit:
    """Whether counts fit, with the figures that pytest shows where they should and do not."""

    p_value: float  # of both tests together: less than ALPHA is no fit
    statistic: float
    critical: float
    cells: int
    worst: str

    def __bool__(self) -> bool:
        return self.p_value >= ALPHA

    def __eq__(self, other: object) -> bool:
        return bool(self) == other

    def __repr__(self) -> str:
        return (
            f"<{'fit' if self else 'no fit'}: p = {self.p_value:.2g} of {ALPHA}; "
            f"G = {self.statistic:.5g}, critical {self.critical:.5g}, {self.cells} cells; "
            f"worst: {self.worst}>"
        )


def counts_fit(counts: np.ndarray, probabilities: np.ndarray) -> Fit:
    """Whether counts of outcomes are those of a law.

    Where outcomes are too few to tell, in draws or in kind, it raises ValueError.
    """
    counts, probabilities = _integers(counts), np.asarray(probabilities, dtype=np.float64)
    if counts.shape != probabilities.shape or not abs(probabilities.sum() - 1) <= 1e-9:
        raise ValueError("one probability a cell, summing to 1")
    draws = counts.sum()
    return _fit(
        counts[np.newaxis],
        draws * probabilities[np.newaxis],
        lambda counts, expected: binom.sf(counts - 1, draws, np.minimum(expected / draws, 1)),
    )


def fits(draws: np.ndarray, probabilities: np.ndarray) -> Fit:
    """Whether indices are draws of a law."""
    return counts_fit(np.bincount(np.asarray(draws), minlength=len(probabilities)), probabilities)


def two_sample_fits(first: np.ndarray, second: np.ndarray) -> Fit:
    """Whether two sets of counts come from one law."""
    table = _integers([first, second])
    table = table[:, table.any(axis=0)]
    draws, sizes = table.sum(), table.sum(axis=1, keepdims=True)
    return _fit(
        table,
        sizes * table.sum(axis=0) / draws,
        lambda counts, _: hypergeom.sf(counts - 1, draws, counts.sum(axis=0), sizes),
    )


def g_statistic(counts: np.ndarray, expected: np.ndarray, freedom: int) -> float:
    """Twice the log-likelihood ratio, divided so that its mean is that of the chi-square law.

    Williams, "Improved likelihood ratio tests for complete contingency tables" (1976).
    """
    factor = 1 + (1 / expected).sum() / (6 * freedom)
    return float(2 * kl_div(counts, expected).sum() / factor)


def _integers(counts: np.ndarray) -> np.ndarray:
    """Counts: a statistic of frequencies would be N times too small, and pass everything."""
    counts = np.asarray(counts)
    if counts.dtype.kind not in "iu":
        raise TypeError("counts must be integers, not frequencies")
    return counts.astype(np.int64)


def _fit(
    counts: np.ndarray,
    expected: np.ndarray,
    tail: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Fit:
    """The tests of counts: a row a sample, a column an outcome.

    `tail` gives the exact probability of a count as large or larger.
    """
    deviance = kl_div(counts, expected)  # infinite where what is drawn is impossible
    row, column = np.unravel_index(deviance.argmax(), deviance.shape)
    worst = f"{column} ({counts[row, column]} times, expected {expected[row, column]:.5g})"
    if np.isinf(deviance).any():
        return Fit(0.0, np.inf, 0.0, counts.shape[1], worst)

    rare = expected.min(axis=0) < LEAST_EXPECTED
    if rare.all():
        raise ValueError("too few draws: no outcome has enough expectation")
    rest, rest_expected = (x[:, rare].sum(axis=1, keepdims=True) for x in (counts, expected))
    tails = tail(np.hstack([counts[:, rare], rest]), np.hstack([expected[:, rare], rest_expected]))

    cells, cells_expected = counts[:, ~rare], expected[:, ~rare]
    if rest_expected.min() >= LEAST_EXPECTED:
        cells, cells_expected = (
            np.hstack([x, more]) for x, more in ((cells, rest), (cells_expected, rest_expected))
        )
    else:  # of too few, they are counted with the least of the others
        least = cells_expected.sum(axis=0).argmin()
        cells[:, least] += rest[:, 0]
        cells_expected[:, least] += rest_expected[:, 0]
    freedom = cells.shape[1] - 1
    if freedom == 0:
        raise ValueError("too few draws: fewer than two cells with enough expectation")
    statistic = g_statistic(cells, cells_expected, freedom)
    p_value = min(
        1.0,
        ALPHA / OF_STATISTIC * float(chi2.sf(statistic, freedom)),
        ALPHA / OF_RARE * tails.size * float(tails.min()),
    )
    return Fit(p_value, statistic, float(chi2.isf(OF_STATISTIC, freedom)), freedom + 1, worst)
