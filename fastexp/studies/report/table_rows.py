"""The columns of a study's table, with their units, and its rows, from sums."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any, TypeAlias

import numpy as np

from ..design.design import Cell, Design
from ..sums.totals import Figure, Totals, edges_of, quantile, root

COLUMNS: dict[str, str] = {
    "data": "which data sets",
    "n": "records in a data set (or candidates)",
    "mechanism": "which mechanism",
    "epsilon": "the mechanism's parameter, nats",
    "promised_epsilon": "of the guarantee, nats; empty: only rho is promised",
    "delta": "of the guarantee, with promised_epsilon; 0: pure",
    "rho": "of the guarantee, nats; empty: not promised",
    "neighbors": "the relation of the guarantee; empty: that of the stated sensitivity",
    "figure": "error: |output - truth| (selections: 1 where not the best); bias: output - truth; "
    "loss: best utility minus the output's; quantiles of error and loss over data sets and draws "
    "together; theorems: their bounds, averaged over data sets; of m quantiles the mean over them, "
    "rank_error: records between output and truth, wrong: the share that are not the true "
    "quantile, worst_error, worst_rank_error: of the worst one of each draw",
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
Row: TypeAlias = dict[str, Any]  # column to value
Z95, LIMIT = 1.959963984540054, 5.0


def rows_of(study: Design, totals: Totals) -> list[Row]:
    """The table: a row a cell and figure (and level), in the study's order."""
    rows = []
    for cell, figures in zip(study.cells, totals.figures, strict=True):
        count = totals.rows[cell.scenario]
        for name, figure in figures.items():
            kind, _, level = name.partition(" ")
            by_level: list[tuple[float | None, Row]]
            if figure.bins:
                by_level = [(p, _quantile(cell, kind, figure, p)) for p in cell.levels]
            else:
                p = float(level) if level else None
                rounding = cell.subject.rounding(kind)
                by_level = [(p, _average(figure, count, study.draws, rounding))]
            rows += [_row(cell, kind, p, count, study.draws, values) for p, values in by_level]
    return rows


def _row(cell: Cell, figure: str, level: float | None, count: int, draws: int, values: Row) -> Row:
    row: Row = {name: getattr(cell, name) for name in ("data", "n", "mechanism", "epsilon")}
    promise = cell.subject.mechanism.guarantee
    if promise is not None:
        row |= {"promised_epsilon": promise.epsilon, "delta": float(promise.delta)}
        row |= {"rho": promise.rho, "neighbors": promise.neighbors}
    row |= {"figure": figure, "level": level, "datasets": count, "draws": draws, **values}
    return {column: row.get(column) for column in COLUMNS}


def _average(figure: Figure, count: int, draws: int, rounding: float) -> Row:
    row: Row = {}
    if "exact" in figure.moments:
        exact = figure.moments["exact"]
        row = {"exact": exact.mean, "exact_sd": exact.deviation}
        if exact.deviation is not None:
            row["exact_se"] = exact.deviation / math.sqrt(count)
    if "drawn" in figure.moments:
        means = figure.moments["drawn"]
        row |= {"monte_carlo": means.mean, "monte_carlo_sd": means.deviation}
        if draws > 1 or "law" in figure.sums:
            row |= _noise(figure, means.mean, count, draws, rounding)
    return row


def _noise(figure: Figure, drawn: float, count: int, draws: int, rounding: float) -> Row:
    variances = [figure.sums[name] for name in ("sample", "law") if name in figure.sums]
    error = root(max(variances) / draws) / count
    row: Row = {"low": drawn - Z95 * error, "high": drawn + Z95 * error}
    if "difference" in figure.sums:
        difference = float(figure.sums["difference"] / count)
        step, least = figure.most / (count * draws), 1e-12 * abs(drawn) + rounding
        row |= _verdict(difference, error, step, least)
    return row


def _verdict(difference: float, error: float, step: float, least: float) -> Row:
    """z and whether it is small. Rounding alone may leave `least`.

    Where the law's variance is not known, one draw can move the mean by up to `step`, and
    |difference| / step draws that are missing have a variance of as many.
    """
    if abs(difference) <= least:
        return {"z": 0.0, "agree": True}
    variance = error * error + abs(difference) * step
    z = difference / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, difference)
    return {"z": z, "agree": abs(z) <= LIMIT}


def _quantile(cell: Cell, kind: str, figure: Figure, p: float) -> Row:
    edges = edges_of(cell, kind)
    row: Row = {}
    resolution = cell.subject.resolution(kind, cell.n, cell.whole)
    sums = {name: np.cumsum(bins).astype(np.float64) for name, bins in figure.bins.items()}
    if "exact" in sums:
        row["exact"] = quantile(sums["exact"], edges, p, resolution)
    if "drawn" not in sums:
        return row
    total = float(sums["drawn"][-1])
    share = sums["drawn"] / total
    row["monte_carlo"] = quantile(share, edges, p, resolution)
    if "exact" in sums:
        law = sums["exact"] / sums["exact"][-1]
        at = min(int(np.searchsorted(law, p, "left")), edges.size - 1)
        # At most the variance of draws that know nothing of their data set.
        error = math.sqrt(float(law[at] * (1.0 - law[at])) / total)
        for name, level in (("low", p - Z95 * error), ("high", p + Z95 * error)):
            row[name] = quantile(share, edges, min(1.0, max(0.0, level)), resolution)
        known = edges[at] > cell.subject.rounding(kind)
        difference = float(share[at] - law[at]) if known else 0.0
        row |= _verdict(difference, error, 0.0 if error > 0 else 1.0 / total, 1e-8)
    return row


def csv_text(rows: list[Row]) -> str:
    """Rows as CSV, with nothing for None; numbers read back the same."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def json_text(table: dict[str, Any]) -> str:
    """What `StudyResults.to_dict` gives as JSON."""
    return json.dumps(table, indent=1) + "\n"
