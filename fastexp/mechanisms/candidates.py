"""Mechanisms that select one of finitely many candidates."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..data.keys import Names, count_labels, read_names
from ..data.records import read_utilities
from ..data.segments import Segments, shape
from ..draws import choose, flips
from ..errors import ParameterError, ParameterTypeError, ScoreError
from ..parameters import checks, kinds
from ..privacy.guarantee import Guarantee, pure_guarantee, selection_guarantee
from ..privacy.rates import selection_rate
from ..types import Missing, Neighbors, Number, Words
from .base import Mechanism

ASSUMES = (
    "sensitivity bounds how much one record changes the utility of any one candidate, in the "
    "numbers as they are represented"
)
MONOTONIC = "; one record moves no two utilities in opposite directions (monotonic)"


class CandidateMechanism(Mechanism):
    """A mechanism that selects one of its candidates, or an index if it has none."""

    monotonic: bool
    candidates: Any
    _weighting: choose.Weighting
    _count: int | None  # of candidates, if it is known

    def _set_weighting(self, epsilon: Number, sensitivity: Number, monotonic: bool) -> None:
        """Check the parameters, and keep what draws need."""
        checks.arithmetic()
        rate = selection_rate(epsilon, sensitivity, checks.flag("monotonic", monotonic))
        labels = None if self.candidates is None else checks.candidates(self.candidates)
        count = labels and len(labels)
        vars(self).update(candidates=labels, _weighting=choose.Weighting(rate), _count=count)

    @property
    def _assumes(self) -> str:
        return ASSUMES + (MONOTONIC if self.monotonic else "")

    def _read(self, data: Any, nan: Missing) -> Segments:
        if nan != "raise":
            raise ParameterError(f"nan must be 'raise' for utilities, got {nan!r}")
        return read_utilities(self._utilities(data), self._count)

    def _form(self, data: Any, nan: Missing) -> Segments:
        return self._read(np.empty(shape(data)), nan)

    def _utilities(self, data: Any) -> Any:
        """Return the utilities that the data have."""
        return data

    def _draw(self, data: Segments, seeds: Words, size: int | None) -> Any:
        return choose.draw(data, self._weighting, seeds, size)

    def _draw_keys(self, data: Segments, seeds: Words, size: int | None) -> Any:
        drawn = choose.draw_several(data, self._weighting, seeds, size, 1, "gumbel")[..., 0]
        return drawn if drawn.ndim else int(drawn)

    def _runs(self, data: Segments) -> Any:
        from ..laws.of_data import of_candidates

        return of_candidates(data, self._weighting)

    def _answer(self, drawn: Any) -> Any:
        if self.candidates is None:
            return drawn
        if isinstance(drawn, (int, np.integer)):
            return self.candidates[drawn]
        return [self._answer(some) for some in drawn]

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
        self._set_weighting(self.epsilon, self.sensitivity, self.monotonic)
        labels = self.candidates
        if self.base is not None:
            measure = checks.base(self.base, labels and len(labels))
            weighting = choose.Weighting(self._weighting.rate, measure)
            vars(self).update(
                base=tuple(measure.tolist()), _weighting=weighting, _count=measure.size
            )
        if self.score is not None and labels is None:
            raise ParameterTypeError("score needs candidates: it takes the data and one of them")

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

        Its `release` and `sample` take the data, which go to the score whole: a matrix is one data
        set. `release` returns a candidate, `sample` their indices.

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
        return selection_guarantee(self.epsilon, None, self._assumes)

    def _form(self, data: Any, nan: Missing) -> Segments:
        if self.score is None:
            return super()._form(data, nan)
        if hasattr(data, "__next__"):
            raise ParameterTypeError("data must not be an iterator: each score reads all of it")
        return replace(self, score=None)._form(np.empty(len(self.candidates)), nan)

    def _utilities(self, data: Any) -> Any:
        if self.score is None:
            return data
        with suppress(Exception):  # what is raised after it has no traceback that leads to the data
            return [self.score(data, label) for label in self.candidates]
        raise ScoreError(
            "the score failed; its message is withheld, because it may contain data: to see why, "
            "call the score yourself"
        )


@dataclass(frozen=True)
class PermuteAndFlip(CandidateMechanism):
    """Permute-and-flip: the first candidate, in random order, that a coin accepts.

    Candidate r is accepted with probability exp(c·(u(r) - the greatest utility)). The promise is
    that of the exponential mechanism, epsilon, and the expected loss is never larger and down to
    half as large. But the range is not bounded by epsilon: if several releases are composed by rho,
    `Exponential` costs less.

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

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type.

    Notes
    -----
    **Privacy**: epsilon-differential privacy for the neighbours for which the sensitivity was
    stated, and no bounded range: rho is epsilon * tanh(epsilon / 2). **You must ensure** what
    `Exponential` says.

    **Numerics**: parameters and utilities are read as the exact numbers that they are, and the draw
    is exact. With more than 64 candidates, a release takes longer if few are close to the best.

    References
    ----------
    McKenna and Sheldon, "Permute-and-flip: a new mechanism for differentially private selection",
    NeurIPS 2020, Theorem 1 (privacy) and Theorem 2 (loss). Ding, Kifer, Sayed Saghaian, Steinke,
    Wang, Xiao and Zhang, "The permute-and-flip mechanism is identical to report-noisy-max with
    exponential noise", 2021.

    Examples
    --------
    >>> import fastexp as fx
    >>> mechanism = fx.PermuteAndFlip(epsilon=1.0, sensitivity=1.0, candidates=["tea", "coffee"])
    >>> mechanism.release([3.0, 250.0])
    'coffee'
    """

    epsilon: Number
    sensitivity: Number
    _: KW_ONLY
    monotonic: bool = False
    candidates: Any = None
    _draw_keys = Mechanism._draw_keys

    def __post_init__(self) -> None:
        """Check the parameters."""
        self._set_weighting(self.epsilon, self.sensitivity, self.monotonic)

    @property
    def guarantee(self) -> Guarantee:
        """The promise of one release."""
        return pure_guarantee(self.epsilon, None, self._assumes)

    def _draw(self, data: Segments, seeds: Words, size: int | None) -> Any:
        return flips.draw(data, self._weighting, seeds, size)

    def _runs(self, data: Segments) -> Any:
        from ..laws.of_data import of_flips

        return of_flips(data, self._weighting)


@dataclass(frozen=True)
class MostCommon(CandidateMechanism):
    """The most common of public candidates: r with probability proportional to exp(c·count(r)).

    Parameters
    ----------
    epsilon : float
        In nats, > 0.
    candidates : sequence
        Two or more distinct public labels. Records that equal none of them are not counted. **Do
        not take them from the data**: that a rare value occurs at all is private.
    neighbors : {"add-remove", "replace"}
        The neighbour relation: one record more or fewer (c is epsilon, as counts are monotonic), or
        one record changed (c is epsilon / 2, as then they are not).

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type.

    Notes
    -----
    The data are a list or an array of labels. A label is equal to a candidate of its own type only;
    a missing value is no candidate.

    **Privacy**: epsilon-differential privacy under `neighbors`; the log-ratios of all probabilities
    span at most epsilon (bounded range).

    **Numerics**: counts are exact integers and the draw is exact.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007, Theorem 6. Durfee
    and Rogers, NeurIPS 2019 (monotonic utilities).

    Examples
    --------
    >>> import fastexp as fx
    >>> mechanism = fx.MostCommon(epsilon=0.5, candidates=["red", "green", "blue"])
    >>> mechanism.release(["red"] * 80 + ["blue"] * 3)
    'red'
    """

    epsilon: Number
    candidates: Any
    _: KW_ONLY
    neighbors: Neighbors = "add-remove"
    _names: ClassVar[Names]

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.choice("neighbors", self.neighbors, ("add-remove", "replace"))
        labels = checks.candidates(self.candidates)
        names = read_names("candidates", labels)
        if names.is_wide:
            raise ParameterTypeError(
                "candidates must be single labels, and not tuples: make one text of each, of "
                "candidates and records alike"
            )
        vars(self).update(candidates=labels, _names=names)
        self._set_weighting(self.epsilon, 1, self.neighbors == "add-remove")

    @property
    def guarantee(self) -> Guarantee:
        """The promise of one release."""
        return selection_guarantee(
            self.epsilon, self.neighbors, "one person is one record; candidates are public"
        )

    def _form(self, data: Any, nan: Missing) -> Segments:  # noqa: ARG002  # data are one data set
        return self._read([], nan)

    def _utilities(self, data: Any) -> Any:
        column = kinds.typed(data)
        if kinds.is_arrow(column):
            from ..data.arrow import read_keys

            column = read_keys("records", column)
        return count_labels(column, self._names)
