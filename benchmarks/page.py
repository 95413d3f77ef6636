"""The site's page of benchmarks: ``python -m benchmarks.page`` prints its tables.

By area: each case against its best peer, then every row of every case, with the processor that
it was measured on; at the end the runs that they are from.
"""

from __future__ import annotations

from itertools import groupby

from .cases import groups, numbers, selection, studies
from .report import (
    NOTES,
    Record,
    about,
    case_table,
    compared_pairs,
    newest,
    results,
    sources,
    summary,
    tally,
    title,
)

AREAS = {
    "Selection": selection.CASES,
    "Numbers": numbers.CASES,
    "Studies": studies.CASES,
    "Groups": groups.CASES,
}
RETIRED = "Cases that are no longer run"


def area_of() -> dict[str, str]:
    """The area of each case that there is."""
    return {case.id: area for area, cases in AREAS.items() for case in cases}


def part(record: Record, ids: set[str]) -> Record:
    """What a record has of these cases."""
    names = (("cases", "id"), ("rows", "case"), ("absent", "case"))
    return {name: [e for e in record[name] if e[key] in ids] for name, key in names}


def measured_on(record: Record) -> str:
    """The processor and the day of a record, and the commit that was measured."""
    p = record["provenance"]
    return f"{p['cpu']}; {p['date'][:10]}, commit {p['commit'][:10]}"


def section(name: str, record: Record, runs: dict[str, Record]) -> list[str]:
    """An area: a summary for each run, and all rows in a part that opens."""
    parts = [f"### {name}", tally(compared_pairs(record))]
    rows = [f":::{{dropdown}} All {len(record['rows'])} rows: {name.lower()}"]
    for run, of_run in groupby(record["cases"], key=lambda case: measured_on(runs[case["id"]])):
        cases = list(of_run)
        lines = part(record, {case["id"] for case in cases})
        if compared_pairs(lines):
            parts += [f"{run}:", summary(lines)]
        for heading, alike in groupby(cases, key=title):
            rows += [f"**{heading}** ({run})", case_table(list(alike), record)]
    return [*parts, *rows, ":::"]


def tables(records: list[Record]) -> str:
    """The page's tables in Markdown, from the last result of each case."""
    record, runs, area = newest(records), sources(records), area_of()
    parts = []
    for name in [*AREAS, RETIRED]:
        ids = {case["id"] for case in record["cases"] if area.get(case["id"], RETIRED) == name}
        if ids:
            parts += section(name, part(record, ids), runs)
    used = [run for run in records if any(run is last for last in runs.values())]
    origins = [f"* {about(run)}" for run in reversed(used)]
    return "\n\n".join(["## All figures", NOTES, *parts, "### Runs", "\n".join(origins)]) + "\n"


if __name__ == "__main__":
    print(tables(results()))
