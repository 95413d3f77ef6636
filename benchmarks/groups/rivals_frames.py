"""Engines as peers: medians by the exponential mechanism inside engines, and their own medians."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness.workload import Call
from .rivals import one_group
from .workload import GroupWork

# Each gap has an arrival time -ln(u) / weight, and the smallest time wins. The table `gaps` has the
# gap below each record; the gap above a group's last record is added at the end. Counts are joined,
# which takes less time than a second window.
DUCKDB = """
WITH clamped AS (SELECT k, least({high}, greatest({low}, x)) AS x FROM t),
ranked AS (
    SELECT k, x, lag(x, 1, {low}) OVER w AS below, row_number() OVER w - 1 AS i
    FROM clamped WINDOW w AS (PARTITION BY k ORDER BY x)
),
counts AS (SELECT k, count(*) / 2.0 AS half FROM t GROUP BY k),
gaps AS (
    SELECT k, x, below, half, CASE WHEN x > below
        THEN -ln(random()) * exp({epsilon} * abs(i - half)) / (x - below) END AS time
    FROM ranked JOIN counts USING (k)
    WHERE abs(i - half) < {reach}
),
best AS (
    SELECT k, min(time) AS time, arg_min(below + random() * (x - below), time) AS median,
        max(x) AS x, max(half) AS half
    FROM gaps GROUP BY k
)
SELECT k, CASE
    WHEN half < {reach} AND x < {high} AND coalesce(time, 'inf')
        > -ln(random()) * exp({epsilon} * least(half, {reach})) / ({high} - x)
    THEN x + random() * ({high} - x) ELSE median END AS m
FROM best
"""
OVERFLOW = 700  # exp of this is finite


def database(work: GroupWork) -> Any:
    """Return a connection with the case's threads, and with the rows in a table of DuckDB."""
    import duckdb

    con = duckdb.connect()
    con.execute(f"SET threads = {work.threads}")
    con.execute("SELECT setseed(0.5)").fetchall()
    rows = {"k": work.keys, "x": work.records}
    con.execute("CREATE TABLE t AS SELECT * FROM rows").fetchall()
    del rows
    return con


def duckdb_table(work: GroupWork) -> Any:
    """Return the rows as a relation."""
    return database(work).table("t")


def duckdb_window(work: GroupWork) -> Call:
    """Draw by SQL alone."""
    con, (low, high) = database(work), work.bounds
    reach = OVERFLOW / work.epsilon
    query = DUCKDB.format(low=low, high=high, epsilon=work.epsilon, reach=reach)
    return lambda: con.execute(query).fetchnumpy()


def duckdb_median(work: GroupWork) -> Call:
    """DuckDB's own exact medians."""
    con = database(work)
    return lambda: con.execute("SELECT k, median(x) AS x FROM t GROUP BY k").fetchnumpy()


def polars_frame(work: GroupWork) -> Any:
    """Return the rows in a frame of Polars."""
    import polars as pl

    return pl.DataFrame({"k": work.keys, "x": work.records})


def polars_lazy(work: GroupWork) -> Any:
    """Return the rows in a lazy frame of Polars."""
    return polars_frame(work).lazy()


def polars_map_elements(work: GroupWork) -> Call:
    """Make lists by Polars, then draw by NumPy for each list."""
    import polars as pl

    frame, median = polars_frame(work), one_group(work)
    drawn = pl.col("x").map_elements(lambda x: median(x.to_numpy()), return_dtype=pl.Float64)
    return lambda: frame.group_by("k").agg("x").with_columns(drawn)


def polars_median(work: GroupWork) -> Call:
    """Polars' own exact medians, in memory."""
    import polars as pl

    frame = polars_frame(work)
    return lambda: frame.group_by("k").agg(pl.col("x").median())


def polars_streaming(work: GroupWork) -> Call:
    """Polars' own exact medians, streaming."""
    import polars as pl

    plan = polars_lazy(work).group_by("k").agg(pl.col("x").median())
    return lambda: plan.collect(engine="streaming")


def pandas_frame(work: GroupWork) -> Any:
    """Return the rows in a frame of pandas."""
    import pandas as pd

    return pd.DataFrame({"k": work.keys, "x": work.records})


def pandas_apply(work: GroupWork) -> Call:
    """Draw by NumPy for each group."""
    frame, median = pandas_frame(work), one_group(work)
    return lambda: frame.groupby("k")["x"].apply(lambda x: median(np.asarray(x)))


def pandas_median(work: GroupWork) -> Call:
    """pandas' own exact medians."""
    frame = pandas_frame(work)
    return lambda: frame.groupby("k")["x"].median()
