"""Checks of accuracy studies and smooth sensitivities, as those of selections.

A table's cells are mean errors over data sets. fastexp's exact ones are compared, to seven
digits, with formulas of `workload.py` on the very data sets of its study; means of other
data sets, drawn or not, with the exact mean over `StudyWork.records`, to six standard errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness.outcome import WrongAnswer, expect
from ..harness.workload import FloatArray
from ..numbers.gap_laws import GapLaws
from ..selection.checks import near
from . import engines, rivals_errors, rivals_smooth
from .workload import CELLS, RATE, StudyWork, errors

EXACT_DIGITS = 1e-4  # of errors of some steps of the grid
DIGITS, ROUNDING = 1e-7, 1e-12  # the grid's steps show in cells of small errors; of float64
QUADRATIC = 20_000  # records up to which a reference of O(n**2) is waited for


def exact_table(work: StudyWork, answers: list[Any]) -> None:
    """Exact mean errors of the study's own data sets."""
    records = engines.data_sets(work)
    gaps = GapLaws(records.ravel(), np.arange(0, records.size + 1, work.k), work.bounds)
    exact = errors(gaps.knots.reshape(-1, work.k + 2), work.bounds)[:, 0].mean(axis=1)
    for answer in _tables(answers):
        off = float(np.abs(answer / exact - 1).max())
        expect(off <= DIGITS, f"a mean error is off by {off:.2g} of it")


def expected(work: StudyWork, answers: list[Any]) -> None:
    """Means of `rows` other data sets, exact for each."""
    _means(work, answers, np.zeros(len(CELLS)))


def drawn(work: StudyWork, answers: list[Any]) -> None:
    """The same of `size` draws each."""
    _means(work, answers, work.spreads[2] / work.size)


def same_table(work: StudyWork, answers: list[Any]) -> None:
    """The same draws on every engine, to the last bit."""
    drawn(work, answers)
    table = engines.on_engine(engines.bare)(work)()
    expect(all(np.array_equal(answer, table) for answer in answers), "another table")


def _means(work: StudyWork, answers: list[Any], noise: FloatArray) -> None:
    """Of two sets of data sets, theirs and those that are known."""
    mean, between, _ = work.spreads
    known = work.knots.shape[0]
    off = _tables(answers)[0] - mean
    for cell, difference, b, w in zip(CELLS, off, between, noise, strict=True):
        variance = (b + w) / work.rows + b / known
        largest = 2 * np.sqrt(b + w) / min(work.rows, known)
        try:
            near(float(difference), float(variance), float(largest))
        except WrongAnswer as problem:
            raise WrongAnswer(f"cell {cell}: {problem}") from None


def _tables(answers: list[Any]) -> list[FloatArray]:
    expect(bool(answers), "no table to check")
    for answer in answers:
        shape = np.shape(answer)
        expect(shape == (len(CELLS),), f"a table must have {len(CELLS)} cells, got {shape}")
    tables = [np.asarray(answer, np.float64) for answer in answers]
    expect(bool(np.isfinite(tables).all()), "a mean error that is no number")
    return tables


def every_error(work: StudyWork, answers: list[Any]) -> None:
    """Exact errors of all data sets, to seven digits: the grid's steps show in the rest."""
    _near_exact(answers, rivals_errors.batched(work)())


def one_error(work: StudyWork, answers: list[Any]) -> None:
    """The same of one data set; its errors are those of a density on 2**40 points."""
    _near_exact(answers, rivals_errors.single(work)())


def _near_exact(answers: list[Any], exact: Any) -> None:
    expect(bool(answers), "no error to check")
    for answer in answers:
        expect(np.shape(answer) == np.shape(exact), f"must have shape {np.shape(exact)}")
        off = float(np.abs(np.asarray(answer) / exact - 1).max())
        expect(off <= EXACT_DIGITS, f"an expected error is off by {off:.2g} of it")


def smooth(work: StudyWork, answers: list[Any]) -> None:
    """The greatest weighted window, to 12 digits."""
    few = work.k <= QUADRATIC
    reference = (rivals_smooth.quadratic if few else rivals_smooth.stopping)(work)()
    for answer in answers:
        close = abs(answer - reference) <= ROUNDING * reference
        truth = f"the smooth sensitivity at beta = {RATE} is {reference!r}"
        expect(bool(close), f"{truth}, got {answer!r}")
