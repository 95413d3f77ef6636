"""The most common value, privately."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from .. import _data, _validate, utilities
from .._typing import NaN, Neighbors, WordArray
from .._weighting import Weighting
from ..privacy import Guarantee, count_rate, selection_guarantee
from ._finite import FiniteMechanism, shown

ASSUMES = "one person is one record; the candidates were chosen without looking at the data"


@dataclass(frozen=True, repr=False)
class MostCommon(FiniteMechanism):
    """Selects the most common of public candidates: r with probability ∝ exp(ε·count(r)).

    Parameters
    ----------
    epsilon : float
        Privacy parameter in nats; in [1e-9, 1e6] unless `any_epsilon`.
    candidates : sequence of hashable
        Public labels, distinct. Records that equal none of them count nowhere. **Do not
        take them from the data**: that a rare value occurs at all is private.
    neighbors : {"add-remove", "replace"}
        What one person may do: join or leave (weight exp(ε·count): counts are monotonic), or
        change their record (weight exp(ε·count/2), since then they are not).
    any_epsilon : bool
        Lift the limits on epsilon.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type.

    Notes
    -----
    Takes records: a list, array or series of labels, compared as Python compares them: 1
    equals 1.0 but not "1", and a misspelt candidate counts nothing, without a word.
    **Privacy**: ε-DP and ε-bounded-range under `neighbors`. **Numerics**: counts are exact
    integers and the draw is exact.

    References
    ----------
    Near and Abuah, "Programming Differential Privacy" (the exponential mechanism notebook);
    McSherry and Talwar 2007; Durfee and Rogers 2019 (monotone utilities).

    Examples
    --------
    >>> import fastexp as fx
    >>> mechanism = fx.MostCommon(epsilon=0.5, candidates=["red", "green", "blue"])
    >>> mechanism.release(["red"] * 80 + ["blue"] * 3)
    'red'
    >>> mechanism.law(["red", "red", "blue"]).probabilities.round(4)
    array([0.5065, 0.1863, 0.3072])
    """

    _over_records: ClassVar[bool] = True

    epsilon: float
    candidates: tuple[Any, ...]
    neighbors: Neighbors = field(default="add-remove", kw_only=True)
    any_epsilon: bool = field(default=False, kw_only=True, compare=False)
    _weighting: Weighting = field(init=False, compare=False)

    if TYPE_CHECKING:  # wider than the fields: a sequence becomes a tuple

        def __init__(
            self,
            epsilon: float,
            candidates: Any,
            *,
            neighbors: Neighbors = "add-remove",
            any_epsilon: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        """Validate once; the mechanism is immutable afterwards."""
        put = object.__setattr__
        put(self, "any_epsilon", _validate.flag("any_epsilon", self.any_epsilon))
        put(self, "epsilon", _validate.epsilon(self.epsilon, self.any_epsilon))
        put(self, "candidates", _validate.candidates(self.candidates))
        put(self, "neighbors", _validate.neighbors(self.neighbors))
        put(self, "_weighting", Weighting(count_rate(self.epsilon, self.neighbors), None))

    def __repr__(self) -> str:
        labels = shown(self.candidates)
        relation = f"neighbors={self.neighbors!r}" + ", any_epsilon=True" * self.any_epsilon
        return f"MostCommon(epsilon={self.epsilon!r}, candidates={labels}, {relation})"

    @property
    def guarantee(self) -> Guarantee:
        """ε-DP and ε-bounded-range under `neighbors`."""
        return selection_guarantee(self.epsilon, self.neighbors, ASSUMES)

    def _utilities(self, data: Any, nan: NaN) -> tuple[WordArray, int]:
        counts = utilities.counts(data, self.candidates)
        return _data.utilities(counts, None, nan)
