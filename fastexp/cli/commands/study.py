"""``fastexp study``: list, run, resume and report accuracy studies."""

from __future__ import annotations

import contextlib
import shlex
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..._parameters.text import printable
from ..options.parser import program
from ..render import waiting
from ..terminal import printing, tables
from ..terminal.errors import Failure, UserMistake, needed

if TYPE_CHECKING:
    from ...studies.report.results import StudyResults
    from ...studies.study import Study

    Progress: TypeAlias = Callable[[int, int], None]
    Run: TypeAlias = Callable[[Any, int, Progress], StudyResults]

FILES = (".toml", ".json")
PATIENCE = "10s"  # the time that a scheduler has to answer
NOT_PRIVATE = "Simulations, not private releases: computed from data sets that the study knows."


def study_list(options: Namespace) -> None:
    """Print the studies that come with fastexp, and what a study of one's own can name."""
    from ...studies.ready.ready import READY
    from ...studies.study import Study

    studies = [_facts(Study.ready(name)) for name in READY]
    data, mechanisms = _parts()
    if options.json:
        printing.as_json(
            {"kind": "studies", "studies": studies, "data": data, "mechanisms": mechanisms}
        )
        return
    rows = [
        (s["name"], f"{s['cells']:,}", f"{s['datasets']:,}", f"{s['draws']:,}", s["question"])
        for s in studies
    ]
    tables.table(("study", "cells", "data sets", "draws", "question"), rows, ("question",))
    for title, parts in (("data", data), ("mechanism", mechanisms)):
        print()
        lines = [(part["name"], ", ".join(part["parameters"]), part["about"]) for part in parts]
        tables.table((title, "parameters", "what it is"), lines, ("parameters", "what it is"))


def _parts() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    from ...studies.design.data_sources import SOURCES
    from ...studies.design.registry import MECHANISMS

    data = [
        {"name": name, "parameters": list(source.defaults), "about": source.about}
        for name, source in SOURCES.items()
    ]
    mechanisms = [
        {"name": name, "parameters": list(row.parameters), "about": row.about or row.name}
        for name, row in MECHANISMS.items()
    ]
    return data, mechanisms


def _facts(study: Study) -> dict[str, Any]:
    facts = {"name": study.name, "question": study.question, "cells": len(study.cells)}
    return {**facts, "datasets": study.datasets, "draws": study.draws}


def study_run(options: Namespace) -> None:
    """Run a study and print its tables."""
    study = _study_of(options)

    def run(executor: Any, workers: int, progress: Progress) -> StudyResults:
        return study.run(executor, workers=workers, out=options.out, progress=progress)

    _carry_out(run, options, options.out or "")


def study_resume(options: Namespace) -> None:
    """Run the missing tasks of a study, and print its tables."""
    from ...studies.study import Study

    def run(executor: Any, workers: int, progress: Progress) -> StudyResults:
        return Study.resume(
            options.folder,
            executor,
            workers=workers,
            progress=progress,
            allow_import=options.allow_import,
        )

    _look_here(options)
    _carry_out(run, options, options.folder)


def study_report(options: Namespace) -> None:
    """Write a report of a results folder."""
    from ...studies.design.code import written_codes
    from ...studies.report.report import write_report
    from ...studies.report.results import table_of

    if options.format is not None:
        needed("matplotlib", "--format")
    folder = Path(options.folder)
    target = folder if options.output is None else Path(options.output)
    formats = tuple(dict.fromkeys(options.format or ("svg",)))
    table = table_of(folder)
    written = [str(path) for path in write_report(table, target, formats)]
    if options.json:
        printing.as_json({"kind": "report", "files": written})
        return
    for path in written:
        printing.line(path)
    tasks, finished = table.get("tasks", 0), table.get("finished", 0)
    if finished < tasks:
        has_code = bool(written_codes(table["study"]))
        kept_tasks = _interrupted(finished, tasks, str(folder), has_code)
        printing.note(f"the report is of an unfinished run: {kept_tasks}")
    if not any(Path(path).name.startswith("figure-") for path in written):
        printing.note("without figures: they need matplotlib, pip install matplotlib")


def _study_of(options: Namespace) -> Study:
    from ...studies.ready.ready import READY
    from ...studies.study import Study

    settings = {name: getattr(options, name) for name in ("datasets", "draws", "seed")}
    changes = {name: value for name, value in settings.items() if value is not None}
    if options.study in READY:
        return Study.ready(options.study, **changes)
    if not options.study.lower().endswith(FILES):
        raise UserMistake(
            f"there is no study {options.study!r}; there are {', '.join(READY)}, or give a "
            "file that ends in .toml or .json"
        )
    _look_here(options)
    return Study.load(options.study, allow_import=options.allow_import, **changes)


def _look_here(options: Namespace) -> None:
    """Let imports find the user's modules in the current folder."""
    here = str(Path.cwd())
    if options.allow_import and here not in sys.path:
        sys.path.append(here)


@contextlib.contextmanager
def _workers_of(options: Namespace) -> Iterator[tuple[Any, int]]:
    """Yield the arguments `executor` and `workers` of `Study.run`."""
    if options.scheduler is not None and options.executor != "dask":
        raise UserMistake("--scheduler needs --executor dask")
    if options.scheduler is not None and options.workers is not None:
        raise UserMistake("--workers does not go with --scheduler: it has its own")
    if options.executor == "dask":
        dask = needed("distributed", "--executor dask")
    if options.scheduler is None:
        yield options.executor, options.workers or 0
        return
    try:
        client = dask.Client(options.scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        text = f"no scheduler answers at {options.scheduler} ({type(error).__name__})"
        raise Failure(text) from None
    with client:
        yield client, 0


def _carry_out(run: Run, options: Namespace, folder: str) -> None:
    if not options.quiet:
        waiting.announce_compilation()
    with waiting.ProgressBar(options.quiet) as bar:
        try:
            with _workers_of(options) as (executor, workers):
                results = run(executor, workers, bar.progress)
        except KeyboardInterrupt:
            bar.close()
            printing.note(_interrupted(bar.finished, bar.tasks, folder, options.allow_import))
            raise
    _show(results, as_json=options.json)
    if not options.quiet:
        printing.note(_where(folder))
    bad = sum(row["agree"] is False for row in results.rows)
    if bad:
        raise Failure(
            f"exact figures and Monte Carlo disagree in {bad} of {len(results.rows)} rows, by more "
            "than 5 standard errors: one of them is wrong"
        )


def _show(results: StudyResults, *, as_json: bool) -> None:
    from ...studies.report.report import tables_of

    all_tables = tables_of(results.to_dict())
    if as_json:
        printing.as_json({**results.to_dict(), "tables": [asdict(table) for table in all_tables]})
        return
    study = results.study
    print(printable(f"{study.name}: {study.question}" if study.question else study.name))
    print(f"{study.datasets:,} data sets of each kind and size, {study.draws:,} draws for each")
    print(NOT_PRIVATE)
    for table in all_tables:
        print(f"\n{table.text()}")
    both = [row["agree"] for row in results.rows if row["agree"] is not None]
    if both and all(both):
        print(f"\nexact figures and Monte Carlo agree in all {len(both):,} rows that have both")


def _interrupted(finished: int, tasks: int, folder: str, has_code: bool) -> str:
    done = f"{finished:,} of {tasks:,} tasks are finished" if tasks else "no task is finished"
    if not folder:
        return f"{done}; nothing was saved (with --out DIR it would be)"
    allowed = " --allow-import" if has_code else ""
    return f"{done} and kept; go on with: {program()} study resume {shlex.quote(folder)}{allowed}"


def _where(folder: str) -> str:
    if not folder:
        return "nothing was saved: add --out DIR to keep results, or --json"
    report = f"{program()} study report {shlex.quote(folder)}"
    return f"results: {Path(folder) / 'table.csv'}, table.json; a page with figures: {report}"
