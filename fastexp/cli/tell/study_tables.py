"""How a study's results are printed: its own tables, or the tidy one; or all of it as JSON."""

from __future__ import annotations

from dataclasses import asdict
from textwrap import fill
from typing import TYPE_CHECKING, Any

from ..._parameters.text import printable
from ..terminal import printing, tables

if TYPE_CHECKING:
    from ...studies.ready.findings import Finding
    from ...studies.report.results import StudyResults

NOT_PRIVATE = "Simulations, not private releases: computed from data sets that the study knows."
WORDS = ("data", "mechanism", "figure")


def show(results: StudyResults, *, as_json: bool) -> None:
    """Print the tables that answer a study's question, else its rows; or all of it as JSON."""
    from ...studies.ready.ready import findings_of

    findings = findings_of(results.to_dict())
    if as_json:
        printing.as_json({**results.to_dict(), "tables": [asdict(finding) for finding in findings]})
        return
    study = results.study
    print(printable(f"{study.name}: {study.question}" if study.question else study.name))
    print(f"{study.datasets:,} data sets of each kind and size, {study.draws:,} draws for each")
    print(NOT_PRIVATE)
    for finding in findings:
        _print(finding)
    if not findings:
        _rows(results.rows)
    both = [row["agree"] for row in results.rows if row["agree"] is not None]
    if both and all(both):
        print(f"\nexact figures and Monte Carlo agree in all {len(both):,} rows that have both")


def _print(finding: Finding) -> None:
    print(f"\n{printable(finding.title)}\n")
    tables.table(finding.columns, finding.rows)
    if finding.note:
        print(f"\n{fill(printable(finding.note), 80)}")


def _rows(rows: list[dict[str, Any]]) -> None:
    """The tidy table, of each row what a reader needs; without columns that hold nothing."""
    columns = {
        "data": [row["data"] for row in rows],
        "n": [f"{row['n']:,}" for row in rows],
        "mechanism": [row["mechanism"] for row in rows],
        "epsilon": [f"{row['epsilon']:g}" for row in rows],
        "figure": [row["figure"] for row in rows],
        "level": ["" if row["level"] is None else f"{row['level']:g}" for row in rows],
        "exact ± sd": [_spread(row["exact"], row["exact_sd"]) for row in rows],
        "monte carlo [95 %]": [_interval(row) for row in rows],
        "agree": [{True: "yes", False: "NO", None: ""}[row["agree"]] for row in rows],
    }
    filled = {header: cells for header, cells in columns.items() if any(cells)}
    print()
    tables.table(list(filled), list(zip(*filled.values(), strict=True)), WORDS)
    print("\nexact ± standard deviation across data sets; the interval is of the draws' noise")


def _spread(value: float | None, deviation: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if deviation is None else f"{value:.4g} ± {deviation:.2g}"


def _interval(row: dict[str, Any]) -> str:
    if row["monte_carlo"] is None:
        return ""
    value = f"{row['monte_carlo']:.4g}"
    return value if row["low"] is None else f"{value} [{row['low']:.4g}, {row['high']:.4g}]"
