"""A DuckDB connection and its tables, for tests."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

from . import frame_cases as cases


@pytest.fixture
def con():
    with duckdb.connect() as connection:
        connection.execute("SET threads=2")
        yield connection


def load(con, data=cases.DATA, q=None):
    """The tables `data`, and `listed` with the groups of a question; the relation of `data`."""
    rows = cases.table(data, 5 if data["town"] else 1)
    con.register("arriving", rows)
    con.execute("CREATE OR REPLACE TABLE data AS FROM arriving")
    if q is not None:
        kind = cases.SCHEMA.field(q.by).type
        listed = pa.table({"grp": pa.array(q.groups, kind), "place": range(len(q.groups))})
        con.register("arriving", listed)
        con.execute("CREATE OR REPLACE TABLE listed AS FROM arriving")
    con.unregister("arriving")
    return con.table("data")
