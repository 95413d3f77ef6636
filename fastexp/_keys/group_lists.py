"""The public list of groups, in any form: keys of one column, or tuples of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import IntArray
from ..errors import ParameterError, ParameterTypeError
from .group_names import KeyNames, Names, TupleNames
from .key_columns import read
from .keys import TICKS, Keys, in_unit


def names_of(groups: object, argument: str = "groups") -> KeyNames:
    """Read a public list of groups of one column, in its order.

    It holds distinct keys of one kind, integers within int64: a list, tuple, range, array, series,
    index, categorical or Arrow array. Anything else is refused, as is a group that is missing,
    named twice, beyond int64 or not UTF-8.
    """
    keys = read(groups, argument)
    names, values = listed_keys(keys, argument), keys.values
    rising = bool((values[1:] > values[:-1]).all())  # as lists often are
    if not rising and np.unique(values).size < values.size:
        seen: set[Any] = set()
        for label in names.labels():
            if label in seen:
                raise ParameterError(_again(label, argument))
            seen.add(label)
    return names


def names_of_columns(columns: Sequence[Any], argument: str = "groups") -> Names:
    """Read a public list of groups of one column or several: group i is the i-th row.

    Columns have equal lengths, each in a form that `names_of` takes; if there are several, their
    keys need not be distinct.
    """
    if len(columns) == 1:
        return names_of(columns[0], argument)
    lists = [listed_keys(read(column, argument), argument) for column in columns]
    if len({names.size for names in lists}) > 1:
        raise ParameterError(f"{argument} must have columns of one length")
    names = TupleNames(*zip(*map(_numbered_names, lists), strict=True))
    repeated = names.twice()
    if repeated is not None:
        raise ParameterError(_again(names.labels()[repeated], argument))
    return names


def names_of_tuples(groups: object, width: int, argument: str = "groups") -> Names:
    """Read a public list of groups of several columns: distinct tuples of `width` keys."""
    wanted = f"{argument} must be a sequence of tuples of {width} keys, one of each column"
    if not isinstance(groups, (list, tuple)):
        raise ParameterTypeError(f"{wanted}, got an object of type {type(groups).__name__}")
    types = set(map(type, groups))
    wrong_type = next((kind for kind in types if not issubclass(kind, tuple)), None)
    if wrong_type is not None:
        raise ParameterTypeError(f"{wanted}, got an entry of type {wrong_type.__name__}")
    lengths = set(map(len, groups)) - {width}
    if lengths:
        raise ParameterError(f"{wanted}, got one of {min(lengths)}")
    columns = [[row[i] for row in groups] for i in range(width)]
    return names_of_columns(columns, argument)


def settled(names: Names, columns: Sequence[Any]) -> Names:
    """Return names chosen among the keys of columns, with types that other keys do not change.

    `columns` are the columns without rows, or [] if only rows tell the type of a column. Then an
    empty list of names has integers, and timestamps are in microseconds if these hold all of them.
    """
    pairs = zip(names.columns(), columns, strict=True)
    lists = [_settled(read(keys.values, "by"), read(column, "by")) for keys, column in pairs]
    return names_of_columns(lists, "by")


def _settled(keys: Keys, known: Keys) -> Keys:
    if not keys.size:
        return known
    for unit in ("us", *TICKS) if keys.unit and not known.kind else ():
        numbers, _ = in_unit(keys.values, keys.unit, unit)
        if numbers.size == keys.size:
            return replace(keys, values=numbers, unit=unit)
    return keys


def listed_keys(keys: Keys, argument: str) -> KeyNames:
    """Return the keys of a public list in order, possibly with repetitions."""
    numbers = keys.numbers(argument, ParameterError)
    if keys.valid is not None and not keys.valid.all():
        raise ParameterError(f"{argument} must not hold missing names")
    if keys.kind == "text":
        return KeyNames("text", [keys.texts[i] for i in numbers.tolist()])
    return KeyNames(keys.kind or "integers", numbers.copy(), keys.unit)  # a list may change


def _numbered_names(names: KeyNames) -> tuple[KeyNames, IntArray]:
    """Return the distinct keys, and the place of each key among them."""
    if names.kind == "text":
        place = {text: i for i, text in enumerate(dict.fromkeys(names.texts))}
        return KeyNames("text", list(place)), np.array(
            [place[text] for text in names.texts], np.int64
        )
    numbers, index = np.unique(names.numbers, return_inverse=True)
    return KeyNames(names.kind, numbers, names.unit), index.astype(np.int64, copy=False)


def _again(label: object, argument: str) -> str:
    return f"{argument} must not name a group twice, got {label!r} again"
