"""What a picture of laws is of, and one panel of it: numbers or candidates, with draws beside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._parameters.descriptions import Described, name_of, statistic_of
from .._parameters.grid import Grid
from .._parameters.text import readable
from .._typing import AnyArray, FloatArray, IntArray
from .canvas import FILLED, LONGEST, label, named, numbered

TOP, TOP_OF_GROUP = 20, 8  # candidates
WIDEST = 42  # characters of a candidate
BARS = 120  # of draws on a fine grid, at most
FACTORS = 0.2, 1.0, 5.0  # of epsilon, where laws are compared
WIDER = 15.0  # times the least peak, and the density needs a logarithmic scale
FLOOR = 1e-5  # of the highest density: the lower end of that scale
FENCE = 50  # points, beyond which error bars hide what they stand for
OBSERVED = "observed frequency"
FEW, MANY = 160, 8000  # points whose probabilities are shown; steps of a density
BINS = 2000  # of a finer grid
TAIL = 0.005  # of the probability is out of sight at either end
THINNEST, WIDE = 0.003, 0.03  # of the picture: a bar, at least; one of uneven points, at most
LEAST = 0.0005  # probability that is worth a note
SPREAD = "exact probability ± 2 standard errors"


@dataclass(frozen=True)
class Laws:
    """Laws of one mechanism, one a group, and what they are compared with."""

    mechanism: Described | None  # one that a query takes, or over utilities; None: not known
    column: str  # what its records are called
    laws: Sequence[Any]  # with `cdf` and `ppf`, or `probabilities`; of top-k of the first place
    truths: Sequence[Any]  # of each group, or None; of candidates counts, or None of utilities
    grid: Grid | None = None  # of numbers; None: their laws are densities
    candidates: Sequence[Any] | None = None  # None of numbers
    records: Sequence[int] = ()  # how many count, by group; of one data set none
    by: Sequence[str] = ()  # the columns of groups; none where all rows are one group
    labels: Sequence[Mapping[str, Any]] = ()  # the name of each group, by column
    draws: AnyArray | None = None  # (groups, size): numbers, or candidates by number
    best: float | None = None  # the best revenue of prices

    @property
    def names(self) -> list[str]:
        """The groups in words."""
        return [", ".join(map(str, label.values())) for label in self.labels]

    @property
    def truth_name(self) -> str:
        """What the true number is called."""
        name = "value" if self.mechanism is None else statistic_of(self.mechanism)
        return "best price" if self.priced else f"true {name}"

    @property
    def priced(self) -> bool:
        """Whether the numbers are prices."""
        return self.mechanism is not None and name_of(self.mechanism) == "price"


class View(NamedTuple):
    """The ends of bins in sight; the grid points, if each bin is one; whether they are few."""

    edges: FloatArray
    points: AnyArray | None
    few: bool


def in_sight(laws: Sequence[Any], truths: Sequence[Any], grid: Grid | None) -> View:
    """The truths and nearly all of the laws, on one grid or on none."""
    ends = [float(law.ppf(p)) for law in laws for p in (TAIL, 1 - TAIL)]
    ends += [truth for truth in truths if truth is not None]
    if grid is None:
        return _of_densities(laws, [end for end in ends if np.isfinite(end)])
    low, high = grid.index(np.array([min(ends), max(ends)], np.float64)).tolist()
    margin = max(2, (high - low) // 12)
    first, last = max(0, low - margin), min(grid.size - 1, high + margin)
    points = last - first + 1
    bins = points if points <= MANY else BINS
    cuts = np.array([first + points * i // bins for i in range(bins + 1)])
    single = grid.values(cuts[:-1]) if bins == points else None
    return View(_edges(grid, cuts), single, points <= FEW)


def _of_densities(laws: Sequence[Any], ends: list[float]) -> View:
    """Bins within the support, whose ends may have a mass of their own: that is not in a bin."""
    low, high = min(ends), max(ends)
    margin = (high - low) / 12 or 1.0
    first = max(low - margin, min(np.nextafter(law.ppf(0.0), np.inf) for law in laws))
    last = min(high + margin, max(np.nextafter(law.ppf(1.0), -np.inf) for law in laws))
    return View(np.linspace(first, max(last, first + margin / 2), BINS + 1), None, False)


def outside(law: Any, view: View, grid: Grid | None) -> list[str]:
    """A note on the probability out of sight, or of a density at its bounds, if there is much."""
    if grid is None:
        low, high = float(law.ppf(0.0)), float(law.ppf(1.0))
        masses = (law.cdf(low), low), (1.0 - law.cdf(np.nextafter(high, -np.inf)), high)
        at_bounds = [f"{p:.1%} at {readable(x)}" for p, x in masses if p >= LEAST]
        if at_bounds:
            return [" and ".join(at_bounds)]
    low, high = law.cdf(view.edges[[0, -1]])
    out = 1.0 - (high - low)
    return [f"{out:.1%} lies outside the picture"] if out >= LEAST else []


def _edges(grid: Grid, cuts: IntArray) -> FloatArray:
    """Numbers half-way between the points on either side of each cut."""
    right = grid.values(np.minimum(cuts, grid.size - 1)).astype(np.float64)
    left = grid.values(np.maximum(cuts - 1, 0)).astype(np.float64)
    edges: FloatArray = left / 2 + right / 2
    if cuts[0] == 0:
        edges[0] -= (grid.values(cuts[:1] + 1)[0] - right[0]) / 2
    if cuts[-1] == grid.size:
        edges[-1] += (left[-1] - grid.values(cuts[-1:] - 2)[0]) / 2
    return edges


def heights_of(law: Any, view: View) -> FloatArray:
    """Probabilities of single points, or densities."""
    if view.points is not None:
        masses: FloatArray = law.pmf(view.points.astype(np.float64))
    else:
        masses = np.diff(law.cdf(view.edges)).clip(min=0)
    return masses if view.few else masses / np.diff(view.edges)


class Panel(NamedTuple):
    """What all panels have: height in inches, a painter, labels, where the axis beside ends."""

    height: float
    paint: Callable[[Any, int], None]
    below: str
    beside: str
    most: float = np.inf


def numbers(subject: Laws, count: int, notes: list[str], where: Any) -> Panel:
    """Laws of numbers: bars for few points, the density for many; the truth as a line."""
    laws, truths, grid = subject.laws[:count], subject.truths[:count], subject.grid
    three = subject.priced and subject.draws is None and not subject.by
    if three:
        laws = [laws[0].with_epsilon(laws[0].epsilon * f, any_epsilon=True) for f in FACTORS]
        notes.append("at epsilon, 5 times less and 5 times more")
    view = in_sight(laws, truths, grid)
    most = 1.0 if view.few else np.inf  # of an axis of probabilities
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
            _exact(ax, heights_of(laws[group], view), view)
        ax.set_xlim(view.edges[0], view.edges[-1])
        numbered(ax, 4 if subject.by else 8)
        truth = truths[group]
        if truth is not None and view.edges[0] <= truth <= view.edges[-1]:
            # The legend names it where no heading does.
            name = "" if where is None else truth_name.replace(" with a ", "\n")
            ax.axvline(truth, zorder=1, label=name, linestyle="--")

    column = label(subject.column)
    beside = "probability" if view.few else f"probability density (per unit of {column})"
    height = 1.6 if subject.by else 3.7
    below = f"price ({column})" if subject.priced else column
    return Panel(height, paint, below, beside, most)


def _exact(ax: Any, heights: FloatArray, view: View) -> None:
    """The law alone: bars of probability, or the area below a density."""
    if view.few:
        _bars(ax, heights, view)
    else:
        _area(ax, heights, view.edges)
        _line(ax, heights, view.edges)


def _bars(ax: Any, heights: FloatArray, view: View, label: str = "") -> None:
    """A bar a point, as wide as its neighbours let it; many touch each other."""
    points = np.asarray(view.points).astype(np.float64)
    share = 0.8 if points.size <= FENCE else 1.0
    gaps, extent = np.diff(points), view.edges[-1] - view.edges[0]
    nearest = np.minimum(np.append(gaps, gaps[-1]), np.append(gaps[0], gaps))
    widest = max(share * gaps.min(), WIDE * extent)
    width = np.clip(share * nearest, THINNEST * extent, widest)
    ax.bar(points, heights, width=width, alpha=FILLED, label=label)


def _area(ax: Any, heights: FloatArray, edges: FloatArray, label: str = "") -> None:
    ends = np.append(heights, heights[-1])
    ax.fill_between(edges, ends, step="post", alpha=FILLED, linewidth=0, label=label)


def _line(
    ax: Any, heights: FloatArray, edges: FloatArray, label: str = "", dash: str = "-"
) -> None:
    ax.step(edges, np.append(heights, heights[-1]), dash, where="post", label=label)


def _beside(ax: Any, law: Any, drawn: AnyArray, view: View) -> None:
    """Draws as bars, the exact law over them as marks or as a line."""
    heights, n = heights_of(law, view), drawn.size
    if not view.few:
        bins = min(heights.size, BARS, max(8, int(n**0.5)))
        edges = view.edges[np.arange(bins + 1) * heights.size // bins]
        counts, _ = np.histogram(drawn, edges)
        _area(ax, counts / (n * np.diff(edges)), edges, OBSERVED)
        same = np.diff(law.cdf(edges)).clip(min=0) / np.diff(edges)  # in the bins of the bars
        _line(ax, same, edges, "exact law")
        return
    points = np.asarray(view.points)
    counts, _ = np.histogram(drawn, view.edges)
    _bars(ax, counts / n, view, label=OBSERVED)
    below, above = _spread(heights, n)
    if points.size <= FENCE:
        ax.errorbar(points, heights, yerr=(below, above), fmt="D", clip_on=False, label=SPREAD)
    else:
        (line,) = ax.plot(points, heights, label=SPREAD)
        look = {"color": line.get_color(), "alpha": FILLED / 2, "linewidth": 0}
        ax.fill_between(points, heights - below, heights + above, **look)


def _spread(exact: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Two standard errors of frequencies to both sides, within 0 and 1."""
    rest = (1 - exact).clip(min=0)
    spread = 2 * np.sqrt(exact * rest / n)
    return np.minimum(spread, exact), np.minimum(spread, rest)


def _three(ax: Any, laws: Sequence[Any], view: View) -> None:
    """The laws at a fraction of epsilon, at epsilon and at a multiple of it."""
    heights = [heights_of(law, view) for law in laws]
    peaks = [float(h.max()) for h in heights]
    if max(peaks) > WIDER * min(peaks):
        top = 5 * max(peaks)
        ax.set_yscale("log")
        ax.set_ylim(FLOOR * max(peaks), min(top, 1.0) if view.few else top)
    for h, law, dash in zip(heights, laws, (":", "-", "--"), strict=True):
        _line(ax, h, view.edges, f"ε = {readable(law.epsilon, 4)}", dash)


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
        places, name = range(top), "" if draws is None else OBSERVED
        ax.barh(places, shares[group, order], height=0.66, alpha=FILLED, label=name)
        if draws is not None:
            likely = exact[group, order]
            spread = _spread(likely, draws.shape[1])
            ax.errorbar(likely, places, xerr=spread, fmt="D", clip_on=False, label=SPREAD)
        numbered(ax)
        named(ax, names)
        ax.set_xlim(0, most)

    height = 0.45 + 0.19 * top if subject.by else 0.5 + 0.34 * top
    return Panel(height, paint, "probability", "")
