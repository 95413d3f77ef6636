"""Top-k: several candidates in order, peeled off one after the other."""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .._selection import top_k
from .._selection.rows import Rows
from .._typing import (
    ABSENT,
    Candidates,
    IntArray,
    NaN,
    WordArray,
)
from ..errors import ParameterError
from ..privacy import Guarantee, peeling_guarantee, peeling_round
from ._finite import Simulator, UtilityMechanism
from ._options import UtilitySimulation
from .base import frozen

if TYPE_CHECKING:
    from ..laws.top_k import TopKLaw


@frozen
class TopK(UtilityMechanism, promise="The total, for the relation for which Δ was stated."):
    """The k best candidates in order, peeled off one after the other.

    Each of k rounds is an exponential mechanism over the remaining candidates.

    Parameters
    ----------
    k : int
        The number of candidates to select.
    epsilon : float, optional
        The total for all k rounds, in nats; either this or `rho`.
    sensitivity
    delta : float
        In [0, 1), with `epsilon`. If 0, each round gets ε/k (pure differential privacy). Otherwise
        each round gets the largest epsilon for which the total is (ε, δ), by exact Rényi accounting
        of bounded ranges.
    rho : float, optional
        The total of zero-concentrated differential privacy; each round gets sqrt(8ρ/k).
    monotonic, candidates, any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError

    Notes
    -----
    **Privacy**: the total, as `guarantee` states it, for the neighbours for which Δ was stated.
    Later rounds depend on earlier ones, so the composition is adaptive.

    **Numerics**: a release draws each round exactly. `sample` selects the k largest of the
    utilities plus Gumbel noise at once, which is the same law up to rounding errors of about 1e-10
    in a log-probability; if they would be larger, it draws round by round.
    ``method="envelope"`` always does, exactly.

    **Timing**: a release reads all candidates once, and the block of a selected candidate again.

    References
    ----------
    Durfee and Rogers, "Practical differentially private top-k selection with
    pay-what-you-get composition", NeurIPS 2019.

    Examples
    --------
    >>> import fastexp as fx
    >>> mechanism = fx.TopK(2, epsilon=1.0, sensitivity=1.0, candidates=["tea", "milk", "rye"])
    >>> mechanism.release([900.0, 3.0, 500.0])
    ['tea', 'rye']
    >>> mechanism.round_epsilon
    0.5
    >>> mechanism.sample([4.0, 3.0, 5.0], size=3, rng=1).shape
    (3, 2)
    """

    k: int
    epsilon: float | None = None  # type: ignore[assignment]  # or rho
    sensitivity: float = ABSENT
    _: KW_ONLY
    delta: float = 0.0
    rho: float | None = None
    monotonic: bool = False
    candidates: Candidates = ABSENT
    any_epsilon: bool = field(default=False, compare=False)
    _round: Fraction = field(init=False, compare=False)

    def _check(self) -> None:
        self._set_frozen(k=validate.counting("k", self.k))
        if self.sensitivity is None:
            raise ParameterError("sensitivity must be given")
        each = peeling_round(self.k, epsilon=self.epsilon, delta=self.delta, rho=self.rho)
        self._set_frozen(_round=each)
        super()._check()
        self._set_frozen(delta=validate.delta(self.delta))
        if self.rho is not None:
            self._set_frozen(rho=validate.positive("rho", self.rho))
        self._weigh_epsilon(self._round)

    @property
    def round_epsilon(self) -> float:
        """The epsilon of each round, in nats; rounded to float64."""
        check_rounding()
        return float(self._round)

    def _promise(self) -> Guarantee:
        return peeling_guarantee(
            self.k, self._round, self.epsilon, self.delta, self.rho, self._assumes
        )

    if TYPE_CHECKING:  # k candidates a draw, by the inherited verbs

        @overload
        def sample(
            self, data: object, size: int | None = None, **options: Unpack[UtilitySimulation]
        ) -> IntArray: ...
        @overload
        def sample(
            self,
            data: object,
            size: int | None = None,
            *,
            labels: Literal[True],
            **options: Unpack[UtilitySimulation],
        ) -> list[Any]: ...
        def sample(self, data: object, size: int | None = None, **options: Any) -> Any:
            """As inherited."""

        def law(  # type: ignore[override]  # of k candidates
            self, data: object, *, nan: NaN = "raise"
        ) -> TopKLaw:
            """As inherited."""

    def _utilities(self, data: object, nan: NaN) -> tuple[WordArray, int]:
        bits, kind = super()._utilities(data, nan)
        if bits.shape[-1] < self.k:
            raise ParameterError(f"data must have at least k = {self.k} candidates")
        return bits, kind

    def _drawn(self, bits: WordArray, kind: int, threads: int) -> IntArray:
        indices = top_k.release(Rows(bits, kind, self._weighting), self.k, threads)
        return indices if bits.ndim == 2 else indices[0]

    def _simulator(self) -> Simulator:
        return partial(top_k.simulate, self.k)

    def _law(self, bits: WordArray, kind: int) -> TopKLaw:  # type: ignore[override]  # of k places
        from ..laws.top_k import TopKLaw

        rounds, epsilon = self.k, self.round_epsilon
        return TopKLaw(bits, kind, self._weighting, rounds, epsilon, self.candidates)
