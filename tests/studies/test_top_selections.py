"""Are the top-k mechanisms of studies what they say: their draws, their figures, their promise?"""

from __future__ import annotations

import math
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from scipy import stats

import fastexp as fx
from tests.doors.studies import Block, build
from tests.messages import raises
from tests.support.each import each
from tests.support.goodness import counts_fit

UTILITIES = (6, 5, 3, 1)
PAIRS = list(permutations(range(4), 2))


def drawn(name, utilities=UTILITIES, size=20_000, epsilon=1.0, key=5, **parameters):
    subject = build({"name": name, "k": 2, **parameters}, epsilon, None)
    block = Block(np.array([utilities], dtype=np.float64), 0, None)
    return subject, block, subject.draw(block, size, key)


def counted(answers):
    return np.array([(answers == pair).all(axis=1).sum() for pair in PAIRS])


def peeled(law_of, utilities=UTILITIES):
    """P of each ordered pair, by the laws of two rounds."""
    first = law_of(utilities).probabilities
    masses = []
    for i, j in PAIRS:
        rest = [u for place, u in enumerate(utilities) if place != i]
        masses.append(first[i] * law_of(rest).probabilities[j - (j > i)])
    return np.array(masses)


def noisy(rate, utilities=UTILITIES):
    """P of each ordered pair by Laplace noise, an integral over the second noisy utility."""
    ends = [min(utilities) - 80.0 / rate, *sorted(set(utilities)), max(utilities) + 80.0 / rate]
    cuts = np.concatenate([np.linspace(a, b, 40) for a, b in pairwise(ends)])
    half = np.diff(cuts)[:, None] / 2
    nodes, weights = np.polynomial.legendre.leggauss(12)
    x = (cuts[:-1, None] + half + half * nodes).reshape(-1)
    below = {u: stats.laplace.cdf(rate * (x - u)) for u in utilities}
    density = {u: stats.laplace.pdf(rate * (x - u)) for u in utilities}
    masses = []
    for i, j in PAIRS:
        others = [below[u] for place, u in enumerate(utilities) if place not in (i, j)]
        above = 1.0 - below[utilities[i]]
        values = rate * density[utilities[j]] * above * math.prod(others)
        masses.append((values.reshape(half.size, -1) @ weights) @ half[:, 0])
    return np.array(masses)


RATES = {True: 0.5, False: 0.25}


def jointly(monotonic):
    law = fx.JointTopK(2, 1.0, neighbors="add-remove" if monotonic else "replace").law(UTILITIES)
    return np.exp([law.log_probability(pair) for pair in PAIRS])


LAWS = {  # at epsilon = 1: half of it a round
    "top-k": lambda monotonic: peeled(fx.Exponential(0.5, 1.0, monotonic=monotonic).law),
    "permute-and-flip-top-k": lambda monotonic: peeled(
        fx.PermuteAndFlip(0.5, 1.0, monotonic=monotonic).law
    ),
    "joint-top-k": jointly,
    "laplace-top-k": lambda monotonic: noisy(RATES[monotonic]),
}


@pytest.mark.statistical
@each("monotonic", [True, False])
@each("name", LAWS)
def test_draws_have_their_laws(name, monotonic):
    joint = {"neighbors": "add-remove" if monotonic else "replace"}
    parameters = joint if name == "joint-top-k" else {"monotonic": monotonic}
    answers = drawn(name, **parameters)[2]
    masses = LAWS[name](monotonic)
    assert masses.sum() == pytest.approx(1.0, abs=1e-9)
    assert counts_fit(counted(answers[0]), masses / masses.sum())


@pytest.mark.statistical
def test_and_not_another_one():
    """The same counts do not fit draws at twice the epsilon."""
    answers = drawn("laplace-top-k", monotonic=True, epsilon=2.0)[2]
    masses = LAWS["laplace-top-k"](True)
    assert not counts_fit(counted(answers[0]), masses / masses.sum())


@pytest.mark.slow
@pytest.mark.parametrize("monotonic", [True, False])
def test_noise_keeps_its_promise_and_half_the_scale_would_not(monotonic):
    """All that one person can change, by one in each utility; the promise is nearly used up."""
    start, moves = (3, 3, 3, 3), (0, 1) if monotonic else (-1, 0, 1)
    worst = {}
    for times in (1, 2):
        rate = times * RATES[monotonic]
        before = noisy(rate, start)
        ratios = [
            np.abs(np.log(noisy(rate, tuple(map(sum, zip(start, move, strict=True)))) / before))
            for move in product(moves, repeat=4)
        ]
        worst[times] = np.max(ratios)
    assert worst[1] <= 1.0 < worst[2]


def test_a_data_sets_draws_depend_on_its_number_alone():
    subject = build({"name": "permute-and-flip-top-k", "k": 2}, 1.0, None)
    rows = np.array([UTILITIES, (1, 1, 9, 1), (4, 4, 4, 4)], dtype=np.float64)
    whole = subject.draw(Block(rows, 0, None), 50, 3)
    part = subject.draw(Block(rows[1:], 1, None), 50, 3)
    np.testing.assert_array_equal(whole[1:], part)
    assert (whole[2] != subject.draw(Block(rows[2:], 0, None), 50, 3)[0]).any()


def test_figures():
    subject, block, answers = drawn("top-k", size=200)
    values = subject.values(block, answers, ("error", "loss", "total_loss", "last_loss"))
    for t, (first, second) in enumerate(answers[0].tolist()):
        gaps = 6 - UTILITIES[first], 5 - UTILITIES[second]
        assert values["loss"][0, t] == max(gaps)
        assert values["total_loss"][0, t] == abs(gaps[0]) + abs(gaps[1])
        assert values["last_loss"][0, t] == 5 - min(UTILITIES[first], UTILITIES[second])
        assert values["error"][0, t] == sum(i not in (0, 1) for i in (first, second)) / 2
    assert (values["loss"] >= 0).all()


def test_no_figure_of_a_draw_is_beyond_its_reach():
    subject, block, _ = drawn("top-k", utilities=(7, 7, 0, 0), size=1)
    worst = subject.values(block, np.array([[[2, 3]]]), ("error", "loss", "total_loss"))
    for figure, value in worst.items():
        assert value == subject.reach(block, figure), figure


def test_of_candidates_that_tie_as_many_are_right_as_have_a_place():
    subject, block, answers = drawn("top-k", utilities=(5, 3, 3, 3), size=200)
    first = (answers[0] == 0).any(axis=1)
    assert (subject.values(block, answers, ("error",))["error"][0] == np.where(first, 0, 0.5)).all()


SETTINGS = {"name": "top", "epsilon": 1.0, "datasets": 3, "draws": 20}
VOTES = {"name": "votes", "votes": 100}


class TestInAStudy:
    def test_a_figure_of_ones_own_sees_k_answers_and_the_k_best(self):
        def share(answers, truth):
            return (np.sort(answers, axis=1) == np.sort(truth)).all(axis=1)

        rows = (
            fx.Study(
                mechanisms=[{"name": "top-k", "k": 2}],
                data=VOTES,
                n=5,
                figures=[share, "error"],
                **SETTINGS,
            )
            .run(workers=1)
            .rows
        )
        (right,) = (row["monte_carlo"] for row in rows if row["figure"] == "share")
        (wrong,) = (row["monte_carlo"] for row in rows if row["figure"] == "error")
        assert 0 < right <= 1 - wrong < 1

    def test_joint_losses_are_exact_and_drawn(self):
        settings = {**SETTINGS, "datasets": 40, "draws": 100}
        figures = ("loss", "loss_quantile", "error", "total_loss", "last_loss")
        mechanisms = [{"name": "joint-top-k", "k": 3}, fx.JointTopK(2, 1.0, neighbors="replace")]
        rows = (
            fx.Study(mechanisms=mechanisms, data=VOTES, n=9, figures=figures, **settings)
            .run(workers=1)
            .rows
        )
        assert len(rows) == 2 * 6
        for row in rows:
            exact = row["figure"].startswith("loss")
            assert (row["exact"] is not None, row["agree"]) == (exact, True if exact else None)

    def test_counts_are_integers(self):
        settings = {**SETTINGS, "mechanisms": [{"name": "joint-top-k", "k": 1}]}
        data = {"name": "utilities", "values": [1.5, 2.0]}
        with raises("counts of a study"):
            fx.Study(data=data, **settings).run(workers=1)

    def test_the_unit_of_a_total(self):
        mechanism = {"name": "top-k", "k": 2, "unit": "rho"}
        made = fx.Study(mechanisms=[mechanism], data=VOTES, n=5, **SETTINGS)
        promise = made.cells[0].subject.mechanism.guarantee
        assert promise.epsilon == pytest.approx(math.sqrt(2))
        assert promise.rho == fx.JointTopK(2, 1.0).guarantee.rho == 0.125
        with raises("...unit: one of several words"):
            fx.Study(mechanisms=[{**mechanism, "unit": "nats"}], data=VOTES, n=5, **SETTINGS)

    def test_a_mechanism_is_a_template(self):
        made = fx.Study(mechanisms=[fx.TopK(2, 1.0, 1.0)], data=VOTES, n=5, **SETTINGS)
        assert made.cells[0].mechanism == "top-k k=2 sensitivity=1.0"
        assert made.cells[0].averages == ("error",)
