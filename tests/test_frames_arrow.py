"""Do Arrow tables and streams get the core's answers, in any form, and tell nothing else?"""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import fastexp as fx
from fastexp.arrow import release, sample
from fastexp.frames import arrow

from . import frame_cases as cases

KEY = fx.release_key()


class Stream:
    """Nothing but a stream, of batches of some rows."""

    def __init__(self, table, rows=37):
        self._reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(rows))

    def __arrow_c_stream__(self, requested_schema=None):
        return self._reader.__arrow_c_stream__(requested_schema)


FORMS = {
    "table": lambda data: cases.table(data),
    "chunks": lambda data: cases.table(data, 9),
    "slice": lambda data: (
        pa.concat_tables([cases.table(cases.DATA)] * 2).slice(cases.ROWS, len(data["town"]))
        if data is cases.DATA
        else cases.table(data, 4)
    ),
    "batch": lambda data: cases.table(data).combine_chunks().to_batches()[0],
    "reader": lambda data: cases.table(data).to_reader(100),
    "stream": lambda data: Stream(cases.table(data)),
}


def released(frame, q, key=KEY, **more):
    return release(frame, q.mechanism, q.column, by=q.by, groups=q.groups, key=key, **q.how, **more)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", cases.QUESTIONS | cases.PERSONS)
class TestTheCoresAnswers:
    def test_keyed(self, form, name):
        q = (cases.QUESTIONS | cases.PERSONS)[name]
        expected = cases.core_release(cases.DATA, q, KEY)
        for data in (cases.DATA, cases.shuffled()):
            found = released(FORMS[form](data), q)
            assert found.column_names == [q.by, q.column]
            assert found[q.by].to_pylist() == q.groups
            assert found[q.column].to_pylist() == expected

    def test_simulated(self, form, name):
        q = (cases.QUESTIONS | cases.PERSONS)[name]
        how = {"by": q.by, "groups": q.groups, "rng": 5, **q.how}
        for size in (None, 3):
            frame = FORMS[form](cases.shuffled())
            found = sample(frame, q.mechanism, q.column, size=size, name="d", **how)
            assert found["d"].to_pylist() == cases.core_sample(cases.DATA, q, 5, size)


MEDIAN = cases.QUESTIONS["median"]


class TestKeysAndRecordsOfOtherTypes:
    @pytest.mark.parametrize("kind", [pa.string(), pa.string_view(), "dictionary"])
    def test_texts(self, kind):
        whole = cases.table(chunks=3)
        towns = whole["town"].cast(pa.string())
        towns = towns.dictionary_encode() if kind == "dictionary" else towns.cast(kind)
        found = released(whole.set_column(0, "town", towns), MEDIAN)
        assert found["rent"].to_pylist() == cases.core_release(cases.DATA, MEDIAN, KEY)

    def test_chunks_with_dictionaries_of_their_own(self):
        parts = [
            pa.table({"town": pa.array(towns).dictionary_encode(), "rent": [1.0, 2.0]})
            for towns in (["Oslo", "Rome"], ["Rome", "Bern"])
        ]
        whole = pa.concat_tables(parts)
        plain = whole.set_column(0, "town", whole["town"].cast(pa.string()))
        for frame in (whole, Stream(whole)):
            assert released(frame, MEDIAN) == released(plain, MEDIAN)

    def test_decimals_are_floats(self):
        data = {"town": ["Oslo"] * 9, "rent": [Decimal("10.25")] * 9}
        floats = {**data, "rent": [10.25] * 9}
        assert released(pa.table(data), MEDIAN) == released(pa.table(floats), MEDIAN)

    @pytest.mark.parametrize("kind", [pa.int16(), pa.uint64()])
    def test_integers_of_any_width(self, kind):
        q = cases.QUESTIONS["median-zip"]
        data = {"zip": [30, 12, 30, None, 5], "rent": [1.0, 2.0, 3.0, 4.0, 5.0]}
        frame = pa.table({"zip": pa.array(data["zip"], kind), "rent": data["rent"]})
        assert released(frame, q) == released(pa.table(data), q)


class TestTheShapeTellsNothing:
    @pytest.mark.parametrize("name", ["median", "fine", "drink", "integers"])
    def test_whatever_the_groups_that_exist(self, name):
        q = cases.QUESTIONS[name]
        worlds = [cases.DATA, *cases.neighbors(q)]
        found = [released(FORMS[form](data), q) for data in worlds for form in ("table", "stream")]
        assert len({str(table.schema) for table in found}) == 1
        assert all(table[q.by].to_pylist() == q.groups for table in found)
        draws = [
            sample(
                cases.table(data),
                q.mechanism,
                q.column,
                by=q.by,
                groups=q.groups,
                size=2,
                nan="drop",
            )
            for data in worlds
        ]
        assert len({str(table.schema) for table in draws}) == 1


class TestGroupsFromTheData:
    @pytest.mark.parametrize("by", ["town", "zip"])
    def test_are_sorted_and_come_with_a_warning(self, by):
        there = {g for g in cases.DATA[by] if g is not None}
        with pytest.warns(fx.PrivacyWarning, match="from-data"):
            found = release(cases.table(), cases.MEDIAN, "rent", by=by, groups="from-data", key=KEY)
        assert found[by].to_pylist() == sorted(there)

    @pytest.mark.filterwarnings("ignore::fastexp.PrivacyWarning")
    def test_have_their_type_without_a_row(self):
        kinds = {
            by: release(cases.table(cases.NONE), cases.MEDIAN, "rent", by=by, groups="from-data")
            for by in ("town", "zip")
        }
        assert kinds["town"].schema.field(0).type == pa.string()
        assert kinds["zip"].schema.field(0).type == pa.int64()

    def test_samples_do_not_warn(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sample(cases.table(), cases.MEDIAN, "rent", by="zip", groups="from-data", rng=1)


class TestStreams:
    def test_only_listed_rows_are_held(self):
        rows = arrow.opened(Stream(cases.table()), "rent", "town", None)
        call = arrow.release_call(cases.MEDIAN, "rent", "town", ["Oslo", "Rome"])
        held = arrow.held(call, rows.parts)
        assert set(held["group"].to_pylist()) == {"Oslo", "Rome"}
        assert held.num_rows == sum(t in ("Oslo", "Rome") for t in cases.DATA["town"])

    def test_nothing_is_read_before_the_budget_is_charged(self):
        reader = cases.table().to_reader(100)
        with pytest.raises(fx.BudgetExceeded):
            released(reader, MEDIAN, budget=fx.Budget(epsilon=0.5))
        assert released(reader, MEDIAN)["rent"].to_pylist() == cases.core_release(
            cases.DATA, MEDIAN, KEY
        )

    @pytest.mark.parametrize("form", [pa.RecordBatch, Stream])
    def test_views_of_text(self, form):
        """Of which pyarrow leaves out no rows."""
        data = {"town": ["Oslo", "Bergen", None] * 9, "drink": ["tea", "cola", "milk"] * 9}
        whole = pa.table(data, pa.schema({name: pa.string_view() for name in data}))
        frame = Stream(whole, 4) if form is Stream else whole.to_reader(4)
        q = cases.Question(cases.DRINK, "drink", "town", {"person": "drink"})
        budget = fx.Budget(epsilon=1.0)
        assert released(frame, q, budget=budget) == released(pa.table(data), q)

    def test_a_mistake_of_ours_is_not_the_engines(self, monkeypatch):
        monkeypatch.setattr(arrow, "codes_of", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            released(Stream(cases.table()), MEDIAN)


class TestCharges:
    def test_once_for_a_call(self):
        budget = fx.Budget(epsilon=10.0)
        released(Stream(cases.table()), MEDIAN, budget=budget, max_groups=2)
        assert budget.spent == pytest.approx(2.0)

    def test_nothing_for_a_column_that_is_not_there(self):
        budget = fx.Budget(epsilon=10.0)
        with pytest.raises(fx.ParameterError, match="column must be a column of the frame"):
            release(cases.table(), cases.MEDIAN, "price", by="town", groups=["Oslo"], budget=budget)
        assert budget.spent == 0


class TestRefusals:
    @pytest.mark.engines
    @pytest.mark.parametrize(
        ("frame", "how", "error", "text"),
        [
            ([1, 2], {}, fx.ParameterTypeError, "frame must be an Arrow table or stream, got list"),
            (pa.chunked_array([[1]]), {}, fx.ParameterTypeError, r"got pyarrow\.\S*ChunkedArray"),
            (pl.Series([1]), {}, fx.ParameterTypeError, r"got polars\.\S*Series"),
            (None, {"name": "town"}, fx.ParameterError, "name must differ from by"),
            (None, {"name": 3}, fx.ParameterTypeError, "name must be a column's name"),
            (None, {"by": 3}, fx.ParameterTypeError, "by must be a column's name"),
            (None, {"by": "rent"}, fx.ParameterError, "by must be another column than column"),
            (None, {"person": "nobody"}, fx.ParameterError, "person must be a column of the frame"),
            (None, {"groups": None}, fx.ParameterError, "groups must be given"),
            (None, {"groups": [1.5]}, fx.ParameterTypeError, "groups must be"),
        ],
    )
    def test_of_arguments(self, frame, how, error, text):
        frame = cases.table() if frame is None else frame
        how, budget = {"by": "town", "groups": ["Oslo"], **how}, fx.Budget(epsilon=1.0)
        with pytest.raises(error, match=text):
            release(frame, cases.MEDIAN, "rent", budget=budget, **how)
        assert budget.spent == 0

    def test_of_columns_of_one_name(self):
        twice = pa.table([[1.0], [2.0], ["Oslo"]], names=["rent", "rent", "town"])
        with pytest.raises(fx.ParameterError, match="column must be one column of the frame"):
            released(twice, MEDIAN)

    @pytest.mark.parametrize("column", ["holes", "nans", "drink"])
    def test_messages_hold_no_data(self, column):
        data = {**cases.DATA, "town": ["Oslo"] * cases.ROWS}
        for frame in (cases.table(data), Stream(cases.table(data))):
            with pytest.raises((fx.InvalidRecords, fx.ParameterTypeError)) as caught:
                release(frame, cases.MEDIAN, column, by="town", groups=["Oslo"])
            assert not any(c.isdigit() for c in str(caught.value).replace("float64", ""))
            assert "tea" not in str(caught.value)


def test_many_draws_make_long_lists(monkeypatch):
    monkeypatch.setattr(arrow, "INT32", 4)
    how = {"by": "zip", "groups": [30, 0], "size": 2, "rng": 1}
    found = sample(cases.table(), cases.MEDIAN, "rent", **how)
    assert found.schema.field("rent").type == pa.large_list(pa.int64())
    assert np.shape(found["rent"].to_pylist()) == (2, 2)
