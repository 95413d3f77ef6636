"""The cases of accuracy studies and smooth sensitivity; what each compares is in README.md.

k is the number of records of a data set, rows that of the data sets.
"""

from __future__ import annotations

from functools import partial

from . import checks_study as checks
from . import entries_study as entries
from .measure import timed
from .workload_study import StudyCase

_case = partial(StudyCase, measure=timed, data="normal")
_table1 = partial(
    _case,
    k=1_000,
    rows=2_000,
    size=100,
    check=checks.drawn,
    toy_k=1_000,  # of few records noise outgrows data, and `numpy_table1` would never end
    toy_rows=20,
    toy_size=200,
)
_smooth = partial(_case, entries=entries.SMOOTH, check=checks.smooth, toy_k=500)

CASES: tuple[StudyCase, ...] = (
    _table1("table1", entries=entries.TABLE1),
    _table1("table1_draws", entries=entries.TABLE1_DRAWS),
    _table1("table1_2t", entries=entries.TABLE1_THREADS, rows=10_000, threads=2),
    *(_smooth("smooth_sensitivity", k) for k in (1_000, 10**4)),
    *(_smooth("smooth_sensitivity_sorted", k, in_order=True) for k in (10**4, 10**7)),
)
