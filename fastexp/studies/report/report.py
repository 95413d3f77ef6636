"""A study's report: one page that needs nothing else, and its figures as files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import ParameterError, StudyError
from ..design import contenders
from ..ready.ready import findings_of
from ..ready.study_table import StudyTable
from ..store.folder import STUDY
from ..store.writing import publish
from . import page, rendering
from .panels import pictures
from .pivot import pivots
from .table_rows import csv_text, json_text

PAGE = "report.html"


def stored_table(folder: Path) -> dict[str, Any] | None:
    """The table of a results folder that is complete; None of one that is not."""
    if not (folder / STUDY).is_file():
        raise StudyError(f"{folder} is not the results folder of a study")
    try:
        content = dict(json.loads((folder / "table.json").read_bytes()))
        if {"rows", "study"} <= set(content) and "name" in content["study"]:
            return content
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError):
        pass
    raise StudyError(f"{folder / 'table.json'} cannot be read, or is damaged")


def write_report(
    table: dict[str, Any], folder: str | Path, formats: Sequence[str] = ("svg",)
) -> list[Path]:
    """Write report.html, and the figures in these formats; returns their paths, the page first.

    `table` is of `StudyResults.to_dict` or `stored_table`. The folder is made if it is not there;
    of a results folder the page names the CPU, too. Without matplotlib there are no figures, and
    the page says so.
    """
    path = Path(folder)
    unknown = [kind for kind in formats if kind not in rendering.FORMATS]
    if unknown:
        raise ParameterError(f"formats must be of {', '.join(rendering.FORMATS)}, got {unknown}")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or "system error"
        raise StudyError(f"the report cannot be written to {path}: {reason}") from None
    drawable = pictures(table["rows"], takes(table["study"])) if rendering.available() else []
    complete = table.get("finished") == table.get("tasks")
    stem = "table" if complete else "unfinished"  # table.* are of all tasks
    numbers = {"csv": csv_text(table["rows"]), "json": json_text(table)}
    files: dict[str, bytes] = {}
    for number, picture in enumerate(drawable, 1):
        by_kind = rendering.rendered(picture, dict.fromkeys(formats))
        files |= {f"figure-{number}-{picture.figure}.{kind}": by_kind[kind] for kind in by_kind}
    files |= {f"{stem}.{kind}": text.encode() for kind, text in numbers.items()}
    svgs = [(picture, rendering.for_page(picture)) for picture in drawable]
    content = {**table, "machine": _machine(path, table["key"])}
    files = {PAGE: page.html(content, tables_of(table), svgs, list(files)).encode(), **files}
    for name, data in files.items():
        publish(path / name, data)
    return [path / name for name in files]


def takes(study: dict[str, Any]) -> dict[str, str]:
    """For each mechanism's label whether it takes "records" or "utilities"."""
    return {contenders.label_of(spec): contenders.takes_of(spec) for spec in study["mechanisms"]}


def tables_of(table: dict[str, Any]) -> list[StudyTable]:
    """The tables that answer a ready-made study's question; of other studies one a figure."""
    return findings_of(table, pivots(table["rows"], takes(table["study"])))


def _machine(folder: Path, key: str) -> dict[str, Any]:
    """On what a results folder was begun, if it is of the same study."""
    try:
        description = json.loads((folder / STUDY).read_bytes())
        return dict(description["machine"]) if description["key"] == key else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
