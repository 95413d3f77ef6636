"""Checks of private numbers, as `checks.py` has them for selections.

A draw of a median falls into a gap between records. Two means are tested, of |n - 2 i| and of
n - 2 i for gap i, and the mean place within the gap. Grids of 2**40 steps are so fine that the
exact law on the grid and the density agree to more digits than these tests have.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from .checks import TAIL, expect, near
from .rivals_numbers import candidates as candidates_of
from .workload import FloatArray, Work
from .workload_numbers import CENTER, STUDY, TICKS, NumberWork


def numbers(work: Work, answers: list[Any], shape: tuple[int, ...]) -> FloatArray:
    """The answers in one array, each of which must be a float, or an array of this shape."""
    expect(bool(answers), "no draw to check")
    counted = answers if shape == () else answers[:1]  # more of one seed add nothing
    for answer in answers:
        found = np.shape(answer)
        expect(found == shape, f"answers of shape {shape} were asked for, got {found}")
    made = np.asarray(counted)
    expect(made.dtype == np.float64, f"draws must be floats, got {made.dtype}")
    expect(bool(np.isfinite(made).all()), "a draw that is no number")
    return made.reshape(len(counted), work.rows, -1)


def median(work: NumberWork, answers: list[Any]) -> None:
    """Draws with the exact law of the median, one or `size` of each data set."""
    _median(work, answers, work.epsilon)


def cautious_median(work: NumberWork, answers: list[Any]) -> None:
    """The same at half the rate, of a peer that spends twice what it says it would."""
    _median(work, answers, work.epsilon / 2)


def study(work: NumberWork, answers: list[Any]) -> None:
    """Draws of every data set for every epsilon."""
    for answer in answers:
        expect(len(answer) == len(STUDY), f"{len(STUDY)} arrays were asked for")
    for i, epsilon in enumerate(STUDY):
        _median(work, [answer[i] for answer in answers], epsilon)


def _median(work: NumberWork, answers: list[Any], epsilon: float) -> None:
    shape = (work.rows,) * (work.rows > 1) + (work.size,) * (work.size > 1)
    draws = numbers(work, answers, shape)
    low, high = work.bounds
    expect(bool(((low <= draws) & (draws <= high)).all()), "a draw outside the bounds")
    total, places = np.zeros(2), np.empty(draws.shape)
    moments = work.median_moments(epsilon / 2)
    for row, knots in enumerate(work.knots):
        found = draws[:, row]
        gap = np.searchsorted(knots[1:-1], found, side="left")
        signed = work.k - 2.0 * gap
        total += (np.abs(signed) - moments[0, row]).sum(), (signed - moments[2, row]).sum()
        places[:, row] = (found - knots[gap]) / (knots[gap + 1] - knots[gap])
    each = draws.size / work.rows
    for sum_, variance in zip(total, moments[1::2], strict=True):
        near(float(sum_), each * float(variance.sum()), sqrt(float(variance.max())))
    near(float((places - 0.5).sum()), draws.size / 12, 0.5)


def candidates(work: NumberWork, answers: list[Any]) -> None:
    """Candidates with the law that their scores |L - U| give them."""
    draws, own = numbers(work, answers, ()).ravel(), candidates_of(work)
    x = work.knots[0, 1:-1]
    signed = np.searchsorted(x, own, "left") - (work.k - np.searchsorted(x, own, "right"))
    score = np.abs(signed).astype(np.float64)
    p = np.exp(-work.epsilon / 2 * (score - score.min()))
    p /= p.sum()
    at = np.searchsorted(own, draws)
    expect(bool((own[np.minimum(at, own.size - 1)] == draws).all()), "a draw is no candidate")
    for values in (score, signed.astype(np.float64)):
        mean = float((p * values).sum())
        variance = float((p * (values - mean) ** 2).sum())
        slack = 1e-9 * (1 + abs(mean)) * draws.size / TAIL  # of a law on one candidate
        near(float((values[at] - mean).sum()), draws.size * variance, sqrt(variance) + slack)


def middle(work: NumberWork, answers: list[Any]) -> None:
    """The upper median record, for floors that only look for it."""
    record = np.sort(work.records)[work.k // 2]
    expect(all(answer == record for answer in answers), "not the middle record")


def highest(work: NumberWork, answers: list[Any]) -> None:
    """The greatest record, for the floor that only looks for it."""
    top = np.sort(work.records)[-1]
    expect(all(answer == top for answer in answers), "not the greatest record")


def exact_revenue(work: NumberWork, answers: list[Any]) -> None:
    """The revenue of every price in ticks, to the last one."""
    for answer in answers:
        found = np.asarray(answer).view(np.int64)
        expect(np.array_equal(found, work.revenue), "a revenue is wrong")


def revenue(work: NumberWork, answers: list[Any]) -> None:
    """The revenue of every price in money, to a bid at most: floats may misplace some."""
    exact = work.revenue / TICKS
    for answer in answers:
        expect(np.shape(answer) == exact.shape, "not a revenue for every price")
        near_enough = np.abs(answer - exact) <= 1.001 * work.prices
        expect(bool(near_enough.all()), "a revenue is wrong")


def price(work: NumberWork, answers: list[Any]) -> None:
    """Prices whose mean revenue is that of the exact law, as is the mean price."""
    draws = numbers(work, answers, ()).ravel()
    at = np.searchsorted(work.prices, draws)
    expect(bool((work.prices[np.minimum(at, work.k - 1)] == draws).all()), "a draw is no price")
    loss = (work.revenue.max() - work.revenue) / work.k  # over the highest price, in ticks
    p = np.exp(-work.epsilon * loss)
    p /= p.sum()
    for values in (loss, work.prices):
        mean = float((p * values).sum())
        variance = float((p * (values - mean) ** 2).sum())
        near(float((values[at] - mean).sum()), draws.size * variance, sqrt(variance))


def laplace(work: NumberWork, answers: list[Any]) -> None:
    """Noise with the mean size and the mean of Laplace's law; the steps are too fine to see."""
    shape = (work.size,) * (work.size > 1)
    noise = (numbers(work, answers, shape) - CENTER) * work.epsilon
    near(float((np.abs(noise) - 1).sum()), noise.size, 1.0)
    near(float(noise.sum()), 2 * noise.size, sqrt(2))
