"""Answers are checked before anything is timed; a wrong one ends the run.

The mean test: n draws from the law have a mean utility within `SIGMAS` standard errors of
the exact one, plus a term in 1/n. A loss has a tail like an exponential's, so that a mean
of few draws strays further than a normal's would; by Bernstein's inequality for such tails
the probability of exceeding the limit is below 3e-8 (both sides).
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

import numpy as np

from ..harness.outcome import expect
from ..harness.workload import EPSILON, SENSITIVITY, FloatArray, IntArray
from .workload import RATE, SelectionWork, moments

SIGMAS = 6.0
TAIL = SIGMAS**2 / 2


def near(total: float, variance: float, largest: float) -> None:
    """A sum of drawn utilities minus their means, of this variance and largest deviation."""
    limit = SIGMAS * sqrt(variance) + TAIL * largest
    expect(abs(total) <= limit, f"mean off: the sum by {total:.4g}, limit {limit:.4g}")


def near_mean(drawn: FloatArray, values: FloatArray, weights: FloatArray) -> None:
    """Values that were drawn have the mean of the law with these weights."""
    mean, variance = (float(moment) for moment in moments(weights, values))
    slack = 1e-9 * (1 + abs(mean)) * drawn.size / TAIL  # of a law on one value
    near(float((drawn - mean).sum()), drawn.size * variance, sqrt(variance) + slack)


def indices(work: SelectionWork, answers: list[Any], shape: tuple[int, ...]) -> IntArray:
    """The answers in one array, each of which must be of this shape and in range."""
    parts = [np.asarray(answer) for answer in answers]
    expect(bool(parts), "no draw to check")
    shapes = {part.shape or (1,) for part in parts}
    expect(shapes == {shape}, f"an answer must have shape {shape}, got {shapes}")
    draws = np.stack([part.reshape(shape) for part in parts])
    expect(draws.dtype.kind in "iu", f"draws must be indices, got {draws.dtype}")
    expect(bool((draws >= 0).all() and (draws < work.k).all()), "an index out of range")
    return draws


def exponential(work: SelectionWork, answers: list[Any]) -> None:
    """Indices in range, as many as there should be, whose mean utility fits the exact law."""
    shape = (work.rows,) * (work.rows > 1) + (work.size,) * (work.size > 1)
    draws = indices(work, answers, shape or (1,))
    # Many draws from one seed are the same in every call, so one call of them counts.
    draws = draws[: None if work.size == 1 else 1].reshape(-1, work.rows, work.size)
    u, (mean, variance) = work.utilities.reshape(work.rows, work.k), work.moments
    errors = u[np.arange(work.rows)[:, None], draws] - mean[:, None]
    each = errors.size / work.rows
    near(float(errors.sum()), each * float(variance.sum()), sqrt(float(variance.max())))


def permute_and_flip(work: SelectionWork, answers: list[Any]) -> None:
    """As `exponential`, one draw an answer, for the law of permute-and-flip."""
    draws = indices(work, answers, (1,))
    mean, variance = work.flip_moments
    errors = work.utilities[draws] - mean
    near(float(errors.sum()), errors.size * float(variance), sqrt(variance))


def joint_top_k(work: SelectionWork, answers: list[Any]) -> None:
    """Joint selections: distinct, and their losses as slices of sequences have them on average."""
    draws, k = indices(work, answers, (work.chosen,)), work.chosen
    expect(all(np.unique(one).size == one.size for one in draws), "a candidate twice in a top-k")
    best = -np.sort(-work.counts)
    losses = (best[:k] - work.counts[draws]).max(axis=1)
    v = np.arange(int((k * log(work.k) + 49) / RATE))
    within = np.array([np.searchsorted(-best, v - top, "right") for top in best[:k]])
    logs = np.log(within - np.arange(k)[:, None]).sum(axis=0)
    new = -np.expm1(-np.diff(logs, prepend=-np.inf))  # the part that no slice before has
    heights = logs - RATE * v
    near_mean(losses, v.astype(np.float64), new * np.exp(heights - heights.max()))


def top_k(work: SelectionWork, answers: list[Any]) -> None:
    """Top-k selections in order: distinct, and every next one drawn from those that are left.

    Given the earlier ones, a selection has the law of one draw without them; differences from
    those means are a martingale, whose variances add up.
    """
    draws, u = indices(work, answers, (work.chosen,)), work.utilities
    expect(all(np.unique(one).size == one.size for one in draws), "a candidate twice in a top-k")
    w = np.exp(work.rate * (u - u.max()))
    left = [(w * u**power).sum() - _before((w * u**power)[draws]) for power in range(3)]
    mean = left[1] / left[0]
    variance = left[2] / left[0] - mean**2
    order = np.linspace(1.0, -1.0, work.chosen) if work.chosen > 1 else np.ones(1)
    for factor in (np.ones(work.chosen), order):  # the level, and the fall from first to last
        total = float((factor * (u[draws] - mean)).sum())
        near(total, float((factor**2 * variance).sum()), sqrt(float(variance.max())))


def _before(values: FloatArray) -> FloatArray:
    """Along the last axis, the sums of what comes before."""
    sums: FloatArray = np.cumsum(values, axis=-1) - values
    return sums


def responses(work: SelectionWork, answers: list[Any]) -> None:
    """0s and 1s in the shape of the bits; of both sorts of bits the right share is flipped."""
    p, bits = 1 / (1 + exp(EPSILON)), work.bits
    expect(bool(answers), "no answer to check")
    for answer in answers:
        array = np.asarray(answer)
        expect(array.shape == bits.shape, f"{bits.shape} responses are required, got {array.shape}")
        expect(bool(((array == 0) | (array == 1)).all()), "a response that is no bit")
    for sort in (False, True):
        flips = sum(int((np.asarray(one)[bits == sort] != sort).sum()) for one in answers)
        n = len(answers) * int((bits == sort).sum())
        limit = SIGMAS * sqrt(n * p * (1 - p)) + TAIL
        expect(abs(flips - n * p) <= limit, f"{flips} of {n} bits flipped, in place of {n * p:.0f}")


def packed_responses(work: SelectionWork, answers: list[Any]) -> None:
    """As `responses`, eight bits a byte."""
    parts = [np.frombuffer(answer, np.uint8) for answer in answers]
    responses(work, [np.unpackbits(part)[: work.k] for part in parts])


def texts(work: SelectionWork, answers: list[Any]) -> None:
    """Candidates with the law exp(epsilon * count)."""
    expect(bool(answers), "no draw to check")
    expect(all(answer in work.candidates for answer in answers), "a draw is no candidate")
    values = np.arange(float(len(work.candidates)))
    drawn = values[[work.candidates.index(answer) for answer in answers]]
    near_mean(drawn, values, np.exp(EPSILON * (work.text_counts - work.text_counts.max())))


def counted_texts(work: SelectionWork, answers: list[Any]) -> None:
    """How often each candidate is there, for the floor that only counts."""
    wanted = work.text_counts.tolist()
    for answer in answers:
        expect([answer[name] for name in work.candidates] == wanted, "not the counts")


def built(_work: Any, answers: list[Any]) -> None:
    """Mechanisms that have the epsilon of the case."""
    stated = (getattr(answer, "epsilon", None) for answer in answers)
    expect(all(epsilon == EPSILON for epsilon in stated), "not the mechanism")


def built_map(_work: Any, answers: list[Any]) -> None:
    """The same of OpenDP's, which states rho: epsilon**2 / 8 for this mechanism."""
    for answer in answers:
        rho = float(answer.map(SENSITIVITY))
        expect(abs(rho - EPSILON**2 / 8) < 1e-9, f"a mechanism of rho = {rho!r}")


def highest(work: SelectionWork, answers: list[Any]) -> None:
    """The greatest utility, for the floor that only looks for it."""
    top = float(np.sort(work.utilities)[-1])
    expect(all(answer == top for answer in answers), f"the greatest utility is {top!r}")


def weights(work: SelectionWork, answers: list[Any]) -> None:
    """exp(u) of every utility, to 12 digits, for the floor that only makes weights."""
    close = all(np.allclose(a, np.exp(work.utilities), rtol=1e-12, atol=0.0) for a in answers)
    expect(close, "not the weights")


def process_output(_work: SelectionWork, answers: list[Any]) -> None:
    """A fresh process ended well and printed what its code announces."""
    for wanted, printed in answers:
        expect(printed == wanted, f"a process printed {printed!r} in place of {wanted!r}")
