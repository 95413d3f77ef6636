"""Which rows count, if each person may count in a few groups only, with a few rows in each.

Which rows of a person count is a function of the person's own rows and of a secret: other people's
rows, the order of rows and how they are split do not matter. So for each secret one person more
changes at most max_groups * max_rows rows that count, which is all that a promise needs: it would
hold if the secret were known. The secret makes the choice uniform. That is why words of Philox will
do, and a name of 64 bits for each person: two persons of one name would only choose alike.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from ..kernels.rows import choose_rows
from ..types import Array, Integers, Words
from .keys import Persons
from .segments import in_order

LONGEST = 18  # digits of texts that are named as the integers that they are


def rows_within_limits(
    persons: Persons,
    groups: Integers,
    count: int,
    values: Array,
    secret: Words,
    max_groups: int,
    max_rows: int,
) -> Array:
    """Return a mask of the rows that count, at most max_rows in each of max_groups groups.

    Parameters
    ----------
    persons : Persons
        The person of each row.
    groups : array of int64
        The code of each row's group, below `count`; -1 for none, as for persons. The order of two
        codes must not depend on other rows: they are places in a public list or a sorted one.
    values : array of 64 bits
        What is counted or averaged. Rows of one person and group with equal values are
        interchangeable: how many of them count depends on no order.
    secret : array of two uint64
        Fixed before the rows are read; the choice is the same whenever it is made again.
    """
    codes, ids = persons
    counts = (codes >= 0) & (groups >= 0)
    sizes = np.bincount(codes[counts], minlength=ids.size)
    who = np.flatnonzero(sizes > min(max_groups, max_rows))
    if who.size:
        rows = np.flatnonzero(counts & (sizes > min(max_groups, max_rows))[codes])
        rows = rows[np.argsort(values[rows])]
        rows, _ = in_order(groups[rows], rows, count)
        rows, offsets = in_order(codes[rows], rows, ids.size)
        out = np.empty(rows.size, np.int64)
        ends, names = np.append(offsets[who], rows.size), names_of(ids[who])
        choose_rows(groups[rows], ends, names, secret, max_groups, max_rows, out)
        counts[rows] = out == 1
    return counts


def names_of(ids: Array) -> Words:
    """Return a word for each id: of an integer itself, also if it is written as text."""
    if ids.dtype != object:
        return ids.view(np.uint64)
    words = [
        blake2b(key.encode(errors="surrogatepass"), digest_size=8).digest()
        if isinstance(key, str) and not (key.removeprefix("-").isdecimal() and len(key) <= LONGEST)
        else (int(key) % (1 << 64)).to_bytes(8, "little")
        for key in ids.tolist()
    ]
    return np.frombuffer(b"".join(words), np.uint64)
