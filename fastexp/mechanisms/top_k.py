"""Several candidates in order."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..data.segments import Segments
from ..draws import choose
from ..errors import ParameterError
from ..parameters import checks
from ..privacy.guarantee import Guarantee, peeling_guarantee
from ..privacy.rates import peeling_round
from ..types import Missing, Number, Words
from .candidates import CandidateMechanism

MOST_WORK = 1 << 30  # utilities times rounds: a round may read all that are left, in 0.2 ns each


@dataclass(frozen=True)
class TopK(CandidateMechanism):
    """The k best candidates in order: rounds of the exponential mechanism over those that are left.

    Parameters
    ----------
    k : int
        The number of candidates to select, >= 1; at most 2**30 / (number of utilities), unless by
        ``method="gumbel"``.
    epsilon : float, optional
        The total of all rounds, in nats; either this or `rho`.
    sensitivity : float
        The most by which one record changes the utility of any one candidate, > 0.
    monotonic : bool
        Whether one record moves all utilities in the same direction.
    candidates : sequence, optional
        Two or more distinct public labels; default: indices 0, 1, ...
    delta : float
        In [0, 1), with epsilon. If 0, each round has epsilon / k; else the largest epsilon for
        which the total is (epsilon, delta), by rho or purely.
    rho : float, optional
        The total of zero-concentrated differential privacy; each round has the
        epsilon whose `privacy.selection_rho` is rho / k.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type.

    Notes
    -----
    A release is a list of candidates, or an array of indices; `sample` returns indices, with a last
    axis of k. With ``method="gumbel"`` it takes the k greatest of all utilities plus Gumbel noise
    at once, which has the same law.

    **Privacy**: the total, as `guarantee` states it, for the neighbours for which the sensitivity
    was stated. **You must ensure** what `Exponential` says.

    **Numerics**: each round is exact, as of `Exponential`, and reads all candidates that are left.

    References
    ----------
    Durfee and Rogers, "Practical differentially private top-k selection with pay-what-you-get
    composition", NeurIPS 2019, Lemma 4.2 (Gumbel noise). Canonne, Kamath
    and Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020, Proposition 12
    (delta).

    Examples
    --------
    >>> import fastexp as fx
    >>> mechanism = fx.TopK(2, epsilon=1.0, candidates=["tea", "milk", "rye"])
    >>> mechanism.release([900.0, 3.0, 500.0])
    ['tea', 'rye']
    >>> mechanism.sample([4.0, 3.0, 5.0], size=3, rng=1).shape
    (3, 2)
    """

    k: int
    epsilon: Number | None = None
    sensitivity: Number = 1
    _: KW_ONLY
    monotonic: bool = False
    candidates: Any = None
    delta: Number = 0.0
    rho: Number | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        k = checks.whole("k", self.k, 1, 1 << 32)
        each = peeling_round(k, epsilon=self.epsilon, delta=self.delta, rho=self.rho)
        vars(self).update(k=k, _round=each)
        self._set_weighting(each, self.sensitivity, self.monotonic)
        if self.candidates is not None and k > len(self.candidates):
            raise ParameterError(f"k must be at most the number of candidates, got {self.k!r}")

    @property
    def guarantee(self) -> Guarantee:
        """The promise of one release, of all rounds together."""
        each = vars(self)["_round"]
        return peeling_guarantee(self.k, each, self.epsilon, self.delta, self._assumes)

    def _read(self, data: Any, nan: Missing) -> Segments:
        segments = super()._read(data, nan)
        if segments.values.size < self.k * (segments.rows or 1):
            raise ParameterError(f"utilities must have k numbers or more: {self.k}")
        return segments

    def _form(self, data: Any, nan: Missing) -> Segments:
        form = super()._form(data, nan)
        self._check(form)
        return form

    def _check(self, data: Segments) -> None:
        if data.values.size // (data.rows or 1) * self.k > MOST_WORK:
            raise ParameterError(f"k must be at most 2**30 / (number of utilities), got {self.k}")

    def _draw(self, data: Segments, seeds: Words, size: int | None) -> Any:
        self._check(data)
        return choose.draw_several(data, self._weighting, seeds, size, self.k, "envelope")

    def _runs(self, data: Segments) -> Any:
        from ..laws.of_data import of_rounds

        return of_rounds(data, self._weighting, self.k)

    def _draw_keys(self, data: Segments, seeds: Words, size: int | None) -> Any:
        return choose.draw_several(data, self._weighting, seeds, size, self.k, "gumbel")
