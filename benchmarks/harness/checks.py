"""Rivals must draw what fastexp draws, whose laws the tests prove; a wrong answer ends a run."""

from __future__ import annotations

import time
from contextlib import suppress
from math import sqrt
from typing import Any

import numpy as np

from .outcome import Absent
from .workload import Call, Case, FloatArray

SIGMAS = 6.0
TAIL = 3.0  # few draws stray further than a normal law's, as an exponential's do
MOST = 1_000  # answers


class WrongAnswer(AssertionError):
    """What is measured does not compute the right thing."""


def check(case: Case, seconds: float) -> None:
    """Raise WrongAnswer unless each rival's answers are on average fastexp's, at toy size."""
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
    """Answers, as many as there is time for."""
    answers, end = [call()], time.perf_counter() + seconds
    while time.perf_counter() < end and len(answers) < MOST:
        answers.append(call())
    return answers


def same_mean(theirs: FloatArray, ours: FloatArray, slack: float) -> bool:
    """Whether two means are within six standard errors, and this share of ours."""
    spread, n = sqrt(max(theirs.var(), ours.var())), theirs.size
    error = spread * (sqrt(1 / n + 1 / ours.size) + TAIL / n)
    apart = abs(float(theirs.mean() - ours.mean()))
    return apart <= SIGMAS * error + slack * abs(float(ours.mean()))
