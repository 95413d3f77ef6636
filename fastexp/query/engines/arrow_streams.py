"""Whatever hands out columns as Arrow data, read without pyarrow.

Its producer, which may run a query, is not called before the charge. That is also when
its columns are known, and refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from ..._arrow import arrow
from ..._keys.group_names import Names
from .arrays import columns_by_name
from .frame import Column, Use
from .limits import DAYS32, check_dates, check_unread, note_read


class ArrowAnswers:
    """Answers as a table of pyarrow; where that is not installed, as a dict of columns."""

    def check_answers(self, names: Sequence[str], groups: Sequence[Column]) -> None:
        check_dates(groups, DAYS32)

    def finished(self, columns: Sequence[Column]) -> Any:
        if find_spec("pyarrow") is None:
            return columns_by_name(columns)
        from .arrow import table_of  # only here is pyarrow imported

        return table_of(columns)


class StreamFrame(ArrowAnswers):
    """A `Frame` of anything with `__arrow_c_stream__` or `__arrow_c_array__`."""

    spills = False

    def __init__(self, frame: object) -> None:
        self._frame = frame

    def names(self) -> None:
        check_unread(self._frame)

    def empty(self, uses: Sequence[Use]) -> None:
        return

    def parts(
        self, uses: Sequence[Use], by: Sequence[int], groups: Names | None
    ) -> Iterator[list[arrow.Opened]]:
        note_read(self._frame)
        names = list(dict.fromkeys(use.column for use in uses))
        for batch in arrow.table(self._frame, names, "frame"):
            yield [arrow.Opened.of(batch[names.index(use.column)]) for use in uses]
