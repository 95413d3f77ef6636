"""Execute a call: check its columns, charge, read its rows once, return answers in a frame."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from typing import Any

import numpy as np

from ..._keys.group_lists import settled
from ..._keys.group_names import KeyColumn
from ...errors import OutputError
from ..disk.folders import check_temp
from ..engines.frame import Column, ColumnKind, Frame, Workers
from ..output.output_file import Output, OutputFile, content, repeated, room_of
from .answers import Answer
from .appearance import appearing, visible
from .frame_columns import fit
from .on_workers import answered, check_workers
from .reader import group_columns
from .scope import Call

DTYPES: dict[str, Any] = {
    "integers": np.int64,
    "floats": np.float64,
    "booleans": np.bool_,
    "text": object,
}


def execute(call: Call, frame: Frame, output: Output | None = None) -> Any:
    """Return the answers as a frame of the same kind; with `output`, also write them to a file.

    The file's space is reserved before the charge.
    """
    query, answers = call.query, visible(call.answers)
    kinds: list[ColumnKind] = [
        answer.mechanism._kind(call.released) for answer in answers
    ]  # refuses candidates that no column can hold
    types: list[Any] = []  # the columns `by`, without rows

    def draw() -> list[Any]:
        names, values = answered(call, frame)
        if query.private is not None:
            names, values = appearing(query, call.answers, names, values)
            names = settled(names, types)
        from_data = query.by and query.groups is None
        return [_packed(names.columns()) if from_data else [], *values]

    def check() -> None:
        types[:] = fit(call, frame)
        if isinstance(frame, Workers):
            check_workers(frame)
        elif frame.room is not None:
            check_temp(frame.room.temp)

    with _place(call, output) as place:
        packed, *values = call.charge_and_draw(draw, check)
        groups = query.groups
        columns = _unpacked(packed, query.by) if groups is None else group_columns(query)
        for answer, kind, results in zip(answers, kinds, values, strict=True):
            columns += _columns(answer, kind, results)
        finished = frame.finished(columns)
        if output is not None:
            try:
                if place is None:
                    repeated(columns, output)
                else:
                    place.write(content(columns, output))
            except OutputError as error:
                error.answers = finished  # they have been charged
                raise
    return finished


def _place(call: Call, output: Output | None) -> AbstractContextManager[OutputFile | None]:
    if output is None or output.is_stored:
        return nullcontext()
    widths, names = [], [*call.query.by]
    for answer in visible(call.answers):
        mechanism = answer.mechanism
        text = mechanism._kind(call.released) == "text"
        longest = max(map(len, mechanism._labels)) if text else 0
        widths += [longest] * len(answer.values)
        names += answer.columns
    room = room_of(group_columns(call.query), widths, names)
    return closing(OutputFile(output.file, output.force, room))


def _packed(columns: Sequence[KeyColumn]) -> list[Any]:
    """The columns of groups, in types that a budget's file can store."""
    return [
        [column.kind, str(values.dtype), values.view(np.int64)]
        if isinstance(values := column.values, np.ndarray) and values.dtype.kind == "M"
        else [column.kind, "", values]
        for column in columns
    ]


def _unpacked(packed: list[Any], by: tuple[str, ...]) -> list[Column]:
    return [
        Column(name, kind, values.view(dtype) if dtype else values)
        for name, (kind, dtype, values) in zip(by, packed, strict=True)
    ]


def _columns(answer: Answer, kind: ColumnKind, results: Any) -> list[Column]:
    """The column of an answer, or the columns of the entries of a list."""
    entries = answer.mechanism._entries
    if not entries:
        return [Column(answer.name, kind, as_column(results, kind))]
    lists = np.asarray(results, DTYPES[kind])
    lists = lists if lists.ndim > 1 else lists.reshape(0, len(entries))  # text without groups
    if answer.columns == (answer.name,):
        return [Column(answer.name, kind, lists)]
    kinds: list[ColumnKind] = ["integers" if entry == "total" else kind for entry in entries]
    return [
        Column(name, one, as_column(lists[..., i], one))
        for i, (name, one) in enumerate(zip(answer.columns, kinds, strict=True))
    ]


def as_column(answers: Any, kind: str) -> Any:
    """Return answers as the values of a column; answers that a budget kept are lists."""
    return list(answers) if kind == "text" else np.asarray(answers, DTYPES[kind])
