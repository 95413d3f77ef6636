"""The exponential mechanism over a user's score function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .._intake import utilities
from .._parameters import validate
from .._typing import NaN, WordArray
from ..errors import ParameterTypeError, ScoreError
from .exponential import Exponential


@dataclass(frozen=True, repr=False)
class ScoredExponential(Exponential):
    """`Exponential.from_score`: the utilities are score(data, r). Takes data, not utilities.

    Its guarantee is `Exponential`'s, for the sensitivity that you state for `score`. The
    time that the score takes may depend on the data.
    """

    _over_records: ClassVar[bool] = True

    score: Callable[..., Any] = field(kw_only=True, repr=False)
    vectorized: bool = field(default=False, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        """Validate, with the score."""
        if not callable(self.score):
            raise ParameterTypeError(f"score must be callable, got {type(self.score).__name__}")
        object.__setattr__(self, "vectorized", validate.flag("vectorized", self.vectorized))
        object.__setattr__(self, "candidates", validate.candidates(self.candidates))
        super().__post_init__()

    def _utilities(self, data: Any, nan: NaN) -> tuple[WordArray, int]:
        labels = self.candidates or ()
        try:
            if self.vectorized:
                scores = self.score(data, labels)
            else:
                scores = [self.score(data, label) for label in labels]
        except Exception:
            scores = None
        if scores is None:  # outside the handler: no traceback leads to the data
            raise ScoreError(
                "the score function failed (its message is withheld: it may hold data)"
            )
        bits, kind = utilities.utilities(scores, len(labels), nan)
        if bits.ndim != 1:  # rows would be draws that no budget counts
            raise ParameterTypeError("score must return one number for each candidate")
        return bits, kind
