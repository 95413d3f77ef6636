"""Answers by group as a table, in a file, or for ``--json``."""

from __future__ import annotations

import io
import statistics
from argparse import Namespace
from typing import Any, NamedTuple

from ..query import output as output_file
from . import output

SUFFIXES = (".parquet", ".csv", ".json")
OVERHEAD, NUMBER = 1 << 16, 32  # bytes of a file's frame, and of a number


class Answers(NamedTuple):
    """What each group was answered: one value, or a list of draws."""

    by: str
    column: str
    groups: list[Any]
    values: list[Any]
    draws: bool


def check(file: str, force: bool) -> None:
    """Refuse what cannot be written, before anything is drawn."""
    output_file.check(file, force, SUFFIXES)
    if output_file.suffix(file) == ".parquet" and output.optional("polars") is None:
        output.needed("pyarrow.parquet", "writing Parquet", "polars (or pyarrow)")


def room(options: Namespace, call: Any) -> int:
    """Bytes that the answers of a release take at most, or nearly so."""
    labels = call.labels or []
    widest = max(NUMBER, *(6 * len(str(c)) for c in getattr(call.mechanism, "candidates", ())), 0)
    names = 6 * (len(options.by) + len(options.column)) + 16
    return OVERHEAD + sum(6 * len(str(label)) for label in labels) + len(labels) * (widest + names)


def content(file: str, found: Answers) -> bytes:
    """One row a group, in the format that a name tells.

    Parameters
    ----------
    file : str
        A name that `check` took.
    found : Answers
    """
    write = {".parquet": _parquet, ".csv": _csv, ".json": _json}[output_file.suffix(file)]
    return write(found)


def _parquet(found: Answers) -> bytes:
    columns, made = {found.by: found.groups, found.column: found.values}, io.BytesIO()
    polars = output.optional("polars")
    if polars is not None:
        polars.DataFrame(columns, strict=False).write_parquet(made)
        return made.getvalue()
    arrow, parquet = output.optional("pyarrow"), output.optional("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), made)
    return made.getvalue()


def _csv(found: Answers) -> bytes:
    import csv

    made = io.StringIO(newline="")
    rows = csv.writer(made, lineterminator="\n")
    rows.writerow((found.by, found.column))
    for group, value in zip(found.groups, found.values, strict=True):
        rows.writerows((group, x) for x in (value if found.draws else [value]))
    return made.getvalue().encode()


def _json(found: Answers) -> bytes:
    pairs = zip(found.groups, found.values, strict=True)
    rows = [{found.by: group, found.column: value} for group, value in pairs]
    return f"{output.json_text(rows)}\n".encode()


def table(found: Answers) -> None:
    """One row a group; of draws a summary of each."""
    pairs = list(zip(found.groups, found.values, strict=True))
    if not found.draws:
        cells = [(str(group), str(value)) for group, value in pairs]
        words = [found.column] if any(isinstance(x, str) for x in found.values) else []
        output.table((found.by, found.column), cells, words)
    elif found.values and isinstance(found.values[0][0], (int, float)):
        heads = (found.by, "mean", "standard deviation", "5%", "50%", "95%")
        output.table(heads, [(str(group), *_summary(drawn)) for group, drawn in pairs])
    else:
        cells3 = [(str(group), *_most(drawn)) for group, drawn in pairs]
        output.table((found.by, "most drawn", "frequency"), cells3, ["most drawn"])


def _summary(drawn: list[Any]) -> list[str]:
    ordered, n = sorted(drawn), len(drawn)
    quantiles = [ordered[max(0, -(-n * p // 100) - 1)] for p in (5, 50, 95)]
    figures = [statistics.fmean(drawn), statistics.pstdev(drawn), *quantiles]
    return [str(x) if isinstance(x, int) else f"{x:.6g}" for x in figures]


def _most(drawn: list[Any]) -> tuple[str, str]:
    best = max(dict.fromkeys(drawn), key=drawn.count)
    return str(best), f"{drawn.count(best) / len(drawn):.6f}"
