"""Measure cases: ``python -m benchmarks.run [--case NAME ...] [--k K] [--quick] [--out FILE]``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from . import report
from .cases import CASES, select
from .harness import schema
from .harness.outcome import Options, Outcome
from .harness.provenance import RESULTS, load, provenance
from .harness.workload import Case

FORMAT = 1
QUICK = Options(repeats=3, sample_s=0.02, check_s=0.1, runs=20_000)


def measure_all(cases: Iterable[Case], options: Options) -> dict[str, Any]:
    """Measure the cases; the record of everything, as the schema describes it."""
    about, before = provenance(), load()  # the commit is read before an hour can pass
    planned, rows, absent = [], [], []
    for case in cases:
        start = time.perf_counter()
        outcome = case.measure(case, options)
        planned.append({"id": case.id, "names": case.row_names})
        rows += as_records(outcome)
        absent += [{"case": case.id, "name": n, "reason": r} for n, r in outcome.absent.items()]
        print(f"{case.id}: {time.perf_counter() - start:.1f} s", file=sys.stderr)
    return {
        "format": FORMAT,
        "provenance": about,
        "options": asdict(options),
        "load": [before, load()],
        "cases": planned,
        "rows": rows,
        "absent": absent,
    }


def as_records(outcome: Outcome) -> list[dict[str, Any]]:
    """The rows of one case with what follows from their repeats; |t| has no ratio."""
    ours = next((row.median for row in outcome.rows if row.role == "ours"), None)
    records = []
    for row in outcome.rows:
        ratio = row.median / ours if ours and row.unit != "|t|" else None
        derived = {"median": row.median, "spread": row.spread, "ratio": ratio}
        records.append(asdict(row) | derived)
    return records


def write(record: dict[str, Any], path: Path) -> None:
    """Validate and write a record; an existing file is never overwritten."""
    schema.validate(record)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        json.dump(record, file, indent=1)
        file.write("\n")


def default_path(record: dict[str, Any]) -> Path:
    """``bench_results/<date>-<commit>.json``, marked if the checkout was dirty."""
    about = record["provenance"]
    mark = "-dirty" if about["dirty"] else ""
    stamp = about["date"].replace(":", "")
    return RESULTS / f"{stamp}-{about['commit'][:10]}{mark}.json"


def main(argv: list[str] | None = None) -> int:
    """Measure, print the table, write the file."""
    names = ", ".join(dict.fromkeys(case.name for case in CASES))
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--case", nargs="+", default=[], metavar="NAME", help=f"of {names}")
    parser.add_argument("--k", type=float, help="only the cases with this many candidates")
    parser.add_argument("--quick", action="store_true", help="short samples, 3 repeats, no file")
    parser.add_argument("--repeats", type=int, help="rounds of samples")
    parser.add_argument("--out", type=Path, help="the result file")
    arguments = parser.parse_args(argv)
    options = QUICK if arguments.quick else Options()
    options = replace(options, repeats=arguments.repeats or options.repeats)
    k = None if arguments.k is None else int(arguments.k)
    record = measure_all(select(arguments.case, k), options)
    if arguments.out or not arguments.quick:
        path = arguments.out or default_path(record)
        write(record, path)
        print(f"written: {path}", file=sys.stderr)
    print(report.markdown(record))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
