"""One panel of a picture of laws: numbers or candidates, with draws beside. Legible in grey."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._parameters.text import readable
from .._typing import AnyArray, FloatArray
from .canvas import LONGEST, label, tick, undecorated
from .inks import Inks, inks_of
from .law_subject import Laws
from .view import View, heights_of, in_sight, outside

TOP, TOP_OF_GROUP = 20, 8  # candidates
WIDEST = 42  # characters of a candidate
BARS = 120  # of draws on a fine grid, at most
FACTORS = 0.2, 1.0, 5.0  # of epsilon, where laws are compared
WIDER = 15.0  # times the least peak, and the density needs a logarithmic scale
FLOOR = 1e-5  # of the highest density: the lower end of that scale
FENCE = 50  # points, beyond which error bars hide what they stand for
OBSERVED = "observed frequency"
SPREAD = "exact probability ± 2 standard errors"


class Panel(NamedTuple):
    """What all panels have: their height in inches, a painter, labels below and beside them."""

    height: float
    paint: Callable[[Any, int], None]
    below: str
    beside: str


def numbers(subject: Laws, count: int, notes: list[str], where: Any) -> Panel:
    """Laws of numbers: bars for few points, the density for many; the truth as a line."""
    laws, truths, grid = subject.laws[:count], subject.truths[:count], subject.grid
    three = subject.priced and subject.draws is None and not subject.by
    if three:
        laws = [laws[0].with_epsilon(laws[0].epsilon * f, any_epsilon=True) for f in FACTORS]
        notes.append("at epsilon, 5 times less and 5 times more")
    view = in_sight(laws, truths, grid)
    truth_name = subject.truth_name
    if truths[0] is not None and not subject.by:
        best = f" with a revenue of {readable(subject.best)}" if three else ""
        truth_name += f" {readable(truths[0])}{best}"
    notes.append(f"dashed: {truth_name}" if subject.by or truths[0] is not None else "no records")
    if not (three or subject.by):
        notes += outside(laws[0], view, grid)

    def paint(ax: Any, group: int) -> None:
        if three:
            _three(ax, laws, view)
        elif subject.draws is not None:
            _beside(ax, laws[group], subject.draws[group], view)
        else:
            _exact(ax, laws[group], view)
        _finish(
            ax,
            view,
            truths[group],
            4 if subject.by else 8,
            "" if where is None else truth_name.replace(" with a ", "\n"),
        )

    column = label(subject.column)
    beside = "probability" if view.few else f"probability density (per unit of {column})"
    height = 1.6 if subject.by else 3.7
    return Panel(height, paint, f"price ({column})" if subject.priced else column, beside)


def _exact(ax: Any, law: Any, view: View) -> None:
    """The law alone: bars of probability, or the area below a density."""
    heights, inks = heights_of(law, view), inks_of(ax)
    if view.few:
        _bars(ax, heights, view)
    else:
        ax.stairs(heights, view.edges, color=inks.bar, fill=True)
        ax.stairs(heights, view.edges, color=inks.mark, linewidth=1.2, baseline=None)


def _bars(ax: Any, heights: FloatArray, view: View, label: str = "") -> None:
    """A bar a point; many that are evenly spaced touch each other."""
    points, color = np.asarray(view.points), inks_of(ax).bar
    gaps = np.diff(points.astype(np.float64))
    if gaps.max() > 1.01 * gaps.min():
        wide = min(max(1.5, 250 / len(points)), 12)
        ax.vlines(points, 0, heights, color=color, linewidth=wide, label=label)
    elif points.size > FENCE:
        ax.stairs(heights, view.edges, color=color, fill=True, label=label)
    else:
        ax.bar(points, heights, width=0.8 * gaps.min(), color=color, label=label)


def _beside(ax: Any, law: Any, drawn: AnyArray, view: View) -> None:
    """Draws as bars, the exact law over them as marks or as a line."""
    heights, n, inks = heights_of(law, view), drawn.size, inks_of(ax)
    if not view.few:
        bins = min(heights.size, BARS, max(8, int(n**0.5)))
        edges = view.edges[np.arange(bins + 1) * heights.size // bins]
        counts, _ = np.histogram(drawn, edges)
        ax.stairs(counts / (n * np.diff(edges)), edges, color=inks.bar, fill=True, label=OBSERVED)
        same = np.diff(law.cdf(edges)).clip(min=0) / np.diff(edges)  # in the bins of the bars
        ax.stairs(same, edges, label="exact law", color=inks.mark, linewidth=1.4, baseline=None)
        return
    points = np.asarray(view.points)
    counts, _ = np.histogram(drawn, view.edges)
    _bars(ax, counts / n, view, label=OBSERVED)
    below, above = _spread(heights, n)
    if points.size <= FENCE:
        ax.errorbar(points, heights, yerr=(below, above), elinewidth=1.0, **_marks(inks, 2))
    else:
        ax.plot(points, heights, "-", color=inks.mark, linewidth=1.2, label=SPREAD)
        low, high = heights - below, heights + above
        ax.fill_between(points, low, high, color=inks.mark, alpha=0.25, linewidth=0)


def _marks(inks: Inks, cap: int) -> dict[str, Any]:
    """Exact probabilities beside draws: diamonds, whole at the edge of axes too."""
    look = {"fmt": "D", "markersize": 3.5, "color": inks.mark, "capsize": cap, "clip_on": False}
    return {**look, "label": SPREAD}


def _spread(exact: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Two standard errors of frequencies to both sides, within 0 and 1."""
    rest = (1 - exact).clip(min=0)
    spread = 2 * np.sqrt(exact * rest / n)
    return np.minimum(spread, exact), np.minimum(spread, rest)


def _three(ax: Any, laws: Sequence[Any], view: View) -> None:
    """The laws at a fraction of epsilon, at epsilon and at a multiple of it."""
    inks = inks_of(ax)
    styles: tuple[dict[str, Any], ...] = (  # in grey too: by dashes and by darkness
        {"color": inks.quiet, "linestyle": (0, (1, 1)), "linewidth": 1.8},
        {"color": inks.mark, "linestyle": "-", "linewidth": 1.5},
        {"color": inks.series[5], "linestyle": (0, (5, 1.5)), "linewidth": 1.5},
    )
    heights = [heights_of(law, view) for law in laws]
    peaks = [float(h.max()) for h in heights]
    if max(peaks) > WIDER * min(peaks):
        ax.set_yscale("log")
        ax.set_ylim(FLOOR * max(peaks), 5 * max(peaks))
    for h, law, style in zip(heights, laws, styles, strict=True):
        label = f"ε = {readable(law.epsilon, 4)}"
        ax.stairs(h, view.edges, baseline=None, label=label, **style)


def _finish(ax: Any, view: View, truth: Any, ticks: int, name: str) -> None:
    """Axes, and the truth, which the legend names where no heading does."""
    ax.set_xlim(view.edges[0], view.edges[-1])
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(tick)  # never an offset, which would stand elsewhere
    ax.locator_params(axis="x", nbins=ticks)
    undecorated(ax, "y")
    if ax.get_yscale() == "linear":
        ax.set_ylim(0, 1.1 * ax.dataLim.y1)
        ax.locator_params(axis="y", nbins=ticks)
    if truth is not None and view.edges[0] <= truth <= view.edges[-1]:
        look = {"color": inks_of(ax).truth, "linewidth": 1.1, "linestyle": (0, (4, 3))}
        ax.axvline(truth, zorder=1, label=name, **look)


def selection(subject: Laws, count: int, notes: list[str], where: Any) -> Panel:
    """Laws of candidates: a bar for each, the likeliest of all groups on top."""
    candidates, draws = subject.candidates or (), subject.draws
    exact = np.array([law.probabilities for law in subject.laws[:count]]).clip(max=1.0)
    top = min(TOP_OF_GROUP if subject.by else TOP, len(candidates))
    order = (-exact.sum(axis=0)).argsort(kind="stable")[:top]
    if top < len(candidates):
        notes.append(f"the {top} likeliest of {len(candidates):,} candidates")
    longest = LONGEST if subject.by or where is not None else WIDEST
    names = [label(str(candidates[i]), longest) for i in order.tolist()]
    shares = exact_and_more = exact
    if draws is not None:
        counts = [np.bincount(drawn, minlength=len(candidates)) for drawn in draws[:count]]
        shares = np.array(counts) / draws.shape[1]
        exact_and_more = exact + _spread(exact, draws.shape[1])[1]
    most = min(1.0, 1.1 * float(max(exact_and_more.max(), shares.max())))

    def paint(ax: Any, group: int) -> None:
        places, inks = range(top), inks_of(ax)
        name = "" if draws is None else OBSERVED
        ax.barh(places, shares[group, order], height=0.66, color=inks.bar, label=name)
        if draws is not None:
            spread = _spread(exact[group, order], draws.shape[1])
            ax.errorbar(exact[group, order], places, xerr=spread, **_marks(inks, 3))
        ax.set_yticks(places, names, parse_math=False)
        ax.set_ylim(top - 0.4, -0.6)
        ax.set_xlim(0, most)
        ax.xaxis.set_major_formatter(tick)
        undecorated(ax, "x")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0, pad=7)  # for half of a mark at 0

    height = 0.45 + 0.19 * top if subject.by else 0.5 + 0.34 * top
    return Panel(height, paint, "probability", "")
