"""Is top-k exact: its law, its three ways to draw, what it promises and what it refuses?"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from tests.doors.selection import plan
from tests.messages import says
from tests.support.checks import selection as checks
from tests.support.each import each
from tests.support.goodness import fits, two_sample_fits
from tests.twins import selection as reference

U = np.array([2.0, 0.5, 1.7, -1.0, 2.0])
SLACK = 1e-12
FIELDS = ("k", "epsilon", "sensitivity", "delta", "monotonic", "candidates")


def laws(m: fx.TopK, u: np.ndarray) -> np.ndarray:
    """ln P of every ordered selection, in order."""
    return np.array([log_p for _, log_p in checks.selections(m, u)])


def cells(selections: np.ndarray, k: int) -> np.ndarray:
    """The number of each ordered selection, in the order of `laws`."""
    chosen = itertools.permutations(range(k), selections.shape[-1])
    numbers = {one: i for i, one in enumerate(chosen)}
    return np.array([numbers[tuple(one)] for one in selections.tolist()])


class TestLaw:
    def test_fractions(self):
        checks.top_k_laws_are_exact()

    @each("k", [1, 2, 3, 5])
    def test_selections_sum_to_one(self, k):
        m = fx.TopK(k, 1.3 * k, 0.7)
        assert np.exp(laws(m, U)).sum() == pytest.approx(1, abs=1e-13)

    def test_first_places_and_partial_selections(self):
        m = fx.TopK(3, 3.0, 1.0)
        law = m.law(U)
        first = law.first_place_probabilities
        assert first == pytest.approx(fx.Exponential(1.0, 1.0).law(U).probabilities, rel=1e-15)
        assert not first.flags.writeable
        pairs = {}
        for i in range(5):
            assert math.exp(law.log_probability([i])) == pytest.approx(first[i], rel=1e-14)
            pairs[i] = [law.log_probability([i, j]) for j in range(5) if j != i]
            assert np.exp(pairs[i]).sum() == pytest.approx(first[i], rel=1e-13)
        triples = [law.log_probability([0, 1, j]) for j in (2, 3, 4)]
        assert np.exp(triples).sum() == pytest.approx(math.exp(law.log_probability([0, 1])))
        assert (law.k, law.candidates) == (3, None)

    def test_the_rest_keeps_its_digits(self):
        """After candidates that lead by hundreds of nats, the rest is no difference of two sums."""
        u = np.array([900.0, 600.0, 0.3, 0.0])
        law = fx.TopK(3, 6.0, 1.0).law(u)
        assert law.log_probability([0, 1, 2]) == pytest.approx(-math.log1p(math.exp(-0.3)))
        assert law.log_probability([0, 1, 3]) == pytest.approx(-0.3 - math.log1p(math.exp(-0.3)))

    @pytest.mark.parametrize("scale", [1e18, 1e300])
    def test_extreme_utilities(self, scale):
        law = fx.TopK(2, 4.0, 1.0).law([scale, 0.0, 1.0, -scale])
        assert law.log_probability([0, 2]) == pytest.approx(-math.log1p(math.exp(-1)), rel=1e-14)
        assert law.log_probability([0, 1]) == pytest.approx(-1 - math.log1p(math.exp(-1)))
        assert law.log_probability([0, 3]) == pytest.approx(-scale, rel=1e-15)
        assert law.log_probability([3, 0]) == pytest.approx(-2 * scale, rel=1e-15)

    def test_many_candidates(self):
        u = np.random.default_rng(1).normal(0, 9, 20_000)
        law = fx.TopK(4, 4.0, 1.0).law(u)
        chosen, total, left = [7, 19_000, 3, 11_111], 0.0, np.ones(u.size, bool)
        for i in chosen:
            total += u[i] / 2 - np.logaddexp.reduce(u[left] / 2)
            left[i] = False
        assert law.log_probability(chosen) == pytest.approx(total, rel=1e-12)
        assert law.log_probability(np.array(chosen, np.int16)) == law.log_probability(chosen)

    @each(
        ("selection", "text"),
        [
            ([], "array of integers"),
            (np.empty(0, np.int64), "distinct indices, got 2"),
            ([0, 1, 2], "distinct indices, got 2"),
            ([1, 1], "distinct indices"),
            ([5], "indices of candidates"),
            ([-1], "indices of candidates"),
            ([0.5], "array of integers"),
            ("ab", "array of integers"),
            ([[0, 1]], "array of integers"),
        ],
    )
    def test_wrong_selections(self, selection, text):
        with pytest.raises(fx.FastexpError, match=says(text)) as caught:
            fx.TopK(2, 1.0, 1.0).law(U).log_probability(selection)
        assert "selection must" in str(caught.value)


class TestDraws:
    @pytest.mark.statistical
    @each("k", [1, 2, 3, 5])
    def test_release_and_both_methods_follow_the_law(self, k):
        m = fx.TopK(k, 1.5 * k, 1.0)
        p = np.exp(laws(m, U))
        p /= p.sum()
        draws = {
            "gumbel": m.sample(U, 60_000, rng=1),
            "envelope": m.sample(U, 6000, rng=2, method="envelope"),
            "release": np.array([m.release(U) for _ in range(6000)]),
        }
        found = {name: cells(one, 5) for name, one in draws.items()}
        for one in found.values():
            assert fits(one, p)
        counts = {name: np.bincount(one, minlength=p.size) for name, one in found.items()}
        for a, b in itertools.combinations(counts, 2):
            assert two_sample_fits(counts[a], counts[b])

    @pytest.mark.statistical
    @each("scale", [1.0, 1.04, 0.96])
    def test_power_a_few_percent_are_noticed(self, scale):
        m = fx.TopK(3, 6.0, 1.0)
        p = np.exp(laws(m, U))
        draws = fx.TopK(3, 6.0 * scale, 1.0).sample(U, 200_000, rng=3)
        assert fits(cells(draws, 5), p / p.sum()) == (scale == 1.0)

    @pytest.mark.statistical
    @each("kind", ["float", "int", "uint"])
    def test_many_blocks(self, kind):
        """A second place in another block; marginals of each place against the other method."""
        u = np.round(6 * np.random.default_rng(5).random(2100)).astype(np.int64)
        u = {"float": u.astype(float), "int": u - 3, "uint": u.astype(np.uint64) + 2**63}[kind]
        m = fx.TopK(3, 6.0, 1.0)
        values = (u - u.min()).astype(int)
        one = m.sample(u, 30_000, rng=1)
        two = m.sample(u, 2000, rng=1, method="envelope")
        three = np.array([m.release(u) for _ in range(2000)])
        p = np.bincount(values, weights=m.law(u).first_place_probabilities)
        assert fits(values[one[:, 0]], p)
        assert fits(values[three[:, 0]], p)
        for place in range(3):
            counts = [np.bincount(values[x[:, place]], minlength=7) for x in (one, two, three)]
            assert two_sample_fits(counts[0], counts[1])
            assert two_sample_fits(counts[0], counts[2])

    def test_all_candidates_are_a_permutation(self):
        m = fx.TopK(40, 40.0, 1.0)
        u = np.random.default_rng(2).normal(size=40)
        for found in (m.release(u), m.sample(u, rng=1), m.sample(u, rng=1, method="envelope")):
            assert sorted(found.tolist()) == list(range(40))

    @pytest.mark.statistical
    def test_coarse_keys_are_peeled(self):
        """Keys of 1e18 nats would not see a difference of 1: the second place is by the law."""
        m = fx.TopK(2, 2.0, 1.0)
        u = [1e18, 0.0, 1.0]
        p = math.exp(m.law(u).log_probability([0, 1]))
        assert p == pytest.approx(1 / (1 + math.exp(0.5)), rel=1e-14)
        draws = m.sample(u, 6000, rng=1)
        assert (draws[:, 0] == 0).all()
        assert fits(draws[:, 1] - 1, np.array([p, 1 - p]))
        rows = m.sample(np.array([u, [0.0, 1.0, 2.0]]), 5, rng=1)
        assert (rows[0, :, 0] == 0).all()
        assert np.array_equal(rows[1], m.sample([0.0, 1.0, 2.0], 5, rng=1, streams=[1]))

    def test_peeling_and_order(self):
        checks.peeling_bounds_what_is_left(40, 40)
        checks.peeling_bounds_what_is_left(3000, 6)
        checks.top_k_samples()

    @pytest.mark.parametrize("method", ["gumbel", "envelope"])
    def test_rows_streams_and_shapes(self, method):
        m = fx.TopK(2, 2.0, 1.0)
        u = np.random.default_rng(2).normal(size=(3, 9))
        how = {"rng": 7, "method": method}
        assert m.sample(u[0], **how).shape == (2,)
        assert m.sample(u[0], 4, **how).shape == (4, 2)
        assert m.sample(u[0], 0, **how).shape == (0, 2)
        assert m.sample(u, **how).shape == (3, 2)
        names = np.array([8, 2**64 - 1, 0], np.uint64)
        every = m.sample(u, 4, streams=names, **how)
        assert every.shape == (3, 4, 2)
        for i in range(3):
            assert np.array_equal(every[i], m.sample(u[i], 4, streams=names[i : i + 1], **how))
        law = m.law(u[0])
        assert (law.sample(6, **how) == m.sample(u[0], 6, **how)).all()
        assert np.array_equal(law.sample(**how), m.sample(u[0], **how))

    def test_releases(self, monkeypatch):
        m = fx.TopK(2, 80.0, 1.0, candidates=["a", "b", "c"])
        assert m.release([0.0, 500.0, 100.0]) == ["b", "c"]
        assert m.release([[0.0, 500.0, 100.0], [300.0, 0.0, 100.0]]) == [["b", "c"], ["a", "c"]]
        plain = fx.TopK(2, 80.0, 1.0)
        assert plain.release(np.array([0, 500, 100])).tolist() == [1, 2]
        assert plain.release(np.zeros((4, 3))).shape == (4, 2)
        monkeypatch.setattr(plan, "THREADED_CANDIDATES", 1)
        leaders = np.zeros(5000)
        leaders[[4000, 30]] = [400.0, 200.0]
        assert plain.release(leaders, threads=3).tolist() == [4000, 30]


class TestPromises:
    @pytest.mark.slow
    def test_pure_totals(self):
        checks.promises_hold((0.3, 1.0), 3)

    def test_rounds(self):
        assert fx.TopK(4, 1.0, 1.0).round_epsilon == 0.25
        assert fx.TopK(3, 0.1, 1.0)._round == Fraction(0.1) / 3
        assert fx.TopK(3, 0.1, 2.0)._weighting.rate == Fraction(0.1) / 12
        assert fx.TopK(3, 0.1, 2.0, monotonic=True)._weighting.rate == Fraction(0.1) / 6
        assert fx.TopK(8, rho=0.04, sensitivity=1.0).round_epsilon == pytest.approx(0.2)
        with_delta = fx.TopK(100, 1.0, 1.0, delta=1e-6)
        assert with_delta.round_epsilon > 0.0373833169  # the closed formula
        g = with_delta.guarantee
        assert (g.epsilon, g.delta, g.bounded_range, g.neighbors) == (1.0, 1e-6, None, None)
        assert fx.TopK(8, rho=0.04, sensitivity=1.0).guarantee.rho == 0.04
        assert fx.TopK(1, 1.0, 1.0).guarantee.bounded_range == 1.0

    @pytest.mark.slow
    @each("monotonic", [True, False])
    @each("k", [1, 2, 3])
    def test_rho_and_delta_are_kept(self, k, monotonic):
        """Exact divergences of all neighbours; twice the epsilon of a round is refuted."""
        rho, epsilon, delta = 0.2, 0.5, 0.05
        by_rho = fx.TopK(k, rho=rho, sensitivity=1.0, monotonic=monotonic)
        by_delta = fx.TopK(k, epsilon, 1.0, delta=delta, monotonic=monotonic)
        twice = [
            fx.TopK(k, 2 * k * m.round_epsilon, 1.0, monotonic=monotonic)
            for m in (by_rho, by_delta)
        ]
        worst = [0.0] * 4
        for pair in checks.neighbours(monotonic, 3):
            for which, m in enumerate((by_rho, twice[0], by_delta, twice[1])):
                logs = [laws(m, u) for u in pair]
                for p, q in (logs, logs[::-1]):
                    if which < 2:
                        moments = [_renyi(p, q, a) / a for a in (1.01, 2.0, 8.0, 40.0)]
                        worst[which] = max(worst[which], *moments)
                    else:
                        gain = np.maximum(np.exp(p) - np.exp(epsilon + q), 0).sum()
                        worst[which] = max(worst[which], float(gain))
        assert 0.5 * rho * (k < 3) < worst[0] <= rho + SLACK
        assert worst[2] <= delta + SLACK
        assert worst[1] > rho
        assert worst[3] > delta


def _renyi(p: np.ndarray, q: np.ndarray, order: float) -> float:
    """The Rényi divergence of laws, from logarithms."""
    return float(np.logaddexp.reduce(order * p + (1 - order) * q)) / (order - 1)


BAD = {
    "k 0": (lambda: fx.TopK(0, 1.0, 1.0), says("k: at least a number", least="1")),
    "k negative": (lambda: fx.TopK(-2, 1.0, 1.0), says("k: at least a number", least="1")),
    "k float": (lambda: fx.TopK(2.0, 1.0, 1.0), "k: integer"),
    "k bool": (lambda: fx.TopK(True, 1.0, 1.0), "k: integer"),
    "k labels": (lambda: fx.TopK(3, 1.0, 1.0, candidates=["a", "b"]), "k at most the candidates"),
    "neither": (lambda: fx.TopK(2, sensitivity=1.0), "epsilon or rho"),
    "both": (lambda: fx.TopK(2, 1.0, 1.0, rho=0.1), "epsilon or rho"),
    "delta, rho": (lambda: fx.TopK(2, rho=0.1, sensitivity=1.0, delta=0.1), "epsilon or rho"),
    "delta 1": (lambda: fx.TopK(2, 1.0, 1.0, delta=1.0), "delta below 1"),
    "delta negative": (lambda: fx.TopK(2, 1.0, 1.0, delta=-0.1), "delta below 1"),
    "delta nan": (lambda: fx.TopK(2, 1.0, 1.0, delta=math.nan), "delta below 1"),
    "no sensitivity": (lambda: fx.TopK(2, 1.0), "sensitivity left out"),
    "sensitivity 0": (lambda: fx.TopK(2, 1.0, 0.0), "sensitivity: finite and positive"),
    "epsilon nan": (lambda: fx.TopK(2, math.nan, 1.0), "epsilon: finite and positive"),
    "epsilon tiny": (lambda: fx.TopK(2, 1e-10, 1.0), "usual epsilon"),
    "epsilon text": (lambda: fx.TopK(2, "1", 1.0), "epsilon: real number"),
    "rho 0": (lambda: fx.TopK(2, rho=0.0, sensitivity=1.0), "rho: finite and positive"),
    "rho inf": (lambda: fx.TopK(2, rho=math.inf, sensitivity=1.0), "rho: finite and positive"),
    "monotonic": (lambda: fx.TopK(2, 1.0, 1.0, monotonic=1), "monotonic: true or false"),
    "too few": (
        lambda: fx.TopK(3, 1.0, 1.0).release([7341.5, 1.0]),
        "at least k candidates, got 3",
    ),
    "too few, rows": (
        lambda: fx.TopK(3, 1.0, 1.0).sample(np.zeros((9, 2))),
        "at least k candidates, got 3",
    ),
    "too few, law": (
        lambda: fx.TopK(3, 1.0, 1.0).law([7341.5, 1.0]),
        "at least k candidates, got 3",
    ),
    "method": (
        lambda: fx.TopK(1, 1.0, 1.0).sample([1.0], method="alias"),
        "method: one of several words",
    ),
    "nan": (lambda: fx.TopK(1, 1.0, 1.0).release([7341.5, math.nan]), "utilities that are finite"),
    "nan, law": (lambda: fx.TopK(1, 1.0, 1.0).law([7341.5, math.inf]), "utilities that are finite"),
    "nan, sample": (
        lambda: fx.TopK(2, 1.0, 1.0).sample([7341.5, math.nan, 1]),
        "utilities that are finite",
    ),
}


@each("name", BAD)
def test_bad_parameters(name):
    call, text = BAD[name]
    with pytest.raises(fx.FastexpError, match=says(text)) as caught:
        call()
    assert "must" in str(caught.value)
    assert "7341" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_forms():
    m = fx.TopK(2, 1.0, 2.0, delta=1e-6, monotonic=True, candidates=["a", "b", "c"])
    assert hash(m) == hash(fx.TopK(**{f: getattr(m, f) for f in FIELDS}))
    assert fx.TopK(np.int64(2), 1.0, 1.0) == fx.TopK(2, 1.0, 1.0)
    assert reference.ordered_selection([Fraction(1), Fraction(3)], [1, 0]) == Fraction(3, 4)
