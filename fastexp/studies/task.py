"""One task: a block of data sets through all cells of its group, to sums. A pure function."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray
from . import population, sketch
from .cells import Cell, Group, groups_of
from .sources import SOURCES
from .subjects.subject import Block

# What is summed over data sets for an average figure x (exact) and m (its mean over draws):
# x, x², m, m², the draws' variance, m - x; and the greatest |draw - m| is kept, or what it could
# be where that is more.
SUMS = ("exact", "exact_squares", "drawn", "drawn_squares", "variance", "difference")


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
    blocks = blocks_of(study)
    g, place = divmod(number, blocks)
    first = place * study.block
    rows = min(study.block, study.datasets - first)
    group = groups_of(study)[g]
    made = data_sets(group, place, rows)
    bounds = study.bounds
    limits = None if bounds is None else (float(bounds[0]), float(bounds[1]))
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
    made: dict[str, Any] = {}
    for figure in cell.averages:
        made[figure] = _average(exact.get(figure), values.get(figure))
        if "most" in made[figure]:  # a rare great one may not have come yet
            made[figure]["most"] = max(made[figure]["most"], subject.reach(block, figure))
    for figure in levelled:
        drawn_values = values.get(figure.removesuffix("_quantile"))
        made[figure] = _sketched(cell, block, figure, drawn_values)
    for figure in cell.bounds:
        for level in study.levels:
            bound = subject.bound(block, figure, 1.0 - level)
            made[f"{figure} {level!r}"] = _average(bound, None)
    return made


def _average(exact: FloatArray | None, values: FloatArray | None) -> dict[str, Any]:
    """Sums over data sets of the exact figure, of its mean over draws, and how they compare."""
    parts: list[FloatArray] = []
    made: dict[str, Any] = {}
    if exact is not None:
        parts += [exact, exact * exact]
    if values is not None:
        size = values.shape[1]
        means = np.add.reduce(values, axis=1) / size
        centred = values - means[:, None]
        variance = np.add.reduce(centred * centred, axis=1) / max(1, size - 1)
        parts += [means, means * means, variance]
        if exact is not None:
            parts.append(means - exact)
            made["most"] = float(np.abs(centred).max())
    made["sums"] = np.add.reduce(np.array(parts), axis=1).tolist()
    return made


def _sketched(cell: Cell, block: Block, figure: str, values: FloatArray | None) -> dict[str, Any]:
    """Counts of draws in bins, and the exact probabilities with the variances of counts."""
    edges = cell.edges(figure)
    made: dict[str, Any] = {}
    if cell.subject.closed:
        below = np.clip(cell.subject.within(block, figure, edges), 0.0, 1.0)
        made["exact"] = sketch.packed(np.diff(np.add.reduce(below, axis=0), prepend=0.0))
        made["variance"] = sketch.packed(np.add.reduce(below * (1.0 - below), axis=0))
    if values is not None:
        made["drawn"] = sketch.packed(sketch.counts(values, edges))
    return made
