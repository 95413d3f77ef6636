"""How many records of one data set have each candidate, read as a release reads them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from ..._typing import IntArray
from .answers import answers_of
from .frame_columns import fit, parts_of
from .reader import Reader, uses_of
from .scope import Scope
from .verbs import ReleaseCall

if TYPE_CHECKING:
    from ...mechanisms.most_common import MostCommon
    from ..engines.frame import Frame


class CountCall(ReleaseCall):
    """The counts of one answer, without groups and persons: nothing is charged or drawn here."""

    def __init__(self, query: Scope, mechanism: MostCommon, column: str, frame: Frame) -> None:
        answers = answers_of({column: (mechanism, column)}, query.by, "drop")
        super().__init__(query, answers, None, None, None, 1)
        self._frame, self._uses = frame, uses_of(query, answers)
        self._candidates = len(mechanism.candidates)

    def check(self) -> None:
        """Refuse a frame whose columns are not what they must be, before a row is read."""
        fit(self, self._frame, self._uses)

    def read(self) -> IntArray:
        """The counts, in the order of the candidates, in a pass over the rows."""
        counts, reader = np.zeros(self._candidates, np.int64), Reader(self, self._uses)
        with closing(parts_of(self, self._frame, self._uses)) as parts:
            for columns in parts:
                ((numbers,), (missing,)) = reader.part(columns)[1:3]
                present = numbers if missing is None else numbers[~missing]
                counts += np.bincount(present, minlength=counts.size)
        return counts
