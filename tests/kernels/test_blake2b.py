"""Are the kernel's digests those of hashlib, whatever lies side by side?"""

from __future__ import annotations

import hashlib
import itertools

import numpy as np

from tests.doors.kernels import blake2b as kernels
from tests.support.each import each

NO_KEY = np.zeros(0, np.uint64)
ENDS = [0, -1, 1, 2**63 - 1, -(2**63), 2**32, -(2**32)]


def digests(messages, offsets, key=NO_KEY):
    """What the kernel gives, a row a segment; its scratch holds garbage before."""
    out = np.full(4 * (len(offsets) - 1) + 4, 77, np.uint64)
    work = np.full(kernels.WORK, 2**64 - 5, np.uint64)
    kernels.digest_segments(messages, np.asarray(offsets, np.int64), key, out[:-4], work)
    assert (out[-4:] == 77).all()  # nothing is written behind the last one
    return [row.tobytes() for row in out[:-4].reshape(-1, 4)]


def expected(messages, offsets, key=NO_KEY):
    pairs = itertools.pairwise(offsets)
    how = {"digest_size": 32, "key": key.tobytes()}
    return [
        hashlib.blake2b(messages[a:b].astype("<i8").tobytes(), **how).digest() for a, b in pairs
    ]


def some_words(count, seed=0):
    return np.random.default_rng(seed).integers(-(2**63), 2**63 - 1, count, endpoint=True)


SECRET = some_words(4, 9).view(np.uint64)


@each("words", range(67))
def test_one_message_of_every_length(words):
    message = some_words(words, words)
    assert digests(message, [0, words]) == expected(message, [0, words])
    if words:
        assert digests(message, [0, words], SECRET) == expected(message, [0, words], SECRET)


@each("count", [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 64, 301])
@each("longest", [1, 17, 40])
def test_any_number_of_messages_side_by_side(count, longest):
    rng = np.random.default_rng(count)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, longest, count, endpoint=True))])
    messages = some_words(int(offsets[-1]), count)
    assert digests(messages, offsets) == expected(messages, offsets)
    sizes = 1 + np.diff(offsets)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    messages = some_words(int(offsets[-1]), count + 1)
    assert digests(messages, offsets, SECRET) == expected(messages, offsets, SECRET)


@each("place", [0, 3, 7, 8, 20])
def test_a_long_message_among_short_ones(place):
    sizes = np.ones(21, np.int64)
    sizes[place] = 5000
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    messages = some_words(int(offsets[-1]))
    assert digests(messages, offsets) == expected(messages, offsets)


def test_extreme_words_and_words_that_no_segment_holds():
    messages = np.array(ENDS * 9)
    offsets = [3, 3, 20, 21, 37, 37, 53]
    assert digests(messages, offsets) == expected(messages, offsets)


def test_equal_messages_have_equal_digests_and_order_counts():
    messages = np.array([1, 2, 3, 1, 2, 3, 3, 2, 1])
    first, again, turned = digests(messages, [0, 3, 6, 9])
    assert first == again != turned


def test_read_only_messages():
    messages = some_words(40)
    messages.flags.writeable = False
    assert digests(messages, [0, 40]) == expected(messages, [0, 40])


def test_keys_differ():
    messages = some_words(12)
    other = SECRET.copy()
    other[3] ^= np.uint64(1)
    found = {digests(messages, [0, 12], key)[0] for key in (NO_KEY, SECRET, other)}
    assert len(found) == 3
