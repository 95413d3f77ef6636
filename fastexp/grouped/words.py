"""Where the random words of groups come from: a simulation's key, a release key, the system.

A draw takes four words at first (`Round.first`), and the few that need more take them one
after the other. Simulated and keyed words are those of the group, whoever its neighbours are.
A draw that needs more words at once takes those of several draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from .._keys.group_names import Names
from .._randomness.release_key import (
    ReleaseKey,
    group_keys,
    query_digest,
    secret_words,
    segment_digests,
)
from .._randomness.streams import Spare, os_word, os_words
from .._typing import IntArray, WordArray
from ..kernels.groups import chacha20
from ..kernels.groups.chacha20 import BLOCK_WORDS
from ..kernels.groups.group_words import group_words

WORDS = 4
More = Callable[[], int]


class Round(Protocol):
    """The words of some groups."""

    first: WordArray  # WORDS for each draw of each group

    def more(self, group: int, draw: int, /) -> More:
        """Further words of a draw of the group with this place in the round."""
        ...


class Words(Protocol):
    """Words of all groups."""

    keyed: bool  # whether they depend on the records

    def round(
        self, first: int, last: int, size: int, mapped: IntArray, offsets: IntArray, /
    ) -> Round:
        """The words of groups first..last - 1, from their sorted grid indices where `keyed`."""
        ...


class FreshWords:
    """The operating system's, for a release without a key."""

    keyed = False

    def round(self, first: int, last: int, size: int, *_: object) -> Round:
        """Words that nobody can repeat."""
        return _Fresh(os_words(WORDS * size * (last - first)))


class _Fresh:
    def __init__(self, first: WordArray) -> None:
        self.first = first

    def more(self, *_: object) -> More:
        return os_word


class SimulatedWords:
    """Words of each group's stream, under the two words of a simulation's key."""

    keyed = False

    def __init__(self, key: WordArray, names: Names) -> None:
        self._key = key
        self._tags, self._names = names.streams()

    def round(self, first: int, last: int, size: int, *_: object) -> Round:
        """Words by name."""
        out = np.empty(WORDS * size * (last - first), np.uint64)
        streams = np.empty(2 * (last - first), np.uint64)
        tags, names = self._tags[first:last], self._names[first:last]
        group_words(self._key, tags, names, size, out, streams)
        return _Simulated(out, streams)


class _Simulated:
    def __init__(self, first: WordArray, streams: WordArray) -> None:
        self.first, self._streams = first, streams

    def more(self, group: int, draw: int) -> More:
        return Spare(self._streams[2 * group : 2 * group + 2], draw + 1, 0)


class KeyedWords:
    """BLAKE2b of key, query, group and records, expanded by ChaCha20: a retry repeats them."""

    keyed = True

    def __init__(
        self, key: ReleaseKey, mechanism: object, label: str, rule: str, names: Names
    ) -> None:
        self._secret, self._query = secret_words(key), query_digest(mechanism, label, rule)
        self._names = names.name_words()

    def round(self, first: int, last: int, size: int, mapped: IntArray, offsets: IntArray) -> Round:
        """Words of these records: a release draws once, whatever number of words it takes."""
        digests = segment_digests(mapped, offsets)
        keys = group_keys(self._secret, self._query, self._names[first:last].reshape(-1), digests)
        count = WORDS * size
        per = -(-count // BLOCK_WORDS) * BLOCK_WORDS
        words, work = np.empty(per * (last - first), np.uint64), np.empty(chacha20.WORK, np.uint64)
        chacha20.chacha_words(keys, per, words, work)
        return _Keyed(words.reshape(-1, per)[:, :count].reshape(-1), keys, count)


class _Keyed:
    def __init__(self, first: WordArray, keys: WordArray, count: int) -> None:
        self.first, self._keys, self._count = first, keys, count

    def more(self, group: int, draw: int) -> More:  # noqa: ARG002  # a release has one draw
        key = self._keys[4 * group : 4 * group + 4]

        def words() -> Iterator[int]:
            block, skip = divmod(self._count, BLOCK_WORDS)
            while True:
                out = np.empty(BLOCK_WORDS, np.uint64)
                chacha20.chacha_from(key, block, out)
                yield from out.tolist()[skip:]
                block, skip = block + 1, 0

        return words().__next__
