"""The exponential mechanism over finitely many candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import KW_ONLY, field, fields
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

from .._intake import utilities
from .._parameters import validate
from .._typing import ABSENT, ArrayLike, Candidates, Converted, FloatArray, NaN, WordArray
from ..errors import ParameterTypeError, ScoreError
from ..privacy.rates import range_sensitivity
from ._finite import UtilityMechanism
from .base import Known, frozen

Base: TypeAlias = Converted[ArrayLike | None, tuple[float, ...] | None]


@frozen
class Exponential(
    UtilityMechanism,
    promise="ε-DP and ε-bounded-range, for the relation for which Δ was stated.",
):
    """The exponential mechanism: candidate r with probability ∝ base·exp(εu(r)/(2Δ)).

    Parameters
    ----------
    epsilon, sensitivity, monotonic, candidates
    base : array_like of float, optional
        Public base measure: one finite number >= 0 for each candidate, at least two of them > 0. A
        candidate with 0 is never selected.
    any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError

    Notes
    -----
    **Privacy**: ε-differential privacy for the neighbours for which Δ was stated. The log-ratios
    span at most ε (bounded range), hence ε²/8-zCDP. **You must ensure** that Δ holds for the
    utilities as they are stored (float rounding included), and that k, candidates and base do not
    depend on the data.

    **Numerics**: exact; see `release`.

    **Timing**: a release reads all candidates, whatever is drawn. At most 2 of 1e7 draws need an
    exact test or another round (at k = 1e7).

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
    _: KW_ONLY
    monotonic: bool = False
    candidates: Candidates = ABSENT
    base: Base = ABSENT
    any_epsilon: bool = field(default=False, compare=False)

    def _check(self) -> None:
        super()._check()
        if self.base is not None:
            k = None if self.candidates is None else len(self.candidates)
            self._set_frozen(base=tuple(validate.base(self.base, k).tolist()))
        self._weigh_epsilon(self.epsilon)

    @property
    def _base(self) -> FloatArray | None:
        return None if self.base is None else validate.base(self.base, None)

    @staticmethod
    def from_rate(
        alpha: float,
        sensitivity: float,
        *,
        monotonic: bool = False,
        candidates: Iterable[Any] | None = None,
        base: ArrayLike | None = None,
        any_epsilon: bool = False,
    ) -> Exponential:
        """Return the mechanism with weight exp(alpha * u): epsilon = 2 * alpha * sensitivity.

        This is the parametrisation of the Sherpa.ai tutorial. For monotonic utilities the same
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
            rate * range_sensitivity(delta, one_way),
            delta,
            monotonic=one_way,
            candidates=candidates,
            base=base,
            any_epsilon=any_epsilon,
        )

    @staticmethod
    def from_score(
        score: Callable[..., Any],
        candidates: Iterable[Any],
        *,
        epsilon: float,
        sensitivity: float,
        vectorized: bool = False,
        monotonic: bool = False,
        base: ArrayLike | None = None,
        any_epsilon: bool = False,
    ) -> ScoredExponential:
        """Return the mechanism for a score u(data, r) of each candidate r, as in textbooks.

        `release`, `sample` and `law` of the result take the data. An exception of the score is
        replaced by one with a constant message, since its own may hold data. The result can be
        pickled if the score can: a function of a module can, a lambda cannot.

        Parameters
        ----------
        score : callable
            ``score(data, candidate)`` -> number; with `vectorized`
            ``score(data, candidates)`` -> array of shape (k,), where the candidates are a copy of
            what is given here: an array for an array, a list for a list.
        candidates : sequence of hashable
            Public labels, two or more, distinct.
        epsilon, sensitivity, monotonic, base, any_epsilon
            As for `Exponential`; sensitivity is that of `score`. **Counts are not monotonic
            when a record is replaced.**
        vectorized : bool
            Whether `score` takes all candidates at once.

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

    @cached_property
    def _size(self) -> int | None:
        if self.candidates is not None:
            return len(self.candidates)
        return None if self.base is None else len(self.base)


@frozen
class ScoredExponential(Exponential):
    """The exponential mechanism of `Exponential.from_score`: utilities are score(data, r).

    It takes data, not utilities. Its guarantee is `Exponential`'s, for the sensitivity that you
    state for `score`. The time that the score takes may depend on the data.
    """

    _over_records: ClassVar[bool] = True

    _given: ClassVar[Any]  # candidates as they were given

    _: KW_ONLY
    score: Callable[..., Any]
    vectorized: bool = field(default=False, repr=False)

    def _check(self) -> None:
        if not callable(self.score):
            raise ParameterTypeError(f"score must be callable, got {type(self.score).__name__}")
        self._set_frozen(vectorized=validate.flag("vectorized", self.vectorized))
        candidates, labels = self.candidates, validate.candidates(self.candidates)
        self._set_frozen(_given=validate.as_given(candidates, labels), candidates=labels)
        super()._check()

    def _with_maker(self, law: Known) -> Known:
        """Return the law without the score, so that it can be pickled even if the score cannot."""
        values = {item.name: getattr(self, item.name) for item in fields(Exponential)}
        return Exponential(**values)._with_maker(law)

    def _written(self, name: str, value: object) -> str | None:
        """Write a score as its name."""
        if name != "score":
            return super()._written(name, value)
        return str(getattr(value, "__name__", type(value).__name__))

    def _utilities(self, data: object, nan: NaN) -> tuple[WordArray, int]:
        labels = tuple(self.candidates or ())
        try:
            if self.vectorized:
                scores = self.score(data, copy(self._given))
            else:
                scores = [self.score(data, label) for label in labels]
        except Exception:
            scores = None
        if scores is None:  # raised outside the handler: no traceback leads to the data
            raise ScoreError(utilities.SCORE_FAILED)
        bits, kind = utilities.utilities(scores, len(labels), nan)
        if bits.ndim != 1:  # rows would be draws that no budget counts
            raise ParameterTypeError("score must return one number for each candidate")
        return bits, kind
