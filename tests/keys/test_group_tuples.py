"""Does each row of several columns of keys get the place of its tuple?"""

from __future__ import annotations

import datetime as dt
import hashlib
import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fastexp.errors import ParameterError, ParameterTypeError
from tests.doors.keys import (
    codes_of,
    group_keys,
    group_names,
    joined,
    key_columns,
    names_of,
    names_of_columns,
    names_of_tuples,
    numbered,
)
from tests.messages import raises, says
from tests.support.each import each
from tests.support.key_numbers import distinct

CITIES = ["Rome", "Oslo", None, "Bern", "Rome", "", "Rome", "Oslo", "Rome"]
YEARS = [2020, 2020, 2020, None, 2021, 2021, 2020, 2022, 2020]
FLAGS = [True, False, True, True, True, None, False, True, True]
DAYS = [None if y is None else dt.date(y, 1, 1) for y in YEARS]
ROWS = {
    "text and integers": (CITIES, YEARS),
    "three": (YEARS, FLAGS, CITIES),
    "dates": (DAYS, FLAGS),
}
FORMS = {
    "lists": lambda *columns: list(columns),
    "a tuple": lambda *columns: columns,
    "polars": lambda *columns: [pl.Series(column) for column in columns],
    "pandas": lambda *columns: [pd.Series(column, dtype=object) for column in columns],
    "arrow": lambda *columns: [pa.array(column) for column in columns],
    "other chunks": lambda *columns: [
        pa.chunked_array([pa.array(column[:i]), pa.array(column[i:], pa.array(column).type)])
        for i, column in enumerate(columns, 1)
    ],
    "dictionaries": lambda *columns: [
        column if isinstance(column[0], bool) else pa.array(column).dictionary_encode()
        for column in columns
    ],
    "mixed": lambda first, *rest: [first, *map(pl.Series, rest)],
}


def complete(columns):
    """The rows without gaps, each once, as tuples."""
    return list(dict.fromkeys(row for row in zip(*columns, strict=True) if None not in row))


def by_hand(columns, labels):
    places = {label: i for i, label in enumerate(labels)}
    return [places.get(row, -1) for row in zip(*columns, strict=True)]


def chunks(*columns):
    return [key_columns.read(column, "by") for column in columns]


@pytest.mark.engines
@pytest.mark.parametrize("what", ROWS)
@pytest.mark.parametrize("form", FORMS)
class TestForms:
    def test_codes_are_those_of_a_dict(self, what, form):
        columns = ROWS[what]
        labels = complete(columns)
        for some in (labels, labels[::-2], labels[:1], []):
            names = names_of_tuples(some, len(columns))
            assert names.labels() == some
            found = codes_of(FORMS[form](*columns), names)
            assert found.dtype == np.int64
            assert found.tolist() == by_hand(columns, some)

    def test_distinct_tuples_are_those_of_a_set(self, what, form):
        columns = ROWS[what]
        ids, names = numbered(chunks(*FORMS[form](*columns)), "by")
        labels = sorted(complete(columns))
        assert names.labels() == labels
        assert ids.tolist() == by_hand(columns, labels)

    def test_lists_are_read_from_columns(self, what, form):
        labels = complete(ROWS[what])
        columns = list(zip(*labels, strict=True))
        names = names_of_columns(FORMS[form](*map(list, columns)))
        assert names.labels() == labels
        assert names == names_of_tuples(labels, len(columns))


class TestCodes:
    def test_every_combination_that_is_listed_or_not(self):
        """Brute force over all lists of pairs of a few keys, and all rows."""
        pairs = list(itertools.product([3, -1], ["a", "b"]))
        rows = list(itertools.product([3, -1, 8, None], ["a", "b", "c", None]))
        columns = [list(column) for column in zip(*rows, strict=True)]
        for size in range(1, 5):
            for some in itertools.permutations(pairs, size):
                assert codes_of(columns, names_of_tuples(list(some), 2)).tolist() == by_hand(
                    columns, some
                )

    @pytest.mark.parametrize("largest", [1 << 62, 1 << 40, 3_000, 100, 1])
    @pytest.mark.parametrize("width", [2, 3, 5])
    def test_numbers_that_would_be_too_large_are_reduced_in_between(
        self, width, largest, monkeypatch
    ):
        monkeypatch.setattr(group_names, "MAX_NUMBER", largest)
        rng = np.random.default_rng(width)
        columns = [rng.integers(-20, 20, 3_000) * 2**40 for _ in range(width)]
        labels = list(dict.fromkeys(zip(*(c[:700].tolist() for c in columns), strict=True)))
        expected = by_hand([c.tolist() for c in columns], labels)
        assert codes_of(columns, names_of_tuples(labels, width)).tolist() == expected

    def test_many_columns_of_many_keys(self):
        """The product of sizes is beyond int64 many times over."""
        rng = np.random.default_rng(3)
        columns = [rng.permutation(2_000) for _ in range(9)]
        names = names_of_columns([column[::2] for column in columns])
        found = codes_of(columns, names)
        assert (found[::2] == np.arange(1_000)).all()
        assert (found[1::2] == -1).all()

    def test_blocks_and_threads_do_not_matter(self, monkeypatch):
        rng = np.random.default_rng(4)
        columns = [rng.integers(0, 50, 5_000), rng.integers(0, 7, 5_000)]
        names = names_of_tuples(list(itertools.product(range(40), range(1, 6))), 2)
        whole = codes_of(columns, names)
        monkeypatch.setattr(group_keys, "BLOCK", 77)
        monkeypatch.setattr(group_keys, "MIN_ROWS_PER_THREAD", 10)
        assert (codes_of(columns, names, threads=3) == whole).all()
        assert whole.tolist() == by_hand([c.tolist() for c in columns], names.labels())

    def test_codes_of_permuted_rows_are_permuted_codes(self):
        rng = np.random.default_rng(5)
        columns, order = [rng.integers(0, 9, 500) for _ in range(2)], rng.permutation(500)
        ids, names = numbered(chunks(*columns), "by")
        other, same = numbered(chunks(*(c[order] for c in columns)), "by")
        assert (other == ids[order]).all()
        assert same == names
        assert (codes_of(columns, names) == ids).all()

    def test_parts_are_numbered_together(self):
        whole = numbered(chunks(CITIES, YEARS), "by")
        parts = [
            joined([key_columns.read(column[i : i + 2], "by") for i in range(0, 9, 2)], "by")
            for column in (CITIES, YEARS)
        ]
        ids, names = numbered(parts, "by")
        assert (ids == whole[0]).all()
        assert names == whole[1]


class TestNames:
    LABELS = (("Rome", 2020, True), ("", -1, False))

    def test_words_are_digests_of_those_of_the_keys(self):
        names = names_of_tuples(list(self.LABELS), 3)
        domain = b"fastexp.names".ljust(32, b"\0")
        tags, streams = (part.tolist() for part in names.streams())
        for i, (city, year, flag) in enumerate(self.LABELS):
            told = (3).to_bytes(8, "little")
            told += hashlib.blake2b(city.encode(), digest_size=32, person=b"fastexp.name").digest()
            told += np.array([1, year % 2**64, 0, 0, 4, flag, 0, 0], "<u8").tobytes()
            digest = hashlib.blake2b(told, digest_size=32, key=domain).digest()
            assert names.name_words()[i].astype("<u8").tobytes() == digest
            assert streams[i] == int.from_bytes(digest[:8], "little")
            assert tags[i] == int.from_bytes(digest[8:16], "little") | 2**63

    def test_columns_are_of_their_kinds(self):
        moments = [np.datetime64("2020-01-01", unit) for unit in ("D", "ms")]
        names = names_of_columns([*([x, x] for x in (7, "a", True, *moments)), [1, 2]])
        kinds, values = zip(*names.columns(), strict=True)
        assert kinds == names.kinds
        assert kinds == ("integers", "text", "booleans", "dates", "timestamps", "integers")
        assert values[1] == ["a", "a"]
        dtypes = [str(v.dtype) for v in values if isinstance(v, np.ndarray)]
        assert dtypes == ["int64", "bool", "datetime64[D]", "datetime64[ms]", "int64"]
        assert names.labels()[1] == (7, "a", True, dt.date(2020, 1, 1), moments[1], 2)
        kind, values = names_of([3, 1]).columns()[0]
        assert (kind, values.tolist()) == ("integers", [3, 1])

    def test_they_are_values(self):
        lists = [
            list(self.LABELS),
            list(self.LABELS[::-1]),
            [(1, 2, True)],
            [("1", 2, True)],
            [(1, 2, 3)],
        ]
        names = [names_of_tuples(labels, 3) for labels in lists]
        size = len(pickle.dumps(names[2]))
        codes_of([[1], [2], [True]], names[2])  # makes tables, which are not pickled
        assert len(pickle.dumps(names[2])) == size
        again = [pickle.loads(pickle.dumps(n)) for n in names]
        assert again == names
        assert len({*names, *again}) == len(names)
        assert "Rome" not in repr(names)

    def test_a_million_groups_are_read_as_arrays(self):
        years, cities = np.arange(1_000), np.arange(1_000) * 7
        names = names_of_columns([np.repeat(years, 1_000), np.tile(cities, 1_000)])
        rows = [np.array([3, 999, 1_000]), np.array([14, 6_993, 0])]
        assert codes_of(rows, names).tolist() == [3_002, 999_999, -1]


class TestRefusals:
    @each(
        ("groups", "message"),
        [
            ("Rome", says("groups: tuples of keys, got str", width="2", what="object")),
            (["Rome"], says("groups: tuples of keys, got str", width="2", what="entry")),
            (
                [["Rome", 1]],
                says("groups: tuples of keys, got list", width="2", what="entry"),
            ),
            ([("Rome", 1, 2)], says("groups: tuples of another length, got 3", width="2")),
            ([("Rome", 1), ("Oslo", "2")], "groups: column of keys, got a mixture of types"),
            ([("Rome", 1), ("Oslo", True)], "groups: column of keys, got a mixture of types"),
            ([("Rome", 1.5)], "groups: column of keys, got floats"),
            ([("Rome", 1), ("Oslo", None)], "groups: missing names"),
            ([("Rome", 1), ("Oslo", 2), ("Rome", 1)], "groups: group named twice, got ('Rome', 1)"),
            ([("Rome", 2**63)], "groups: keys that can be numbered"),
        ],
    )
    def test_lists(self, groups, message):
        with pytest.raises((ParameterError, ParameterTypeError), match=says(message)):
            names_of_tuples(groups, 2)

    def test_instants_that_are_equal_in_two_units(self):
        moments = [np.datetime64("2020-01-01", unit) for unit in ("s", "ns")]
        with raises("groups: group named twice"):
            names_of_columns([moments, [1, 1]])

    def test_columns_of_rows(self):
        names = names_of_tuples([("Rome", 1)], 2)
        for by, message in (
            (["Rome"], "number of columns of keys, got 2"),
            ([["Rome"]], "number of columns of keys, got 2"),
            ([["Rome"], [1], [2]], "number of columns of keys, got 2"),
            ([["Rome"], 1], "by: keys as a list of columns"),
            ([["Rome"], [1, 1]], "by: columns of keys of one length"),
            ([["Rome"], ["1"]], says("by: keys of the groups' kind, got text", type="integers")),
            ([["Rome"], [1.5]], "by: column of keys, got floats"),
        ):
            with pytest.raises((ParameterError, ParameterTypeError), match=says(message)):
                codes_of(by, names)
        with raises("by: keys of several columns"):
            codes_of([["Rome"], ["Rome"]], names_of(["Rome"]))
        assert codes_of([["Rome", "x"]], names_of(["Rome"])).tolist() == [0, -1]

    def test_lists_of_columns_that_differ_in_length(self):
        with raises("groups: columns of keys of one length"):
            names_of_columns([[1, 2], ["a"]])

    def test_keys_that_cannot_be_numbered(self):
        with raises("by: keys that can be numbered"):
            numbered(chunks(["a"], [2**63]), "by")
        with raises("by: columns of keys of one length"):
            numbered(chunks(["a"], [1, 2]), "by")
        with raises("by: column of keys"):
            distinct([("a", 1)], "by")
