"""The site's page of benchmarks: ``python -m benchmarks.page`` prints its tables.

For each run: the cases that no later run has measured, against their best peers, then all rows.
"""

from __future__ import annotations

from .report import NOTES, Record, about, all_rows, latest, results, summary


def tables(records: list[Record]) -> str:
    """The page's tables in Markdown, from the last result of each case."""
    parts = ["## All figures", NOTES]
    for run in reversed(latest(records)):
        if run["cases"]:
            parts += [f"### The run of {run['provenance']['date']}", about(run), summary(run)]
            parts += [":::{dropdown} All rows", all_rows(run), ":::"]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    print(tables(results()))
