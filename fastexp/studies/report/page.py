"""The report as one page of HTML: no script, nothing loaded, all text escaped."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from ..._parameters.text import printable, readable
from .study_table import StudyTable
from .words import Part, distinct

PAGE = Path(__file__).with_name("page.html")
NO_FIGURES = (
    "<p>Figures need matplotlib: <code>pip install matplotlib</code>, then write the report "
    "again, as with <code>fastexp study report DIR</code>.</p>"
)


def html(
    table: dict[str, Any],
    tables: Sequence[StudyTable],
    figures: Sequence[tuple[Part, bytes]],
    files: Sequence[str],
) -> str:
    """The whole page.

    `table`: of `StudyResults.to_dict`; `figures`: rows and their SVG, none where matplotlib is not
    installed; `files`: what is beside the page.
    """
    study, versions = table["study"], table["versions"]
    values = {
        "name": study["name"],
        "question": study.get("question", ""),
        "settings": json.dumps(study, indent=1, ensure_ascii=False),
        **versions,
    }
    return Template(PAGE.read_text(encoding="utf-8")).substitute(
        {name: _text(value) for name, value in values.items()},
        warnings="\n".join(f'<p class="warning">{line}</p>' for line in _warnings(table)),
        figures="\n".join(_figure(i, *pair) for i, pair in enumerate(figures, 1)) or NO_FIGURES,
        tables="\n".join(map(_table, tables)),
        files=", ".join(f'<a href="{quote(name)}">{_text(name)}</a>' for name in files),
        where=_list({**versions, "key of the study": table["key"]}),
    )


def _warnings(table: dict[str, Any]) -> Iterator[str]:
    rows, tasks, finished = table["rows"], table.get("tasks", 0), table.get("finished", 0)
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


def _table(table: StudyTable) -> str:
    kinds = ['<th scope="row">' if column in table.words else "<td>" for column in table.columns]
    lines = [
        "".join(f"{kind}{_text(cell)}</{kind[1:3]}>" for kind, cell in zip(kinds, row, strict=True))
        for row in table.rows
    ]
    heads = "".join(f'<th scope="col">{_text(column)}</th>' for column in table.columns)
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f"<h3>{_text(table.title)}</h3>\n"
        '<div tabindex="0"><table>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>\n"
        f'<p class="note">{_text(table.note)}</p>'
    )


def _list(facts: Mapping[str, object]) -> str:
    lines = [f"<dt>{_text(term)}</dt><dd>{_text(value)}</dd>" for term, value in facts.items()]
    return "<dl>\n" + "\n".join(lines) + "\n</dl>"


def _text(value: object) -> str:
    return escape(printable(str(value), keep="\n"))
