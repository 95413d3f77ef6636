"""Does a session of every kind of frame answer what a query answers, from rows of its own?"""

from __future__ import annotations

import gc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastexp as fx
from tests.messages import raises, says
from tests.support import frame_cases as cases
from tests.support.each import each
from tests.support.frame_cases import QUESTIONS
from tests.support.query_frames import FORMS, Frames, answers

pytestmark = pytest.mark.engines
EPSILON = 1e5  # then an answer is what the rows say it is
TABLE = cases.table(cases.DATA)
HELD = {
    "polars": pl.DataFrame,
    "pandas": pd.DataFrame,
    "narwhals": pl.DataFrame,
    "narwhals-v1": pd.DataFrame,
    "narwhals-v2": pa.Table,
    "lists": dict,
    "arrays": dict,
}


def kind(form):
    """The kind of the answers."""
    return HELD.get(form, HELD.get(form.split("-")[0], pa.Table))


def wanted(frame, query, asked):
    return answers(query.release(frame, asked, nan="drop"))


@each("form", FORMS)
def test_answers_are_a_querys(form):
    asked = {
        "rent": (fx.OrderStatistic(7, EPSILON, (0, 100), step=1), "rent"),
        "rooms": (fx.Maximum(EPSILON, (0, 20), step=1), "rooms"),
        "holes": (fx.Maximum(EPSILON, (0, 100), step=1), "holes"),
        "drink": (fx.MostCommon(EPSILON, cases.DRINKS), "drink"),
    }
    session = fx.Session(FORMS[form](TABLE), budget=fx.Budget(1e9))
    for by, groups in (("town", ["Oslo", "Rome"]), ("zip", [30])):
        query = fx.Query(by, groups)
        found = session.release(query, asked, threads=2)
        assert type(found) is kind(form)
        assert answers(found) == wanted(TABLE, query, asked)


@pytest.mark.fast
@each("form", ["polars", "pandas", "pandas-nullable", "arrow", "stream"])
@each("person", ["person", "alias"])
def test_persons(form, person):
    session = fx.Session(
        FORMS[form](TABLE), budget=fx.Budget(1e9), person=person, max_groups=2, max_rows=3
    )
    question = QUESTIONS[next(iter(QUESTIONS))]
    query = fx.Query(question.by, question.groups)
    session.release(query, {"m": (fx.Median(1.0, (0, 100)), "rent")})
    assert session.log()[0]["epsilon"] == 6.0


def numbers():
    return np.arange(5, dtype=np.int64), np.arange(5, dtype=np.float64) / 2


@each(
    "make",
    [
        lambda x, y: {"x": x, "y": y},
        lambda x, y: {"x": pl.Series(x), "y": pd.Series(y, copy=False)},
        lambda x, y: {"x": pa.array(x), "y": pa.chunked_array([y])},
        lambda x, y: pd.DataFrame({"x": x, "y": y}, copy=False),
        lambda x, y: Frames({"x": x, "y": y}, copy=False),
        lambda x, y: pl.DataFrame({"x": x, "y": y}),
        lambda x, y: pl.DataFrame({"x": x, "y": y}).lazy(),
        lambda x, y: pa.table({"x": x, "y": y}),
        lambda x, y: pa.table({"x": x, "y": y}).to_reader(),
        lambda x, y: pd.DataFrame(
            {n: pd.arrays.ArrowExtensionArray(pa.array(v)) for n, v in (("x", x), ("y", y))}
        ),
    ],
)
def test_memory_is_shared_with_nobody(make):
    """Whatever libraries share, as Polars and Arrow share NumPy's arrays."""
    x, y = numbers()
    session = fx.Session(make(x, y), budget=fx.Budget(1e9))
    x[:] = y[:] = 4
    top = fx.Maximum(EPSILON, (0, 4), grid=[0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0])
    low = fx.OrderStatistic(5, EPSILON, (0, 4), step=1)
    found = answers(session.release(None, {"y": (top, "y"), "x": (low, "x")}))
    assert found == {"y": [2.0], "x": [0]}


@pytest.mark.fast
@each("make", [pl.DataFrame, lambda rows: pl.DataFrame(rows).lazy(), dict])
def test_categories_of_polars_are_not_held(make):
    """They are numbered for the whole process: a text of the rows would have a number already."""
    gc.freeze()  # nothing of before is looked through
    texts = [f"someone {i}" for i in range(40)]
    own = pl.Categorical(pl.Categories("people", namespace="test"))  # others may be held by others
    people = pl.Series(texts, dtype=own)
    session = fx.Session(make({"who": people, "x": range(40)}), budget=fx.Budget(1e9))
    assert pl.Series(["nobody", texts[7]], dtype=own).to_physical()[1] == 7
    del people
    gc.collect()
    assert pl.Series(["nobody", texts[7]], dtype=own).to_physical()[1] == 1
    asked = {"m": (fx.Maximum(EPSILON, (0, 99), step=1), "x")}
    found = session.release(fx.Query("who", texts[7:9]), asked)
    assert answers(found) == {"who": texts[7:9], "m": [7, 8]}


@pytest.mark.fast
@each("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_scores_change_nothing(make):
    """Though they can allow themselves to write to what they are given."""

    def score(columns, candidates):
        for column in columns.values():
            column.flags.writeable = True
            column[:] = 0
        return [0.0, 0.0]

    rows = {"x": np.arange(9.0), "y": list(range(9))}
    scores = {"s": (score, ["a", "b"], 1.0)}
    session = fx.Session(make(rows), budget=fx.Budget(1e9), scores=scores)
    session.release(None, {"a": ("s", 1.0)})
    top = fx.Maximum(EPSILON, (0, 9), step=1)
    found = session.release(None, {name: (top, name) for name in rows})
    assert answers(found) == {"x": [8], "y": [8]}


@pytest.mark.fast
@each("form", FORMS)
def test_scores_get_arrays(form):
    seen = {}

    def score(columns, candidates):
        seen.update({name: (type(column), len(column)) for name, column in columns.items()})
        return [0.0, float(np.nansum(columns["rent"]))]

    session = fx.Session(
        FORMS[form](TABLE), budget=fx.Budget(1e9), scores={"s": (score, ["a", "b"], 1.0)}
    )
    assert answers(session.release(None, {"x": ("s", EPSILON)})) == {"x": ["b"]}
    assert seen == dict.fromkeys(TABLE.column_names, (np.ndarray, cases.ROWS))


class TestConnections:
    def test_duckdb_answers_have_none(self):
        duckdb = pytest.importorskip("duckdb")
        con = duckdb.connect()
        con.execute("CREATE TABLE rents AS SELECT range % 5 AS x, 'a' AS g FROM range(99)")
        session = fx.Session(con.table("rents"), budget=fx.Budget(1e9))
        con.execute("DELETE FROM rents")
        asked = {"m": (fx.Maximum(EPSILON, (0, 9), step=1), "x")}
        found = session.release(fx.Query("g", ["a"]), asked)
        assert isinstance(found, pa.Table)
        assert found.to_pydict() == {"g": ["a"], "m": [4]}

    def test_what_duckdb_would_misread_is_refused(self):
        duckdb = pytest.importorskip("duckdb")
        with raises("types that are read as they are"):
            fx.Session(duckdb.sql("SELECT 1 AS x, uuid() AS y"), budget=fx.Budget(1.0))

    def test_dask(self):
        dd = pytest.importorskip("dask.dataframe")
        frame = dd.from_pandas(pd.DataFrame({"x": [1, 2, 2, 2], "g": list("abbb")}), npartitions=2)
        session = fx.Session(frame, budget=fx.Budget(1e9))
        asked = {"m": (fx.Median(EPSILON, (0, 9), step=1), "x")}
        found = session.release(fx.Query("g", ["b"]), asked)
        assert type(found) is pd.DataFrame
        assert answers(found) == {"g": ["b"], "m": [2]}


def test_a_column_that_is_there_twice():
    frame = pd.DataFrame([[1, 2]], columns=["x", "x"])
    with raises("frame with a column twice, got 'x'"):
        fx.Session(frame, budget=fx.Budget(1.0))


def test_a_column_that_cannot_be_copied():
    with raises("columns that can be copied"):
        fx.Session({"x": [lambda: 1]}, budget=fx.Budget(1.0))


@pytest.mark.parametrize(("dtype", "holds"), [(object, "str"), ("category", "categories")])
def test_objects_of_pandas_that_are_no_numbers_are_refused_before_the_charge(dtype, holds):
    """Categories stay what they are, whatever objects they are of."""
    items = ["a", "b", None] if holds == "str" else [1, 2, None]
    column = pd.Series(items * 20, dtype=object).astype(dtype)
    session = fx.Session(pd.DataFrame({"kind": column}), budget=fx.Budget(9.0))
    with pytest.raises(fx.ParameterTypeError, match=says("column of a type", name=f"{holds}...")):
        session.release(None, {"a": (fx.Median(1.0, (0, 9)), "kind")})
    assert session.log() == []
