"""Measures of a study: how far answers are from the best ones, exactly and in draws.

A measure is a function ``f(mechanism, rows, answers)``. `rows` are data sets, one a row; `answers`
are the draws of each, or None if none are drawn. It returns `Measured`, or figures of the draws
alone. For a measure with a parameter, use `functools.partial`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..mechanisms.accuracy import expected_errors, statistics
from ..types import Array, Floats


class Measured(NamedTuple):
    """Figures of many data sets.

    Attributes
    ----------
    exact : ndarray of float64, shape (rows,), optional
        The expectation over the mechanism's noise.
    variance : ndarray of float64, shape (rows,), optional
        Of the figure of one draw.
    drawn : ndarray of float64, shape (rows, draws), optional
        The figure of each draw; of fewer columns if it belongs to several draws together.
    """

    exact: Floats | None = None
    variance: Floats | None = None
    drawn: Array | None = None


def error(mechanism: Any, rows: Array, answers: Array | None) -> Measured:
    """Return the distance of the answers to the true statistic, which is not clamped."""
    ordered = np.sort(rows)
    truths = statistics(ordered, mechanism)
    exact, variance = expected_errors(
        ordered, [mechanism], truth=truths, assume_sorted=True, variance=True
    )
    return Measured(exact[:, 0], variance[:, 0], _distances(answers, truths))


def error_quantile(
    mechanism: Any, rows: Array, answers: Array | None, probability: float = 0.95
) -> Measured:
    """Return the quantile of the error: it is at most this with the probability."""
    laws = [mechanism.law(row) for row in rows]
    exact = np.array([law.error_quantile(probability) for law in laws])
    errors = _distances(answers, np.array([law.truth for law in laws], float))
    if errors is not None:
        errors = np.quantile(errors, probability, axis=1, method="inverted_cdf")
    return Measured(exact, None, errors)


def loss(mechanism: Any, rows: Array, answers: Array | None) -> Measured:
    """Return the best utility less that of the answers: of candidates, or of prices."""
    laws = [mechanism.law(row) for row in rows]
    drawn = None
    if answers is not None:
        drawn = np.array([law.loss(some) for law, some in zip(laws, answers, strict=True)])
    return Measured(np.array([law.expected_loss() for law in laws]), None, drawn)


def wrong(mechanism: Any, rows: Array, answers: Array | None) -> Measured:
    """Return how often the answer is not one of the best candidates; rows are utilities."""
    best = rows.max(axis=1, keepdims=True)
    shares = np.array([mechanism.law(row).probabilities for row in rows])
    exact = np.where(rows < best, shares, 0.0).sum(axis=1)
    drawn = None if answers is None else np.take_along_axis(rows, answers, axis=1) < best
    return Measured(exact, exact * (1 - exact), drawn)


def _distances(answers: Array | None, truths: Floats) -> Floats | None:
    return None if answers is None else np.abs(answers - truths[:, None])
