"""The columns that a call reads, and as what."""

from __future__ import annotations

from ..._typing import AnyArray
from ..engines.frame import Column, Reading, Use, key_columns
from .answers import Answer
from .scope import Scope


class Uses(tuple[Use, ...]):
    """The columns of a call, each once; and where in them groups, persons and records are."""

    by: list[int]
    person: int | None
    records: list[int]
    typed = False  # whether types were looked at before the rows


def uses_of(query: Scope, answers: tuple[Answer, ...]) -> Uses:
    """The columns that a call reads."""
    wanted = [Use(name, "keys") for name in query.by]
    if query.groups is not None:
        columns = zip(query.by, query.groups.columns(), strict=True)
        wanted = [_use(name, kind, keys) for name, (kind, keys) in columns]
    wanted += [] if query.person is None else [Use(query.person, "keys")]
    records = [_record_use(answer) for answer in answers]
    uses = Uses(dict.fromkeys([*wanted, *records]))
    place = {use: i for i, use in enumerate(uses)}
    uses.by = [place[use] for use in wanted[: len(query.by)]]
    uses.person = None if query.person is None else place[wanted[-1]]
    uses.records = [place[use] for use in records]
    return uses


def _record_use(answer: Answer) -> Use:
    texts = [label for label in answer.mechanism._labels if isinstance(label, str)]
    return _use(answer.column, answer.mechanism._reading(), texts)


def _use(column: str, reading: Reading, keys: AnyArray | list[str]) -> Use:
    longest = max(map(len, keys), default=0) if reading == "text" else None
    return Use(column, reading, longest)


def group_columns(query: Scope) -> list[Column]:
    """The public list, as columns; none if there is no list."""
    if query.groups is None:
        return []
    return key_columns(query.by, query.groups)
