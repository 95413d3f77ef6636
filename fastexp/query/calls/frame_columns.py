"""The columns that a call reads: checks of their names and types, and the parts of their rows."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._parameters.foreign import is_pandas
from ..._typing import IntArray
from ...errors import FastexpError, InvalidRecords
from ..engines.frame import Frame
from ..engines.types import check_column, check_keys, check_records, type_of
from .answers import answers_of
from .appearance import visible
from .reader import Reader, group_columns
from .scope import Call, Scope
from .verbs import ReleaseCall

if TYPE_CHECKING:
    from ...mechanisms.most_common import MostCommon

UNREAD = "records: the engine failed to read the rows; read them without fastexp to see why"


def fit(call: Call, frame: Frame) -> list[Any]:
    """Refuse a frame whose columns have wrong names or types; return the columns `by`.

    These have no rows; a column is [] if only its rows determine its type.
    """
    names, query, uses = frame.names(), call.query, call.uses
    for use in uses:
        if names is None:
            break
        check_column(use.column, names)
    answers = [name for answer in visible(call.answers) for name in answer.columns]
    frame.check_answers([*query.by, *answers], group_columns(query))
    empty = frame.empty(uses)
    if empty is not None:
        _check_types(call, empty)
        Reader(call).part(empty)
    columns = [[] if empty is None else empty[i] for i in uses.by]
    # The categories of pandas come from the rows.
    return [[] if is_pandas(keys) and type_of(keys).coded else keys for keys in columns]


def _check_types(call: Call, columns: Sequence[Any]) -> None:
    uses = call.uses
    for answer, i in zip(call.answers, uses.records, strict=True):
        check_records(f"answers[{answer.name!r}]", uses[i], columns[i])
    groups = call.query.groups
    for i in uses.by:
        use = uses[i] if groups is None or groups.size else uses[i]._replace(reading="keys")
        check_keys("by", use, columns[i])
    if uses.person is not None:
        check_keys("person", uses[uses.person], columns[uses.person])


def parts_of(call: Call, frame: Frame) -> Generator[Sequence[Any]]:
    """Yield all parts of the rows; a release withholds the engine's errors: they may hold data."""
    typed, parts = frame.names() is not None, frame.parts(call.uses)
    try:
        while (part := _next(call, parts)) is not None:
            if not typed:  # the types of a stream are known only now
                _check_types(call, part)
            yield part
    finally:
        close = getattr(parts, "close", None)
        if close is not None:
            close()


def _next(call: Call, parts: Iterator[Sequence[Any]]) -> Sequence[Any] | None:
    try:
        return next(parts, None)
    except (FastexpError, MemoryError):
        raise
    except Exception:
        if not call.released:
            raise
    raise InvalidRecords(UNREAD)  # outside the handler: the engine's error is not its context


class CountCall(ReleaseCall):
    """A call that counts the candidates of one answer, without groups, persons, charge or draw."""

    def __init__(self, query: Scope, mechanism: MostCommon, column: str, frame: Frame) -> None:
        answers = answers_of({column: (mechanism, column)}, query.by, "drop")
        super().__init__(query, answers, None, None, None, 1)
        self._frame = frame
        self._candidates = len(mechanism.candidates)

    def check(self) -> None:
        """Refuse a frame whose columns have wrong names or types, before a row is read."""
        fit(self, self._frame)

    def read(self) -> IntArray:
        """The count of each candidate, from one pass over the rows."""
        counts, reader = np.zeros(self._candidates, np.int64), Reader(self)
        with closing(parts_of(self, self._frame)) as parts:
            for columns in parts:
                ((numbers,), (missing,)) = reader.part(columns)[1:3]
                present = numbers if missing is None else numbers[~missing]
                counts += np.bincount(present, minlength=counts.size)
        return counts
