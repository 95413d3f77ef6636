"""Not private: how accurate answers by group are, by their exact laws.

Figures of laws are functions of the records without any noise: for plans and studies, where the
records are public, simulated or one's own to look at, and never for publication.
"""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray
from ..grouped.mechanism import GroupedMechanism
from ..grouped.segments import Segments

FIGURES = ("n", "truth", "bias", "expected", "quantile")


def accuracy_of(
    mechanism: GroupedMechanism, segments: Segments, probability: float
) -> dict[str, AnyArray]:
    """Figures of each group's exact law, as `mechanism.law` of its records alone has them.

    Parameters
    ----------
    mechanism : GroupedMechanism
    segments : Segments
        Records that `mechanism._read` gave, without missing ones, group after group.
    probability : float
        Of the quantile, in [0, 1].

    Returns
    -------
    dict of str to ndarray of shape (groups,)
        By the names of `FIGURES`: n, how many records count, of int64; the others are float64:
        see `Accuracy`.
    """
    groups = segments.offsets.size - 1
    figures = np.empty((groups, len(FIGURES) - 1))
    for g in range(groups):
        values = segments.some(g, g + 1).values
        figures[g] = mechanism._accuracy(np.ascontiguousarray(values), probability)
    return {"n": np.diff(segments.offsets), **dict(zip(FIGURES[1:], figures.T, strict=True))}
