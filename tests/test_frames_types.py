"""Do all engines read the same numbers, and refuse what is none by its column and type?"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import dask
import dask.dataframe as dd
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastexp as fx
import fastexp.arrow
import fastexp.dask
import fastexp.duckdb
import fastexp.frame
import fastexp.pandas
import fastexp.polars

pytestmark = pytest.mark.engines
TOWNS = ["Oslo", "Rome"]
KEY = fx.release_key()
FINE = fx.Median(epsilon=1.0, bounds=(-1000.0, 1000.0))  # keyed answers tell any other record
MONEY = [None, *map(Decimal, ("0.10", "99.99", "-3.35", "0.07", "512.29", "1e-2", "719.03"))]


class Stream:
    """Nothing but a stream."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def polars(table):
    return fx.polars, pl.DataFrame(table)


def lazy(table):
    return fx.polars, pl.DataFrame(table).lazy()


def pandas(table):
    return fx.pandas, table.to_pandas()


def arrow_in_pandas(table):
    return fx.pandas, table.to_pandas(types_mapper=pd.ArrowDtype)


def arrow(table):
    return fx.arrow, table


def stream(table):
    return fx.arrow, Stream(table)


def any_stream(table):
    return fx.frame, Stream(table)


def relation(table):
    return fx.duckdb, duckdb.connect().from_arrow(table)


def of_dask(table):
    return fx.dask, dd.from_pandas(arrow_in_pandas(table)[1], npartitions=2, sort=False)


def objects_in_dask(table):
    with dask.config.set({"dataframe.convert-string": False}):
        return fx.dask, dd.from_pandas(table.to_pandas(), npartitions=2, sort=False)


ENGINES = [
    polars,
    lazy,
    pandas,
    arrow_in_pandas,
    arrow,
    stream,
    any_stream,
    relation,
    of_dask,
    objects_in_dask,
]
engines = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)


def answers(engine, table, **how):
    """The column of answers as a list."""
    module, frame = engine(table)
    how = {"by": "town", "groups": TOWNS, **how}
    with dask.config.set(scheduler="sync"):
        found = module.release(frame, FINE, "rent", **how)
        if isinstance(found, duckdb.DuckDBPyRelation):
            return [row[1] for row in found.fetchall()]
        found = getattr(found, "collect", getattr(found, "compute", lambda: found))()
    column = found["rent"]
    return column.to_pylist() if isinstance(column, pa.ChunkedArray) else column.to_list()


def money(kind):
    towns = [TOWNS[i % 2] for i in range(len(MONEY))]
    return pa.table({"town": towns, "rent": pa.array(MONEY, kind)})


@engines
@pytest.mark.parametrize(
    "kind", [pa.decimal32(7, 2), pa.decimal64(12, 2), pa.decimal128(20, 4), pa.decimal128(38, 9)]
)
def test_decimals_are_the_nearest_doubles(engine, kind):
    if kind.bit_width < 128 and engine not in (arrow, stream, any_stream):
        pytest.skip("other libraries have no such decimals")
    table = money(kind)
    told = {"groups": TOWNS, "key": KEY, "label": "rent by town", "nan": "drop"}
    doubles = [float("nan") if x is None else float(x) for x in MONEY]
    want = FINE.release(doubles, by=table["town"], **told)
    assert answers(engine, table, key=KEY, nan="drop") == want.tolist()
    with pytest.raises(fx.InvalidRecords, match=r"^records must not be missing"):
        answers(engine, table)


NO_NUMBERS = {
    "booleans": pa.array([True, False]),
    "dates": pa.array([date(2020, 1, 2)] * 2),
    "times": pa.array([datetime(2020, 1, 2)] * 2),
    "text": pa.array(["7", "8"]),
    "categories": pa.array(["7", "8"]).dictionary_encode(),
    "lists": pa.array([[1.0], [2.0]]),
}


@engines
@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_what_is_no_number_is_refused_by_column_and_type(engine, kind):
    if engine in (pandas, objects_in_dask) and kind in ("dates", "lists"):
        pytest.skip("objects, to pandas")
    budget = fx.Budget(epsilon=1.0)
    table = pa.table({"town": TOWNS, "rent": NO_NUMBERS[kind]})
    told = r"^column must hold integers, floats or decimals, got 'rent' of type \S+"
    with pytest.raises(fx.ParameterTypeError, match=told):
        answers(engine, table, budget=budget)
    assert budget.spent == (0.0 if engine not in (stream, any_stream) else 1.0)


DRINK = fx.MostCommon(epsilon=1.0, candidates=["7", "8"])
ROOMS = fx.MostCommon(epsilon=1.0, candidates=[7, 8])


def answers_of(mechanism, engine, table, budget, **how):
    module, frame = engine(table)
    with dask.config.set(scheduler="sync"):
        how = {"by": "town", "groups": TOWNS, **how}
        return module.release(frame, mechanism, "rent", budget=budget, **how)


@engines
@pytest.mark.parametrize("kind", ["integers", "floats", *NO_NUMBERS])
@pytest.mark.parametrize("mechanism", [DRINK, ROOMS], ids=["text", "integers"])
def test_candidates_must_be_of_the_columns_kind(engine, mechanism, kind):
    if engine in (pandas, objects_in_dask) and kind in ("dates", "lists"):
        pytest.skip("objects, to pandas")
    columns = {"integers": pa.array([7, 8]), "floats": pa.array([7.0, None]), **NO_NUMBERS}
    table = pa.table({"town": TOWNS, "rent": columns[kind]})
    fitting = ("text", "categories") if mechanism is DRINK else ("integers", "floats")
    budget = fx.Budget(epsilon=1.0)
    if kind in fitting:
        answers_of(mechanism, engine, table, budget)
        return
    wanted = "text" if mechanism is DRINK else "integers, floats or decimals"
    told = rf"^column must hold {wanted}, as .* are.*, got 'rent' of type \S+"
    with pytest.raises(fx.ParameterTypeError, match=told):
        answers_of(mechanism, engine, table, budget)
    assert budget.spent == (0.0 if engine not in (stream, any_stream) else 1.0)


@engines
@pytest.mark.parametrize("mechanism", [FINE, DRINK, ROOMS], ids=["numbers", "text", "integers"])
def test_a_column_of_nothing_is_all_missing(engine, mechanism):
    table = pa.table({"town": TOWNS, "rent": pa.nulls(2)})
    how = {"nan": "drop"} if mechanism is FINE else {}
    answers_of(mechanism, engine, table, None, **how)


@engines
@pytest.mark.parametrize("candidates", [[1, 2**63], [1, -(2**63) - 1], ["a", "\ud800"]])
def test_candidates_that_no_column_holds(engine, candidates):
    mechanism = fx.MostCommon(epsilon=1.0, candidates=candidates)
    records = ["a", "b"] if "a" in candidates else [1, 2]
    table, budget = pa.table({"town": TOWNS, "rent": records}), fx.Budget(epsilon=1.0)
    with pytest.raises(fx.ParameterError, match=r"^candidates must be in \[-2\*\*63"):
        answers_of(mechanism, engine, table, budget)
    assert budget.spent == 0.0


@engines
@pytest.mark.parametrize("name", ["", "\ud800"])
def test_names_that_no_column_has(engine, name):
    table, budget = pa.table({"town": TOWNS, "rent": [1, 2]}), fx.Budget(epsilon=1.0)
    for argument in ("name", "by"):
        with pytest.raises(fx.ParameterError, match=rf"^{argument} must be a"):
            answers_of(FINE, engine, table, budget, **{argument: name})
    assert budget.spent == 0.0


@pytest.mark.parametrize("items", [[True, False], [date(2020, 1, 2)] * 2, [[1.0], [2.0]]])
def test_objects_are_refused_by_what_they_are(items):
    frame = pd.DataFrame({"town": TOWNS, "rent": pd.Series(items, dtype=object)})
    with pytest.raises(fx.ParameterTypeError, match=r"^records must be .*, got \w+ \(\w+\)$"):
        fx.pandas.release(frame, FINE, "rent", by="town", groups=TOWNS)


@pytest.mark.parametrize("kind", ["HUGEINT", "UHUGEINT", "DECIMAL(38, 4)", "UBIGINT", "TINYINT"])
def test_wide_and_narrow_numbers_of_duckdb(kind):
    with duckdb.connect() as con:
        query = f"SELECT 'Oslo' AS town, (i * 7 % 100)::{kind} AS rent FROM range(30) t(i)"  # noqa: S608
        found = fx.duckdb.release(con.sql(query), FINE, "rent", by="town", groups=TOWNS, key=KEY)
        told = {"groups": TOWNS, "key": KEY, "label": "rent by town"}
        want = FINE.release([i * 7 % 100 for i in range(30)], by=["Oslo"] * 30, **told)
        assert [row[1] for row in found.fetchall()] == want.tolist()
