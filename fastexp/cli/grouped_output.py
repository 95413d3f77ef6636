"""Answers by group as a table, in a file, or for ``--json``."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from . import output
from .errors import Failure, UserMistake

SUFFIXES = (".parquet", ".csv", ".json")


class Answers(NamedTuple):
    """What each group was answered: one value, or a list of draws."""

    by: str
    column: str
    groups: list[Any]
    values: list[Any]
    draws: bool


def check(file: str) -> None:
    """Refuse what cannot be written, before anything is drawn."""
    suffix = Path(file).suffix.lower()
    if suffix not in SUFFIXES:
        raise UserMistake(f"--output must end in {', '.join(SUFFIXES[:2])} or {SUFFIXES[2]}")
    folder = Path(file).absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise UserMistake(f"cannot write --output {file!r}: no folder {str(folder)!r} to write to")
    if Path(file).is_dir():
        raise UserMistake(f"cannot write --output {file!r}: it is a folder")
    if suffix == ".parquet" and output.optional("polars") is None:
        output.needed("pyarrow.parquet", "writing Parquet", "polars (or pyarrow)")


def write(file: str, found: Answers) -> None:
    """Write one row a group; the file is complete or not there.

    Parameters
    ----------
    file : str
        A name that `check` took.
    found : Answers
    """
    kind = Path(file).suffix.lower()
    writer = {".parquet": _parquet, ".csv": _csv, ".json": _json}[kind]
    folder, reason = Path(file).absolute().parent, None
    number, part = tempfile.mkstemp(suffix=kind, prefix=".fastexp-", dir=folder)
    os.close(number)
    try:
        writer(part, found)
        mask = os.umask(0)
        os.umask(mask)
        Path(part).chmod(0o666 & ~mask)  # as any file that is made
        Path(part).replace(file)
    except OSError as error:
        reason = error.strerror or "system error"
    finally:
        Path(part).unlink(missing_ok=True)
    if reason is not None:
        raise Failure(f"cannot write {file!r}: {reason}")


def _parquet(file: str, found: Answers) -> None:
    columns = {found.by: found.groups, found.column: found.values}
    polars = output.optional("polars")
    if polars is not None:
        polars.DataFrame(columns, strict=False).write_parquet(file)
        return
    arrow, parquet = output.optional("pyarrow"), output.optional("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), file)


def _csv(file: str, found: Answers) -> None:
    import csv

    with Path(file).open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow((found.by, found.column))
        for group, value in zip(found.groups, found.values, strict=True):
            rows.writerows((group, x) for x in (value if found.draws else [value]))


def _json(file: str, found: Answers) -> None:
    pairs = zip(found.groups, found.values, strict=True)
    rows = [{found.by: group, found.column: value} for group, value in pairs]
    Path(file).write_text(json.dumps(rows, ensure_ascii=False) + "\n", encoding="utf-8")


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
