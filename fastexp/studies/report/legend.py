"""The legend of a figure: its mechanisms, and what lines and points are."""

from __future__ import annotations

import textwrap
from typing import Any

from ...pictures.inks import inks_of
from .drawing import ground, look
from .panels import Picture

LETTER, KEY = 0.063, 0.42  # inches in a legend: a letter, the sign before it
LABEL = 60  # characters of a line in a legend


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
    ring = _sign(color=grey, marker="o", markerfacecolor=ground(axes), linestyle="none")
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
