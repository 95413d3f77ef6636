"""The report as one page of HTML: no script, nothing loaded, all text escaped."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from ..._parameters.text import printable, readable
from ..design.code import written_codes
from ..ready.study_table import StudyTable
from .page_style import css, inline
from .panels import Picture
from .scales import logarithmic

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
WIDEST, SPACE, NARROW = 16, 2, 24  # characters: of a column that stays, around it, of all on phones
DISAGREES = '<tr class="disagrees">'
KEYS = ("data", "n", "mechanism", "epsilon")  # what a row is about
TEXT = ("data", "mechanism", "neighbors", "figure")  # columns of words
CAUTION = (
    "These are simulations, not private releases. Exact figures and draws are computed from "
    "data sets that the study knows; no privacy is promised for them. If a study resamples a "
    "file of real records, treat this page as you treat that file."
)


def html(
    table: dict[str, Any],
    tables: list[StudyTable],
    pictures: list[tuple[Picture, tuple[bytes, bytes]]],
    files: Sequence[str],
) -> str:
    """The whole page.

    `table`: of `StudyResults.to_dict`, with the key "machine"; `pictures`: each with its SVGs, wide
    and narrow, none where matplotlib is not installed; `files`: what is beside the page.
    """
    study = table["study"]
    name = _text(study["name"])
    links = ", ".join(f'<a href="{quote(file)}">{_text(file)}</a>' for file in files)
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{name} – accuracy study</title>\n<style>\n{css()}</style>\n</head>\n<body><main>",
        f"<h1>{name}</h1>",
        f'<p class="question">{_text(study["question"])}</p>' if study.get("question") else "",
        *(f'<p class="verdict bad">{text}</p>' for text in _warnings(table)),
        f'<p class="caution">{CAUTION}</p>',
        "<h2>Figures</h2>",
        *(_figure(i, picture, svgs) for i, (picture, svgs) in enumerate(pictures, 1)),
        "" if pictures else NO_FIGURES,
        "<h2>Tables</h2>",
        *map(_finding, tables),
        "<h2>All figures as numbers</h2>",
        f"<p>These rows and the figures as files: {links}.</p>",
        _tidy(table),
        "<h2>Where it ran</h2>",
        _where(table),
        "<h2>What was studied, and how to reproduce it</h2>",
        _reproduction(table),
        "</main></body>\n</html>\n",
    ]
    return "\n".join(part for part in parts if part)


NO_FIGURES = (
    "<p>Figures need matplotlib: <code>pip install matplotlib</code>, then write the report "
    "again, as with <code>fastexp study report DIR</code>.</p>"
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
            "standard errors: one of them is wrong. They are marked below."
        )


def _finding(table: StudyTable) -> str:
    above, below = (
        f'<p class="{kind}">{_text(text)}</p>\n' if text else ""
        for kind, text in (("sentence", table.sentence), ("note", table.note))
    )
    body = _table(table.title, table.columns, table.rows, table.keys, table.words)
    return f"<h3>{_text(table.title)}</h3>\n{above}{body}{below}"


def _figure(number: int, picture: Picture, svgs: tuple[bytes, bytes]) -> str:
    over = f" over {picture.x_label}" if picture.x else ", a mechanism a row"
    what = f"{picture.y_label[0].upper()}{picture.y_label[1:]}{over}"
    names = dict.fromkeys(line.mechanism for panel in picture.panels for line in panel.lines)
    signs = " Lines: exact; points: Monte Carlo, with the 95 % interval of the draws' noise."
    drawn = [v for p in picture.panels for line in p.lines for v in line.drawn if v is not None]
    hidden = logarithmic(picture.values) and min(picture.values) > 0 and 0 in drawn
    below = " Points at 0 lie below the logarithmic axis." if hidden else ""
    words = f"{what}; mechanisms: {', '.join(names)}. The numbers are in the tables below."
    wide, phone = (
        inline(svg, f"{kind}{number}-", kind, words)
        for kind, svg in zip(("wide", "phone"), svgs, strict=True)
    )
    return (
        f"<figure>\n{wide}\n{phone}\n"
        f"<figcaption>Figure {number}. {_text(what)}.{signs if drawn else ''}{below}</figcaption>\n"
        "</figure>"
    )


def _tidy(table: dict[str, Any]) -> str:
    rows = table["rows"]
    about = {
        c: words for c, words in table["columns"].items() if any(r[c] is not None for r in rows)
    }
    columns = sorted(about, key=lambda column: column not in KEYS)  # the keys first
    body = [[_value(row[c]) for c in columns] for row in rows]
    marks = [row["agree"] is False for row in rows]
    keys = sum(column in KEYS for column in columns)
    numbers = _table("All figures as numbers", columns, body, keys, TEXT, marks)
    meanings = "\n".join(_entry(c, words) for c, words in about.items())
    return f"{numbers}\n<dl>\n{meanings}\n</dl>"


def _where(table: dict[str, Any]) -> str:
    facts = {**table["versions"], **table["machine"], "key of the study": table["key"]}
    lines = [_entry(k, v) for k, v in facts.items()]
    return "<dl>\n" + "\n".join(lines) + "\n</dl>"


def _reproduction(table: dict[str, Any]) -> str:
    study, versions = table["study"], table["versions"]
    file = f"{study['name']}.json"
    allowed, condition = "", ""
    if written_codes(study):
        allowed = " --allow-import"
        condition = ", where the modules that they name take all randomness from their generator"
    command = f"fastexp study run {shlex.quote(file)}{allowed} --out results"
    return (
        f"<p>Save the settings below as <code>{_text(file)}</code> (they are also in study.json "
        f"of the results folder) and run:</p>\n{_code(command)}\n"
        f"<p>With fastexp {_text(versions['fastexp'])} and numpy {_text(versions['numpy'])} the "
        "table has the same bytes, whatever the executor and the number of workers"
        f"{condition}.</p>\n"
        f"{_code(json.dumps(study, indent=1, ensure_ascii=False))}"
    )


def _code(text: str) -> str:
    return f'<pre tabindex="0">{_text(text, lines=True)}</pre>'


def _entry(term: str, value: object) -> str:
    return f"<dt>{_text(term)}</dt><dd>{_text(value)}</dd>"


def _table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    keys: int,
    words: Sequence[str],
    marks: Sequence[bool] = (),
) -> str:
    pins = _pins(columns[:keys], rows)
    pins += [""] * (len(columns) - len(pins))
    kinds = [' class="word"' if column in words else "" for column in columns]
    heads = "".join(
        f'<th scope="col"{pin or kind}>{_text(column)}</th>'
        for column, pin, kind in zip(columns, pins, kinds, strict=True)
    )
    lines = []
    for row, bad in zip(rows, marks or [False] * len(rows), strict=True):
        cells = "".join(
            f'<th scope="row"{pin}>{_text(cell)}</th>' if pin else f"<td{kind}>{_text(cell)}</td>"
            for cell, pin, kind in zip(row, pins, kinds, strict=True)
        )
        lines.append(f"{DISAGREES if bad else '<tr>'}{cells}</tr>")
    return (
        f'<div class="scrolled" role="group" tabindex="0" aria-label="{_text(title)}"><table>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n"
        + "\n".join(lines)
        + "\n</tbody></table></div>\n"
    )


def _pins(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Where each of the first columns stays: right of those before it, which have known widths.

    On a narrow page those stay that leave room for others.
    """
    pins, left = [], 0
    for place, column in enumerate(columns):
        cells = [column, *(row[place] for row in rows)]
        longest_word = max((len(word) for cell in cells for word in cell.split(" ")), default=0)
        wide = max(longest_word, min(max(map(len, cells)), WIDEST)) + SPACE
        kind = "pin" if left + wide <= NARROW or place == 0 else "pin far"
        pins.append(f' class="{kind}" style="left:{left}ch;width:{wide}ch;min-width:{wide}ch"')
        left += wide
    return pins


def _value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return readable(value) if isinstance(value, (int, float)) else str(value)


def _text(value: object, *, lines: bool = False) -> str:
    return escape(printable(str(value), "\n" if lines else ""))
