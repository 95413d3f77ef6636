"""Does each row get the code of its key, whatever the keys come in?"""

from __future__ import annotations

import datetime as dt
import hashlib
import pickle
import re
import unicodedata
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fastexp.errors import ParameterError, ParameterTypeError
from tests.doors.kernels import group_codes
from tests.doors.keys import (
    codes_of,
    group_keys,
    joined,
    key_columns,
    key_tables,
    names_of,
    numbered,
)
from tests.doors.randomness import GROUP, text_name
from tests.messages import raises, says
from tests.support.each import each
from tests.support.key_numbers import distinct

LETTERS = "aé日𝒳"  # of 1, 2, 3 and 4 bytes in UTF-8
NFC, NFD = (unicodedata.normalize(form, "é") for form in ("NFC", "NFD"))
NAMES = ["", "a", "bb", NFC, "日本", "𝒳𝒴", "12345678", "123456789", "x" * 40, "\0", "z\0z", "A"]
ROWS = [*NAMES, NFD, "q", None, "1234567", "x" * 39, "𝒳", "bb", "", None, "x" * 41, "日本", "a"]
STRING = np.dtypes.StringDType(na_object=None)

TEXT_FORMS = {
    "list": list,
    "tuple": tuple,
    "object": lambda rows: np.array(rows, object),
    "StringDType": lambda rows: np.array(rows, STRING),
    "pandas str": pd.Series,
    "pandas string": lambda rows: pd.Series(rows, dtype="string[python]"),
    "pandas arrow": lambda rows: pd.Series(rows, dtype="string[pyarrow]"),
    "pandas ArrowDtype": lambda rows: pd.Series(rows, dtype=pd.ArrowDtype(pa.string())),
    "pandas object": lambda rows: pd.Series(rows, dtype=object),
    "pandas category": lambda rows: pd.Series(rows, dtype="category"),
    "pandas Categorical": pd.Categorical,
    "pandas Index": pd.Index,
    "pandas CategoricalIndex": pd.CategoricalIndex,
    "polars": lambda rows: pl.Series(rows, dtype=pl.String),
    "polars Categorical": lambda rows: pl.Series(rows, dtype=pl.Categorical),
    "polars Enum": lambda rows: pl.Series(rows, dtype=pl.Enum(sorted({*rows} - {None}))),
    "arrow": lambda rows: pa.array(rows, pa.string()),
    "arrow large": lambda rows: pa.array(rows, pa.large_string()),
    "arrow view": lambda rows: pa.array(rows, pa.string_view()),
    "arrow dictionary": lambda rows: pa.array(rows, pa.string()).dictionary_encode(),
    "arrow chunked": lambda rows: pa.chunked_array([rows[:5], [], rows[5:]], pa.string()),
    "arrow sliced": lambda rows: pa.array(["?", *rows, "!"], pa.string())[1:-1],
}
FIXED = {
    "U": np.array,
    "U big-endian": lambda rows: np.array(rows).astype(">U41"),
    "U strided": lambda rows: np.array([x for row in rows for x in (row, "?")])[::2],
}
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


def by_hand(rows, labels):
    """The places of keys in a list, by a dict; of missing ones -1."""
    places = {label: i for i, label in enumerate(labels)}
    return [places.get(row, -1) for row in rows]


def check_distinct(keys, rows):
    ids, names = distinct(keys, "by")
    labels = sorted(set(rows) - {None})
    assert names.labels() == labels
    assert ids.dtype == np.int64
    assert ids.tolist() == by_hand(rows, labels)


class TestTexts:
    @pytest.mark.engines
    @each("form", TEXT_FORMS)
    def test_codes_are_those_of_a_dict(self, form):
        found = codes_of(TEXT_FORMS[form](ROWS), names_of(NAMES))
        assert found.dtype == np.int64
        assert found.tolist() == by_hand(ROWS, NAMES)

    @pytest.mark.engines
    @each("form", TEXT_FORMS)
    def test_distinct_keys_are_those_of_a_set(self, form):
        check_distinct(TEXT_FORMS[form](ROWS), ROWS)

    @pytest.mark.engines
    @each("form", TEXT_FORMS)
    def test_lists_are_read_in_order(self, form):
        assert names_of(TEXT_FORMS[form](NAMES)).labels() == NAMES

    @each("form", FIXED)
    def test_arrays_of_fixed_width(self, form):
        """NumPy itself takes a text's zeros at the end away; no other key is mixed up with it."""
        rows = [row for row in ROWS if row is not None]
        seen = [row.rstrip("\0") for row in rows]
        keys = FIXED[form](rows)
        assert keys.tolist() == seen
        assert codes_of(keys, names_of(NAMES)).tolist() == by_hand(seen, NAMES)
        check_distinct(keys, seen)
        assert names_of(FIXED[form](["b", "", "日本"])).labels() == ["b", "", "日本"]

    @pytest.mark.engines
    @each("form", ["list", "arrow", "polars", "object", "U"])
    def test_random_texts_of_all_lengths(self, form):
        rng = np.random.default_rng(3)
        texts = list({"".join(rng.choice(list(LETTERS), rng.integers(0, 30))) for _ in range(900)})
        names, rows = texts[:600], [texts[i] for i in rng.integers(0, len(texts), 3000)]
        keys = {**TEXT_FORMS, **FIXED}[form](rows)
        assert codes_of(keys, names_of(names)).tolist() == by_hand(rows, names)
        check_distinct(keys, rows)

    @pytest.mark.engines
    def test_zeros_at_the_end_are_part_of_a_text(self):
        names, rows = ["a\0", "a", "a\0\0"], ["a", "a\0", "a\0\0\0", "a\0\0"]
        for form in ("list", "arrow", "polars", "StringDType"):
            assert codes_of(TEXT_FORMS[form](rows), names_of(names)).tolist() == [1, 0, -1, 2]
        assert codes_of(np.array(["a", "bbb"]), names_of(names)).tolist() == [1, -1]

    def test_unused_and_missing_entries_of_dictionaries(self):
        entries = pa.array(["b", None, "unused", "a", "a"])
        index = pa.array([4, 1, None, 3, 0, 4], pa.int8())
        keys = pa.DictionaryArray.from_arrays(index, entries)
        rows = ["a", None, None, "a", "b", "a"]
        assert codes_of(keys, names_of(["unused", "b", "a"])).tolist() == [2, -1, -1, 2, 1, 2]
        check_distinct(keys, rows)

    def test_masked_arrays(self):
        keys = np.ma.array(["a", "b", "a"], mask=[0, 0, 1])
        assert codes_of(keys, names_of(["b", "a"])).tolist() == [1, 0, -1]
        check_distinct(keys, ["a", "b", None])

    def test_lone_surrogates_are_no_keys(self):
        assert codes_of(["a", "\ud800"], names_of(["a"])).tolist() == [0, -1]
        with raises("person: keys that can be numbered"):
            distinct(["a", "\ud800"], "person")
        with pytest.raises(ParameterError, match=says("groups: keys that can be numbered")):
            names_of(["\ud800"])

    def test_bytes_of_every_place_and_length(self):
        """Texts that begin at each byte of a word, in a buffer that lies askew."""
        data = np.frombuffer(bytes(range(32, 127)) * 2, np.uint8)
        for shift in range(9):
            part = data[shift:]
            for length in (1, 2, 7, 8, 9, 17):
                offsets = np.arange(0, part.size + 1, length)
                texts = [part[a : a + length].tobytes() for a in offsets[:-1]]
                kept = list(dict.fromkeys(texts[::2]))
                joined = np.frombuffer(b"".join(kept), np.uint8)
                ends = np.arange(len(kept) + 1) * length
                table = key_tables.TextTable(joined, ends[:-1], ends[1:])
                found = table.find(part, offsets[:-1].copy(), offsets[1:].copy())
                assert found.tolist() == by_hand(texts, kept)


class TestIntegers:
    @pytest.mark.engines
    @each("dtype", INTEGERS)
    @each("factor", [1, 2**40])
    def test_every_dtype(self, dtype, factor):
        info = np.iinfo(dtype)
        edges = [info.min, info.max, info.min // 2, info.max // 2, 0, 1, 2, 3, 100]
        rows = [*edges, 5, *edges]
        names = list(
            dict.fromkeys([0, -1, 3, 100, 2 * factor, 7 * factor, -(2**63), 127, 2**63 - 1])
        )
        keys = np.array(rows, dtype)
        for form in (keys, keys.astype(keys.dtype.newbyteorder()), np.repeat(keys, 2)[::2]):
            assert codes_of(form, names_of(names)).tolist() == by_hand(rows, names)
        assert codes_of(pl.Series(keys), names_of(names)).tolist() == by_hand(rows, names)
        assert codes_of(pa.array(keys), names_of(names)).tolist() == by_hand(rows, names)
        assert codes_of(pd.Series(keys), names_of(names)).tolist() == by_hand(rows, names)
        small = [row for row in rows if row < 2**63]
        check_distinct(np.array(small, dtype), small)

    @pytest.mark.engines
    @each("names", [range(-3, 50), [7, 2**62, -5, 0, 2**40], [3], []])
    def test_forms_with_missing_keys(self, names):
        rows = [0, 7, None, 2**40, -5, -6, None, 3, 2**62, 49]
        for keys in (
            rows,
            np.array(rows, object),
            [0, 7, float("nan"), 2**40, -5, -6, pd.NA, 3, np.int64(2**62), np.uint8(49)],
            pd.Series(rows, dtype="Int64"),
            pd.Series(rows, dtype=pd.ArrowDtype(pa.int64())),
            pd.Series(rows, dtype=object),
            pd.Series(rows, dtype="Int64").astype("category"),
            pl.Series(rows),
            pa.array(rows),
            pa.array([1, *rows])[1:],
            pa.array(rows).dictionary_encode(),
            pa.chunked_array([rows[:2], rows[2:]]),
            np.ma.array([0 if r is None else r for r in rows], mask=[r is None for r in rows]),
        ):
            assert codes_of(keys, names_of(names)).tolist() == by_hand(rows, names)
            check_distinct(keys, rows)

    @pytest.mark.engines
    def test_beyond_int64_nothing_is_listed(self):
        names = names_of([-1, 0, -(2**63), 2**63 - 1])
        keys = np.array([2**64 - 1, 2**63, 2**63 - 1, 0], np.uint64)
        for form in (keys, keys.tolist(), pl.Series(keys), pd.Series(keys, dtype="UInt64")):
            assert codes_of(form, names).tolist() == [-1, -1, 3, 1]
            with raises("keys that can be numbered"):
                distinct(form, "person")
        assert codes_of([2**200, -1, None, -(2**63) - 1], names).tolist() == [-1, 0, -1, -1]

    @pytest.mark.engines
    def test_lists_are_read_in_order(self):
        for form in (
            [3, 1, 2], (3, 1, 2), np.array([3, 1, 2], np.int8), np.array([3, 1, 2], np.uint64),
            pd.Series([3, 1, 2], dtype="Int64"), pd.Index([3, 1, 2]), pl.Series([3, 1, 2]),
            pd.Categorical([3, 1, 2]), pa.array([3, 1, 2]), pa.chunked_array([[3], [1, 2]]),
            pa.array([3, 1, 2]).dictionary_encode(), range(3, 0, -1), np.array([3, 1, 2], object),
        ):  # fmt: skip
            assert names_of(form).labels() == list(form if isinstance(form, range) else (3, 1, 2))

    def test_minus_zero_is_zero(self):
        assert codes_of(np.array([-0, 0]), names_of([0])).tolist() == [0, 0]
        with pytest.raises(ParameterTypeError):
            codes_of(np.array([-0.0]), names_of([0]))


BOOLEANS = [True, False, None, True]
DATES = [
    dt.date(2020, 2, 29), None, dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 12, 31),
    dt.date(2020, 2, 29),
]  # fmt: skip
TIMES = [  # within the years that nanoseconds reach
    dt.datetime(2020, 2, 29, 12), None, dt.datetime(1969, 12, 31, 23, 59, 59),
    dt.datetime(1700, 1, 1), dt.datetime(2261, 12, 31), dt.datetime(2020, 2, 29, 12),
]  # fmt: skip
UNITS = ["s", "ms", "us", "ns"]


def without_gaps(rows):
    return [row for row in rows if row is not None]


def masked(rows, dtype):
    full = [without_gaps(rows)[0] if row is None else row for row in rows]
    return np.ma.array(np.array(full, dtype), mask=[row is None for row in rows])


def forms(rows, numpy, arrow, polars, pandas):
    """A column in every form, of types of NumPy (which may have no gaps), Arrow and so on."""
    column = pa.array(rows, arrow)
    found = {
        "list": rows,
        "tuple": tuple(rows),
        "objects": np.array(rows, object),
        "masked": masked(rows, numpy),
        "pandas": pd.Series(rows, dtype=pandas),
        "pandas index": pd.Index(pd.Series(rows, dtype=pandas)),
        "pandas categories": pd.Series(rows, dtype=pandas).astype("category"),
        "pandas objects": pd.Series(rows, dtype=object),
        "pandas ArrowDtype": pd.Series(rows, dtype=pd.ArrowDtype(arrow)),
        "polars": pl.Series(rows, dtype=polars),
        "arrow": column,
        "arrow sliced": pa.concat_arrays([column, column])[len(rows) :],
        "arrow chunked": pa.chunked_array([column[:2], column[:0], column[2:]]),
    }
    if numpy != np.bool_:
        plain = np.array(rows, numpy)
        found |= {
            "NaT": plain,
            "big-endian": plain.astype(plain.dtype.newbyteorder(">")),
            "strided": np.repeat(plain, 2)[::2],
            "NumPy's objects": [*plain],
            "arrow dictionary": column.dictionary_encode(),
        }
    return found


def timestamps(unit):
    pandas, polars = f"M8[{unit}]", pl.Datetime("ms" if unit == "s" else unit)
    return forms(TIMES, f"M8[{unit}]", pa.timestamp(unit), polars, pandas)


OTHER_KINDS = {
    **{
        f"booleans: {form}": (keys, BOOLEANS)
        for form, keys in forms(BOOLEANS, np.bool_, pa.bool_(), pl.Boolean, "boolean").items()
    },
    **{
        f"dates: {form}": (keys, DATES)
        for form, keys in forms(DATES, "M8[D]", pa.date32(), pl.Date, object).items()
    },
    "dates: date64": (pa.array(DATES, pa.date64()), DATES),
    "dates: date64 in a dictionary": (pa.array(DATES, pa.date64()).dictionary_encode(), DATES),
    **{
        f"timestamps[{unit}]: {form}": (keys, TIMES)
        for unit in UNITS
        for form, keys in timestamps(unit).items()
    },
    "timestamps: pandas' own": ([pd.NaT if t is None else pd.Timestamp(t) for t in TIMES], TIMES),
    "timestamps: of all units": (
        [None if t is None else np.datetime64(t, UNITS[i % 4]) for i, t in enumerate(TIMES)],
        TIMES,
    ),
}


def plain(label):
    """A label as Python's."""
    return label.astype("M8[us]").item() if isinstance(label, np.datetime64) else label


class TestOtherKinds:
    """Booleans, dates and timestamps."""

    @pytest.mark.engines
    @each("what", OTHER_KINDS)
    def test_codes_are_those_of_a_dict(self, what):
        keys, rows = OTHER_KINDS[what]
        present = without_gaps(dict.fromkeys(rows))
        for names in (present, present[:1], present[:0:-1]):
            found = codes_of(keys, names_of(names))
            assert found.dtype == np.int64
            assert found.tolist() == by_hand(rows, names)

    @pytest.mark.engines
    @each("what", OTHER_KINDS)
    def test_distinct_keys_are_those_of_a_set(self, what):
        keys, rows = OTHER_KINDS[what]
        ids, names = distinct(keys, "by")
        labels = sorted(set(rows) - {None})
        assert list(map(plain, names.labels())) == labels
        assert ids.tolist() == by_hand(rows, labels)

    @pytest.mark.engines
    @each("what", OTHER_KINDS)
    def test_lists_are_read_in_order(self, what):
        kind = what.partition(":")[0].partition("[")[0]
        labels = list(dict.fromkeys(without_gaps(OTHER_KINDS[what][1])))
        keys = OTHER_KINDS[what][0]
        if not isinstance(keys, (list, tuple)):
            assert kind == (distinct(keys, "by")[1].kind)
        names = names_of(labels)
        assert names.kind == kind
        assert list(map(plain, names.labels())) == labels

    @each("listed", UNITS)
    @each("unit", UNITS)
    def test_instants_of_two_units_are_equal_if_they_are_the_same(self, listed, unit):
        """Also at the ends of what each can hold, and where one has no such instant."""
        edge, step = 2**63 - 1, Fraction(1000) ** (UNITS.index(unit) - UNITS.index(listed))
        rows = [0, 1, -1, 10**3, 10**6, 10**9, -(10**9), 10**9 + 1, edge, -edge, edge // 1000]
        names = [*rows, edge // 10**9 * 10**9, edge // 10**6, 999, 1001, -edge // 10**6]
        places = {int(n * step): i for i, n in enumerate(names) if not n * step % 1}
        keys = np.array(rows, f"M8[{unit}]")
        expected = [places.get(row, -1) for row in rows]
        groups = names_of(np.array(names, f"M8[{listed}]"))
        assert codes_of(keys, groups).tolist() == expected
        assert codes_of([*keys], groups).tolist() == expected
        assert 0 in expected

    def test_parts_of_two_units_are_numbered_together(self):
        parts = [
            np.array(["2020-01-01T00:00:01"], "M8[s]"),
            np.array(["2020-01-01T00:00:01.5"], "M8[ms]"),
        ]
        keys = joined([key_columns.read(part, "by") for part in (*parts, *parts)], "by")
        ids, names = numbered([keys], "by")
        assert ids.tolist() == [0, 1, 0, 1]
        assert names.labels() == [parts[0][0], parts[1][0]]

    def test_instants_beyond_the_finest_unit_of_a_column(self):
        odd = [np.datetime64("0001-01-01", "s"), np.datetime64(1, "ns"), None]
        # Of a list it is found all the same: another row must not move it out of its group.
        assert codes_of(odd, names_of(np.array(["0001-01-01"], "M8[s]"))).tolist() == [0, -1, -1]
        assert codes_of(odd, names_of([np.datetime64(1, "ns")])).tolist() == [-1, 0, -1]
        with raises("by: keys that can be numbered"):
            distinct(odd, "by")
        with pytest.raises(ParameterError, match=says("groups: keys that can be numbered")):
            names_of(odd[:2])

    def test_keys_of_groups_that_nobody_listed_depend_on_their_row_alone(self):
        far, fine = np.datetime64("0001-01-01", "s"), np.datetime64(1500, "ns")
        keys = key_columns.read_private([far, fine, None, np.datetime64(1, "ms")])
        ids, names = numbered([keys], "by")
        assert (ids.tolist(), names.unit) == ([0, -1, -1, 1], "us")
        texts = ["b", "\ud800", "a", None, "\udfff", "b"]
        ids, names = numbered([key_columns.read_private(texts)], "by")
        assert (ids.tolist(), names.labels()) == ([1, -1, 0, -1, -1, 1], ["a", "b"])
        for large in (1 << 63, 1 << 70):
            ids, names = numbered([key_columns.read_private([7, large, None, 7])], "by")
            assert (ids.tolist(), names.labels()) == ([0, -1, -1, 0], [7])

    def test_dates_beyond_those_of_python(self):
        days = np.array(["10000-01-01", "-0044-03-15"], "M8[D]")
        assert names_of(days).labels() == [*days]

    def test_what_is_equal_in_python_is_of_several_kinds(self):
        midnight = dt.datetime(2020, 1, 1)
        kinds = [[1], ["1"], [True], [dt.date(2020, 1, 1)], [midnight]]
        for i, one in enumerate(kinds):
            for j, other in enumerate(kinds):
                if i == j:
                    assert codes_of(one, names_of(other)).tolist() == [0]
                else:
                    with raises("by: keys of the groups' kind"):
                        codes_of(one, names_of(other))
        words = {names_of(one).name_words().tobytes() for one in kinds}
        streams = {tuple(map(bytes, names_of(one).streams())) for one in kinds}
        assert len(words) == len(streams) == len(kinds)


class TestManyKeys:
    @pytest.mark.slow
    @each("spread", [1, 3, 5, 2**30, 2**43])
    def test_a_million_names(self, spread):
        rng = np.random.default_rng(spread)
        names = rng.permutation(10**6) * spread - 5
        places = rng.integers(0, 10**6, 10**5)
        keys = np.concatenate([names[places], names[places[:9]] + spread * 10**6])
        found = codes_of(keys, names_of(names))
        assert (found[: places.size] == places).all()
        assert set(found[places.size :]) == {-1}
        ids, kept = distinct(keys[: places.size], "by")
        assert (kept.numbers[ids] == names[places]).all()
        assert (np.diff(kept.numbers) > 0).all()

    @pytest.mark.slow
    def test_a_million_texts(self):
        rng = np.random.default_rng(8)
        texts, places = [f"name {i * i}" for i in range(10**6)], rng.integers(0, 10**6, 10**5)
        keys = pa.array(texts).take(pa.array(places))
        assert (codes_of(keys, names_of(texts)) == places).all()
        ids, kept = distinct(keys, "by")
        assert [kept.texts[i] for i in ids[:999]] == [texts[i] for i in places[:999]]
        assert list(kept.texts) == sorted({texts[i] for i in places})

    def test_rows_that_are_nearly_all_different(self, monkeypatch):
        rng = np.random.default_rng(4)
        keys = rng.integers(-(2**63), 2**63 - 1, 3000)
        keys = rng.permutation(np.concatenate([keys, keys[:9]]))
        found = distinct(keys, "by"), distinct(pa.chunked_array([keys[:5], keys[5:]]), "by")
        monkeypatch.setattr(group_keys, "SAMPLE", 500)
        monkeypatch.delattr(group_keys, "distinct")  # they are sorted
        chunks = pa.chunked_array([keys[:5], keys[5:]])
        found += distinct(keys, "by"), distinct(chunks, "by")
        for ids, names in found:
            assert ids.dtype == np.int64
            assert names.labels() == sorted(set(keys.tolist()))
            assert (names.numbers[ids] == keys).all()

    @each("shift", [0, 20, 40, 56])
    def test_keys_that_agree_in_their_low_bits(self, shift):
        names = np.arange(-100, 100) * 2**shift
        keys = np.concatenate([names[::-1], names + 1])
        assert codes_of(keys, names_of(names)).tolist() == by_hand(keys.tolist(), names.tolist())

    def test_codes_of_permuted_rows_are_permuted_codes(self):
        rng = np.random.default_rng(1)
        rows = rng.integers(0, 50, 500)
        texts, order = np.array([f"t{row}" for row in rows]), rng.permutation(500)
        for keys, names in ((rows, range(3, 40)), (texts, [f"t{i}" for i in range(40)])):
            whole, names = codes_of(keys, names_of(names)), names_of(names)
            assert (codes_of(keys[order], names) == whole[order]).all()
            ids, found = distinct(keys, "by")
            other, same = distinct(keys[order], "by")
            assert (other == ids[order]).all()
            assert found.labels() == same.labels()


class TestTables:
    def test_a_tiny_table_is_looked_through(self):
        """All slots but one are taken, and runs of keys go around the end."""
        for secret in range(20):
            table, out = np.zeros(16, np.uint64), np.empty(60, np.int64)
            keys = np.arange(7, dtype=np.uint64)
            group_codes.insert_keys(keys, keys + np.uint64(10), np.uint64(secret), table)
            group_codes.find_keys(np.arange(60, dtype=np.uint64), np.uint64(secret), table, out)
            assert out.tolist() == [*range(10, 17), *[-1] * 53]

    def test_texts_with_equal_hashes_are_told_apart(self):
        """Under the hash of "two " another text stands before it, or instead of it."""
        words, begins = np.frombuffer(b"one two two one ", np.uint64), np.array([0, 4, 8])
        secret, packed, codes = np.uint64(3), np.zeros(9, np.uint64), np.zeros(3, np.int64)
        work, table = np.empty(group_codes.BATCH_ROWS, np.uint64), np.zeros(1024, np.uint64)

        def code(table, packed, progress):
            rows = words, np.uint64(0), begins, begins + 4
            group_codes.code_texts(*rows, secret, table, packed, work, codes, progress)
            return codes.tolist(), progress.tolist()

        assert code(table, packed, np.array([0, 0, 0])) == ([0, 1, 1], [3, 2, 6])
        two = table[::2][table[1::2] == 4]
        crowded, other = np.zeros(1024, np.uint64), np.zeros(1024, np.uint64)
        group_codes.insert_keys(two.repeat(2), np.array([0, 3], np.uint64), secret, crowded)
        assert code(crowded, packed[:6], np.array([0, 2, 6])) == ([-1, 1, 1], [3, 2, 6])
        group_codes.insert_keys(two, np.array([0], np.uint64), secret, other)
        assert code(other, packed[:6], np.array([0, 2, 6]))[0] == [-1, -1, -1]
        assert code(other, packed, np.array([1, 1, 3])) == ([-1, 1, 1], [3, 2, 6])

    def test_secrets_do_not_show(self, monkeypatch):
        names, keys = np.arange(99) * 2**50, np.arange(120) * 2**50
        texts = [str(i) for i in range(99)]
        seen = set()
        for word in (0, 1, 2**64 - 1):
            monkeypatch.setattr(key_tables, "os_word", lambda word=word: word)
            found = codes_of(keys, names_of(names)), *distinct(keys, "by")[:1]
            found += codes_of(texts[::-1], names_of(texts)), *distinct(texts, "by")[:1]
            seen.add(b"".join(part.tobytes() for part in found))
        assert len(seen) == 1


NOON, ZONED = dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
REFUSED = {
    "floats": np.array([1.0, 4711.0]),
    "bytes": np.array([b"Zoe"]),
    "a matrix": np.zeros((2, 2), np.int64),
    "a float": [1, 4711.5],
    "a bool": [4711, True],
    "some bytes": ["a", b"Zoe"],
    "a mixture": [4711, "a"],
    "a date and a number": [dt.date(2020, 1, 1), 4711],
    "a date and a text": [dt.date(2020, 1, 1), "Zoe"],
    "a date and a timestamp": [dt.date(2020, 1, 1), NOON],
    "a bool and a text": [True, "Zoe"],
    "zones": [ZONED],
    "one zone": [NOON, ZONED],
    "decimals": [Decimal(4711)],
    "a text": "Zoe",
    "a set": {4711},
    "an iterator": iter([4711]),
    "a number": 4711,
    "None": None,
    "durations": [np.timedelta64(4711, "s")],
    "python durations": [dt.timedelta(4711)],
    "times": [dt.time(20, 20)],
    "hours": np.array(["2020-01-01T12"], "M8[h]"),
    "hours in a list": [np.datetime64("2020-01-01T12", "h")],
    "ten seconds": np.array(["2020-01-01"], "M8[10s]"),
    "picoseconds": np.array([4711], "M8[ps]"),
    "no unit": np.array([-(2**63)]).view("M8"),
    "numpy durations": np.array([4711], "m8[s]"),
    "tuples": [("Zoe", 4711)],
    "complex": np.array([4711j]),
    "structures": np.zeros(1, "i4, i4"),
    "pandas floats": pd.Series([4711.0, None]),
    "pandas nullable": pd.Series([4711.0], dtype="Float64"),
    "pandas zones": pd.Series([ZONED]),
    "pandas zone": pd.Series([pd.Timestamp(ZONED)], dtype=object),
    "pandas zones in categories": pd.Series([ZONED]).astype("category"),
    "pandas durations": pd.Series([pd.Timedelta(4711)]),
    "pandas periods": pd.Series([pd.Period("2020")]),
    "pandas Arrow zones": pd.Series([ZONED], dtype=pd.ArrowDtype(pa.timestamp("us", "UTC"))),
    "pandas categories": pd.Series([4711.5]).astype("category"),
    "pandas frame": pd.DataFrame({"a": [4711]}),
    "polars floats": pl.Series([4711.5]),
    "polars times": pl.Series([dt.time(20, 20)]),
    "polars durations": pl.Series([dt.timedelta(4711)]),
    "polars zones": pl.Series([ZONED]),
    "polars lists": pl.Series([[4711]]),
    "polars bytes": pl.Series([b"Zoe"]),
    "a frame": pl.DataFrame({"a": [4711]}),
    "arrow decimals": pa.array([Decimal(4711)]),
    "arrow bytes": pa.array([b"Zoe"]),
    "arrow zones": pa.array([ZONED]),
    "arrow times": pa.array([dt.time(20, 20)]),
    "arrow zones in a dictionary": pa.array([ZONED]).dictionary_encode(),
    "arrow durations": pa.array([dt.timedelta(4711)]),
}


class TestRefusals:
    @pytest.mark.engines
    @each("what", REFUSED)
    def test_other_types_are_refused_by_name(self, what):
        for read in (names_of, lambda keys, _: codes_of(keys, names_of([1]), "groups"), distinct):
            with raises(
                "a frame in place of a column", "column of keys", argument="groups"
            ) as caught:
                read(REFUSED[what], "groups")
            message = str(caught.value)
            assert not any(secret in message for secret in ("4711", "Zoe", "2020"))
            assert re.search(r", got [a-z]", message)

    @pytest.mark.engines
    def test_texts_in_a_list_of_integers(self):
        for keys in (["1"], np.array(["1"]), pa.array(["1"]), pd.Categorical(["1"])):
            with raises("city: keys of the groups' kind", type="integers"):
                codes_of(keys, names_of([1]), "city")
        with raises("by: keys of the groups' kind", type="text"):
            codes_of([1], names_of(["1"]))

    @pytest.mark.engines
    @each(
        "groups",
        [
            [1, None], ["a", None], pl.Series(["a", None]), pa.array([1, None]), [None],
            pd.Series([1, None], dtype="Int64"), pd.Categorical(["a", None]), [1, float("nan")],
            pa.DictionaryArray.from_arrays([0, 1], pa.array(["a", None])),
        ],
    )  # fmt: skip
    def test_missing_groups(self, groups):
        with raises("cities: missing names"):
            names_of(groups, "cities")

    @pytest.mark.engines
    @each(
        ("groups", "shown"),
        [
            (["a", "b", "a"], "'a'"), ([1, 2, 2], "2"), (np.array(["x", "x"]), "'x'"),
            (pl.Series([5, 5]), "5"), (pa.chunked_array([["q"], ["q"]]), "'q'"),
            (pa.array(["w", "w"]).dictionary_encode(), "'w'"), ([1, np.uint8(1)], "1"),
        ],
    )  # fmt: skip
    def test_a_group_that_is_named_twice(self, groups, shown):
        with pytest.raises(
            ParameterError, match=says("group named twice", argument="groups", label=shown)
        ):
            names_of(groups)

    @each("groups", [[2**63], [-(2**63) - 1], np.array([2**63], np.uint64)])
    def test_groups_beyond_int64(self, groups):
        with pytest.raises(ParameterError, match=says("groups: keys that can be numbered")):
            names_of(groups)

    def test_different_normal_forms_are_different_groups(self):
        assert names_of([NFC, NFD]).size == 2


class TestEmpty:
    @pytest.mark.engines
    @each(
        "keys",
        [[], np.array([]), np.array([], np.int8), np.array([], "U3"), pa.array([], pa.string()),
         pl.Series([], dtype=pl.Int8), pd.Series([], dtype=object), pd.Series([], dtype="str"),
         pa.array([], pa.null()), pa.chunked_array([], pa.int64())],
    )  # fmt: skip
    def test_no_rows(self, keys):
        names = names_of(keys)
        assert (names.size, names.labels()) == (0, [])
        assert codes_of(keys, names).size == 0
        assert distinct(keys, "by")[0].size == 0

    @pytest.mark.engines
    @each("keys", [[None, None], pa.nulls(2), pl.Series([None, None])])
    def test_nothing_but_missing_keys(self, keys):
        for names in (["a"], [1]):
            assert codes_of(keys, names_of(names)).tolist() == [-1, -1]
        assert distinct(keys, "by")[0].tolist() == [-1, -1]

    def test_an_empty_list_has_no_kind(self):
        for keys in ([1, 2], ["a", "b"], np.array(["a", "b"]), pa.array(["a", "b"])):
            assert codes_of(keys, names_of([])).tolist() == [-1, -1]


class TestNames:
    def test_integers(self):
        names = names_of([5, -1])
        words = [[1, 5, 0, 0], [1, 2**64 - 1, 0, 0]]
        assert names.name_words().tolist() == words
        assert names.name_words().dtype == np.uint64
        tags, streams = names.streams()
        assert (tags.tolist(), streams.tolist()) == ([GROUP] * 2, [5, 2**64 - 1])

    def test_texts(self):
        names = names_of(NAMES)
        for name, row in zip(NAMES, names.name_words(), strict=True):
            made = hashlib.blake2b(name.encode(), digest_size=32, person=b"fastexp.name")
            assert row.astype("<u8").tobytes() == made.digest()
        tags, streams = names.streams()
        pairs = list(zip(tags.tolist(), streams.tolist(), strict=True))
        assert pairs == [text_name(name, GROUP) for name in NAMES]

    @each(
        ("keys", "words"),
        [
            ([True, False], [[4, 1, 0, 0], [4, 0, 0, 0]]),
            ([dt.date(1970, 1, 2), dt.date(1969, 12, 31)], [[5, 1, 0, 0], [5, 2**64 - 1, 0, 0]]),
            (
                [
                    dt.datetime(1970, 1, 1, 0, 0, 3, 7),
                    dt.datetime(1969, 12, 31, 23, 59, 59, 999_999),
                ],
                [[6, 3, 7000, 0], [6, 2**64 - 1, 999_999_000, 0]],
            ),
        ],
    )
    def test_other_kinds(self, keys, words):
        names = names_of(keys)
        assert names.name_words().tolist() == words
        tags, streams = names.streams()
        for row, tag, stream in zip(words, tags.tolist(), streams.tolist(), strict=True):
            told = np.array([1, *row], "<u8").tobytes()
            domain = b"fastexp.names".ljust(32, b"\0")
            digest = hashlib.blake2b(told, digest_size=32, key=domain).digest()
            assert stream == int.from_bytes(digest[:8], "little")
            assert tag == int.from_bytes(digest[8:16], "little") | 2**63

    @each("unit", UNITS)
    def test_timestamps_are_called_the_same_in_all_units(self, unit):
        seconds = np.array([0, 1, -1, 10**9, -(9 * 10**9)], "M8[s]")
        words = names_of(seconds).name_words().tolist()
        assert words == [[6, s % 2**64, 0, 0] for s in seconds.astype(int).tolist()]
        assert names_of(seconds.astype(f"M8[{unit}]")).name_words().tolist() == words

    def test_they_are_values(self):
        lists = [[1, 2], [2, 1], ["1"], [True], [dt.date(2020, 1, 1)], [dt.datetime(2020, 1, 1)]]
        names = [names_of(keys) for keys in lists]
        size = len(pickle.dumps(names[0]))
        codes_of([1], names[0])  # makes tables, which are not pickled
        assert len(pickle.dumps(names[0])) == size
        again = [pickle.loads(pickle.dumps(n)) for n in names]
        assert again == names
        assert len({*names, *again}) == len(names)
        assert "2020" not in repr(names)

    def test_a_list_that_changes_later_changes_no_names(self):
        groups = np.array([1, 2])
        names = names_of(groups)
        groups[:] = 9
        assert names.labels() == [1, 2]
        assert codes_of([2, 9], names).tolist() == [1, -1]


def test_threads_do_not_change_codes(monkeypatch):
    monkeypatch.setattr(group_keys, "MIN_ROWS_PER_THREAD", 10)
    keys = np.random.default_rng(1).integers(-5, 60, 1_000)
    gaps = pa.array(keys, mask=keys % 7 == 0)
    for names in (names_of(range(50)), names_of([3, 2**50, -4, 17])):
        for column in (keys, gaps, keys.astype(np.uint64)):
            expected = codes_of(column, names)
            assert (codes_of(column, names, threads=3) == expected).all()
            assert (expected >= 0).any()
