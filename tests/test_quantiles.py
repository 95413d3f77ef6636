"""Quantiles: the window of one at extremes, and the law and the promise of several by recursion.

The exact law of several is a sum over all places of all records, so it is computed for small data
and few places; draws by as few places follow it. A split of ties by ranks breaks the promise.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from fastexp.kernels import cells

from . import oracle, test_conformance
from .oracle import ADD_REMOVE, REPLACE
from .table import ALL_RECORDS, SIZE
from .test_exactness import interpreted
from .test_law import fits

QUARTERS = tuple(Fraction(j, 4) for j in (1, 2, 3))
EIGHTHS = tuple(Fraction(j, 8) for j in range(1, 8))
PLACES = "fastexp.draws.quantiles.PLACE_BITS"
TIES = (2, 0, 2, 2, 3)


def several(epsilon: float = 4.0, q: Any = QUARTERS, size: int = SIZE, **options: Any) -> Any:
    return fx.Quantiles(q, epsilon, (0, size - 1), step=1, **options)


def code(answers: Any) -> Any:
    """Return a number for the answers in the last axis."""
    return np.asarray(answers) @ 10 ** np.arange(np.shape(answers)[-1])


def coded(law: dict[Any, Any]) -> dict[int, float]:
    return {int(code(answers)): float(p) for answers, p in law.items()}


# The promise


@lru_cache(None)
def laws(places: int) -> dict[Any, Any]:
    """Return the laws of small data: a node has the weight 2**-d, epsilon = 2 ln 2, on 2 levels."""
    return {
        data: oracle.recursion(data, QUARTERS, SIZE, places, lambda x: Fraction(1, 2) ** int(x))
        for data in ALL_RECORDS
    }


@pytest.mark.parametrize("places", [1, 2])
@pytest.mark.parametrize(("relation", "share"), [(ADD_REMOVE, 0.7), (REPLACE, 0.6)])
def test_promise(relation: str, share: float, places: int) -> None:
    """Exact laws of all neighbours keep epsilon and rho, and use most of epsilon."""
    known, worst, divergence = laws(places), Fraction(1), 0.0
    epsilon = 4 * math.log(2) * (2 if relation == REPLACE else 1)
    rho = several(epsilon, neighbors=relation).guarantee.rho
    assert math.isclose(rho, 2 * fx.privacy.selection_rho(epsilon / 2))
    for data, law in known.items():
        assert sum(law.values()) == 1
        for near in known.keys() & set(oracle.neighbours(data, SIZE, relation)):
            p = np.array([[float(law[x]), float(known[near][x])] for x in law])
            worst = max(worst, *(law[x] / known[near][x] for x in law))
            for order in (1.001, 2, 8):
                moment = math.log(math.fsum(p[:, 0] ** order * p[:, 1] ** (1 - order)))
                divergence = max(divergence, moment / (order - 1) / order)
    assert share * epsilon < math.log(worst) <= epsilon
    assert divergence <= rho


def test_split_by_ranks_breaks_the_promise() -> None:
    """One record moves all later ties to the other side: 4**7.01 for a promise of 4**6."""
    ratios = []
    for by_rank in (False, True):
        law, near = (
            oracle.recursion(
                data, EIGHTHS, SIZE, 1, lambda x: Fraction(1, 4) ** int(x), by_rank=by_rank
            )
            for data in ((0,) * 3 + (1, 2, 3) * 4, (0,) * 4 + (1, 2, 3) * 4)
        )
        ratios.append(max(max(law[x] / near[x], near[x] / law[x]) for x in law))
    assert ratios[0] < 4**6 < 4**7 < ratios[1]


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("m", [2, 3, 4, 7, 8, 4095, 4096])
def test_guarantee(m: int, relation: str) -> None:
    levels = m.bit_length()
    for epsilon in (1e-9, 0.1, 1.0, 8.0 * levels, 1e4):
        options: Any = {"count": m, "epsilon": epsilon, "neighbors": relation}
        promise = fx.Quantiles(bounds=(0, 1), **options).guarantee
        assert (promise.epsilon, promise.neighbors, promise.delta) == (epsilon, relation, 0)
        assert promise.bounded_range is None
        least = min(levels * oracle.bounded_range_rho(epsilon / levels), epsilon)
        assert least * (1 - 1e-15) <= promise.rho <= least * (1 + 1e-11)
        assert promise.assumes


# The law


def paths(mechanism: Any, data: Any) -> Iterator[tuple[str, Any]]:
    yield "release", [code(mechanism.release(data)) for _ in range(1000)]
    yield "one", [code(mechanism.sample(data, rng=i)) for i in range(1000)]
    yield "many", code(mechanism.sample(data, 10_000, rng=1))
    rows = np.tile(np.asarray(data), (3000, 1))
    yield "rows", code(mechanism.sample(rows, rng=2))
    yield "many of rows", code(mechanism.sample(rows[:30], 100, rng=3))
    streams = 2**63 + np.arange(3000, dtype=np.uint64)
    yield "streams", code(mechanism.sample(rows, rng=4, streams=streams))


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("q", [QUARTERS, (0.1, 0.9), EIGHTHS[2:6]], ids=repr)
def test_draws(q: Any, relation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two places a point, draws by every path follow the exact law."""
    monkeypatch.setattr(PLACES, 1)
    mechanism = several(3.0, q, neighbors=relation)
    levels = len(q).bit_length() * (2 if relation == REPLACE else 1)
    exact = [Fraction(str(x)) for x in q]
    for data in ((), (2,), TIES):
        law = oracle.recursion(data, exact, SIZE, 2, lambda x: math.exp(-3.0 / levels / 2 * x))
        for path, answers in paths(mechanism, data):
            assert fits(answers, coded(law)), (data, path)


def test_draws_by_many_places() -> None:
    """They follow the limit of laws by 1, 2 and 4 places: errors are a series in 1/places."""
    one, two, four = (
        coded(oracle.recursion((1, 1, 2), QUARTERS, SIZE, places, lambda x: math.exp(-x / 4)))
        for places in (1, 2, 4)
    )
    answers = code(several(1.0).sample([1, 1, 2], 30_000, rng=1))
    assert fits(answers, {x: (8 * four[x] - 6 * two[x] + one[x]) / 3 for x in four})
    assert not fits(answers, four)


def test_one_quantile_is_the_median() -> None:
    """Quantile(0.5) has the draws of the median, whatever the convention."""
    for kind, relation in itertools.product(("weak", "lower", "upper"), (ADD_REMOVE, REPLACE)):
        options: Any = {"step": 1, "neighbors": relation, "convention": kind}
        for half in (0.5, Fraction(1, 2), Decimal("0.5"), np.float32(0.5)):
            one = fx.Quantile(half, 1.0, (0, 9), **options).sample([1, 4, 4, 8], 500, rng=1)
            assert (one == fx.Median(1.0, (0, 9), **options).sample([1, 4, 4, 8], 500, rng=1)).all()


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize(
    ("q", "kind"), [(0.1, "weak"), (0.3, "lower"), (0.9, "lower"), (0.5, "lower"), (0.5, "upper")]
)
@pytest.mark.parametrize(("n", "epsilon"), [(300, 0.5), (2500, 0.05), (2500, 2.0)])
def test_many_records(n: int, epsilon: float, q: float, kind: Any, relation: Any) -> None:
    """Ranges of about equal probability have the law's shares, with ties and without."""
    for records in (np.random.default_rng(n).integers(0, 1001, n), np.arange(n) // 90 * 30 + 1):
        exact = Fraction(str(q))

        def distance(*sides: int, exact: Fraction = exact) -> Any:
            if kind == "weak" or relation == REPLACE:
                return oracle.quantile_distance(*sides, exact, kind, relation)
            # Its search takes long. The upper one is the lower one of the records in reverse.
            return lower_distance(exact, *(sides if kind == "lower" else sides[::-1]))

        is_in_ranks = kind == "weak" and relation == ADD_REMOVE
        rate = epsilon / 2 / float(max(exact, 1 - exact) if is_in_ranks else 1)
        found = [(a, k, float(d)) for a, k, d in oracle.cells(records.tolist(), 1201, distance)]
        law = np.asarray(oracle.cell_law(found, rate))  # type: ignore[arg-type]
        ranges = np.floor(30 * (np.cumsum(law) - law / 2)).astype(int)
        shares = {int(r): math.fsum(law[ranges == r]) for r in np.unique(ranges)}
        starts = [start for start, _, _ in found]
        options: Any = {"step": 1, "neighbors": relation, "convention": kind}
        mechanism = fx.Quantile(q, epsilon, (0, 1200), **options)
        for draws in (
            mechanism.sample(records, 100_000, rng=1),
            mechanism.sample(np.tile(records, (200, 1)), rng=2),
            [mechanism.release(records + 0.25) for _ in range(200)],
        ):
            assert fits(ranges[np.searchsorted(starts, draws, "right") - 1], shares)


def lower_distance(q: Fraction, below: int, equal: int, above: int) -> int:
    """The formula for what `oracle.quantile_distance` searches."""
    low = (1 - q) * below - q * (equal + above)  # must be < 0
    high = q * above - (1 - q) * (below + equal)  # must be <= 0
    fast, slow = max(q, 1 - q), min(q, 1 - q)
    copy = 0 if equal else fast - slow  # one step must add a copy
    steps = [0]
    if low >= 0:
        steps.append(1 + (low + (copy if q < Fraction(1, 2) else 0)) // fast)
    if high > 0:
        steps.append(math.ceil((high + (copy if q > Fraction(1, 2) else 0)) / fast))
    return int(max(steps))


def test_lower_distance() -> None:
    for q in (Fraction(1, 2), Fraction(3, 10), Fraction(9, 10), Fraction(1, 3)):
        for sides in itertools.product(range(5), range(3), range(5)):
            if any(sides):
                found = oracle.quantile_distance(*sides, q, "lower", ADD_REMOVE)
                assert lower_distance(q, *sides) == found, (q, sides)


QUANTILES = (Fraction(1, 10**9), Fraction(1, 7), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10))
QUANTILES += (1 - Fraction(1, 10**9),)


@interpreted
@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("kind", ["weak", "lower", "upper"])
def test_window(kind: str, relation: str) -> None:
    """It holds all points at distance 0, in as much room as is made; those beyond it are far."""
    room = sys.modules["fastexp.draws.ranks"].room
    for q in QUANTILES if kind != "upper" else [Fraction(1, 2)]:
        options: Any = {"step": 1, "neighbors": relation, "convention": kind}
        distance = fx.Quantile(q, 1.0, (0, 9), **options)._statistic.distance
        growth = distance.growth
        assert growth >= 1
        for n, beyond in itertools.product(range(1, 40), (0, 2, 5)):
            form = distance.form(n)
            first, most = cells.ranks_that_matter(form, n, beyond)
            assert 0 < most <= room(n, beyond, False)[0] <= min(n, 2 * beyond + 2)
            of_records = [cells.distance(r, 1, n - 1 - r, form) for r in range(n)]
            assert 0 in of_records
            for r, d in enumerate(of_records):
                if not first <= r < first + most:
                    assert d >= growth * beyond - 1
                    assert d > 0
            # Of points without records beyond the window, and the bounds of loose cells.
            last = first + most
            for gap in [*range(first + 1 if first else 0), *range(last, n + 1 if last < n else 0)]:
                assert cells.distance(gap, 0, n - gap, form) >= growth * beyond - 1
            if first:
                assert cells.least(n - first, form, cells.RIGHT) >= growth * beyond - 1
            if last < n:
                assert cells.least(last, form, cells.LEFT) >= growth * beyond - 1


# Accuracy, doors, extremes


def rank_errors(records: Any, q: Any, answers: Any) -> Any:
    """Return the number of records between each answer and the record that it stands for."""
    below, upto = (np.searchsorted(np.sort(records), answers, side) for side in ("left", "right"))
    target = np.asarray(q, float) * len(records)
    return np.maximum(0, np.maximum(below - target, target - upto))


def test_ties_do_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ages of 32,561 persons: errors of a few records; a split at the answer has ten times as many.

    So have 16 places a point, which leave some 50 ages at each.
    """
    ages = np.random.default_rng(1).gamma(8.0, 4.8, 32_561).round().clip(17, 90)
    deciles = np.arange(1, 10) / 10
    found = []
    for bits in (16, 12, 4, 0):
        monkeypatch.setattr(PLACES, bits)
        mechanism = fx.Quantiles(deciles, 0.1, (0, 120), step=1)
        found.append(rank_errors(ages, deciles, mechanism.sample(ages, 60, rng=1)).mean())
    assert max(found[:2]) < 9
    assert found[3] > 5 * found[0]


def test_forms() -> None:
    """The same data and quantiles, however they come, have the same draws, and rows their own."""
    mechanism = several(2.0, [0.25, Decimal("0.5"), np.float32(0.75)])
    assert mechanism == several(2.0, None, count=3) == several(2.0, np.array([0.25, 0.5, 0.75]))
    assert hash(mechanism) == hash(several(2.0))
    for data in ((), TIES, tuple(range(4)) * 3):
        for size in (None, 1, 5):
            draws = mechanism.sample(data, size, rng=7)
            assert draws.shape == (3,) if size is None else (size, 3)
            orders = [*test_conformance.doors(data), ("descending", sorted(data)[::-1])]
            for name, form in orders:
                assert test_conformance.same(mechanism.sample(form, size, rng=7), draws), name
            rows = mechanism.sample([data, data[::-1]], size, rng=7)
            assert np.array_equal(rows[0], draws)
            assert rows.shape == (2, *draws.shape)
            assert np.array_equal(rows[1], mechanism.sample(data, size, rng=7, streams=[1]))
    many = mechanism.sample(TIES, 400, rng=7)
    assert np.array_equal(many[:5], mechanism.sample(TIES, 5, rng=7))
    answers = fx.Quantiles(count=9, epsilon=1.0, bounds=(0, 1), step=0.1).release([0.3] * 9)
    assert (answers.dtype, answers.shape) == (np.float64, (9,))
    assert mechanism.release(TIES).dtype == np.int64
    assert (np.diff(many) >= 0).all()


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1.0, 1e4])
def test_every_draw_ends(epsilon: float, relation: Any) -> None:
    """Extreme data and quantiles are answered within a second of CPU."""
    least = Fraction(1, 10**9)
    options: Any = {"neighbors": relation}
    for step in (None, 1):
        grid: Any = {"bounds": (0, 1000), "step": step, **options}
        mechanisms: list[Any] = [fx.Quantiles(count=m, epsilon=epsilon, **grid) for m in (2, 200)]
        mechanisms.append(fx.Quantiles((least, 2 * least, 1 - least), epsilon, **grid))
        for q, kind in itertools.product((least, 1e-5, 0.5, 1 - least), ("weak", "lower", "upper")):
            if kind != "upper" or q == 0.5:
                mechanisms.append(fx.Quantile(q, epsilon, convention=kind, **grid))
        for n in (0, 1, 2, 3, *(2**b + d for b in (6, 11) for d in (-1, 0, 1)), 2**16):
            for records in (np.zeros(n), np.arange(n) % 2 * 1000, np.arange(n), np.full(n, 333.3)):
                for mechanism in mechanisms:
                    start = time.process_time()
                    answer = np.asarray(mechanism.release(records))
                    assert time.process_time() - start < 1
                    assert 0 <= answer.min() <= answer.max() <= 1000


@pytest.mark.parametrize("records", [np.full(10**6, 0.5), np.arange(10**6) / 10**6], ids=len)
def test_a_million_records(records: Any) -> None:
    mechanism = fx.Quantiles(count=4096, epsilon=1e-9, bounds=(0, 1))
    times = []
    for _ in range(3):
        start = time.process_time()
        mechanism.release(records)
        times.append(time.process_time() - start)
    assert min(times) < 1


def test_missing_records() -> None:
    for data in ([1.0, math.nan], [[1.0, 2.0], [math.nan, 2.0]], np.full(5000, math.nan)):
        with pytest.raises(fx.errors.InvalidRecords, match="must not be missing"):
            several().sample(data)


@pytest.mark.parametrize(
    ("make", "error", "parts"),
    [
        (lambda: fx.Quantile(0, 1, (0, 9)), "ParameterError", ("q", "(0, 1)", "got 0")),
        (lambda: fx.Quantile(1.0, 1, (0, 9)), "ParameterError", ("q", "(0, 1)", "got 1.0")),
        (lambda: fx.Quantile(95, 1, (0, 9)), "ParameterError", ("got 95; did you mean 0.95?",)),
        (lambda: fx.Quantile(math.nan, 1, (0, 9)), "ParameterError", ("q", "finite", "nan")),
        (lambda: fx.Quantile("0.5", 1, (0, 9)), "ParameterTypeError", ("q", "number", "str")),
        (
            lambda: fx.Quantile(Fraction(1, 10**9 + 1), 1, (0, 9)),
            "ParameterError",
            ("denominator of at most 10**9", "Fraction(1, 1000000000)"),
        ),
        (
            lambda: fx.Quantile(0.25, 1, (0, 9), convention="upper"),
            "ParameterError",
            ("convention", "'weak' or 'lower'", "got 'upper'"),
        ),
        (lambda: fx.Quantile(0.25, 1), "ParameterTypeError", ("bounds", "two")),
        (lambda: fx.Median(1, (0, 9), convention="strict"), "ParameterError", ("convention",)),
        (lambda: several(q=None), "ParameterError", ("q", "count", "not both")),
        (lambda: several(count=3), "ParameterError", ("q", "count", "not both")),
        (lambda: several(q=None, count=1), "ParameterError", ("count", "2 and 4096", "got 1")),
        (lambda: several(q=None, count=4097), "ParameterError", ("count", "2 and 4096", "4097")),
        (lambda: several(q=0.5), "ParameterTypeError", ("q", "sequence", "got float")),
        (lambda: several(q=[0.5]), "ParameterError", ("q", "2 and 4096", "got 1")),
        (lambda: several(q=[0.5, 0.5]), "ParameterError", ("increasing", "got 0.5 after 0.5")),
        (lambda: several(q=[0.5, 2]), "ParameterError", ("q", "(0, 1)", "mean 0.02?")),
        (lambda: fx.Quantiles([0.2, 0.5]), "ParameterError", ("epsilon",)),
        (lambda: several(0), "ParameterError", ("epsilon", "> 0", "got 0")),
    ],
)
def test_messages(make: Any, error: str, parts: tuple[str, ...]) -> None:
    with pytest.raises(getattr(fx.errors, error)) as raised:
        make()
    assert all(part in str(raised.value) for part in parts), raised.value
