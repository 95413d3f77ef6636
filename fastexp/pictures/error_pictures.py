"""Pictures of accuracy: the distribution of one error or loss, and bars of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from math import isfinite
from typing import Any

from .._parameters.text import error_text, readable
from . import canvas

DASHES = ("-", "--", ":", "-.")
FOOT, EACH = 0.8, 0.42  # inches: of the axis with its label, and of a bar


def error_curve(
    quantiles: Sequence[float],
    marks: Mapping[str, float],
    along: str,
    title: str,
    notes: list[str],
    ax: Any,
) -> Any:
    """Draw evenly spaced quantiles as a distribution function with marks, and return the axes.

    quantiles: from the probability 0 to 1; marks: errors by name; along: the label of the axis of
    errors. Other parameters are those of `canvas.paper`.
    """
    seen = [quantiles[-2], *marks.values()]  # one draw in a hundred may lie outside
    right = 1.04 * max((x for x in seen if isfinite(x)), default=0.0) or 1.0
    ends, last = [*quantiles, max(right, quantiles[-1])], len(quantiles) - 1
    points = [(x, min(1.0, i / last)) for i, x in enumerate(ends) if isfinite(x)]
    with canvas.paper(ax, title, notes, 3.0) as (axes,):
        axes.step([x for x, _ in points], [y for _, y in points], where="post")
        for (name, value), dashes in zip(marks.items(), cycle(DASHES), strict=False):
            if isfinite(value):
                text = f"{name}: {error_text(value, 4)}"
                axes.axvline(value, linestyle=dashes, label=text)
        axes.set(xlabel=along, ylabel="probability", ylim=(0, 1), xlim=(-0.01 * right, right))
        canvas.numbered(axes, canvas.TICKS)
        canvas.legend(axes, "lower right")
    return axes


def comparison_bars(
    names: Sequence[str],
    bars: Sequence[tuple[float, float]],
    measure: str,
    probability: float,
    ax: Any,
) -> Any:
    """Draw an expectation and a quantile for each name, and return the axes.

    Finite numbers are written beside the bars. `ax` is that of `canvas.paper`.
    """
    height = FOOT + EACH * len(names)
    with canvas.paper(ax, f"Expected {measure}", [], height) as (axes,):
        finite = [tuple(x if isfinite(x) else 0.0 for x in bar) for bar in bars]
        canvas.bars(axes, names, [bar[0] for bar in finite])
        axes.plot([bar[1] for bar in bars], range(len(bars)), "D", clip_on=False)
        for place, (expected, quantile) in enumerate(bars):
            text = f"{error_text(expected, 3)}; {error_text(quantile, 3)}"
            at, look = (max(finite[place]), place), {"textcoords": "offset points", "va": "center"}
            axes.annotate(text, at, xytext=(8, 0), **look)
        axes.set_xlim(0, 1.25 * max(map(max, finite), default=1) or 1)
        axes.set_xlabel(f"expected {measure}; mark: {readable(100 * probability)}% at most")
    return axes
