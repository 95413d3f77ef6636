"""The columns of a study's table, with their units, and how a row is made of sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..design.cells import Cell
from ..sums import sketch
from ..sums.merge import Figure, Totals
from ..sums.sums import root

COLUMNS: dict[str, str] = {
    "data": "which data sets",
    "n": "records in a data set (or candidates)",
    "mechanism": "which mechanism",
    "epsilon": "the mechanism's parameter, nats",
    "promised_epsilon": "of the guarantee, nats; empty: rho alone is promised",
    "delta": "of the guarantee, with promised_epsilon; 0: pure",
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
    "z": "(monte_carlo - exact) / its standard error; of quantiles, of the share of draws up to "
    "the exact one",
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
                found = [(p, _quantile(cell, kind, figure, p)) for p in study.levels]
            else:
                levels = float(level) if level else None
                rounding = cell.subject.rounding(kind)
                found = [(levels, _average(figure, count, study.draws, rounding))]
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
        "promised_epsilon": promise.epsilon,
        "delta": float(promise.delta),
        "rho": promise.rho,
        "neighbors": promise.neighbors,
        "figure": figure,
        "level": level,
        "datasets": count,
        "draws": draws,
    }
    return {column: {**known, **values}.get(column) for column in COLUMNS}


def _average(figure: Figure, count: int, draws: int, rounding: float) -> dict[str, Any]:
    """Means, their spread over data sets, the interval of the draws, and whether both agree."""
    made: dict[str, Any] = {}
    if "exact" in figure.moments:
        found = figure.moments["exact"]
        made = {"exact": found.mean, "exact_sd": found.deviation}
        if found.deviation is not None:
            made["exact_se"] = found.deviation / math.sqrt(count)
    if "drawn" in figure.moments:
        found = figure.moments["drawn"]
        made |= {"monte_carlo": found.mean, "monte_carlo_sd": found.deviation}
        if draws > 1 or "law" in figure.sums:
            made |= _noise(figure, found.mean, count, draws, rounding)
    return made


def _noise(figure: Figure, drawn: float, count: int, draws: int, rounding: float) -> dict[str, Any]:
    """The interval of the draws' noise, and z.

    The variance is the law's where that is known, or the sample's if it is greater: of rare
    great errors a sample may have none yet, or already one.
    """
    known = [figure.sums[name].total for name in ("sample", "law") if name in figure.sums]
    error = root(max(known) / draws) / count
    made: dict[str, Any] = {"low": drawn - Z95 * error, "high": drawn + Z95 * error}
    if "difference" in figure.sums:
        difference = float(figure.sums["difference"].total / count)
        step, least = figure.most / (count * draws), 1e-12 * abs(drawn) + rounding
        made |= _verdict(difference, error, step, least)
    return made


def _verdict(difference: float, error: float, step: float, least: float) -> dict[str, Any]:
    """z and whether it is small. Rounding alone may leave `least`.

    Where the law's variance is not known, one draw can move the mean by up to `step`, and
    |difference| / step draws that are missing have a variance of as many.
    """
    if abs(difference) <= least:
        return {"z": 0.0, "agree": True}
    variance = error * error + abs(difference) * step
    z = difference / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, difference)
    return {"z": z, "agree": abs(z) <= LIMIT}


def _quantile(cell: Cell, kind: str, figure: Figure, p: float) -> dict[str, Any]:
    """Quantiles of the bins, and whether their distribution functions agree there."""
    edges, made = cell.edges(kind), {}
    resolution = cell.subject.resolution(kind, cell.n, cell.whole)
    sums = {name: np.array(bins.sums(), np.float64) for name, bins in figure.bins.items()}
    if "exact" in sums:
        made["exact"] = sketch.quantile(sums["exact"], edges, p, resolution)
    if "drawn" not in sums:
        return made
    total = float(sums["drawn"][-1])
    share = sums["drawn"] / total
    made["monte_carlo"] = sketch.quantile(share, edges, p, resolution)
    if "exact" in sums:
        law = sums["exact"] / sums["exact"][-1]
        at = min(int(np.searchsorted(law, p, "left")), edges.size - 1)
        # At most the variance of draws that know nothing of their data set.
        error = math.sqrt(float(law[at] * (1.0 - law[at])) / total)
        for name, level in (("low", p - Z95 * error), ("high", p + Z95 * error)):
            made[name] = sketch.quantile(share, edges, min(1.0, max(0.0, level)), resolution)
        known = edges[at] > cell.subject.rounding(kind)
        difference = float(share[at] - law[at]) if known else 0.0
        made |= _verdict(difference, error, 0.0 if error > 0 else 1.0 / total, 1e-8)
    return made
