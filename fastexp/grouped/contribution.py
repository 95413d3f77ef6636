"""What one person may contribute: which of their rows count, where they have too many.

Of each person at most so many groups count, and at most so many rows in each of them. The
choice is a keyed hash's: of a person's groups those with the smallest digests of the person's
and the group's names, of their rows in a group those with the smallest digests of these names
and the row's value. So it is uniform to whoever does not have the key, and a function of the
person's own rows: other people's rows, orders, chunks and engines do not matter. That is what
group privacy asks for: a person who joins or leaves changes max_groups * max_rows rows at most.
"""

from __future__ import annotations

import hashlib

import numpy as np

from .._randomness.release_key import ReleaseKey, digests_of, query_digest, secret_words
from .._randomness.streams import UINT64, _os_bytes
from .._typing import AnyArray, IntArray, WordArray
from ..kernels.groups.contribution import beyond_limits, mark_smallest, number_pairs
from .grouping import differing, gather

KEY_BYTES = 32
PERSONS = b"fastexp.persons"
NO_ROWS = np.zeros(0, np.int64)
CHUNK = 1 << 15  # rows that are digested at once: their messages stay in the cache


def release_choice(key: ReleaseKey | None, mechanism: object, label: str) -> bytes:
    """The key of a release's choice: the same for the same question; fresh without a key."""
    if key is None:
        return _os_bytes(KEY_BYTES)
    secret, question = secret_words(key).tobytes(), query_digest(mechanism, label).tobytes()
    return hashlib.blake2b(PERSONS + question, digest_size=KEY_BYTES, key=secret).digest()


def sample_choice(seed: WordArray) -> bytes:
    """The key of a simulation's choice, from its own key of two words."""
    return hashlib.blake2b(seed.tobytes(), digest_size=KEY_BYTES, person=PERSONS).digest()


def keep(
    codes: IntArray,
    persons: IntArray,
    person_words: WordArray,
    name_words: WordArray,
    mapped: IntArray,
    max_groups: int,
    max_rows: int,
    key: bytes,
    threads: int = 1,
) -> AnyArray:
    """Which rows count, of these groups and persons by number; none of group or person -1.

    `person_words` and `name_words` are what persons and groups are called in digests, four words
    each, `mapped` each row's value, as the mechanism reads it. Rows of a person and a group with
    equal values are one like the other: how many of them count does not depend on their order. The
    key is of `release_choice` or `sample_choice`.
    """
    counts: AnyArray = (codes >= 0) & (persons >= 0)
    limits, digested = (max_groups, max_rows), (person_words, name_words)
    rows = _beyond(codes, persons, counts, limits, (len(person_words), len(name_words)), threads)
    if rows.size:
        secret = np.frombuffer(key, UINT64)
        counts[rows] = _chosen(persons[rows], codes[rows], mapped[rows], digested, limits, secret)
    return counts


def _beyond(
    codes: IntArray,
    persons: IntArray,
    eligible: AnyArray,
    limits: tuple[int, int],
    sizes: tuple[int, int],
    threads: int,
) -> IntArray:
    """The rows that may count of persons beyond a limit."""
    people, groups = sizes
    everyone = bool(eligible.all())
    many = np.bincount(persons if everyone else persons[eligible], minlength=people)
    some = many > min(limits)
    if not some.any():
        return NO_ROWS
    if not (everyone and some.all()):  # person -1 has no row that may count
        persons = np.where(eligible & some[persons], persons, -1)
    of_person, offsets = gather(persons, codes, people, threads)
    beyond = np.empty(people, np.int64)
    beyond_limits(of_person, offsets, limits[0], limits[1], _table(groups), beyond)
    if not beyond.any():
        return NO_ROWS
    return np.flatnonzero((persons >= 0) & (beyond == 1)[persons])


def _chosen(
    persons: IntArray,
    codes: IntArray,
    mapped: IntArray,
    words: tuple[WordArray, WordArray],
    limits: tuple[int, int],
    secret: WordArray,
) -> AnyArray:
    """Which of these rows count; they are all rows of their persons that may."""
    people, groups = len(words[0]), len(words[1])
    order, offsets = gather(persons, np.arange(persons.size), people)
    pair, size, group = (np.empty(persons.size, np.int64) for _ in range(3))
    first = np.empty(people + 1, np.int64)
    number_pairs(codes[order], offsets, _table(groups), pair, size, group, first)
    size, group = size[: first[-1]], group[: first[-1]]
    # Too many groups of a person: some of the pairs.
    many = np.diff(first)
    owner = np.repeat(np.arange(people), many)
    counts = np.ones(size.size, np.bool_)
    crowd = np.flatnonzero((many > limits[0])[owner])
    digests = _digests(secret, words, owner[crowd], group[crowd])
    counts[crowd] = _smallest(digests, owner[crowd], limits[0])
    # Too many rows in a pair that counts: some of the rows.
    chosen = counts[pair]
    crowd = np.flatnonzero((counts & (size > limits[1]))[pair])
    crowd = crowd[np.lexsort((mapped[order[crowd]], pair[crowd]))]
    value, pair = mapped[order[crowd]], pair[crowd]
    equal = _places(_starts(pair, value), crowd.size)  # 0, 1, ... among rows that are equal
    digests = _digests(secret, words, owner[pair], group[pair], value, equal)
    chosen[crowd] = _smallest(digests, pair, limits[1])
    out = np.empty(order.size, np.bool_)
    out[order] = chosen
    return out


def _digests(
    secret: WordArray,
    words: tuple[WordArray, WordArray],
    persons: IntArray,
    codes: IntArray,
    *more: IntArray,
) -> WordArray:
    """64 bits of a keyed digest of a person, a group and further words, for each of many."""
    out = np.empty(persons.size, np.uint64)
    for a in range(0, persons.size, CHUNK):
        part = slice(a, a + CHUNK)
        message = np.empty((persons[part].size, 8 + len(more)), np.uint64)
        message[:, :4] = words[0].reshape(-1, 4)[persons[part]]
        message[:, 4:8] = words[1].reshape(-1, 4)[codes[part]]
        for i, column in enumerate(more):
            message[:, 8 + i] = column[part].view(np.uint64)
        out[part] = digests_of(message, secret)[::4]
    return out


def _smallest(digests: WordArray, owners: IntArray, most: int) -> AnyArray:
    """Which digests are among the `most` smallest of their owner, whose entries are together."""
    offsets = np.append(_starts(owners), owners.size)
    work = np.empty(np.diff(offsets, prepend=0).max(), np.uint64)
    mark_smallest(digests, offsets, most, work)
    marked: AnyArray = digests == 1
    return marked


def _table(groups: int) -> IntArray:
    return np.full(2 * groups, -1)


def _starts(*columns: IntArray) -> IntArray:
    """Where runs of entries that are equal in all columns begin."""
    return np.flatnonzero(differing(columns))


def _places(first: IntArray, size: int) -> IntArray:
    """Each entry's place in its run, from 0 on."""
    return np.arange(size) - np.repeat(first, np.diff(first, append=size))
