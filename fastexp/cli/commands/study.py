"""``fastexp study``: list, run, resume and report accuracy studies."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..ask.study_workers import Workers, workers_of
from ..options.parser import program
from ..tell import study_tables, waiting
from ..terminal import packages, printing, tables
from ..terminal.errors import Failure, UserMistake

if TYPE_CHECKING:
    from ...studies.report.results import StudyResults
    from ...studies.study import Study

    Progress: TypeAlias = Callable[[int, int], None]
    Run: TypeAlias = Callable[[Workers, Progress], StudyResults]

FILES = (".toml", ".json")


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
    from ...studies.design.generators import SOURCES
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

    def run(where: Workers, progress: Progress) -> StudyResults:
        return study.run(where.executor, workers=where.workers, out=options.out, progress=progress)

    _carry_out(run, options, options.out or "")


def study_resume(options: Namespace) -> None:
    """Do what is missing of a study, and print its tables."""
    from ...studies.study import Study

    def run(where: Workers, progress: Progress) -> StudyResults:
        return Study.resume(
            options.folder,
            where.executor,
            workers=where.workers,
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
        packages.needed("matplotlib", "--format")
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
    """Modules of the user's may lie in the current folder."""
    here = str(Path.cwd())
    if options.allow_import and here not in sys.path:
        sys.path.append(here)


def _carry_out(run: Run, options: Namespace, folder: str) -> None:
    if not options.quiet:
        waiting.announce_compilation()
    with waiting.ProgressBar(options.quiet) as bar:
        try:
            with workers_of(options) as where:
                results = run(where, bar.progress)
        except KeyboardInterrupt:
            bar.close()
            printing.note(_interrupted(bar.finished, bar.tasks, folder, options.allow_import))
            raise
    study_tables.show(results, as_json=options.json)
    if not options.quiet:
        printing.note(_where(folder))
    bad = sum(row["agree"] is False for row in results.rows)
    if bad:
        raise Failure(
            f"exact figures and Monte Carlo disagree in {bad} of {len(results.rows)} rows, by more "
            "than 5 standard errors: one of them is wrong"
        )


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
