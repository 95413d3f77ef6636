"""Bars of expected errors or losses beside each other, with marks at a quantile."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from .._parameters.text import readable
from . import canvas
from .inks import inks_of

FOOT, EACH = 0.8, 0.42  # inches: of the axis and what it says, and of a bar


def comparison_bars(
    names: Sequence[str],
    bars: Sequence[tuple[float, float]],
    measure: str,
    probability: float,
    ax: Any,
) -> Any:
    """Draw an expectation and a quantile for each name, written beside where they are finite.

    `ax` is as of `figure_for`; the axes are returned.
    """
    height = FOOT + EACH * len(names)
    _, (axes,) = canvas.figure_for(ax, f"Expected {measure} of mechanisms", [], height)
    inks, places = inks_of(axes), range(len(names))
    for place, (expected, quantile) in enumerate(bars):
        seen = [x for x in (expected, quantile) if isfinite(x)]
        axes.barh(place, expected if isfinite(expected) else 0.0, height=0.6, color=inks.bar)
        if isfinite(quantile):
            axes.plot(quantile, place, marker="D", color=inks.truth, markersize=6)
        text = f"{readable(expected, 3)}, {readable(quantile, 3)}"
        axes.annotate(
            text,
            (max(seen, default=0.0), place),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=inks.mark,
        )
    axes.set_yticks(places, [canvas.label(name, 40) for name in names], parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, 1.25 * max((x for bar in bars for x in bar if isfinite(x)), default=1) or 1)
    axes.set_xlabel(
        f"{measure}: expected (bar), in {readable(100 * probability)}% of draws at most (mark)"
    )
    axes.xaxis.set_major_formatter(canvas.tick)
    canvas.undecorated(axes, "x")
    return axes
