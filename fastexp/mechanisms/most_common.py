"""The most common value, privately."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .._parameters import validate
from .._typing import Label, Neighbors
from ..privacy import count_rate
from ._counting import CountingMechanism
from .base import ALWAYS, frozen

Selecting: TypeAlias = Literal["exponential", "permute-and-flip"]
EXPONENTIAL: Selecting = "exponential"
PERMUTE_AND_FLIP: Selecting = "permute-and-flip"
ASSUMES = "one person is one record; the candidates were chosen without looking at the data"


@frozen
class MostCommon(
    CountingMechanism[Label],
    promise="ε-DP under `neighbors`; by the exponential mechanism ε-bounded-range, too.",
):
    """The most common of public candidates: r with probability ∝ exp(ε·count(r)).

    Or by permute-and-flip: candidates in random order, each accepted with
    exp(ε·(count(r) − the highest count)).

    Parameters
    ----------
    epsilon
    candidates : sequence of hashable
        Public labels, two or more, distinct. Records that equal none of them are not counted.
        **Do not take them from the data**: that a rare value occurs at all is private.
    neighbors : {"add-remove", "replace"}
        What one person may do: join or leave (weight exp(ε·count), as counts are monotonic), or
        change their record (weight exp(ε·count/2), as then they are not).
    mechanism : {"exponential", "permute-and-flip"}
        Permute-and-flip has the same ε, and its expected loss is never larger. But its range is
        not bounded by ε: if several releases are composed under ρ, the exponential mechanism costs
        less.
    any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError

    Notes
    -----
    The data are records: a list, array or series of labels, compared as Python compares them: 1
    equals 1.0 but not "1", and a misspelt candidate has a count of 0, without an error. If all
    candidates are integers, or all are text, an array or column of another type is refused before
    anything is charged; integers may be given as floats or decimals.

    **Counts with labels** may be given instead of records: a mapping {label: count} or, if all
    candidates are text, a series of integers with an index of labels, as `value_counts()` of pandas
    returns it. They are brought into the order of the candidates: a missing label has the count 0,
    and a label that is no candidate is ignored. If candidates are not text, a series of integers is
    read as records, whatever its index: write ``.to_dict()``.

    **Privacy**: ε-DP under `neighbors`. By the exponential mechanism also ε-bounded-range, so that
    ρ = ε²/8; by permute-and-flip ρ = ε·tanh(ε/2).

    **Numerics**: counts are exact integers and the draw is exact.

    References
    ----------
    Near and Abuah, "Programming Differential Privacy" (the exponential mechanism notebook);
    McSherry and Talwar 2007; Durfee and Rogers 2019 (monotone utilities). McKenna and Sheldon
    2020 (permute-and-flip).

    Examples
    --------
    >>> import fastexp as fx
    >>> mechanism = fx.MostCommon(epsilon=0.5, candidates=["red", "green", "blue"])
    >>> mechanism.release(["red"] * 80 + ["blue"] * 3)
    'red'
    >>> mechanism.law(["red", "red", "blue"]).probabilities.round(4)
    array([0.5065, 0.1863, 0.3072])
    >>> colours = ["red", "green", "blue"]
    >>> flips = fx.MostCommon(epsilon=0.5, candidates=colours, mechanism="permute-and-flip")
    >>> flips.law(["red", "red", "blue"]).probabilities.round(4)
    array([0.5872, 0.1468, 0.2661])
    """

    epsilon: float
    candidates: tuple[Any, ...]
    _: KW_ONLY
    neighbors: Neighbors = field(default="add-remove", metadata=ALWAYS)
    mechanism: Selecting = EXPONENTIAL
    any_epsilon: bool = field(default=False, compare=False)
    _assumes = ASSUMES

    if TYPE_CHECKING:  # wider than the fields: a sequence becomes a tuple

        def __init__(
            self,
            epsilon: float,
            candidates: Iterable[Label],
            *,
            neighbors: Neighbors = "add-remove",
            mechanism: Selecting = EXPONENTIAL,
            any_epsilon: bool = False,
        ) -> None: ...

    def _check(self) -> None:
        super()._check()
        self._set_frozen(
            candidates=validate.candidates(self.candidates),
            neighbors=validate.neighbors(self.neighbors),
            mechanism=validate.choice("mechanism", self.mechanism, (EXPONENTIAL, PERMUTE_AND_FLIP)),
        )
        self._weigh(count_rate(self.epsilon, self.neighbors))

    @property
    def _has_bounded_range(self) -> bool:
        return self.mechanism == EXPONENTIAL
