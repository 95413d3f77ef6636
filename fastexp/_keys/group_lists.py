"""The public list of groups, in whatever form: keys of one column, or tuples of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from .._typing import IntArray
from ..errors import ParameterError, ParameterTypeError
from .group_names import Names, TupleNames
from .key_columns import read
from .key_names import KeyNames
from .key_rows import Rows
from .key_values import in_one_unit, in_order, kind_of_all


def names_of(groups: object, argument: str = "groups") -> KeyNames:
    """Read a public list of groups of one column, in its order.

    It holds distinct keys of one kind, integers within int64: a list, tuple, range, array, series,
    index, categorical or Arrow array. Anything else is refused, and a group that is missing, named
    twice, beyond int64 or no text in UTF-8.
    """
    return _distinct(listed_keys(read(groups, argument), argument), argument)


def names_of_columns(columns: Sequence[Any], argument: str = "groups") -> Names:
    """Read a public list of groups of one column or several: group i is the i-th row.

    Columns are of equal lengths, each as `names_of` takes it; where there are several, their keys
    need not be distinct.
    """
    return names_of_chunks([read(column, argument) for column in columns], argument)


def names_of_chunks(columns: Sequence[list[Rows]], argument: str = "groups") -> Names:
    """The same of columns whose chunks were read already, of one part or many."""
    lists = [listed_keys(chunks, argument) for chunks in columns]
    if len(lists) == 1:
        return _distinct(lists[0], argument)
    if len({names.size for names in lists}) > 1:
        raise ParameterError(f"{argument} must have columns of one length")
    names = TupleNames(*zip(*map(_numbered_names, lists), strict=True))
    again = names.twice()
    if again is not None:
        raise ParameterError(_again(names.labels()[again], argument))
    return names


def names_of_tuples(groups: object, width: int, argument: str = "groups") -> Names:
    """Read a public list of groups of several columns: distinct tuples of `width` keys."""
    wanted = f"{argument} must be a sequence of tuples of {width} keys, one of each column"
    if not isinstance(groups, (list, tuple)):
        raise ParameterTypeError(f"{wanted}, got an object of type {type(groups).__name__}")
    odd = next((kind for kind in set(map(type, groups)) if not issubclass(kind, tuple)), None)
    if odd is not None:
        raise ParameterTypeError(f"{wanted}, got an entry of type {odd.__name__}")
    lengths = set(map(len, groups)) - {width}
    if lengths:
        raise ParameterError(f"{wanted}, got one of {min(lengths)}")
    columns = [[row[i] for row in groups] for i in range(width)]
    return names_of_columns(columns, argument)


def _distinct(names: KeyNames, argument: str) -> KeyNames:
    """The same, unless a key is there twice."""
    if names.kind == "text":
        if len(set(names.texts)) < names.size:
            _twice(names.labels(), argument)
        return names
    numbers = names.numbers
    rising = bool((numbers[1:] > numbers[:-1]).all())  # as lists often are
    ordered = numbers if rising else np.sort(numbers)
    if not rising and bool((ordered[1:] == ordered[:-1]).any()):
        _twice(names.labels(), argument)
    return names


def listed_keys(chunks: list[Rows], argument: str) -> KeyNames:
    """The keys of a public list in order, some of them twice perhaps."""
    keys = [in_order(rows, argument) for rows in chunks]
    kind = kind_of_all(chunks, argument)
    if kind == "text":
        return KeyNames(kind, [text for part in keys for text in part])
    return KeyNames(kind or "integers", *in_one_unit(chunks, keys, argument, ParameterError))


def _numbered_names(names: KeyNames) -> tuple[KeyNames, IntArray]:
    """The distinct ones among keys, in increasing order, and the place there of each."""
    if names.kind == "text":
        texts = sorted(set(names.texts))
        places = {text: i for i, text in enumerate(texts)}
        index = np.fromiter(map(places.__getitem__, names.texts), np.int64, names.size)
        return KeyNames("text", texts), index
    numbers, index = np.unique(names.numbers, return_inverse=True)
    return KeyNames(names.kind, numbers, names.unit), index.astype(np.int64, copy=False)


def _twice(labels: list[Any], argument: str) -> NoReturn:
    seen: set[Any] = set()
    for label in labels:
        if label in seen:
            raise ParameterError(_again(label, argument))
        seen.add(label)
    raise AssertionError


def _again(label: object, argument: str) -> str:
    return f"{argument} must not name a group twice, got {label!r} again"
