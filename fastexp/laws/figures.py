"""Exact figures of many data sets: one pass over their laws, whatever they are of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np

from .._typing import FloatArray

Figures: TypeAlias = dict[str, FloatArray]  # by name, of each data set
SQUARES = {"error": "error_square", "bias": "error_square", "loss": "loss_square"}
OF_LAWS: dict[str, Callable[[Any, float], float]] = {
    "error": lambda law, truth: law.expected_error(truth),  # E|output - truth|
    "bias": lambda law, truth: law.mean() - truth,  # E output - truth
    "loss": lambda law, _: law.expected_loss(),
    "error_square": lambda law, truth: law.var() + (law.mean() - truth) ** 2,
}


def of_laws(laws: Iterable[Any], truths: Iterable[float] | None, names: Iterable[str]) -> Figures:
    """Those of some figures that laws have; without truths, errors are from the laws' own."""
    known = {name: OF_LAWS[name] for name in names if name in OF_LAWS}
    columns: dict[str, list[float]] = {name: [] for name in known}
    for law, given in zip(laws, repeat(None) if truths is None else truths, strict=False):
        truth = law.truth if given is None else given
        for name, figure in known.items():
            columns[name].append(figure(law, truth))
    return {name: np.array(column) for name, column in columns.items()}
