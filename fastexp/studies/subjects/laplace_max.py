"""Who wins report-noisy-max with Laplace noise: a one-dimensional integral, piece by piece.

Candidate i wins with probability ∫ f(x - u_i) ∏_{j ≠ i} F(x - u_j) dx, with f and F the density
and distribution function of the noise. Between neighbouring utilities the integrand is
smooth, and Gauss and Legendre's rule of 48 nodes on pieces of at most 4 scales takes it to
some 1e-14.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..._typing import FloatArray

NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)
MAX_PIECE, BEYOND = 4.0, 44.0  # scales: of a piece, and after the best, where e^-44 is left


def noisy_max_losses(losses: FloatArray, rate: float) -> FloatArray:
    """The probability of each candidate, from the losses (best utility minus its own).

    The noise has the scale 1 / rate.
    """
    distinct, group = np.unique(rate * losses, return_inverse=True)
    counts = np.bincount(group)
    x, weights = _nodes(-distinct)
    below = np.zeros_like(x)  # the log of the product of all F
    shares = []
    for loss, count in zip(distinct, counts, strict=True):
        below += count * _log_below(x + loss)
    for loss in distinct:
        density = 0.5 * np.exp(-np.abs(x + loss))
        shares.append(float((weights * density * np.exp(below - _log_below(x + loss))).sum()))
    masses = np.array(shares)
    return np.asarray((masses / (masses * counts).sum())[group])


def _log_below(z: FloatArray) -> FloatArray:
    """The log of the distribution function of the Laplace distribution."""
    low = np.minimum(z, 0.0)
    return np.where(z < 0, low - np.log(2.0), np.log1p(-0.5 * np.exp(-np.maximum(z, 0.0))))


def _nodes(utilities: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights from far below the best utility (0) to far above it."""
    inner = utilities[utilities > -BEYOND]
    knots = np.unique(np.concatenate([[-BEYOND, BEYOND], inner]))
    parts = []
    for low, high in pairwise(knots):
        parts.append(np.linspace(low, high, int(np.ceil((high - low) / MAX_PIECE)) + 1)[:-1])
    ends = np.append(np.concatenate(parts), BEYOND)
    half = np.diff(ends) / 2
    x = (ends[:-1] + half)[:, None] + half[:, None] * NODES
    return x.reshape(-1), (half[:, None] * WEIGHTS).reshape(-1)
