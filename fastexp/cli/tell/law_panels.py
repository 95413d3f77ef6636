"""Pictures of exact laws and of draws beside them; of groups a panel each. Legible in grey."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from ..._parameters.text import readable
from ..._typing import AnyArray, FloatArray
from ...errors import ParameterError
from ...laws.grid import GridLaw
from ...mechanisms.descriptions import name_of
from ...mechanisms.descriptions import title as heading
from ...pictures.canvas import figure_for, label, save, undecorated
from ...pictures.inks import LIGHT
from ...pictures.view import View, heights_of, in_sight, outside, part
from .law_facts import LawFacts

PANELS, ACROSS = 24, 3  # groups in a picture, and beside each other
TOP, TOP_OF_GROUP = 20, 8  # candidates
NAME = 34  # characters above a panel
BARS = 120  # of draws on a fine grid, at most
TIMES = 5  # between the three epsilons
WIDER = 15.0  # times the least peak, and the density needs a logarithmic scale
FLOOR = 1e-5  # of the highest density: the lower end of that scale
FENCE = 50  # points, beyond which error bars hide what they stand for
STYLES: tuple[dict[str, Any], ...] = (  # in grey too: by dashes and by darkness
    {"color": "#7b8794", "linestyle": (0, (1, 1)), "linewidth": 1.8},
    {"color": LIGHT.mark, "linestyle": "-", "linewidth": 1.5},
    {"color": "#2b7bba", "linestyle": (0, (5, 1.5)), "linewidth": 1.5},
)
OBSERVED = "observed frequency"
SPREAD = "exact probability ± 2 standard errors"


class Panel(NamedTuple):
    """What all panels have: their height in inches, a painter, labels below and beside them."""

    height: float
    paint: Callable[[Any, int], None]
    below: str
    beside: str


def draw(path: str, facts: LawFacts) -> None:
    """Draw exact laws, or draws beside them where there are some, and save.

    The first `PANELS` groups if there are more; an error if there is none.
    """
    if not facts.laws:
        raise ParameterError("plot: the data have no group to draw")
    count, name = min(PANELS, len(facts.laws)), name_of(facts.mechanism)
    what = name if facts.candidates is None else "selection"
    title = f"The exact law of the private {what}"
    if facts.draws is not None:
        n = facts.draws.shape[1]
        title = f"{n:,} draw{'s' * (n != 1)} against the exact law"
    notes = [heading(name, facts.mechanism)]
    if facts.by:
        title += f", by {label(' and '.join(facts.by))}"
        if count < len(facts.laws):
            notes.append(f"the first {count} of {len(facts.laws):,} groups")
    panel = (_numbers if facts.candidates is None else _candidates)(facts, count, notes)
    across = min(ACROSS, count)
    rows, size = -(-count // across), 8 if facts.by else 10
    figure, axes = figure_for(None, title, notes, 0.6 + panel.height * rows, (rows, across))
    for ax in axes[count:]:
        ax.remove()
    for g, ax in enumerate(axes[:count]):
        panel.paint(ax, g)
        if facts.by:
            _name(ax, facts, g)
        lowest = g + across >= count
        ax.tick_params(labelsize=size, labelbottom=lowest)
        if lowest:
            ax.set_xlabel(panel.below, fontsize=size, parse_math=False)
        if g % across and facts.candidates is not None:
            ax.tick_params(labelleft=False)
    figure.supylabel(panel.beside, fontsize=10, parse_math=False)
    handles, texts = axes[0].get_legend_handles_labels()
    if handles:
        figure.legend(
            handles, texts, loc="outside lower center", ncols=3, frameon=False, fontsize=9
        )
    save(figure, path)


def _name(ax: Any, facts: LawFacts, group: int) -> None:
    """The name of a group above its panel."""
    parts = [f"n = {facts.records[group]:,}"]
    truth = facts.truths[group]
    if facts.candidates is None and truth is not None:
        parts.append(f"true {readable(truth, 4)}")
    ax.set_title(" · ".join(parts), loc="left", fontsize=7.5, color=LIGHT.quiet, pad=3)
    ax.annotate(
        label(facts.names[group], NAME),
        xy=(0, 1),
        xycoords="axes fraction",
        xytext=(0, 14),
        textcoords="offset points",
        fontsize=9,
        color=LIGHT.mark,
        fontweight="bold",
        parse_math=False,
    )


def _numbers(facts: LawFacts, count: int, notes: list[str]) -> Panel:
    """Laws of numbers: bars for few points, the density for many; the truth as a line."""
    laws, truths = cast("Sequence[GridLaw]", facts.laws[:count]), facts.truths[:count]
    priced = name_of(facts.mechanism) == "price"
    three = priced and facts.draws is None and not facts.by
    grid = laws[0].grid
    view = part(grid, 0, grid.size - 1) if three else in_sight(laws, truths)
    if facts.by:
        notes.append(f"dashed: {facts.truth_name}")
    elif truths[0] is None:
        notes.append("no records")
    else:
        notes.append(f"dashed: {facts.truth_name} {readable(truths[0])}")
    if three:
        notes.append(f"at epsilon, {TIMES} times less and {TIMES} times more")
    elif not facts.by:
        notes += outside(laws[0], view)

    def paint(ax: Any, group: int) -> None:
        if three:
            _three(ax, laws[group], view)
        elif facts.draws is not None:
            _beside(ax, laws[group], facts.draws[group], view)
        else:
            _exact(ax, laws[group], view)
        _finish(ax, view, truths[group], 4 if facts.by else 8)

    column = label(facts.column)
    beside = "probability" if view.few else f"probability density (per unit of {column})"
    height = 1.6 if facts.by else 3.7
    return Panel(height, paint, f"price ({column})" if priced else column, beside)


def _exact(ax: Any, law: GridLaw, view: View) -> None:
    """The law alone: bars of probability, or the area below a density."""
    heights = heights_of(law, view)
    if view.few:
        _bars(ax, law.grid.values(view.cuts[:-1]), heights, view)
    else:
        ax.stairs(heights, view.edges, color=LIGHT.bar, fill=True)
        ax.stairs(heights, view.edges, color=LIGHT.mark, linewidth=1.2, baseline=None)


def _bars(ax: Any, points: AnyArray, heights: FloatArray, view: View, label: str = "") -> None:
    """A bar a point; many that are evenly spaced touch each other."""
    gaps = np.diff(points.astype(np.float64))
    if gaps.max() > 1.01 * gaps.min():
        wide = min(max(1.5, 250 / len(points)), 12)
        ax.vlines(points, 0, heights, color=LIGHT.bar, linewidth=wide, label=label)
    elif points.size > FENCE:
        ax.stairs(heights, view.edges, color=LIGHT.bar, fill=True, label=label)
    else:
        ax.bar(points, heights, width=0.8 * gaps.min(), color=LIGHT.bar, label=label)


def _beside(ax: Any, law: GridLaw, drawn: AnyArray, view: View) -> None:
    """Draws as bars, the exact law over them as marks or as a line."""
    heights, n = heights_of(law, view), drawn.size
    if not view.few:
        bins = min(heights.size, BARS, max(8, int(n**0.5)))
        edges = view.edges[np.arange(bins + 1) * heights.size // bins]
        counts, _ = np.histogram(drawn, edges)
        ax.stairs(counts / (n * np.diff(edges)), edges, color=LIGHT.bar, fill=True, label=OBSERVED)
        same = np.diff(law.cdf(edges)).clip(min=0) / np.diff(edges)  # in the bins of the bars
        ax.stairs(same, edges, label="exact law", color=LIGHT.mark, linewidth=1.4, baseline=None)
        return
    points = law.grid.values(view.cuts[:-1])
    counts, _ = np.histogram(drawn, view.edges)
    _bars(ax, points, counts / n, view, label=OBSERVED)
    below, above = _spread(heights, n)
    if points.size <= FENCE:
        ax.errorbar(
            points,
            heights,
            yerr=(below, above),
            fmt="D",
            markersize=3.5,
            color=LIGHT.mark,
            elinewidth=1.0,
            capsize=2,
            label=SPREAD,
        )
    else:
        ax.plot(points, heights, "-", color=LIGHT.mark, linewidth=1.2, label=SPREAD)
        low, high = heights - below, heights + above
        ax.fill_between(points, low, high, color=LIGHT.mark, alpha=0.25, linewidth=0)


def _spread(exact: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Two standard errors of frequencies to both sides, within 0 and 1."""
    rest = (1 - exact).clip(min=0)
    spread = 2 * np.sqrt(exact * rest / n)
    return np.minimum(spread, exact), np.minimum(spread, rest)


def _three(ax: Any, law: GridLaw, view: View) -> None:
    """The law at a fraction of epsilon, at epsilon and at a multiple of it."""
    epsilons = [law.epsilon / TIMES, law.epsilon, law.epsilon * TIMES]
    heights = [heights_of(law.with_epsilon(e, any_epsilon=True), view) for e in epsilons]
    peaks = [float(h.max()) for h in heights]
    if max(peaks) > WIDER * min(peaks):
        ax.set_yscale("log")
        ax.set_ylim(FLOOR * max(peaks), 5 * max(peaks))
    for h, epsilon, style in zip(heights, epsilons, STYLES, strict=True):
        ax.stairs(h, view.edges, baseline=None, label=f"ε = {epsilon:g}", **style)


def _finish(ax: Any, view: View, truth: Any, ticks: int) -> None:
    """Axes, and the truth."""
    ax.set_xlim(view.edges[0], view.edges[-1])
    large = bool(np.abs(view.edges).max() >= 1e7)
    ax.xaxis.set_major_formatter("{x:.6g}" if large else "{x:,.10g}")  # never an offset,
    ax.locator_params(axis="x", nbins=ticks)
    undecorated(ax, "y")
    if ax.get_yscale() == "linear":
        ax.set_ylim(0, 1.1 * ax.dataLim.y1)
        ax.yaxis.set_major_formatter("{x:.6g}")  # which would stand elsewhere
        ax.locator_params(axis="y", nbins=ticks)
    if truth is not None and view.edges[0] <= truth <= view.edges[-1]:
        ax.axvline(truth, color=LIGHT.truth, linewidth=1.1, linestyle=(0, (4, 3)), zorder=1)


def _candidates(facts: LawFacts, count: int, notes: list[str]) -> Panel:
    """Laws of candidates: a bar for each, the likeliest of all groups on top."""
    candidates = facts.candidates or ()
    exact = np.array([law.probabilities for law in facts.laws[:count]]).clip(max=1.0)
    top = min(TOP_OF_GROUP if facts.by else TOP, len(candidates))
    order = (-exact.sum(axis=0)).argsort(kind="stable")[:top]
    if top < len(candidates):
        notes.append(f"the {top} likeliest of {len(candidates):,} candidates")
    names = [label(str(candidates[i])) for i in order.tolist()]
    shares = exact
    if facts.draws is not None:
        counts = [np.bincount(drawn, minlength=len(candidates)) for drawn in facts.draws[:count]]
        shares = np.array(counts) / facts.draws.shape[1]
    most = min(1.0, 1.1 * float(max(exact.max(), shares.max())))

    def paint(ax: Any, group: int) -> None:
        places = range(top)
        if facts.draws is None:
            ax.barh(places, exact[group, order], height=0.66, color=LIGHT.bar)
        else:
            ax.barh(places, shares[group, order], height=0.66, color=LIGHT.bar, label=OBSERVED)
            ax.errorbar(
                exact[group, order],
                places,
                xerr=_spread(exact[group, order], facts.draws.shape[1]),
                fmt="D",
                markersize=4,
                color=LIGHT.mark,
                capsize=3,
                clip_on=False,
                label=SPREAD,
            )
        ax.set_yticks(places, names, parse_math=False)
        ax.set_ylim(top - 0.4, -0.6)
        ax.set_xlim(0, most)
        undecorated(ax, "x")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0, pad=7)  # for half of a mark at 0

    height = 0.45 + 0.19 * top if facts.by else 0.5 + 0.34 * top
    return Panel(height, paint, "probability", "")
