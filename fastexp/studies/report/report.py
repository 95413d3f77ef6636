"""The report of a study: one self-contained page, and its figures as files.

The page has no script and loads nothing. All text is escaped.
"""

from __future__ import annotations

import base64
import io
import json
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from ..._parameters import validate
from ..._parameters.text import printable, readable
from ...errors import StudyError
from ...pictures.canvas import LIGHT, grid, label, labelled, legend_below, numbered, paper
from ..design import registry
from ..ready.ready import source_of
from ..store.folder import STUDY, publish, unwritten
from .study_table import (
    PLACE,
    RECORDS,
    FigurePart,
    Row,
    StudyRows,
    StudyTable,
    csv_text,
    distinct,
    json_text,
    parts,
    pivots,
    several,
    text_of,
)

FORMATS = ("svg", "png", "pdf")
COLUMNS, TICKS = 3, 7  # the most panels in a row, and the most values of x that all have a tick
LOG_X, LOG_Y = 4.0, 20.0  # an axis is logarithmic if the greatest over the least value is larger
LOG_RANGE = 1e-6  # the least lower end of a logarithmic axis, as a share of its greatest value
MARGIN = 0.06  # of an axis at either end, as a share of its range
PANEL, LINE = 2.1, 0.2  # inches: heights of a panel and of a line of text
MARKERS, DASHES = ("o", "s", "^", "D", "v"), ("-", "--", ":", "-.")
CHARACTERS = 34  # in a line above a panel
UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
PAGE = "report.html"
TEMPLATE = Path(__file__).with_name("page.html")
NO_FIGURES = (
    "<p>Figures need matplotlib: <code>pip install matplotlib</code>, then write the report "
    "again, as with <code>fastexp study report DIR</code>.</p>"
)
OURS = "exact means; deviations of the mean of as many draws as the study has."


def files_of(
    part: FigurePart, title: str, notes: list[str], formats: Iterable[str]
) -> dict[str, bytes]:
    """Return the bytes of a figure by format; they depend only on the version of matplotlib."""
    import matplotlib.style

    files: dict[str, bytes] = {}
    with warnings.catch_warnings(), matplotlib.style.context(["default", LIGHT]):
        warnings.simplefilter("ignore")  # the font may lack glyphs
        figure = draw_figure(part, title, notes)
        for kind in formats:
            file = io.BytesIO()
            figure.savefig(file, format=kind, dpi=200, metadata=UNDATED[kind])
            files[kind] = file.getvalue()
    return files


def draw_figure(part: FigurePart, title: str, notes: list[str], ax: Any = None) -> Any:
    """Draw a figure on the caller's axes, one for each panel, or on new ones below a heading."""
    # If neither epsilon nor n varies, mechanisms stand side by side.
    x = next(iter(several(part.rows, "epsilon", "n")), "mechanism")
    of_n = "records in a data set" if part.takes == RECORDS else "candidates"
    x_label = {"epsilon": "epsilon (nats)", "n": f"n ({of_n})"}.get(x, "")
    apart = [c for c in several(part.rows, "data", "n", "level") if c != x]
    panels: dict[str, StudyRows] = {}
    for row in part.rows:
        panels.setdefault(", ".join(text_of(c, row[c]) for c in apart), []).append(row)
    first = part.rows[0]
    fixed = [text_of(c, first[c]) for c in PLACE if c not in (x, *apart) and first[c] is not None]
    notes = [*notes, ", ".join(fixed), _signs(part.rows, x)]
    count, fastest = len(panels), len(distinct(part.rows, apart[-1])) if apart else 1
    columns = count if ax is not None else min(fastest, COLUMNS)
    rows_of_panels = -(-count // columns)
    height = PANEL * max(1.4, rows_of_panels)
    height += LINE * (2 + len(distinct(part.rows, "mechanism")) / 2)
    with paper(ax, title, notes, height, count, columns) as axes:
        for panel_axes, (name, rows) in zip(axes, panels.items(), strict=True):
            _panel(panel_axes, part, x, rows)
            if name:
                lines = textwrap.fill(name.replace(" = ", "\xa0=\xa0"), CHARACTERS)
                panel_axes.set_title(lines, loc="left", parse_math=False)
        y_label = part.words.replace(" (", "\n(")
        if axes[0].get_yscale() == "log" and 0.0 in _values(part.rows):
            y_label += "; 0 is off the axis"
        labelled(axes, columns, x_label, y_label)
        _legend(axes[0], part, outside=ax is None)
    return axes[0].get_figure(root=True)


def _signs(rows: StudyRows, x: str) -> str:
    """Return the meaning of lines and points."""
    lacking = {c: sum(row[c] is None for row in rows) for c in ("exact", "monte_carlo")}
    if lacking["monte_carlo"] == len(rows):
        return "all figures are exact"
    points = "points: draws, with 95 % intervals"
    if lacking["exact"] == len(rows):
        return points
    lines = "dashes" if x == "mechanism" else "lines"
    remark = ", joined by lines where there are no exact figures" if lacking["exact"] else ""
    return f"{lines}: exact; {points}{remark}"


def _panel(axes: Any, part: FigurePart, x: str, rows: StudyRows) -> None:
    """Draw exact figures as lines, and those of draws as points with their intervals."""
    for name in distinct(rows, "mechanism"):
        look = _look(part, name)
        line = [row for row in rows if row["mechanism"] == name]
        places = [part.places[name] if x == "mechanism" else row[x] for row in line]
        order = sorted(zip(places, line, strict=True), key=lambda pair: pair[0])
        exact = [(at, row["exact"]) for at, row in order if row["exact"] is not None]
        draws = [(at, *_bar(row)) for at, row in order if row["monte_carlo"] is not None]
        if exact:
            flat = {"marker": "_", "markersize": 12} if x == "mechanism" else {"marker": "none"}
            axes.plot(*zip(*exact, strict=True), **{**look, **(flat if draws else {})})
        if draws:
            at, middle, below, above = zip(*draws, strict=True)
            joined = {"linestyle": "none"} if len(exact) == len(line) else {}
            axes.errorbar(at, middle, yerr=(below, above), **{**look, **joined})
    _scales(axes, part, x)
    grid(axes, "both")


def _bar(row: Row) -> tuple[float, float, float]:
    """Return the mean of draws, and the lengths of its interval below and above it."""
    middle = row["monte_carlo"]
    low, high = (middle if row[end] is None else row[end] for end in ("low", "high"))
    return middle, max(0.0, middle - low), max(0.0, high - middle)


def _look(part: FigurePart, name: str) -> dict[str, Any]:
    """Return colour, marker and dashes of a mechanism: 140 differ, the first 4 also in grey."""
    from matplotlib import rcParams

    colors = rcParams["axes.prop_cycle"].by_key()["color"]
    kinds = {"color": colors, "marker": MARKERS, "linestyle": DASHES}
    return {key: kind[part.places[name] % len(kind)] for key, kind in kinds.items()}


def _scales(axes: Any, part: FigurePart, x: str) -> None:
    """Set the scales, the same in all panels: logarithmic for wide ranges, otherwise with 0."""
    from matplotlib import ticker

    values = _values(part.rows)
    sizes = [value for value in values if value]  # a logarithmic axis cannot show 0
    low, top = min(values), max(*values, *(row["high"] or 0.0 for row in part.rows))
    if low >= 0 and sizes and max(sizes) > LOG_Y * min(sizes):
        low = max(LOG_RANGE * top, min(sizes))
        axes.set_yscale("log")
        few = (1.0, 3.0) if top < 100 * low else (1.0,)
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=few))
        margin = (top / low) ** MARGIN
        axes.set_ylim(low / margin, top * margin)
    else:
        low, top = min(low, 0.0), max(top, 0.0)
        margin = MARGIN * (top - low) or 1.0
        axes.set_ylim(low - margin, top + margin)
    if "probability" in part.words:
        axes.set_ylim(top=min(1.0, axes.get_ylim()[1]))
    places = [0.0] if x == "mechanism" else sorted(distinct(part.rows, x))
    if x != "mechanism" and places[-1] > LOG_X * places[0]:
        axes.set_xscale("log")
    if len(places) <= TICKS:
        axes.set_xticks([] if x == "mechanism" else places)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(ticker.NullLocator())
    numbered(axes)


def _values(rows: StudyRows) -> list[float]:
    """Return all exact figures and means of draws."""
    pairs = ((row["exact"], row["monte_carlo"]) for row in rows)
    return [value for pair in pairs for value in pair if value is not None]


def _legend(axes: Any, part: FigurePart, *, outside: bool) -> None:
    """Draw the legend of mechanisms below the panels, or in the first panel."""
    from matplotlib.lines import Line2D

    names = distinct(part.rows, "mechanism")
    handles = [Line2D([], [], **_look(part, name)) for name in names]
    texts = [text_of("", name) for name in names]
    # A legend leaves out texts that begin with an underscore.
    texts = [f" {text}" if text.startswith("_") else text for text in texts]
    if outside:
        legend_below(axes.figure, handles, texts)
    else:
        axes.legend(handles, texts, facecolor=axes.get_facecolor())


def write_report(
    table: dict[str, Any], folder: str | Path, formats: Sequence[str] = ("svg",)
) -> list[Path]:
    """Write report.html and the figures in these formats, and return their paths, the page first.

    `table` is the result of `StudyResults.to_dict`. The folder is made if it does not exist.
    Without matplotlib there are no figures, and the page says so.
    """
    path = Path(folder)
    for kind in formats:
        validate.choice("formats", kind, FORMATS)
    described = path / STUDY
    if described.is_file() and f'"{table["key"]}"'.encode() not in described.read_bytes():
        raise StudyError(f"{path} holds the results of another study: name another folder")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritten(path, error) from None
    figures = parts(table["rows"], takes(table["study"])) if find_spec("matplotlib") else []
    files: dict[str, bytes] = {}
    svgs = []
    for number, part in enumerate(figures, 1):
        by_kind = files_of(part, *heading(table["study"]), {"svg", *formats})
        svgs.append((part, by_kind["svg"]))
        stem = f"figure-{number}-{part.figure}"
        files |= {f"{stem}.{kind}": by_kind[kind] for kind in formats}
    complete = table.get("finished") == table.get("tasks")
    stem = "table" if complete else "unfinished"  # table.csv and table.json have all tasks
    files |= {
        f"{stem}.csv": csv_text(table["rows"]).encode(),
        f"{stem}.json": json_text(table).encode(),
    }
    files = {PAGE: _page(table, svgs, list(files)).encode(), **files}
    for name, data in files.items():
        publish(path / name, data)
    return [path / name for name in files]


def _page(
    table: dict[str, Any], figures: Sequence[tuple[FigurePart, bytes]], files: list[str]
) -> str:
    """Return the page: figures as SVG, tables as in notebooks, and links to `files` beside it."""
    study = table["study"]
    values = {
        "name": study["name"],
        "question": study.get("question", ""),
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


def _figure(number: int, part: FigurePart, svg: bytes) -> str:
    """Return the HTML of a figure."""
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
    """Return "records" or "utilities", which a mechanism takes, by the label of the mechanism."""
    return {registry.label_of(spec): registry.takes_of(spec) for spec in study["mechanisms"]}


def heading(study: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the title and the notes above a figure: name, question and sizes."""
    sizes = f"{readable(study['datasets'])} data sets, {readable(study['draws'])} draws each"
    notes = [study.get("question", ""), sizes]
    return label(study["name"], 60), [note for note in notes if note]


def tables_of(table: dict[str, Any]) -> list[StudyTable]:
    """Return a table for each figure.

    Those of a ready-made study say what it repeats, and begin with the numbers that were printed.
    """
    tables = pivots(table["rows"], takes(table["study"]))
    source = source_of(table["study"])
    if source and tables:
        note = f"{tables[0].note} {source['repeats']}".strip()
        tables[0] = replace(tables[0], note=note)
    if "printed" in source and tables:
        tables.insert(0, _printed_table(source["printed"], table["rows"]))
    return tables


def _printed_table(printed: dict[str, Any], rows: StudyRows) -> StudyTable:
    """Return a table of the means (and standard deviations) that a source printed, and of ours."""
    scale, lines, gaps = printed["scale"], [], [0.0]
    by_place = {(row["mechanism"], row["epsilon"]): row for row in rows}
    for name, epsilon, mean, sd in printed["cells"]:
        row = by_place.get((name, epsilon))
        if row is None:
            continue
        ours, spread = scale * row["exact"], row["monte_carlo_sd"]
        brackets = "-" if spread is None else f"{scale * spread:.2f}"
        gaps.append((ours - mean) / sd)
        texts = (f"{mean} ({sd})", f"{ours:.2f} ({brackets})", f"{gaps[-1]:+.2f}")
        lines.append([name, readable(epsilon), *texts])
    columns = ["mechanism", "epsilon", "printed (sd)", "ours (sd)", "difference / sd"]
    summary = (
        f"Of the {len(lines)} printed means ours differ by at most {max(map(abs, gaps)):.2f} of "
        "the printed standard deviation."
    )
    note = f"{summary} {printed['note']} Ours: {OURS}"
    return StudyTable(printed["title"], columns, lines, note, keys=2)
