"""What the exact law of one data set says of its draws."""

from __future__ import annotations

from math import inf, isfinite, isnan, nan
from typing import Any, Literal, NamedTuple, TypeAlias

Measure: TypeAlias = Literal["error", "loss"]


class Exact(NamedTuple):
    """What there is to know of a draw beforehand: **private data**, made of the records.

    Attributes
    ----------
    law
        The exact law.
    truth : int, float, None or ndarray of int64, shape (candidates,)
        The true number, None without records; of candidates how many records each has.
    """

    law: Any
    truth: Any


class Accuracy(NamedTuple):
    """How accurate a draw is: **private data**, as it is a function of the records.

    Attributes
    ----------
    truth, bias : float
        The true statistic of the records, and the expected output minus it; NaN for losses,
        and where there are no records.
    expected, quantile : float
        For the error, abs(output - truth), or for the loss, the best utility minus that of the
        output.
    """

    truth: float
    bias: float
    expected: float
    quantile: float


def accuracy(exact: Exact, measure: Measure, probability: float) -> Accuracy:
    """The accuracy of a law, in errors or losses, with a quantile of this probability."""
    law, truth = exact
    if measure == "loss":
        return Accuracy(nan, nan, float(law.expected_loss()), float(law.loss_quantile(probability)))
    if truth is None or isnan(truth):
        return Accuracy(nan, nan, nan, nan)
    if not isfinite(truth):  # records may be infinite, outputs are not
        return Accuracy(truth, -truth, inf, inf)
    quantile = float(law.error_quantile(probability, truth))
    bias = float(law.mean() - truth)
    return Accuracy(float(truth), bias, float(law.expected_error(truth)), quantile)
