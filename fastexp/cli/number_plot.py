"""Pictures of private numbers: the exact law, draws beside it, and prices at three epsilons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import plot
from .number_law import NAMES, number
from .number_question import Question
from .number_view import View, heights_of, in_sight, outside
from .number_words import grid_text, title

if TYPE_CHECKING:
    from .._typing import AnyArray, FloatArray
    from ..laws.grid import GridLaw

BARS = 120  # of draws on a fine grid, at most
TIMES = 5  # between the three epsilons
WIDER = 15.0  # times the least peak, and the density needs a logarithmic scale
FLOOR = 1e-5  # of the highest density: the lower end of that scale
STEMS = 40  # prices, each with a stem for each epsilon
FENCE = 50  # points, beyond which error bars hide what they stand for
STYLES: tuple[dict[str, Any], ...] = (  # in grey too: by dashes and by darkness
    {"color": "#7b8794", "linestyle": (0, (1, 1)), "linewidth": 1.8},
    {"color": plot.MARK, "linestyle": "-", "linewidth": 1.5},
    {"color": "#2b7bba", "linestyle": (0, (5, 1.5)), "linewidth": 1.5},
)
MARKERS = ("s", "o", "^")
TRUTH = "#b4430c"  # darker than the bars in grey, and no law's colour
PRIVATE = "not private: for analysis only"


def law(path: str, question: Question, exact: GridLaw, truth: Any) -> None:
    """Draw the exact law, the truth marked; of prices at three epsilons; and save.

    Parameters
    ----------
    path : str
        A file of one of `plot.SUFFIXES`.
    question : Question
    exact : GridLaw
    truth : int, float or None
        The true statistic.
    """
    three = question.name == "price"
    figure, axes = plot.canvas(4.8 if three else 4.4)
    view = in_sight(exact, truth, whole=three)
    if three:
        _three(axes, exact, view)
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
        head = "What epsilon does to the private price"
        notes = [f"exact laws on the grid {grid_text(question.mechanism)}"]
        notes.append(f"at epsilon, {TIMES} times less and {TIMES} times more")
    else:
        _exact(axes, exact, view)
        head = f"The exact law of the private {question.name}"
        notes = [title(question), *outside(exact, view)]
    _finish(axes, question, view, truth)
    notes += ["no records"] * (truth is None)
    plot.heading(axes, head, " · ".join([*notes, PRIVATE]))
    plot.save(figure, path)


def draws(path: str, question: Question, exact: GridLaw, drawn: AnyArray, truth: Any) -> None:
    """Draw the frequencies of draws as bars, the exact law over them, and save.

    Parameters
    ----------
    path, question, exact, truth
        As for `law`.
    drawn : ndarray, shape (n,)
        Points of the grid.
    """
    figure, axes = plot.canvas(4.6)
    view = in_sight(exact, truth)
    n = drawn.size
    _beside(axes, exact, drawn, view)
    _finish(axes, question, view, truth)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    notes = [title(question), *outside(exact, view), PRIVATE]
    plot.heading(axes, f"{n:,} draw{'s' * (n != 1)} against the exact law", " · ".join(notes))
    plot.save(figure, path)


def _exact(axes: Any, exact: GridLaw, view: View) -> None:
    """The law alone: bars of probability, or the area below a density."""
    heights = heights_of(exact, view)
    if view.few:
        _bars(axes, exact.grid.values(view.cuts[:-1]), heights)
    else:
        axes.stairs(heights, view.edges, color=plot.BAR, fill=True)
        axes.stairs(heights, view.edges, color=plot.MARK, linewidth=1.3, baseline=None)


def _bars(axes: Any, points: AnyArray, heights: FloatArray, **more: Any) -> None:
    gaps = np.diff(points.astype(np.float64))
    if gaps.max() < 1.01 * gaps.min():
        axes.bar(points, heights, width=0.8 * gaps.min(), color=plot.BAR, **more)
    else:
        wide = max(1.5, 250 / len(points))
        axes.vlines(points, 0, heights, color=plot.BAR, linewidth=min(wide, 12), **more)


def _beside(axes: Any, exact: GridLaw, drawn: AnyArray, view: View) -> None:
    """Draws as bars, the exact law over them as marks or as a line."""
    heights, n = heights_of(exact, view), drawn.size
    if view.few:
        points = exact.grid.values(view.cuts[:-1])
        counts, _ = np.histogram(drawn, view.edges)
        _bars(axes, points, counts / n, label="observed frequency")
        _with_errors(axes, points, heights, n)
        return
    wide = -(-heights.size // min(BARS, max(8, int(n**0.5))))
    counts, edges = np.histogram(drawn, np.append(view.edges[:-1:wide], view.edges[-1]))
    share = counts / (n * np.diff(edges))
    axes.stairs(share, edges, color=plot.BAR, fill=True, label="observed frequency")
    line = {"color": plot.MARK, "linewidth": 1.6, "baseline": None}
    same = np.diff(exact.cdf(edges)).clip(min=0) / np.diff(edges)  # in the bars' own bins
    axes.stairs(same, edges, label="exact law", **line)


def _with_errors(axes: Any, points: AnyArray, heights: FloatArray, n: int) -> None:
    """Exact probabilities, and how far frequencies may be off: as bars, or as a band."""
    spread = 2 * np.sqrt(heights * (1 - heights).clip(min=0) / n)
    ends = heights.clip(max=spread), spread.clip(max=(1 - heights).clip(min=0))
    text = "exact probability ± 2 standard errors"
    if points.size <= FENCE:
        style = {"fmt": "D", "markersize": 3.5, "color": plot.MARK, "elinewidth": 1.0}
        axes.errorbar(points, heights, yerr=ends, capsize=2, label=text, **style)
        return
    axes.plot(points, heights, "-", color=plot.MARK, linewidth=1.2, label=text)
    band = {"color": plot.MARK, "alpha": 0.25, "linewidth": 0}
    axes.fill_between(points, heights - ends[0], heights + ends[1], **band)


def _three(axes: Any, exact: GridLaw, view: View) -> None:
    """The law at a fraction of epsilon, at epsilon and at a multiple of it."""
    epsilons = [exact.epsilon / TIMES, exact.epsilon, exact.epsilon * TIMES]
    heights = [heights_of(exact.with_epsilon(e, any_epsilon=True), view) for e in epsilons]
    peaks = [float(h.max()) for h in heights]
    if max(peaks) > WIDER * min(peaks):
        axes.set_yscale("log")
        axes.set_ylim(FLOOR * max(peaks), 5 * max(peaks))
    for i, (h, epsilon) in enumerate(zip(heights, epsilons, strict=True)):
        if h.size <= STEMS and view.few:
            _stems(axes, exact.grid.values(view.cuts[:-1]), h, i, f"ε = {epsilon:g}")
        else:
            axes.stairs(h, view.edges, baseline=None, label=f"ε = {epsilon:g}", **STYLES[i])
    _room(axes, max(peaks))


def _stems(axes: Any, points: AnyArray, heights: FloatArray, i: int, name: str) -> None:
    """The law of few prices, beside those of the other two epsilons."""
    x = points + (i - 1) * 0.2 * np.diff(points).min()
    axes.vlines(x, 0, heights, color=STYLES[i]["color"], linewidth=2.2)
    axes.plot(x, heights, MARKERS[i], color=STYLES[i]["color"], markersize=5, label=name)


def _room(axes: Any, highest: float) -> None:
    """Headroom for the name of the truth."""
    if axes.get_yscale() == "linear":
        axes.set_ylim(0, 1.16 * highest)


def _finish(axes: Any, question: Question, view: View, truth: Any) -> None:
    """Axes with their units, and the truth."""
    column = plot.label(question.column)
    shown = f"price ({column})" if question.name == "price" else column
    axes.set_xlabel(shown, parse_math=False)
    unit = "probability" if view.few else f"probability density (per unit of {column})"
    unit += ", log scale" * (axes.get_yscale() == "log")
    axes.set_ylabel(unit, parse_math=False)
    axes.set_xlim(view.edges[0], view.edges[-1])
    large = bool(np.abs(view.edges).max() >= 1e7)
    axes.xaxis.set_major_formatter("{x:.6g}" if large else "{x:,.10g}")  # never an offset,
    axes.locator_params(axis="x", nbins=8)
    plot.undecorated(axes, "y")
    if axes.get_yscale() == "linear":
        _room(axes, axes.dataLim.y1)
        axes.yaxis.set_major_formatter("{x:.6g}")  # which would stand elsewhere
    if truth is None or not view.edges[0] <= truth <= view.edges[-1]:
        return
    axes.axvline(truth, color=TRUTH, linewidth=1.1, linestyle=(0, (4, 3)), zorder=1)
    right = truth <= view.edges[[0, -1]].mean()
    name = NAMES.get(question.name, f"true {question.q}-quantile")
    axes.annotate(
        f"{name} {number(truth)}",
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
