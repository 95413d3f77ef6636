"""Figures of laws against sums over all outcomes.

Small laws are those of the definition in Fractions. Laws of many points are summed in doubles, from
weights that are written down here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from fastexp.errors import InvalidRecords, InvalidUtilities, ParameterError, ParameterTypeError

from . import oracle
from .oracle import ADD_REMOVE, REPLACE
from .table import MECHANISMS, NAMES, SIZE, Row
from .test_promise import neighbours

LEVELS = 0, 1e-9, 0.013, 0.3, 0.52, 0.71, 0.987, 1 - 1e-9, 1  # of quantiles: none ends at a sum
close = partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-300)


def listed(row: Row, data: Any) -> tuple[list[float], list[Fraction]]:
    """Return the outcomes of a row's law, in order, and their probabilities."""
    law = row.law(data)
    if row.name.startswith("top-k"):
        law = [p for p in law if p]
    return list(row.drawn or range(len(law))), law


def quantile(values: Any, masses: Sequence[Any], level: float) -> float:
    """The least value that is reached with a probability, by the sum from the nearer end."""
    pairs = sorted(zip(values, masses, strict=True))
    for i, (value, _) in enumerate(pairs):
        upto, beyond = (sum(p for _, p in part) for part in (pairs[: i + 1], pairs[i + 1 :]))
        if beyond <= 1 - Fraction(level) if level > 0.5 else upto >= Fraction(level):
            return float(value)
    raise AssertionError


def moments(values: Any, masses: Sequence[Any]) -> tuple[float, float]:
    mean = sum(p * Fraction(x) for x, p in zip(values, masses, strict=True))
    square = sum(p * (Fraction(x) - mean) ** 2 for x, p in zip(values, masses, strict=True))
    return float(mean), math.sqrt(square)


@pytest.mark.parametrize("row", MECHANISMS, ids=NAMES)
def test_outcomes(row: Row) -> None:
    for data in row.data:
        law, (values, masses) = row.make().law(row.told(data)), listed(row, data)
        close(law.probabilities, [float(p) for p in masses], rtol=2e-13)
        possible = [i for i, p in enumerate(masses) if p]
        logs = [oracle.log(masses[i]) for i in possible]
        close(law.log_probabilities[possible], logs, atol=1e-13)
        middles = [(a + b) / 2 for a, b in itertools.pairwise(values)]
        asked = [values[0] - 1, *middles, *values, values[-1] + 1, math.inf, -math.inf]
        for x in asked:
            upto = sum((p for v, p in zip(values, masses, strict=True) if v <= x), Fraction(0))
            close(law.pmf(x), sum(float(p) for v, p in zip(values, masses, strict=True) if v == x))
            close([law.cdf(x), law.sf(x)], [float(upto), float(1 - upto)], atol=1e-17)
        close(law.cdf(asked), [law.cdf(x) for x in asked])
        assert law.ppf(LEVELS).tolist() == [quantile(values, masses, p) for p in LEVELS]
        assert law.ppf(0.3) == quantile(values, masses, 0.3)
        close([law.mean(), law.std()], moments(values, masses), atol=1e-14)


@pytest.mark.parametrize("row", MECHANISMS, ids=NAMES)
def test_draws(row: Row) -> None:
    """A law draws the bytes of its mechanism."""
    for data in row.data:
        mechanism, told = row.make(), row.told(data)
        law = mechanism.law(told)
        for size in None, 1, 2000 if row.draws > 20_000 else 20:
            own, other = law.sample(size, rng=5), mechanism.sample(told, size, rng=5)
            assert np.array_equal(own, other)
            assert np.shape(own) == np.shape(other)


NUMBERS = [row for row in MECHANISMS if row.kind in ("records", "number", "bit")]


@pytest.mark.parametrize("row", NUMBERS, ids=[row.name for row in NUMBERS])
def test_errors(row: Row) -> None:
    for data in row.data:
        law, (values, masses) = row.make().law(row.told(data)), listed(row, data)
        for truth in (None, 1.7, values[0], values[-1] + 0.5):
            if truth is None and law.truth is None:
                with pytest.raises(ParameterError, match="truth"):
                    law.expected_error()
                continue
            x = law.truth if truth is None else truth
            errors = [abs(Fraction(v) - Fraction(x)) for v in values]
            expected = sum(p * d for p, d in zip(masses, errors, strict=True))
            close(law.expected_error(truth), float(expected), atol=1e-15)
            quantiles = [quantile(errors, masses, p) for p in LEVELS[1:]]
            close(law.error_quantile(LEVELS, truth), [0, *quantiles], atol=1e-14)


@pytest.mark.parametrize("far", [1e9, 1e15, 1e300])
def test_far_truths(far: float) -> None:
    """Errors from a record that is far beyond the points take no longer than others."""
    law = fx.Median(1.0, (0, 1)).law([far])
    assert far - 1 <= law.error_quantile(0.5) <= far
    noise = fx.Laplace(1, 1e-12, step=1e-12, bounds=(0, 1)).law(-far)
    assert (noise.pmf(0), noise.error_quantile(0.5), noise.mean()) == (1, far, 0)


def test_truths() -> None:
    """The statistic of the data, as each convention has it, not clamped to the bounds."""
    data, make = [9, 1, 30, 5], partial(fx.Median, 1.0, (0, 20), step=1)
    assert make().law(data).truth == 7
    assert make(convention="lower").law(data).truth == 5
    assert make(convention="upper").law(data).truth == 9
    assert make().law([30]).truth == 30
    assert make().law([]).truth is None
    assert fx.Quantile(0.9, 1.0, (0, 20), step=1).law(data).truth == 30
    assert fx.Quantile(0.25, 1.0, (0, 20), step=1).law(data).truth == 3
    assert fx.Quantile(0.25, 1.0, (0, 20), step=1, convention="lower").law(data).truth == 1
    assert fx.Price(1.0, (0, 10), step=1).law([4, 2, 2, 8]).truth == 2  # 8 is as good, and 4
    assert fx.Laplace(1.0, 1, step=1, bounds=(0, 5)).law(7.25).truth == 7.25
    assert fx.RandomizedResponse(1.0).law(1).truth == 1
    assert fx.Exponential(1.0, 1).law([1, 2]).truth is None


def utility_cases() -> list[Any]:
    """Mechanisms with data and the loss of each outcome."""
    u, base = (3, -1, 2.5, 3, 0.3), (1, 0.5, 2, 3, 1)
    duff = oracle.duff(oracle.median, (0, 3, 1, 1), SIZE, ADD_REMOVE)
    ranks = [float(oracle.quantile_distance(*oracle.sides((0, 3, 1, 1), t), Fraction(1, 3), "weak",
             ADD_REMOVE)) for t in range(SIZE)]  # fmt: skip
    income = [float(x) for x in oracle.revenue((1, 3, 3), [Fraction(t, 2) for t in range(SIZE)])]
    four = (4, -1, 2.5, 3)
    pairs = list(itertools.permutations(four, 2))
    whole = [2**63 - 1, 2**63 - 4, 2**63 - 2]  # integers that no double tells apart
    return [
        (fx.Exponential(1.0, 2), u, [max(u) - x for x in u]),
        (fx.Exponential(1.0, 1, base=base), u, [max(u) - x for x in u]),
        (fx.Exponential(1e3, 1, base=(0, 1, 1)), (1.7e308, 1, 3), [0, 2, 0]),
        (fx.Exponential(1.0, 1), np.array(whole), [0, 3, 1]),
        (fx.Exponential(1.0, 1), np.array(whole, np.uint64) + 2**62, [0, 3, 1]),
        (fx.Exponential(1.0, 1), (1.7e308, -1.7e308), [0, 1.7976931348623157e308]),
        (fx.PermuteAndFlip(1.0, 1), u, [max(u) - x for x in u]),
        (fx.TopK(2, 1.0), four, [max(a + b for a, b in pairs) - a - b for a, b in pairs]),
        (fx.MostCommon(1.0, ["a", "b", "c"]), list("abacaa"), [0, 3, 3]),
        (fx.Median(1.0, (0, 3), step=1), [0, 3, 1, 1], [d - min(duff) for d in duff]),
        (fx.Median(1.0, grid=(0, 1, 2, 3)), [0, 3, 1, 1], [d - min(duff) for d in duff]),
        (fx.Quantile(Fraction(1, 3), 1.0, (0, 3), step=1), [0, 3, 1, 1],
         [d - min(ranks) for d in ranks]),
        (fx.Price(1.0, (0, 1.5), step=0.5), [0.5, 1.5, 1.5], [max(income) - x for x in income]),
        (fx.Laplace(1.0, 1, step=0.5, bounds=(0, 2)), 0.6,
         [abs(t / 2 - 0.6) - 0.1 for t in range(5)]),
        (fx.RandomizedResponse(1.0), 0, [0, 1]),
    ]  # fmt: skip


@pytest.mark.parametrize(("mechanism", "data", "losses"), utility_cases())
def test_losses(mechanism: Any, data: Any, losses: list[float]) -> None:
    law = mechanism.law(data)
    masses = law.probabilities.tolist()
    pairs = list(zip(losses, masses, strict=True))
    close(law.expected_loss(), math.fsum(p * x for x, p in pairs), atol=1e-15)
    for t in [*losses, 0.1, 0.7, 2, -1]:
        tail = math.fsum(p for x, p in pairs if x >= t - 1e-9)
        close(law.tail(t), tail, atol=1e-16)
    quantiles = [quantile(losses, masses, p) for p in LEVELS[1:]]
    close(law.loss_quantile(LEVELS), [0, *quantiles], atol=1e-14)
    summary = law.summary(0.71)
    assert summary["loss_quantile"] == law.loss_quantile(0.71)
    assert summary["expected_loss"] == law.expected_loss()
    if min(masses):
        outcomes = law.ppf(np.cumsum(masses) - np.array(masses) / 2)
        close(law.loss(outcomes), losses, atol=1e-15)
    assert ("expected_error" in summary) == (law.truth is not None)


def test_far_quantiles() -> None:
    """Above 1/2, quantiles are by the sum from above, which holds outcomes of less than 2**-53."""
    law = fx.RandomizedResponse(60.0).law(0)
    assert law.ppf([0.5, 1 - 2**-53, 1]).tolist() == [0, 0, 1]
    assert law.error_quantile(1) == law.loss_quantile(1) == 1


@pytest.mark.parametrize("grid", [range(-5, 5), range(5, 10), range(-9, -5), [0, 1e19], [-1e19, 0]])
def test_far_integers(grid: Any) -> None:
    """They lie where the double next to them does, and do not wrap around."""
    wide = {"bounds": (grid[0], grid[-1]), "step": 1}
    for form in [{"grid": grid}, wide][: 1 + isinstance(grid, range)]:
        law = fx.Median(0.1, **form).law([grid[0]])
        for x in ([-(2**63), -(2**62) - 1, 2**62 + 1, 2**63 - 1], [2**63, 10**19, 2**64 - 1]):
            for figure in (law.pmf, law.cdf, law.sf, law.loss):
                assert figure(x).tolist() == figure(np.array(x, float)).tolist()
            assert law.cdf(x[0]) == law.cdf(float(x[0]))
        assert law.cdf(np.array([0, 7], np.uint8)).tolist() == law.cdf([0, 7]).tolist()
    far = fx.Laplace(1.0, 1, step=1).law(2**61 + 1)  # of which no double has the last digits
    assert far.ppf(0.5) == 2**61 + 1
    assert far.pmf(2**61 + 1) > far.pmf(2**61) > far.pmf(2**62) == far.pmf(-(2**62)) == 0


def test_normalizer() -> None:
    """That of the function, with a base too; other laws have none."""
    for base in None, (0.5, 0, 3):
        law = fx.Exponential(1.5, 2, base=base).law([700.0, 900, 7])
        close(law.log_normalizer, fx.log_normalizer([700.0, 900, 7], 1.5, 2, base=base))
        close(law.probabilities, fx.probabilities([700.0, 900, 7], 1.5, 2, base=base))
    for mechanism in fx.PermuteAndFlip(1.0, 1), fx.TopK(2, 1.0):
        with pytest.raises(ParameterError, match="log_normalizer"):
            _ = mechanism.law([1, 2, 3]).log_normalizer


def median_points(relation: str, ties: bool) -> tuple[Any, Any, Any]:
    """Return a median over 9,001 points with its data, and the weights of all points."""
    rng = np.random.default_rng(3)
    data = rng.integers(2000, 7000, 300) if not ties else rng.integers(40, 60, 300) * 100
    counts = np.bincount(data, minlength=9001)
    upto = np.cumsum(counts)
    sides = zip((upto - counts).tolist(), counts.tolist(), (300 - upto).tolist(), strict=True)
    far = np.array([oracle.median_distance(*side, relation) for side in sides])
    law = fx.Median(0.2, (0, 900), step=0.1, neighbors=relation).law(data / 10)
    return law, np.arange(9001) / 10, np.exp(-0.1 * (far - far.min()))


def laplace_points(value: float, step: float, bounds: Any) -> tuple[Any, Any, Any]:
    """Return noise of rate 0.02 on 40,001 points, the ends with all that is beyond."""
    place = float(Fraction(str(value)) / Fraction(str(step)))
    points = np.arange(-20_000, 20_001) + round(place)
    weights = np.exp(-0.02 * np.abs(points - place))
    law = fx.Laplace(0.02, step, step=step, bounds=bounds).law(value)
    if bounds:
        low, high = (round(x / step) for x in bounds)
        weights = np.bincount(points.clip(low, high) - low, weights, high - low + 1)
        points = np.arange(low, high + 1)
    return law, points * step if isinstance(step, int) else points / (1 / step), weights


@pytest.mark.parametrize(
    "case",
    [
        *(partial(median_points, *x) for x in itertools.product((ADD_REMOVE, REPLACE), (0, 1))),
        partial(laplace_points, 7.25, 1, None),
        partial(laplace_points, -1e6, 0.5, None),
        partial(laplace_points, 3.5, 0.25, (0, 40)),
        partial(laplace_points, -3.5, 1, (0, 400)),
        partial(laplace_points, 444.4, 1, (-20, 400)),
    ],
)
def test_many_points(case: Any) -> None:
    """Sums over runs are the sums over their points."""
    law, points, weights = case()
    p = weights / weights.sum()
    at = np.searchsorted(np.cumsum(p), [1e-4, 0.02, 0.3, 0.6, 0.9, 1 - 1e-4])
    near = partial(close, rtol=1e-11)
    near(law.pmf(points[at]), p[at])
    near(law.cdf(points[at]), np.cumsum(p)[at])
    near(law.sf(points[at]), [p[i + 1 :].sum() for i in at], rtol=1e-9)
    assert law.ppf(np.cumsum(p)[at] - p[at] / 2).tolist() == points[at].tolist()
    mean = float(p @ points)
    near([law.mean(), law.std()], [mean, math.sqrt(p @ (points - mean) ** 2)], atol=1e-9)
    is_whole_law = points.size < 40_001
    outside = [points[0] - 5, points[-1] + 5] if is_whole_law else []
    for truth in law.truth, points[at[2]] + 0.04, *outside:
        errors = np.abs(points - truth)
        near(law.expected_error(truth), p @ errors)
        order = np.argsort(errors)
        sums = np.cumsum(p[order])
        levels = (sums - p[order] / 2)[[0, 5, 50, 150]]
        wanted = [errors[order][np.searchsorted(sums, level)] for level in levels]
        near(law.error_quantile(levels, truth), wanted, atol=1e-9)
    with np.errstate() if is_whole_law else pytest.raises(ParameterError, match="pmf"):
        near(law.probabilities, p, atol=1e-25)


def test_fine_grids() -> None:
    """On 2**40 points: the law of three records, from its gaps alone."""
    law = fx.Median(2.0, (0, 8)).law([1, 2, 4])
    masses = np.exp([-3, -1, -1, -3]) * [1, 1, 2, 4]
    masses /= masses.sum()
    middles = np.array([0.5, 1.5, 3, 6])
    near = partial(close, rtol=1e-10)
    near(law.cdf([1, 2, 4, 3]), [*np.cumsum(masses)[:3], masses[:2].sum() + masses[2] / 2])
    near([law.mean(), law.expected_error()], [masses @ middles, masses @ [1.5, 0.5, 1, 4]])
    near(law.std() ** 2, masses @ (middles**2 + np.array([1, 1, 4, 16]) / 12) - law.mean() ** 2)
    near(law.ppf(masses[0] + masses[1] / 4), 1.25)
    near(law.error_quantile(masses[1] + masses[2] / 2), 1.0)
    assert law.pmf(3.0) < 1e-11
    assert law.truth == 2
    noise = fx.Laplace(1, 0.7, step=0.7).law(-5.31)
    shown = np.arange(-30, 14) * 7 / 10  # each is rounded once
    close(noise.cdf(shown)[1:] - noise.cdf(shown)[:-1], noise.pmf(shown)[1:], atol=1e-15)
    close(noise.pmf(shown[12:22]), noise.pmf(shown[13:23]) * np.exp(-1))
    points = fx.digits(5)[::99]
    flat, i = fx.Median(1.0, grid=fx.digits(5)).law([]), np.arange(points.size) * 99
    close(flat.cdf(points), (i + 1) / flat.probabilities.size)
    close(flat.sf(points), 1 - (i + 1) / flat.probabilities.size, atol=1e-14)
    digits = fx.Median(1.0, grid=fx.digits(2)).law([1e6, 2.5e6, -3])
    close(digits.probabilities.sum(), 1)
    assert digits.ppf(0.5) in fx.digits(2)


@pytest.mark.parametrize("value", [0, 1e12, -1e14 - 0.5, 1e15])
@pytest.mark.parametrize("rate", [1e-9, 0.5, 700])
def test_wide_noise(value: float, rate: float) -> None:
    """Noise around large numbers, and a rate that is small or large: closed forms."""
    law, rest = fx.Laplace(rate, 1, step=1).law(value), value % 1
    w = math.exp(-rate)
    sums = (
        (1 + w) / -math.expm1(-rate) if not rest else 2 * math.exp(-rate / 2) / -math.expm1(-rate)
    )
    error = 2 * w / math.expm1(-rate) ** 2 if not rest else sums * (0.5 + w / -math.expm1(-rate))
    close(law.expected_error(), error / sums, rtol=1e-11)
    close(law.pmf(math.floor(value)), math.exp(-rate * rest) / sums, rtol=1e-11)
    close(law.cdf(math.floor(value)), 0.5 if rest else 1 / (1 + w), rtol=1e-11)
    other = fx.Laplace(rate, 1, step=1).law(value + 1)
    if abs(value) < 1e15 or rate > 1e-3:
        close(law.privacy_loss(other).epsilon(), rate, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("k", [2, 3, 70, 2000])
def test_many_flips(k: int) -> None:
    """Probabilities sum to 1, fall with the loss, and less than twice as fast as the weights."""
    rng = np.random.default_rng(k)
    for u in rng.normal(0, 3, k), rng.integers(0, 5, k), np.zeros(k), np.eye(1, k)[0] * 500:
        law, w = fx.PermuteAndFlip(2.0, 1).law(u), np.exp(u - np.max(u))
        p = law.probabilities
        close(p.sum(), 1)
        order = np.argsort(-w, kind="stable")
        assert (np.diff(p[order]) <= 1e-15).all()
        ratios = p / np.maximum(w, 1e-300)
        assert (ratios <= ratios[order[0]] * 2.000001).all()
        assert p[order[0]] * w.sum() >= 1 - 1e-12


def test_exact_flips() -> None:
    """Two candidates: the worse one is selected if it comes first and its coin accepts it."""
    for gap in (0.0, 1e-9, 1.0, 40, 600):
        law = fx.PermuteAndFlip(2.0, 1).law([0.0, -gap])
        close(law.probabilities[1], math.exp(-gap) / 2)
        close(law.log_probabilities[1], -gap - math.log(2))


@pytest.mark.parametrize("row", MECHANISMS, ids=NAMES)
def test_privacy_loss(row: Row) -> None:
    """Losses of neighbours, both ways, against all outcomes."""
    mechanism = row.make()
    pairs = list(neighbours(row))
    for data, other in pairs[:: len(pairs) // 9 + 1]:
        laws = [mechanism.law(row.told(x)) for x in (data, other)]
        masses = [[p for p in listed(row, x)[1] if p] for x in (data, other)]
        both = laws[0].privacy_loss(laws[1])
        for loss, (p, q) in (both, masses), (both.reverse, masses[::-1]):
            both_ways = list(zip(p, q, strict=True))
            ratios = [oracle.log(a / b) for a, b in both_ways]
            close(loss.epsilon(), max(*ratios, 0), atol=1e-13)
            for e in (0.0, 0.2, 1.0):
                delta = sum(max(Fraction(0), a - oracle.exp(Fraction(e)) * b) for a, b in both_ways)
                close(loss.delta(e), float(delta), rtol=1e-11, atol=1e-15)
            for order in (1.5, 2, 32):
                powers = [math.exp((order - 1) * ratio) for ratio in ratios]
                moment = math.fsum(float(a) * x for a, x in zip(p, powers, strict=True))
                close(loss.renyi(order), max(0.0, math.log(moment) / (order - 1)), atol=1e-12)
            assert loss.renyi(math.inf) == loss.epsilon()
            close(loss.renyi(1e308), loss.epsilon(), atol=1e-12)
            least = loss.epsilon(0.05)
            assert loss.delta(least) <= 0.05 + 1e-15
            assert least == 0 or loss.delta(least * (1 - 1e-9)) >= 0.05 - 1e-12


def test_privacy_loss_of_runs() -> None:
    """Sums over sloping runs: Laplace noise, a step that is finer than the sensitivity."""
    mechanism = fx.Laplace(0.3, 1, step=0.1)
    points = np.arange(-12_000, 12_001) / 10
    heights = [-0.3 * np.abs(points - x) for x in (0, 0.7)]
    logs = [height - math.log(np.exp(height).sum()) for height in heights]
    loss = mechanism.law(0).privacy_loss(mechanism.law(0.7))
    p, ratio = np.exp(logs[0]), logs[0] - logs[1]
    close(loss.epsilon(), 0.21, rtol=1e-11)
    for e in (0.0, 0.1, -0.15, 0.2099, 0.3):
        delta = (p * np.maximum(-np.expm1(e - ratio), 0)).sum()
        close(loss.delta(e), delta, rtol=1e-9, atol=1e-14)
    close(loss.renyi(3), math.log((p * np.exp(2 * ratio)).sum()) / 2, rtol=1e-10)
    for e in (0.0, 0.1, -0.15, 0.2099, 0.3):
        delta = (np.exp(logs[1]) * np.maximum(-np.expm1(e + ratio), 0)).sum()
        close(loss.reverse.delta(e), delta, rtol=1e-9, atol=1e-14)


RECORDS = np.random.default_rng(7).normal(40, 15, (270, 1000))  # more than are read at once
NUMBER_MECHANISMS = [
    fx.Median(0.3, (0, 120)),
    fx.Median(1.0, (0, 120), step=1, neighbors=REPLACE, convention="lower"),
    fx.Median(1.0, grid=range(0, 121, 5)),
    fx.Quantile(0.9, 0.05, (0, 60), step=0.5),
    fx.Quantile(Fraction(1, 3), 9.0, (0, 120), step=1, convention="lower"),
    fx.Price(1.0, (0, 100), step=1),
]


@pytest.mark.parametrize("truth", [None, 33.25, 700])
def test_expected_errors(truth: Any) -> None:
    """Those of many data sets are those of their laws, and so are the variances."""
    for records in RECORDS, RECORDS.round(), np.full((3, 400), 40.0), RECORDS[:, :1]:
        errors, variances = fx.expected_errors(
            records, NUMBER_MECHANISMS, truth=truth, variance=True
        )
        for i in (0, 1, -1):
            for j, mechanism in enumerate(NUMBER_MECHANISMS):
                law = mechanism.law(records[i])
                x = law.truth if truth is None else truth
                error = law.expected_error(x)
                close(errors[i, j], error, atol=1e-13)
                square = law.std() ** 2 + (law.mean() - x) ** 2
                close(variances[i, j], square - error**2, rtol=1e-9, atol=1e-9 * square + 1e-290)
    ordered = np.sort(RECORDS)
    again = fx.expected_errors(ordered, NUMBER_MECHANISMS, truth=truth, assume_sorted=True)
    assert np.array_equal(again, fx.expected_errors(RECORDS, NUMBER_MECHANISMS, truth=truth))
    each = fx.expected_errors(RECORDS[:5], NUMBER_MECHANISMS[:1], truth=[1, 2, 3, 4, 5])
    laws = [NUMBER_MECHANISMS[0].law(records) for records in RECORDS[:5]]
    close(each[:, 0], [law.expected_error(i + 1) for i, law in enumerate(laws)])


def test_far_cells() -> None:
    """Where all but far points are the truth, those beyond the ranks that are read count, too."""
    records = np.concatenate([np.full(600, 40.0), np.linspace(0, 100, 400)])
    median = fx.Median(1.0, (0, 120), step=1)
    law = median.law(records)
    assert 0 < law.expected_error() < 1e-60
    close(fx.expected_errors(records[None], [median])[0, 0], law.expected_error())


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize(("noise", "delta"), [("cauchy", 0), ("laplace", 0.01)])
def test_smooth_errors(noise: Any, delta: float, relation: Any) -> None:
    """The clamped noise of a million quantiles, each as likely."""
    rows = [[1, 2, 4, 7, 8], [0, 0, 10, 10, 10], [5, 5, 5, 5, 30]]
    u = (np.arange(10**6) + 0.5) / 10**6
    z = np.tan(math.pi * (u - 0.5))
    if noise == "laplace":
        z = -np.sign(u - 0.5) * np.log1p(-2 * np.abs(u - 0.5))
    for epsilon in (0.01, 1.0, 30.0):
        rival = fx.SmoothSensitivityMedian(
            epsilon, delta, bounds=(0, 10), noise=noise, neighbors=relation
        )
        for truth in (None, 3.0, 12.0):
            errors, variances = fx.expected_errors(rows, [rival], truth=truth, variance=True)
            for i, row in enumerate(rows):
                centre = sorted(row)[2]
                spread = fx.smooth_sensitivity(row, rival.beta, bounds=(0, 10), neighbors=relation)
                answers = np.clip(centre + spread / rival.alpha * z, 0, 10)
                away = np.abs(answers - (centre if truth is None else truth))
                close(errors[i, 0], away.mean(), rtol=1e-4, atol=2e-6)
                close(variances[i, 0], away.var(), rtol=1e-3, atol=2e-5)


@pytest.mark.parametrize("limit", ["error", "loss", "expected_error", "expected_loss"])
@pytest.mark.parametrize(
    ("mechanism", "data"),
    [
        (fx.Median(1.0, (0, 120), step=1), RECORDS[0]),
        (fx.Price(1.0, (0, 50), step=1), RECORDS[1, :50]),
        (fx.Laplace(1.0, 3, step=1), 100),
        (fx.PermuteAndFlip(1.0, 2), range(9)),
    ],
)
def test_epsilon_for(mechanism: Any, data: Any, limit: str) -> None:
    """At the epsilon the target holds, at the one before it does not."""
    target: dict[str, Any] = {limit: 2.5}
    if "expected" not in limit:
        target["probability"] = 0.9
    law = mechanism.law(data)
    if limit.endswith("error") and law.truth is None:
        with pytest.raises(ParameterError, match="truth"):
            law.epsilon_for(**target)
        return
    epsilon = law.epsilon_for(**target)

    def figure(e: float) -> float:
        made = replace(mechanism, epsilon=e).law(data)
        if "expected" in limit:
            return float(getattr(made, limit)())
        return float(getattr(made, f"{limit}_quantile")(0.9))

    assert figure(epsilon) <= 2.5 < figure(epsilon / 1.012)
    if limit.endswith("error"):
        with pytest.raises(ParameterError, match="larger"):  # it is 1 at least
            law.epsilon_for(**{**target, limit: 0.5}, truth=-1)


def test_refusals() -> None:
    """What has no law, no figure or no form is refused; a law shows nothing of its data."""
    median = fx.Median(1.0, (0, 120), step=1)
    law = median.law([31, 47, 52])
    smooth = fx.SmoothSensitivityMedian(1.0, bounds=(0, 1))
    for mechanism in fx.Quantiles([0.5, 0.9], 1.0, (0, 1)), smooth:
        with pytest.raises(ParameterError, match="no exact law"):
            mechanism.law([0.5])
    for call, error in (
        (lambda: median.law([[1, 2], [3, 4]]), ParameterTypeError),
        (lambda: median.law([1, math.nan]), InvalidRecords),
        (lambda: fx.Exponential(1.0, 1).law([1, math.inf]), InvalidUtilities),
        (lambda: fx.TopK(9, 1.0).law(range(20)), ParameterError),
        (lambda: fx.Laplace(1e-3, 1, step=1).law(10.0**19), InvalidRecords),
        (lambda: fx.Median(1.0, (0, 2**26), step=1).law([3]).probabilities, ParameterError),
        (lambda: law.ppf(1.5), ParameterError),
        (lambda: law.ppf("a"), ParameterTypeError),
        (lambda: law.pmf(math.nan), ParameterError),
        (lambda: law.expected_error(math.inf), ParameterError),
        (lambda: law.privacy_loss(fx.Median(1.0, (0, 121), step=1).law([3])), ParameterError),
        (lambda: law.privacy_loss(law).renyi(1), ParameterError),
        (lambda: law.privacy_loss(law).epsilon(-1), ParameterError),
        (lambda: law.epsilon_for(error=1), ParameterError),
        (lambda: law.epsilon_for(error=1, loss=1, probability=0.5), ParameterError),
        (lambda: law.epsilon_for(expected_error=1, probability=0.5), ParameterError),
        (lambda: law.epsilon_for(loss=-1, probability=0.5), ParameterError),
        (lambda: fx.expected_errors([1, 2], [median]), ParameterTypeError),
        (lambda: fx.expected_errors([[], []], [median]), ParameterTypeError),
        (lambda: fx.expected_errors([[1, math.nan]], [median]), InvalidRecords),
        (lambda: fx.expected_errors([[1, 2]], [fx.Exponential(1.0, 1)]), ParameterTypeError),
        (lambda: fx.expected_errors([[1, 2]], [median], truth=math.inf), ParameterError),
        (lambda: hash(law), TypeError),
    ):
        with pytest.raises(error):
            call()
    for shown in repr(law), law._repr_html_():
        assert "epsilon" in shown
        assert not any(number in shown for number in ("31", "47", "52", "0x"))


def test_plots() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    for law in (
        fx.Median(1.0, (0, 120)).law([31, 47, 52]),
        fx.Exponential(1.0, 1).law([1, 2, 3]),
        fx.Laplace(1.0, 1, step=1).law(9),
        fx.Exponential(1.0, 1).law(range(100)),
        fx.Median(4.0, grid=[0, 1, 2.5]).law([0] * 9),  # nearly all of it on the first point
        fx.Median(1.0, (0, 1000), step=1).law([*[0] * 9, *[900] * 9]),
    ):
        axes = law.plot()
        one = axes.patches[0]
        is_step = hasattr(one, "get_data")
        bars = one.get_data().values if is_step else [bar.get_height() for bar in axes.patches]
        assert 0.99 < np.sum(bars) < 1 + 1e-12
        assert law.plot(axes) is axes


def test_other_outcomes_and_several_answers_are_refused() -> None:
    one, other = (fx.Median(1.0, grid=grid).law([1]) for grid in ([0, 1, 2], [0, 1, 3]))
    with pytest.raises(fx.errors.ParameterError, match="same outcomes"):
        one.privacy_loss(other)
    several = fx.Quantiles(count=3, epsilon=1.0, bounds=(0, 9))
    with pytest.raises(fx.errors.ParameterTypeError, match="mechanisms must answer"):
        fx.expected_errors([[1, 2, 3]], [several])


def test_no_epsilon_of_a_total_of_rho() -> None:
    law = fx.TopK(2, rho=1.0).law([1.0, 2.0, 3.0])
    with pytest.raises(fx.errors.ParameterError, match="got one with rho"):
        law.epsilon_for(expected_loss=1.0)
