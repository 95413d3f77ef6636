"""Expected errors, biases and losses by exact laws, of one data set and of many."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from math import inf, isfinite, nan
from typing import Any, TypeAlias

import numpy as np

from .._typing import FloatArray

Figures: TypeAlias = dict[str, FloatArray]  # by name, a number for each data set
SQUARES = {"error": "error_square", "bias": "error_square", "loss": "loss_square"}
OF_LAWS = (*SQUARES, "error_square")


def of_law(law: Any, name: str, truth: float | None = None) -> float:
    """Return one of `OF_LAWS`, an expectation; errors are from `truth`, or the law's own truth.

    NaN if there is no truth, as without records; infinite if the truth is: records may be infinite,
    outputs are not.
    """
    if name == "loss":
        return float(law.expected_loss())
    truth = law.truth if truth is None else truth
    if truth is None or not isfinite(truth):
        return nan if truth is None else -truth if name == "bias" else inf
    if name == "error":
        return float(law.expected_error(truth))
    off = law.mean() - truth
    return float(off if name == "bias" else law.var() + off**2)


def of_laws(laws: Iterable[Any], truths: Iterable[float] | None, names: Iterable[str]) -> Figures:
    """Return those of the named figures that are in `OF_LAWS`, of each law, by `of_law`."""
    known = [name for name in names if name in OF_LAWS]
    pairs = zip(laws, repeat(None) if truths is None else truths, strict=False)
    rows = [[of_law(law, name, truth) for name in known] for law, truth in pairs]
    return dict(zip(known, np.array(rows).reshape(len(rows), len(known)).T.copy(), strict=True))
