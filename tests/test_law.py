"""Do public figures and draws by every path follow the law by the definition?

Draws are judged by a G-test without approximation: for n draws of a law with m answers, and x the
sum of count * ln(count / expected), P(x >= t) <= exp(-t) * (e * t / (m - 1))**(m - 1) for every
t > m - 1, n and law (Agrawal, "Finite-sample concentration of the multinomial in relative entropy",
IEEE Transactions on Information Theory 66, 2020). Simulations are seeded, so they never fail by
chance. Fewer than 1,000 tests are made of releases: a run fails by chance with less than 1e-6.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastexp as fx

from . import oracle
from .oracle import ADD_REMOVE, REPLACE
from .table import ALL_RECORDS, MECHANISMS, NAMES, SIZE, WITHOUT_ROWS, Row, counted

LIMIT = -math.log(1e-9)
DRAWS, SINGLE, RELEASES = 150_000, 300, 600


def surprise(counts: Mapping[Any, float], law: Mapping[Any, float]) -> float:
    """Return -ln of the bound above for such counts, or more extreme ones."""
    n, degrees = sum(counts.values()), sum(p > 0 for p in law.values()) - 1
    seen = {answer: count for answer, count in counts.items() if count}
    if any(not law.get(answer, 0) for answer in seen):
        return math.inf
    x = sum(count * math.log(count / (n * law[answer])) for answer, count in seen.items())
    return x - degrees * (1 + math.log(x / degrees)) if x > degrees else 0.0


def fits(answers: Any, law: Mapping[Any, float]) -> bool:
    return surprise(counted(answers), law) < LIMIT


def agrees(figures: Any, law: Sequence[Fraction]) -> bool:
    """Whether probabilities are within a relative 1e-13 and, if they are tiny, 1e-300."""
    expected = [float(p) for p in law]
    return np.allclose(figures, expected, rtol=1e-13, atol=1e-300)


def paths(row: Row, data: Any) -> Iterator[tuple[str, Any]]:
    """Draw by every path of `sample`."""
    mechanism, told = row.make(), row.told(data)
    yield "one", [mechanism.sample(told, rng=i) for i in range(SINGLE)]
    yield "few", np.concatenate([mechanism.sample(told, 3, rng=i) for i in range(SINGLE)])
    yield "many", mechanism.sample(told, row.draws, rng=0)
    if row.kind not in WITHOUT_ROWS:
        rows = row.rows(told, row.draws // 10)
        yield "rows", mechanism.sample(rows, rng=1)
        yield "few of rows", mechanism.sample(rows, 3, rng=2)
        yield "many of rows", mechanism.sample(rows[: row.draws // 2000], 900, rng=3)
        streams = np.arange(10**19, 10**19 + 900, dtype=np.uint64)
        yield "streams", mechanism.sample(rows[:900], rng=4, streams=streams)


def named(law: Sequence[Fraction], answers: Sequence[Any] | None) -> dict[Any, float]:
    return dict(zip(answers or range(len(law)), map(float, law), strict=True))


@pytest.mark.parametrize("row", MECHANISMS, ids=NAMES)
def test_figures(row: Row) -> None:
    for data in row.data:
        assert agrees(row.figures(data), row.law(data)), data


@pytest.mark.parametrize("row", MECHANISMS, ids=NAMES)
def test_draws(row: Row) -> None:
    for data in row.data:
        law = named(row.law(data), row.drawn)
        for path, answers in paths(row, data):
            assert fits(row.number(data, answers), law), (data, path)


@pytest.mark.parametrize("row", MECHANISMS, ids=NAMES)
def test_releases(row: Row) -> None:
    mechanism = row.make()
    for data in row.data:
        law, told = named(row.law(data), row.released), row.told(data)
        answers = [mechanism.release(told) for _ in range(RELEASES)]
        assert fits(row.number(data, answers), law), data
    if row.kind not in WITHOUT_ROWS:
        array = np.asarray(told)
        answers = [mechanism.release(array) for _ in range(RELEASES)]
        assert fits(row.number(data, answers), law)


def test_distance_formula() -> None:
    """The formula for large data is what the search finds for small ones."""
    for relation in (ADD_REMOVE, REPLACE):
        for data in ALL_RECORDS:
            found = oracle.duff(oracle.median, data, SIZE, relation)
            sides = [oracle.sides(data, t) for t in range(SIZE)]
            assert [oracle.median_distance(*s, relation) for s in sides] == found


@pytest.mark.parametrize("base", [None, (1, 0, 2.5), (1e-3, 2.0**52, 5)])
@pytest.mark.parametrize("monotonic", [False, True])
def test_log_normalizer(monotonic: bool, base: Any) -> None:
    rows = [(3, 9, 2), (0.5, -9.25, 5), (-1e3, -1e3, -1e3), (1e15, 1e15 + 1, 0), (700.0, 1, -700)]
    rate = Fraction(3, 2) / Fraction(2.5) / (1 if monotonic else 2)
    expected = [oracle.log_normalizer(row, rate, base) for row in rows]
    options: dict[str, Any] = {"monotonic": monotonic, "base": base}
    figures = fx.log_normalizer(rows, 1.5, 2.5, **options)
    np.testing.assert_allclose(figures, expected, rtol=1e-13, atol=1e-13)
    assert [fx.log_normalizer(row, 1.5, 2.5, **options) for row in rows] == figures.tolist()
    assert isinstance(fx.log_normalizer(rows[0], 1.5), float)
    law = fx.probabilities(rows, 1.5, 2.5, **options)
    assert law.shape == (5, 3)
    for row, probabilities in zip(rows, law, strict=True):
        assert agrees(probabilities, oracle.exponential(row, rate, base))


def test_probabilities_of_many() -> None:
    """Errors do not grow with the number of candidates; two exponents are far below 2**-1000."""
    utilities = np.concatenate([np.arange(30_000) % 11, [-5000.0, -1e300]])
    weights = [math.exp(-u / 2) for u in range(10, -1, -1)]
    total = math.fsum(weights[u] for u in range(11) for _ in range(u, 30_000, 11))
    law = fx.probabilities(utilities, 1.0)
    expected = np.take(weights, np.arange(30_000) % 11) / total
    np.testing.assert_allclose(law[:-2], expected, rtol=1e-13)
    assert (law[-2:] < 1e-290).all()
    assert abs(fx.log_normalizer(utilities, 1.0) - math.log(total) - 5) < 1e-13


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
def test_median_utilities(relation: str) -> None:
    """Utilities between the records, and at points, are minus the distances."""
    for data in ALL_RECORDS:
        own = fx.median_utilities(data, bounds=(-1, SIZE), neighbors=relation, points=range(SIZE))
        searched = oracle.duff(oracle.median, data, SIZE, relation)
        assert own.tolist() == [-d for d in searched]
        edges, utilities = fx.median_utilities(data, bounds=(0.5, 2.5), neighbors=relation)
        clipped = sorted(min(max(float(x), 0.5), 2.5) for x in data)
        assert edges.tolist() == [0.5, *clipped, 2.5]
        n = len(data)
        gaps = [-oracle.median_distance(i, 0, n - i, relation) for i in range(n + 1)]
        assert utilities.tolist() == gaps
        assert np.issubdtype(utilities.dtype, np.integer)


def candidate_cases() -> Iterator[Any]:
    rng = np.random.default_rng(1)
    for k in (2, 3, 9, 32, 33, 64, 200, 1023, 1024, 1025, 2048, 2049, 3000):
        yield pytest.param(rng.integers(0, 6, k), None, id=f"{k} counts")
        yield pytest.param(
            rng.integers(0, 6, k) + 0.5,
            rng.integers(0, 3, k) / 4 + (np.arange(k) < 2),
            id=f"{k} with a base",
        )
    yield pytest.param(np.append(np.full(1500, -60.0), [0, -0.5]), None, id="far below")
    yield pytest.param(np.append([0, -0.5], np.full(1500, -30.0)), None, id="far behind")
    yield pytest.param(np.full(2500, -1e300), None, id="all equal")
    yield pytest.param(np.array([1.7e308, -1.7e308, 1.7e308]), None, id="overflow")
    yield pytest.param(np.arange(40) * 2.0**-1070, None, id="subnormal")
    yield pytest.param(2**63 + np.arange(40, dtype=np.uint64) // 9, None, id="beyond 2**63")
    yield pytest.param(2**53 + np.arange(40) // 9, None, id="beyond 2**53")
    yield pytest.param(np.arange(6) * 20, 4.0 ** -np.arange(0, 60, 10), id="base against utility")
    yield pytest.param(
        np.array([1e300, 0, 1, -3]), np.array([0, 2.0**52, 1, 2.0**-30]), id="void best"
    )


@pytest.mark.parametrize(("utilities", "base"), list(candidate_cases()))
def test_many_candidates(utilities: Any, base: Any) -> None:
    """Classes of candidates of one weight, split by their places, have the law's shares."""
    k = utilities.size
    mechanism = fx.Exponential(1.0, 1.0, base=base)
    measure = np.ones(k) if base is None else base
    best = max(u for u, b in zip(utilities.tolist(), measure.tolist(), strict=True) if b)
    weights = [
        b * math.exp((u - best) / 2) if b else 0.0
        for u, b in zip(utilities.tolist(), measure.tolist(), strict=True)
    ]
    total = math.fsum(weights)
    _, kinds = np.unique(np.round(np.log(np.maximum(weights, 1e-99)), 6), return_inverse=True)
    classes = kinds * 8 + np.arange(k) * 8 // k
    law = {int(c): math.fsum(np.asarray(weights)[classes == c]) / total for c in np.unique(classes)}
    rows = np.tile(utilities, (2_000_000 // max(k, 100), 1))
    for path, draws in (
        ("release", [mechanism.release(utilities) for _ in range(RELEASES)]),
        ("one", [mechanism.sample(utilities, rng=i) for i in range(SINGLE)]),
        ("few", [mechanism.sample(utilities, 3, rng=i) for i in range(SINGLE)]),
        ("many", mechanism.sample(utilities, DRAWS, rng=1)),
        ("rows", mechanism.sample(rows, rng=2)),
        ("few of rows", mechanism.sample(rows[:500], 4, rng=3)),
        ("many of rows", mechanism.sample(rows[:20], 1500, rng=4)),
    ):
        assert fits(classes[np.asarray(draws)], law), path


def record_cases() -> Iterator[Any]:
    rng = np.random.default_rng(2)
    for n in (1, 2, 3, 64, 65, 129, 200, 1025, 4097, 9000):
        for top in (11, 120, 2**20, 10**12) if n < 4000 else (120, 10**12):
            yield pytest.param(rng.integers(0, top + 1, n), top, 60 / n, id=f"{n} in {top}")
    for n in (2000, 2001):
        cluster = rng.integers(5 * 10**11, 5 * 10**11 + 100, n)
        for epsilon in (0.003, 0.05, 0.5):
            yield pytest.param(cluster, 10**12, epsilon, id=f"cluster of {n}, {epsilon}")
        yield pytest.param(np.full(n, 7), 10, 0.01, id=f"{n} equal")
        yield pytest.param(np.arange(n) % 2 * 10, 10, 0.01, id=f"{n} at the ends")
        yield pytest.param(np.repeat([0, 4, 10], [n // 2, 1, n // 2]), 10, 0.01, id=f"{n} balanced")
    misleading = rng.integers(0, 1001, 4096)  # what a regular sample shows is far from the median
    misleading[::16] = 1000
    yield pytest.param(misleading, 1000, 0.02, id="misleading sample")
    yield pytest.param(np.sort(misleading)[::-1], 1000, 0.02, id="descending")


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize(("records", "top", "epsilon"), list(record_cases()))
def test_many_records(records: Any, top: int, epsilon: float, relation: str) -> None:
    """Some 40 ranges of cells of about equal weight, gaps cut in four, have the law's shares."""
    mechanism = fx.Median(epsilon, (0, top), step=1, neighbors=relation)

    def distance(below: int, equal: int, above: int) -> int:
        return oracle.median_distance(below, equal, above, relation)

    cells = []
    for start, count, steps in oracle.cells(records.tolist(), top + 1, distance):
        cuts = [start + count * i // 4 for i in range(5)] if count > 3 else [start, start + count]
        cells += [(a, z - a, steps) for a, z in itertools.pairwise(cuts)]
    law = np.asarray(oracle.cell_law(cells, epsilon / 2))
    starts = np.array([start for start, _, _ in cells])
    ranges = np.floor(40 * (np.cumsum(law) - law / 2)).astype(int)
    shares = {int(r): math.fsum(law[ranges == r]) for r in np.unique(ranges)}
    rng = np.random.default_rng(3)
    floats = records + rng.uniform(-0.49, 0.49, records.size)  # the same grid points
    rows = rng.permuted(np.tile(floats, (200_000 // records.size // 10 + 2, 1)), axis=1)
    for path, draws in (
        ("release", [mechanism.release(floats) for _ in range(150)]),
        ("sorted integers", [mechanism.release(np.sort(records)) for _ in range(150)]),
        ("one", [mechanism.sample(records, rng=i) for i in range(150)]),
        ("few", [mechanism.sample(floats, 3, rng=i) for i in range(50)]),
        ("many", mechanism.sample(floats, DRAWS, rng=1)),
        ("rows", mechanism.sample(rows, rng=2)),
        ("few of rows", mechanism.sample(rows[:500], 3, rng=3)),
        ("many of rows", mechanism.sample(rows[:9], 900, rng=4)),
    ):
        found = np.searchsorted(starts, np.asarray(draws), "right") - 1
        assert fits(ranges[found], shares), path


@pytest.mark.parametrize("k", [2**21])
def test_millions_of_candidates(k: int) -> None:
    """Sums of bounds do not overflow: of equal candidates each eighth is as likely."""
    mechanism, utilities = fx.Exponential(1.0, 1.0), np.zeros(k)
    eighths = dict.fromkeys(range(8), 1 / 8)
    for draws in (
        [mechanism.release(utilities) for _ in range(40)],
        [mechanism.sample(utilities, rng=i) for i in range(40)],
        mechanism.sample(utilities, 50_000, rng=1),
    ):
        assert fits(np.asarray(draws) * 8 // k, eighths)


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1.0, 1e4])
def test_every_draw_ends(epsilon: float, relation: str) -> None:
    """Extreme data and parameters are answered within a second of CPU, from the grid."""
    sizes = [0, 1, 2, 3, *(2**b + d for b in (6, 10, 11, 16) for d in (-1, 0, 1))]
    for step in (None, 1):
        mechanism = fx.Median(epsilon, (0, 1000), step=step, neighbors=relation)
        for n in sizes:
            for records in (np.zeros(n), np.arange(n) % 2 * 1000, np.arange(n), np.full(n, 333.3)):
                start = time.process_time()
                assert 0 <= mechanism.release(records) <= 1000
                assert time.process_time() - start < 1
    choose = fx.Exponential(epsilon, 1e-3)
    for k in (2, 1024, 1025, 10**5):
        for u in (np.zeros(k), np.arange(k), np.eye(1, k)[0] * 1e308, -np.eye(1, k)[0] * 1e-320):
            start = time.process_time()
            assert choose.release(u) in range(k)
            assert time.process_time() - start < 1
