"""Permute-and-flip: never less accurate than the exponential mechanism."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._intake import utilities
from .._selection import permute_flip
from .._selection.rows import Rows
from .._selection.weighting import Weighting
from .._typing import IntArray, NaN, WordArray
from ..laws.permute_flip import PermuteAndFlipLaw
from ..privacy import Guarantee, pure_guarantee, selection_rate
from ._finite import ASSUMES, MONOTONIC, FiniteMechanism, check_selection, selection_repr


@dataclass(frozen=True, repr=False)
class PermuteAndFlip(FiniteMechanism):
    """Permute-and-flip: candidates in random order, each accepted with exp(ε(u−best)/(2Δ)).

    The same promise of ε as the exponential mechanism with an expected loss that is never
    greater and up to half of it, but **the range of its log-ratios is not bounded by ε**: where
    several releases are composed under zCDP (ρ), `Exponential` costs less.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of each answer, in nats; in [1e-9, 1e6] unless `any_epsilon`.
    sensitivity : float
        Δ > 0: the most that one record can change the utility of any one candidate, for the
        neighbours that you have in mind, in units of the utility.
    monotonic : bool
        One record moves all utilities in the same direction: candidates are accepted with
        exp(ε(u−best)/Δ). **Not for counts where a record is replaced.**
    candidates : sequence of hashable, optional
        Public labels, two or more, distinct; a release returns one of them. Default: indices.
    any_epsilon : bool
        Lift the limits on epsilon.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type.

    Notes
    -----
    **Privacy**: ε-differential privacy for the neighbours for which Δ was stated; ρ is
    ε·tanh(ε/2), not ε²/8. **You must ensure** that Δ holds for the utilities as numbers, and
    that k and candidates do not depend on the data. **Numerics**: exact; coins are integers
    against certified bounds, and exact arithmetic where they leave a doubt. **Timing**: a
    release takes the longer the fewer candidates come near the best: it flips up to 64 coins
    one by one, and then all of them at once. See SECURITY.md.

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
    monotonic: bool = field(default=False, kw_only=True)
    candidates: tuple[Any, ...] | None = field(default=None, kw_only=True)
    any_epsilon: bool = field(default=False, kw_only=True, compare=False)
    _weighting: Weighting = field(init=False, compare=False)

    if TYPE_CHECKING:  # wider than the fields: sequences become tuples

        def __init__(
            self,
            epsilon: float,
            sensitivity: float,
            *,
            monotonic: bool = False,
            candidates: Any = None,
            any_epsilon: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        """Validate once; the mechanism is immutable afterwards."""
        check_selection(self)
        rate = selection_rate(self.epsilon, self.sensitivity, self.monotonic)
        object.__setattr__(self, "_weighting", Weighting(rate, None))

    def __repr__(self) -> str:
        return selection_repr(self)

    @property
    def guarantee(self) -> Guarantee:
        """ε-DP, for the relation for which Δ was stated; no bounded range."""
        assumes = ASSUMES + (MONOTONIC if self.monotonic else "")
        return pure_guarantee(self.epsilon, None, assumes)

    def _utilities(self, data: Any, nan: NaN) -> tuple[WordArray, int]:
        k = None if self.candidates is None else len(self.candidates)
        return utilities.utilities(data, k, nan)

    def _release(self, bits: WordArray, kind: int, threads: int) -> int | IntArray:
        found = permute_flip.release(Rows(bits, kind, self._weighting), threads)
        return found if bits.ndim == 2 else int(found[0])

    def _simulate(self, bits: WordArray, kind: int, *how: Any) -> int | IntArray:
        return permute_flip.simulate(bits, kind, self._weighting, *how)

    def _law(self, bits: WordArray, kind: int) -> PermuteAndFlipLaw:
        return PermuteAndFlipLaw(bits, kind, self._weighting, self.epsilon, self.candidates)
