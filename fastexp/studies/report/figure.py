"""A figure of a study: panels by data, n and level, a line a mechanism over epsilon (or n)."""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from ...pictures.canvas import check_matplotlib, figure_for, tick, undecorated
from ...pictures.inks import inks_of, line_style
from .table_rows import Row
from .words import RECORDS, Part, Rows, distinct, several, text_of

FORMATS = ("svg", "png", "pdf")
COLUMNS, TICKS = 3, 7  # at most: panels beside each other; values of x that have a tick each
LOG_X, LOG_Y = 4.0, 20.0  # greatest over least value, from which on an axis is logarithmic
DEEPEST, MARGIN = 1e-6, 0.06  # of the greatest value, where such an axis ends; of an axis
PANEL, LINE, LETTER, SIGN = 2.1, 0.2, 0.075, 0.6  # inches: heights; in a legend, widths
CHARACTERS = 34  # of a line above a panel
STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same everywhere
    "font.size": 9.0,
    "axes.titlesize": "medium",
    "lines.linewidth": 1.3,
    "lines.markersize": 4.0,
    "svg.hashsalt": "fastexp",  # the same bytes each time
    "pdf.fonttype": 42,  # letters, not pictures of them
}
UNDATED: dict[str, dict[str, None]] = {
    "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    "pdf": {"CreationDate": None},
    "png": {},
}


def available() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def files_of(part: Part, title: str, notes: list[str], formats: Iterable[str]) -> dict[str, bytes]:
    """A figure as files of these formats hold it: the same bytes for one version of matplotlib."""
    import matplotlib.style

    files: dict[str, bytes] = {}
    with warnings.catch_warnings(), matplotlib.style.context(["default", STYLE]):
        warnings.simplefilter("ignore")  # glyphs that the font does not have
        figure = drawn(part, title, notes)
        for kind in formats:
            file = io.BytesIO()
            figure.savefig(file, format=kind, dpi=200, metadata=UNDATED[kind])
            files[kind] = file.getvalue()
    return files


def drawn(part: Part, title: str, notes: list[str], ax: Any = None) -> Any:
    """A figure on the caller's axes, one a panel, or on new ones below a heading."""
    check_matplotlib()
    from matplotlib import rc_context

    x = next(iter(several(part.rows, "epsilon", "n")), "mechanism")  # beside each other, if none
    of_n = "records in a data set" if part.takes == RECORDS else "candidates"
    x_label = {"epsilon": "epsilon (nats)", "n": f"n ({of_n})"}.get(x, "")
    apart = [c for c in several(part.rows, "data", "n", "level") if c != x]
    panels: dict[str, Rows] = {}
    for row in part.rows:
        panels.setdefault(", ".join(text_of(c, row[c]) for c in apart), []).append(row)
    count, fastest = len(panels), len(distinct(part.rows, apart[-1])) if apart else 1
    columns = count if ax is not None else min(fastest, COLUMNS)
    shape = (-(-count // columns), columns)
    height = PANEL * max(1.4, shape[0]) + LINE * (2 + len(distinct(part.rows, "mechanism")) / 2)
    settings: Any = {"text.parse_math": False, **(STYLE if ax is None else {})}
    with rc_context(settings):
        axes = figure_for(ax, title, notes, height, shape)[1]
        for place, panel_axes in enumerate(axes):
            if place >= count:
                panel_axes.remove()
                continue
            name, rows = list(panels.items())[place]
            _panel(panel_axes, part, x, rows)
            first, lowest = place % columns == 0, place + columns >= count
            panel_axes.tick_params(labelleft=first, labelbottom=lowest)
            panel_axes.set_ylabel(part.words.replace(" (", "\n(") if first else "")
            panel_axes.set_xlabel(x_label if lowest else "")
            if name:
                lines = textwrap.fill(name.replace(" = ", "\xa0=\xa0"), CHARACTERS)
                panel_axes.set_title(lines, loc="left", color=inks_of(panel_axes).mark)
        _legend(axes[0], part, outside=ax is None)
    return axes[0].get_figure(root=True)


def _panel(axes: Any, part: Part, x: str, rows: Rows) -> None:
    """Exact figures as lines, those of draws as points with their intervals."""
    for name in distinct(rows, "mechanism"):
        look = _look(axes, part, name)
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
            axes.errorbar(at, middle, yerr=(below, above), capsize=2, **{**look, **joined})
    _scales(axes, part, x)
    undecorated(axes, "both")


def _bar(row: Row) -> tuple[float, float, float]:
    """The mean of draws, and how far its interval reaches below and above it."""
    middle = row["monte_carlo"]
    low, high = (middle if row[end] is None else row[end] for end in ("low", "high"))
    return middle, max(0.0, middle - low), max(0.0, high - middle)


def _look(axes: Any, part: Part, name: str) -> dict[str, Any]:
    """Colour, marker and dashes of a mechanism, on the ground of these axes."""
    place, series = part.places[name], inks_of(axes).series
    color = {"color": series[place % len(series)], "markerfacecolor": axes.get_facecolor()}
    return {**line_style(place), **color}


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
        axis.set_major_formatter(ticker.FuncFormatter(tick))


def _legend(axes: Any, part: Part, *, outside: bool) -> None:
    """The mechanisms: below the panels, or in the first one."""
    from matplotlib.lines import Line2D

    names = distinct(part.rows, "mechanism")
    handles = [Line2D([], [], **_look(axes, part, name)) for name in names]
    texts = [text_of("", name) for name in names]
    texts = [f" {text}" if text.startswith("_") else text for text in texts]  # else left out
    color = inks_of(axes).mark
    if not outside:
        axes.legend(handles, texts, labelcolor=color)
        return
    columns = int(axes.figure.get_figwidth() / (SIGN + LETTER * max(map(len, texts))))
    axes.figure.legend(
        handles,
        texts,
        labelcolor=color,
        loc="outside lower center",
        ncols=max(1, min(4, columns)),
        frameon=False,
    )
