"""The content of a picture of laws, and its panels: numbers or candidates, also with draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._parameters.descriptions import Described, name_of, statistic_of
from .._parameters.grid import Grid
from .._parameters.text import readable
from .._typing import AnyArray, FloatArray, IntArray
from .canvas import FILLED, bars, label, numbered

TOP, TOP_OF_GROUP = 20, 8  # the most candidates in a picture, and in a panel of a group
BARS = 120  # the most bars of draws on a fine grid
FACTORS = 0.2, 1.0, 5.0  # of epsilon, if laws are compared
MAX_PEAK_RATIO = 15.0  # highest over lowest peak; above it, densities get a logarithmic scale
LOG_RANGE = 1e-5  # the lower end of that scale, relative to the highest density
MAX_ERROR_BARS = 50  # more error bars would hide the bars
OBSERVED = "observed frequency"
MAX_BARS, BINS = 160, 2000  # the most points that are shown one by one; bins of a density
TAIL = 0.005  # the probability that is out of sight at each end
THINNEST, WIDE = 0.003, 0.03  # share of the picture: the thinnest bar; the widest of uneven points
MIN_NOTED_PROBABILITY = 0.0005  # the smallest probability that is worth a note
SPREAD = "exact probability ± 2 standard errors"


@dataclass(frozen=True)
class Laws:
    """Laws of one mechanism, one for each group, with their true values and draws."""

    mechanism: Described | None  # that of a query, or one over utilities; None: unknown
    column: str  # the name of its records
    laws: Sequence[Any]  # with `cdf` and `ppf`, or `probabilities`; for top-k, of the first place
    truths: Sequence[Any]  # for each group, or None; counts of candidates, None for utilities
    grid: Grid | None = None  # for numbers; None: their laws are densities
    candidates: Sequence[Any] | None = None  # None for numbers
    records: Sequence[int] = ()  # the number of records that count, by group; may be empty
    by: Sequence[str] = ()  # the columns of groups; empty if all rows are one group
    labels: Sequence[Mapping[str, Any]] = ()  # the name of each group, by column
    draws: AnyArray | None = None  # (groups, size): numbers, or candidates by number
    best: float | None = None  # the best revenue of prices

    @property
    def names(self) -> list[str]:
        """Return the groups in words."""
        return [", ".join(map(str, label.values())) for label in self.labels]

    @property
    def truth_name(self) -> str:
        """Return the name of the true number."""
        name = "value" if self.mechanism is None else statistic_of(self.mechanism)
        return "best price" if self.priced else f"true {name}"

    @property
    def priced(self) -> bool:
        """Whether the numbers are prices."""
        return self.mechanism is not None and name_of(self.mechanism) == "price"


class View(NamedTuple):
    """The edges of visible bins, and the points of a grid in them if there is one in each bin."""

    edges: FloatArray
    points: FloatArray


def in_sight(
    laws: Sequence[Any], truths: Sequence[Any], grid: Grid | None, draws: int | None = None
) -> View:
    """Return the view with the truths and nearly all of the laws; fewer draws give fewer bins."""
    bins = BINS if draws is None else min(BARS, max(8, int(draws**0.5)))
    ends = [float(law.ppf(p)) for law in laws for p in (TAIL, 1 - TAIL)]
    ends += [truth for truth in truths if truth is not None]
    if grid is None:
        return _of_densities(laws, [end for end in ends if np.isfinite(end)], bins)
    low, high = grid.index(np.array([min(ends), max(ends)], np.float64)).tolist()
    margin = max(2, (high - low) // 12)
    first, last = max(0, low - margin), min(grid.size - 1, high + margin)
    points = last - first + 1
    bins = points if points <= MAX_BARS else min(points, bins)
    cuts = np.array([first + points * i // bins for i in range(bins + 1)])
    few = cuts[:-1] if points <= MAX_BARS else cuts[:0]
    return View(_edges(grid, cuts), grid.values(few).astype(np.float64))


def _of_densities(laws: Sequence[Any], ends: list[float], bins: int) -> View:
    """Return bins within the support, without probability mass at its ends."""
    low, high = min(ends), max(ends)
    margin = (high - low) / 12 or 1.0
    first = max(low - margin, min(np.nextafter(law.ppf(0.0), np.inf) for law in laws))
    last = min(high + margin, max(np.nextafter(law.ppf(1.0), -np.inf) for law in laws))
    return View(np.linspace(first, last, bins + 1), np.zeros(0))


def outside(law: Any, view: View) -> list[str]:
    """Return a note on the probability outside all bins, or at bounds of densities, if large."""
    low, high = law.cdf(view.edges[[0, -1]])
    if low + 1.0 - high < MIN_NOTED_PROBABILITY:
        return []
    return [f"{low:.1%} lies at the left end or beyond, {1.0 - high:.1%} at the right"]


def _edges(grid: Grid, cuts: IntArray) -> FloatArray:
    """Return the midpoint below each cut; at the ends of the grid, half a step outside."""
    inner = cuts.clip(1, grid.size - 1)
    left, right = (grid.values(at).astype(np.float64) / 2 for at in (inner - 1, inner))
    return np.asarray(left + right + 2 * (cuts - inner) * (right - left))


def heights_of(law: Any, view: View) -> FloatArray:
    """Return the probabilities of the points, or densities if the view has no points."""
    if view.points.size:
        return np.asarray(law.pmf(view.points))
    return np.asarray(np.diff(law.cdf(view.edges)).clip(min=0) / np.diff(view.edges))


class Panel(NamedTuple):
    """The common properties of panels: height in inches, painter, labels, end of a linear axis."""

    height: float
    paint: Callable[[Any, int], None]
    below: str
    beside: str
    most: float


def numbers(subject: Laws, count: int, notes: list[str]) -> Panel:
    """Return a panel of numbers: bars for few points, a density for many; the truth as a line."""
    laws, truths, draws = subject.laws[:count], subject.truths[:count], subject.draws
    is_comparison = subject.priced and draws is None and not subject.by
    if is_comparison:
        laws = [laws[0].with_epsilon(laws[0].epsilon * f, any_epsilon=True) for f in FACTORS]
    view = in_sight(laws, truths, subject.grid, None if draws is None else draws.shape[1])
    few = view.points.size > 0
    most = 1.0 if few else np.inf  # the end of an axis of probabilities
    name = subject.truth_name
    if not subject.by:
        if truths[0] is None:
            notes.append("no records")
        name += f" {readable(truths[0])}" + f", revenue {readable(subject.best)}" * is_comparison
        notes += [] if is_comparison else outside(laws[0], view)

    def paint(ax: Any, group: int) -> None:
        if is_comparison:
            _compare_epsilons(ax, laws, view, most)
        else:
            drawn = None if draws is None else draws[group]
            (_points if few else _density)(ax, laws[group], drawn, view)
        ax.set_xlim(view.edges[0], view.edges[-1])
        numbered(ax, 4 if subject.by else 8)
        if truths[group] is not None:
            ax.axvline(truths[group], zorder=1, label=name, linestyle="--")

    column = label(subject.column)
    beside = "probability" if few else f"probability density (per unit of {column})"
    height = 1.6 if subject.by else 3.7
    below = f"price ({column})" if subject.priced else column
    return Panel(height, paint, below, beside, most)


def _density(ax: Any, law: Any, drawn: AnyArray | None, view: View) -> None:
    """Draw the area below the density of the law or of draws, and the law as a line."""
    exact = filled = heights_of(law, view)
    observed, known = "", ""
    if drawn is not None:
        observed, known = OBSERVED, "exact law"
        filled = np.histogram(drawn, view.edges)[0] / (drawn.size * np.diff(view.edges))
    ends = np.append(filled, filled[-1])
    ax.fill_between(view.edges, ends, step="post", alpha=FILLED, linewidth=0, label=observed)
    _line(ax, exact, view.edges, known)


def _points(ax: Any, law: Any, drawn: AnyArray | None, view: View) -> None:
    """Draw a bar for each point of the law or of draws; over draws, the law as marks or a line."""
    exact, (edges, points) = heights_of(law, view), view
    width = _widths(points, edges)
    if drawn is None:
        ax.bar(points, exact, width=width, alpha=FILLED)
        return
    frequencies = np.histogram(drawn, edges)[0] / drawn.size
    ax.bar(points, frequencies, width=width, alpha=FILLED, label=OBSERVED)
    below, above = _spread(exact, drawn.size)
    if points.size <= MAX_ERROR_BARS:
        ax.errorbar(points, exact, yerr=(below, above), fmt="D", clip_on=False, label=SPREAD)
    else:
        (line,) = ax.plot(points, exact, label=SPREAD)
        look = {"color": line.get_color(), "alpha": FILLED / 2, "linewidth": 0}
        ax.fill_between(points, exact - below, exact + above, **look)


def _widths(points: FloatArray, edges: FloatArray) -> FloatArray:
    """Return the widths of bars: as large as their neighbours permit; many bars touch."""
    share, extent = 0.8 if points.size <= MAX_ERROR_BARS else 1.0, edges[-1] - edges[0]
    nearest = 2 * share * np.minimum(points - edges[:-1], edges[1:] - points)
    return nearest.clip(THINNEST * extent, max(nearest.min(), WIDE * extent))


def _line(
    ax: Any, heights: FloatArray, edges: FloatArray, label: str = "", dash: str = "-"
) -> None:
    ax.step(edges, np.append(heights, heights[-1]), dash, where="post", label=label)


def _spread(exact: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Return two standard errors of frequencies to both sides, within 0 and 1."""
    rest = (1 - exact).clip(min=0)
    spread = 2 * np.sqrt(exact * rest / n)
    return np.minimum(spread, exact), np.minimum(spread, rest)


def _compare_epsilons(ax: Any, laws: Sequence[Any], view: View, most: float) -> None:
    """Draw the laws at a fraction of epsilon, at epsilon, and at a multiple of it."""
    heights = [heights_of(law, view) for law in laws]
    peaks = [float(h.max()) for h in heights]
    if max(peaks) > MAX_PEAK_RATIO * min(peaks):
        ax.set_yscale("log")
        ax.set_ylim(LOG_RANGE * max(peaks), min(5 * max(peaks), most))
    for h, law, dash in zip(heights, laws, (":", "-", "--"), strict=True):
        _line(ax, h, view.edges, f"ε = {readable(law.epsilon, 4)}", dash)


def selection(subject: Laws, count: int, notes: list[str]) -> Panel:
    """Return a panel of candidates: a bar for each, the likeliest over all groups on top."""
    candidates, draws = subject.candidates or (), subject.draws
    exact = np.array([law.probabilities for law in subject.laws[:count]]).clip(max=1.0)
    top = min(TOP_OF_GROUP if subject.by else TOP, len(candidates))
    order = (-exact.sum(axis=0)).argsort(kind="stable")[:top]
    if top < len(candidates):
        notes.append(f"the {top} likeliest of {len(candidates):,} candidates")
    names = [str(candidates[i]) for i in order.tolist()]

    def paint(ax: Any, group: int) -> None:
        likely = exact[group, order]
        if draws is None:
            bars(ax, names, likely)
        else:
            n, counts = draws.shape[1], np.bincount(draws[group], minlength=len(candidates))
            bars(ax, names, counts[order] / n, OBSERVED)
            look = {"fmt": "D", "clip_on": False, "label": SPREAD}
            ax.errorbar(likely, range(top), xerr=_spread(likely, n), **look)

    height = 0.45 + 0.19 * top if subject.by else 0.5 + 0.34 * top
    return Panel(height, paint, "probability", "", 1.0)
