"""All combinations of the keys of some columns, as a public list of groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._parameters.text import printable
from ..errors import ParameterError
from .group_lists import names_of
from .group_names import KeyNames, Names, TupleNames

MAX_GROUPS = 1 << 31  # groups: even the numbers of more would hardly fit into memory
SHOWN = 3  # keys of a column in `repr`


@dataclass(frozen=True, repr=False)
class Product:
    """All combinations of the keys of some columns; made by `product`.

    Parameters
    ----------
    names : tuple of str
        The columns.
    keys : tuple of KeyNames
        The distinct keys of each column.

    Examples
    --------
    >>> import fastexp as fx
    >>> groups = fx.product(city=["Rome", "Oslo"], year=range(2020, 2027))
    >>> groups
    product(city=['Rome', 'Oslo'], year=[2020, 2021, ..., 2026])
    >>> groups.names, groups.sizes, len(groups), next(iter(groups))
    (('city', 'year'), (2, 7), 14, ('Rome', 2020))
    """

    names: tuple[str, ...]
    keys: tuple[KeyNames, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of keys of each column."""
        return tuple(keys.size for keys in self.keys)

    def __len__(self) -> int:
        return math.prod(self.sizes)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Return the groups as tuples; the first column varies slowest."""
        return itertools.product(*(keys.labels() for keys in self.keys))

    def __repr__(self) -> str:
        columns = (
            f"{n}={_abbreviated(k.labels())}" for n, k in zip(self.names, self.keys, strict=True)
        )
        return printable(f"product({', '.join(columns)})")

    def group_names(self, by: Sequence[str] | None = None) -> Names:
        """Return the groups as names, with their keys in the order of the columns `by`."""
        order = [self.names.index(name) for name in by or self.names]
        if len(order) == 1:
            return self.keys[order[0]]
        index = []
        for i, size in enumerate(self.sizes):
            before, behind = math.prod(self.sizes[:i]), math.prod(self.sizes[i + 1 :])
            index.append(np.tile(np.repeat(np.arange(size), behind), before))
        return TupleNames([self.keys[i] for i in order], [index[i] for i in order])


def product(**columns: object) -> Product:
    """Return all combinations of the keys of some columns, as the public list of groups.

    Parameters
    ----------
    **columns : array_like
        The distinct keys of each column: integers, text, booleans, dates or timestamps, in a list,
        range, array, series or Arrow array. They are public: do not take them from the data.

    Returns
    -------
    Product
        With `names`, `sizes` and a length. Iteration gives tuples, and the first column varies
        slowest: all groups of its first key come before those of its second key.

    Raises
    ------
    ParameterTypeError, ParameterError
        If there is no column, a column holds anything else or a key twice, or there are more
        than 2**31 groups.

    Notes
    -----
    For a `Query`, the names must be those of `by`, in any order. For ``release(..., by=[...])``,
    the columns must be those of `by` in their order. No list of tuples is built.

    Examples
    --------
    >>> import fastexp as fx
    >>> groups = fx.product(city=["Rome", "Oslo"], year=range(2020, 2022))
    >>> list(groups)
    [('Rome', 2020), ('Rome', 2021), ('Oslo', 2020), ('Oslo', 2021)]
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=10)
    >>> rents, city, year = [700, 900] * 80, ["Rome", "Oslo"] * 80, [2020] * 160
    >>> len(median.release(rents, by=[city, year], groups=groups))
    4
    """
    if not columns:
        raise ParameterError("product must be given a column or more, as city=[...]")
    groups = Product(tuple(columns), tuple(names_of(keys, name) for name, keys in columns.items()))
    if math.prod(groups.sizes) > MAX_GROUPS:
        raise ParameterError(f"product must have at most {MAX_GROUPS} groups")
    return groups


def _abbreviated(labels: list[Any]) -> str:
    """Return the first keys and the last one as text."""
    texts = [repr(label) for label in labels]
    if len(texts) > SHOWN:
        texts = [*texts[: SHOWN - 1], "...", texts[-1]]
    return f"[{', '.join(texts)}]"
