"""Are the same records answered the same, whatever column they come in, by group or not?"""

from __future__ import annotations

import math
import re
from datetime import date, datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastexp as fx
from fastexp.errors import ParameterError, ParameterTypeError
from tests.doors.arrow import arrow as _arrow
from tests.messages import raises, says
from tests.support.each import each

MEDIAN = fx.Median(1.0, bounds=(0, 100), step=0.25)
MECHANISMS = [
    MEDIAN,
    fx.Quantile(0.9, 1.0, bounds=(0, 100), step=1),
    fx.Mode(1.0, bounds=(0, 100), step=1),
    fx.Price(1.0, bounds=(0, 100), step=1),
    fx.Maximum(1.0, bounds=(0, 100), grid=[0, 7, 30, 99.5]),
]
PLAIN = [3.5, 80.25, 12.0, 7.75, 50.0, 99.5, 12.0]
WHOLE = [3, 80, 12, 7, 50, 99, 12]
MONEY = [Decimal(str(x)) for x in PLAIN]
KEY = fx.release_key()
DIGITS = Context(prec=100)


class Capsule:
    """Only the Arrow interface, and how often it was asked."""

    def __init__(self, data):
        self._data, self.asked = pa.array(data) if isinstance(data, list) else data, 0

    def __arrow_c_array__(self, requested_schema=None):
        self.asked += 1
        return self._data.__arrow_c_array__(requested_schema)


class StreamOnly:
    """A stream of chunks."""

    def __init__(self, *chunks):
        self.chunks, self.asked = pa.chunked_array(list(chunks)), 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.asked += 1
        return self.chunks.__arrow_c_stream__(requested_schema)


def forms(values):
    """A list of floats in many forms."""
    array = pa.array(values)
    yield np.array(values)
    yield np.array(values, np.float32)
    yield np.array(values, object)
    yield tuple(values)
    yield array
    yield pa.chunked_array([values[:3], [], values[3:]])
    yield Capsule(values)
    yield StreamOnly(values[:2], values[2:])
    yield pl.Series(values)
    yield pl.concat([pl.Series(values[:2]), pl.Series(values[2:])], rechunk=False)
    yield pd.Series(values)
    yield pd.Series(values, dtype="Float64")
    yield pd.Series(values, dtype=pd.ArrowDtype(pa.float64()))
    yield np.ma.array(values, mask=False)


def money_forms(values):
    """Decimals in many forms."""
    for kind in (pa.decimal128(9, 2), pa.decimal256(40, 4), pa.decimal128(20, 10)):
        yield pa.array(values, kind)
        yield Capsule(pa.array(values, kind))
        yield pa.chunked_array([pa.array(values[:3], kind), pa.array(values[3:], kind)])
    yield pa.array(values, pa.decimal32(9, 2))
    yield pa.array([*values, values[0]], pa.decimal64(18, 3))[:-1]
    yield values
    yield tuple(values)
    yield np.array(values, object)
    yield [Fraction(x) for x in values]
    yield pl.Series(values, dtype=pl.Decimal(20, 2))
    yield pd.Series(values)
    yield pd.Series(values, dtype=pd.ArrowDtype(pa.decimal128(9, 2)))


def answers(mechanism, records, nan="raise"):
    """Draws, law and keyed release, plain and as one group."""
    drawn = mechanism.sample(records, 5, rng=3, nan=nan)
    grouped = mechanism.sample(records, 5, by=[1] * 7, groups=[1], rng=3, nan=nan)
    offset = mechanism.sample(records, 5, offsets=[0, 7], rng=3, nan=nan)
    released = mechanism.release(records, key=KEY, label="q", nan=nan)
    return drawn.tolist(), grouped.tolist(), offset.tolist(), released


@pytest.mark.engines
@each("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_floats_of_every_form(mechanism):
    expected, law = answers(mechanism, PLAIN), mechanism.law(PLAIN)
    for records in forms(PLAIN):
        assert answers(mechanism, records) == expected
        assert mechanism.law(records) == law
        mechanism.release(records)


@pytest.mark.engines
@each("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_money(mechanism):
    expected, law = answers(mechanism, PLAIN), mechanism.law(PLAIN)
    for records in money_forms(MONEY):
        assert answers(mechanism, records) == expected
        assert mechanism.law(records) == law


@pytest.mark.engines
def test_integers_keep_their_digits():
    mechanism = fx.Median(1.0, bounds=(2**62, 2**62 + 40), step=1)
    values = [2**62 + x for x in (3, 38, 12, 7, 20, 39, 12)]
    expected, law = answers(mechanism, values), mechanism.law(values)
    nullable = pd.Series(values, dtype="Int64"), pd.Series(values, dtype="UInt64")
    arrow = (
        pa.array(values),
        Capsule(pa.array(values, pa.uint64())),
        StreamOnly(values[:1], values[1:]),
    )
    objects = np.array(values, object), [np.int64(x) for x in values], [int(x) for x in values]
    for records in (np.array(values, np.uint64), pl.Series(values), *nullable, *arrow, *objects):
        assert answers(mechanism, records) == expected
        assert mechanism.law(records) == law


@pytest.mark.engines
@each("nan", ["drop", "lower", "upper"])
def test_missing_records_of_every_form(nan):
    """Whatever is missing, the others keep their digits, and a bound is a bound."""
    gaps = [*WHOLE[:2], None, *WHOLE[2:], None]
    filled = {"drop": WHOLE, "lower": [*WHOLE, 0, 0], "upper": [*WHOLE, 100, 100]}[nan]
    law = MEDIAN.law(filled)
    whole = pa.array(gaps)
    money = [None if x is None else Decimal(x) for x in gaps]
    columns = [
        whole,
        pa.chunked_array([gaps[:3], gaps[3:]]),
        Capsule(gaps),
        StreamOnly(gaps[:2], gaps[2:]),
        pl.Series(gaps),
        pl.Series(gaps, dtype=pl.Decimal(10, 1)),
        pd.Series(gaps, dtype="Int64"),
        pd.Series(gaps, dtype="UInt8"),
        pd.Series(gaps),
        pd.Series(gaps, dtype=object),
        pd.Series(money),
        pd.Series(gaps, dtype=pd.ArrowDtype(pa.int32())),
        pd.Series(money, dtype=pd.ArrowDtype(pa.decimal128(9, 2))),
        gaps,
        money,
        np.array(gaps, object),
        [*gaps[:-1], math.nan],
        [*money[:-1], Decimal("NaN")],
        whole.cast(pa.decimal128(30, 3)),
        np.ma.array([x or 0 for x in gaps], mask=[x is None for x in gaps]),
    ]
    for column in columns:
        assert MEDIAN.law(column, nan=nan) == law
        drawn = MEDIAN.sample(column, 9, rng=1, nan=nan)
        assert (drawn == MEDIAN.sample(filled, 9, rng=1)).all()
        grouped = MEDIAN.sample(column, 9, by=[4] * len(gaps), groups=[4], rng=1, nan=nan)
        assert (grouped == MEDIAN.sample(filled, 9, by=[4] * len(filled), groups=[4], rng=1)).all()
        for verb in (MEDIAN.release, MEDIAN.sample, MEDIAN.law):
            with raises("records: missing records"):
                verb(column)


class TestDecimals:
    """Each is the nearest double; Python's own division is the twin."""

    @pytest.mark.slow
    @given(
        st.lists(st.integers(-(10**38) + 1, 10**38 - 1) | st.integers(-999, 999), max_size=9),
        st.integers(0, 38),
        st.sampled_from([128, 256]),
    )
    @settings(max_examples=200)
    def test_are_the_nearest_doubles(self, numbers, scale, width):
        make = pa.decimal128 if width == 128 else pa.decimal256
        kind = make(38, scale)
        values = [None if n == 7 else Decimal(n).scaleb(-scale, DIGITS) for n in numbers]
        column = pa.array(values, kind)
        (chunk,) = _arrow.column(column[1:] if numbers else column)
        exact = [Fraction(n) / Fraction(10) ** scale for n in numbers[1:] if n != 7]
        assert chunk.kind == "floats"
        assert chunk.values.dtype == np.float64
        valid = slice(None) if chunk.valid is None else chunk.valid
        assert chunk.values[valid].tolist() == [float(x) for x in exact]

    @pytest.mark.parametrize("make", [pa.decimal32, pa.decimal64])
    def test_narrow_ones(self, make):
        numbers = [0, 1, -1, 30, 101, 123_456_789, -999_999_999]
        money = [Decimal(n).scaleb(-2) for n in numbers]
        (chunk,) = _arrow.column(pa.array(money, make(9, 2)))
        assert chunk.values.tolist() == [n / 100 for n in numbers]

    def test_of_a_scale_below_zero(self):
        numbers = [Decimal(5000), Decimal(-12345000), Decimal(99999) * 10**20]
        (small,) = _arrow.column(pa.array(numbers[:2], pa.decimal128(20, -3)))
        (large,) = _arrow.column(pa.array(numbers[2:], pa.decimal128(5, -20)))
        assert [*small.values, *large.values] == [float(x) for x in numbers]

    def test_of_lists_and_none_at_all(self):
        kind = pa.decimal128(9, 2)
        lists = pa.array([MONEY[:3], None, MONEY[3:]], pa.list_(kind))
        plain = pa.array([PLAIN[:3], None, PLAIN[3:]])
        assert (MEDIAN.sample(lists, 4, rng=1) == MEDIAN.sample(plain, 4, rng=1)).all()
        (chunk,) = _arrow.column(pa.array([], kind))
        assert (chunk.kind, chunk.values.dtype) == ("floats", np.float64)
        assert MEDIAN.law(pa.array([], kind)) == MEDIAN.law([])

    def test_far_ones_and_none(self):
        law = MEDIAN.law([100.0, 0.0, 5.0])
        assert MEDIAN.law([Decimal("1e999"), Decimal("-Infinity"), Decimal(5)]) == law
        assert MEDIAN.law([Fraction(10**999), -Fraction(10**999), 5]) == law

    def test_half_floats(self):
        assert MEDIAN.law(pa.array(np.array(PLAIN, np.float16))) == MEDIAN.law(PLAIN)


DAY = date(2024, 7, 31)
WRONG = {
    "numpy bool": (np.array([True]), "bool"),
    "list of bool": ([True, None], "an object of type bool"),
    "arrow bool": (pa.array([True, None]), "booleans"),
    "capsule of bool": (Capsule([True]), "booleans"),
    "polars bool": (pl.Series([True]), "booleans"),
    "pandas bool": (pd.Series([True]), "bool"),
    "pandas nullable bool": (pd.Series([True, None], dtype="boolean"), "boolean"),
    "dates": ([DAY], "an object of type date"),
    "numpy dates": (np.array([DAY], "datetime64[D]"), "datetime64[D]"),
    "arrow dates": (pa.array([DAY]), "dates"),
    "arrow timestamps": (pa.array([datetime(2024, 7, 31)]), "timestamps"),
    "polars dates": (pl.Series([DAY]), "dates"),
    "pandas dates": (
        pd.Series(pd.to_datetime(["2024-07-31"]).as_unit("ns")),
        "datetime64[ns]",
    ),
    "spans": ([timedelta(1)], "an object of type timedelta"),
    "polars spans": (pl.Series([timedelta(1)]), "the Arrow type 'tDu'"),
    "arrow text": (pa.array(["7341"]), "text"),
    "capsule of text": (Capsule(["7341"]), "text"),
    "polars text": (pl.Series(["7341"]), "text"),
    "pandas text": (pd.Series(["7341"], dtype=object), "an object of type str"),
    "categories": (pa.array(["7341"]).dictionary_encode(), "categories"),
    "bytes": (pa.array([b"7341"]), "the Arrow type 'z'"),
    "structures in a list": ([{"a": 7341}], "an object of type dict"),
    "complex": (np.array([7341j]), "complex128"),
    "text among decimals": ([Decimal(7341), "x"], "an object of type str"),
}


@pytest.mark.engines
@each("name", WRONG)
def test_what_is_no_number_is_refused_by_its_type(name):
    records, got = WRONG[name]
    size = len(records._data if isinstance(records, Capsule) else records)
    calls = [
        lambda: MEDIAN.release(records),
        lambda: MEDIAN.sample(records),
        lambda: MEDIAN.law(records),
        lambda: MEDIAN.continuous_law(records),
        lambda: MEDIAN.release(records, by=[1] * size, groups=[1]),
        lambda: MEDIAN.sample(records, offsets=[0, size]),
        lambda: fx.LaplaceMedian(1.0, bounds=(0, 10)).law(records),
    ]
    for call in calls:
        with raises("numbers of a type", argument="records", got=got) as caught:
            call()
        assert "7341" not in str(caught.value)


@pytest.mark.engines
def test_a_frame_and_lists_of_text_are_refused_precisely():
    frame = pl.DataFrame({"rent": PLAIN})
    for call in (MEDIAN.release, MEDIAN.sample, MEDIAN.law):
        with raises("frame in place of records"):
            call(frame)
    with raises("records: numbers of a type, got text"):
        MEDIAN.release(pa.array([["a"]]))
    with raises("records: numbers of a type, got list"):
        MEDIAN.law(pa.array([[1.0]]))


def test_a_producer_is_asked_once():
    """Also to find out whether its column holds lists."""
    for make in (
        lambda: Capsule(PLAIN),
        lambda: StreamOnly(PLAIN),
        lambda: Capsule([PLAIN, [1.0]]),
    ):
        for verb in (MEDIAN.release, MEDIAN.sample):
            column = make()
            verb(column)
            assert column.asked == 1
    column = Capsule(PLAIN)
    MEDIAN.law(column)
    assert column.asked == 1


def test_labels_of_a_stream_that_is_gone_after_one_call():
    for candidates, labels in ((["a", "b"], ["b", "b", "a"]), ([1, 5], [5, 5, 1])):
        mechanism, n = fx.MostCommon(0.5, candidates), len(labels)
        lists = [labels, labels[2:]]
        for call in (
            lambda data, m=mechanism: m.law(data).probabilities.tolist(),
            lambda data, m=mechanism: m.sample(data, 9, rng=1).tolist(),
            lambda data, m=mechanism, n=n: m.sample(data, 9, rng=1, offsets=[0, n]).tolist(),
        ):
            column = StreamOnly(pa.array(labels))
            assert call(column) == call(labels)
            assert column.asked == 1
        for data in (labels, lists):
            column = StreamOnly(pa.array(data))
            mechanism.release(column)
            assert column.asked == 1
        column = StreamOnly(pa.array(lists))
        drawn = mechanism.sample(column, 9, rng=1).tolist()
        assert (
            drawn == mechanism.sample(labels + labels[2:], 9, rng=1, offsets=[0, n, n + 1]).tolist()
        )
        assert column.asked == 1


def test_only_the_type_is_looked_at_before_a_budget_is_charged():
    class Rows:
        """A stream whose rows fail."""

        def __arrow_c_stream__(self, requested_schema=None):
            def batches():
                raise ValueError("SECRET")
                yield

            reader = pa.RecordBatchReader.from_batches(pa.schema([("x", pa.float64())]), batches())
            return reader.__arrow_c_stream__(requested_schema)

    budget = fx.Budget(epsilon=5)
    with raises("a frame in place of a column"):
        MEDIAN.release(Rows(), budget=budget)
    assert budget.spent == 0


@pytest.mark.engines
class TestLabels:
    """Of the most common value: the same columns without groups as with them."""

    WORDS = fx.MostCommon(1.0, candidates=["tea", "coffee", "milk"])
    NUMBERS = fx.MostCommon(1.0, candidates=[1, 2, 30])

    def test_texts(self):
        words = ["tea", "milk", "tea", None, "wine", "coffee", "tea"]
        columns = [
            pa.array(words),
            pa.array(words).dictionary_encode(),
            pa.chunked_array([words[:3], words[3:]]),
            Capsule(words),
            StreamOnly(words[:2], words[2:]),
            pl.Series(words),
            pl.Series(words, dtype=pl.Categorical),
            pd.Series(words),
            pd.Series(words, dtype="string"),
            np.ma.array([w or "tea" for w in words], mask=[w is None for w in words]),
            np.array(words, object),
        ]
        law = self.WORDS.law([w for w in words if w])
        for column in [*columns, words]:
            assert self.WORDS.law(column) == law
            drawn = self.WORDS.sample(column, 9, by=[1] * 7, groups=[1], rng=2)
            kept = self.WORDS.sample([w or "" for w in words], 9, by=[1] * 7, groups=[1], rng=2)
            assert (drawn == kept).all()
            assert self.WORDS.release(column) in self.WORDS.candidates

    def test_numbers(self):
        law = self.NUMBERS.law([1, 2, 1, 30, 30, 30])
        gaps = [1, 2, None, 1, 30, 30, 30, 4]
        for column in (
            Capsule(gaps),
            Capsule([None if x is None else float(x) for x in gaps]),
            pa.array(gaps),
            pl.Series(gaps),
            pd.Series(gaps),
            pd.Series(gaps, dtype="Int64"),
            np.array([1, 2, 1, 30, 30, 30, 4], np.uint8),
        ):
            assert self.NUMBERS.law(column) == law
        halves = fx.MostCommon(1.0, candidates=[0.5, 2.0])
        masked = np.ma.array([0.5, 2.0, 2.0, 0.5], mask=[0, 1, 0, 0])
        for column in (Capsule([0.5, None, 2.0, 0.5]), masked):
            assert halves.law(column) == halves.law([0.5, 2.0, 0.5])


@pytest.mark.engines
class TestUtilities:
    MECHANISM = fx.Exponential(1.0, 1.0)

    def test_columns_of_numbers(self):
        law = self.MECHANISM.law(PLAIN)
        for column in (
            Capsule(PLAIN),
            StreamOnly(PLAIN[:2], PLAIN[2:]),
            pa.array(PLAIN),
            pl.Series(PLAIN),
            pd.Series(PLAIN),
        ):
            assert self.MECHANISM.law(column) == law
            self.MECHANISM.release(column)
        huge = [2**62 + 1, 2**62, 5]
        assert self.MECHANISM.law(Capsule(huge)) == self.MECHANISM.law(huge)
        frame = pl.DataFrame({"a": PLAIN, "b": PLAIN})
        assert self.MECHANISM.sample(frame, rng=1).shape == (7,)
        assert self.MECHANISM.sample(pa.table({"a": PLAIN, "b": PLAIN}), rng=1).shape == (7,)

    def test_missing_ones(self):
        gaps = Capsule([1.0, None, 3.0])
        with raises("utilities that are finite"):
            self.MECHANISM.law(gaps)
        lowest = self.MECHANISM.law(Capsule([1.0, None, 3.0]), nan="lowest")
        assert lowest == self.MECHANISM.law([1.0, math.nan, 3.0], nan="lowest")
        for nan in ("raise", "lowest"):
            for column in (Capsule([1, None, 3]), pl.Series([2**62 + 1, None])):
                with raises("utilities: missing values"):
                    self.MECHANISM.law(column, nan=nan)

    @each(
        ("utilities", "got"),
        [
            (MONEY, "decimals or fractions"),
            ([[Decimal(1), Decimal(2)]], "decimals or fractions"),
            ([Fraction(1, 3)], "decimals or fractions"),
            (np.array(MONEY, object), "decimals or fractions"),
            (pd.Series(MONEY), "decimals or fractions"),
            (pl.Series(MONEY), "decimals or fractions"),
            (pa.array(MONEY), "decimals or fractions"),
            (Capsule(pa.array(MONEY)), "decimals or fractions"),
            (Capsule([True]), "booleans"),
            (pa.array([DAY]), "dates"),
            (pl.Series(["a"]), "text"),
            (Capsule([[1.0]]), "list"),
            (np.array([1.0], np.float16), "float16"),
            (np.array([1.0], np.longdouble), str(np.dtype(np.longdouble))),
            (np.array([[1j]]), "complex128"),
            (np.array(["a"]), "str"),
            (np.array([DAY], "datetime64[D]"), r"datetime64\[D\]"),
        ],
    )
    def test_what_is_no_utility_is_refused_by_its_type(self, utilities, got):
        with pytest.raises(
            ParameterTypeError,
            match=says(
                "types of utilities",
                "numbers of a type",
                argument="utilities",
                got=re.compile(f"{got}.*"),
            ),
        ):
            self.MECHANISM.law(utilities)


NO_TEXT = {
    "array": np.array([1, 2]),
    "booleans": np.array([True, False]),
    "bytes": np.array([b"a", b"b"]),
    "dates": np.array(["2020-01-02"], "datetime64[D]"),
    "series": pd.Series([1, 2]),
    "series of dates": pd.Series(pd.to_datetime(["2020-01-02"], utc=True)),
    "categories": pd.Series([1, 2], dtype="category"),
    "arrow in pandas": pd.Series([1, 2], dtype="int64[pyarrow]"),
    "dates in pandas": pd.Series([date(2020, 1, 2)], dtype="date32[pyarrow]"),
    "polars": pl.Series([1, 2]),
    "polars dates": pl.Series([date(2020, 1, 2)]),
    "arrow": pa.array([1, 2]),
    "arrow bytes": pa.array([b"a"]),
    "chunks": pa.chunked_array([[1.5], [2.5]]),
    "lists": pa.array([[1], [2]]),
}
NO_NUMBERS = {
    "array": np.array(["1", "2"]),
    "dates": np.array(["2020-01-02"], "datetime64[D]"),
    "series": pd.Series(["1", "2"]),
    "text in pandas": pd.Series(["1", "2"], dtype="string"),
    "categories": pd.Series(["1", "2"], dtype="category"),
    "polars": pl.Series(["1", "2"]),
    "polars categories": pl.Series(["1", "2"], dtype=pl.Categorical),
    "polars dates": pl.Series([date(2020, 1, 2)]),
    "arrow": pa.array(["1", "2"]),
    "codes": pa.array(["1", "2"]).dictionary_encode(),
    "dates of arrow": pa.array([date(2020, 1, 2)]),
    "lists": pa.array([["1"], ["2"]]),
}
MISFITS = [
    *[(["a", "b"], "text", records) for records in NO_TEXT.values()],
    *[([1, 2], "numbers", records) for records in NO_NUMBERS.values()],
]


@pytest.mark.engines
@each(
    ("candidates", "wanted", "records"),
    MISFITS,
    ids=[*map("no text: {}".format, NO_TEXT), *NO_NUMBERS],
)
def test_labels_of_another_type_cost_nothing(candidates, wanted, records):
    mechanism, budget = fx.MostCommon(1.0, candidates), fx.Budget(5.0)
    keys = {} if isinstance(records, pa.ListArray) else {"by": [1] * len(records)}
    calls = [{"groups": [1, 2], **keys}] + [{}] * bool(keys)
    for call in calls:
        with pytest.raises(
            ParameterTypeError, match=says("records and candidates of one type", wanted=wanted)
        ):
            mechanism.release(records, budget=budget, **call)
    assert budget.spent == 0.0


@pytest.mark.engines
@each("wrap", [np.array, pd.Series, pl.Series, pa.array])
def test_whole_floats_and_decimals_are_integers(wrap):
    mechanism = fx.MostCommon(1.0, [1, 2])
    want = mechanism.law([1, 1, 2]).probabilities
    for items in ([1.0, 1.0, 2.0], [Decimal(1), Decimal("1.00"), Decimal(2)]):
        assert (mechanism.law(wrap(items)).probabilities == want).all()


@pytest.mark.engines
class TestSeriesOfOneFrame:
    """Records, groups and persons of pandas are aligned by their index, or refused."""

    MEDIAN = fx.Median(epsilon=1.0, bounds=(0, 100), step=1)

    @staticmethod
    def frame():
        kinds = {"rent": "Float64", "zip": "Int64", "person": "Int64"}
        rents = [float(i * 7 % 100) for i in range(60)]
        rows = {"rent": rents, "zip": [30, 12, 5] * 20, "person": list(range(60))}
        return pd.DataFrame(rows).astype(kinds)

    def test_another_index_is_refused(self):
        data, budget = self.frame(), fx.Budget(epsilon=1.0)
        for argument in ("by", "person"):
            how = {"by": data["zip"], "groups": [30], "person": data["person"]}
            how[argument] = how[argument][::-1]
            with pytest.raises(
                ParameterError, match=says("index of the records", argument=argument)
            ):
                self.MEDIAN.release(data["rent"], budget=budget, **how)
            with pytest.raises(
                ParameterError, match=says("index of the records", argument=argument)
            ):
                self.MEDIAN.sample(data["rent"], **how)
        assert budget.spent == 0.0

    def test_the_same_index_and_none_are_taken(self):
        data, how = self.frame(), {"groups": [12, 30, 404], "rng": 2}
        zips = data["zip"].tolist()
        want = self.MEDIAN.sample(data["rent"].tolist(), by=zips, **how).tolist()
        for by in (data["zip"], data["zip"].copy(), data["zip"].array, zips):
            assert self.MEDIAN.sample(data["rent"], by=by, **how).tolist() == want
