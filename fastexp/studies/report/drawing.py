"""One panel of a figure: lines over epsilon or n, or mechanisms below each other."""

from __future__ import annotations

import textwrap
from typing import Any

from .panels import Line, Panel, Picture
from .scales import value_scale, x_scale

TITLE = {1: 44, 2: 44, 3: 28}  # characters of a line, by panels beside each other
NAME = 26
# Okabe and Ito's colours without the yellow, which is too light for lines. With the markers
# and dashes 140 mechanisms look different, the first four in grey too.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "^", "D", "v")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))
GREY = "#555555"


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
        zero(0.0, color=GREY, linewidth=0.7, zorder=1)
    value_scale(picture.values, ax.xaxis if picture.x is None else ax.yaxis)
    title = panel.title.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    ax.set_title("\n".join(textwrap.wrap(title, TITLE[picture.columns])), loc="left", pad=4)
    return ax


def style(place: int) -> dict[str, Any]:
    """Colour, marker and dashes of a mechanism."""
    return {
        "color": COLORS[place % len(COLORS)],
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": DASHES[place % len(DASHES)],
        "markerfacecolor": "white",
        "markeredgewidth": 1.0,
    }


def _line(line: Line, ax: Any) -> None:
    """The exact figures as a line; draws as points, joined where nothing is exact."""
    look = style(line.place)
    marks = {**look, "linestyle": "none"}
    exact = [(x, v) for x, v in zip(line.x, line.exact, strict=True) if v is not None]
    exact.sort()
    points = _points(line)
    if exact:
        bare = {**look, "marker": "none"} if points else look
        ax.plot(*zip(*exact, strict=True), **bare, zorder=2)
    if points:
        x, middle, below, above = zip(*sorted(points), strict=True)
        joined = marks if exact else {**look, "linewidth": 0.8}
        ax.errorbar(x, middle, yerr=(below, above), **joined, elinewidth=0.9, capsize=2, zorder=3)


def _points(line: Line) -> list[tuple[float, float, float, float]]:
    """Place, value and how far the interval reaches to both sides, where there are draws."""
    points = []
    for x, v, low, high in zip(line.x, line.drawn, line.low, line.high, strict=True):
        if v is not None:
            below, above = v if low is None else low, v if high is None else high
            points.append((x, v, max(0.0, v - below), max(0.0, above - v)))
    return points


def _dots(panel: Panel, ax: Any) -> None:
    """A mechanism a row, in the study's order from the top."""
    ordered = sorted(panel.lines, key=lambda line: line.place)
    names = ["\n".join(textwrap.wrap(line.mechanism, NAME)) for line in ordered]
    for y, line in enumerate(ordered):
        color = style(line.place)["color"]
        for _, v, below, above in _points(line):
            ax.errorbar(
                v,
                y,
                xerr=[[below], [above]],
                color=color,
                linestyle="none",
                marker="o",
                markerfacecolor="white",
                capsize=2,
                elinewidth=0.9,
                zorder=3,
            )
        for exact in line.exact:
            if exact is not None:
                ax.plot(
                    exact,
                    y,
                    color=color,
                    linestyle="none",
                    marker="|",
                    markersize=11,
                    markeredgewidth=1.6,
                    zorder=2,
                )
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
