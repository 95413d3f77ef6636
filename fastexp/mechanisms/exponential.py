"""The exponential mechanism over finitely many candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._intake import utilities
from .._parameters import validate
from .._selection.weighting import Weighting
from .._typing import ArrayLike, NaN, WordArray
from ..privacy import Guarantee, selection_guarantee, selection_rate
from ._finite import ASSUMES, MONOTONIC, FiniteMechanism, check_selection, selection_repr

if TYPE_CHECKING:
    from .scored import ScoredExponential


@dataclass(frozen=True, repr=False)
class Exponential(FiniteMechanism):
    """The exponential mechanism: candidate r with probability ∝ base·exp(εu(r)/(2Δ)).

    Parameters
    ----------
    epsilon : float
        Privacy parameter of each answer, in nats; in [1e-9, 1e6] unless `any_epsilon`.
        Like all parameters it is converted to float64 here, and exact from then on.
    sensitivity : float
        Δ > 0: the most that one record can change the utility of any one candidate, for the
        neighbours that you have in mind, in units of the utility.
    monotonic : bool
        One record moves all utilities in the same direction: the factor 2 is not needed and
        the weight is exp(εu/Δ). **Counts are monotonic when records are added or removed,
        but not when a record is replaced** (one count rises and another falls): under the
        replace relation leave it False, or ε is twice what you say. `MostCommon` knows.
    candidates : sequence of hashable, optional
        Public labels, two or more, distinct; a release returns one of them. Default: indices.
    base : array_like of float, optional
        Public base measure, one finite number >= 0 a candidate, > 0 for two or more. 0 excludes.
    any_epsilon : bool
        Lift the limits on epsilon.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type.

    Notes
    -----
    **Privacy**: ε-differential privacy for the neighbours for which Δ was stated; the
    log-ratios span at most ε (bounded range), hence ε²/8-zCDP. **You must ensure** that Δ
    holds for the utilities as numbers (float rounding included), and that k, candidates and
    base do not depend on the data. **Numerics**: exact; see `release`. **Timing**: a
    release looks at all candidates, whatever is drawn; an exact test or a further round comes
    up in at most 2 of 1e7 draws (k = 1e7).

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007. Durfee and
    Rogers, "Practical differentially private top-k selection with pay-what-you-get
    composition", NeurIPS 2019 (bounded range).

    Examples
    --------
    >>> import fastexp as fx
    >>> mechanism = fx.Exponential(epsilon=1.0, sensitivity=1.0, candidates=["tea", "coffee"])
    >>> mechanism.release([3.0, 250.0])
    'coffee'
    >>> mechanism.sample([3.0, 5.0], size=8, rng=1)
    array([1, 1, 1, 1, 1, 0, 1, 0])
    >>> mechanism.law([3.0, 5.0]).probabilities.round(4)
    array([0.2689, 0.7311])
    """

    epsilon: float
    sensitivity: float
    monotonic: bool = field(default=False, kw_only=True)
    candidates: tuple[Any, ...] | None = field(default=None, kw_only=True)
    base: tuple[float, ...] | None = field(default=None, kw_only=True)
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
            base: ArrayLike | None = None,
            any_epsilon: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        """Validate once; the mechanism is immutable afterwards."""
        check_selection(self)
        put = object.__setattr__
        base = None
        if self.base is not None:
            k = None if self.candidates is None else len(self.candidates)
            base = validate.base(self.base, k)
            put(self, "base", tuple(base.tolist()))
        rate = selection_rate(self.epsilon, self.sensitivity, self.monotonic)
        put(self, "_weighting", Weighting(rate, base))

    def __repr__(self) -> str:
        return selection_repr(self)

    @staticmethod
    def from_rate(
        alpha: float,
        sensitivity: float,
        *,
        monotonic: bool = False,
        candidates: Any = None,
        base: Any = None,
        any_epsilon: bool = False,
    ) -> Exponential:
        """The mechanism with weight exp(alpha * u): epsilon = 2 * alpha * sensitivity.

        The parametrisation of the Sherpa.ai tutorial. For monotonic utilities the same
        weight costs half: epsilon = alpha * sensitivity.

        Parameters
        ----------
        alpha : float
            > 0, per unit of the utility.
        sensitivity : float
            > 0, in units of the utility.
        monotonic, candidates, base, any_epsilon
            As for `Exponential`.

        Examples
        --------
        >>> from fastexp import Exponential
        >>> Exponential.from_rate(0.25, 2.0)
        Exponential(epsilon=1.0, sensitivity=2.0)
        """
        rate, delta = validate.positive("alpha", alpha), validate.sensitivity(sensitivity)
        one_way = validate.flag("monotonic", monotonic)
        return Exponential(
            rate * delta * (1 if one_way else 2),
            delta,
            monotonic=one_way,
            candidates=candidates,
            base=base,
            any_epsilon=any_epsilon,
        )

    @staticmethod
    def from_score(
        score: Callable[..., Any],
        candidates: Any,
        *,
        epsilon: float,
        sensitivity: float,
        vectorized: bool = False,
        monotonic: bool = False,
        base: Any = None,
        any_epsilon: bool = False,
    ) -> ScoredExponential:
        """The textbooks' form: a score u(data, r) for each candidate r.

        `release`, `sample` and `law` of the result take the data. Whatever the score raises
        is replaced by a constant message, since its own may hold data. The result can be
        pickled if the score can: a function of a module, not a lambda.

        Parameters
        ----------
        score : callable
            ``score(data, candidate)`` -> number; with `vectorized`
            ``score(data, candidates)`` -> array of shape (k,).
        candidates : sequence of hashable
            Public labels, two or more, distinct.
        epsilon, sensitivity, monotonic, base, any_epsilon
            As for `Exponential`; sensitivity is that of `score`. **Counts are not monotonic
            when a record is replaced.**
        vectorized : bool
            Whether score takes all candidates (a tuple) at once.

        Returns
        -------
        ScoredExponential

        Examples
        --------
        >>> from fastexp import Exponential
        >>> m = Exponential.from_score(
        ...     lambda votes, r: votes.count(r), ["a", "b"], epsilon=2.0, sensitivity=1.0
        ... )
        >>> m.law(["a", "b", "b"]).probabilities.round(4)
        array([0.2689, 0.7311])
        """
        from .scored import ScoredExponential

        return ScoredExponential(
            epsilon,
            sensitivity,
            monotonic=monotonic,
            candidates=candidates,
            base=base,
            any_epsilon=any_epsilon,
            score=score,
            vectorized=vectorized,
        )

    @property
    def guarantee(self) -> Guarantee:
        """ε-DP and ε-bounded-range, for the relation for which Δ was stated."""
        return selection_guarantee(
            self.epsilon, None, ASSUMES + (MONOTONIC if self.monotonic else "")
        )

    def _utilities(self, data: Any, nan: NaN) -> tuple[WordArray, int]:
        k = self._size
        return utilities.utilities(data, k, nan)

    @property
    def _size(self) -> int | None:
        if self.candidates is not None:
            return len(self.candidates)
        return None if self.base is None else len(self.base)
