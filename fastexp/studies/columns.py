"""The columns of a study's table, with their units, and how a row is made of sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import sketch
from .cells import Cell
from .merge import Figure, Totals
from .sums import deviation, mean, root

COLUMNS: dict[str, str] = {
    "data": "which data sets",
    "n": "records in a data set (or candidates)",
    "mechanism": "which mechanism",
    "epsilon": "nats",
    "delta": "of the guarantee; 0: pure, or rho alone",
    "rho": "of the guarantee, nats; empty: not promised",
    "neighbors": "the relation of the guarantee; empty: that of the stated sensitivity",
    "figure": "error: |output - truth| (selections: 1 where not the best); bias: output - truth; "
    "loss: best utility minus the output's; quantiles of error and loss over data sets and draws "
    "together; theorems: their bounds, averaged over data sets",
    "level": "of a quantile; for theorems one minus the failure probability",
    "datasets": "how many data sets",
    "draws": "draws for each data set",
    "exact": "mean over data sets of the expectation over the noise; units of records or utility",
    "exact_sd": "its standard deviation across data sets; same units",
    "exact_se": "standard error of `exact` as an average over all data sets of this kind",
    "monte_carlo": "the same from draws, on the same data sets",
    "monte_carlo_sd": "standard deviation across data sets of the mean of the draws",
    "low": "lower end of the 95 % interval of `monte_carlo` around what it estimates: the noise's "
    "part alone, as the data sets are the same",
    "high": "its upper end",
    "z": "(monte_carlo - exact) / its standard error",
    "agree": "whether exact and drawn figures agree: |z| <= 5",
}
Z95, LIMIT = 1.959963984540054, 5.0


def rows_of(study: Any, totals: Totals) -> list[dict[str, Any]]:
    """The table: a row a cell and figure (and level), in the study's order."""
    made = []
    for index, cell in enumerate(study._cells):
        count = totals.rows[index]
        for name, figure in totals.figures[index].items():
            kind, _, level = name.partition(" ")
            if figure.bins:
                found = [(p, _quantile(cell, kind, figure, p, study)) for p in study.levels]
            else:
                levels = float(level) if level else None
                found = [(levels, _average(figure, count, study.draws))]
            made += [_row(cell, kind, p, count, study.draws, values) for p, values in found]
    return made


def _row(
    cell: Cell, figure: str, level: float | None, count: int, draws: int, values: dict[str, Any]
) -> dict[str, Any]:
    promise = cell.subject.mechanism.guarantee
    known = {
        "data": cell.data,
        "n": cell.n,
        "mechanism": cell.mechanism,
        "epsilon": cell.epsilon,
        "delta": float(promise.delta),
        "rho": promise.rho,
        "neighbors": promise.neighbors,
        "figure": figure,
        "level": level,
        "datasets": count,
        "draws": draws,
    }
    return {column: {**known, **values}.get(column) for column in COLUMNS}


def _average(figure: Figure, count: int, draws: int) -> dict[str, Any]:
    if figure.sums is None:
        return {}
    totals = [figure.sums[i] for i in range(len(figure.sums.totals))]
    made: dict[str, Any] = {}
    if len(totals) != 3:
        spread = deviation(totals[0], totals[1], count)
        made = {
            "exact": mean(totals[0], count),
            "exact_sd": spread if count > 1 else None,
            "exact_se": spread / math.sqrt(count) if count > 1 else None,
        }
    if len(totals) == 2:
        return made
    m, squares, variance = totals[-3:] if len(totals) == 3 else totals[2:5]
    error = root(variance / draws) / count if draws > 1 else math.nan
    drawn = mean(m, count)
    made["monte_carlo"] = drawn
    made["monte_carlo_sd"] = deviation(m, squares, count) if count > 1 else None
    if draws > 1:
        made["low"], made["high"] = drawn - Z95 * error, drawn + Z95 * error
    if len(totals) == 6 and draws > 1:
        difference = mean(totals[5], count)
        made |= _verdict(difference, error, figure.most / (count * draws), drawn)
    return made


def _verdict(difference: float, error: float, step: float, scale: float) -> dict[str, Any]:
    """z and whether it is small. Rare large draws that were missed count into the variance.

    With all draws alike the sample has no variance, but a rare output may not have come yet:
    the number of those that are missing has a variance of |difference| / step of them.
    Rounding alone may leave 1e-12 of the figure.
    """
    if abs(difference) <= 1e-12 * max(abs(scale), step):
        return {"z": 0.0, "agree": True}
    z = difference / math.sqrt(error * error + abs(difference) * step)
    return {"z": z, "agree": abs(z) <= LIMIT}


def _quantile(cell: Cell, kind: str, figure: Figure, p: float, study: Any) -> dict[str, Any]:
    """Quantiles of the bins, and whether their distribution functions agree there."""
    edges, made = cell.edges(kind), {}
    resolution = cell.subject.resolution(kind, cell.n, cell.whole)
    sums = {
        name: np.cumsum(bins.dense(edges.size)) if name != "variance" else bins.dense(edges.size)
        for name, bins in figure.bins.items()
    }
    if "exact" in sums:
        made["exact"] = sketch.quantile(sums["exact"], edges, p, resolution)
    if "drawn" not in sums:
        return made
    total = float(sums["drawn"][-1])
    share = sums["drawn"] / total
    made["monte_carlo"] = sketch.quantile(share, edges, p, resolution)
    if "exact" in sums:
        rows = total / study.draws
        at = int(np.searchsorted(sums["exact"] / rows, p, "left"))
        variance = sums["variance"] / (study.draws * rows * rows)
        wide = Z95 * math.sqrt(float(variance[at]))
        for name, level in (("low", p - wide), ("high", p + wide)):
            made[name] = sketch.quantile(share, edges, min(1.0, max(0.0, level)), resolution)
        difference = float(share[at] - sums["exact"][at] / rows)
        made |= _verdict(difference, math.sqrt(float(variance[at])), 1.0 / total, 1.0)
    return made
