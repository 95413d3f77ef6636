"""One panel of a figure: lines over epsilon or n, or mechanisms below each other."""

from __future__ import annotations

import textwrap
from typing import Any

from ...pictures.canvas import undecorated
from ...pictures.inks import inks_of, line_style
from .panels import Line, Panel, Picture
from .scales import value_scale, x_scale

TITLE = {1: 44, 2: 44, 3: 28}  # characters of a line, by panels beside each other
NAME = 26


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
        "markerfacecolor": ground(ax),
        "markeredgewidth": 1.0,
    }


def ground(ax: Any) -> Any:
    """What markers are filled with: the colour that is seen behind them."""
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
