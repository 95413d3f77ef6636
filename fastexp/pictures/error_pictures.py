"""Pictures of accuracy: the distribution of one error or loss, and bars of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from .._parameters.text import error_text, readable
from . import canvas
from .inks import DASHES, inks_of

TICKS = 6  # of an axis of numbers, which may be as long as "10,000,000"
FOOT, EACH = 0.8, 0.42  # inches: of the axis and what it says, and of a bar


def error_curve(
    quantiles: Sequence[float],
    marks: Mapping[str, float],
    along: str,
    title: str,
    notes: list[str],
    ax: Any,
) -> Any:
    """Draw evenly spaced quantiles as a distribution function, and marks on it; the axes.

    quantiles: from the probability 0 to 1; marks: errors by what they are; along: what the axis of
    errors says. The others are as of `figure_for`.
    """
    _, (axes,) = canvas.figure_for(ax, title, notes, 3.0)
    inks, last = inks_of(axes), len(quantiles) - 1
    points = [(q, i / last) for i, q in enumerate(quantiles) if isfinite(q)]
    axes.step([q for q, _ in points], [p for _, p in points], where="post", color=inks.mark)
    for i, (name, value) in enumerate(marks.items()):
        if isfinite(value):
            color, dashes = inks.truth if i == 0 else inks.quiet, DASHES[i % len(DASHES)]
            text = f"{name}: {error_text(value, 4)}"
            axes.axvline(value, color=color, linestyle=dashes, label=text)
    seen = [quantiles[-2], *marks.values()]  # one draw in a hundred may lie beyond
    right = 1.04 * max((x for x in seen if isfinite(x)), default=0.0) or 1.0
    if quantiles[-1] <= right:
        axes.hlines(1.0, quantiles[-1], right, color=inks.mark)
    axes.set(xlabel=along, ylabel="probability", ylim=(0, 1), xlim=(-0.01 * right, right))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(canvas.tick)
    axes.locator_params(axis="x", nbins=TICKS)
    canvas.undecorated(axes, "y")
    share = canvas.legend(axes, "lower right")
    for line in axes.lines[1:]:
        line.set_ydata([1.02 * share, 1])  # marks end above it
    return axes


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
    _, (axes,) = canvas.figure_for(ax, f"Expected {measure}", [], height)
    inks, places = inks_of(axes), range(len(names))
    for place, (expected, quantile) in enumerate(bars):
        seen = [x for x in (expected, quantile) if isfinite(x)]
        axes.barh(place, expected if isfinite(expected) else 0.0, height=0.6, color=inks.bar)
        if isfinite(quantile):
            axes.plot(quantile, place, marker="D", color=inks.truth, markersize=6, clip_on=False)
        text, at = f"{error_text(expected, 3)}; {error_text(quantile, 3)}", max(seen, default=0.0)
        look = {"textcoords": "offset points", "va": "center", "fontsize": 9, "color": inks.mark}
        axes.annotate(text, (at, place), xytext=(8, 0), **look)
    axes.set_yticks(places, [canvas.label(name, 36) for name in names], parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, 1.25 * max((x for bar in bars for x in bar if isfinite(x)), default=1) or 1)
    axes.set_xlabel(f"expected {measure}; mark: {readable(100 * probability)}% at most")
    axes.xaxis.set_major_formatter(canvas.tick)
    axes.locator_params(axis="x", nbins=TICKS)
    canvas.undecorated(axes, "x")
    return axes
