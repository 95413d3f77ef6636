"""Checks of private numbers, as those of selections."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from ..harness.outcome import expect
from ..harness.workload import FloatArray
from ..selection.checks import near, near_mean
from .rivals import candidates as candidates_of
from .workload import CENTER, STUDY, TICKS, NumberWork

TEN = 10  # quantiles at once
MOST_RANKS = 200.0  # from an answer to its rank, at epsilon 1: beyond, weights are below e**-100


def numbers(answers: list[Any], shape: tuple[int, ...]) -> FloatArray:
    """The answers in one array, each of which must be a float, or an array of this shape."""
    expect(bool(answers), "no draw to check")
    for answer in answers:
        expect(np.shape(answer) == shape, f"must have shape {shape}, got {np.shape(answer)}")
    draws = np.asarray(answers if shape == () else answers[:1])  # more of one seed add nothing
    expect(draws.dtype == np.float64, f"draws must be floats, got {draws.dtype}")
    expect(bool(np.isfinite(draws).all()), "a draw that is no number")
    return draws


def median(work: NumberWork, answers: list[Any]) -> None:
    """Draws with the exact law of the median, one or `size` of each data set."""
    _median(work, answers, work.epsilon)


def cautious_median(work: NumberWork, answers: list[Any]) -> None:
    """The same at half the rate, of a peer that spends twice what it says it would."""
    _median(work, answers, work.epsilon / 2)


def study(work: NumberWork, answers: list[Any]) -> None:
    """Draws of every data set for every epsilon."""
    for answer in answers:
        expect(len(answer) == len(STUDY), f"must be {len(STUDY)} arrays, got {len(answer)}")
    for i, epsilon in enumerate(STUDY):
        _median(work, [answer[i] for answer in answers], epsilon)


def _median(work: NumberWork, answers: list[Any], epsilon: float) -> None:
    shape = (work.rows,) * (work.rows > 1) + (work.size,) * (work.size > 1)
    draws, (low, high) = numbers(answers, shape), work.bounds
    expect(bool(((low <= draws) & (draws <= high)).all()), "a draw outside the bounds")
    by_row = draws.reshape(len(draws), work.rows, -1).swapaxes(0, 1)
    work.gap_laws.check(by_row.reshape(work.rows, -1), epsilon / 2)


def ten_quantiles(work: NumberWork, answers: list[Any]) -> None:
    """Evenly spaced quantiles in order, each of which has about its share of records below it."""
    draws = np.stack([numbers([answer], (TEN,)) for answer in answers]).reshape(-1, TEN)
    expect(bool((np.diff(draws) >= 0).all()), "quantiles out of order")
    ranks = np.searchsorted(np.sort(work.records), draws)
    apart = np.abs(ranks - work.k * np.arange(1, TEN + 1) / (TEN + 1))
    expect(bool((apart <= MOST_RANKS / work.epsilon).all()), "a quantile far from its rank")


def candidates(work: NumberWork, answers: list[Any]) -> None:
    """Candidates with the law that their scores |L - U| give them."""
    draws, points = numbers(answers, ()), candidates_of(work)
    x = work.knots[0, 1:-1]
    signed = np.searchsorted(x, points, "left") - (work.k - np.searchsorted(x, points, "right"))
    score = np.abs(signed).astype(np.float64)
    weights = np.exp(-work.epsilon / 2 * (score - score.min()))
    at = np.searchsorted(points, draws)
    is_point = points[np.minimum(at, points.size - 1)] == draws
    expect(bool(is_point.all()), "a draw is no candidate")
    for values in (score, signed.astype(np.float64)):
        near_mean(values[at], values, weights)


def middle(work: NumberWork, answers: list[Any]) -> None:
    """The upper median record, for floors that only look for it."""
    record = np.sort(work.records)[work.k // 2]
    expect(all(answer == record for answer in answers), "not the middle record")


def coarse_median(work: NumberWork, answers: list[Any]) -> None:
    """A point near the middle of 1,000 records or more: 50 ranks away is a chance of 1e-10."""
    record = np.sort(work.records)[work.k // 2]
    expect(all(answer % 1 == 0 for answer in answers), "not a point of the grid")
    expect(all(abs(answer - record) < 6 for answer in answers), "not near the middle record")


def highest(work: NumberWork, answers: list[Any]) -> None:
    """The greatest record, for the floor that only looks for it."""
    top = np.sort(work.records)[-1]
    expect(all(answer == top for answer in answers), "not the greatest record")


def exact_revenue(work: NumberWork, answers: list[Any]) -> None:
    """The revenue of every price in ticks, to the last one."""
    for answer in answers:
        ticks = np.asarray(answer).view(np.int64)
        expect(np.array_equal(ticks, work.revenue), "a revenue is wrong")


def revenue(work: NumberWork, answers: list[Any]) -> None:
    """The revenue of every price in money, to a bid at most: floats may misplace some."""
    exact = work.revenue / TICKS
    for answer in answers:
        expect(np.shape(answer) == exact.shape, "not a revenue for every price")
        near_enough = np.abs(answer - exact) <= 1.001 * work.prices
        expect(bool(near_enough.all()), "a revenue is wrong")


def price(work: NumberWork, answers: list[Any]) -> None:
    """Prices whose mean revenue is that of the exact law, as is the mean price."""
    draws = numbers(answers, ())
    at = np.searchsorted(work.prices, draws)
    expect(bool((work.prices[np.minimum(at, work.k - 1)] == draws).all()), "a draw is no price")
    loss = (work.revenue.max() - work.revenue) / work.k  # over the highest price, in ticks
    for values in (loss, work.prices):
        near_mean(values[at], values, np.exp(-work.epsilon * loss))


def price_anywhere(work: NumberWork, answers: list[Any]) -> None:
    """Prices between those of the case, whose quantiles are uniform under the exact law.

    Where n bids pay a price, its density is proportional to exp(epsilon * n * price / highest).
    Grids of 2**40 steps are so fine that their law and this density agree to more digits than
    the test has.
    """
    draws, low, high = numbers(answers, ()), work.prices[0], work.prices[-1]
    expect(bool(((low <= draws) & (draws <= high)).all()), "a draw outside the bounds")
    knots = np.concatenate(([low], np.sort(work.bids), [high]))
    rates = work.epsilon / high * np.arange(work.bids.size, -1, -1)  # of the gap after each knot
    top = (rates * knots[1:]).max()

    def masses(rate: FloatArray, start: FloatArray, end: FloatArray) -> FloatArray:
        exponent = np.maximum(rate * (end - start), np.finfo(float).tiny)
        mass: FloatArray = (end - start) * np.exp(rate * end - top) * -np.expm1(-exponent)
        return mass / exponent

    sums = np.cumsum(masses(rates, knots[:-1], knots[1:]))
    gaps = np.searchsorted(knots[1:-1], draws, "left")
    below = np.append(0.0, sums)[gaps] + masses(rates[gaps], knots[gaps], draws)
    apart = below / sums[-1] - 0.5
    near(float(apart.sum()), draws.size / 12, 0.5)
    near(float((apart**2 - 1 / 12).sum()), draws.size / 180, 1 / 6)


def built_map(work: NumberWork, answers: list[Any]) -> None:
    """OpenDP's mechanisms, which state the epsilon of a change by 1."""
    for answer in answers:
        stated = float(answer.map(1.0))
        expect(abs(stated - work.epsilon) < 1e-9, f"a mechanism of {stated!r}")


def laplace(work: NumberWork, answers: list[Any]) -> None:
    """Noise with the mean size and the mean of Laplace's law; the steps are too fine to see."""
    shape = (work.size,) * (work.size > 1)
    noise = (numbers(answers, shape) - CENTER) * work.epsilon
    near(float((np.abs(noise) - 1).sum()), noise.size, 1.0)
    near(float(noise.sum()), 2 * noise.size, sqrt(2))
