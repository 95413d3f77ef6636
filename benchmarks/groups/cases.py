"""The cases of answers by group and the ways of doing each; ../README.md says what each compares.

rows is the number of groups, k the mean number of records in a group.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import methodcaller
from typing import Any

import numpy as np

import fastexp as fx

from ..harness.calls import two_threads
from ..harness.elsewhere import with_avx2, with_own_threads
from ..harness.measure import timed
from ..harness.workload import DRAW_SEED, Call, Case, Entry, ours
from . import rivals
from . import rivals_frames as frames
from .workload import GroupWork as Work


def median(work: Work) -> fx.Median:
    """Return the mechanism of all cases."""
    return fx.Median(work.epsilon, work.bounds)


def query(work: Work) -> fx.Query:
    """Return a query by the column k of a frame."""
    return fx.Query(by="k", groups=range(work.rows))


def simulated(work: Work) -> Call:
    """Draw once for each group, from rows in any order with a public list of groups.

    The generator moves on, so that each call is another sample for the check.
    """
    rng, sample = np.random.default_rng(DRAW_SEED), partial(median(work).sample, work.records)
    return partial(sample, by=work.keys, groups=range(work.rows), rng=rng, threads=work.threads)


def of_segments(work: Work) -> Call:
    """Draw once for each group, from records in the order of groups, with offsets."""
    rng, sample = np.random.default_rng(DRAW_SEED), partial(median(work).sample, work.ragged)
    return partial(sample, offsets=work.offsets, rng=rng, threads=work.threads)


def released(work: Work, key: fx.ReleaseKey | None = None) -> Call:
    """Release with the system's randomness, or with a key, by which a retry repeats the release."""
    release, groups = partial(median(work).release, work.records), range(work.rows)
    label = None if key is None else "x by k"
    return partial(release, by=work.keys, groups=groups, key=key, label=label, threads=work.threads)


def keyed(work: Work) -> Call:
    """Release with a key, by which a retry repeats the release."""
    return released(work, fx.release_key())


def through(
    engine: Callable[[Work], Any],
    work: Work,
    *,
    released: bool = False,
    collected: Callable[[Any], Any] | None = None,
) -> Call:
    """Draw or release through an engine; a lazy result is collected."""
    frame, by_k, answers = engine(work), query(work), {"x": (median(work), "x")}
    rng, threads = np.random.default_rng(DRAW_SEED), work.threads

    def call() -> Any:
        if released:
            result = by_k.release(frame, answers, threads=threads)
        else:
            result = by_k.sample(frame, answers, rng=rng, threads=threads)
        return collected(result) if collected else result

    return call


def with_own_avx2(entry: Entry) -> tuple[Entry, Entry]:
    """Return a peer in a process with the case's threads, with AVX-512 code and without."""
    plain, without = with_avx2(entry)
    return replace(plain, prepare=with_own_threads(entry.prepare)), without


def from_middle(work: Work, answer: Any) -> Any:
    """Return the distances of draws from the median of their group, in any order of the groups."""
    if isinstance(answer, np.ndarray):
        return np.abs(answer - work.medians)
    if isinstance(answer, dict):  # DuckDB
        groups, draws = answer.values()
    elif type(answer).__module__.startswith("polars"):
        groups, draws = (answer.get_column(name).to_numpy() for name in answer.columns)
    else:  # a series of pandas
        groups, draws = answer.index, answer.to_numpy()
    return np.abs(draws - work.medians[groups])


limit = partial(Entry, role="limit")
long_groups = partial(Entry, least_k=1_000, why="for long groups")

DUCKDB_RIVAL = Entry("duckdb_window", frames.duckdb_window)
POLARS_RIVALS = with_own_avx2(Entry("polars_map_elements", frames.polars_map_elements))
MEDIAN = (
    ours(simulated),
    Entry("fastexp_release", released, "variant"),
    Entry("fastexp_keyed", keyed, "variant"),
    *with_avx2(Entry("numpy_packed", rivals.packed)),
    *with_avx2(long_groups("scipy_numpy_loop", rivals.looped)),
    DUCKDB_RIVAL,
    *POLARS_RIVALS,
    *with_own_avx2(Entry("pandas_apply", frames.pandas_apply)),
)
MEDIAN_THREADS = (
    *two_threads(simulated),
    Entry("fastexp_keyed_2t", keyed, "variant"),
    DUCKDB_RIVAL,
    *POLARS_RIVALS,
)
SEGMENTS = (
    ours(of_segments),
    *with_avx2(Entry("numpy_packed", partial(rivals.packed, rows=rivals.segmented))),
    *with_avx2(long_groups("numpy_loop", rivals.looped_segments)),
)
SEGMENTS_THREADS = two_threads(of_segments)
POLARS, PANDAS = partial(through, frames.polars_frame), partial(through, frames.pandas_frame)
POLARS_LAZY = partial(through, frames.polars_lazy, collected=methodcaller("collect"))
DUCKDB = partial(through, frames.duckdb_table, collected=methodcaller("fetchnumpy"))
IN_POLARS = (
    ours(with_own_threads(POLARS)),
    Entry("fastexp_release", with_own_threads(partial(POLARS, released=True)), "variant"),
    limit("polars_median", with_own_threads(frames.polars_median)),
)
IN_POLARS_STREAMING = (
    ours(with_own_threads(POLARS_LAZY)),
    limit("polars_median", with_own_threads(frames.polars_streaming)),
)
IN_DUCKDB = (
    ours(DUCKDB),
    Entry("fastexp_release", partial(DUCKDB, released=True), "variant"),
    limit("duckdb_median", frames.duckdb_median),
)
IN_PANDAS = (
    ours(with_own_threads(PANDAS)),
    Entry("fastexp_release", with_own_threads(partial(PANDAS, released=True)), "variant"),
    limit("pandas_median", with_own_threads(frames.pandas_median)),
)
_case = partial(Case, measure=timed, figures=from_middle, toy_k=40, toy_rows=400)
SIZES = ((100_000, 20), (1_000, 10_000))  # groups, and records in each
FRAMES = (
    ("engine_polars", IN_POLARS, 2),
    ("engine_polars_streaming", IN_POLARS_STREAMING, 2),
    ("engine_duckdb", IN_DUCKDB, 2),
    ("engine_pandas", IN_PANDAS, 1),
)

CASES = (
    *(_case("group_median", Work(k, rows=rows), MEDIAN) for rows, k in SIZES),
    *(_case("group_median_2t", Work(k, 1, 2, rows), MEDIAN_THREADS) for rows, k in SIZES),
    *(_case("group_offsets", Work(k, rows=rows), SEGMENTS) for rows, k in SIZES),
    *(_case("group_offsets_2t", Work(k, 1, 2, rows), SEGMENTS_THREADS) for rows, k in SIZES),
    *(_case(name, Work(10, 1, threads, 200_000), of) for name, of, threads in FRAMES),
)
