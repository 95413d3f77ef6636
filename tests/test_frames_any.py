"""Does every kind of frame get its own kind back, with the same answers?"""

from __future__ import annotations

import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastexp as fx
from fastexp import frame as any_frame
from fastexp.errors import InvalidRecords, ParameterError, ParameterTypeError, PrivacyWarning
from fastexp.frames import any as home

from . import frame_cases as cases
from .frame_cases import DATA, MEDIAN, PERSONS, QUESTIONS, core_release, core_sample

pytestmark = pytest.mark.engines

KEY = fx.release_key()
every = pytest.mark.parametrize(
    "q", [*QUESTIONS.values(), *PERSONS.values()], ids=[*QUESTIONS, *PERSONS]
)


class Stream:
    """What has nothing but a stream."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def polars(data=DATA):
    return pl.from_arrow(cases.table(data))


def lazy(data=DATA):
    return polars(data).lazy()


def pandas(data=DATA):
    return cases.table(data).to_pandas(types_mapper=pd.ArrowDtype)


def arrow(data=DATA):
    return cases.table(data, chunks=4 if data["town"] else 1)


def relation(data=DATA):
    return duckdb.connect().from_arrow(cases.table(data))  # which holds its connection


def stream(data=DATA):
    return Stream(arrow(data))


RESULTS = {
    polars: pl.DataFrame,
    lazy: pl.LazyFrame,
    pandas: pd.DataFrame,
    arrow: pa.Table,
    relation: duckdb.DuckDBPyRelation,
    stream: pa.Table,
}
kinds = pytest.mark.parametrize("kind", RESULTS, ids=lambda kind: kind.__name__)


def columns(found):
    """A frame of any kind as lists by name."""
    if isinstance(found, pl.LazyFrame):
        found = found.collect()
    if isinstance(found, pl.DataFrame):
        return found.to_dict(as_series=False)
    if isinstance(found, duckdb.DuckDBPyRelation):
        found = found.to_arrow_table()
    if isinstance(found, pa.Table):
        return found.to_pydict()
    return {
        name: [x.tolist() if isinstance(x, np.ndarray) else x for x in found[name].tolist()]
        for name in found
    }


@pytest.fixture
def without(monkeypatch):
    """Pretend that packages are not installed."""

    def hide(*names):
        real = home.find_spec
        monkeypatch.setattr(home, "find_spec", lambda n: None if n in names else real(n))

    return hide


@pytest.fixture
def by_narwhals(monkeypatch):
    """Frames of Polars and pandas as if they were not known here."""
    monkeypatch.setattr(home, "own_module", lambda _: None)


class TestKinds:
    @kinds
    @every
    def test_the_answers_are_the_cores_and_the_kind_is_kept(self, kind, q):
        how = {"by": q.by, "groups": q.groups, **q.how}
        found = any_frame.release(kind(), q.mechanism, q.column, key=KEY, **how)
        assert isinstance(found, RESULTS[kind])
        assert columns(found) == {q.by: q.groups, q.column: core_release(DATA, q, KEY)}
        drawn = any_frame.sample(kind(), q.mechanism, q.column, rng=4, size=2, **how)
        assert columns(drawn) == {q.by: q.groups, q.column: core_sample(DATA, q, 4, 2)}

    @kinds
    def test_groups_of_the_data(self, kind):
        for by in ("town", "zip"):
            listed = sorted({group for group in DATA[by] if group is not None})
            with pytest.warns(PrivacyWarning) as told:
                found = any_frame.release(
                    kind(), MEDIAN, "rent", by=by, groups="from-data", key=KEY, name="x"
                )
            assert told[0].filename == __file__
            assert columns(found)[by] == listed

    @kinds
    def test_a_budget_is_charged_once(self, kind):
        budget = fx.Budget(epsilon=1.5)
        how = {"by": "zip", "groups": [30], "budget": budget}
        if kind is not stream:  # whose columns are known only when it is read
            with pytest.raises(ParameterError):
                any_frame.release(kind(), MEDIAN, "rents", **how)
        any_frame.release(kind(), MEDIAN, "rent", **how)
        assert budget.spent == 1.0
        with pytest.raises(fx.BudgetExceeded):
            any_frame.release(kind(), MEDIAN, "rent", **how)

    @kinds
    def test_messages(self, kind):
        how = {"by": "zip", "groups": [30]}
        with pytest.raises(InvalidRecords, match=r"^records must not be missing"):
            columns(any_frame.release(kind(), MEDIAN, "nans", **how))
        with pytest.raises(ParameterError, match=r"^name must differ from by"):
            any_frame.release(kind(), MEDIAN, "rent", name="zip", **how)
        with pytest.raises(ParameterTypeError, match=r"^by must be a column's name, got int"):
            any_frame.release(kind(), MEDIAN, "rent", by=3, groups=[1])


@pytest.mark.usefixtures("by_narwhals")
class TestNarwhals:
    """The way of Modin and cuDF, walked by frames that are installed."""

    @pytest.mark.parametrize("kind", [polars, pandas])
    @every
    def test_the_answers_are_the_cores(self, kind, q):
        for data in (DATA, *cases.neighbors(q)[:2]):
            how = {"by": q.by, "groups": q.groups, **q.how}
            found = any_frame.release(kind(data), q.mechanism, q.column, key=KEY, **how)
            assert isinstance(found, RESULTS[kind])
            assert columns(found) == {q.by: q.groups, q.column: core_release(data, q, KEY)}
            drawn = any_frame.sample(kind(data), q.mechanism, q.column, rng=4, size=2, **how)
            assert columns(drawn) == {q.by: q.groups, q.column: core_sample(data, q, 4, 2)}

    @pytest.mark.parametrize("kind", [polars, pandas])
    def test_types_do_not_depend_on_rows(self, kind):
        q = QUESTIONS["median"]
        for groups in (q.groups, [], "from-data"):
            shown = set()
            for data in (DATA, cases.NONE):
                found = any_frame.sample(kind(data), MEDIAN, "rent", by="town", groups=groups)
                shown.add(tuple(map(str, found.dtypes)))
            assert len(shown) == 1

    def test_columns_that_are_not_there(self):
        told = r"^by must be a column of the frame, one of 'town', .*, got 'x'$"
        with pytest.raises(ParameterError, match=told):
            any_frame.release(polars(), MEDIAN, "rent", by="x", groups=[1])


class TestWithoutPyarrow:
    @every
    def test_streams_give_a_dict_of_arrays(self, without, q):
        without("pyarrow", "narwhals")
        how = {"by": q.by, "groups": q.groups, **q.how}
        for data in (DATA, *cases.neighbors(q)[:2]):
            for kind in (relation, stream):
                found = any_frame.release(kind(data), q.mechanism, q.column, key=KEY, **how)
                assert type(found) is dict
                want = {q.by: q.groups, q.column: core_release(data, q, KEY)}
                assert {name: list(x) for name, x in found.items()} == want
                drawn = any_frame.sample(kind(data), q.mechanism, q.column, rng=4, size=2, **how)
                assert drawn[q.column].tolist() == core_sample(data, q, 4, 2)
                assert drawn[q.by].dtype == (object if q.by == "town" else np.int64)

    def test_dictionaries(self, without):
        without("pyarrow")
        codes, texts = pa.array([0, 1, None, 2, 0]), pa.array(["a", "b", None])
        numbers = pa.array([7, None, 9])
        for entries, groups in ((texts, ["b", "a"]), (numbers, [9, 7])):
            keys = pa.DictionaryArray.from_arrays(codes, entries)
            data = Stream(pa.table({"k": keys, "x": [1.0, 50.0, 2.0, 60.0, 99.0]}))
            found = any_frame.release(data, MEDIAN, "x", by="k", groups=groups, key=KEY)
            told = {"groups": groups, "key": KEY, "label": "x by k"}
            want = MEDIAN.release([1.0, 50, 2, 60, 99], by=keys.to_pylist(), **told)
            assert found["x"].tolist() == want.tolist()

    def test_what_is_no_utf8_is_no_listed_group(self, without):
        without("pyarrow")
        raw = pa.array([b"\xff", b"a", b"\xef\xbf\xbd"]).cast(pa.binary())
        keys = pa.StringArray.from_buffers(3, *raw.buffers()[1:])
        both = [
            any_frame.sample(Stream(rows), MEDIAN, "x", by="k", groups=["\ufffd", "a"], rng=1)["x"]
            for rows in (
                pa.table({"k": keys, "x": [1, 2, 3]}),
                pa.table({"k": keys[1:], "x": [2, 3]}),
            )
        ]
        assert both[0].tolist() == both[1].tolist()

    def test_types_of_columns(self, without):
        without("pyarrow")
        data = Stream(pa.table({"k": [True, False], "x": [1, 2], "none": pa.nulls(2)}))
        with pytest.raises(ParameterTypeError, match=r"^columns of an Arrow stream must be of"):
            any_frame.release(data, MEDIAN, "x", by="k", groups=[1])
        with pytest.raises(ParameterTypeError, match=r"^by must be a column's name, got int"):
            any_frame.release(data, MEDIAN, "x", by=1, groups=[1])
        assert len(any_frame.sample(data, MEDIAN, "x", by="none", groups=[1])["x"]) == 1


class TestRefused:
    @pytest.mark.parametrize("data", [DATA, [1], np.zeros(3), "x", None, pl.Series([1])])
    def test_what_is_no_frame(self, without, data):
        for hidden in ((), ("narwhals",)):
            without(*hidden)
            with pytest.raises(ParameterTypeError, match=r"^frame must be a frame of Polars"):
                any_frame.release(data, MEDIAN, "rent", by="town", groups=["Oslo"])


@pytest.mark.process
def test_nothing_is_imported_or_registered():
    code = (
        "import sys; from fastexp import frame;"
        "assert not {'polars', 'pandas', 'pyarrow', 'duckdb', 'narwhals'} & set(sys.modules);"
        "import polars as pl, fastexp as fx; how = {'by': 'k', 'groups': [1], 'rng': 1};"
        "frame.sample(pl.DataFrame({'k': [1], 'x': [2]}), fx.Median(1.0, (0, 9)), 'x', **how);"
        "assert not {'pandas', 'pyarrow', 'narwhals'} & set(sys.modules);"
        "assert not hasattr(pl.DataFrame, 'fx')"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)
