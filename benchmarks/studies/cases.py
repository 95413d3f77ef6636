"""The cases of accuracy studies and smooth sensitivity; what each compares is in ../README.md.

k is the number of records of a data set, rows that of the data sets.
"""

from __future__ import annotations

from functools import partial
from operator import methodcaller

import fastexp as fx

from ..harness.calls import two_threads
from ..harness.elsewhere import with_avx2
from ..harness.measure import timed
from ..harness.workload import Call, Case, Entry, ours
from ..numbers.workload import STUDY
from . import checks, engines, rivals_errors, rivals_smooth, rivals_table1
from .workload import RATE, middle
from .workload import StudyWork as Work


def smooth(work: Work) -> Call:
    """The smooth sensitivity of one data set."""
    call = partial(fx.smooth_sensitivity, bounds=work.bounds, assume_sorted=work.in_order)
    return partial(call, work.records, RATE)


def expected_errors(work: Work) -> Call:
    """The exact errors of all data sets at each epsilon."""
    mechanisms = [fx.Median(epsilon, work.bounds) for epsilon in STUDY]
    return partial(fx.expected_errors, work.records, mechanisms)


def law_error(work: Work) -> Call:
    """The law of one data set, and its expected error."""
    mechanism, truth = fx.Median(work.epsilon, work.bounds), float(middle(work.knots)[0])
    return lambda: mechanism.law(work.records).expected_error(truth)


TABLE1 = (
    ours(engines.exact, check=checks.exact_table),
    *with_avx2(Entry("numpy_exact", rivals_table1.exact, check=checks.expected)),
    *with_avx2(Entry("numpy_tuned", rivals_table1.tuned)),
    *with_avx2(Entry("numpy_window", partial(rivals_table1.window, equal_error=True))),
    Entry("numpy_table1", partial(rivals_table1.plain, equal_error=True)),
)
TABLE1_DRAWS = (
    ours(engines.drawn),
    *with_avx2(Entry("numpy_window", rivals_table1.window)),
    Entry("numpy_table1", rivals_table1.plain),
)
TABLE1_THREADS = two_threads(engines.exact)
ENGINES = (
    Entry("one_thread", engines.on_engine(methodcaller("run", workers=1)), "ours"),
    Entry("folder", engines.on_engine(engines.folder), "variant"),
    Entry("two_threads", engines.on_engine(methodcaller("run", workers=2)), "variant"),
    Entry("processes", engines.processes, "variant"),
    Entry("dask", engines.dask, "variant"),
    Entry("bare_loop", engines.on_engine(engines.bare), "limit"),
)
minutes = partial(Entry, most_k=10**6, why="minutes a call")
hours = partial(Entry, most_k=10**5, why="O(n^2): hours a call")
SMOOTH = (
    ours(smooth),
    *with_avx2(Entry("numpy_stopping", rivals_smooth.stopping)),
    *with_avx2(minutes("numpy_divide_conquer", rivals_smooth.divide_and_conquer)),
    *with_avx2(hours("numpy_quadratic", rivals_smooth.quadratic)),
)

ERRORS = (
    ours(expected_errors),
    *with_avx2(Entry("numpy_exact", rivals_errors.batched)),
)
LAW_ERROR = (ours(law_error), *with_avx2(Entry("numpy_exact", rivals_errors.single)))

_case = partial(Case, measure=timed)
_table1 = partial(
    _case,
    toy_k=1_000,  # of few records noise outgrows data, and `numpy_table1` would never end
    toy_rows=20,
    toy_size=200,
)
_table = partial(Work, 1_000, size=100, data="normal")
_smooth = partial(_case, entries=SMOOTH, check=checks.smooth, toy_k=500)
_records = partial(Work, data="normal")

CASES = (
    _table1("table1", _table(rows=2_000), TABLE1, check=checks.drawn),
    _table1("table1_draws", _table(rows=2_000), TABLE1_DRAWS, check=checks.drawn),
    _table1("table1_2t", _table(rows=10_000, threads=2), TABLE1_THREADS, check=checks.expected),
    _table1(
        "table1_engines",
        _table(rows=10_000, threads=2),
        ENGINES,
        check=checks.same_table,
        slow_s=10.0,
    ),
    _case(
        "expected_errors", _records(1_000, rows=200), ERRORS, check=checks.every_error, toy_k=300
    ),
    *(
        _case("law_error", _records(k), LAW_ERROR, check=checks.one_error)
        for k in (10, 1_000, 10**7)
    ),
    *(_smooth("smooth_sensitivity", _records(k)) for k in (1_000, 10**4)),
    *(_smooth("smooth_sensitivity_sorted", _records(k, in_order=True)) for k in (10**4, 10**7)),
)
