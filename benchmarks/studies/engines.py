"""fastexp's own run of the paper's table: the whole study, on each of its engines."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from operator import methodcaller
from pathlib import Path
from typing import Any, Literal

import numpy as np

import fastexp as fx

from ..harness.outcome import Absent
from ..harness.workload import Call, FloatArray, Prepare
from ..numbers.workload import STUDY
from .workload import NOISES, StudyWork

WORKERS = 2
RUNNING = ExitStack()  # pools and clusters, which end with this process or when it is closed
atexit.register(RUNNING.close)
Engine = Callable[[Any], Any]  # a study to its results


def table1(work: StudyWork, draws: int) -> Any:
    """The study of the paper's four rows: three by smooth sensitivity, and Duff's."""
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


def data_sets(work: StudyWork) -> FloatArray:
    """The data sets that this study makes."""
    from fastexp.studies.run import task

    study = table1(work, 0)
    (scenario,), size = study.scenarios, study.block
    parts = [
        task.data_sets(scenario, place, place * size, min(size, work.rows - place * size))
        for place in range(study.blocks)
    ]
    return np.concatenate(parts)


def exact(work: StudyWork) -> Call:
    """The whole run with exact expectations: data sets made, sorted, figures, the table."""
    return _column(table1(work, 0), "exact", methodcaller("run", workers=work.threads))


def drawn(work: StudyWork) -> Call:
    """The whole run with `size` draws of each data set, and the exact figures beside them."""
    return on_engine(methodcaller("run", workers=work.threads))(work)


def on_engine(engine: Engine) -> Prepare:
    """The same on an engine."""
    return lambda work: _column(table1(work, work.size), "monte_carlo", engine)


def _column(study: Any, name: Literal["exact", "monte_carlo"], engine: Engine) -> Call:
    return lambda: np.array([row[name] for row in engine(study).rows])


def bare(study: Any) -> Any:
    """All tasks in a loop, results added up, nothing else."""
    from fastexp.studies.report.results import StudyResults
    from fastexp.studies.run.task import run_task
    from fastexp.studies.sums.totals import Totals

    totals, blocks = Totals(study), study.blocks
    for number in range(study.tasks):
        totals.add(run_task(study, number), number // blocks)
    return StudyResults(study, totals)


def folder(study: Any) -> Any:
    """On one thread, results written as they come."""
    with tempfile.TemporaryDirectory() as place:
        return study.run(workers=1, out=Path(place) / "study")


def processes(work: StudyWork) -> Call:
    """A pool of processes that is running before the clock starts, and is kept."""
    from fastexp.studies.run.executors import processes as pool

    executor = RUNNING.enter_context(pool(WORKERS))
    return on_engine(methodcaller("run", executor))(work)


def dask(work: StudyWork) -> Call:
    """The executor of a client with workers on this machine, likewise."""
    from distributed import Client, LocalCluster

    if work.is_toy:
        raise Absent("a cluster takes seconds to start")
    make: Any = LocalCluster
    cluster = make(n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=None)
    client: Any = RUNNING.enter_context(Client(RUNNING.enter_context(cluster)))
    executor = client.get_executor(pure=False)
    return on_engine(methodcaller("run", executor))(work)
