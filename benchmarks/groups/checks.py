"""Checks of answers by group, as those of one data set.

An answer is an array in the order of the groups, or what an engine returns: groups and answers
in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..harness.outcome import expect
from ..harness.workload import FloatArray, IntArray
from ..selection.checks import near
from .workload import GroupWork


def columns(answer: Any) -> tuple[IntArray, FloatArray]:
    """Groups and answers of an engine's result: a frame, a series, or arrays by name."""
    if isinstance(answer, dict):  # DuckDB
        groups, numbers = answer.values()
    elif type(answer).__module__.startswith("polars"):
        groups, numbers = (answer.get_column(name).to_numpy() for name in answer.columns)
    else:  # pandas
        series = answer.set_index(answer.columns[0]).iloc[:, 0] if answer.ndim == 2 else answer
        groups, numbers = series.index.to_numpy(), series.to_numpy()
    return np.asarray(groups), np.asarray(numbers, np.float64)


def by_group(work: GroupWork, answer: Any) -> FloatArray:
    """An answer for each group, in their order."""
    if isinstance(answer, np.ndarray):
        draws = answer
    else:
        groups, numbers = columns(answer)
        order = np.argsort(groups)
        every = np.array_equal(groups[order], np.arange(work.rows))
        expect(every, "not one answer for each group")
        draws = numbers[order]
    expect(draws.shape == (work.rows,), "not one answer for each group")
    expect(draws.dtype == np.float64, f"draws must be floats, got {draws.dtype}")
    expect(bool(np.isfinite(draws).all()), "a draw that is no number")
    return draws


def medians(work: GroupWork, answers: list[Any]) -> None:
    """Draws of the exact law of each group's median."""
    expect(bool(answers), "no draw to check")
    draws, (low, high) = [by_group(work, answer) for answer in answers], work.bounds
    # Repeated draws of one seed or key add nothing.
    distinct = np.stack(list({one.tobytes(): one for one in draws}.values()), axis=1)
    expect(bool(((low <= distinct) & (distinct <= high)).all()), "a draw outside the bounds")
    work.gap_laws.check(distinct, work.epsilon / 2)


def of_law(mechanism: Callable[[GroupWork], Any], work: GroupWork, answers: list[Any]) -> None:
    """Draws whose mean is that of each group's exact law on a small grid, of up to 1,000 groups."""
    expect(bool(answers), "no draw to check")
    draws, made, gap, variance = by_group(work, answers[0]), mechanism(work), 0.0, 0.0
    for g in range(0, work.rows, -(-work.rows // 1_000)):
        law = made.law(work.ragged[work.offsets[g] : work.offsets[g + 1]])
        values, mass = made.grid.values(np.arange(made.grid.size)), law.probabilities
        expect(bool((values == draws[g]).any()), "a draw is no point of the grid")
        mean = float(values @ mass)
        gap, variance = gap + draws[g] - mean, variance + float((values - mean) ** 2 @ mass)
    near(gap, variance, work.bounds[1] - work.bounds[0])


def exact(work: GroupWork, answers: list[Any]) -> None:
    """The medians themselves, of engines that do not draw."""
    for answer in answers:
        close = np.allclose(by_group(work, answer), work.medians, rtol=1e-12, atol=0.0)
        expect(close, "not the medians")
