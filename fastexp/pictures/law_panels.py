"""Pictures of exact laws and of draws beside them; of groups a panel each. Legible in grey."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._parameters.descriptions import Described, name_of, statistic_of, title
from .._parameters.grid import Grid
from .._parameters.text import readable
from .._typing import AnyArray, FloatArray
from ..errors import ParameterError
from .canvas import LONGEST, figure_for, label, tick, undecorated
from .inks import Inks, inks_of
from .view import View, heights_of, in_sight, outside

PANELS, ACROSS = 24, 3  # groups in a picture, and beside each other
TOP, TOP_OF_GROUP = 20, 8  # candidates
NAME, WIDEST = 34, 42  # characters: above a panel, of a candidate
BARS = 120  # of draws on a fine grid, at most
FACTORS = 0.2, 1.0, 5.0  # of epsilon, where laws are compared
WIDER = 15.0  # times the least peak, and the density needs a logarithmic scale
FLOOR = 1e-5  # of the highest density: the lower end of that scale
FENCE = 50  # points, beyond which error bars hide what they stand for
OBSERVED = "observed frequency"
SPREAD = "exact probability ± 2 standard errors"


@dataclass(frozen=True)
class Laws:
    """Laws of one mechanism, one a group, and what they are compared with.

    Attributes
    ----------
    mechanism
        One that a query takes, or over utilities; None: not known.
    column : str
        What its records are called.
    laws : sequence
        As `view.Outputs` or with `probabilities`; of top-k those of the first place.
    truths : sequence
        The true number of each group or None; of candidates how many records each has, or
        None of utilities.
    grid : Grid, optional
        The points of numbers; None: their laws are densities.
    candidates : sequence, optional
        None of numbers.
    records : sequence of int
        How many records of each group count; of utilities none.
    by : sequence of str
        The columns of groups; none where all rows are one group.
    labels : sequence of mapping
        The name of each group, by column.
    draws : ndarray, shape (groups, size), or None
        Numbers, or candidates by number.
    best : float, optional
        The best revenue of prices.
    """

    mechanism: Described | None
    column: str
    laws: Sequence[Any]
    truths: Sequence[Any]
    grid: Grid | None = None
    candidates: Sequence[Any] | None = None
    records: Sequence[int] = ()
    by: Sequence[str] = ()
    labels: Sequence[Mapping[str, Any]] = ()
    draws: AnyArray | None = None
    best: float | None = None

    @property
    def names(self) -> list[str]:
        """The groups in words."""
        return [", ".join(map(str, label.values())) for label in self.labels]

    @property
    def priced(self) -> bool:
        """Whether the numbers are prices."""
        return self.mechanism is not None and name_of(self.mechanism) == "price"

    @property
    def truth_name(self) -> str:
        """What the true number is called."""
        name = "value" if self.mechanism is None else statistic_of(self.mechanism)
        return "best price" if self.priced else f"true {name}"


class Panel(NamedTuple):
    """What all panels have: their height in inches, a painter, labels below and beside them."""

    height: float
    paint: Callable[[Any, int], None]
    below: str
    beside: str


def draw(subject: Laws, ax: Any = None) -> list[Any]:
    """Draw exact laws, or draws beside them where there are some; the axes, one a panel.

    The first `PANELS` groups if there are more; an error if there is none. `ax` as for
    `figure_for`.
    """
    if not subject.laws:
        raise ParameterError("plot: the data have no group to draw")
    count, mechanism = min(PANELS, len(subject.laws)), subject.mechanism
    heading, notes = _heading(subject), []
    if mechanism is not None:
        notes = [title(name_of(mechanism), mechanism)]
        heading = heading if ax is None else notes[0]
    if subject.by and count < len(subject.laws):
        notes.append(f"the first {count} of {len(subject.laws):,} groups")
    panel = (_numbers if subject.candidates is None else _candidates)(subject, count, notes, ax)
    across = min(ACROSS, count)
    rows = -(-count // across)
    size = None if ax is not None else 8 if subject.by else 10  # None: as the caller's style has it
    height = 0.6 + panel.height * rows
    figure, axes = figure_for(ax, heading, notes, height, (rows, across))
    for spare in axes[count:]:
        spare.remove()
    axes = axes[:count]
    for g, panel_axes in enumerate(axes):
        panel.paint(panel_axes, g)
        if subject.by:
            _name(panel_axes, subject, g)
        lowest = g + across >= count
        panel_axes.tick_params(labelbottom=lowest)
        if size is not None:
            panel_axes.tick_params(labelsize=size)
        if lowest:
            panel_axes.set_xlabel(panel.below, fontsize=size, parse_math=False)
        if g % across and subject.candidates is not None:
            panel_axes.tick_params(labelleft=False)
    handles, texts = axes[0].get_legend_handles_labels()
    if ax is not None:
        axes[0].set_ylabel(panel.beside, parse_math=False)
        if handles:
            axes[0].legend(frameon=False, labelcolor=inks_of(axes[0]).mark)
    else:
        figure.supylabel(panel.beside, fontsize=10, color=inks_of(axes[0]).mark, parse_math=False)
        if handles:
            look = {"loc": "outside lower center", "ncols": 3, "frameon": False, "fontsize": 9}
            figure.legend(handles, texts, labelcolor=inks_of(axes[0]).mark, **look)
    return axes


def _heading(subject: Laws) -> str:
    """What is to be seen."""
    what = "selection"
    if subject.candidates is None:
        what = "number" if subject.mechanism is None else statistic_of(subject.mechanism)
        what = "quantile" if what.endswith("quantile") else what
    heading = f"The exact law of the private {what}"
    if subject.draws is not None:
        n = subject.draws.shape[1]
        heading = f"{n:,} draw{'s' * (n != 1)} against the exact law"
    return f"{heading}, by {label(' and '.join(subject.by))}" if subject.by else heading


def _name(ax: Any, subject: Laws, group: int) -> None:
    """The name of a group above its panel."""
    inks, parts = inks_of(ax), [f"n = {subject.records[group]:,}"]
    truth = subject.truths[group]
    if subject.candidates is None and truth is not None:
        parts.append(f"true {readable(truth, 4)}")
    ax.set_title(" · ".join(parts), loc="left", fontsize=7.5, color=inks.quiet, pad=3)
    ax.annotate(
        label(subject.names[group], NAME),
        xy=(0, 1),
        xycoords="axes fraction",
        xytext=(0, 14),
        textcoords="offset points",
        fontsize=9,
        color=inks.mark,
        fontweight="bold",
        parse_math=False,
    )


def _numbers(subject: Laws, count: int, notes: list[str], where: Any) -> Panel:
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


def _candidates(subject: Laws, count: int, notes: list[str], where: Any) -> Panel:
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
