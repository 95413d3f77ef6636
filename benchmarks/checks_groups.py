"""Checks of answers by group, as `checks_numbers.py` has them for one data set.

An answer is an array in the order of the groups, or what an engine returns: groups and answers
in any order.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from .checks import expect, near
from .workload import FloatArray, IntArray
from .workload_groups import GroupWork

Columns = tuple[IntArray, FloatArray]


def columns(answer: Any) -> Columns:
    """Groups and answers of an engine's result: a frame, a series, or arrays by name."""
    if hasattr(answer, "get_column"):  # Polars
        groups, found = (answer.get_column(name).to_numpy() for name in answer.columns)
    elif hasattr(answer, "iloc"):  # pandas
        series = answer.set_index(answer.columns[0]).iloc[:, 0] if answer.ndim == 2 else answer
        groups, found = series.index.to_numpy(), series.to_numpy()
    else:  # DuckDB
        groups, found = answer.values()
    return np.asarray(groups), np.asarray(found, np.float64)


def by_group(work: GroupWork, answer: Any) -> FloatArray:
    """An answer for each group, in their order."""
    if isinstance(answer, np.ndarray):
        found = answer
    else:
        groups, values = columns(answer)
        order = np.argsort(groups)
        every = np.array_equal(groups[order], np.arange(work.rows))
        expect(every, "not one answer for each group")
        found = values[order]
    expect(found.shape == (work.rows,), "not one answer for each group")
    expect(found.dtype == np.float64, f"draws must be floats, got {found.dtype}")
    expect(bool(np.isfinite(found).all()), "a draw that is no number")
    return found


def medians(work: GroupWork, answers: list[Any]) -> None:
    """Draws of the exact law of each group's median.

    Means of |n - 2 i| and n - 2 i for gap i of n records, and the mean place within the gap.
    """
    expect(bool(answers), "no draw to check")
    lower, upper = work.edges
    moments, sums, places, drawn = work.moments_by_group, np.zeros(2), 0.0, 0
    for draws in distinct([by_group(work, answer) for answer in answers]):
        inside = (work.bounds[0] <= draws) & (draws <= work.bounds[1])
        expect(bool(inside.all()), "a draw outside the bounds")
        passed = lower < np.repeat(draws, work.gaps)
        gap = work.starts + np.maximum(np.add.reduceat(passed.astype(np.int64), work.starts) - 1, 0)
        signed = work.signed[gap]
        sums += (np.abs(signed) - moments[0]).sum(), (signed - moments[2]).sum()
        places += float(((draws - lower[gap]) / (upper[gap] - lower[gap]) - 0.5).sum())
        drawn += 1
    for total, variance in zip(sums, moments[1::2], strict=True):
        near(float(total), drawn * float(variance.sum()), sqrt(float(variance.max())))
    near(places, drawn * work.rows / 12, 0.5)


def distinct(draws: list[FloatArray]) -> list[FloatArray]:
    """Without repeated draws of one seed or key, which add nothing."""
    return list({one.tobytes(): one for one in draws}.values())


def exact(work: GroupWork, answers: list[Any]) -> None:
    """The medians themselves, of engines that do not draw."""
    for answer in answers:
        found = by_group(work, answer)
        expect(np.allclose(found, work.medians, rtol=1e-12, atol=0.0), "not the medians")
