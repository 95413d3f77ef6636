"""Arguments of callers who are not trusted, built anew from plain values.

A parameter that was overwritten, a subclass with a method of its own, an object that changes
while it is read: what is built here is free of these. Types are compared by identity, as a
metaclass can say that its class equals any other, and no method of an argument is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from .._keys.group_names import KeyNames, TupleNames
from .._keys.keys import TICKS
from .._parameters.grid import Grid
from .._typing import IntArray
from ..errors import ParameterError, ParameterTypeError
from ..grouped.mechanism import GroupedMechanism
from ..mechanisms._several import JointMechanism
from ..mechanisms.table import TABLE
from .query import Query

MECHANISMS: dict[str, Any] = {row.name: row.kind for row in TABLE.values() if row.grouped}
PLAIN = (bool, int, float, str, Decimal)  # nothing of them can change
ANSWERS = (
    "answers must be a dict from names (text) to pairs: a mechanism and the column of its records, "
    "or the name of a score and an epsilon"
)
CHANGED = "must not be changed once it is built: build a new one"
MOST_QUANTILES = 32  # at once: some 0.1 s of few records
UNITS = ("", *TICKS)  # of timestamps, and of other keys
LIMITS = {"person": None, "max_groups": 1, "max_rows": 1, "membership": "private"}
STATED = f"query must have only by and groups: {', '.join(LIMITS)} are the session's"
LISTED = 'query must have a public list of groups: groups="from-data" tells of the records'


def is_exactly(value: object, *kinds: type) -> bool:
    """Whether it is of one of these types, and not of one derived from it."""
    return any(type(value) is kind for kind in kinds)


def pairs_of(answers: Any) -> Iterator[tuple[str, Any, Any]]:
    """The names of answers, each with the two things that it was given; other forms are refused."""
    if not is_exactly(answers, dict):
        raise ParameterTypeError(ANSWERS)
    for name, answer in dict.copy(answers).items():
        pair = tuple(answer) if is_exactly(answer, tuple, list) else ()
        if not is_exactly(name, str) or len(pair) != 2:
            raise ParameterTypeError(ANSWERS)
        yield name, *pair


def mechanism_of(name: str, mechanism: object) -> GroupedMechanism:
    """A mechanism of fastexp's own, one of `MECHANISMS`, with the same public parameters.

    Refused if it is of another type, if only by inheritance, or its parameters are not what it was
    built with; `name` is the answer's.
    """
    kind: Any = next((one for one in MECHANISMS.values() if type(mechanism) is one), None)
    if kind is None:
        raise ParameterTypeError(
            f"answer {name!r} must have a mechanism of fastexp's own "
            f"({', '.join(sorted(MECHANISMS))}; no subclass), or the name of a score, as must all "
            "other answers of the release"
        )
    public = [field.name for field in fields(kind) if field.init]
    values = zip(public, _attributes(mechanism, *public), strict=True)
    built: GroupedMechanism = kind(**{item: plain(item, value) for item, value in values})
    # What may take seconds of few records tells by its time whether a group has any.
    if isinstance(built, JointMechanism) and len(built.q) > MOST_QUANTILES:
        raise ParameterError(
            f"answer {name!r} must have at most {MOST_QUANTILES} quantiles in a session: fewer of "
            "them, or ApproximateQuantiles"
        )
    return built


def query_of(query: object, person: str | None, max_groups: int, max_rows: int) -> Query:
    """A query with the same groups, and with these limits; None: all rows are one group.

    Refused if it states limits of its own or takes groups from the data.
    """
    if query is None:
        return Query(person=person, max_rows=max_rows)
    if type(query) is not Query:
        raise ParameterTypeError("query must be a Query (no subclass), or None: all rows")
    by, groups, *stated = _attributes(query, "by", "groups", *LIMITS)
    if not is_exactly(by, tuple) or not all(is_exactly(column, str) for column in by):
        raise _changed("query")
    for limit, default in zip(stated, LIMITS.values(), strict=True):
        if type(limit) is not type(default) or limit != default:
            raise ParameterError(STATED)
    if not by:
        return Query(person=person, max_rows=max_rows)
    if groups is None:
        raise ParameterError(LISTED)
    return Query(by, _labels(groups), person, max_groups, max_rows)


def _labels(groups: object) -> list[Any]:
    """The public list of a query; that no group is in it twice is checked where it is read."""
    if type(groups) is KeyNames:
        return _keys(groups).labels()
    if type(groups) is not TupleNames:
        raise _changed("query")
    keys, index = _attributes(groups, "keys", "index")
    if not is_exactly(keys, tuple) or not is_exactly(index, tuple) or len(keys) != len(index):
        raise _changed("query")
    columns = []
    for names, places in zip(keys, index, strict=True):
        labels = _keys(names).labels()
        order = _integers(places).tolist()
        if not all(0 <= place < len(labels) for place in order):
            raise _changed("query")
        columns.append([labels[place] for place in order])
    return list(zip(*columns, strict=True))


def _keys(names: object) -> KeyNames:
    """The keys of a column, built anew from their own numbers or texts."""
    if type(names) is not KeyNames:
        raise _changed("query")
    kind, unit, texts, numbers = _attributes(names, "kind", "unit", "texts", "numbers")
    if not is_exactly(texts, tuple) or not all(
        is_exactly(text, str) for text in (kind, unit, *texts)
    ):
        raise _changed("query")
    if unit not in UNITS:
        raise _changed("query")
    return KeyNames(kind, texts if kind == "text" else _integers(numbers), unit)


def _integers(values: object) -> IntArray:
    if type(values) is not np.ndarray or values.dtype != np.int64 or values.ndim != 1:
        raise _changed("query")
    return values.copy()


def plain(name: str, value: Any) -> Any:
    """A parameter as nothing but plain values; what is, or holds, anything else is refused."""
    if value is None or is_exactly(value, *PLAIN):
        return value
    if type(value) is Fraction:
        over, under = value.numerator, value.denominator
        if is_exactly(over, int) and is_exactly(under, int) and under > 0:
            return Fraction(over, under)
    if is_exactly(value, np.int64, np.float64):
        number: Any = value
        return number.item()
    if type(value) is tuple:
        return tuple(plain(name, item) for item in value)
    if type(value) is Grid:  # an evenly spaced one follows from bounds and step
        (points,) = _attributes(value, "points")
        if points is None:
            return None
        if type(points) is np.ndarray and points.dtype.kind in "if":
            return points.copy()
    raise ParameterTypeError(f"{name} must be a number, text, or a tuple of these, of exact types")


def _attributes(thing: object, *names: str) -> list[Any]:
    """Attributes of an object of ours, None where there is none; they may be anything."""
    state = object.__getattribute__(thing, "__dict__")
    if type(state) is not dict:
        raise _changed(type(thing).__name__)
    return [state.get(name) for name in names]


def _changed(what: str) -> ParameterTypeError:
    return ParameterTypeError(f"{what} {CHANGED}")
