"""Sources of the random words of groups: a simulation's key, a release key, the system.

A round has the words of some groups: WORDS for each draw of each group, and a function of a
group's place in the round and a draw. It supplies further words, one after the other, to the few
draws that need them. Simulated and keyed words depend on the group, not on its neighbours. A draw
that needs more words at once takes those of several draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any, TypeAlias

import numpy as np

from .._keys.group_names import Names
from .._randomness.release_key import group_keys, segment_digests
from .._randomness.streams import Spare, os_word, os_words
from .._typing import IntArray, WordArray
from ..kernels.groups import chacha20
from ..kernels.groups.chacha20 import BLOCK_WORDS
from ..kernels.groups.group_words import group_words
from ..reference.exact import NextWord

WORDS = 4
Round: TypeAlias = tuple[WordArray, Callable[[int, int], NextWord]]


class FreshWords:
    """Words of the operating system, for a release without a key: nobody can repeat them."""

    keyed = False

    def round(self, first: int, last: int, size: int, *_: object) -> Round:
        """Return the words of groups first..last - 1."""
        return os_words(WORDS * size * (last - first)), lambda *_: os_word


class SimulatedWords:
    """Words of each group's stream, under the two words of a simulation's key."""

    keyed = False

    def __init__(self, key: WordArray, names: Names) -> None:
        self._key = key
        self._tags, self._names = names.streams()

    def round(self, first: int, last: int, size: int, *_: object) -> Round:
        """Return the words of groups first..last - 1."""
        words, groups = np.empty(WORDS * size * (last - first), np.uint64), slice(first, last)
        streams = np.empty(2 * (last - first), np.uint64)
        group_words(self._key, self._tags[groups], self._names[groups], size, words, streams)
        return words, lambda g, draw: Spare(streams[2 * g : 2 * g + 2], draw + 1, 0)


class KeyedWords:
    """BLAKE2b of a question's key, group and records, expanded by ChaCha20: a retry repeats them.

    The key is that of `question_key`.
    """

    keyed = True  # they depend on the records

    def __init__(self, key: WordArray, names: Names) -> None:
        self._key, self._names = key, names.name_words()

    def round(self, first: int, last: int, size: int, points: Any, offsets: IntArray) -> Round:
        """Return the words of groups first..last - 1, given their sorted grid indices.

        A release draws once, whatever number of words it takes.
        """
        digests = segment_digests(points, offsets)
        keys = group_keys(self._key, self._names[first:last], digests)
        block, rest = divmod(WORDS * size, BLOCK_WORDS)
        per = BLOCK_WORDS * (block + (rest > 0))
        words, work = np.empty(per * (last - first), np.uint64), np.empty(chacha20.WORK, np.uint64)
        chacha20.chacha_words(keys, per, words, work)

        def later(key: WordArray) -> Iterator[int]:
            block_words = np.empty(BLOCK_WORDS, np.uint64)
            for number in count(block):
                chacha20.chacha_from(key, number, block_words)
                yield from block_words.tolist()

        def supply(g: int, _draw: int) -> NextWord:
            return islice(later(keys[4 * g : 4 * g + 4]), rest, None).__next__

        return words.reshape(-1, per)[:, : WORDS * size].reshape(-1), supply


WordSource: TypeAlias = FreshWords | SimulatedWords | KeyedWords
