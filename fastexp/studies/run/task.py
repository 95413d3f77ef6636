"""A task: the sums of all cells of a scenario over a block of data sets. A pure function."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.rounding import check_rounding
from ..._typing import AnyArray, FloatArray
from ...errors import StudyError
from ...laws.figures import SQUARES
from ..design.code import Code
from ..design.design import Cell, Design, Scenario
from ..subjects.subject import Block, random_of
from ..sums.totals import FigureSums, TaskResult, counts, edges_of, masses, packed

LEAST_SHARE = 1e-4  # of the rarer side of a level: so much mass may be spread over 16 bins

# Let x be the exact figure of a data set, and m the mean of its draws. For each averaged figure a
# task returns the moments (the sum, and the sum of squares about the mean) of x and of m, and the
# sums of m - x, of the sample variance of draws, and of their variance by the law.


def run_task(design: Design, number: int) -> TaskResult:
    """Return the sums of a task in the form that is saved; `number` is below `design.tasks`."""
    check_rounding()
    index, place = divmod(number, design.blocks)
    first = place * design.block_size
    rows = min(design.block_size, design.datasets - first)
    scenario = design.scenarios[index]
    cells = [cell for cell in design.cells if cell.scenario == index]
    block = Block(data_sets(scenario, place, first, rows), first, scenario.bounds)
    sums = [_sums(cell, block, design.draws) for cell in cells]
    return {"task": number, "rows": rows, "cells": sums}


def data_sets(scenario: Scenario, place: int, first: int, rows: int) -> AnyArray:
    """Return the data sets of a block, from number `first` on, as the rows of a matrix."""
    source, key = scenario.source, scenario.key
    if source.apart:
        return source.of_each((random_of(key, first + row) for row in range(rows)), scenario.n)
    return source.data_sets(random_of(key, place), rows, scenario.n)


def _sums(cell: Cell, block: Block, size: int) -> dict[str, FigureSums]:
    subject = cell.subject
    squares = [SQUARES[name] for name in cell.averages if name in SQUARES] if size else []
    names = {*cell.averages, *squares}
    exact = subject.exact(block, names) if cell.averages and subject.closed else {}
    needed = {*cell.averages, *(figure.removesuffix("_quantile") for figure in cell.quantiles)}
    values: dict[str, FloatArray] = {}
    if size and (needed or cell.callables):
        outputs = subject.draw(block, size, cell.key)
        values = subject.values(block, outputs, tuple(needed)) if needed else {}
        for name, code in cell.callables:
            values[name] = _of_user(code, outputs, subject.truths(block))
    sums: dict[str, FigureSums] = {}
    for figure in cell.averages:
        drawn_values, square = values.get(figure), exact.get(SQUARES.get(figure, ""))
        variance = None if square is None else square - exact[figure] ** 2
        sums[figure] = _average(exact.get(figure), drawn_values, variance)
        if drawn_values is not None and figure in exact and variance is None:
            sums[figure]["most"] = subject.reach(block, figure)
    for figure in cell.quantiles:
        drawn_values = values.get(figure.removesuffix("_quantile"))
        sums[figure] = _sketched(cell, block, figure, drawn_values)
    for figure in cell.theorems:
        for level in cell.levels:
            bound = subject.bound(block, figure, 1.0 - level)
            sums[f"{figure} {level!r}"] = _average(bound, None)
    return sums | {name: _average(None, values[name]) for name, _ in cell.callables}


def _of_user(code: Code, outputs: AnyArray, truths: AnyArray) -> FloatArray:
    function, rows = code.here(), []
    for answers, truth in zip(outputs, truths.tolist(), strict=True):
        row = np.asarray(function(answers.copy(), truth), dtype=np.float64)
        if row.shape != answers.shape[:1] or not np.isfinite(row).all():
            raise StudyError(f"{code.name} must give size = {answers.shape[0]} finite numbers")
        rows.append(row)
    return np.array(rows)


def _average(
    exact: FloatArray | None, values: FloatArray | None, variance: FloatArray | None = None
) -> FigureSums:
    """Return the sums of an averaged figure, exact and drawn, as described above."""
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
    centred = x - x[0]  # so that equal numbers have no spread by rounding errors of their mean
    centred -= np.add.reduce(centred) / x.size
    return [float(np.add.reduce(x)), float(np.add.reduce(centred * centred))]


def _sketched(cell: Cell, block: Block, figure: str, values: FloatArray | None) -> FigureSums:
    edges = edges_of(cell, figure)
    bins: dict[str, Any] = {}
    if cell.subject.closed:

        def below(at: FloatArray) -> FloatArray:
            shares = np.clip(cell.subject.within(block, figure, at), 0.0, 1.0)
            return np.asarray(np.add.reduce(shares, axis=0))

        least = LEAST_SHARE * min(min(p, 1.0 - p) for p in cell.levels)
        bins["exact"] = packed(masses(below, block.rows.shape[0], edges, least))
    if values is not None:
        bins["drawn"] = packed(counts(values, edges))
    return {"bins": bins}
