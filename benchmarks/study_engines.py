"""One study on different engines: ``python -m benchmarks.study_engines``.

Stands by itself, since it starts pools of processes. Each round runs the table of
`ours_study.table1` once on each engine, and starts with another one:

* *bare loop*: `run_task` over all tasks, results added up, nothing else;
* *one thread*: `study.run(workers=1)`; *folder*: the same with results written as they come;
* *two threads*; *processes*: a pool of two that is running before the clock starts; *Dask*: a
  client of two local workers, likewise.

Before that, each engine has run a small part, and all their tables have been compared.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from . import ours_study
from .checks import expect
from .report import quantity
from .workload_study import StudyWork

DATA_SETS, DRAWS, ROUNDS, WORKERS = 60_000, 100, 5, 2
Engine = Callable[[Any], Any]


def bare(study: Any) -> Any:
    """All tasks in a loop."""
    from fastexp.studies.report.results import StudyResults
    from fastexp.studies.run.task import blocks_of, run_task, tasks_of
    from fastexp.studies.sums.merge import Totals

    totals, blocks = Totals(study), blocks_of(study)
    for number in range(tasks_of(study)):
        totals.add(run_task(study, number), number // blocks)
    return StudyResults(study, totals)


def one_thread(study: Any) -> Any:
    """In memory."""
    return study.run(workers=1)


def folder(study: Any) -> Any:
    """On disk."""
    with tempfile.TemporaryDirectory() as place:
        return study.run(workers=1, out=Path(place) / "study")


def threads(study: Any) -> Any:
    """In memory, on two threads."""
    return study.run(workers=WORKERS)


@contextmanager
def processes() -> Iterator[Engine]:
    """A pool that is kept for all rounds."""
    from fastexp.studies.run.pools import processes as pool

    with pool(WORKERS) as executor:
        yield lambda study: study.run(executor)


@contextmanager
def dask() -> Iterator[Engine]:
    """The executor of a client with workers on this machine."""
    from distributed import Client, LocalCluster

    make, make_client = cast(Any, LocalCluster), cast(Any, Client)
    sizes = {"n_workers": WORKERS, "threads_per_worker": 1, "processes": True}
    with make(**sizes, dashboard_address=None) as cluster, make_client(cluster) as client:
        executor = client.get_executor(pure=False)
        yield lambda study: study.run(executor)


def engines(stack: ExitStack) -> dict[str, Engine]:
    """All of them; pools end with the stack."""
    made: dict[str, Engine] = {
        "bare loop": bare,
        "one thread": one_thread,
        "folder": folder,
        "two threads": threads,
        "processes": stack.enter_context(processes()),
    }
    if find_spec("distributed") is not None:
        made["Dask"] = stack.enter_context(dask())
    return made


def measured(made: dict[str, Engine], study: Any, rounds: int) -> dict[str, list[float]]:
    """Seconds of each engine, round by round."""
    found: dict[str, list[float]] = {name: [] for name in made}
    names = list(made)
    for turn in range(rounds):
        at = turn % len(names)
        for name in names[at:] + names[:at]:
            start = time.perf_counter()
            made[name](study)
            found[name].append(time.perf_counter() - start)
    return found


def shown(found: dict[str, list[float]]) -> str:
    """A table; a ratio is the median of what each round has, as rounds differ."""
    lines = ["| engine | median | least | most | one thread / it |", "|---|---:|---:|---:|---:|"]
    for name, times in found.items():
        ratios = [base / own for base, own in zip(found["one thread"], times, strict=True)]
        cells = [quantity(t, "s") for t in (statistics.median(times), min(times), max(times))]
        lines.append(f"| {name} | {' | '.join(cells)} | {statistics.median(ratios):.3f} |")
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Compare the tables, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study_engines", description=__doc__)
    parser.add_argument("--datasets", type=int, default=DATA_SETS)
    parser.add_argument("--draws", type=int, default=DRAWS, help="0: exact figures only")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args(argv)
    sizes = {"data": "normal", "size": arguments.draws}
    few, many = (
        ours_study.table1(StudyWork(1_000, rows=rows, **sizes), arguments.draws)
        for rows in (min(3_000, arguments.datasets), arguments.datasets)
    )
    with ExitStack() as stack:
        made = engines(stack)
        tables = {name: engine(few).rows for name, engine in made.items()}
        for name, rows in tables.items():
            expect(rows == tables["bare loop"], f"another table by {name}")
        found = measured(made, many, arguments.rounds)
    print(f"{arguments.datasets:,} data sets, {arguments.draws} draws of each cell\n")
    print(shown(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
