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
    """Laws of one mechanism, one a group, and what they are compared with."""

    mechanism: Described | None  # one that a query takes, or over utilities; None: not known
    column: str  # what its records are called
    laws: Sequence[Any]  # as `view.Outputs` or with `probabilities`; of top-k of the first place
    truths: Sequence[Any]  # of each group, or None; of candidates counts, or None of utilities
    grid: Grid | None = None  # of numbers; None: their laws are densities
    candidates: Sequence[Any] | None = None  # None of numbers
    records: Sequence[int] = ()  # how many count, by group; of one data set none
    by: Sequence[str] = ()  # the columns of groups; none where all rows are one group
    labels: Sequence[Mapping[str, Any]] = ()  # the name of each group, by column
    draws: AnyArray | None = None  # (groups, size): numbers, or candidates by number
    best: float | None = None  # the best revenue of prices

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
