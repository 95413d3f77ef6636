"""Figures of exact laws: of one, and of many data sets, whatever they are of."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from math import inf, isfinite, nan
from typing import Any, TypeAlias

import numpy as np

from .._typing import FloatArray

Figures: TypeAlias = dict[str, FloatArray]  # by name, of each data set
SQUARES = {"error": "error_square", "bias": "error_square", "loss": "loss_square"}
OF_LAWS = (*SQUARES, "error_square")


def of_law(law: Any, name: str, truth: float | None = None) -> float:
    """One of `OF_LAWS`: an expectation, of errors from a truth; None: the law's own.

    NaN where there is none either, without records; infinite where it is: records may be, outputs
    are not.
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
    """Those of some figures that laws have, of each of them, as of `of_law`."""
    known = [name for name in names if name in OF_LAWS]
    pairs = zip(laws, repeat(None) if truths is None else truths, strict=False)
    rows = [[of_law(law, name, truth) for name in known] for law, truth in pairs]
    return dict(zip(known, np.array(rows).reshape(len(rows), len(known)).T.copy(), strict=True))
