"""fastexp's own calls by group: of arrays, and through the engines."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import fastexp as fx

from .rivals_frames import database, pandas_frame, polars_frame
from .workload import DRAW_SEED, Call
from .workload_groups import GroupWork


def _median(work: GroupWork) -> fx.Median:
    return fx.Median(work.epsilon, work.bounds)


def _how(work: GroupWork) -> dict[str, Any]:
    """Draws whose seed moves on with every call, so that each call is one more to check."""
    return {"rng": np.random.default_rng(DRAW_SEED), "threads": work.threads}


def simulated(work: GroupWork) -> Call:
    """One draw of each group, from rows in any order with a public list of groups."""
    grouped = {"by": work.keys, "groups": range(work.rows)}
    return partial(_median(work).sample, work.records, **grouped, **_how(work))


def one_thread(work: GroupWork) -> Call:
    """The same with one thread."""
    return simulated(replace_threads(work))


def of_segments(work: GroupWork) -> Call:
    """The same of records in the order of groups, with offsets."""
    return partial(_median(work).sample, work.ragged, offsets=work.offsets, **_how(work))


def of_segments_one_thread(work: GroupWork) -> Call:
    """The same with one thread."""
    return of_segments(replace_threads(work))


def released(work: GroupWork) -> Call:
    """A release with the system's randomness."""
    grouped = {"by": work.keys, "groups": range(work.rows)}
    return partial(_median(work).release, work.records, **grouped, threads=work.threads)


def keyed(work: GroupWork) -> Call:
    """A release that a retry repeats."""
    return partial(released(work), key=fx.release_key(), label="x by k")


def replace_threads(work: GroupWork) -> GroupWork:
    """The same inputs, not made again, for one thread."""
    one = replace(work, threads=1)
    made = {name: value for name, value in vars(work).items() if name not in vars(one)}
    vars(one).update(made)
    return one


def polars(work: GroupWork) -> Call:
    """Draws through Polars, in memory."""
    return _drawn(work, polars_frame(work))


def polars_released(work: GroupWork) -> Call:
    """A release through Polars, in memory."""
    return _released(work, polars_frame(work))


def polars_streaming(work: GroupWork) -> Call:
    """Draws of a lazy frame of Polars."""
    call = _drawn(work, polars_frame(work).lazy())
    return lambda: call().collect()


def duckdb(work: GroupWork) -> Call:
    """Draws of a relation of DuckDB."""
    call = _drawn(work, database(work).table("t"))
    return lambda: call().fetchnumpy()


def duckdb_released(work: GroupWork) -> Call:
    """A release of a relation of DuckDB."""
    call = _released(work, database(work).table("t"))
    return lambda: call().fetchnumpy()


def pandas(work: GroupWork) -> Call:
    """Draws through pandas."""
    return _drawn(work, pandas_frame(work))


def pandas_released(work: GroupWork) -> Call:
    """A release through pandas."""
    return _released(work, pandas_frame(work))


def _drawn(work: GroupWork, frame: Any) -> Call:
    query, answers = _query(work)
    return lambda: query.sample(frame, answers, **_how(work))


def _released(work: GroupWork, frame: Any) -> Call:
    query, answers = _query(work)
    return lambda: query.release(frame, answers, threads=work.threads)


def _query(work: GroupWork) -> tuple[fx.Query, dict[str, Any]]:
    """The median of x by k."""
    return fx.Query(by="k", groups=range(work.rows)), {"x": (_median(work), "x")}
