"""What a picture of laws is of: laws, one a group, and what they are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._parameters.descriptions import Described, name_of, statistic_of
from .._parameters.grid import Grid
from .._typing import AnyArray


@dataclass(frozen=True)
class Laws:
    """Laws of one mechanism, one a group, and what they are compared with.

    Attributes
    ----------
    mechanism
        One that a query takes, or over utilities; None: not known.
    column : str
        What its records are called.
    laws : sequence
        As `view.Outputs` or with `probabilities`; of top-k those of the first place.
    truths : sequence
        The true number of each group or None; of candidates how many records each has, or
        None of utilities.
    grid : Grid, optional
        The points of numbers; None: their laws are densities.
    candidates : sequence, optional
        None of numbers.
    records : sequence of int
        How many records of each group count; of utilities and of one data set none.
    by : sequence of str
        The columns of groups; none where all rows are one group.
    labels : sequence of mapping
        The name of each group, by column.
    draws : ndarray, shape (groups, size), or None
        Numbers, or candidates by number.
    best : float, optional
        The best revenue of prices.
    """

    mechanism: Described | None
    column: str
    laws: Sequence[Any]
    truths: Sequence[Any]
    grid: Grid | None = None
    candidates: Sequence[Any] | None = None
    records: Sequence[int] = ()
    by: Sequence[str] = ()
    labels: Sequence[Mapping[str, Any]] = ()
    draws: AnyArray | None = None
    best: float | None = None

    @property
    def names(self) -> list[str]:
        """The groups in words."""
        return [", ".join(map(str, label.values())) for label in self.labels]

    @property
    def priced(self) -> bool:
        """Whether the numbers are prices."""
        return self.mechanism is not None and name_of(self.mechanism) == "price"

    @property
    def truth_name(self) -> str:
        """What the true number is called."""
        name = "value" if self.mechanism is None else statistic_of(self.mechanism)
        return "best price" if self.priced else f"true {name}"
