"""A figure of a study: panels by data, n and level, a line a mechanism over epsilon (or n)."""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from ...pictures.canvas import LIGHT, grid, labelled, legend_below, numbered, paper
from .study_table import RECORDS, Part, Rows, distinct, several, text_of
from .table_rows import Row

FORMATS = ("svg", "png", "pdf")
COLUMNS, TICKS = 3, 7  # at most: panels beside each other; values of x that have a tick each
LOG_X, LOG_Y = 4.0, 20.0  # greatest over least value, from which on an axis is logarithmic
DEEPEST, MARGIN = 1e-6, 0.06  # of the greatest value, where such an axis ends; of an axis
PANEL, LINE = 2.1, 0.2  # inches: heights of a panel, and of a line
MARKERS, DASHES = ("o", "s", "^", "D", "v"), ("-", "--", ":", "-.")
CHARACTERS = 34  # of a line above a panel
UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


def available() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def files_of(part: Part, title: str, notes: list[str], formats: Iterable[str]) -> dict[str, bytes]:
    """A figure as files of these formats hold it: the same bytes for one version of matplotlib."""
    import matplotlib.style

    files: dict[str, bytes] = {}
    with warnings.catch_warnings(), matplotlib.style.context(["default", LIGHT]):
        warnings.simplefilter("ignore")  # glyphs that the font does not have
        figure = drawn(part, title, notes)
        for kind in formats:
            file = io.BytesIO()
            figure.savefig(file, format=kind, dpi=200, metadata=UNDATED[kind])
            files[kind] = file.getvalue()
    return files


def drawn(part: Part, title: str, notes: list[str], ax: Any = None) -> Any:
    """A figure on the caller's axes, one a panel, or on new ones below a heading."""
    x = next(iter(several(part.rows, "epsilon", "n")), "mechanism")  # beside each other, if none
    of_n = "records in a data set" if part.takes == RECORDS else "candidates"
    x_label = {"epsilon": "epsilon (nats)", "n": f"n ({of_n})"}.get(x, "")
    apart = [c for c in several(part.rows, "data", "n", "level") if c != x]
    panels: dict[str, Rows] = {}
    for row in part.rows:
        panels.setdefault(", ".join(text_of(c, row[c]) for c in apart), []).append(row)
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
        labelled(axes, columns, x_label, part.words.replace(" (", "\n("))
        _legend(axes[0], part, outside=ax is None)
    return axes[0].get_figure(root=True)


def _panel(axes: Any, part: Part, x: str, rows: Rows) -> None:
    """Exact figures as lines, those of draws as points with their intervals."""
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
    """The mean of draws, and how far its interval reaches below and above it."""
    middle = row["monte_carlo"]
    low, high = (middle if row[end] is None else row[end] for end in ("low", "high"))
    return middle, max(0.0, middle - low), max(0.0, high - middle)


def _look(part: Part, name: str) -> dict[str, Any]:
    """Colour, marker and dashes of a mechanism: 140 differ, the first 4 in grey too."""
    from matplotlib import rcParams

    colors = rcParams["axes.prop_cycle"].by_key()["color"]
    kinds = {"color": colors, "marker": MARKERS, "linestyle": DASHES}
    return {key: kind[part.places[name] % len(kind)] for key, kind in kinds.items()}


def _scales(axes: Any, part: Part, x: str) -> None:
    """The same for all panels: logarithmic where the range asks for it, else from 0 on."""
    from matplotlib import ticker

    pairs = ((row["exact"], row["monte_carlo"]) for row in part.rows)
    values = [value for pair in pairs for value in pair if value is not None]
    sizes = [value for value in values if value]  # a logarithmic axis shows none of 0
    low, top = min(values), max(*values, *(row["high"] or 0.0 for row in part.rows))
    if low >= 0 and sizes and max(sizes) > LOG_Y * min(sizes):
        low = max(DEEPEST * top, min(sizes))
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


def _legend(axes: Any, part: Part, *, outside: bool) -> None:
    """The mechanisms: below the panels, or in the first one."""
    from matplotlib.lines import Line2D

    names = distinct(part.rows, "mechanism")
    handles = [Line2D([], [], **_look(part, name)) for name in names]
    texts = [text_of("", name) for name in names]
    texts = [f" {text}" if text.startswith("_") else text for text in texts]  # else left out
    if outside:
        legend_below(axes.figure, handles, texts)
    else:
        axes.legend(handles, texts, facecolor=axes.get_facecolor())
