"""What functions of DuckDB's SQL do with a chunk: groups and lists of records to answers."""

from __future__ import annotations

import secrets
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._group_keys import codes_of, distinct
from .._group_names import Names
from .._typing import AnyArray, IntArray, WordArray
from ..errors import ParameterError, ParameterTypeError
from .arrow import answer_column, plain
from .call import Call

TAKES = "{} takes a group and a list of records"
UNLISTED = (
    "{} answers the groups of its public list only: start the query from that list, and join the "
    "lists of records to it"
)
OTHERS = (
    "{} has answered from other records before: one registration is one release, and other "
    "records need another"
)
MIX = (30, 0xBF58476D1CE4E5B9, 27, 0x94D049BB133111EB, 31)  # splitmix64


def answers(function: str, call: Call, columns: tuple[Any, ...], once: Once | None = None) -> Any:
    """One answer a row, NULL where the group is.

    columns: the groups, and lists of records. once: what was answered before.
    """
    if len(columns) != 2:
        raise ParameterTypeError(f"{TAKES.format(function)}, got {len(columns)} arguments")
    groups, lists = columns
    if call.names is None:
        codes, names = distinct(groups, "group")
    else:
        codes, names = codes_of(groups, call.names, "group"), call.names
        if bool((codes[groups.is_valid().to_numpy()] < 0).any()):
            raise ParameterError(UNLISTED.format(function))
    there = codes >= 0
    every = bool(there.all())
    records, offsets = flat(function, lists if every else lists.filter(pa.array(there)))
    codes = codes if every else codes[there]
    own = named(names, codes)
    found = call.segments(records, offsets, own)
    if once is not None:
        once.check(own, codes, records, offsets)
    answered = answer_column(call, found)
    if every:
        return answered
    places = np.cumsum(there) - 1
    return answered.take(pa.array(places, mask=~there))


def flat(function: str, lists: pa.ChunkedArray) -> tuple[Any, IntArray]:
    """The records of lists one after the other, and where those of each begin."""
    kind = lists.type
    if pa.types.is_null(kind):  # of a NULL literal
        return pa.array([], pa.int64()), np.zeros(len(lists) + 1, np.int64)
    if not (
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    ):
        raise ParameterTypeError(f"{TAKES.format(function)}, got {kind}")
    whole = lists.chunk(0) if lists.num_chunks == 1 else lists.combine_chunks()
    offsets = np.zeros(len(whole) + 1, np.int64)
    np.cumsum(pc.fill_null(pc.list_value_length(whole), 0).to_numpy(), out=offsets[1:])
    return plain(whole.flatten()), offsets  # without those of a list that is NULL


def named(names: Names, codes: IntArray) -> Names:
    """The groups of rows; a group may be that of several."""
    if names.texts is None:
        return Names(None if names.integers is None else names.integers[codes])
    texts = names.texts
    return Names(None, tuple([texts[code] for code in codes.tolist()]))


class Once:
    """Remembers from which records a release has answered each group, by 64-bit digests.

    They notice other records by mistake; whoever knows them cannot find others, either, since
    they begin from a secret word.
    """

    def __init__(self, call: Call, function: str) -> None:
        self._mechanism, self._nan, self._function = call.mechanism, call.nan, function
        self._secret = np.uint64(secrets.randbits(64))
        # By code of the public list, 0 for none; or by what the group is called.
        self._known = np.zeros(0 if call.names is None else call.names.size, np.uint64)
        self._seen: dict[Any, int] | None = {} if call.names is None else None
        self._lock = Lock()

    def check(self, names: Names, codes: IntArray, records: Any, offsets: IntArray) -> None:
        """Refuse a group's other records."""
        digests = self._digests(records, offsets)
        with self._lock:
            former = self._former(names, codes, digests)
        if bool((former != digests).any()):
            raise ParameterError(OTHERS.format(self._function))

    def _former(self, names: Names, codes: IntArray, digests: WordArray) -> WordArray:
        """The first digest of each group; these, where there was none."""
        if self._seen is None:
            new = self._known[codes] == 0
            self._known[codes[new]] = digests[new]
            former: WordArray = self._known[codes]
            return former
        pairs = zip(names.labels(), digests.tolist(), strict=True)
        return np.array([self._seen.setdefault(*pair) for pair in pairs], np.uint64)

    def _digests(self, records: Any, offsets: IntArray) -> WordArray:
        """Sums of the words of each group's records, as the mechanism reads them."""
        values, missing = self._mechanism._read(records, self._nan)
        if missing is not None:
            values = np.where(missing, 0, values)
        words: AnyArray = self._mechanism._place(np.ascontiguousarray(values)).view(np.uint64)
        words = words + self._secret
        for shift, factor in (MIX[0:2], MIX[2:4]):
            words ^= words >> np.uint64(shift)
            words *= np.uint64(factor)
        words ^= words >> np.uint64(MIX[4])
        if missing is not None:
            words[missing] = 0 if self._nan == "drop" else 1
        sums = np.zeros(words.size + 1, np.uint64)
        np.cumsum(words, out=sums[1:])
        found: WordArray = (sums[offsets[1:]] - sums[offsets[:-1]]) | np.uint64(1)  # not 0
        return found
