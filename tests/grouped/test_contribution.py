"""Does one person contribute what they may, all of it, and chosen by nothing but their rows?"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from itertools import combinations, pairwise

import numpy as np
import pytest

import fastexp as fx
from tests.doors.grouped import Limits, contribution, keep, release_choice, sample_choice
from tests.doors.kernels import contribution as kernels
from tests.doors.randomness import release_key
from tests.support.each import each
from tests.support.goodness import fits

KEY = bytes(range(32))


class Rows:
    """Rows of persons in groups; `people` and `names` are what their numbers stand for."""

    def __init__(self, codes, persons, mapped, people, names):
        self.codes, self.persons = np.asarray(codes, np.int64), np.asarray(persons, np.int64)
        self.mapped = np.asarray(mapped, np.int64)
        self.people, self.names = np.asarray(people), np.asarray(names)

    def kept(self, max_groups, max_rows, key=KEY):
        words = words_of(self.people, 1), words_of(self.names, 2)
        limits = Limits(max_groups, max_rows)
        return keep(self.codes, self.persons, *words, self.mapped, limits, key)

    def each(self, max_groups, max_rows, key=KEY):
        """What is kept of each person: how often each (name of a group, value)."""
        found = defaultdict(Counter)
        for i in np.flatnonzero(self.kept(max_groups, max_rows, key)):
            person, name = self.people[self.persons[i]], self.names[self.codes[i]]
            found[int(person)][int(name), int(self.mapped[i])] += 1
        return found

    def own(self):
        """Each person's own rows, without those that can never count."""
        found = defaultdict(list)
        for code, person, value in zip(self.codes, self.persons, self.mapped, strict=True):
            if code >= 0 and person >= 0:
                name = int(self.names[code])
                found[int(self.people[person])].append((name, int(value)))
        return found

    def part(self, rows):
        """Some rows, with persons numbered afresh."""
        persons, people = self.persons[rows], self.people
        used = np.unique(persons[persons >= 0])
        numbers = np.full(people.size + 1, -1)
        numbers[used] = np.arange(used.size)
        args = self.codes[rows], numbers[persons], self.mapped[rows]
        return Rows(*args, people[used], self.names)


def words_of(names, kind):
    """Four words for each of some integers."""
    out = np.zeros((len(names), 4), np.uint64)
    out[:, 0], out[:, 1] = kind, names
    return out


def some_rows(seed, n=3000, persons=120, groups=9, values=6):
    rng = np.random.default_rng(seed)
    who = np.minimum(rng.geometric(0.03, n) - 2, persons - 1)  # a few have many rows, -1: nobody
    where = rng.integers(-1, groups, n)
    what = rng.integers(-2, values, n) * (1 << 50)
    return Rows(where, who, what, rng.permutation(1000)[:persons], rng.permutation(500)[:groups])


def digest(person, name, *more):
    message = np.concatenate([words_of([person], 1)[0], words_of([name], 2)[0]]).tobytes()
    message += np.array(more, "<i8").tobytes()
    return int.from_bytes(hashlib.blake2b(message, digest_size=32, key=KEY).digest()[:8], "little")


def obvious(person, rows, max_groups, max_rows):
    """What is kept of a person's own rows, as it is written down."""
    groups = sorted({name for name, _ in rows}, key=lambda name: digest(person, name))
    kept = Counter()
    for name in groups[:max_groups]:
        numbered, seen = [], Counter()
        for value in (value for other, value in rows if other == name):
            numbered.append((value, seen[value]))
            seen[value] += 1
        numbered.sort(key=lambda row: digest(person, name, *row))
        kept.update((name, value) for value, _ in numbered[:max_rows])
    return kept


LIMITS = [(1, 1), (1, 3), (3, 1), (2, 5), (4, 2), (9, 40), (9, 2), (2, 10**6), (100, 100)]


@pytest.mark.slow
@each("limits", LIMITS)
@each("seed", [0, 1])
def test_it_is_the_obvious_choice(limits, seed):
    rows = some_rows(seed)
    found, own = rows.each(*limits), rows.own()
    assert set(found) == set(own)
    for person, mine in own.items():
        assert found[person] == obvious(person, mine, *limits)


@each("limits", LIMITS)
def test_limits_hold_and_nothing_is_dropped_needlessly(limits):
    rows = some_rows(3)
    found, own = rows.each(*limits), rows.own()
    for person, mine in own.items():
        given, kept = Counter(name for name, _ in mine), Counter()
        for (name, _), count in found[person].items():
            kept[name] += count
        assert len(kept) == min(len(given), limits[0])
        assert all(count == min(given[name], limits[1]) for name, count in kept.items())
        assert found[person] <= Counter(mine)


def test_rows_of_nobody_and_of_no_group_never_count():
    rows = Rows([0, -1, 0, -1], [0, 0, -1, -1], [1, 2, 3, 4], [7], [8])
    assert rows.kept(1, 1).tolist() == [True, False, False, False]
    assert rows.kept(5, 5).tolist() == [True, False, False, False]
    # They do not use up what a person may contribute either.
    rows = Rows([-1] * 9 + [0], [0] * 10, range(10), [7], [8])
    assert rows.kept(1, 1).tolist() == [False] * 9 + [True]


@pytest.mark.parametrize("limits", [(2, 3), (1, 1)])
def test_other_people_do_not_matter(limits):
    """Somebody leaves, or changes all of their rows: nothing else changes."""
    rows = some_rows(4)
    before = rows.each(*limits)
    for person in (0, 1, 5, 40):
        without = rows.part(rows.persons != person)
        gone = int(rows.people[person])
        expected = {who: found for who, found in before.items() if who != gone}
        assert without.each(*limits) == expected
        rng = np.random.default_rng(person)
        his = rows.persons == person
        codes = np.where(his, rng.integers(-1, 9, his.size), rows.codes)
        mapped = np.where(his, rng.integers(0, 99, his.size), rows.mapped)
        other = Rows(codes, rows.persons, mapped, rows.people, rows.names).each(*limits)
        other.pop(gone, None)
        assert other == expected


@each("limits", [(2, 3), (1, 1), (9, 2)])
def test_order_numbers_and_lists_do_not_matter(limits):
    rows = some_rows(5)
    before, rng = rows.each(*limits), np.random.default_rng(0)
    for _ in range(4):
        order = rng.permutation(rows.codes.size)
        assert rows.part(order).each(*limits) == before
    # Persons and groups are numbered the other way round; other groups are listed, too.
    codes = np.where(rows.codes >= 0, 20 - rows.codes, -1)
    names = np.concatenate([np.arange(2000, 2012), rows.names[::-1]])
    persons = np.where(rows.persons >= 0, rows.people.size - 1 - rows.persons, -1)
    turned = Rows(codes, persons, rows.mapped, rows.people[::-1], names)
    assert turned.each(*limits) == before


def test_more_people_than_have_rows():
    """Numbers without rows, as many persons as rows: nobody is passed over."""
    rows = Rows([0, 1, 2], [1, 1, 1], [0, 0, 0], [4, 5, 6], [1, 2, 3])
    assert rows.kept(1, 1).sum() == 1
    assert rows.kept(3, 1).all()


@pytest.mark.parametrize("n", [0, 1])
def test_hardly_any_rows(n):
    assert Rows([0] * n, [0] * n, [3] * n, [7] * n, [8]).kept(1, 1).tolist() == [True] * n
    assert Rows([-1] * n, [0] * n, [3] * n, [7] * n, []).kept(1, 1).tolist() == [False] * n


@pytest.mark.statistical
class TestTheChoiceIsUniform:
    keys = tuple(hashlib.sha256(bytes([i % 256, i // 256])).digest() for i in range(1500))

    def chosen(self, rows, limits, of):
        """The number of the subset that is kept, for each key; `of`: what the subset is of."""
        every = combinations(sorted(set(of.tolist())), min(limits))
        subsets = {subset: i for i, subset in enumerate(every)}
        found = (rows.kept(*limits, key) for key in self.keys)
        return [subsets[tuple(sorted(of[kept].tolist()))] for kept in found], len(subsets)

    def test_of_groups(self):
        rows = Rows(range(5), [0] * 5, [3] * 5, [7], range(5))
        draws, count = self.chosen(rows, (2, 9), rows.codes)
        assert count == 10
        assert fits(draws, [0.1] * 10)

    def test_of_rows(self):
        rows = Rows([0] * 5, [0] * 5, range(5), [7], [8])
        draws, count = self.chosen(rows, (9, 2), rows.mapped)
        assert count == 10
        assert fits(draws, [0.1] * 10)

    def test_of_equal_rows(self):
        rows = Rows([0] * 4, [0] * 4, [1, 2, 2, 2], [7], [8])
        draws = [int(rows.mapped[rows.kept(1, 1, key)][0]) - 1 for key in self.keys]
        assert fits(draws, [0.25, 0.75])

    def test_of_many_persons_under_one_key(self):
        people = np.arange(4000)
        codes, persons = np.tile(np.arange(4), 4000), np.repeat(people, 4)
        rows = Rows(codes, persons, codes, people, range(4))
        assert fits(rows.codes[rows.kept(1, 1)], [0.25] * 4)
        rows = Rows(0 * codes, persons, codes, people, [8])
        assert fits(rows.mapped[rows.kept(1, 1)], [0.25] * 4)

    def test_groups_and_rows_are_chosen_apart(self):
        """Which group is chosen tells nothing about which of its rows."""
        people = np.arange(4000)
        codes, values = np.tile([0, 0, 1, 1], 4000), np.tile([0, 1, 0, 1], 4000)
        rows = Rows(codes, np.repeat(people, 4), values, people, [8, 9])
        kept = rows.kept(1, 1)
        assert fits(2 * rows.codes[kept] + rows.mapped[kept], [0.25] * 4)


class TestKeys:
    secret = release_key.release_key()
    median = fx.Median(1.0, (0, 10))

    def test_a_releases_key_is_a_function_of_the_question(self):
        found = release_choice(self.secret, self.median, "a")
        assert found == release_choice(self.secret, fx.Median(1.0, (0, 10)), "a")
        question = release_key.query_digest(self.median, "a").tobytes()
        words = release_key.secret_words(self.secret).tobytes()
        message = b"fastexp.persons" + question
        assert found == hashlib.blake2b(message, digest_size=32, key=words).digest()
        others = {
            release_choice(release_key.release_key(), self.median, "a"),
            release_choice(self.secret, self.median, "b"),
            release_choice(self.secret, fx.Median(2.0, (0, 10)), "a"),
        }
        assert len(others - {found}) == 3

    def test_without_a_key_it_is_fresh(self, monkeypatch):
        drawn = [release_choice(None, self.median, "") for _ in range(3)]
        assert len(set(drawn)) == 3
        monkeypatch.setattr(contribution, "_os_bytes", lambda n: b"z" * n)
        assert release_choice(None, self.median, "") == b"z" * 32

    def test_a_simulations_key_is_pinned(self):
        seed = np.array([1, 2], np.uint64)
        how = {"digest_size": 32, "person": b"fastexp.persons"}
        assert sample_choice(seed) == hashlib.blake2b(seed.tobytes(), **how).digest()
        assert sample_choice(seed) != sample_choice(seed[::-1].copy())


class TestKernels:
    @each("most", [1, 2, 3, 10, 33])
    @each("high", [2, 5, 2**64])
    def test_the_smallest_words_are_marked(self, most, high):
        rng = np.random.default_rng(most)
        sizes = rng.integers(1, 40, 200)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        words = rng.integers(0, high, offsets[-1], dtype=np.uint64)
        marks, work = words.copy(), np.empty(40, np.uint64)
        kernels.mark_smallest(marks, offsets, most, work)
        for a, b in pairwise(offsets):
            order = np.argsort(words[a:b], kind="stable")
            expected = np.zeros(b - a, np.uint64)
            expected[order[:most]] = 1
            assert marks[a:b].tolist() == expected.tolist()

    @pytest.mark.parametrize("order", [1, -1])
    def test_also_of_words_in_order(self, order):
        words = np.arange(1000, dtype=np.uint64)[::order].copy()
        marks = words.copy()
        kernels.mark_smallest(marks, np.array([0, 1000]), 10, np.empty(1000, np.uint64))
        assert (marks == (words < 10)).all()

    def test_pairs_are_numbered_and_counted(self):
        rows = some_rows(7)
        rows = rows.part((rows.persons >= 0) & (rows.codes >= 0))
        order = np.argsort(rows.persons, kind="stable")
        codes, persons = rows.codes[order], rows.persons[order]
        offsets = np.searchsorted(persons, np.arange(rows.people.size + 1))
        pairs, sizes, groups = (np.full(codes.size, -7) for _ in range(3))
        first, table = np.empty(offsets.size, np.int64), np.full(2 * rows.names.size, -1)
        kernels.number_pairs(codes, offsets, table, pairs, sizes, groups, first)
        told = Counter(zip(persons.tolist(), codes.tolist(), strict=True))
        assert first[-1] == len(told)
        owners = np.repeat(np.arange(rows.people.size), np.diff(first))
        found = zip(owners.tolist(), groups[: first[-1]].tolist(), strict=True)
        assert dict(zip(found, sizes[: first[-1]].tolist(), strict=True)) == told
        assert (owners[pairs] == persons).all()
        assert (groups[pairs] == codes).all()

    def test_a_table_of_no_persons(self):
        none, first = np.zeros(0, np.int64), np.full(1, 9)
        kernels.number_pairs(none, np.zeros(1, np.int64), none, none, none, none, first)
        assert first.tolist() == [0]
