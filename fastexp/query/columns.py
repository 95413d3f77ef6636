"""The columns that a call reads: their names and types, before a row is; then the rows."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ..errors import FastexpError, InvalidRecords, ParameterError
from .engines.frame import Column, Frame, Use
from .engines.types import check_keys, check_records
from .rows import Reader

if TYPE_CHECKING:
    from .answers import Answer
    from .call import Way
    from .query import Query

UNREAD = "records: the engine failed to read the rows; why is in its error when it reads them alone"

SHOWN = 20  # names of columns in a message
NUMERIC = frozenset("0123456789+-.")  # what numbers begin with


class Uses(tuple[Use, ...]):
    """The columns of a call, each once; and where in them groups, persons and records are."""

    by: list[int]
    person: int | None
    records: list[int]
    typed = False  # whether types were looked at before the rows


def uses_of(query: Query, answers: tuple[Answer, ...]) -> Uses:
    """The columns that a call reads."""
    wanted = [Use(name, "keys") for name in query.by]
    if query.groups is not None:
        wanted = [_use(name, kind, keys) for name, kind, keys in group_columns(query)]
    wanted += [] if query.person is None else [Use(query.person, "keys")]
    records = [_record_use(answer) for answer in answers]
    uses = Uses(dict.fromkeys([*wanted, *records]))
    place = {use: i for i, use in enumerate(uses)}
    uses.by = [place[use] for use in wanted[: len(query.by)]]
    uses.person = None if query.person is None else place[wanted[-1]]
    uses.records = [place[use] for use in records]
    return uses


def _record_use(answer: Answer) -> Use:
    candidates = getattr(answer.mechanism, "candidates", ())  # a number mechanism has none
    texts = [label for label in candidates if isinstance(label, str)]
    return _use(answer.column, answer.mechanism._reading(), texts)


def _use(column: str, reading: Any, keys: Any) -> Use:
    longest = max(map(len, keys), default=0) if reading == "text" else None
    return Use(column, reading, longest)


def fit(way: Way, frame: Frame, uses: Uses) -> None:
    """Refuse a frame whose columns, by their names or types, are not what they must be."""
    names, query = frame.names(), way.query
    for use in uses:
        if names is None:
            break
        there = names.count(use.column)
        if there != 1:
            got = "got several of that name" if there else _present(names, use.column)
            raise ParameterError(f"column {use.column!r} must be in the frame, once: {got}")
    frame.check_answers([*query.by, *(answer.name for answer in way.answers)], group_columns(query))
    empty = frame.empty(uses)
    if empty is not None:
        _check_types(way, uses, empty)
        Reader(way, uses).part(empty)
        uses.typed = True


def _present(names: Sequence[str], wanted: str) -> str:
    """What there is instead of a column; what may be a record in place of a header is not shown."""
    if not names:
        return "it has none with a name of text"
    if len(set(names)) < len(names) or any(not name or name[0] in NUMERIC for name in names):
        return "its names of columns may be a record (is there a header row?), and are not shown"
    present = ", ".join(map(repr, names[:SHOWN])) + ", ..." * (len(names) > SHOWN)
    if len(names) == 1 and set(names[0]) & set(",;|\t "):
        return f"it has {present} alone (is another delimiter between its columns?)"
    alike = get_close_matches(wanted, names, 1)
    return f"it has {present}" + "".join(f"; did you mean {name!r}?" for name in alike)


def _check_types(way: Way, uses: Uses, columns: Sequence[Any]) -> None:
    """Refuse columns that, by their types, are not what they are to be read as."""
    for answer, i in zip(way.answers, uses.records, strict=True):
        check_records(f"answers[{answer.name!r}]", uses[i], columns[i])
    groups = way.query.groups
    for i in uses.by:
        use = uses[i] if groups is None or groups.size else uses[i]._replace(reading="keys")
        check_keys("by", use, columns[i])
    if uses.person is not None:
        check_keys("person", uses[uses.person], columns[uses.person])


def parts_of(way: Way, frame: Frame, uses: Uses) -> Generator[Sequence[Any]]:
    """All parts; in a release what the engine raises may hold data, and is withheld."""
    parts = frame.parts(uses, uses.by, way.query.groups)
    try:
        while (part := _next(way, parts)) is not None:
            if not uses.typed:  # of a stream nothing was known before
                _check_types(way, uses, part)
            yield part
    finally:
        close = getattr(parts, "close", None)
        if close is not None:
            close()


def _next(way: Way, parts: Iterator[Sequence[Any]]) -> Sequence[Any] | None:
    try:
        return next(parts, None)
    except (FastexpError, MemoryError):
        raise
    except Exception:
        if not way.released:
            raise
    raise InvalidRecords(UNREAD)  # outside the handler: the error is no context of ours


def group_columns(query: Query) -> list[Column]:
    """The public list, as columns; none if there is no list."""
    if query.groups is None:
        return []
    keys = query.groups.columns()
    return [Column(name, *column) for name, column in zip(query.by, keys, strict=True)]
