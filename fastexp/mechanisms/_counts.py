"""Mechanisms that take counts in the order of candidates, or else records as a counting one."""

from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING

import numpy as np

from .._intake.utilities import FLOAT
from .._typing import NaN, WordArray
from ..errors import ParameterError, ParameterTypeError
from ..grouped.call_options import CallOptions
from ..grouped.labels import are_numbers
from ._counting import CountingMechanism
from ._finite import UtilityMechanism

if TYPE_CHECKING:
    from ..budget.question import Question

UNCLEAR = (
    "data must be a mapping {candidate: count} where candidates are numbers, as integers could be "
    "counts or records: collections.Counter(records) is one"
)


class CountsMechanism(CountingMechanism, UtilityMechanism):
    """A mechanism of counts: integers of a stated sensitivity, with labels or of records."""

    def _check_records(self) -> None:
        if self.candidates is None:
            raise ParameterError("candidates must be given for records, and so for groups")
        if self.sensitivity != 1:
            raise ParameterError(
                "sensitivity must be 1 with records, of which each adds 1 to one count (max_rows "
                f"bounds a person's), got {self.sensitivity!r}"
            )

    def _in_order(self, data: object) -> bool:
        if self.candidates is None:
            return True
        if not are_numbers(data):
            return False
        if any(isinstance(label, (Number, np.bool_)) for label in self.candidates):
            raise ParameterTypeError(UNCLEAR)
        return True

    def _in_data(self, data: object) -> bool:
        return self._has_labels(data) or not self._in_order(data)

    def _question(self, options: CallOptions, rows: int | None) -> Question:
        parent = CountingMechanism if rows is None else UtilityMechanism
        return parent._question(self, options, rows)

    def _utilities(self, data: object, nan: NaN) -> tuple[WordArray, int]:
        if self._has_labels(data) or self._in_order(data):
            bits, kind = UtilityMechanism._utilities(self, data, nan)
        else:
            self._check_records()
            bits, kind = super()._utilities(data, nan)
        if kind == FLOAT:
            raise ParameterTypeError(
                "counts must be integers, got floating-point numbers: round them, and state a "
                "sensitivity that holds then"
            )
        return bits, kind
