"""How a study's results are printed: its tables, or all of it as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from ..._parameters.text import printable
from ..terminal import printing

if TYPE_CHECKING:
    from ...studies.report.results import StudyResults

NOT_PRIVATE = "Simulations, not private releases: computed from data sets that the study knows."


def show(results: StudyResults, *, as_json: bool) -> None:
    """Print the tables that answer a study's question; or all of it as JSON."""
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
