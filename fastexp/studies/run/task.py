"""One task: a block of data sets through all cells of its group, to sums. A pure function."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.rounding import check_rounding
from ..._typing import AnyArray, FloatArray
from ..design import population
from ..design.cells import Cell, Group, groups_of
from ..design.data_sources import SOURCES
from ..design.settings import takes_utilities
from ..subjects.subject import Block
from ..sums import sketch

# Of an average figure a task gives moments (sum, and squares about the mean) of x, the exact
# figure of each data set, and of m, the mean of its draws; and sums of m - x and of the draws'
# variance, as it is in the sample and by the law.


def tasks_of(study: Any) -> int:
    """How many tasks a study has; they are numbered from 0."""
    return len(groups_of(study)) * blocks_of(study)


def blocks_of(study: Any) -> int:
    """Tasks of each group."""
    return -(-int(study.datasets) // int(study.block))


def run_task(study: Any, number: int) -> dict[str, Any]:
    """The sums of one task, as they are written down.

    Parameters
    ----------
    study : Study
        What is studied.
    number : int
        Of the task; below `tasks_of(study)`.

    Returns
    -------
    dict
        {"task": number, "rows": data sets, "cells": one entry a cell of the group}.
    """
    check_rounding()
    blocks = blocks_of(study)
    g, place = divmod(number, blocks)
    first = place * study.block
    rows = min(study.block, study.datasets - first)
    group = groups_of(study)[g]
    made = data_sets(group, place, rows)
    bounds = study.bounds
    free = bounds is None or takes_utilities(group.data)
    limits = None if free else (float(bounds[0]), float(bounds[1]))
    cells = [cell for cell in study._cells if cell.group == g]
    block = Block(made, first, limits, [cell.subject for cell in cells])
    return {"task": number, "rows": rows, "cells": [_sums(cell, block, study) for cell in cells]}


def data_sets(group: Group, place: int, rows: int) -> AnyArray:
    """The data sets of one block: a matrix, a data set a row."""
    seed = np.random.SeedSequence(group.key, spawn_key=(place,))
    random = np.random.Generator(np.random.SFC64(seed))
    if "file" in group.data:
        return population.resampled(random, rows, group.n, group.data)
    source = SOURCES[group.data["name"]]
    settings = {key: value for key, value in group.data.items() if key not in ("name", "label")}
    return source.make(random, rows, group.n, settings)


def _sums(cell: Cell, block: Block, study: Any) -> dict[str, Any]:
    """Averages, sketches and bounds of one cell."""
    subject, size = cell.subject, study.draws
    exact = subject.exact(block, cell.averages) if cell.averages else {}
    levelled = cell.levelled
    wanted = {*cell.averages, *(figure.removesuffix("_quantile") for figure in levelled)}
    values: dict[str, Any] = {}
    if size and wanted:
        drawn = subject.draw(block, size, cell.key)
        values = subject.values(block, drawn, tuple(wanted))
    variances = subject.variances(block, exact) if values and exact else {}
    made: dict[str, Any] = {}
    for figure in cell.averages:
        drawn_values, variance = values.get(figure), variances.get(figure)
        made[figure] = _average(exact.get(figure), drawn_values, variance)
        if drawn_values is not None and figure in exact and variance is None:
            made[figure]["most"] = subject.reach(block, figure)
    for figure in levelled:
        drawn_values = values.get(figure.removesuffix("_quantile"))
        made[figure] = _sketched(cell, block, figure, drawn_values)
    for figure in cell.bounds:
        for level in study.levels:
            bound = subject.bound(block, figure, 1.0 - level)
            made[f"{figure} {level!r}"] = _average(bound, None)
    return made


def _average(
    exact: FloatArray | None, values: FloatArray | None, variance: FloatArray | None = None
) -> dict[str, Any]:
    """What is added up of an average figure, exact and drawn; see above."""
    moments, sums = {}, {}
    if exact is not None:
        moments["exact"] = _moments(exact)
    if values is not None:
        size = values.shape[1]
        means = np.add.reduce(values, axis=1) / size
        centred = values - means[:, None]
        squares = np.add.reduce(centred * centred, axis=1) / max(1, size - 1)
        moments["drawn"], sums["sample"] = _moments(means), float(np.add.reduce(squares))
        if exact is not None:
            sums["difference"] = float(np.add.reduce(means - exact))
        if variance is not None:
            sums["law"] = float(np.add.reduce(np.maximum(variance, 0.0)))
    return {"moments": moments, "sums": sums}


def _moments(x: FloatArray) -> list[float]:
    """The sum, and the squares about the mean."""
    centred = x - x[0]  # equal numbers have no spread, however their mean is rounded
    centred -= np.add.reduce(centred) / x.size
    return [float(np.add.reduce(x)), float(np.add.reduce(centred * centred))]


def _sketched(cell: Cell, block: Block, figure: str, values: FloatArray | None) -> dict[str, Any]:
    """Counts of draws in bins, and what is expected of one draw for each data set."""
    edges = cell.edges(figure)
    made: dict[str, Any] = {}
    if cell.subject.closed:
        below = np.clip(cell.subject.within(block, figure, edges), 0.0, 1.0)
        sums = np.append(np.add.reduce(below, axis=0), float(below.shape[0]))
        made["exact"] = sketch.packed(np.diff(sketch.quanta(sums), prepend=0))
    if values is not None:
        made["drawn"] = sketch.packed(sketch.counts(values, edges))
    return made
