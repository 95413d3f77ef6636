"""A study's report: one page that needs nothing else, and its figures as files.

The page has no script and loads nothing; all text is escaped.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from ..._parameters import validate
from ..._parameters.text import printable, readable
from ...errors import StudyError
from ...pictures.canvas import label
from ..design import registry
from ..ready.ready import source_of
from ..store.folder import publish
from . import figure
from .study_table import Part, Rows, StudyTable, distinct, parts, pivots
from .table_rows import csv_text, json_text

PAGE = "report.html"
TEMPLATE = Path(__file__).with_name("page.html")
NO_FIGURES = (
    "<p>Figures need matplotlib: <code>pip install matplotlib</code>, then write the report "
    "again, as with <code>fastexp study report DIR</code>.</p>"
)
SIGNS = "lines: exact; points: draws, with 95 % intervals"
OURS = "exact means; deviations of the mean of as many draws as the study has."


def write_report(
    table: dict[str, Any], folder: str | Path, formats: Sequence[str] = ("svg",)
) -> list[Path]:
    """Write report.html, and the figures in these formats; returns their paths, the page first.

    `table` is of `StudyResults.to_dict`. The folder is made if it is not there. Without matplotlib
    there are no figures, and the page says so.
    """
    path = Path(folder)
    for kind in formats:
        validate.choice("formats", kind, figure.FORMATS)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or "system error"
        raise StudyError(f"the report cannot be written to {path}: {reason}") from None
    figures = parts(table["rows"], takes(table["study"])) if figure.available() else []
    files: dict[str, bytes] = {}
    svgs = []
    for number, part in enumerate(figures, 1):
        by_kind = figure.files_of(part, *heading(table["study"]), {"svg", *formats})
        svgs.append((part, by_kind["svg"]))
        stem = f"figure-{number}-{part.figure}"
        files |= {f"{stem}.{kind}": by_kind[kind] for kind in formats}
    complete = table["finished"] == table["tasks"]
    stem = "table" if complete else "unfinished"  # table.* are of all tasks
    files |= {
        f"{stem}.csv": csv_text(table["rows"]).encode(),
        f"{stem}.json": json_text(table).encode(),
    }
    files = {PAGE: _page(table, svgs, list(files)).encode(), **files}
    for name, data in files.items():
        publish(path / name, data)
    return [path / name for name in files]


def _page(table: dict[str, Any], figures: Sequence[tuple[Part, bytes]], files: list[str]) -> str:
    """The page: tables as notebooks show them, figures from their SVG; `files` are beside it."""
    study = table["study"]
    values = {
        "name": study["name"],
        "question": study["question"],
        "settings": json.dumps(study, indent=1, ensure_ascii=False),
        "key": table["key"],
        "versions": ", ".join(f"{name} {value}" for name, value in table["versions"].items()),
    }
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        {name: _text(value) for name, value in values.items()},
        warnings="\n".join(f'<p class="warning">{line}</p>' for line in _warnings(table)),
        figures="\n".join(_figure(i, *pair) for i, pair in enumerate(figures, 1)) or NO_FIGURES,
        tables="\n".join(each._repr_html_() for each in tables_of(table)),
        files=", ".join(f'<a href="{quote(name)}">{_text(name)}</a>' for name in files),
    )


def _warnings(table: dict[str, Any]) -> Iterator[str]:
    rows, tasks, finished = table["rows"], table["tasks"], table["finished"]
    if finished != tasks:
        done = f"{readable(finished)} of {readable(tasks)}"
        yield f"This run is unfinished: the figures are of {done} tasks."
    bad = sum(row["agree"] is False for row in rows)
    if bad:
        yield (
            f"Exact figures and Monte Carlo disagree in {bad} of {len(rows)} rows, by more than 5 "
            "standard errors: one of them is wrong. Tables mark them by !."
        )


def _figure(number: int, part: Part, svg: bytes) -> str:
    """A figure as part of the page."""
    what = f"{part.words[0].upper()}{part.words[1:]}"
    names = ", ".join(distinct(part.rows, "mechanism"))
    label = _text(f"{what}; mechanisms: {names}. The numbers are in the tables below.")
    drawing = base64.b64encode(svg).decode()
    image = f'<img src="data:image/svg+xml;base64,{drawing}" alt="{label}">'
    caption = f"<figcaption>Figure {number}. {_text(what)}.</figcaption>"
    return f'<figure tabindex="0">\n{image}\n{caption}\n</figure>'


def _text(value: object) -> str:
    return escape(printable(str(value), keep="\n"))


def takes(study: dict[str, Any]) -> dict[str, str]:
    """For each mechanism's label whether it takes "records" or "utilities"."""
    return {registry.label_of(spec): registry.takes_of(spec) for spec in study["mechanisms"]}


def heading(study: dict[str, Any]) -> tuple[str, list[str]]:
    """What stands above a figure of a study: its name, its question, and how to read it."""
    sizes = f"{readable(study['datasets'])} data sets, {readable(study['draws'])} draws each"
    notes = [study["question"], sizes, SIGNS]
    return label(study["name"], 60), [note for note in notes if note]


def tables_of(table: dict[str, Any]) -> list[StudyTable]:
    """A table a figure; of a ready-made study with what it repeats, printed numbers first."""
    tables = pivots(table["rows"], takes(table["study"]))
    source = source_of(table["study"])
    if source and tables:
        note = f"{tables[0].note} {source['repeats']}".strip()
        tables[0] = replace(tables[0], note=note)
    if "printed" in source and tables:
        tables.insert(0, _beside(source["printed"], table["rows"]))
    return tables


def _beside(printed: dict[str, Any], rows: Rows) -> StudyTable:
    """Numbers that a source prints, each with a standard deviation, beside those of the rows."""
    scale, lines, apart = printed["scale"], [], [0.0]
    by_place = {(row["mechanism"], row["epsilon"]): row for row in rows}
    for name, epsilon, mean, sd in printed["cells"]:
        row = by_place.get((name, epsilon))
        if row is None:
            continue
        ours, spread = scale * row["exact"], row["monte_carlo_sd"]
        brackets = "-" if spread is None else f"{scale * spread:.2f}"
        apart.append((ours - mean) / sd)
        texts = (f"{mean} ({sd})", f"{ours:.2f} ({brackets})", f"{apart[-1]:+.2f}")
        lines.append([name, readable(epsilon), *texts])
    columns = ["mechanism", "epsilon", "printed (sd)", "ours (sd)", "difference / sd"]
    near = (
        f"Of the {len(lines)} printed means ours differ by at most {max(map(abs, apart)):.2f} of "
        "the printed standard deviation."
    )
    note = f"{near} {printed['note']} Ours: {OURS}"
    return StudyTable(printed["title"], columns, lines, note, keys=2)
