"""The scales of a figure's axes: logarithmic where the range asks for it, plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ...pictures.canvas import tick

LOG_X, LOG_Y = 4.0, 20.0  # greatest over least value, from which on an axis is logarithmic
DECADES = 3  # beside 0, where values are 0 or of both signs
DEEPEST = 1e-6  # of the greatest value: where a logarithmic axis ends
MARGIN = 0.06  # of an axis, at both ends
TICKS = 7  # at most at the study's own values of x


def logarithmic(values: Sequence[float]) -> bool:
    """Whether the axis of these figures is logarithmic, perhaps to both sides of 0."""
    sizes = [abs(v) for v in values if v != 0]
    return bool(sizes) and max(sizes) > LOG_Y * min(sizes)


def value_scale(values: Sequence[float], axis: Any) -> None:
    """Set the scale and the ticks of the axis of figures, for all panels of a picture."""
    change = axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale
    most = 5 if axis.axis_name == "x" else 7
    from matplotlib import ticker

    if not logarithmic(values):
        axis.set_major_locator(ticker.MaxNLocator(most - 1, steps=[1, 2, 2.5, 5, 10]))
    elif min(values) > 0:
        change("log", nonpositive="clip")
        few = max(values) < 100 * min(values)
        places = ticker.LogLocator(subs=(1.0, 3.0) if few else (1.0,), numticks=most)
        axis.set_major_locator(places)
    else:
        top = math.floor(math.log10(max(abs(v) for v in values)))
        change("symlog", linthresh=10.0 ** (top - DECADES), linscale=0.7)
        signs = [sign for sign in (-1.0, 1.0) if any(v * sign > 0 for v in values)]
        step = 1 if len(signs) * DECADES < most else 2
        powers = [10.0**p for p in range(top, top - DECADES, -step)]
        ends = sorted([0.0, *(sign * power for sign in signs for power in powers)])
        axis.set_major_locator(ticker.FixedLocator(ends))
    axis.set_minor_locator(ticker.NullLocator())
    axis.set_major_formatter(ticker.FuncFormatter(tick))


def limits(values: Sequence[float], axis: Any) -> tuple[float, float]:
    """The ends of an axis that shows these values with a margin in its own scale."""
    possible = [v for v in values if v > 0] if axis.get_scale() == "log" else values
    low, high = min(possible), max(possible)
    if axis.get_scale() == "log":
        low = max(low, DEEPEST * high)
    if axis.get_scale() == "linear":
        if low >= 0:  # from 0 on: heights can be compared
            low, high = 0.0, high or 1.0
        wide = MARGIN * (high - low) or abs(high) or 1.0
        return low - wide, high + wide
    change = axis.get_transform()
    a, b = change.transform([low, high])
    wide = MARGIN * (b - a) or 0.1
    first, last = change.inverted().transform([a - wide, b + wide])
    return float(first), float(last)


def x_scale(values: Sequence[float], axis: Any) -> None:
    """Ticks at the study's own values of epsilon or n, where they have room."""
    from matplotlib import ticker

    wide = values[-1] > LOG_X * values[0]
    if wide:
        axis.axes.set_xscale("log")
        axis.set_minor_locator(ticker.NullLocator())
    places = [math.log(v) for v in values] if wide else list(values)
    nearest, apart = min(b - a for a, b in pairwise(places)), 0.12 * (places[-1] - places[0])
    if len(values) <= TICKS and nearest > apart:
        axis.set_major_locator(ticker.FixedLocator(values))
    elif not wide:
        axis.set_major_locator(ticker.MaxNLocator(5))
    axis.set_major_formatter(ticker.FuncFormatter(tick))
