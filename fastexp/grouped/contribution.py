"""Which records count: those of listed groups that are not missing, within each person's limits.

Each person counts in at most max_groups groups, with at most max_rows rows in each. A keyed hash
chooses among more: it keeps the groups with the smallest digests of the person's and the group's
names, and in a group the rows with the smallest digests of these names and the row's value. So
the choice is uniform to anyone without the key, and a function of the person's own rows: other
people's rows, orders, chunks and engines do not matter. Group privacy needs this: a person who
joins or leaves changes at most max_groups * max_rows rows.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._intake import arrays
from .._keys.group_keys import numbered
from .._keys.group_names import KeyNames, Names
from .._keys.keys import HIGHEST, LOWEST, Keys
from .._randomness.release_key import ReleaseKey, digests_of, query_digest, secret_words
from .._randomness.streams import UINT64, _os_bytes
from .._typing import AnyArray, IntArray, WordArray
from ..errors import InvalidRecords
from ..kernels.groups.contribution import beyond_limits, mark_smallest, number_pairs
from .grouping import differing, gather
from .mechanism import GroupedMechanism

KEY_BYTES = 32
PERSONS = b"fastexp.persons"
INTEGER = re.compile("0|-?[1-9][0-9]{0,18}")
CHUNK_ROWS = 1 << 15  # rows that are digested at once: their messages stay in the cache


class Limits(NamedTuple):
    """The most groups in which a person counts, and the most records in each of them."""

    groups: int
    rows: int


class RowKeys(NamedTuple):
    """The group and the person of each record, by number: -1 for none."""

    codes: IntArray
    names: Names
    persons: IntArray | None = None  # None: each record is a person
    person_words: WordArray | None = None  # the words of persons in digests


def persons_of(keys: Keys) -> tuple[IntArray, WordArray]:
    """Return the number of each record's person, and the words of persons in digests.

    Texts that are written as integers have the words of these: in files of text, other rows
    decide whether a column is read as text.
    """
    numbers, people = numbered([keys], "person")
    words = people.name_words()
    if keys.kind == "text":
        integers = {
            i: int(text)
            for i, text in enumerate(people.labels())
            if INTEGER.fullmatch(text) and LOWEST <= int(text) <= HIGHEST
        }
        words = words.copy()
        ids = np.array([*integers.values()], np.int64)
        words[[*integers]] = KeyNames("integers", ids).name_words()
    return numbers, words


def present(
    codes: IntArray, values: AnyArray, missing: AnyArray | None, nan: str
) -> tuple[IntArray, AnyArray]:
    """Return the groups of records, -1 for those that `nan` leaves out; and records without gaps.

    Records that are left out do not compete for the limits of their person.
    """
    if missing is None or not missing.any():
        return codes, values
    if nan == "raise" and bool((missing & (codes >= 0)).any()):
        raise InvalidRecords(arrays.MISSING)
    if nan in ("raise", "drop"):
        return np.where(missing, -1, codes), values
    return codes, arrays.filled(values, missing, nan)


def bounded(
    rows: RowKeys,
    codes: IntArray,
    values: AnyArray,
    limits: Limits,
    mechanism: GroupedMechanism,
    choice: Callable[[], bytes],
) -> IntArray:
    """Return `codes`, with -1 for the rows that a person has beyond the limits.

    `choice` makes the key of the choice among too many; it is called only if there are persons.
    """
    if rows.persons is None or rows.person_words is None:
        return codes
    of_groups = codes >= 0
    if of_groups.all():
        points = mechanism._place(values)
    else:
        points = np.zeros(codes.size, np.int64)
        points[of_groups] = mechanism._place(values[of_groups])  # no gaps
    people, names = rows.person_words, rows.names.name_words()
    within = keep(codes, rows.persons, people, names, points, limits, choice())
    return np.where(within, codes, -1)


def release_choice(key: ReleaseKey | None, mechanism: object, label: str) -> bytes:
    """Return the key of a release's choice: the same for one question; fresh without a key."""
    if key is None:
        return _os_bytes(KEY_BYTES)
    secret, question = secret_words(key).tobytes(), query_digest(mechanism, label).tobytes()
    return hashlib.blake2b(PERSONS + question, digest_size=KEY_BYTES, key=secret).digest()


def sample_choice(seed: WordArray) -> bytes:
    """Return the key of a simulation's choice, from the simulation's key of two words."""
    return hashlib.blake2b(seed.tobytes(), digest_size=KEY_BYTES, person=PERSONS).digest()


def keep(
    codes: IntArray,
    persons: IntArray,
    person_words: WordArray,
    name_words: WordArray,
    points: IntArray,
    limits: Limits,
    key: bytes,
) -> AnyArray:
    """Return a mask of the rows that count, of groups and persons by number; none of number -1.

    `person_words` and `name_words` are the words of persons and groups in digests, four each;
    `points` is each row's value, as the mechanism reads it. Rows of a person and a group with
    equal values are interchangeable: how many of them count does not depend on their order. The
    key is that of `release_choice` or `sample_choice`.
    """
    counts: AnyArray = (codes >= 0) & (persons >= 0)
    people, secret = len(person_words), np.frombuffer(key, UINT64)
    everyone = bool(counts.all())
    many = np.bincount(persons if everyone else persons[counts], minlength=people) > min(limits)
    if not many.any():
        return counts
    if not (everyone and many.all()):  # person -1 has no row that may count
        persons = np.where(counts & many[persons], persons, -1)
    of_person, offsets = gather(persons, codes, people)
    exceeds, groups = np.empty(people, np.int64), np.full(2 * len(name_words), -1)
    beyond_limits(of_person, offsets, limits.groups, limits.rows, groups, exceeds)
    rows = np.flatnonzero((persons >= 0) & (exceeds == 1)[persons])
    rows, offsets = gather(persons[rows], rows, people)
    pair, size, group = (np.empty(rows.size, np.int64) for _ in range(3))
    first = np.empty(people + 1, np.int64)
    groups[:] = -1
    number_pairs(codes[rows], offsets, groups, pair, size, group, first)

    def smallest(most: int, owners: IntArray, pairs: IntArray, *columns: IntArray) -> AnyArray:
        """Return a mask of the `most` smallest digests of each owner, whose entries are adjacent.

        Digests have 64 bits of a keyed digest of a pair's person and group, and of further words.
        """
        digests = np.empty(owners.size, np.uint64)
        for a in range(0, owners.size, CHUNK_ROWS):
            chunk = pairs[a : a + CHUNK_ROWS]
            words = [column[a : a + CHUNK_ROWS].view(np.uint64) for column in columns]
            message = [person_words[owner[chunk]], name_words[group[chunk]], *words]
            digests[a : a + CHUNK_ROWS] = digests_of(np.column_stack(message), secret)[::4]
        offsets = np.append(np.flatnonzero(differing([owners])), owners.size)
        work = np.empty(np.diff(offsets, prepend=0).max(), np.uint64)
        mark_smallest(digests, offsets, most, work)
        marked: AnyArray = digests == 1
        return marked

    # Persons with too many groups keep some of their pairs.
    many = np.diff(first)
    size, owner = size[: first[-1]], np.repeat(np.arange(people), many)
    pairs = np.flatnonzero((many > limits.groups)[owner])
    within = np.ones(size.size, np.bool_)
    within[pairs] = smallest(limits.groups, owner[pairs], pairs)
    # Pairs that count and have too many rows keep some of them.
    chosen = within[pair]
    crowd = np.flatnonzero((within & (size > limits.rows))[pair])
    crowd = crowd[np.lexsort((points[rows[crowd]], pair[crowd]))]
    value, pair, place = points[rows[crowd]], pair[crowd], np.arange(crowd.size)
    start = np.maximum.accumulate(np.where(differing([pair, value]), place, 0))
    chosen[crowd] = smallest(limits.rows, pair, pair, value, place - start)
    counts[rows] = chosen
    return counts
