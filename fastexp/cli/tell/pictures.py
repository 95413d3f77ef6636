"""Pictures of exact laws and of draws beside them; of groups a panel each. Legible in grey."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Failure
from . import words
from .canvas import BAR, MARK, QUIET, TRUTH, canvas, label, save, undecorated
from .figures import number, short
from .view import View, heights_of, in_sight, outside, part

if TYPE_CHECKING:
    from ..._typing import AnyArray, FloatArray
    from ...laws.grid import GridLaw
    from .figures import Subject

PANELS, ACROSS = 24, 3  # groups in a picture, and beside each other
TOP, TOP_OF_GROUP = 20, 8  # candidates
NAME, UNITS = 34, 44  # characters above a panel, and of a line beside an axis
BARS = 120  # of draws on a fine grid, at most
TIMES = 5  # between the three epsilons
WIDER = 15.0  # times the least peak, and the density needs a logarithmic scale
FLOOR = 1e-5  # of the highest density: the lower end of that scale
STEMS = 40  # prices, each with a stem for each epsilon
FENCE = 50  # points, beyond which error bars hide what they stand for
STYLES: tuple[dict[str, Any], ...] = (  # in grey too: by dashes and by darkness
    {"color": "#7b8794", "linestyle": (0, (1, 1)), "linewidth": 1.8},
    {"color": MARK, "linestyle": "-", "linewidth": 1.5},
    {"color": "#2b7bba", "linestyle": (0, (5, 1.5)), "linewidth": 1.5},
)
MARKERS = ("s", "o", "^")
OBSERVED = "observed frequency"
SPREAD = "exact probability ± 2 standard errors"


def draw(path: str, subject: Subject) -> None:
    """Draw exact laws, or draws beside them where there are some, and save.

    Parameters
    ----------
    path : str
        A file that `canvas.check` took.
    subject : Subject
        Of more than `PANELS` groups the first ones.

    Raises
    ------
    Failure
        If there is no group, or the file cannot be written.
    """
    if not subject.laws:
        raise Failure("--plot: the data have no group to draw")
    shown = min(PANELS, len(subject.laws))
    paper = _candidates if subject.candidates is not None else _numbers
    save(paper(subject, shown), path)


def _heading(subject: Subject, shown: int) -> tuple[str, list[str]]:
    """The title, and what was asked."""
    name = words.name_of(subject.mechanism)
    head = f"The exact law of the private {name}"
    if subject.draws is not None:
        n = subject.draws.shape[1]
        head = f"{n:,} draw{'s' * (n != 1)} against the exact law"
    notes = [words.title(name, subject.mechanism)]
    if subject.by:
        head += f", by {label(' and '.join(subject.by))}"
        more = len(subject.laws) > shown
        notes += [f"the first {shown} of {len(subject.laws):,} groups"] * more
        notes += [f"dashed: {subject.truth_name}"] * (subject.candidates is None)
    return head, notes


def _shape(subject: Subject, shown: int) -> tuple[int, int]:
    if not subject.by:
        return 1, 1
    across = min(ACROSS, shown)
    return -(-shown // across), across


def _panels(axes: list[Any], subject: Subject, shown: int, below: str) -> None:
    """The names of groups above panels; what is the same below all of them at the edge only."""
    _, across = _shape(subject, shown)
    for ax in axes[shown:]:
        ax.remove()
    for g, ax in enumerate(axes[:shown]):
        facts = [f"n = {subject.records[g]:,}"]
        truth = subject.truths[g]
        if subject.candidates is None and truth is not None:
            facts.append(f"true {short(truth)}")
        ax.set_title(" · ".join(facts), loc="left", fontsize=7.5, color=QUIET, pad=3)
        style = {"fontsize": 9, "color": MARK, "fontweight": "bold", "parse_math": False}
        place = {"xy": (0, 1), "xycoords": "axes fraction", "textcoords": "offset points"}
        ax.annotate(label(subject.names[g], NAME), xytext=(0, 14), **place, **style)
        ax.tick_params(labelsize=8, labelbottom=g + across >= shown)
        if g + across >= shown:
            ax.set_xlabel(below, fontsize=8, parse_math=False)


def _numbers(subject: Subject, shown: int) -> Any:
    """Of private numbers: bars of few points, the density of many."""
    laws, truths = subject.laws[:shown], subject.truths[:shown]
    three = words.name_of(subject.mechanism) == "price" and subject.draws is None
    three = three and not subject.by
    grid = subject.mechanism.grid
    view = part(grid, 0, grid.size - 1) if three else in_sight(laws, truths)
    head, notes = _heading(subject, shown)
    if three:
        head = "What epsilon does to the private price"
        notes = [f"exact laws on the grid {words.grid_text(subject.mechanism)}"]
        notes.append(f"at epsilon, {TIMES} times less and {TIMES} times more")
    elif not subject.by:
        notes += outside(laws[0], view)
    if not subject.by and truths[0] is None:
        notes.append("no records")
    rows, across = _shape(subject, shown)
    height = 0.7 + 1.55 * rows if subject.by else 4.0 if three else 3.7
    figure, axes = canvas(head, notes, height, (rows, across))
    for g, (ax, law) in enumerate(zip(axes, laws, strict=False)):
        if three:
            _three(ax, law, view)
        elif subject.draws is not None:
            _beside(ax, law, subject.draws[g], view)
        else:
            _exact(ax, law, view)
        _finish(ax, view, truths[g], 4 if subject.by else 8)
    column = label(subject.column)
    priced = words.name_of(subject.mechanism) == "price"
    below = f"price ({column})" if priced else column
    units = "probability" if view.few else f"probability density (per unit of {column})"
    if subject.by:
        _panels(axes, subject, shown, below)
        figure.supylabel(textwrap.fill(units, UNITS), fontsize=9, parse_math=False)
    else:
        units += ", log scale" * (axes[0].get_yscale() == "log")
        axes[0].set_xlabel(below, parse_math=False)
        axes[0].set_ylabel(textwrap.fill(units, UNITS), parse_math=False)
        _name_truth(axes[0], subject, view)
    if three or subject.draws is not None:
        _legend(figure, axes[0], 3)
    return figure


def _legend(figure: Any, ax: Any, across: int) -> None:
    """Below all panels, of one of them."""
    handles, texts = ax.get_legend_handles_labels()
    place = {"loc": "outside lower center", "ncols": across, "frameon": False, "fontsize": 9}
    figure.legend(handles, texts, **place)


def _exact(ax: Any, law: GridLaw, view: View) -> None:
    """The law alone: bars of probability, or the area below a density."""
    heights = heights_of(law, view)
    if view.few:
        _bars(ax, law.grid.values(view.cuts[:-1]), heights, view)
    else:
        ax.stairs(heights, view.edges, color=BAR, fill=True)
        ax.stairs(heights, view.edges, color=MARK, linewidth=1.2, baseline=None)


def _bars(ax: Any, points: AnyArray, heights: FloatArray, view: View, **style: Any) -> None:
    """A bar a point; many that are evenly spaced touch each other."""
    gaps = np.diff(points.astype(np.float64))
    if gaps.max() > 1.01 * gaps.min():
        wide = min(max(1.5, 250 / len(points)), 12)
        ax.vlines(points, 0, heights, color=BAR, linewidth=wide, **style)
    elif points.size > FENCE:
        ax.stairs(heights, view.edges, color=BAR, fill=True, **style)
    else:
        ax.bar(points, heights, width=0.8 * gaps.min(), color=BAR, **style)


def _beside(ax: Any, law: GridLaw, drawn: AnyArray, view: View) -> None:
    """Draws as bars, the exact law over them as marks or as a line."""
    heights, n = heights_of(law, view), drawn.size
    if view.few:
        points = law.grid.values(view.cuts[:-1])
        counts, _ = np.histogram(drawn, view.edges)
        _bars(ax, points, counts / n, view, label=OBSERVED)
        _with_errors(ax, points, heights, n)
        return
    bins = min(heights.size, BARS, max(8, int(n**0.5)))
    counts, edges = np.histogram(drawn, view.edges[np.arange(bins + 1) * heights.size // bins])
    share = counts / (n * np.diff(edges))
    ax.stairs(share, edges, color=BAR, fill=True, label=OBSERVED)
    same = np.diff(law.cdf(edges)).clip(min=0) / np.diff(edges)  # in the bars' own bins
    ax.stairs(same, edges, label="exact law", color=MARK, linewidth=1.4, baseline=None)


def _with_errors(ax: Any, points: AnyArray, heights: FloatArray, n: int) -> None:
    """Exact probabilities, and how far frequencies may be off: as bars, or as a band."""
    below, above = _spread(heights, n)
    if points.size <= FENCE:
        style = {"fmt": "D", "markersize": 3.5, "color": MARK, "elinewidth": 1.0}
        ax.errorbar(points, heights, yerr=(below, above), capsize=2, label=SPREAD, **style)
        return
    ax.plot(points, heights, "-", color=MARK, linewidth=1.2, label=SPREAD)
    band = {"color": MARK, "alpha": 0.25, "linewidth": 0}
    ax.fill_between(points, heights - below, heights + above, **band)


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
    for i, (h, epsilon) in enumerate(zip(heights, epsilons, strict=True)):
        if h.size <= STEMS and view.few:
            points = law.grid.values(view.cuts[:-1])
            x = points + (i - 1) * 0.2 * np.diff(points).min()
            ax.vlines(x, 0, h, color=STYLES[i]["color"], linewidth=2.2)
            style = {"color": STYLES[i]["color"], "markersize": 5}
            ax.plot(x, h, MARKERS[i], label=f"ε = {epsilon:g}", **style)
        else:
            ax.stairs(h, view.edges, baseline=None, label=f"ε = {epsilon:g}", **STYLES[i])


def _finish(ax: Any, view: View, truth: Any, ticks: int) -> None:
    """Axes, and the truth."""
    ax.set_xlim(view.edges[0], view.edges[-1])
    large = bool(np.abs(view.edges).max() >= 1e7)
    ax.xaxis.set_major_formatter("{x:.6g}" if large else "{x:,.10g}")  # never an offset,
    ax.locator_params(axis="x", nbins=ticks)
    undecorated(ax, "y")
    if ax.get_yscale() == "linear":
        ax.set_ylim(0, 1.16 * ax.dataLim.y1)  # headroom for the name of the truth
        ax.yaxis.set_major_formatter("{x:.6g}")  # which would stand elsewhere
        ax.locator_params(axis="y", nbins=ticks)
    if truth is not None and view.edges[0] <= truth <= view.edges[-1]:
        ax.axvline(truth, color=TRUTH, linewidth=1.1, linestyle=(0, (4, 3)), zorder=1)


def _name_truth(ax: Any, subject: Subject, view: View) -> None:
    """The true number beside its line."""
    truth = subject.truths[0]
    if truth is None or not view.edges[0] <= truth <= view.edges[-1]:
        return
    right = truth <= view.edges[[0, -1]].mean()
    ax.annotate(
        f"{subject.truth_name} {number(truth)}",
        (truth, 0.965),
        (6 if right else -6, 0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="left" if right else "right",
        va="center",
        fontsize=9.5,
        color=TRUTH,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.85},
    )


def _candidates(subject: Subject, shown: int) -> Any:
    """Of candidates: a bar each, the likeliest on top."""
    labels = subject.candidates or ()
    exact = np.array([law.probabilities for law in subject.laws[:shown]]).clip(max=1.0)
    top = min(TOP_OF_GROUP if subject.by else TOP, len(labels))
    order = (-exact.sum(axis=0)).argsort(kind="stable")[:top]
    head, notes = _heading(subject, shown)
    if top < len(labels):
        notes.append(f"the {top} likeliest of {len(labels):,} candidates")
    rows, across = _shape(subject, shown)
    height = 0.7 + (0.45 + 0.19 * top) * rows if subject.by else 1.3 + 0.34 * top
    figure, axes = canvas(head, notes, height, (rows, across))
    for g, ax in enumerate(axes[:shown]):
        if subject.draws is None:
            ax.barh(range(top), exact[g, order], height=0.66, color=BAR)
        else:
            drawn = subject.draws[g]
            counts = np.bincount(drawn, minlength=len(labels))[order]
            _beside_candidates(ax, counts / drawn.size, exact[g, order], drawn.size)
        names = [label(str(labels[i])) for i in order.tolist()]
        ax.set_yticks(range(top), names if g % across == 0 else [], parse_math=False)
        ax.set_ylim(top - 0.4, -0.6)
        undecorated(ax, "x")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0, pad=7)  # for half of a mark at 0
    most = max(ax.dataLim.x1 for ax in axes[:shown])
    for ax in axes[:shown]:
        ax.set_xlim(0, 1.04 * most)
        ax.xaxis.set_major_formatter("{x:.6g}")
    if subject.by:
        _panels(axes, subject, shown, "probability")
    else:
        axes[0].set_xlabel("probability")
    if subject.draws is not None:
        _legend(figure, axes[0], 2)
    return figure


def _beside_candidates(ax: Any, frequencies: FloatArray, exact: FloatArray, n: int) -> None:
    """Draws as bars, exact probabilities as marks."""
    places = range(len(exact))
    ax.barh(places, frequencies, height=0.66, color=BAR, label=OBSERVED)
    style = {"fmt": "D", "markersize": 4.5, "color": MARK, "elinewidth": 1.2, "capsize": 3}
    style["clip_on"] = False
    ax.errorbar(exact, places, xerr=_spread(exact, n), label=SPREAD, **style)
