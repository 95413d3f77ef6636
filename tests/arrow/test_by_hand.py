"""Is Arrow memory given back exactly once, and refused where it breaks the interface's rules?"""

from __future__ import annotations

import gc
import re
import struct

import numpy as np
import pytest

from fastexp.errors import InvalidRecords
from tests.doors.arrow import Array, Schema, arrow
from tests.messages import raises, says
from tests.support import arrow_by_hand as by_hand
from tests.support.arrow_by_hand import OneArray, Rows, Streamed, Type
from tests.support.each import each

I64 = np.arange(10)
OFFSETS = np.array([0, 2, 3], np.int32)
BITS = b"\x05"  # rows 0 and 2 of three
FRAME = Type("+s", children=[Type("l", "a"), Type("+l", "b", [Type("g", "item")])])
LISTS = Type("+l", children=[Type("l")])
CODES = Type("c", dictionary=Type("u"))
WORDS = Rows(2, [None, OFFSETS, b"xxy"])


def numbers(length=3, *, bits=None, nulls=0, offset=0):
    return Rows(length, [bits, I64], nulls=nulls, offset=offset)


def frame(length=2, **more):
    lists = Rows(2, [None, OFFSETS], [Rows(3, [None, np.ones(3)])])
    return Rows(length, [None], [numbers(2), lists], **more)


@pytest.fixture(autouse=True)
def all_is_released_once():
    by_hand.LIVE.clear()  # of a test that failed
    yield
    if by_hand.LIVE:  # in a cycle of an exception and its frames
        gc.collect()
    assert not by_hand.LIVE
    assert set(by_hand.RELEASED.values()) <= {1}


class TestReleases:
    def test_an_array_lives_as_long_as_what_looks_into_it(self):
        offsets = np.array([0, 0, 3], np.int32)
        data = OneArray(LISTS, Rows(2, [b"\x02", offsets], [numbers()], nulls=1))
        (found,) = arrow.column(data)
        values, valid = found.child.values[1:], found.valid
        schema, array = data.tokens
        del found
        assert schema not in by_hand.LIVE
        assert array in by_hand.LIVE
        assert values.tolist() == [1, 2]
        del values
        assert array not in by_hand.LIVE
        assert valid.tolist() == [False, True], "a copy: bits have no form in NumPy"

    def test_a_stream_is_closed_at_its_end_and_batches_are_not(self):
        data = Streamed(FRAME, [frame(), frame(1), frame(2)])
        batches = list(arrow.table(data, ["b", "a"]))
        assert len(by_hand.LIVE) == 3
        kept = batches[1][0].child.values
        del batches
        assert len(by_hand.LIVE) == 1
        assert kept.tolist() == [1.0, 1.0]

    def test_a_batch_can_be_dropped_before_the_next_is_asked_for(self):
        batches = arrow.table(Streamed(FRAME, [frame()] * 5), ["a"])
        for _ in range(5):
            found = next(batches)
            assert len(by_hand.LIVE) <= 3
            del found
        assert list(batches) == []

    @each("asked", [0, 1, 2])
    def test_a_stream_that_is_left_early(self, asked):
        batches = arrow.table(Streamed(FRAME, [frame()] * 3), ["a"])
        for _ in range(asked):
            next(batches)
        assert by_hand.LIVE
        del batches

    def test_frames_that_are_refused(self):
        for names, data in ((["c"], FRAME), (["a"], Type("l"))):
            with pytest.raises(
                Exception,
                match=says("a column in place of a frame", "one column of a name", argument="data"),
            ):
                arrow.table(Streamed(data, [frame()]), names)

    def test_capsules_that_nobody_reads(self):
        OneArray(Type("l"), numbers()).__arrow_c_array__()
        Streamed(Type("l"), []).__arrow_c_stream__()

    @pytest.mark.slow
    def test_many_reads(self):
        data = OneArray(Type("l"), numbers(bits=BITS, nulls=-1))
        for _ in range(2000):
            arrow.column(data)
        assert not by_hand.LIVE
        assert len(data.tokens) == 4000
        by_hand.KEPT.clear()


class TestLayouts:
    def test_unknown_counts_of_nulls_and_absent_bitmaps(self):
        for bits, nulls, valid in (
            (None, -1, None),
            (b"\x07", -1, None),
            (BITS, -1, [True, False, True]),
            (BITS, 1, [True, False, True]),
            (BITS, 0, None),  # told to have none
            (b"\x0f", 2, None),
        ):
            (found,) = arrow.column(OneArray(Type("l"), numbers(bits=bits, nulls=nulls)))
            assert (found.valid is None) == (valid is None)
            assert valid is None or found.valid.tolist() == valid

    @each("form", ["l", "u", "U", "vu", "+l", "+L", "+w:3", "+vl", "+vL", "g"])
    @each("offset", [0, 4])
    def test_nothing_needs_no_buffers(self, form, offset):
        kind = Type(form, children=[Type("l")] if form[0] == "+" else [])
        for rows in (Rows(0, [None] * 3, offset=offset), Rows(0, [], offset=offset, nulls=-1)):
            for data in (OneArray(kind, rows), Streamed(kind, [rows]), Streamed(kind, [])):
                (found,) = arrow.column(data)
                assert found.length == 0
                assert found.offsets is None or found.offsets.tolist() == [0] * (
                    found.kind == "list"
                )
                assert found.values is None or found.values.tolist() == []

    def test_empty_texts_and_lists_need_no_items(self):
        none = np.zeros(4, np.int32)
        (found,) = arrow.column(OneArray(Type("u"), Rows(3, [None, none, None])))
        assert (found.values.size, found.offsets.tolist()) == (0, [0] * 3)
        (found,) = arrow.column(OneArray(LISTS, Rows(3, [None, none], [Rows(0, [None, None])])))
        assert (found.child.length, found.offsets.tolist()) == (0, [0] * 4)

    def test_memory_that_is_not_aligned_is_copied(self):
        held = np.zeros(81, np.uint8)
        held[1:] = np.arange(10.0).view(np.uint8)
        odd = held.ctypes.data + 1
        (found,) = arrow.column(OneArray(Type("g"), Rows(9, [None, odd], offset=1)))
        assert found.values.flags.aligned
        assert found.values.tolist() == list(range(1, 10))

    def test_anything_may_lie_under_a_null(self):
        """Codes, views and list views that point nowhere."""
        codes = np.array([1, -99, 0], np.int8)
        data = OneArray(CODES, Rows(3, [BITS, codes], nulls=1, dictionary=WORDS))
        assert arrow.column(data)[0].values.tolist() == [1, 0, 0]
        views = struct.pack("<i12s4i4s12x", 3, b"abc", -9, 7, 99, 1 << 30, b"\0\0\0\0")
        data = OneArray(Type("vu"), Rows(3, [BITS, views, None], nulls=1))
        (found,) = arrow.column(data)
        assert found.values[found.offsets[0] : found.ends[0]].tobytes() == b"abc"
        assert (found.offsets == found.ends).tolist() == [False, True, True]
        starts, sizes = np.array([8, 1 << 30, 0], np.int32), np.array([2, -5, 1], np.int32)
        kind = Type("+vl", children=[Type("l")])
        (found,) = arrow.column(OneArray(kind, Rows(3, [BITS, starts, sizes], [numbers(10)], 1)))
        assert found.child.values.tolist() == [8, 9, 0]
        assert found.offsets.tolist() == [0, 2, 2, 3]

    def test_absent_names_and_metadata(self):
        pair = [b"ARROW:extension:nam", b"", b"ARROW:extension:name", b"own.type"]
        packed = struct.pack("<i", 2) + b"".join(struct.pack("<i", len(b)) + b for b in pair)
        for kind, form in ((Type("l", None), "l"), (Type("l", metadata=packed), "l (own.type)")):
            (found,) = arrow.column(OneArray(kind, numbers()))
            assert found.format == form
        (batch,) = arrow.table(Streamed(Type("+s", children=[Type("l", None)]), [frame()]), [""])
        assert batch[0].values.tolist() == [0, 1]

    def test_codes_of_codes_never_pass_for_integers(self):
        kind = Type("l")
        for _ in range(6):
            kind = Type("l", dictionary=kind)
            wrapped = Type("+s", children=[Type("+l", "a", [kind])])
            (found,) = next(arrow.table(Streamed(wrapped, []), ["a"]))
            assert found.child.kind == (
                "dictionary" if kind.dictionary.dictionary is None else "other"
            )


def view(length, number=0, place=0):
    return struct.pack("<i4sii", length, b"", number, place)


def metadata(*numbers):
    return struct.pack(f"<{len(numbers)}i", *numbers)


LONG = np.array([4], np.int64)  # the size of the one buffer of texts
BROKEN = {
    "negative length": (Type("l"), numbers(-1)),
    "negative offset": (Type("l"), numbers(offset=-1)),
    "far offset": (Type("l"), numbers(offset=1 << 60)),
    "offset beyond memory": (Type("l"), numbers(offset=(1 << 48) - 9)),
    "too many nulls": (Type("l"), numbers(nulls=4, bits=BITS)),
    "negative nulls": (Type("l"), numbers(nulls=-2, bits=BITS)),
    "nulls, no bitmap": (Type("l"), numbers(nulls=1)),
    "no values": (Type("l"), Rows(3, [None, None])),
    "too few buffers": (Type("l"), Rows(3, [None])),
    "no buffers": (Type("l"), Rows(3, [])),
    "negative buffers": (Type("l"), Rows(3, [None, I64], n_buffers=-1)),
    "buffers promised": (Type("l"), Rows(3, [], n_buffers=2)),
    "falling offsets": (Type("u"), Rows(2, [None, np.array([0, 2, 1], np.int32), b"abc"])),
    "one row that falls": (Type("u"), Rows(1, [None, np.array([2, 1], np.int32), b"abc"])),
    "negative offsets": (Type("u"), Rows(2, [None, np.array([-1, 2, 3], np.int32), b"abc"])),
    "no texts": (Type("u"), Rows(2, [None, OFFSETS, None])),
    "far texts": (Type("U"), Rows(1, [None, np.array([0, 1 << 60]), b"abc"])),
    "short items": (LISTS, Rows(2, [None, OFFSETS], [numbers(2)])),
    "no items": (LISTS, Rows(2, [None, OFFSETS], [])),
    "items NULL": (LISTS, Rows(2, [None, OFFSETS], [None])),
    "list without items": (Type("+l"), Rows(2, [None, OFFSETS], [numbers()])),
    "list of two": (Type("+l", children=[Type("l")] * 2), Rows(2, [None, OFFSETS], [numbers()])),
    "list type NULL": (Type("+l", children=[None]), Rows(2, [None, OFFSETS], [numbers()])),
    "list types promised": (Type("+l", n_children=1), Rows(2, [None, OFFSETS], [numbers()])),
    "negative types": (Type("+l", n_children=-1), Rows(2, [None, OFFSETS], [numbers()])),
    "fixed lists": (Type("+w:3", children=[Type("l")]), Rows(2, [None], [numbers(5)])),
    "too wide": (Type(f"+w:{1 << 62}", children=[Type("l")]), Rows(4, [None], [numbers(5)])),
    "no width": (Type("+w:", children=[Type("l")]), Rows(2, [None], [numbers(5)])),
    "negative width": (Type("+w:-1", children=[Type("l")]), Rows(2, [None], [numbers(5)])),
    "far view": (
        Type("+vl", children=[Type("l")]),
        Rows(1, [None, np.array([2], np.int32), np.array([9], np.int32)], [numbers(10)]),
    ),
    "negative view": (
        Type("+vL", children=[Type("l")]),
        Rows(1, [None, np.array([2]), np.array([-1])], [numbers(10)]),
    ),
    "no dictionary": (CODES, Rows(1, [None, b"\0"])),
    "code too large": (CODES, Rows(1, [None, b"\2"], dictionary=WORDS)),
    "code negative": (CODES, Rows(1, [None, b"\xff"], dictionary=WORDS)),
    "code of a row": (CODES, Rows(3, [BITS, b"\0\0\2"], nulls=1, dictionary=WORDS)),
    "negative code of a row": (CODES, Rows(3, [BITS, b"\0\0\xff"], nulls=1, dictionary=WORDS)),
    "code of nothing": (CODES, Rows(1, [None, b"\0"], dictionary=Rows(0, []))),
    "text of no buffer": (Type("vu"), Rows(1, [None, view(13), None])),
    "text of another": (Type("vu"), Rows(1, [None, view(13, 1), b"x" * 20, LONG * 5])),
    "text of a negative": (Type("vu"), Rows(1, [None, view(13, -1), b"x" * 20, LONG * 5])),
    "text too long": (Type("vu"), Rows(1, [None, view(13), b"x" * 12, LONG * 3])),
    "text too far": (Type("vu"), Rows(1, [None, view(13, 0, 1), b"x" * 13, np.array([13])])),
    "text before": (Type("vu"), Rows(1, [None, view(13, 0, -1), b"x" * 20, LONG * 5])),
    "text negative": (Type("vu"), Rows(1, [None, view(-1), b"x" * 20, LONG * 5])),
    "no format": (Type(None), numbers()),
    "metadata": (Type("l", metadata=metadata(1, -5)), numbers()),
}


class TestBrokenProducers:
    @each("case", BROKEN)
    def test_structs_that_break_the_rules(self, case):
        kind, rows = BROKEN[case]
        data = OneArray(kind, rows), Streamed(kind, [rows])
        for one in data:
            with raises("malformed Arrow data", argument="by", what=re.compile("[a-z _]+")):
                arrow.column(one, "by")
        whole = Streamed(Type("+s", children=[kind]), [Rows(rows.length, [None], [rows])])
        with raises("malformed Arrow data", argument=re.compile(r"data(\[''\])?")):
            list(arrow.table(whole, [""]))

    @each("rows", [frame(3), frame(2, offset=1), frame(nulls=1), Rows(2, [None])])
    def test_frames_beyond_their_columns(self, rows):
        with raises("malformed Arrow data"):
            list(arrow.table(Streamed(FRAME, [frame(), rows]), ["a"]))

    @pytest.mark.slow
    @pytest.mark.parametrize("batches", [0, 1])
    def test_a_stream_that_fails(self, batches):
        told = "data: failed Arrow producer"
        data = Streamed(FRAME, [frame()] * batches, error=5)
        found = arrow.table(data, ["a"])
        for _ in range(batches):
            next(found)
        with pytest.raises(InvalidRecords, match=says(told)) as caught:
            next(found)
        assert caught.tb is not None
        assert data.tokens[0] not in by_hand.LIVE, "closed before the exception is forgotten"
        with pytest.raises(InvalidRecords, match=says(told)):
            arrow.column(Streamed(None, []))
        with pytest.raises(InvalidRecords, match=says(told)):
            arrow.column(Streamed(Type("l"), [numbers()], error=-1))

    @each("error", [ValueError, KeyError, TypeError, MemoryError])
    def test_a_method_that_raises(self, error):
        class Raising:
            def __arrow_c_array__(self):
                raise error("secret")

        with raises("failed Arrow producer") as caught:
            arrow.column(Raising())
        assert caught.value.__context__ is caught.value.__cause__ is None

    def test_what_is_no_capsule(self):
        class Odd:
            returned = None

            def __arrow_c_array__(self, requested_schema=None):
                return self.returned

        class OddStream:
            def __arrow_c_stream__(self, requested_schema=None):
                return Odd.returned

        good = OneArray(Type("l"), numbers()).__arrow_c_array__()
        other = by_hand.capsule(Schema(), b"no_arrow")
        for odd in (
            None,
            1,
            good[0],
            (1, 2),
            [*good],
            good[::-1],
            (other, good[1]),
            (good[0],) * 2,
        ):
            Odd.returned = odd
            for data in (Odd(), OddStream()):
                with raises("malformed Arrow data"):
                    arrow.column(data)

    def test_a_capsule_is_read_once(self):
        made = OneArray(Type("l"), numbers()).__arrow_c_array__()

        class Same:
            def __arrow_c_array__(self):
                return made

        assert arrow.column(Same())[0].values.tolist() == [0, 1, 2]
        with raises("malformed Arrow data, got ...read before"):
            arrow.column(Same())

    def test_a_stream_without_its_functions_or_its_schema(self):
        class Bare:
            get_schema = 0

            def __arrow_c_stream__(self):
                capsule = Streamed(Type("l"), []).__arrow_c_stream__()
                place = by_hand.inside(id(capsule), b"arrow_array_stream")
                by_hand.Stream.from_address(place).get_schema = self.get_schema or None
                return capsule

        with raises("malformed Arrow data, got ...without its callbacks"):
            arrow.column(Bare())
        nothing = by_hand.FILL(lambda _, __: 0)
        Bare.get_schema = by_hand.address_of(nothing)
        with raises("malformed Arrow data, got ...without a schema"):
            arrow.column(Bare())

    def test_columns_that_are_not_asked_for_may_be_broken(self):
        rows = Rows(2, [None], [numbers(2), Rows(-1, [])])
        (batch,) = arrow.table(Streamed(FRAME, [rows]), ["a"])
        assert batch[0].length == 2

    def test_the_structs_are_those_of_the_interface(self):
        sizes = [by_hand.ctypes.sizeof(kind) for kind in (Schema, Array, by_hand.Stream)]
        assert sizes == [72, 80, 40]
