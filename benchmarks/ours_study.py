"""fastexp's own calls for accuracy studies and smooth sensitivity."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import fastexp as fx

from .workload import Call, FloatArray
from .workload_numbers import STUDY
from .workload_study import NOISES, RATE, StudyWork


def table1(work: StudyWork, draws: int) -> Any:
    """The study of the paper's four rows: three by smooth sensitivity, and Duff's."""
    from fastexp.studies.design.table1 import SETTINGS

    changes = {
        "mechanisms": SETTINGS["mechanisms"][: len(NOISES) + 1],
        "epsilon": STUDY,
        "n": work.k,
        "bounds": work.bounds,
        "datasets": work.rows,
        "draws": draws,
    }
    return fx.Study.ready("table1", **changes)


def _column(study: Any, name: str, workers: int) -> Call:
    def call() -> FloatArray:
        return np.array([row[name] for row in study.run(workers=workers).rows])

    return call


def exact(work: StudyWork) -> Call:
    """The whole run with exact expectations: data sets made, sorted, figures, the table."""
    return _column(table1(work, 0), "exact", work.threads)


def exact_one_thread(work: StudyWork) -> Call:
    """The same on one thread."""
    return _column(table1(work, 0), "exact", 1)


def drawn(work: StudyWork) -> Call:
    """The whole run with `size` draws of each data set, and the exact figures beside them."""
    return _column(table1(work, work.size), "monte_carlo", work.threads)


def smooth(work: StudyWork) -> Call:
    """The smooth sensitivity of one data set."""
    call = partial(fx.smooth_sensitivity, bounds=work.bounds, assume_sorted=work.in_order)
    return partial(call, work.records, RATE)
