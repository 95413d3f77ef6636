"""The legend of a figure: its mechanisms, and what lines and points are."""

from __future__ import annotations

import textwrap
from typing import Any

from .drawing import GREY, style
from .panels import Picture

LETTER, KEY = 0.063, 0.42  # inches in a legend: a letter, the sign before it
LABEL = 60  # characters of a line in a legend


def names(picture: Picture) -> dict[str, int]:
    """The mechanisms in a picture with their places, in the study's order."""
    places = {line.mechanism: line.place for p in picture.panels for line in p.lines}
    return dict(sorted(places.items(), key=lambda item: item[1]))


def legend(figure: Any, picture: Picture) -> None:
    """Below the panels: the mechanisms, and what lines and points are."""
    handles, texts = [], []
    if picture.x is not None:
        for name, place in names(picture).items():
            handles.append(_sign(**style(place)))
            texts.append("\n".join(textwrap.wrap(name, LABEL)) or " ")
    kinds = _kinds(picture)
    handles += [sign for sign, _ in kinds]
    texts += [text for _, text in kinds]
    texts = [f" {text}" if text.startswith("_") else text for text in texts]
    longest = max(len(line) for text in texts for line in text.splitlines())
    columns = max(1, int(figure.get_figwidth() // (KEY + LETTER * longest)))
    figure.legend(
        handles,
        texts,
        loc="outside lower center",
        ncols=min(columns, 4),
        frameon=False,
        handlelength=2.6,
        columnspacing=1.2,
        labelspacing=0.35,
    )


def _kinds(picture: Picture) -> list[tuple[Any, str]]:
    """Signs for exact figures and for draws, where there are any."""
    lines = [line for panel in picture.panels for line in panel.lines]
    kinds = []
    if any(v is not None for line in lines for v in line.exact):
        bar = {"marker": "|", "markersize": 9, "markeredgewidth": 1.6, "linestyle": "none"}
        kinds.append((_sign(color=GREY, **(bar if picture.x is None else {})), "exact"))
    if any(v is not None for line in lines for v in line.low):
        kinds.append((_barred(), "Monte Carlo, 95 % interval"))
    elif any(v is not None for line in lines for v in line.drawn):
        kinds.append((_ring(), "Monte Carlo"))
    return kinds


def _sign(**look: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], **look)


def _ring() -> Any:
    return _sign(color=GREY, marker="o", markerfacecolor="white", linestyle="none")


def _barred() -> Any:
    """A point with an error bar, as legends show one."""
    from matplotlib.collections import LineCollection
    from matplotlib.container import ErrorbarContainer

    bar = LineCollection([], colors=[GREY], linewidths=[0.9])
    return ErrorbarContainer((_ring(), (), (bar,)), has_yerr=True, label="")
