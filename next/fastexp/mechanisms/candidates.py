"""Mechanisms over finitely many candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..data.segments import Segments
from ..data.utilities import read_utilities
from ..draws import choose
from ..errors import ParameterTypeError, ScoreError
from ..parameters import checks
from ..privacy.guarantee import Guarantee, selection_guarantee
from ..privacy.rates import selection_rate
from ..types import Missing, Number, Words
from .base import Mechanism

ASSUMES = (
    "sensitivity bounds how much one record changes the utility of any one candidate, in the "
    "numbers as they are represented"
)
MONOTONIC = "; one record moves no two utilities in opposite directions (monotonic)"


class CandidateMechanism(Mechanism):
    """A mechanism that selects one of its candidates, or an index if it has none."""

    candidates: Any
    _weighting: choose.Weighting

    def _draw(self, data: Segments, seeds: Words, size: int | None) -> Any:
        return choose.draw(data, self._weighting, seeds, size)

    def _answer(self, drawn: Any) -> Any:
        return drawn if self.candidates is None else self.candidates[drawn]

    def _simulated(self, drawn: Any) -> Any:
        return drawn


@dataclass(frozen=True)
class Exponential(CandidateMechanism):
    """The exponential mechanism: candidate r with probability proportional to base·exp(c·u(r)).

    Parameters
    ----------
    epsilon : float
        In nats, > 0.
    sensitivity : float
        The most by which one record changes the utility of any one candidate, > 0.
    monotonic : bool
        Whether one record moves all utilities in the same direction. c is epsilon / sensitivity if
        so, else epsilon / (2 * sensitivity).
    candidates : sequence, optional
        Two or more distinct public labels; default: indices 0, 1, ...
    base : array_like of float, optional
        A public measure: a number >= 0 for each candidate, two of them > 0. A candidate with 0 is
        never selected.
    score : callable, optional
        See `from_score`.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type.

    Notes
    -----
    **Privacy**: epsilon-differential privacy for the neighbours for which the sensitivity was
    stated; the log-ratios of all probabilities span at most epsilon (bounded range). **You must
    ensure** that the sensitivity holds for the utilities as they are stored, float rounding
    included, and that candidates and base do not depend on the data.

    **Numerics**: epsilon, sensitivity, utilities and base are read as the exact numbers that they
    are, and the draw is exact.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007, Theorem 6. Durfee
    and Rogers, "Practical differentially private top-k selection with pay-what-you-get
    composition", NeurIPS 2019 (bounded range).

    Examples
    --------
    >>> import fastexp as fx
    >>> mechanism = fx.Exponential(epsilon=1.0, sensitivity=1.0, candidates=["tea", "coffee"])
    >>> mechanism.release([3.0, 250.0])
    'coffee'
    >>> mechanism.sample([3.0, 5.0], size=8, rng=1).shape
    (8,)
    """

    epsilon: Number
    sensitivity: Number
    _: KW_ONLY
    monotonic: bool = False
    candidates: Any = None
    base: Any = None
    score: Callable[[Any, Any], Any] | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.arithmetic()
        monotonic = checks.flag("monotonic", self.monotonic)
        rate = selection_rate(self.epsilon, self.sensitivity, monotonic)
        labels = None if self.candidates is None else checks.candidates(self.candidates)
        base, measure = None, choose.NO_BASE
        if self.base is not None:
            measure = checks.base(self.base, None if labels is None else len(labels))
            base = tuple(measure.tolist())
        if self.score is not None and labels is None:
            raise ParameterTypeError("score needs candidates: it takes the data and one of them")
        weighting = choose.Weighting(rate, measure)
        vars(self).update(candidates=labels, base=base, _weighting=weighting)

    @staticmethod
    def from_score(
        score: Callable[[Any, Any], Any],
        candidates: Any,
        *,
        epsilon: Number,
        sensitivity: Number,
        monotonic: bool = False,
        base: Any = None,
    ) -> Exponential:
        """Return the mechanism for a score u(data, r) of each candidate r, as in textbooks.

        Its `release` and `sample` take the data.

        Parameters
        ----------
        score : callable
            ``score(data, candidate)`` returns a number.
        candidates, epsilon, sensitivity, monotonic, base
            As for `Exponential`; the sensitivity is that of `score`. **Counts are not monotonic
            when a record is replaced.**

        Raises
        ------
        ScoreError
            By the verbs, if the score raises an exception. That one is withheld with its message
            and frames, since they may hold data.

        Examples
        --------
        >>> import fastexp as fx
        >>> votes = fx.Exponential.from_score(
        ...     lambda data, r: data.count(r), ["a", "b"], epsilon=1.0, sensitivity=1.0
        ... )
        >>> votes.release(["b"] * 200)
        'b'
        """
        if not callable(score):
            raise ParameterTypeError(f"score must be a function, got {type(score).__name__}")
        return Exponential(
            epsilon,
            sensitivity,
            monotonic=monotonic,
            candidates=candidates,
            base=base,
            score=score,
        )

    @property
    def guarantee(self) -> Guarantee:
        """The promise of one release."""
        assumes = ASSUMES + (MONOTONIC if self.monotonic else "")
        return selection_guarantee(self.epsilon, None, assumes)

    def _read(self, data: Any, nan: Missing) -> Segments:
        if nan != "raise":
            checks.choice("nan", nan, ("raise",))
        labels, base = self.candidates, self._weighting.base
        k = len(labels) if labels else base.size or None
        if self.score is None:
            return read_utilities(data, k)
        try:
            scores = [self.score(data, label) for label in labels]
        except Exception:
            scores = None
        if scores is None:  # raised outside the handler, so that no traceback leads to the data
            raise ScoreError(
                "the score failed; its message is withheld, because it may contain data: to see "
                "why, call the score yourself"
            )
        return read_utilities(scores, k)
