"""The distribution of one error or loss: with which probability it is at most how large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from .._parameters.text import readable
from . import canvas
from .inks import DASHES, inks_of


def error_curve(
    quantiles: Sequence[float], marks: Mapping[str, float], along: str, title: str, ax: Any
) -> Any:
    """Draw evenly spaced quantiles as a distribution function, and marks on it; the axes.

    Parameters
    ----------
    quantiles
        From the probability 0 to 1.
    marks
        Errors by what they are.
    along
        What the axis of errors says.
    title
    ax : Axes or None
        As of `figure_for`.
    """
    _, (axes,) = canvas.figure_for(ax, title, [], 3.0)
    inks, last = inks_of(axes), len(quantiles) - 1
    points = [(q, i / last) for i, q in enumerate(quantiles) if isfinite(q)]
    axes.step([q for q, _ in points], [p for _, p in points], where="post", color=inks.mark)
    for i, (name, value) in enumerate(marks.items()):
        if isfinite(value):
            color, dashes = inks.truth if i == 0 else inks.quiet, DASHES[i % len(DASHES)]
            text = f"{name}: {readable(value, 4)}"
            axes.axvline(value, color=color, linestyle=dashes, label=text)
    seen = [quantiles[-2], *marks.values()]  # one draw in a hundred may lie beyond
    right = 1.04 * max((x for x in seen if isfinite(x)), default=0.0) or 1.0
    axes.set(xlabel=along, ylabel="probability", ylim=(0, 1.02), xlim=(-0.01 * right, right))
    axes.xaxis.set_major_formatter(canvas.tick)
    canvas.undecorated(axes, "y")
    axes.legend(loc="lower right", fontsize=9, framealpha=1, edgecolor="none")
    return axes
