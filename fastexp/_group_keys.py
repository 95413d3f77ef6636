r"""Keys of groups: the public list, which of its names a row has, and the keys that occur.

A key is an integer within int64 or a text. Integers of all dtypes are one kind of keys, and so
are all texts; 1 and "1" are two keys. Texts are equal if their code points are: different
normal forms of one word are different keys. The empty text is a key. NumPy's arrays of texts
of fixed width cannot hold the character 0 at the end of a text: there, "a\0" is "a" already.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ._group_names import Names
from ._key_columns import KEYS, Integers, Rows, is_text, read
from ._key_values import by_sorting, listed, present
from ._scan import in_parts
from ._typing import IntArray
from .errors import ParameterError, ParameterTypeError

LEAST = 1 << 16  # rows of a thread: fewer are not worth one

__all__ = ["Names", "codes_of", "distinct", "names_of"]


def names_of(groups: Any, argument: str = "groups") -> Names:
    """Read a public list of groups.

    Parameters
    ----------
    groups
        Distinct integers within int64, or distinct texts: a list, tuple, range, array, series,
        index, categorical or Arrow array.
    argument
        What messages call it.

    Returns
    -------
    Names
        The groups in the order of the list.

    Raises
    ------
    ParameterTypeError
        If it is no list, or holds anything but integers only or texts only.
    ParameterError
        If a group is missing, named twice, beyond int64 or no text in UTF-8.

    Examples
    --------
    >>> names_of(["north", "south", ""]).labels()
    ['north', 'south', '']
    >>> names_of([3, 1, 3])
    Traceback (most recent call last):
        ...
    fastexp.errors.ParameterError: groups must not name a group twice, got 3 again
    """
    chunks = read(groups, argument)
    found = [listed(rows, argument) for rows in chunks]
    if _text(chunks, argument):
        texts = tuple(text for part in found for text in part)
        if len(set(texts)) < len(texts):
            _twice(texts, argument)
        return Names(None, texts)
    integers = np.concatenate([np.asarray(part, np.int64) for part in found])
    rising = bool((integers[1:] > integers[:-1]).all())  # as lists often are
    ordered = integers if rising else np.sort(integers)
    if not rising and bool((ordered[1:] == ordered[:-1]).any()):
        _twice(tuple(integers.tolist()), argument)
    return Names(integers)


def codes_of(keys: Any, names: Names, argument: str = "by", threads: int = 1) -> IntArray:
    """Find the place of each row's key in a public list.

    Parameters
    ----------
    keys
        One column of n keys, of the kind that the list has, in any form; they are private.
    names
        The list.
    argument
        What messages call the keys.
    threads
        How many ranges of integers are looked up at the same time.

    Returns
    -------
    ndarray of int64, shape (n,)
        Places from 0 on; -1 for a key that is missing, not listed or beyond int64.

    Raises
    ------
    ParameterTypeError
        If the keys are of another kind. The message does not depend on their values.

    Notes
    -----
    Row i's code is a function of its key and the list alone. Lists that fill a fair part of a
    range of integers are looked up in a table of that range, others by a hash with a secret
    word. A dictionary's entries are looked up once each.

    Examples
    --------
    >>> codes_of(["b", "a", None, "c", "b"], names_of(["a", "b"])).tolist()
    [1, 0, -1, -1, 1]
    """
    chunks = read(keys, argument)
    text = _text(chunks, argument)
    if names.size and text not in (None, names.text):
        kind = "texts" if names.text else "integers"
        raise ParameterTypeError(f"{argument} must hold {kind}, as the list of groups does")
    return _filled(chunks, names, threads)


def distinct(keys: Any, argument: str) -> tuple[IntArray, Names]:
    """Number the keys that occur, in an order that does not depend on the rows'.

    Parameters
    ----------
    keys
        One column of n keys, as `codes_of` takes them.
    argument
        What messages call it.

    Returns
    -------
    ids : ndarray of int64, shape (n,)
        Each row's number, -1 for a missing key.
    names : Names
        The keys by number, in increasing order (of texts: by code points). They are as private
        as the rows.

    Raises
    ------
    ParameterTypeError
        If the keys are of another kind.
    InvalidRecords
        If an integer is beyond int64, or a text is no UTF-8.

    Examples
    --------
    >>> ids, names = distinct([30, 10, None, 30], "person")
    >>> ids.tolist(), names.labels()
    ([1, 0, -1, 1], [10, 30])
    """
    chunks = read(keys, argument)
    apart = by_sorting(chunks)
    if apart is not None:
        return apart[0], Names(apart[1])
    found = [present(rows, argument) for rows in chunks]
    if _text(chunks, argument):
        names = Names(None, tuple(sorted({text for part in found for text in part})))
    else:
        names = Names(np.unique(np.concatenate([np.asarray(part, np.int64) for part in found])))
    return _filled(chunks, names), names


def _text(chunks: list[Rows], argument: str) -> bool | None:
    """Whether the keys of all chunks are texts; None if there are none."""
    kinds = {kind for kind in map(is_text, chunks) if kind is not None}
    if len(kinds) > 1:
        raise ParameterTypeError(KEYS.format(argument))
    return kinds.pop() if kinds else None


def _filled(chunks: list[Rows], names: Names, threads: int = 1) -> IntArray:
    out, first = np.empty(sum(rows.length for rows in chunks), np.int64), 0
    for rows in chunks:
        own = out[first : first + rows.length]
        if threads > 1 and isinstance(rows, Integers) and rows.length >= LEAST * threads:
            _by_threads(rows, names, own, threads)
        else:
            names.fill(rows, own)
        first += rows.length
    return out


def _by_threads(rows: Integers, names: Names, out: IntArray, threads: int) -> None:
    names.fill(Integers(0, None, rows.values[:0]), out[:0])  # makes the table that all share

    def part(first: int, last: int) -> int:
        valid = None if rows.valid is None else rows.valid[first:last]
        names.fill(Integers(last - first, valid, rows.values[first:last]), out[first:last])
        return 0

    in_parts(part, rows.length, threads)


def _twice(labels: tuple[Any, ...], argument: str) -> NoReturn:
    seen: set[Any] = set()
    for label in labels:
        if label in seen:
            raise ParameterError(f"{argument} must not name a group twice, got {label!r} again")
        seen.add(label)
    raise AssertionError
