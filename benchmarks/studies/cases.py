"""The cases of accuracy studies and smooth sensitivity; ../README.md says what each compares.

k is the number of records in a data set, and rows the number of data sets.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

import fastexp as fx

from ..harness.calls import two_threads
from ..harness.elsewhere import with_avx2
from ..harness.measure import timed
from ..harness.workload import Call, Case, Entry, ours
from ..numbers.workload import STUDY
from . import rivals_smooth, rivals_table1
from .workload import NOISES, RATE
from .workload import StudyWork as Work


def smooth(work: Work) -> Call:
    """Compute the smooth sensitivity of one data set."""
    call = partial(fx.smooth_sensitivity, bounds=work.bounds, assume_sorted=work.in_order)
    return partial(call, work.records, RATE)


def study(work: Work, draws: int) -> fx.Study:
    """Return the study with the paper's four rows: three by smooth sensitivity, and Duff's."""
    rows = fx.Study.ready("table1").to_dict()["mechanisms"]
    return fx.Study.ready(
        "table1",
        mechanisms=rows[: len(NOISES) + 1],
        epsilon=STUDY,
        n=work.k,
        bounds=work.bounds,
        datasets=work.rows,
        draws=draws,
    )


def table1(work: Work, draws: int, column: Literal["exact", "monte_carlo"]) -> Call:
    """Run the whole study: make data sets, sort them, compute figures and the table."""
    whole = study(work, draws)
    return lambda: np.array([row[column] for row in whole.run(workers=work.threads).rows])


def exact(work: Work) -> Call:
    """Run the study with exact expectations."""
    return table1(work, 0, "exact")


def drawn(work: Work) -> Call:
    """Run the study with `size` draws of each data set, and with exact figures."""
    return table1(work, work.size, "monte_carlo")


def cells(work: Work, table: Any) -> Any:
    """Return mean errors relative to those of the data sets with exact figures."""
    return table / work.spreads[0]


def number(_work: Work, answer: float) -> float:
    """Return the answer itself, which is not random."""
    return answer


_rival = partial(Entry, slack=0.2)  # its 200 data sets are not those of fastexp
_window = rivals_table1.window

TABLE1 = (
    ours(exact),
    *with_avx2(_rival("numpy_exact", rivals_table1.exact)),
    *with_avx2(_rival("numpy_tuned", rivals_table1.tuned)),
    *with_avx2(_rival("numpy_window", partial(_window, equal_error=True))),
)
TABLE1_DRAWS = (ours(drawn), *with_avx2(_rival("numpy_window", _window)))
TABLE1_THREADS = two_threads(exact)
SMOOTH = (
    ours(smooth),
    *with_avx2(Entry("numpy_stopping", rivals_smooth.stopping)),
    *with_avx2(
        Entry(
            "numpy_divide_conquer",
            rivals_smooth.divide_and_conquer,
            most_k=10**6,
            why="minutes a call",
        )
    ),
)

_table1 = partial(Case, measure=timed, figures=cells, toy_k=1_000, toy_rows=200, toy_size=200)
_table = partial(Work, 1_000, size=100, data="normal")
_smooth = partial(Case, entries=SMOOTH, measure=timed, figures=number, toy_k=500)
_records = partial(Work, data="normal")

CASES = (
    _table1("table1", _table(rows=2_000), TABLE1),
    _table1("table1_draws", _table(rows=2_000), TABLE1_DRAWS),
    _table1("table1_2t", _table(rows=10_000, threads=2), TABLE1_THREADS),
    *(_smooth("smooth_sensitivity", _records(k)) for k in (1_000, 10**4)),
    *(_smooth("smooth_sensitivity_sorted", _records(k, in_order=True)) for k in (10**4, 10**7)),
)
