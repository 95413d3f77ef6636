"""The report as one page of HTML: no script, nothing loaded, all text escaped."""

from __future__ import annotations

import base64
import json
import shlex
from html import escape
from typing import Any

from ..._parameters.text import printable
from ..ready.study_table import StudyTable
from .panels import Picture
from .scales import logarithmic

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
LONGEST = 200  # characters of a setting in the table of settings
TEXT = ("data", "mechanism", "neighbors", "figure")  # columns of words
CAUTION = (
    "These are simulations, not private releases. Exact figures and draws are computed from "
    "data sets that the study knows; no privacy is promised for them. If a study resamples a "
    "file of real records, treat this page as you treat that file."
)


def html(
    table: dict[str, Any], findings: list[StudyTable], pictures: list[tuple[Picture, bytes]]
) -> str:
    """The whole page.

    `table`: of `StudyResults.to_dict`, with the key "machine"; `pictures`: each with its SVG, none
    where matplotlib is not installed.
    """
    study = table["study"]
    name = _text(study["name"])
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{name} – accuracy study</title>\n<style>\n{CSS}</style>\n</head>\n<body>",
        f"<h1>{name}</h1>",
        f'<p class="question">{_text(study["question"])}</p>' if study.get("question") else "",
        _verdict(table["rows"]),
        f'<p class="caution">{CAUTION}</p>',
        "<h2>Findings</h2>",
        *(_finding(finding) for finding in findings),
        "<h2>Figures</h2>",
        *(_figure(i, picture, svg) for i, (picture, svg) in enumerate(pictures, 1)),
        "" if pictures else NO_FIGURES,
        "<h2>All figures as numbers</h2>",
        _tidy(table),
        "<h2>What was studied</h2>",
        _settings(study),
        "<h2>Where it ran</h2>",
        _where(table),
        "<h2>How to reproduce it</h2>",
        _reproduction(table),
        "</body>\n</html>\n",
    ]
    return "\n".join(part for part in parts if part)


NO_FIGURES = (
    "<p>Figures need matplotlib: <code>pip install 'fastexp[plot]'</code>, then write the report "
    "again, as with <code>fastexp study report DIR</code>.</p>"
)


def _verdict(rows: list[dict[str, Any]]) -> str:
    """Whether exact figures and those of draws agree, in one sentence."""
    both = [row["agree"] for row in rows if row["agree"] is not None]
    bad = sum(1 for agree in both if not agree)
    if not both:
        text, kind = "No row has both an exact figure and one of draws to compare.", "caution"
    elif bad:
        text = (
            f"Exact figures and Monte Carlo disagree in {bad} of {len(both)} rows (more than 5 "
            "standard errors): one of them is wrong. They are marked below."
        )
        kind = "verdict bad"
    else:
        text = (
            f"Exact figures and Monte Carlo agree in all {len(both)} rows that have both: their "
            "difference is at most 5 standard errors."
        )
        kind = "verdict"
    return f'<p class="{kind}">{text}</p>'


def _finding(finding: StudyTable) -> str:
    note = f'<p class="note">{_text(finding.note)}</p>' if finding.note else ""
    body = [[_cell(c, number=i > 0) for i, c in enumerate(row)] for row in finding.rows]
    heads = [_head(c, number=i > 0) for i, c in enumerate(finding.columns)]
    return f"<h3>{_text(finding.title)}</h3>\n{_table(heads, body)}{note}"


def _figure(number: int, picture: Picture, svg: bytes) -> str:
    over = f" over {picture.x_label}" if picture.x else ", a mechanism a row"
    what = f"{picture.y_label[0].upper()}{picture.y_label[1:]}{over}"
    names = dict.fromkeys(line.mechanism for panel in picture.panels for line in panel.lines)
    signs = " Lines: exact; points: Monte Carlo, with the 95 % interval of the draws' noise."
    drawn = [v for p in picture.panels for line in p.lines for v in line.drawn if v is not None]
    hidden = logarithmic(picture.values) and min(picture.values) > 0 and 0 in drawn
    below = " Points at 0 lie below the logarithmic axis." if hidden else ""
    alt = f"{what}; mechanisms: {', '.join(names)}. The numbers are in the table below."
    return (
        f'<figure>\n<img alt="{_text(alt)}" src="data:image/svg+xml;base64,'
        f'{base64.b64encode(svg).decode()}">\n'
        f"<figcaption>Figure {number}. {_text(what)}.{signs if drawn else ''}{below}</figcaption>\n"
        "</figure>"
    )


def _tidy(table: dict[str, Any]) -> str:
    """The table with its columns' meaning; without columns that hold nothing."""
    rows = table["rows"]
    columns = {c: about for c, about in table["columns"].items() if _has_values(rows, c)}
    heads = [_head(c, number=c not in TEXT) for c in columns]
    body = [[_cell(_value(row[c]), number=c not in TEXT) for c in columns] for row in rows]
    marks = [' class="disagrees"' if row["agree"] is False else "" for row in rows]
    meanings = "\n".join(_entry(c, about) for c, about in columns.items())
    return f'<div class="all">{_table(heads, body, marks)}</div>\n<dl>\n{meanings}\n</dl>'


def _has_values(rows: list[dict[str, Any]], column: str) -> bool:
    return any(row[column] is not None for row in rows)


def _settings(study: dict[str, Any]) -> str:
    lines = []
    for key, value in study.items():
        if key in ("name", "question"):
            continue
        several = isinstance(value, list) and any(isinstance(item, dict) for item in value)
        texts = [_setting(item) for item in value] if several else [_setting(value)]
        lines.append(f"<dt>{_text(key)}</dt><dd>{'<br>'.join(map(_text, texts))}</dd>")
    return "<dl>\n" + "\n".join(lines) + "\n</dl>"


def _setting(value: object) -> str:
    if isinstance(value, dict):
        more = [f"{key} = {_setting(item)}" for key, item in value.items() if key != "name"]
        text = ", ".join([*([str(value["name"])] if "name" in value else []), *more])
    elif isinstance(value, list):
        text = ", ".join(map(_setting, value))
    else:
        text = "none" if value is None else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _where(table: dict[str, Any]) -> str:
    facts = {**table["versions"], **table["machine"], "key of the study": table["key"]}
    lines = [_entry(k, v) for k, v in facts.items()]
    return "<dl>\n" + "\n".join(lines) + "\n</dl>"


def _reproduction(table: dict[str, Any]) -> str:
    study, versions = table["study"], table["versions"]
    file = f"{study['name']}.json"
    command = f"fastexp study run {shlex.quote(file)} --out results"
    return (
        f"<p>Save the settings below as <code>{_text(file)}</code> (they are also in study.json "
        f"of the results folder) and run:</p>\n<pre>{_text(command)}</pre>\n"
        f"<p>With fastexp {_text(versions['fastexp'])} and numpy {_text(versions['numpy'])} the "
        "table has the same bytes, whatever the executor and the number of workers.</p>\n"
        f"<pre>{_text(json.dumps(study, indent=1, ensure_ascii=False), lines=True)}</pre>"
    )


def _entry(term: str, value: object) -> str:
    return f"<dt>{_text(term)}</dt><dd>{_text(value)}</dd>"


def _table(heads: list[str], body: list[list[str]], marks: list[str] | None = None) -> str:
    marks = marks or [""] * len(body)
    rows = [f"<tr{m}>{''.join(row)}</tr>" for m, row in zip(marks, body, strict=True)]
    return (
        f'<div class="wide"><table>\n<thead><tr>{"".join(heads)}</tr></thead>\n<tbody>\n'
        + "\n".join(rows)
        + "\n</tbody>\n</table></div>\n"
    )


def _head(text: str, *, number: bool) -> str:
    return f'<th scope="col"{NUMBER if number else ""}>{_text(text)}</th>'


def _cell(text: str, *, number: bool) -> str:
    return f"<td{NUMBER if number else ''}>{_text(text)}</td>"


NUMBER = ' class="number"'


def _value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _text(value: object, *, lines: bool = False) -> str:
    """Text as HTML takes it: escaped, and what is not printable shown by its code."""
    return escape(printable(str(value), "\n" if lines else ""))


CSS = """\
:root{color-scheme:light}
body{margin:0 auto;max-width:62rem;padding:1rem 1.2rem 4rem;background:#fff;color:#1b2a41;
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
h1{font-size:1.7rem;margin:.8rem 0 .2rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.4rem 0 .6rem;border-bottom:1px solid #d5dae1;padding-bottom:.2rem}
h3{font-size:1rem;margin:1.4rem 0 .3rem;overflow-wrap:anywhere}
p{margin:.5rem 0;max-width:46rem}
.question{font-size:1.15rem;color:#3d4a5c}
.verdict,.caution{border-left:4px solid #0072b2;background:#f3f6fa;padding:.5rem .8rem}
.bad{border-color:#b4430c;background:#fdf3ee}
.caution{border-color:#8a94a3}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.875rem;margin:.4rem 0;
font-variant-numeric:tabular-nums}
th,td{padding:.25rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid #e5e8ed}
th{border-bottom:2px solid #aab3c0;white-space:nowrap}
tbody th{border-bottom:1px solid #e5e8ed;font-weight:600}
.all td{white-space:nowrap}
.number{text-align:right;white-space:nowrap}
.disagrees td{background:#fdf3ee}
figure{margin:1.4rem 0 2rem}
figure img{display:block;min-width:min(100%,30rem);max-width:100%;height:auto}
figcaption,.note{font-size:.875rem;color:#3d4a5c;max-width:46rem}
dl{font-size:.875rem;display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}
dt{font-weight:600}dd{margin:0;overflow-wrap:anywhere}
pre{background:#f3f6fa;padding:.7rem .9rem;overflow-x:auto;font-size:.8125rem}
@media(max-width:40rem){body{padding:.5rem .8rem 3rem}dl{display:block}dd{margin:0 0 .4rem}}
@media print{body{max-width:none;padding:0;font-size:10pt}.wide,pre{overflow:visible}
pre{white-space:pre-wrap}figure,tr{break-inside:avoid}h2,h3{break-after:avoid}
@page{margin:12mm}.all table{font-size:5.5pt}.all th,.all td{padding:1pt 2pt}
.all th,.all td:not(.number){white-space:normal}}
"""
