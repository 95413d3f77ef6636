"""Permute-and-flip: never less accurate than the exponential mechanism."""

from __future__ import annotations

from dataclasses import KW_ONLY, field

from .._typing import ABSENT, Candidates
from ._finite import UtilityMechanism
from .base import frozen


@frozen
class PermuteAndFlip(
    UtilityMechanism, promise="ε-DP, for the relation for which Δ was stated; no bounded range."
):
    """Permute-and-flip: candidates in random order, each accepted with exp(ε(u−best)/(2Δ)).

    It promises the same ε as the exponential mechanism, and its expected loss is never larger and
    down to half as large. But **the range of its log-ratios is not bounded by ε**: if several
    releases are composed under zCDP (ρ), `Exponential` costs less.

    Parameters
    ----------
    epsilon, sensitivity, monotonic, candidates, any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError

    Notes
    -----
    **Privacy**: ε-differential privacy for the neighbours for which Δ was stated; ρ is
    ε·tanh(ε/2), not ε²/8. **You must ensure** that Δ holds for the utilities as they are stored,
    and that k and candidates do not depend on the data.

    **Numerics**: exact. Coins are integers that are compared with certified bounds; exact
    arithmetic decides where these leave a doubt.

    **Timing**: a release takes longer if few candidates are close to the best: it flips up to 64
    coins one by one, and then all at once. See SECURITY.md.

    References
    ----------
    McKenna and Sheldon, "Permute-and-flip: a new mechanism for differentially private
    selection", NeurIPS 2020. Ding, Kifer, Sayed Saghaian, Steinke, Wang, Xiao and Zhang, "The
    permute-and-flip mechanism is identical to report-noisy-max with exponential noise", 2021.

    Examples
    --------
    >>> import fastexp as fx
    >>> mechanism = fx.PermuteAndFlip(epsilon=1.0, sensitivity=1.0, candidates=["tea", "milk"])
    >>> mechanism.release([250.0, 3.0])
    'tea'
    >>> mechanism.law([2.0, 0.0]).probabilities.round(4)
    array([0.8161, 0.1839])
    >>> fx.Exponential(epsilon=1.0, sensitivity=1.0).law([2.0, 0.0]).probabilities.round(4)
    array([0.7311, 0.2689])
    """

    epsilon: float
    sensitivity: float
    _: KW_ONLY
    monotonic: bool = False
    candidates: Candidates = ABSENT
    any_epsilon: bool = field(default=False, compare=False)
    _has_bounded_range = False

    def _check(self) -> None:
        super()._check()
        self._weigh_epsilon(self.epsilon)
