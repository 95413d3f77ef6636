"""Is smooth sensitivity what its definition says, whatever form the records have?"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastexp as fx
from tests.doors.intake import unsorted
from tests.doors.numbers import smooth
from tests.messages import raises
from tests.support.each import each

GRID = np.array([0.0, 1.0, 3.5, 10.0])
BETAS = np.array([1e-4, 0.03, 0.2, 0.45, 0.9, 2.5, 50.0, 1000.0])
RNG = np.random.default_rng(11)


def medians(sets: list[tuple[float, ...]], midpoint: bool) -> np.ndarray:
    lower = np.array([s[(len(s) + 1) // 2 - 1] for s in sets])
    upper = np.array([s[len(s) // 2] for s in sets])
    return (lower + upper) / 2 if midpoint else lower


def by_definition(values: np.ndarray, neighbor: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Of each data set, at BETAS: the greatest exp(-beta * k) * A(k), by listing all of them."""
    change = np.where(neighbor, np.abs(values[:, None] - values), 0.0).max(axis=1)
    powers = np.exp(-BETAS[:, None, None] * distance)
    return (powers * change).max(axis=2).T


class TestTheDefinition:
    """All data sets on a grid that holds the bounds."""

    @each("n", [1, 2, 3, 4, 5])
    def test_replace(self, n):
        sets = list(combinations_with_replacement(GRID, n))
        counts = np.array([[s.count(v) for v in GRID] for s in sets])
        distance = n - np.minimum(counts[:, None], counts).sum(axis=2)
        x = np.array(sets)
        for m in range(1, n + 1):
            found = smooth.rows(x, BETAS, 0.0, 10.0, m)
            expected = by_definition(x[:, m - 1], distance == 1, distance)
            assert np.allclose(found, expected, rtol=1e-14, atol=0)
        for midpoint in (False, True):
            found = smooth.rows(x, BETAS, 0.0, 10.0, midpoint=midpoint)
            expected = by_definition(medians(sets, midpoint), distance == 1, distance)
            assert np.allclose(found, expected, rtol=1e-14, atol=0)

    @pytest.mark.slow
    @pytest.mark.parametrize("midpoint", [False, True])
    def test_add_remove(self, midpoint):
        """Those of up to 4 records, among all that 5 changes and one more lead to."""
        sets = [s for n in range(1, 11) for s in combinations_with_replacement(GRID, n)]
        counts = np.array([[s.count(v) for v in GRID] for s in sets])
        distance = np.abs(counts[:, None] - counts).sum(axis=2)
        expected = by_definition(medians(sets, midpoint), distance == 1, distance)
        for n in (1, 2, 3, 4):
            own = [i for i, s in enumerate(sets) if len(s) == n]
            x = np.array([sets[i] for i in own])
            found = smooth.rows(x, BETAS, 0.0, 10.0, None, "add-remove", midpoint)
            assert np.allclose(found, expected[own], rtol=1e-14, atol=0)


def all_windows(x: np.ndarray, beta: float, limits: tuple[float, float], m: int, half: bool):
    """The greatest over all pairs of ranks, where a record is replaced."""
    padded = np.concatenate([[limits[0]], np.clip(x, *limits), [limits[1]]])
    i, j = np.arange(m + 1)[:, None], np.arange(m + half, x.size + 2)
    cost = j - i - 1 - half
    weight = np.where(cost >= 0, np.exp(-beta * np.maximum(cost, 0)), 0.0)
    return ((padded[j] - padded[i]) * weight).max() / (2 if half else 1)


def all_costs(x: np.ndarray, beta: float, limits: tuple[float, float], midpoint: bool) -> float:
    """The greatest over all windows by the cost of each, where records come and go."""
    n = x.size
    padded = np.concatenate([[limits[0]], np.clip(x, *limits), [limits[1]]])
    i, j = np.arange(n + 2)[:, None], np.arange(n + 2)
    below, above = i, n + 1 - j
    balance = np.abs(below - above)
    if midpoint:
        extra = np.maximum(balance - 1, 0)
    else:
        extra = np.minimum(balance, np.abs(above - below - 1))
    extra = np.where((below == 0) & (above == 0), 1, extra)
    weight = np.where(j > i, np.exp(-beta * np.maximum(j - i - 1 + extra, 0)), 0.0)
    return ((padded[j] - padded[i]) * weight).max() / (2 if midpoint else 1)


def agree(x: np.ndarray, betas: np.ndarray, limits: tuple[float, float], rank: int) -> None:
    n, lower = x.size, (x.size + 1) // 2
    relation = "add-remove"
    for found, expected in (
        (
            smooth.rows(x[None], betas, *limits, rank),
            [all_windows(x, b, limits, rank, half=False) for b in betas],
        ),
        (
            smooth.rows(x[None], betas, *limits, midpoint=True),
            [all_windows(x, b, limits, lower, half=n % 2 == 0) for b in betas],
        ),
        (
            smooth.rows(x[None], betas, *limits, neighbors=relation),
            [all_costs(x, b, limits, midpoint=False) for b in betas],
        ),
        (
            smooth.rows(x[None], betas, *limits, neighbors=relation, midpoint=True),
            [all_costs(x, b, limits, midpoint=True) for b in betas],
        ),
    ):
        assert np.allclose(found[0], expected, rtol=4e-15, atol=1e-300)


SHAPES = {
    "normal": lambda n: RNG.normal(size=n),
    "even": lambda n: np.linspace(-3, 4, n),
    "tied": lambda n: RNG.integers(-4, 5, n).astype(float),
    "one": lambda n: np.full(n, 2.5),
    "ends": lambda n: np.where(RNG.random(n) < 0.5, -10.0, 10.0),
    "beyond": lambda n: 20 * RNG.normal(size=n),
    "growing": lambda n: np.sinh(np.linspace(-6, 6, n)) / 30,
    "clumped": lambda n: np.cumsum(RNG.random(n) ** 8) / n * 60,
    "far": lambda n: 1e9 + RNG.normal(size=n),
}


class TestTheKernels:
    @pytest.mark.slow
    @each("shape", SHAPES)
    def test_every_window_of_random_data(self, shape):
        limits = (1e9 - 9, 1e9 + 10) if shape == "far" else (-10.0, 10.0)
        for n in (1, 2, 3, 9, 10, 32, 65, 150):
            x = np.sort(SHAPES[shape](n))
            betas = np.exp(RNG.uniform(np.log(1e-4), np.log(50), 8))
            agree(x, betas, limits, int(RNG.integers(1, n + 1)))

    @pytest.mark.slow
    @each("shape", SHAPES)
    def test_every_window_of_more_data(self, shape):
        limits = (1e9 - 9, 1e9 + 10) if shape == "far" else (-10.0, 10.0)
        for n in (399, 2000 if shape in ("even", "clumped") else 500):
            x = np.sort(SHAPES[shape](n))
            agree(x, np.array([0.003, 0.03]), limits, n // 3)

    @pytest.mark.slow
    @settings(max_examples=150, deadline=None)
    @given(
        st.lists(st.integers(-12, 12), min_size=1, max_size=40),
        st.floats(-9.0, 4.0),
        st.integers(0, 39),
    )
    def test_every_window_of_ties(self, records, log_beta, at):
        x = np.sort(np.array(records, float))
        agree(x, np.exp([log_beta]), (-10.0, 10.0), at % x.size + 1)

    def test_rows_and_betas_do_not_meet(self):
        x = np.sort(np.stack([SHAPES[s](50) for s in ("normal", "tied", "clumped")]), axis=1)
        for neighbors in ("replace", "add-remove"):
            found = smooth.rows(x, BETAS, -10.0, 10.0, neighbors=neighbors)
            for r, b in np.ndindex(*found.shape):
                alone = smooth.rows(x[r : r + 1], BETAS[b : b + 1], -10, 10, neighbors=neighbors)
                assert found[r, b] == alone[0, 0]


class TestTheFunction:
    def test_known_values(self):
        x = [1, 2, 4, 7, 8]
        for beta, expected in ((0.1, 6.065306597126334), (0.5, 3.032653298563167), (1.0, 3.0)):
            found = fx.smooth_sensitivity(x, beta, bounds=(0, 10))
            assert found == pytest.approx(expected, rel=1e-15)
        spreads = np.array([3, 5, 6, 8, 9, 10]) * np.exp(-0.2 * np.arange(6))
        found = fx.smooth_sensitivity(x, 0.2, bounds=(0, 10))
        assert found == pytest.approx(spreads.max(), rel=1e-15)

    @each("neighbors", ["replace", "add-remove"])
    @each("n", [4000, 5001, 70_000])
    def test_forms_of_data(self, n, neighbors):
        x = RNG.normal(size=n)
        x[RNG.random(n) < 0.3] = 0.7
        whole = (1e5 * x).astype(np.int64)
        half = n // 2
        unique, counts = np.unique(x, return_counts=True)
        shuffled = RNG.permutation(unique.size)
        forms = [x, x.tolist(), lambda: iter((x[:half], x[half:]))]
        forms += [(unique[shuffled], counts[shuffled]), np.append(x, np.nan)]
        for beta in (0.003, 0.3) if n < 10_000 else (0.01,):
            for midpoint in (False, True):
                how = {"bounds": (-50, 50), "neighbors": neighbors, "midpoint": midpoint}
                every = np.sort(x)[None], np.array([beta]), -50.0, 50.0, None, neighbors, midpoint
                expected = smooth.rows(*every)[0, 0]
                for form in forms[:-1]:
                    assert fx.smooth_sensitivity(form, beta, **how) == expected
                assert fx.smooth_sensitivity(forms[-1], beta, nan="drop", **how) == expected
                again = fx.smooth_sensitivity(np.sort(x), beta, assume_sorted=True, **how)
                assert again == expected
                scaled = {**how, "bounds": (-5_000_000, 5_000_000)}
                found = fx.smooth_sensitivity(whole, beta, **scaled)
                ordered = fx.smooth_sensitivity(np.sort(whole), beta, assume_sorted=True, **scaled)
                args = np.array([beta]), -5e6, 5e6, None, neighbors, midpoint
                assert found == ordered == smooth.rows(np.sort(whole)[None], *args)[0, 0]

    @each("neighbors", ["replace", "add-remove"])
    @each("ties", [0, 40, 3000, 99_000, 100_000])
    def test_ties_at_the_median_take_a_wider_look(self, ties, neighbors):
        x = np.sort(RNG.normal(size=100_000))
        x[50_000 - ties // 2 : 50_000 + ties // 2] = x[50_000]
        for beta in (0.9, 0.02, 0.0001):
            args = np.array([beta]), -90.0, 90.0, None, neighbors
            how = {"bounds": (-90, 90), "neighbors": neighbors}
            expected = smooth.rows(x[None], *args)[0, 0]
            assert fx.smooth_sensitivity(x[::-1], beta, **how) == expected
            assert fx.smooth_sensitivity(x, beta, assume_sorted=True, **how) == expected

    def test_ranks_of_large_data(self):
        x = RNG.permutation(np.arange(100_000) ** 2)
        for rank in (1, 2, 777, 50_000, 99_999, 100_000):
            every = np.sort(x)[None], np.array([0.1]), -5.0, 1e11, rank
            found = fx.smooth_sensitivity(x, 0.1, bounds=(-5, 10**11), rank=rank)
            assert found == smooth.rows(*every)[0, 0]

    def test_far_records_are_not_looked_at(self):
        x = np.arange(1_000_000.0)
        expected = fx.smooth_sensitivity(x, 0.01, bounds=(0, 1e6), assume_sorted=True)
        x[1000:400_000] = np.nan
        found = fx.smooth_sensitivity(x, 0.01, bounds=(0, 1e6), assume_sorted=True)
        assert found == expected == pytest.approx(100 * np.exp(-0.99), rel=1e-3)

    def test_pivots_that_miss_are_noticed(self, monkeypatch):
        x = RNG.normal(size=90_000)
        expected = fx.smooth_sensitivity(x, 0.1, bounds=(-9, 9))
        calls = []
        monkeypatch.setattr(unsorted, "pivots", lambda *_: calls.append(1) or (5, 9))
        assert fx.smooth_sensitivity(x, 0.1, bounds=(-9, 9)) == expected
        monkeypatch.setattr(unsorted, "pivots", lambda *_: calls.append(1) or (-1, 9))
        assert fx.smooth_sensitivity(x, 0.1, bounds=(-9, 9)) == expected
        assert len(calls) == 2

    def test_the_middle_of_large_data_is_found_by_pivots(self, monkeypatch):
        x, seen, gathered = RNG.normal(size=90_000), [], unsorted.gathered
        monkeypatch.setattr(
            unsorted, "gathered", lambda *a, **k: seen.append(gathered(*a, **k)) or seen[-1]
        )
        fx.smooth_sensitivity(x, 0.1, bounds=(-9, 9))
        assert 0 < seen[0].counts[1] < 9_000

    def test_clamping_and_infinite_records(self):
        found = fx.smooth_sensitivity([-np.inf, 2, np.inf], 0.1, bounds=(0, 8))
        assert found == fx.smooth_sensitivity([0, 2, 8], 0.1, bounds=(0, 8))

    def test_what_is_refused(self):
        with raises("no records"):
            smooth.rows(np.zeros((2, 0)), [1.0], 0.0, 1.0)
