"""The cases of answers by group; what each compares is in README.md.

rows is the number of groups, k the mean number of records of a group.
"""

from __future__ import annotations

from functools import partial

from . import checks_groups as checks
from . import entries_groups as entries
from .fresh_memory import fresh_memory
from .measure import timed
from .workload_groups import GroupCase

_case = partial(GroupCase, check=checks.medians, measure=timed, toy_k=40, toy_rows=400)
SIZES = ((100_000, 20), (1_000, 10_000))  # groups, records of each
ENGINES = (
    ("engine_polars", entries.POLARS, 2),
    ("engine_polars_streaming", entries.POLARS_STREAMING, 2),
    ("engine_duckdb", entries.DUCKDB, 2),
    ("engine_pandas", entries.PANDAS, 1),
)

CASES: tuple[GroupCase, ...] = (
    *(_case("group_median", k, entries.MEDIAN, rows=rows) for rows, k in SIZES),
    *(
        _case("group_median_2t", k, entries.MEDIAN_THREADS, rows=rows, threads=2)
        for rows, k in SIZES
    ),
    *(_case("group_offsets", k, entries.SEGMENTS, rows=rows) for rows, k in SIZES),
    *(
        _case("group_offsets_2t", k, entries.SEGMENTS_THREADS, rows=rows, threads=2)
        for rows, k in SIZES
    ),
    *(_case(name, 10, of, rows=200_000, threads=threads) for name, of, threads in ENGINES),
    *(
        _case("group_memory", k, entries.MEMORY, rows=10**7 // k, measure=fresh_memory)
        for _, k in SIZES
    ),
)
