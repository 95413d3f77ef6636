"""Do the mechanisms give what the source documents print, and what their users expect?"""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import fastexp as fx
from tests.messages import raises, says
from tests.support.each import each
from tests.support.goodness import fits

ADULT = {
    "Married-civ-spouse": 14976,
    "Never-married": 10683,
    "Divorced": 4443,
    "Separated": 1025,
    "Widowed": 993,
    "Married-spouse-absent": 418,
    "Married-AF-spouse": 23,
}


@pytest.mark.statistical
def test_nears_notebook():
    """Scores are counts / 1000, sensitivity 1, epsilon 1: 176, 23 and 1 of 200 draws there."""
    scores = np.array(list(ADULT.values())) / 1000
    m = fx.Exponential(epsilon=1.0, sensitivity=1.0, candidates=list(ADULT))
    law = m.law(scores)
    direct = np.exp(scores / 2) / np.exp(scores / 2).sum()
    assert law.probabilities == pytest.approx(direct, rel=1e-14)
    printed = np.array([176, 23, 1, 0, 0, 0, 0])
    inside = abs(printed[0] - 200 * direct[0]) < 5 * math.sqrt(200 * direct[0] * (1 - direct[0]))
    assert inside
    assert fits(law.sample(100_000, rng=1), direct)


def test_nears_notebook_on_counts_does_not_overflow():
    records = [name for name, count in ADULT.items() for _ in range(count)]
    m = fx.MostCommon(epsilon=1.0, candidates=list(ADULT))
    assert m.release(records) == "Married-civ-spouse"
    assert m.law(records).log_probabilities[1] == pytest.approx(10683 - 14976, rel=1e-15)


def test_goldbergs_randomised_scores():
    """The nice data set's scores on 1..365: 0 once, -2 three times, -4 97 and -6 264 times."""
    scores = np.repeat([0.0, -2.0, -4.0, -6.0], [1, 3, 97, 264])
    law = fx.Exponential(epsilon=1.0, sensitivity=1.0).law(scores)
    assert math.exp(law.log_normalizer) == pytest.approx(28.374946846581839, rel=1e-14)
    assert law.probabilities[0] == pytest.approx(0.0352423567665807, rel=1e-13)
    law = fx.Exponential(epsilon=math.log(4), sensitivity=1.0).law(scores)
    assert math.exp(law.log_normalizer) == pytest.approx(11.9375, rel=1e-14)


def test_goldbergs_worst_case():
    scores = np.concatenate([[0.0], np.full(10**6, -2.0)])
    for epsilon, p in [(1.0, 2.718274439423e-6), (10.0, 0.0215517567616776)]:
        law = fx.Exponential(epsilon, 1.0).law(scores)
        assert law.probabilities[0] == pytest.approx(p, rel=1e-12)


def test_the_price_example_as_a_finite_selection():
    """Bids 1, 1, 1 and 3.01: revenue r * #{bids >= r} at the prices 1.00, 1.01, ..., 3.50."""
    bids = np.array([100, 100, 100, 301])
    prices = np.arange(100, 351)
    revenue = prices * (bids[None, :] >= prices[:, None]).sum(axis=1)
    law = fx.Exponential(5.0, 350.0, monotonic=True, candidates=prices).law(revenue)
    weights = np.exp(5.0 * (revenue - 400) / 350)
    assert law.probabilities == pytest.approx(weights / weights.sum(), rel=1e-13)
    assert revenue[prices == 301] == 301  # in integer ticks the bid of 3.01 buys at 3.01
    assert law.loss_cdf(0.0) == pytest.approx(law.probabilities[0], rel=1e-14)


@each("name", ["neighbours", "neighbor"])
def test_a_misspelt_parameter_is_suggested(name):
    with pytest.raises(TypeError, match=r"unexpected keyword .*: did you mean 'neighbors'"):
        fx.Median(1.0, (0, 9), **{name: "replace"})
    with pytest.raises(TypeError, match="unexpected keyword argument 'xyz'"):
        fx.Median(1.0, (0, 9), xyz=1)


@each("leader", [0, 1, 500, 999])
def test_a_leader_by_a_million_nats_wins(leader):
    u = np.zeros(1000)
    u[leader] = 2e6
    m = fx.Exponential(1.0, 1.0)
    assert {m.release(u) for _ in range(50)} == {leader}
    assert (m.sample(u, 1000, rng=1) == leader).all()


ALONE = {
    "Exponential": lambda: fx.Exponential(1.0, 1.0, candidates=["x"]),
    "from_rate": lambda: fx.Exponential.from_rate(1.0, 1.0, candidates=["x"]),
    "from_score": lambda: fx.Exponential.from_score(
        lambda d, c: 1.0, ["x"], epsilon=1.0, sensitivity=1.0
    ),
    "MostCommon": lambda: fx.MostCommon(1.0, ["x"]),
    "PermuteAndFlip": lambda: fx.PermuteAndFlip(1.0, 1.0, candidates=["x"]),
    "TopK": lambda: fx.TopK(1, 1.0, 1.0, candidates=["x"]),
    "base of one": lambda: fx.Exponential(1.0, 1.0, base=[2.0]),
    "base for one": lambda: fx.Exponential(1.0, 1.0, base=[0, 2.0, 0]),
}
UNLABELLED = [fx.Exponential(1.0, 1.0), fx.PermuteAndFlip(1.0, 1.0), fx.TopK(1, 1.0, 1.0)]


class TestOneCandidateAlone:
    """A constant: no epsilon is spent on it."""

    @each("make", ALONE.values(), ids=ALONE)
    def test_is_refused_when_a_mechanism_is_built(self, make):
        with raises("base of one candidate", "one candidate"):
            make()

    @each("mechanism", UNLABELLED, ids=lambda m: type(m).__name__)
    @each("utilities", [[5.0], [5], [[5.0], [1.0]]])
    def test_is_neither_released_nor_charged(self, mechanism, utilities):
        budget = fx.Budget(epsilon=9.0)
        with raises("at least two utilities"):
            mechanism.release(utilities, budget=budget)
        with raises("at least two utilities"):
            mechanism.release(utilities, budget=budget, label="x")
        assert budget.charges == 0

    def test_can_be_simulated(self):
        """Studies go through numbers of candidates, from one on; nothing is spent."""
        assert fx.Exponential(1.0, 1.0).sample([5], 9, rng=1).tolist() == [0] * 9
        assert fx.Exponential(1.0, 1.0).law([5.0]).probabilities.tolist() == [1.0]

    def test_all_of_two_have_an_order_to_say(self):
        top = fx.TopK(2, 50.0, 1.0, candidates=["x", "y"])
        assert top.release([0.0, 90.0]) == ["y", "x"]


def test_a_range_that_overflows():
    u = np.array([-1.7e308, 1.7e308])
    assert fx.Exponential(1.0, 1.0).release(u) == 1


def test_a_release_gives_candidates_and_a_sample_indices():
    m = fx.Exponential(50.0, 1.0, candidates=["lo", "hi"])
    assert m.release([0.0, 100.0]) == "hi"
    assert m.sample([0.0, 100.0]) == 1
    index = fx.Exponential(50.0, 1.0).release(np.array([0.0, 100.0]))
    assert index == 1
    assert type(index) is int


def test_base_zero_is_never_selected():
    m = fx.Exponential(1.0, 1.0, base=[0, 1, 1])
    u = [1e6, 0.0, 0.0]
    assert {m.release(u) for _ in range(200)} == {1, 2}
    assert set(m.sample(u, 5000, rng=2).tolist()) == {1, 2}


def test_from_rate_is_the_tutorials_parametrisation():
    m = fx.Exponential.from_rate(0.75, 2.0, candidates=["a", "b"], base=[1, 3])
    assert m == fx.Exponential(3.0, 2.0, candidates=["a", "b"], base=[1.0, 3.0])
    p = m.law([1.0, 0.0]).probabilities
    assert p[0] / p[1] == pytest.approx(math.exp(0.75) / 3)


class TestScores:
    VOTES = ("a", "b", "b", "c", "b")

    def test_scalar_and_vectorised_scores_agree(self):
        one = fx.Exponential.from_score(
            lambda votes, r: votes.count(r), ["a", "b", "c"], epsilon=1.0, sensitivity=1.0
        )
        many = fx.Exponential.from_score(
            lambda votes, rs: np.array([votes.count(r) for r in rs]),
            ["a", "b", "c"],
            epsilon=1.0,
            sensitivity=1.0,
            vectorized=True,
        )
        plain = fx.Exponential(1.0, 1.0, candidates=["a", "b", "c"])
        for m in (one, many):
            assert (m.law(self.VOTES).probabilities == plain.law([1, 3, 1]).probabilities).all()
            assert (m.sample(self.VOTES, 99, rng=1) == plain.sample([1, 3, 1], 99, rng=1)).all()
            assert m.release(self.VOTES) in ("a", "b", "c")
            assert m.guarantee == plain.guarantee

    @pytest.mark.parametrize("vectorized", [False, True])
    def test_errors_of_the_score_are_withheld(self, vectorized):
        def score(data, _r):
            raise KeyError(f"SECRET {data}")

        m = fx.Exponential.from_score(
            score, ["a", "b"], epsilon=1.0, sensitivity=1.0, vectorized=vectorized
        )
        with pytest.raises(fx.ScoreError) as caught:
            m.release(["SECRET-4711"])
        assert "SECRET" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None

    def test_scores_are_checked_like_utilities(self):
        make = fx.Exponential.from_score
        with pytest.raises(fx.InvalidUtilities):
            make(lambda d, r: math.nan, ["a", "b"], epsilon=1.0, sensitivity=1.0).release(1)
        with pytest.raises(fx.ParameterError):
            make(
                lambda d, r: [1.0], ["a", "b"], epsilon=1.0, sensitivity=1.0, vectorized=True
            ).release(1)


class TestMostCommon:
    def test_records_of_many_forms_count_alike(self):
        m = fx.MostCommon(1.0, ["x", "y"])
        forms = [
            ["x", "y", "x", "other"],
            ("x", "y", "x"),
            np.array(["x", "y", "x", "zz"]),
            np.array(["x", "y", "x", None], dtype=object),
            np.array(["x", "y", "x"], dtype="U5")[::-1],
        ]
        for records in forms:
            assert (m.law(records).probabilities == m.law(["x", "x", "y"]).probabilities).all()

    def test_numbers(self):
        m = fx.MostCommon(1.0, [1, 2.5])
        wanted = m.law([1, 1, 2.5]).probabilities
        records = np.array([1.0, 2.5, np.nan, 1.0, 7.0])
        for form in (records, records.astype(np.float32), records.tolist(), records[::-1]):
            assert (m.law(form).probabilities == wanted).all()
        ints = fx.MostCommon(1.0, [2**62, 2**62 + 1])
        p = ints.law(np.array([2**62, 2**62 + 1, 2**62])).probabilities
        assert p[0] > p[1]

    def test_relations(self):
        records = ["a"] * 3 + ["b"]
        joins = fx.MostCommon(0.5, ["a", "b"]).law(records).probabilities
        changes = fx.MostCommon(0.5, ["a", "b"], neighbors="replace").law(records).probabilities
        assert joins[0] / joins[1] == pytest.approx(math.exp(0.5 * 2))
        assert changes[0] / changes[1] == pytest.approx(math.exp(0.5 * 2 / 2))

    def test_empty_data_is_uniform(self):
        assert (fx.MostCommon(1.0, ["a", "b"]).law([]).probabilities == 0.5).all()


def test_sequences_of_every_kind_become_candidates():
    for labels in (["a", "b"], ("a", "b"), np.array(["a", "b"]), {"a": 1, "b": 2}.keys()):
        assert fx.MostCommon(1.0, labels).candidates == ("a", "b")


class TestGuarantees:
    def test_of_the_mechanisms(self):
        g = fx.Exponential(0.8, 2.0).guarantee
        assert (g.epsilon, g.neighbors, g.bounded_range, g.delta) == (0.8, None, 0.8, 0.0)
        assert g.rho == pytest.approx(0.08)
        assert "sensitivity" in g.assumes
        assert "monotonic" in fx.Exponential(0.8, 2.0, monotonic=True).guarantee.assumes
        g = fx.MostCommon(0.8, ["a", "b"], neighbors="replace").guarantee
        assert (g.epsilon, g.neighbors, g.bounded_range) == (0.8, "replace", 0.8)

    def test_it_is_computed_once_and_is_no_part_of_a_copy(self):
        m = fx.Exponential(0.8, 2.0)
        fresh = fx.Exponential(0.8, 2.0)
        promise = m.guarantee
        assert m.guarantee is promise
        assert (m, hash(m), repr(m)) == (fresh, hash(fresh), repr(fresh))
        for twin in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m), copy.copy(m)):
            assert "guarantee" not in vars(twin)
            assert twin.guarantee == promise
            assert twin.guarantee is not promise

    def test_bounded_range_gives_less_rho_than_pure_privacy(self):
        e = fx.MostCommon(2.0, ["a", "b"]).guarantee
        assert e.rho == e.epsilon**2 / 8 < e.epsilon * math.tanh(e.epsilon / 2)


@each(
    ("rival", "instead"),
    [
        (fx.LaplaceMedian(1.0, (0, 1)), "Median"),
        (fx.SmoothSensitivityMedian(1.0, bounds=(0, 1)), "Median"),
        (fx.ReportNoisyMax(1.0, 1.0), "PermuteAndFlip"),
        (fx.ReportNoisyMax(1.0, 1.0, noise="gumbel"), "Exponential"),
    ],
)
def test_comparators_promise_and_release_nothing(rival, instead):
    assert (rival.total().epsilon, rival.total(rows=3).epsilon) == (1.0, 3.0)
    for arguments in ({}, {"by": [2], "budget": fx.Budget(epsilon=9.0)}):
        with pytest.raises(fx.NotReleasable, match=says("for simulations only", instead=instead)):
            rival.release([1, 2], **arguments)
        with pytest.raises(fx.NotReleasable):
            rival.release(records=[1, 2])
