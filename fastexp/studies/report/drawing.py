"""One panel of a figure: lines over epsilon or n, or mechanisms below each other; the legend."""

from __future__ import annotations

import textwrap
from typing import Any

from ...pictures.canvas import undecorated
from ...pictures.inks import inks_of, line_style
from .panels import Line, Panel, Picture
from .scales import value_scale, x_scale

TITLE = {1: 44, 2: 44, 3: 28}  # characters of a line, by panels beside each other
NAME = 26
LETTER, KEY = 0.063, 0.42  # inches in a legend: a letter, the sign before it
LABEL = 60  # characters of a line in a legend


def draw(panel: Panel, picture: Picture, ax: Any) -> Any:
    """Draw one panel: exact figures as lines, those of draws as points with error bars."""
    if picture.x is None:
        _dots(panel, ax)
    else:
        for line in panel.lines:
            _line(line, ax)
        x_scale(picture.places, ax.xaxis)
    if picture.figure == "bias":
        zero = ax.axvline if picture.x is None else ax.axhline
        zero(0.0, color=inks_of(ax).quiet, linewidth=0.7, zorder=1)
    value_scale(picture.values, ax.xaxis if picture.x is None else ax.yaxis)
    undecorated(ax, "both")
    title = panel.title.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    if title:
        lines = "\n".join(textwrap.wrap(title, TITLE.get(picture.columns, TITLE[3])))
        ax.set_title(lines, loc="left", pad=4, color=inks_of(ax).mark)
    return ax


def look(place: int, ax: Any) -> dict[str, Any]:
    """Colour, marker and dashes of a mechanism, on the ground of these axes."""
    series = inks_of(ax).series
    return {
        **line_style(place),
        "color": series[place % len(series)],
        "markerfacecolor": _ground(ax),
        "markeredgewidth": 1.0,
    }


def _ground(ax: Any) -> Any:
    # What markers are filled with: the colour that is seen behind them.
    face = ax.get_facecolor()
    return face if face[3] > 0 else "none"


def _line(line: Line, ax: Any) -> None:
    """The exact figures as a line; draws as points, joined where some are not exact."""
    style = look(line.place, ax)
    exact = [(x, v) for x, v in zip(line.x, line.exact, strict=True) if v is not None]
    exact.sort()
    points = _points(line)
    if exact:
        bare = {**style, "marker": "none"} if points else style
        ax.plot(*zip(*exact, strict=True), **bare, zorder=2)
    if points:
        x, middle, below, above = zip(*sorted(points), strict=True)
        known = len(exact) == len(line.x)
        joined = {**style, "linestyle": "none"} if known else {**style, "linewidth": 0.8}
        ax.errorbar(x, middle, yerr=(below, above), **joined, elinewidth=0.9, capsize=2, zorder=3)


def _points(line: Line) -> list[tuple[float, float, float, float]]:
    points = []
    for x, v, low, high in zip(line.x, line.drawn, line.low, line.high, strict=True):
        if v is not None:
            below, above = v if low is None else low, v if high is None else high
            points.append((x, v, max(0.0, v - below), max(0.0, above - v)))
    return points


def _dots(panel: Panel, ax: Any) -> None:
    ordered = sorted(panel.lines, key=lambda line: line.place)
    for y, line in enumerate(ordered):
        style = {**look(line.place, ax), "linestyle": "none"}
        for _, v, below, above in _points(line):
            bar = {**style, "marker": "o", "capsize": 2, "elinewidth": 0.9}
            ax.errorbar(v, y, xerr=[[below], [above]], **bar, zorder=3)
        for exact in line.exact:
            if exact is not None:
                bar = {**style, "marker": "|", "markersize": 11, "markeredgewidth": 1.6}
                ax.plot(exact, y, **bar, zorder=2)
    names = ["\n".join(textwrap.wrap(line.mechanism, NAME)) for line in ordered]
    ax.set_yticks(range(len(names)), names)
    for text in ax.get_yticklabels():
        text.set_parse_math(False)  # also of a figure that is drawn again, in another style
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)


def names(picture: Picture) -> dict[str, int]:
    """The mechanisms in a picture with their places, in the study's order."""
    places = {line.mechanism: line.place for p in picture.panels for line in p.lines}
    return dict(sorted(places.items(), key=lambda item: item[1]))


def legend(axes: Any, picture: Picture, *, outside: bool) -> None:
    """The mechanisms, and what lines and points are: below the panels, or in the axes."""
    handles, texts = [], []
    if picture.x is not None:
        for name, place in names(picture).items():
            handles.append(_sign(**look(place, axes)))
            texts.append("\n".join(textwrap.wrap(name, LABEL)) or " ")
    kinds = _kinds(picture, axes)
    handles += [sign for sign, _ in kinds]
    texts += [text for _, text in kinds]
    texts = [f" {text}" if text.startswith("_") else text for text in texts]
    longest = max(len(line) for text in texts for line in text.splitlines())
    from matplotlib import rcParams

    if not (outside or (len(picture.panels) > 1 and axes.figure.get_layout_engine())):
        axes.legend(handles, texts, labelcolor=inks_of(axes).mark)
        return
    size = rcParams["font.size"] / 8
    columns = max(1, int(axes.figure.get_figwidth() // (size * (KEY + LETTER * longest))))
    axes.figure.legend(
        handles,
        texts,
        loc="outside lower center",
        ncols=min(columns, 4),
        frameon=False,
        labelcolor=inks_of(axes).mark,
        handlelength=2.6,
        columnspacing=1.2,
        labelspacing=0.35,
    )


def _kinds(picture: Picture, axes: Any) -> list[tuple[Any, str]]:
    lines = [line for panel in picture.panels for line in panel.lines]
    kinds, grey = [], inks_of(axes).quiet
    ring = _sign(color=grey, marker="o", markerfacecolor=_ground(axes), linestyle="none")
    if any(v is not None for line in lines for v in line.exact):
        bar = {"marker": "|", "markersize": 9, "markeredgewidth": 1.6, "linestyle": "none"}
        kinds.append((_sign(color=grey, **(bar if picture.x is None else {})), "exact"))
    if any(v is not None for line in lines for v in line.low):
        kinds.append((ring, "Monte Carlo, 95 % interval"))
    elif any(v is not None for line in lines for v in line.drawn):
        kinds.append((ring, "Monte Carlo"))
    return kinds


def _sign(**look: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], **look)
