"""Checks of accuracy studies and smooth sensitivities, as `checks.py` has them for selections.

A table's cells are mean errors over data sets. fastexp's exact ones are compared, to seven
digits, with formulas of `workload_study.py` on the very data sets of its study; means of other
data sets, drawn or not, with the exact mean over `StudyWork.records`, to six standard errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import ours_study, rivals_smooth
from .checks import expect, near
from .workload import FloatArray
from .workload_study import CELLS, RATE, StudyWork, errors

DIGITS, ROUNDING = 1e-7, 1e-12  # the grid's steps show in cells of small errors; of float64
QUADRATIC = 20_000  # records up to which a reference of O(n**2) is waited for
Check = Callable[[StudyWork, list[Any]], None]


def exact_table(work: StudyWork, answers: list[Any]) -> None:
    """Exact mean errors of the study's own data sets."""
    wanted = errors(data_sets(work), work.bounds)[:, 0].mean(axis=1)
    for answer in _tables(answers):
        off = float(np.abs(answer / wanted - 1).max())
        expect(off <= DIGITS, f"a mean error is off by {off:.2g} of it")


def data_sets(work: StudyWork) -> FloatArray:
    """The study's data sets, clamped and in order between the bounds."""
    from fastexp.studies.design.cells import groups_of
    from fastexp.studies.run import task

    study = ours_study.table1(work, 0)
    (group,), blocks = groups_of(study), range(task.blocks_of(study))
    sizes = [min(study.block, work.rows - place * study.block) for place in blocks]
    rows = [task.data_sets(group, place, size) for place, size in zip(blocks, sizes, strict=True)]
    knots = np.pad(np.sort(np.clip(np.concatenate(rows), *work.bounds), axis=1), ((0, 0), (1, 1)))
    knots[:, 0], knots[:, -1] = work.bounds
    return knots


def expected(work: StudyWork, answers: list[Any]) -> None:
    """Means of `rows` other data sets, exact for each."""
    _means(work, answers, np.zeros(len(CELLS)))


def drawn(work: StudyWork, answers: list[Any]) -> None:
    """The same of `size` draws each."""
    _means(work, answers, work.spreads[2] / work.size)


def _means(work: StudyWork, answers: list[Any], noise: FloatArray) -> None:
    """Of two sets of data sets, theirs and those that are known."""
    mean, between, _ = work.spreads
    found = _tables(answers)[0]
    known = work.knots.shape[0]
    for cell, difference, b, w in zip(CELLS, found - mean, between, noise, strict=True):
        variance = (b + w) / work.rows + b / known
        largest = 2 * np.sqrt(b + w) / min(work.rows, known)
        try:
            near(float(difference), float(variance), float(largest))
        except AssertionError as problem:
            raise type(problem)(f"cell {cell}: {problem}") from None


def _tables(answers: list[Any]) -> list[FloatArray]:
    expect(bool(answers), "no table to check")
    for answer in answers:
        shape = np.shape(answer)
        expect(shape == (len(CELLS),), f"{len(CELLS)} cells were asked for, got {shape}")
    found = [np.asarray(answer, np.float64) for answer in answers]
    expect(all(bool(np.isfinite(one).all()) for one in found), "a mean error that is no number")
    return found


def smooth(work: StudyWork, answers: list[Any]) -> None:
    """The greatest weighted window, to 12 digits."""
    few = work.k <= QUADRATIC
    reference = (rivals_smooth.quadratic if few else rivals_smooth.stopping)(work)()
    for answer in answers:
        close = abs(answer - reference) <= ROUNDING * reference
        wanted = f"the smooth sensitivity at beta = {RATE} is {reference!r}"
        expect(bool(close), f"{wanted}, got {answer!r}")
