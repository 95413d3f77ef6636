"""Are Arrow types, slices, nulls and chunks read as what they are? pyarrow's reading decides."""

from __future__ import annotations

from datetime import datetime, time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.doors.arrow import arrow
from tests.messages import raises
from tests.support.checks.arrow import RNG, framed, read, rows, slices, some
from tests.support.each import each

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
INTEGERS += [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
TEXTS = [pa.string(), pa.large_string(), pa.string_view()]
LISTS = [pa.list_, pa.large_list, pa.list_view, pa.large_list_view, lambda t: pa.list_(t, 2)]
WORDS = ["", "a", "Käse", "twelve bytes", "thirteen byte", "x" * 40, "\U0001f600" * 9, "a\0b"]
NUMBERS = [0, 1, -5, 127, -128, 3, 77]


class TestNumbers:
    @each("kind", [*INTEGERS, pa.float32(), pa.float64()], ids=str)
    def test_of_all_widths_with_and_without_gaps_sliced(self, kind):
        low = 0 if str(kind)[0] == "u" else -3
        for gaps in (0, 0.4, 1):
            whole = pa.array(some(list(range(low, 90)), 60, gaps), kind)
            for part in slices(whole):
                assert read(part) == part.to_pylist()
        found = arrow.column(whole)[0]
        assert found.values.dtype == kind.to_pandas_dtype()
        assert found.kind == ("floats" if str(kind)[0] not in "ui" else "integers")

    def test_extremes_and_what_is_no_number(self):
        ends = [-(2**63), 2**63 - 1]
        assert read(pa.array(ends)) == ends
        assert read(pa.array([2**64 - 1], pa.uint64())) == [2**64 - 1]
        odd = read(pa.array([np.nan, -0.0, np.inf, None], from_pandas=False))
        assert str(odd) == "[nan, -0.0, inf, None]"


class TestTexts:
    @each("kind", TEXTS, ids=str)
    def test_of_all_layouts_sliced(self, kind):
        for gaps in (0, 0.4, 1):
            for part in slices(pa.array(some(WORDS, 60, gaps), kind)):
                assert read(part) == part.to_pylist()

    @pytest.mark.engines
    def test_views_into_several_buffers_out_of_order(self):
        """Joined strings of Polars: every piece brings buffers, a filter leaves holes in them."""
        pieces = [
            pl.Series([f"{i}, a long text of piece {j}" for i in range(50)]) for j in range(7)
        ]
        whole = pl.concat([pl.Series(WORDS), *pieces], rechunk=True)
        shuffled = whole.sample(fraction=1, shuffle=True, seed=1)
        for series in (
            whole,
            shuffled,
            shuffled.filter(shuffled.str.contains("3")),
            whole[20:200:7],
        ):
            assert read(series) == series.to_list()

    @pytest.mark.engines
    @each("order", [[0, 2, 1, 3], [1, 2, 3], [3, 0], [2, 2], [0, 1, 2, 3]])
    def test_views_that_follow_each_other_or_seem_to(self, order):
        texts = [f"thirteen byt{i}" for i in range(4)]
        assert read(pl.Series(texts).gather(order)) == [texts[i] for i in order]

    @pytest.mark.engines
    def test_views_longer_than_a_block(self):
        texts = ["x" * 50_000, "", "short", "y" * 3, "z" * 40_000, "w" * 13] * 3
        assert read(pl.Series(texts)) == texts
        many = [str(i) * (i % 9) for i in range(30_000)]
        assert read(pl.Series(many)) == many


class TestLists:
    @each("make", LISTS)
    @each("item", [pa.int16(), pa.float64()], ids=str)
    def test_of_all_layouts_sliced(self, make, item):
        lists = [[1, 2], [3, None], [None, 4]]
        if not pa.types.is_fixed_size_list(make(item)):
            lists += [[], [5], [6, 7, None, 9]]
        for gaps in (0, 0.4, 1):
            for part in slices(pa.array(some(lists, 60, gaps), make(item))):
                assert read(part) == part.to_pylist()

    @each("kind", TEXTS, ids=str)
    def test_of_texts_and_of_codes(self, kind):
        lists = some([["a", None, "b" * 20], [], ["c"]], 60)
        whole = pa.array(lists, pa.large_list(kind))
        offsets, codes = whole.offsets, whole.flatten().dictionary_encode()
        coded = pa.LargeListArray.from_arrays(offsets, codes, mask=whole.is_null())
        for part in [*slices(whole), *slices(coded)]:
            assert read(part) == part.to_pylist()

    def test_items_around_a_slice_are_not_seen(self):
        """A null elsewhere is none here, and offsets begin at 0."""
        part = pa.array([[None, 1], [2, 3], [4], [None]]).slice(1, 2)
        (found,) = arrow.column(part)
        assert found.child.valid is None
        assert found.child.values.tolist() == [2, 3, 4]
        assert found.offsets.tolist() == [0, 2, 3]

    def test_items_that_are_sliced_themselves(self):
        items = pa.array([9, None, 1, 2, None, 3, 4, 9]).slice(1, 6)
        whole = pa.ListArray.from_arrays(pa.array([0, 2, 2, 6], pa.int32()), items)
        assert read(whole) == [[None, 1], [], [2, None, 3, 4]]
        assert read(whole.slice(2)) == [[2, None, 3, 4]]

    def test_null_lists_may_have_items(self):
        mask = pa.array([False, True, False])
        whole = pa.ListArray.from_arrays([0, 2, 4, 5], pa.array([1, 2, 3, 4, 5]), mask=mask)
        assert read(whole) == [[1, 2], None, [5]]
        assert arrow.column(whole)[0].child.values.tolist() == [1, 2, 5]
        words = pa.array(["", "one", None, "a", "two"])
        for part in (words, words.dictionary_encode()):
            lists = pa.ListArray.from_arrays([0, 2, 4, 5], part, mask=mask)
            assert read(lists) == [["", "one"], None, ["two"]]
            assert read(lists.slice(1)) == [None, ["two"]]
            assert arrow.column(lists)[0].child.length == 3

    def test_list_views_may_overlap_and_go_back(self):
        starts, sizes = pa.array([4, 0, 1, 0], pa.int32()), pa.array([2, 3, 3, 0], pa.int32())
        whole = pa.ListViewArray.from_arrays(starts, sizes, pa.array([0, 1, 2, 3, 4, None]))
        assert read(whole) == [[4, None], [0, 1, 2], [1, 2, 3], []]
        assert read(whole.slice(1, 2)) == [[0, 1, 2], [1, 2, 3]]
        assert arrow.column(whole.slice(1, 2))[0].child.valid is None

    @each("make", LISTS)
    def test_lists_of_lists_are_refused(self, make):
        nested = pa.array([None], make(pa.list_(pa.int64())))
        with raises("keys: lists of lists"):
            arrow.column(nested, "keys")
        frame = pa.table({"a": nested, "b": [1]})
        with raises("data['a']: lists of lists"):
            arrow.table(frame, ["b", "a"])
        assert framed(frame, "b") == [[1]]


class TestDictionaries:
    @each("code", INTEGERS, ids=str)
    @each("kind", [*TEXTS, pa.int32(), pa.float64()], ids=str)
    def test_of_all_codes_sliced(self, code, kind):
        words = ["a", "b" * 30, "c"] if kind in TEXTS else [5, -1, 8]
        whole = pa.DictionaryArray.from_arrays(
            pa.array(some([0, 1, 2], 60), code), pa.array(words, kind)
        )
        for part in slices(whole):
            assert read(part) == part.to_pylist()

    def test_nulls_in_codes_and_in_the_dictionary_which_is_sliced(self):
        words = pa.array(["no", "a", None, "b", "a"]).slice(1)
        whole = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 3, 2, 1]), words)
        assert read(whole) == ["a", None, None, "a", "b", None]
        (found,) = arrow.column(whole.slice(3))
        assert found.valid is not None or rows(found) == ["a", "b", None]
        assert found.valid is None, "a null of the dictionary is none of the codes"
        assert found.child.valid.tolist() == [True, False, True, True]

    def test_an_empty_dictionary(self):
        whole = pa.DictionaryArray.from_arrays(
            pa.array([None, None], pa.int8()), pa.array([""])[:0]
        )
        (found,) = arrow.column(whole)
        assert (found.values.tolist(), found.valid.tolist()) == ([0, 0], [False, False])
        assert (found.child.kind, found.child.length) == ("text", 0)

    def test_of_what_is_not_read(self):
        zoned = pa.array([datetime(2020, 1, 1)], pa.timestamp("us", "UTC")).dictionary_encode()
        assert arrow.column(zoned)[0].kind == "other"


OTHERS = {
    "tsu:UTC": pa.array([datetime(2020, 1, 1)], pa.timestamp("us", "UTC")),
    "ttu": pa.array([time(1)]),
    "tDs": pa.array([1], pa.duration("s")),
    "z": pa.array([b"x"]),
    "Z": pa.array([b"x"], pa.large_binary()),
    "vz": pa.array([b"x"], pa.binary_view()),
    "w:2": pa.array([b"xy"], pa.binary(2)),
    "n": pa.nulls(3),
    "+m": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
    "+r": pa.RunEndEncodedArray.from_arrays([2, 3], [5, 6]),
    "+ud:0": pa.UnionArray.from_dense(
        pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([7])]
    ),
    "l (pandas.period)": pa.array(pd.period_range("2020", periods=2, freq="M")),
    "c (arrow.bool8)": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1], pa.int8())),
    "+vl": pa.array([["a"]], pa.list_view(pa.string())),
}


# The types that are read as numbers: what they are stored as, and some of these numbers.
STORED = {
    "b": (pa.bool_(), [True, None, False, True] * 5),
    "tdD": (pa.int32(), [-1, 0, None, 2**31 - 1, -(2**31)]),
    "tdm": (pa.int64(), [86_400_000, None, -86_400_000]),
    "tss:": (pa.int64(), [-(2**63), None, 2**63 - 1]),
    "tsm:": (pa.int64(), [1, None, 0]),
    "tsu:": (pa.int64(), [1, None, 0]),
    "tsn:": (pa.int64(), [1, None, 0]),
}
KINDS = [pa.bool_(), pa.date32(), pa.date64(), *map(pa.timestamp, ("s", "ms", "us", "ns"))]


class TestBooleansDatesAndTimestamps:
    @each(("form", "kind"), list(zip(STORED, KINDS, strict=True)))
    def test_are_read_as_numbers(self, form, kind):
        storage, numbers = STORED[form]
        whole = pa.array(numbers, storage).view(kind)
        for data in (whole, *(whole.slice(i) for i in range(1, len(numbers)))):
            expected = numbers[len(numbers) - len(data) :]
            assert read(data) == expected
            assert arrow.column(data)[0].format == form
            if form != "b":  # pyarrow does not encode these
                assert read(data.dictionary_encode()) == expected
            assert read(pa.LargeListArray.from_arrays([0, len(data)], data)) == [expected]


class TestOtherTypes:
    @pytest.mark.engines
    @each("form", OTHERS)
    def test_are_told_and_not_read(self, form):
        data = OTHERS[form]
        (found,) = arrow.column(data)
        assert (found.kind, found.format, found.length) == ("other", form, len(data))
        assert found.values is found.offsets is found.child is None
        for name in ("a", "b"):
            batches = arrow.table(pa.table({"a": [1] * len(data), "b": data}), [name])
            assert next(batches)[0].kind == ("integers" if name == "a" else "other")
        if form != "+vl":
            (listed,) = arrow.column(pa.LargeListArray.from_arrays([0, len(data)], data))
            assert (listed.kind, listed.child.kind, listed.child.format) == ("list", "other", form)

    def test_all_null_is_known_of_the_null_type(self):
        assert arrow.column(pa.nulls(3))[0].valid.tolist() == [False] * 3
        assert arrow.column(pa.nulls(0))[0].valid is None

    @pytest.mark.engines
    def test_frames_are_no_columns_and_columns_are_no_frames(self):
        for frame in (pl.DataFrame({"a": [1]}), pa.table({"a": [1]}), pa.array([{"a": 1}])):
            with raises("by: a frame in place of a column"):
                arrow.column(frame, "by")
        with raises("data: a column in place of a frame"):
            arrow.table(pl.Series([1]), ["a"])
        for no in ([1], np.zeros(2), {"a": [1]}, None, pl.Series, pl.DataFrame({"a": [1]}).lazy()):
            assert not arrow.is_arrow(no)


class TestChunksAndFrames:
    def test_chunks_are_kept_and_so_is_the_type_without_any(self):
        chunks = pa.chunked_array([[1, 2], [], [None, 3]], pa.int32())
        assert [rows(found) for found in arrow.column(chunks)] == [[1, 2], [], [None, 3]]
        none = pa.chunked_array([], pa.dictionary(pa.int8(), pa.string()))
        (found,) = arrow.column(none)
        assert (found.kind, found.length, found.child.kind) == ("dictionary", 0, "text")

    @each("kind", [*INTEGERS, *TEXTS, pa.float32(), pa.bool_(), pa.date32()], ids=str)
    def test_nothing_has_the_type_of_something(self, kind):
        types = [kind, pa.dictionary(pa.int16(), kind), *(make(kind) for make in LISTS)]
        for t in types:
            (some,) = arrow.column(pa.nulls(3, t))
            for none in (pa.nulls(0, t), pa.chunked_array([], t), pa.nulls(9, t).slice(9)):
                (found,) = arrow.column(none)
                assert (found.kind, found.format, found.length) == (some.kind, some.format, 0)
                assert "other" in (found.kind, found.child and found.child.kind) or not rows(found)
                if some.offsets is not None:
                    assert found.offsets.dtype == some.offsets.dtype
                if some.values is not None:
                    assert found.values.dtype == some.values.dtype

    def test_columns_come_in_the_order_asked_for_and_twice_if_asked(self):
        frame = pa.table({"a": [1, 2], "b": ["x", None], "c": [[1.0], []]})
        assert framed(frame, "c", "a", "a") == [[[1.0], []], [1, 2], [1, 2]]
        assert framed(frame) == []

    def test_batches_one_by_one(self):
        frame = pa.concat_tables([pa.table({"a": [i, None]}) for i in range(4)])
        sizes = [found.length for (found,) in arrow.table(frame, ["a"])]
        assert sizes == [2] * 4
        assert framed(frame.slice(3, 4), "a") == [[None, 2, None, 3]]
        assert framed(frame.to_reader(3), "a") == framed(frame, "a")
        (batch,) = pa.table({"a": [1]}).to_batches()
        assert framed(batch, "a") == [[1]]

    def test_no_batch_still_has_its_types(self):
        schema = pa.schema({"a": pa.int8(), "b": pa.list_(pa.string())})
        batches = list(arrow.table(schema.empty_table(), ["b", "a"]))
        assert [[found.kind for found in batch] for batch in batches] == [["list", "integers"]]
        none = pa.RecordBatchReader.from_batches(schema, [])
        assert framed(none, "b", "a") == [[], []]

    def test_structs_have_slices_and_nulls_of_their_own(self):
        """Those of the frame and those of its columns, both; every bit offset."""
        a, b = pa.array(some(NUMBERS, 60)), pa.array(some([["x"], [], ["yy", None]], 60))
        mask = pa.array(RNG.random(60) < 0.3)
        whole = pa.StructArray.from_arrays(
            [a.slice(2, 50), b.slice(5, 50)], ["a", "b"], mask=mask[:50]
        )
        for part in slices(whole):
            told = [row or {"a": None, "b": None} for row in part.to_pylist()]
            assert framed(part, "a", "b") == [[row[name] for row in told] for name in ("a", "b")]

    def test_names_must_be_there_and_be_one(self):
        frame = pa.table([[1], [2], [3]], names=["a", "b", "b"])
        with raises("people: one column of a name, got none", name="'c'"):
            arrow.table(frame, ["a", "c"], "people")
        with raises("one column of a name, got several", name="'b'"):
            arrow.table(frame, ["b"])
        assert framed(frame, "a") == [[1]]
        assert framed(pa.table({"größe": [1], "": [2]}), "größe", "") == [[1], [2]]
