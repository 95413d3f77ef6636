"""Peers for the most common of some texts: counts by whoever holds the texts, then noise.

Gumbel noise on counts has the law of the exponential mechanism.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ..harness.workload import DRAW_SEED, EPSILON, Call
from .workload import SelectionWork


def value_counts(work: SelectionWork) -> Call:
    """How often each text is there, in the form's own way."""
    return lambda: WAYS[work.form](work.texts)


def counts_and_noise(work: SelectionWork) -> Call:
    """The same, and the candidate whose count is the highest with Gumbel noise."""
    rng, candidates = np.random.default_rng(DRAW_SEED), work.candidates
    count = WAYS[work.form]

    def call() -> str:
        counts = count(work.texts)
        noisy = [EPSILON * counts[name] + rng.gumbel() for name in candidates]
        return candidates[int(np.argmax(noisy))]

    return call


def in_numpy(texts: Any) -> dict[str, int]:
    """By a sort."""
    names, counts = np.unique(texts, return_counts=True)
    return dict(zip(names.tolist(), counts.tolist(), strict=True))


def in_polars(texts: Any) -> dict[str, int]:
    """By a hash table, as by `group_by`."""
    return dict(texts.value_counts().iter_rows())


def in_arrow(texts: Any) -> dict[str, int]:
    """By the codes."""
    counts = texts.value_counts()
    return dict(zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True))


WAYS = {"list": Counter, "numpy": in_numpy, "polars": in_polars, "arrow": in_arrow}
