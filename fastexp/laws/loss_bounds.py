"""Bounds of the loss that need no data: Corollary 7, and the epsilon that meets one."""

from __future__ import annotations

import math

from .._parameters import validate
from ..errors import ParameterError
from ..privacy import selection_rate
from .targets import share_of_all


def loss_bound(
    t: float,
    *,
    epsilon: float,
    sensitivity: float,
    k: int,
    optimal: int = 1,
    monotonic: bool = False,
) -> float:
    """The loss that a selection reaches with probability at most exp(-t).

    With k candidates, `optimal` of them best, P(loss >= bound) <= exp(-t) for bound =
    (2 * sensitivity / epsilon) * (ln(k / optimal) + t): Theorem 6 of the lecture notes that
    fastexp follows, 3.11 in Dwork and Roth, "The algorithmic foundations of differential
    privacy" (2014). `optimal=1` needs no data: Corollary 7 (3.12 there).
    `FiniteLaw.theorem_6` puts the exact tail beside.

    Parameters
    ----------
    t : float
        Minus the log of the failure probability; >= 0.
    epsilon : float
        In nats, in [1e-9, 1e6].
    sensitivity : float
        > 0, in units of the utility.
    k, optimal : int
        1 <= optimal <= k.
    monotonic : bool
        The weight is exp(epsilon * u / sensitivity): the bound is half as large.

    Returns
    -------
    float
        In units of the utility.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.

    Examples
    --------
    >>> from fastexp import loss_bound
    >>> round(loss_bound(0.0, epsilon=1.0, sensitivity=1.0, k=5), 9)
    3.218875825
    """
    e, s = validate.epsilon(epsilon), validate.sensitivity(sensitivity)
    rate = selection_rate(e, s, validate.flag("monotonic", monotonic))
    validate.rate(rate)
    most = validate.counting("k", k)
    best = validate.counting("optimal", optimal, most=most)
    return (math.log(most / best) + validate.at_least("t", t, 0.0)) / float(rate)


def epsilon_without_data(
    *,
    k: int,
    sensitivity: float,
    expected_loss: float | None,
    loss: float | None,
    failure: float | None,
    monotonic: bool,
) -> float:
    """What `fastexp.epsilon_for` gives without data."""
    if (expected_loss is None) == (loss is None) or (loss is None) != (failure is None):
        raise ParameterError("epsilon_for takes either expected_loss or both loss and failure")
    rate = selection_rate(1.0, 1.0, validate.flag("monotonic", monotonic))
    unit = validate.sensitivity(sensitivity) / float(rate)
    choices = math.log(validate.counting("k", k, least=2))
    if expected_loss is not None:
        epsilon = unit * choices / validate.positive("expected_loss", expected_loss)
    else:
        nats = choices - math.log(share_of_all("failure", failure))
        epsilon = unit * nats / validate.positive("loss", loss)
    if not 0.0 < epsilon < math.inf:
        raise ParameterError(
            "loss or expected_loss must be in a proportion to sensitivity that float64 holds"
        )
    return epsilon
