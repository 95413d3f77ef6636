"""Measure cases: ``python -m benchmarks.run [--case NAME ...] [--k K] [--quick]``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from .cases import CASES
from .harness.outcome import Options, Outcome
from .harness.provenance import RESULTS, load, provenance
from .harness.workload import Case
from .report import NOTES, about, all_rows, summary

QUICK = Options(repeats=3, sample_s=0.02, check_s=0.1, runs=20_000)


def measure_all(cases: Iterable[Case], options: Options) -> dict[str, Any]:
    """Measure the cases, and return the record of everything."""
    origin, before = provenance(), load()  # the commit may change while cases are measured
    ids, rows, absent = list[dict[str, str]](), list[Any](), list[dict[str, str]]()
    for case in cases:
        start = time.perf_counter()
        outcome = case.measure(case, options)
        ids.append({"id": case.id})
        rows += as_records(outcome)
        absent += [{"case": case.id, "name": n, "reason": r} for n, r in outcome.absent.items()]
        print(f"{case.id}: {time.perf_counter() - start:.1f} s", file=sys.stderr)
    parts = {"cases": ids, "rows": rows, "absent": absent}
    return {"provenance": origin, "load": [before, load()]} | parts


def as_records(outcome: Outcome) -> list[dict[str, Any]]:
    """Return the rows of a case with median, spread and ratio; |t| has no ratio."""
    ours = next((row.median for row in outcome.rows if row.role == "ours"), None)
    records = []
    for row in outcome.rows:
        ratio = row.median / ours if ours and row.unit != "|t|" else None
        derived = {"median": row.median, "spread": row.spread, "ratio": ratio}
        records.append(asdict(row) | derived)
    return records


def write(record: dict[str, Any]) -> None:
    """Write ``bench_results/<date>-<commit>.json``, marked if the checkout was dirty."""
    origin = record["provenance"]
    mark = "-dirty" if origin["dirty"] else ""
    stamp = origin["date"].replace(":", "")
    path = RESULTS / f"{stamp}-{origin['commit'][:10]}{mark}.json"
    path.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    print(f"written: {path}", file=sys.stderr)


def main() -> None:
    """Measure, write the file, print the tables."""
    names = list(dict.fromkeys(case.name for case in CASES))
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--case", nargs="+", default=names, choices=names, metavar="NAME")
    parser.add_argument("--k", type=float, help="only the cases with this many candidates")
    parser.add_argument("--quick", action="store_true", help="short samples, 3 repeats, no file")
    arguments = parser.parse_args()
    cases = [
        case
        for case in CASES
        if case.name in arguments.case and arguments.k in (None, case.inputs.k)
    ]
    record = measure_all(cases, QUICK if arguments.quick else Options())
    if not arguments.quick:
        write(record)
    print("\n\n".join([about(record), summary(record), all_rows(record), NOTES]))


if __name__ == "__main__":
    main()
