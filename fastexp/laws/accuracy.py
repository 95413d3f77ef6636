"""The accuracy of a draw by its exact law: plain figures, computed from private data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal, TypeAlias

import numpy as np

from .._parameters import validate
from .._parameters.text import readable
from ..errors import ParameterError
from ..pictures.cards import Card, TextRepr
from ..pictures.error_pictures import error_curve
from ..privacy import Guarantee
from .figures import of_law
from .law import Law
from .top_k import TopKLaw

Measure: TypeAlias = Literal["error", "loss"]
MEANINGS = {"error": "abs(output - truth)", "loss": "best minus obtained utility"}
CURVE = np.linspace(0.0, 1.0, 101)  # probabilities of the quantiles in the picture


@dataclass(frozen=True, repr=False)
class Accuracy(TextRepr):
    """Not private: how accurate a draw is on one data set, by its exact law.

    Made by ``mechanism.accuracy(data)``. It is a function of the data without noise: for data
    that are public, simulated or yours to look at, and never for publication. Its repr shows none
    of the figures; `print` and notebooks show all of them.

    Attributes
    ----------
    measure : {"error", "loss"}
        What the figures are about: abs(output - truth) of a number; of a selection and a price the
        best utility minus that of the output.
    truth : int, float or None
        The statistic that outputs are compared with; None for losses, and without records.
    expected : float
        The expected error or loss; NaN without records.
    quantiles : dict of float to float
        By probability, the smallest bound that the error or loss keeps with it.
    bias : float or None
        The expected output minus `truth`.
    best : float or None
        For losses, the probability that the loss is 0.
    epsilon : float or None
        The mechanism's.
    promise : Guarantee
        What the draw promises.

    Examples
    --------
    >>> import fastexp as fx
    >>> accuracy = fx.Median(epsilon=0.5, bounds=(0, 120), step=1).accuracy(range(20, 80))
    >>> accuracy
    Accuracy(measure='error', epsilon=0.5)
    >>> accuracy.truth, round(accuracy.expected, 2), accuracy.quantiles
    (49.5, 2.04, {0.5: 1.5, 0.95: 5.5})
    >>> print(accuracy)
    Accuracy
    measure         error: abs(output - truth)
    truth           49.5
    expected error  2.04165
    50% at most     1.5
    95% at most     5.5
    bias            7.64605e-5
    epsilon         0.5
    neighbors       add-remove
    Not private: computed from the data without noise.
    """

    measure: Measure
    truth: float | None
    expected: float
    quantiles: dict[float, float]
    bias: float | None
    best: float | None
    epsilon: float | None
    promise: Guarantee
    _curve: tuple[float, ...] = field(default=(), repr=False, compare=False)

    def __repr__(self) -> str:
        return f"Accuracy(measure={self.measure!r}, epsilon={self.epsilon!r})"

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain values, for JSON; of the promise its amounts and relation."""
        names = "measure", "truth", "expected", "quantiles", "bias", "best", "epsilon"
        promise = {name: getattr(self.promise, name) for name in ("epsilon", "delta", "neighbors")}
        return {**{name: getattr(self, name) for name in names}, "promise": promise}

    def plot(self, ax: Any = None) -> Any:
        """Draw the distribution of the error or loss: the probability of each bound on it.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where; default: a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            ``axes.figure.savefig("accuracy.png")`` writes the picture.

        Raises
        ------
        ParameterError
            If matplotlib is missing, or there is no error without records.
        """
        if not self._curve:
            raise ParameterError("plot needs records: without records there is no error")
        marks = {f"expected {self.measure}": self.expected, **self._levels()}
        title = f"{self.measure.capitalize()} at epsilon {readable(self.epsilon)}"
        along = f"{self.measure}: {MEANINGS[self.measure]}"
        notes = [] if self.truth is None else [f"truth {readable(self.truth)}"]
        return error_curve(self._curve, marks, along, title, notes, ax)

    def _levels(self) -> dict[str, float]:
        return {f"{readable(100 * p)}% at most": value for p, value in self.quantiles.items()}

    def _card(self) -> Card:
        return Card(
            "Accuracy",
            [
                ("measure", f"{self.measure}: {MEANINGS[self.measure]}"),
                ("truth", self.truth),
                (f"expected {self.measure}", self.expected),
                *self._levels().items(),
                ("bias", self.bias),
                ("probability of the best", self.best),
                ("epsilon", self.epsilon),
                ("delta", self.promise.delta or None),
                ("neighbors", self.promise.neighbors),
            ],
            private=True,
        )


def accuracy_of(
    law: Law[Any, Any],
    mechanism: Any,  # a mechanism: laws do not import their modules
    probability: float | Sequence[float],
    truth: float | None = None,
    *,
    measure: Measure | None = None,
    curve: bool = False,
) -> Accuracy:
    """Not private: return the accuracy of a mechanism by its law; for top-k, of its first place.

    `truth`: the value that errors are from; None: the data's own. `measure`: None: the
    mechanism's. `curve`: whether to compute the quantiles that `Accuracy.plot` needs.
    """
    exact: Any = law.first_place if isinstance(law, TopKLaw) else law
    several = np.atleast_1d(validate.reals("probability", probability)).tolist()
    levels = [validate.fraction("probability", p) for p in several]  # refuses a row
    points = [*levels, *(CURVE if curve else ())]
    kind: Measure = measure or mechanism._measure
    best = bias = None
    if truth is not None and kind == "loss":
        raise ParameterError(
            "truth must be None for a loss, which is measured from the best utility"
        )
    if truth is not None and not isfinite(validate.real("truth", truth)):
        raise ParameterError("truth must be finite")
    if kind == "loss":
        quantiles, best = exact.loss_quantile(points).tolist(), exact.loss_cdf(0.0)
        expected = of_law(exact, "loss")
    else:
        truth = exact.truth if truth is None else truth
        expected = of_law(exact, "error", truth)
        quantiles = [expected] * len(points)  # NaN or infinite, if there is no finite truth
        if truth is not None:
            bias = of_law(exact, "bias", truth)
            if isfinite(truth):
                quantiles = exact.error_quantile(points, truth).tolist()
    return Accuracy(
        kind,
        truth,
        expected,
        dict(zip(levels, quantiles, strict=False)),
        bias,
        best,
        mechanism.epsilon,
        mechanism.guarantee,
        tuple(quantiles[len(levels) :]) if isfinite(expected) else (),
    )
