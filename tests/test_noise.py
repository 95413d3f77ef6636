"""Prices, noise, randomised response and smooth sensitivities beyond the table's small data."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any

import mpmath
import numpy as np
import pytest

import fastexp as fx
from fastexp import errors
from fastexp.kernels import laplace as kernels
from fastexp.kernels.bits import LOG2E

from . import child, oracle
from .oracle import ADD_REMOVE, REPLACE
from .test_law import fits

WORD = 1 << 64


# Prices


@pytest.mark.parametrize(
    ("low", "step", "size"),
    [
        (0, 1, 8),
        (0, 0.01, 351),
        (0.29, 0.01, 100),
        (3, 7, 50),
        (1e6, 1e-3, 500),
        (0, 2.0**-10, 99),
        (10**12, 10**9, 20),
        (0, 0.001, 2**20),
    ],
)
def test_a_bid_buys_up_to_its_double(low: float, step: float, size: int) -> None:
    """So do prices, the doubles beside them, and what is outside: by a count of each price."""
    points = np.asarray(oracle.points(low, step, min(size, 3000)), float)
    rng = np.random.default_rng(1)
    bids = np.concatenate([points, rng.uniform(points[0] - step, points[-1] + step, 300)])
    bids = np.concatenate([bids, np.nextafter(bids, -np.inf), np.nextafter(bids, np.inf)])
    bids = rng.permutation(np.append(bids, [-1e300, 1e300, 5e-324, -5e-324, np.inf, -np.inf]))
    last = Fraction(str(low)) + (size - 1) * Fraction(str(step))
    top = int(last) if isinstance(step, int) else float(last)
    mechanism = fx.Price(1e18, (low, top), step=step)
    for part in (bids, bids[:9]):
        revenue = fx.revenue(part, points)
        assert revenue.tolist() == [p * float((part >= p).sum()) for p in points.tolist()]
    bids = bids[bids >= points[1]][: 2**21 // size]
    last_price = points[np.searchsorted(points, bids, "right") - 1]
    if size <= points.size:  # of one bid, the best price is the last at which it buys
        assert mechanism.sample(bids[:, None], rng=1).tolist() == last_price.tolist()
    assert mechanism.release([bids.min(), -1.0]) == last_price.min()


def test_prices_of_high_revenue() -> None:
    """Draws of 1,001 prices for 500 bids, some below all prices, have the law by definition."""
    rng = np.random.default_rng(2)
    points = [Fraction(i, 10) for i in range(50, 1051)]
    bids = np.round(rng.uniform(0, 110, 500), 1)
    utilities = [p * sum(x >= float(p) for x in bids.tolist()) for p in points]
    for epsilon, scaling in ((0.1, "tight"), (0.2, "textbook")):
        law = oracle.exponential(utilities, Fraction(epsilon) / 105 / (1 + (epsilon == 0.2)))
        classes = np.floor(np.cumsum(np.asarray(law, float)) * 30)
        shares = {c: math.fsum(float(p) for p in np.array(law)[classes == c]) for c in set(classes)}
        mechanism = fx.Price(epsilon, (5, 105), step=0.1, scaling=scaling)
        rows = np.tile(bids, (3000, 1))
        for draws in (
            [mechanism.release(bids) for _ in range(500)],
            [mechanism.sample(bids, rng=i) for i in range(500)],
            mechanism.sample(bids, 100_000, rng=1),
            mechanism.sample(rows, rng=2),
            mechanism.sample(rows[:40], 900, rng=3).ravel(),
        ):
            places = np.round(np.asarray(draws) * 10).astype(int) - 50
            assert fits(classes[places], shares)
        assert mechanism.sample(bids, rng=2, streams=[2999]) == mechanism.sample(rows, rng=2)[-1]


def test_bids_below_all_prices() -> None:
    """They buy at none: all prices are equally likely, as without bids."""
    mechanism = fx.Price(50.0, (5, 9), step=1)
    for bids in ([4.9, 0, -3], []):
        assert fits(mechanism.sample(bids, 5000, rng=1), dict.fromkeys(range(5, 10), 1 / 5))


# Laplace noise


def real(x: Fraction) -> Any:
    return mpmath.mpf(x.numerator) / x.denominator


def positions(a: Any, gap: Any, word: int) -> set[int]:
    """Return the positions of the ends of a word's interval of V, in 60 digits."""
    found, z = set(), 1 + mpmath.exp(-gap)
    for v in (mpmath.mpf(word) / WORD, mpmath.mpf(word + 1) / WORD):
        if v * z < 1:
            found.add(-int(mpmath.floor(-mpmath.log(v * z) / a)) if v else -(10**9))
        else:
            found.add(
                1 + int(mpmath.floor((-mpmath.log((1 - v) * z) - gap) / a)) if v < 1 else 10**9
            )
    return found


def is_bounded(rate: Fraction, lean: Fraction, shift: float = 1.0) -> tuple[bool, int]:
    """Whether all certain positions around breakpoints are right, and how many words are open."""
    a, gap = real(rate), real(rate * lean)
    words = [0, 1, 2**44 - 1, 2**44, 2**63 - 1, 2**63, WORD - 2**44, WORD - 1]
    far = round(20 / rate)
    for j in (*range(-5, 6), -60, 60, -far, far):
        share = mpmath.exp(a * j) if j <= 0 else 1 + mpmath.exp(-gap) - mpmath.exp(-gap - a * j)
        word = int(mpmath.floor(share / (1 + mpmath.exp(-gap)) * WORD))
        near = (0, *(sign * 2**b for b in (0, 4, 12, 19, 20, 21, 23) for sign in (-1, 1)))
        words += [word + d for d in near if 0 <= word + d < WORD]
    pairs, out = np.zeros(2 * len(words), np.uint64), np.empty(len(words), np.int64)
    pairs[::2] = words
    nats = float(rate) * LOG2E * shift
    few = kernels.fill_positions(pairs, nats, nats * float(lean), out)
    sure = [(w, t) for w, t in zip(words, out.tolist(), strict=True) if t < 1 << 61]
    assert few == len(words) - len(sure)
    return all(positions(a, gap, w) == {t} for w, t in sure), few


@pytest.mark.parametrize("lean", [Fraction(0), Fraction(1, 3), Fraction(999, 1000), Fraction(1)])
@pytest.mark.parametrize("rate", [Fraction(1, 10**6), Fraction(1, 50), Fraction(1), Fraction(30)])
def test_positions(rate: Fraction, lean: Fraction) -> None:
    with mpmath.workdps(60):
        is_right, few = is_bounded(rate, lean)
        assert is_right
        assert few > 20
        if rate <= 1:
            assert not is_bounded(rate, lean, 1 + 2.0**-28)[0]


COARSE = """
import json, numpy as np, fastexp as fx
from fastexp.draws import laplace as draws
from fastexp.kernels import laplace as kernels
kernels.MIN_WORD, draws.CERTAIN, draws.WIDTH = np.uint64({least}), np.uint64({certain}), {width}
cases = []
for epsilon, value in ((0.7, 1 / 3), (2.0, 0.9), (0.3, 5), (40.0, 0.25)):
    cases += [fx.Laplace(epsilon, 1, step=1).sample(value, {size}, rng=11).tolist()]
for step in (9.5e-7, 1.7e-12):
    cases += [fx.Laplace(1.0, 1, step=step).sample(1 / 3, {size}, rng=11).tolist()]
cases += [fx.RandomizedResponse(0.4).sample([0, 1] * 3, {size}, rng=11).tolist()]
print(json.dumps(cases))
"""
FINE = {"least": 1 << 44, "certain": WORD - (1 << 45), "width": 20}


def coarse(size: int, **changes: int) -> Any:
    code = COARSE.format(**{**FINE, **changes}, size=size)
    mode = {"FASTEXP_KERNELS": "python"} if "least" in changes or not changes else {}
    return json.loads(child.run(code, **mode))


def test_what_is_open_is_decided_alike() -> None:
    """If all draws are open and Fractions decide them, they are the same draws."""
    assert coarse(40) == coarse(40, least=WORD - 1, certain=0)


def continuous(z: Any) -> Any:
    """Return the distribution function of Laplace noise."""
    return np.where(z < 0, np.exp(-abs(z)) / 2, 1 - np.exp(-abs(z)) / 2)


def test_wide_blocks() -> None:
    """Points of blocks that are up to a nat wide are accepted by their weight."""
    for draws in coarse(8000, certain=0, width=0)[4:6]:
        shares = continuous(np.asarray(draws) - 1 / 3)
        assert fits(np.floor(shares * 15), dict.fromkeys(range(15), 1 / 15))


@pytest.mark.parametrize("steps", [10**5, 3 * 10**6, 2**30, 2**42])
@pytest.mark.parametrize("value", [0, 0.75, Fraction(1, 3)])
def test_fine_steps(steps: int, value: Any) -> None:
    """Answers on a fine grid have the continuous law; their last bits are uniform."""
    draws = fx.Laplace(1.0, steps, step=1).sample(value, 200_000, rng=steps)
    shares = continuous((draws - float(value)) / steps)
    assert fits(np.floor(shares * 50), dict.fromkeys(range(50), 1 / 50))
    assert fits(draws % 64, dict.fromkeys(range(64), 1 / 64))


def test_answers_far_from_0() -> None:
    """Integers of any size, and the doubles nearest to multiples of the step."""
    count = fx.Laplace(50.0, 1, step=1)
    assert abs(count.release(10**30) - 10**30) < 9
    assert abs(count.release(Fraction(10**30)) - 10**30) < 9
    assert isinstance(count.release(1e300), int)
    assert count.sample(2.0**62, 5, rng=1).dtype == np.int64
    with pytest.raises(errors.InvalidRecords):
        count.sample(10**30, 5, rng=1)
    tenths = fx.Laplace(50.0, 0.1, step=0.1)
    for value in (0.3, 1e15, 1e17, 2.0**999, -(10.0**22)):
        for draw in (tenths.release(value), *tenths.sample(value, 5, rng=1).tolist()):
            nearest = round(Fraction(draw) * 10)
            assert float(Fraction(nearest, 10)) == draw
            assert abs(Fraction(draw) - Fraction(value)) < 1 + abs(Fraction(value)) / 2**52
    clamped = fx.Laplace(1.0, 1, step=0.5, bounds=(-1, 1.5))
    assert [clamped.release(x) for x in (1e300, -1e300, Decimal("1e300"))] == [1.5, -1.0, 1.5]


def test_sensitivities_round_up() -> None:
    """To the next multiple of the step, as decimals; what a double has above its decimal counts."""
    for sensitivity, step, moves in (
        (2.5, 1, Fraction(3)),
        (3, 1, Fraction(3)),
        (0.3, 0.1, Fraction(3)),  # the double is below the decimal
        (0.1, 0.1, 1 + 2 * (Fraction(0.1) * 10 - 1)),
        (Fraction(1, 3), 1, Fraction(1)),
    ):
        mechanism = fx.Laplace(1.0, sensitivity, step=step)
        draws = mechanism.sample(0, 300_000, rng=4) / step
        law = oracle.noise(Fraction(0), 1 / moves, (-9, 9))
        near = np.clip(np.round(draws), -9, 9)
        assert fits(near, dict(zip(range(-9, 10), map(float, law), strict=True)))


# Smooth sensitivity: by definition, over all data sets


@lru_cache(None)
def local(size: int, relation: str, most: int) -> dict[Any, Any]:
    """Return, for each data set, how far its lower median moves at most by one record."""
    sizes = range(1, most + 1) if relation == ADD_REMOVE else [most]
    data = [d for n in sizes for d in combinations_with_replacement(range(size), n)]
    median = {d: d[(len(d) - 1) // 2] for d in data}
    near = {d: {e for e in oracle.neighbours(d, size, relation) if e in median} for d in data}
    return {d: (near[d], max(abs(median[d] - median[e]) for e in near[d])) for d in data}


@pytest.mark.parametrize(
    ("relation", "most"), [(REPLACE, 1), (REPLACE, 4), (REPLACE, 5), (ADD_REMOVE, 8)]
)
def test_smooth_sensitivity(relation: str, most: int) -> None:
    size = 4
    moves = local(size, relation, most)
    for data in [d for d in moves if relation == REPLACE or len(d) <= 3]:
        greatest, front, seen = [], {data}, {data}
        while front:
            greatest.append(max(moves[d][1] for d in front))
            front = {e for d in front for e in moves[d][0]} - seen
            seen |= front
        for beta in (0.05, 0.4, 1.0, 3.0):
            # records beyond `most` are not needed: the widest move has a distance of n + 1
            expected = max(math.exp(-beta * k) * a for k, a in enumerate(greatest))
            found = fx.smooth_sensitivity(data, beta, bounds=(0, size - 1), neighbors=relation)
            assert math.isclose(found, expected, rel_tol=1e-12), (data, beta)


def test_smooth_sensitivity_of_many_records() -> None:
    """By the greatest of all windows of ranks; rows as they are alone."""
    rng = np.random.default_rng(3)
    for n in (30, 101):
        rows = np.array([rng.normal(0, 4, n), rng.integers(-3, 3, n), rng.choice([-9.0, 9], n)])
        for beta in (1e-3, 0.1, 2.0, 300.0):
            found = fx.smooth_sensitivity(rows, beta, bounds=(-9, 9))
            for row, one in zip(rows, found.tolist(), strict=True):
                x = np.concatenate([[-9], np.sort(np.clip(row, -9, 9)), [9]])
                m, i = (n + 1) // 2, np.arange(n + 2)
                windows = (x - x[:, None]) * np.exp(-beta * np.maximum(i - i[:, None] - 1, 0))
                assert math.isclose(one, windows[: m + 1, m:].max(), rel_tol=1e-12, abs_tol=1e-300)
                assert fx.smooth_sensitivity(row, beta, bounds=(-9, 9)) == one


@pytest.mark.parametrize(("noise", "delta"), [("cauchy", 0), ("laplace", 0.001)])
def test_smooth_noise(noise: str, delta: float) -> None:
    mechanism = fx.SmoothSensitivityMedian(2.0, delta, bounds=(-9, 9), noise=noise)
    alpha, log = mechanism.alpha, math.log((1 + math.e) / 0.001)
    assert (alpha, mechanism.beta) == pytest.approx((1, 1 / log) if delta else (1 / 3, 1 / 3))
    records = np.random.default_rng(4).normal(0, 1, 25)
    scale = fx.smooth_sensitivity(records, mechanism.beta, bounds=(-9, 9)) / alpha
    ends = np.linspace(-8.9, 8.9, 41)
    z = (ends - np.sort(records)[12]) / scale
    cdf = 0.5 + np.arctan(z) / np.pi
    if delta:
        cdf = continuous(z)
    law = dict(enumerate(np.diff(np.concatenate([[0], cdf, [1]]))))
    rows = np.tile(records, (5000, 1))
    for draws in (
        [mechanism.sample(records, rng=i) for i in range(500)],
        mechanism.sample(records, 100_000, rng=1),
        mechanism.sample(rows, rng=2),
        mechanism.sample(rows[:9], 900, rng=3).ravel(),
    ):
        assert fits(np.searchsorted(ends, draws), law)
    with pytest.raises(errors.NotReleasable, match="simulations: use Median"):
        mechanism.release(records)
    promise = mechanism.guarantee
    assert (promise.epsilon, promise.delta, promise.neighbors) == (2.0, delta, REPLACE)
    assert math.isinf(promise.rho) == (delta > 0)


# Extremes, and wrong calls


def extremes(epsilon: float) -> Iterator[Any]:
    """Yield releases of extreme data."""
    for size in (2, 1001, 2**20):
        price = fx.Price(epsilon, (0, size - 1), step=1)
        for bids in ([], [size], [0.5], np.full(10**5, size / 2), np.arange(10**5) % 2 * size):
            yield lambda bids=bids, price=price: price.release(bids)
    response = fx.RandomizedResponse(epsilon)
    yield from (lambda: response.release(1), lambda: response.release([0, 1] * 5000))
    for step in (1, 2.0**-8):
        for bounds in (None, (-5, 5)):
            noise = fx.Laplace(epsilon, 1, step=step, bounds=bounds)
            for x in (0, -7, 0.1, 1e300, 5e-324, Fraction(1, 3**500), Decimal("1e-999")):
                yield lambda x=x, noise=noise: noise.release(x)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1.0, 1e4])
def test_every_draw_ends(epsilon: float) -> None:
    for draw in extremes(epsilon):
        start = time.process_time()
        draw()
        assert time.process_time() - start < 1


VALUE, TYPE, DATA = errors.ParameterError, errors.ParameterTypeError, errors.InvalidRecords
COUNT, BIT = fx.Laplace(1, 1, step=1), fx.RandomizedResponse(1)
PRICE = fx.Price(1, (0, 9), step=1)
SMOOTH = fx.SmoothSensitivityMedian(1, bounds=(0, 9))
WRONG: list[tuple[Any, type[Exception], tuple[str, ...]]] = [
    (lambda: fx.Price(1, (-1, 9), step=1), VALUE, ("bounds", ">= 0", "got step 1")),
    (lambda: fx.Price(1, (0, 2**20), step=1), VALUE, ("2**20 prices",)),
    (lambda: fx.Price(1, (1, 2**31 + 2), step=2**31 + 1), VALUE, ("bounds", "2**31")),
    (lambda: fx.Price(1, (0, 9), step=2), VALUE, ("step", "divide the bounds", "got step 2")),
    (lambda: fx.Price(0, (0, 9), step=1), VALUE, ("epsilon", "> 0", "got 0")),
    (lambda: fx.Price(1, (0, 9), step=1, scaling="loose"), VALUE, ("scaling", "'loose'")),
    (lambda: PRICE.release([1.0, float("nan")]), DATA, ("missing",)),
    (lambda: PRICE.release([[1, 2]]), TYPE, ("dimension",)),
    (lambda: fx.revenue([1.0, float("nan")], [1]), DATA, ("missing",)),
    (lambda: fx.revenue("ab", [1]), TYPE, ("bids", "numbers")),
    (lambda: fx.Laplace(1, 0, step=1), VALUE, ("sensitivity", "> 0", "got 0")),
    (lambda: fx.Laplace(1, 1, step=0), VALUE, ("step", "> 0", "got 0")),
    (lambda: fx.Laplace(1, 1, step="1"), TYPE, ("step", "number", "got str")),
    (lambda: fx.Laplace(1, 1, step=1e-13), VALUE, ("step", "2**42", "got 1e-13")),
    (lambda: fx.Laplace(1, 1, step=2, bounds=(1, 4)), VALUE, ("bounds", "multiples", "(1, 4)")),
    (lambda: fx.Laplace(1, 1, step=1, bounds=(4, 1)), VALUE, ("bounds", "lower", "got (4, 1)")),
    (lambda: fx.Laplace(1, 1, step=1, bounds=(0, 2**63)), VALUE, ("bounds", "2**63")),
    (lambda: COUNT.release(float("nan")), DATA, ("finite",)),
    (lambda: COUNT.release(float("-inf")), DATA, ("finite",)),
    (lambda: COUNT.release(2**1001), DATA, ("2**1000",)),
    (lambda: COUNT.release(Decimal("1e999999999")), DATA, ("2**1000",)),
    (lambda: COUNT.release(Decimal("1e-999999999")), DATA, ("2**1000",)),
    (lambda: COUNT.release(Decimal("sNaN")), DATA, ("finite",)),
    (lambda: COUNT.release("1"), TYPE, ("number",)),
    (lambda: COUNT.release(None), TYPE, ("number",)),
    (lambda: COUNT.release(True), TYPE, ("number", "truth value")),
    (lambda: COUNT.sample([], rng=1), TYPE, ("number",)),
    (lambda: COUNT.sample([[1], [2, 3]], rng=1), TYPE, ("number",)),
    (lambda: COUNT.sample([1.0, float("inf")], rng=1), DATA, ("finite",)),
    (lambda: COUNT.sample(1, rng=1, streams=[1, 2]), VALUE, ("streams",)),
    (lambda: BIT.release(2), DATA, ("0 or 1",)),
    (lambda: BIT.release([0, -1]), DATA, ("0 or 1",)),
    (lambda: BIT.release(1.0), TYPE, ("bit",)),
    (lambda: BIT.release([]), TYPE, ("bit",)),
    (lambda: BIT.release([[0, 1]]), TYPE, ("bit",)),
    (lambda: BIT.release([[0], [0, 1]]), TYPE, ("bit",)),
    (lambda: BIT.release(None), TYPE, ("bit",)),
    (lambda: BIT.release(np.ma.array([0, 1], mask=[0, 1])), TYPE, ("bit",)),
    (lambda: fx.RandomizedResponse(-1), VALUE, ("epsilon", "> 0", "got -1")),
    (lambda: SMOOTH.sample([], rng=1), DATA, ("empty",)),
    (lambda: SMOOTH.sample([1.0, float("nan")], rng=1), DATA, ("missing",)),
    (lambda: fx.SmoothSensitivityMedian(1, 0.1, bounds=(0, 9)), VALUE, ("delta", "0.1")),
    (
        lambda: fx.SmoothSensitivityMedian(1, bounds=(0, 9), noise="laplace"),
        VALUE,
        ("delta", "(0, 1)"),
    ),
    (lambda: fx.SmoothSensitivityMedian(1, bounds=(0, 9), noise="t"), VALUE, ("noise", "'t'")),
    (lambda: fx.Laplace(1e-3, 1e300, step=1e300), VALUE, ("step", "1e270")),
    (lambda: fx.SmoothSensitivityMedian(0, bounds=(0, 9)), VALUE, ("epsilon", "> 0")),
    (lambda: fx.smooth_sensitivity([1], 0, bounds=(0, 1)), VALUE, ("beta", "> 0", "got 0")),
    (lambda: fx.smooth_sensitivity([1], 1, bounds=(1, 0)), VALUE, ("bounds", "lower")),
    (lambda: fx.smooth_sensitivity([1], 1, bounds=(0, 1), neighbors=1), VALUE, ("neighbors",)),
]


@pytest.mark.parametrize(("call", "error", "words"), WRONG)
def test_wrong_calls(call: Any, error: type[Exception], words: tuple[str, ...]) -> None:
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(("share", "least", "most"), [(0.1, 0, 16), (0.9, 10, 65)])
def test_lies_beyond_the_first_bits(share: float, least: int, most: int) -> None:
    """16 bits leave the draw open: a lie has a share of 2**-16. In 2**21 draws: 3 lies, or 29.

    Believing or refusing all open draws would be 32 lies, or none; right draws fail once in 10**6.
    """
    response = fx.RandomizedResponse(math.log(2**16 / share - 1))
    lies = (1 << 21) - int(response.release(np.ones(1 << 21, np.int64)).sum())
    assert least <= lies <= most
