"""Answers are checked before anything is timed; a wrong one ends the run.

The mean test: n draws from the law have a mean utility within `SIGMAS` standard errors of
the exact one, plus a term in 1/n. A loss has a tail like an exponential's, so that a mean
of few draws strays further than a normal's would; by Bernstein's inequality for such tails
the probability of exceeding the limit is below 3e-8 (both sides).
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from .workload import Work

SIGMAS = 6.0
TAIL = SIGMAS**2 / 2


class WrongAnswer(AssertionError):
    """What was to be timed does not compute the right thing."""


def expect(condition: bool, problem: str) -> None:
    """Raise WrongAnswer unless `condition` holds."""
    if not condition:
        raise WrongAnswer(problem)


def drawn(work: Work, answers: list[Any]) -> None:
    """Indices in range, in the asked number, whose mean utility fits the exact law."""
    parts = [np.atleast_1d(np.asarray(answer)) for answer in answers]
    expect(bool(parts), "no draw to check")
    sizes = {part.size for part in parts}
    expect(sizes == {work.size}, f"{work.size} draws a call were asked for, got {sizes}")
    # Many draws from one seed are the same in every call, so one call of them counts.
    indices = np.concatenate(parts) if work.size == 1 else parts[0]
    expect(indices.dtype.kind in "iu", f"draws must be indices, got {indices.dtype}")
    expect(bool((indices >= 0).all() and (indices < work.k).all()), "an index out of range")
    mean, deviation = work.moments
    limit = deviation * (SIGMAS / sqrt(indices.size) + TAIL / indices.size)
    error = abs(float(work.utilities[indices].mean()) - mean)
    expect(error <= limit, f"mean utility off by {error:.4g}, the limit is {limit:.4g}")


def exact_sum(work: Work, answers: list[Any]) -> None:
    """ln(sum(exp(u))) to 12 digits."""
    reference = float(np.log(np.exp(work.utilities).sum()))
    for answer in answers:
        value = float(np.log(answer.sum()) if isinstance(answer, np.ndarray) else answer)
        close = abs(value - reference) <= 1e-12 * reference
        expect(close, f"log-sum-exp is {reference!r}, got {value!r}")


def weight_sum(work: Work, answers: list[Any]) -> None:
    """sum(exp(c * u)) to 9 digits, for the floor that sums in any order."""
    reference = float(np.exp(work.utilities * 0.5).sum())
    for answer in answers:
        close = abs(answer - reference) <= 1e-9 * reference
        expect(close, f"the sum is {reference!r}, got {answer!r}")


def process_output(_work: Work, answers: list[Any]) -> None:
    """A fresh process ended well and printed what its code announces."""
    for wanted, found in answers:
        expect(found == wanted, f"a process printed {found!r} in place of {wanted!r}")
