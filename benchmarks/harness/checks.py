"""Check that rivals draw from fastexp's laws, which tests prove; a wrong answer ends a run."""

from __future__ import annotations

import time
from contextlib import suppress
from math import sqrt
from typing import Any

import numpy as np

from .outcome import Absent
from .workload import Call, Case, FloatArray

SIGMAS = 6.0
TAIL = 3.0  # the mean of few draws may have longer tails than a normal law, as of exponentials
MOST = 1_000  # the most answers that are gathered


class WrongAnswer(AssertionError):
    """An entry that is measured gives wrong answers."""


def check(case: Case, seconds: float) -> None:
    """Raise WrongAnswer unless each rival's answers have the mean of fastexp's, at toy size."""
    toy = case.toy()
    work, rivals = toy.work(), [entry for entry in toy.entries if entry.role == "rival"]
    figures_of = toy.figures
    if figures_of is None or not rivals:
        return

    def figures(call: Call) -> FloatArray:
        parts = [np.ravel(figures_of(work, answer)) for answer in gather(call, seconds)]
        return np.concatenate(parts).astype(np.float64)

    ours = figures(toy.entries[0].call(work))
    for entry in rivals:
        with suppress(Absent):
            if not same_mean(figures(entry.call(work)), ours, entry.slack):
                raise WrongAnswer(f"{case.id}: {entry.name} draws from another law")


def gather(call: Call, seconds: float) -> list[Any]:
    """Return as many answers as there is time for."""
    answers, end = [call()], time.perf_counter() + seconds
    while time.perf_counter() < end and len(answers) < MOST:
        answers.append(call())
    return answers


def same_mean(theirs: FloatArray, ours: FloatArray, slack: float) -> bool:
    """Whether two means differ by at most six standard errors and a share `slack` of ours."""
    spread, n = sqrt(max(theirs.var(), ours.var())), theirs.size
    error = spread * (sqrt(1 / n + 1 / ours.size) + TAIL / n)
    apart = abs(float(theirs.mean() - ours.mean()))
    return apart <= SIGMAS * error + slack * abs(float(ours.mean()))
