"""The exact privacy loss between two laws: how well an output tells their data sets apart."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, overload

import numpy as np

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .._typing import ArrayLike, FloatArray, Scalar, Values
from ..errors import ParameterError, PrecisionError
from ..pictures.cards import Card, Printed
from .loss_pieces import MOST, LossPieces


class PrivacyLoss(Printed):
    """The distribution of the privacy loss of one law P against another one, Q.

    Made by ``law.privacy_loss(other)``, of two data sets that neighbor each other: the loss of an
    output x is ln(P(x) / Q(x)), in nats, and x is drawn from P. **It is private data**; its repr
    shows nothing of it, and ``print`` does.

    It is one direction. A promise of ε or of (ε, δ) is about both: see `reverse`.

    Notes
    -----
    The mechanism's promise holds for this pair where `epsilon` at its δ is at most its ε, in both
    directions. A pair can refute a promise, and cannot prove one.

    **Numerics**: float64. On a grid, runs of points between the records of both data sets are one
    piece each, on which the loss is constant or linear: sums over them are closed forms, and the
    points are not looked at one by one. A loss errs by about 1e-14 in nats plus a few 2**-53 of
    the terms that it is a difference of (for a price, ε * the number of bids; with
    permute-and-flip 1e-12, as its law); a probability as in its law.

    References
    ----------
    Dwork and Rothblum, "Concentrated differential privacy", 2016 (the privacy loss as a random
    variable). Barthe and Olmedo, "Beyond differential privacy", ICALP 2013 (δ(ε) as a
    divergence). Mironov, "Rényi differential privacy", CSF 2017.

    Examples
    --------
    >>> import fastexp as fx
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 10), step=1)
    >>> loss = median.law([1, 2, 4, 7]).privacy_loss(median.law([1, 2, 4]))
    >>> round(loss.epsilon(), 6), round(loss.reverse.epsilon(), 6)
    (0.365385, 0.634615)
    >>> round(loss.delta(0.1), 6), round(loss.epsilon(0.01), 6), round(loss.renyi(2), 6)
    (0.144314, 0.349102, 0.150775)
    >>> dict(zip(loss.losses.round(4).tolist(), loss.probabilities.round(4).tolist()))
    {-0.6346: 0.1814, -0.1346: 0.1995, 0.3654: 0.6191}
    """

    def __init__(self, pieces: LossPieces, of: str, output: Callable[[int], Any]) -> None:
        if bool(np.isnan(pieces.loss).any()):
            raise PrecisionError("utilities must lie within half the range of float64 for a loss")
        self._pieces, self._of, self._output = pieces, of, output

    def __repr__(self) -> str:
        return f"PrivacyLoss(of={self._of})"

    def _card(self) -> Card:
        facts = [
            ("epsilon, the greatest loss", self.epsilon()),
            ("in the other direction", self.reverse.epsilon()),
            ("mean loss", self.renyi(1)),
            ("delta at epsilon = 0", self.delta(0.0)),
        ]
        return Card(f"Privacy loss of {self._of}", facts, private=True)

    @cached_property
    def reverse(self) -> PrivacyLoss:
        """The loss of the other law against this one."""
        return PrivacyLoss(self._pieces.reverse, self._of, self._output)

    @property
    def worst(self) -> Any:
        """An output of the greatest loss: a candidate or its index, a selection, or a number."""
        return self._output(self._pieces.worst)

    @cached_property
    def _most(self) -> float:
        return float(self._pieces.highest.max())

    @overload
    def delta(self, epsilon: Scalar) -> float: ...
    @overload
    def delta(self, epsilon: Values) -> FloatArray: ...
    def delta(self, epsilon: ArrayLike) -> float | FloatArray:
        """δ(ε), the hockey-stick divergence, elementwise: the sum of max(0, P - exp(ε) Q).

        The least δ with which P(S) <= exp(ε) Q(S) + δ for all sets S of outputs; the set of
        outputs whose loss exceeds ε is the worst one. δ(0) is the total variation distance.

        Parameters
        ----------
        epsilon : array_like
            In nats; any number.

        Returns
        -------
        float or ndarray of float64
            In [0, 1], the shape of `epsilon`.

        Raises
        ------
        ParameterError, ParameterTypeError
            If an epsilon is not a number.
        """
        check_rounding()
        wanted = validate.reals("epsilon", epsilon)
        deltas = [min(self._pieces.delta(e), 1.0) for e in wanted.reshape(-1).tolist()]
        return np.array(deltas).reshape(wanted.shape) if wanted.ndim else deltas[0]

    def epsilon(self, delta: float = 0.0) -> float:
        """ε(δ): the least ε >= 0 whose δ(ε) is at most `delta`.

        Parameters
        ----------
        delta : float
            In [0, 1]. At 0 it is the greatest loss of any output, however unlikely.

        Returns
        -------
        float
            In nats: the least double for which `delta` as it is computed is at most this one.

        Raises
        ------
        ParameterError, ParameterTypeError
            If `delta` is not in [0, 1].
        """
        check_rounding()
        most, low, high = validate.fraction("delta", delta), 0.0, max(self._most, 0.0)
        if most == 0.0 or self._pieces.delta(low) <= most:
            return high if most == 0.0 else low
        while low < (middle := low / 2 + high / 2) < high:  # δ falls as ε rises
            low, high = (low, middle) if self._pieces.delta(middle) <= most else (middle, high)
        return high

    def renyi(self, order: float) -> float:
        """The Rényi divergence of an order, in nats: ln(sum of P**order * Q**(1 - order)) over b.

        b is order - 1. Of order 1 it is the mean loss (Kullback and Leibler's divergence), of
        order infinity the greatest one.

        Parameters
        ----------
        order : float
            > 0; may be infinite.

        Returns
        -------
        float
            In nats, >= 0.

        Raises
        ------
        ParameterError, ParameterTypeError
            If `order` is not a number > 0.
        """
        check_rounding()
        if type(order) in (float, np.float64) and order == np.inf:
            return max(0.0, self._most)
        return max(0.0, self._pieces.renyi(validate.positive("order", order)))

    @property
    def losses(self) -> FloatArray:
        """The distinct losses in increasing order; of at most 2**24 outputs."""
        return self._outputs[0]

    @property
    def probabilities(self) -> FloatArray:
        """The probability of each of `losses`, of an output drawn from P."""
        return self._outputs[1]

    @cached_property
    def _outputs(self) -> tuple[FloatArray, FloatArray]:
        check_rounding()
        if self._pieces.steps is not None and float(self._pieces.size.sum()) > MOST:
            raise ParameterError(
                "losses and probabilities are listed for grids of at most 2**24 points where "
                "losses differ within cells: use delta, epsilon and renyi"
            )
        loss, mass = self._pieces.outputs()
        distinct, place = np.unique(loss, return_inverse=True)
        return distinct, np.bincount(place, weights=mass).astype(np.float64)
