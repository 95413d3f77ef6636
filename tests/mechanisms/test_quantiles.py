"""Do joint quantiles say what they are, refuse what they must, and answer in every form of data?"""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from tests.doors.privacy import joint_exponential_rate, joint_rate, lattice_step
from tests.messages import raises
from tests.support import all_answers as twin
from tests.support.checks.groups import restored_key
from tests.support.each import each
from tests.support.goodness import counts_fit

GRID = {"bounds": (0, 12), "step": 1}
SURE = {"epsilon": 1e3, **GRID}  # so large that answers are the true quantiles
RECORDS = [1, 2, 3, 3, 4, 5, 5, 7, 8, 8, 9, 11]
TRUE = [3, 5, 8]  # of three quartiles, each inside equal records
Q = [0.25, 0.5, 0.75]


def quartiles(**settings):
    return fx.Quantiles(Q, **(SURE | settings))


class TestParameters:
    @each(
        "q",
        [
            [0.25, 0.5],
            (Decimal("0.25"), Fraction(1, 2)),
            np.array([0.25, 0.5]),
            np.array([0.25, 0.5], np.float32),
            (q for q in (0.25, 0.5)),
        ],
    )
    def test_quantiles_are_exact_whatever_they_come_as(self, q):
        mechanism = fx.Quantiles(q, 1.0, (0, 12))
        assert mechanism.q == (0.25, 0.5)
        assert mechanism == fx.Quantiles([0.25, 0.5], 1.0, (0, 12))
        assert mechanism._q == (Fraction(1, 4), Fraction(1, 2))

    def test_a_count_is_of_evenly_spaced_ones(self):
        deciles = fx.Quantiles(count=9, epsilon=1.0, bounds=(0, 12))
        assert deciles == fx.Quantiles([j / 10 for j in range(1, 10)], 1.0, (0, 12))
        assert fx.Quantiles(count=2, epsilon=1.0, bounds=(0, 1)).q == (
            Fraction(1, 3),
            Fraction(2, 3),
        )
        assert fx.Quantiles(count=100, epsilon=1.0, bounds=(0, 1))._q[-1] == Fraction(100, 101)

    def test_a_total_is_refused_by_the_verbs_too(self):
        mechanism = quartiles(neighbors="replace")
        with raises("total without its neighbors"):
            mechanism.release(RECORDS, with_total=True)
        with raises("total without its neighbors"):
            mechanism.sample(RECORDS, with_total=True)
        with raises("with_total: true or false"):
            quartiles().release(RECORDS, with_total=1)

    def test_they_are_written_as_they_are_made_and_travel(self):
        mechanism = fx.Quantiles(count=3, **SURE, with_total=True)
        text = "Quantiles(q=(0.25, 0.5, 0.75), epsilon=1000.0, bounds=(0, 12), step=1, "
        assert repr(mechanism) == text + "with_total=True)"
        assert mechanism == fx.Quantiles(q=(0.25, 0.5, 0.75), **SURE, with_total=True)
        assert hash(replace(mechanism, with_total=False)) == hash(quartiles())
        assert replace(mechanism, with_total=False) == quartiles() != mechanism


class TestPromise:
    @each("neighbors", ["add-remove", "replace"])
    @each("q", [Q, [0.5]])
    def test_of_all_answers_together(self, neighbors, q):
        promise = fx.Quantiles(q, 0.5, (0, 12), neighbors=neighbors).guarantee
        assert (promise.epsilon, promise.bounded_range, promise.rho) == (0.5, 0.5, 0.03125)
        assert (promise.delta, promise.neighbors) == (0.0, neighbors)

    def test_of_rows_and_groups(self):
        mechanism = fx.Quantiles(Q, 0.5, (0, 12))
        assert mechanism.total(rows=3).epsilon == 1.5
        assert mechanism.total(groups=True).epsilon == 0.5
        assert mechanism.total(groups=True, max_groups=2).epsilon == 1.0

    def test_rates(self):
        assert joint_rate(0.5, "add-remove") == Fraction(1, 4)
        assert joint_rate(0.5, "replace") == Fraction(1, 8)
        shares = [Fraction(1, 10), Fraction(9, 10)]
        assert joint_exponential_rate(0.9, shares) == Fraction(0.9) / 4 / Fraction(9, 10)

    @each(
        ("epsilon", "step"),
        [(1.0, 8), (0.99, 16), (8.0, 1), (7.9, 2), (1e6, 1), (0.1, 128), (1e-15, 1 << 53)],
    )
    def test_totals_are_multiples_of(self, epsilon, step):
        assert lattice_step(epsilon) == step
        assert step == 1 or 8 / Fraction(epsilon) <= step < 16 / Fraction(epsilon)


class TestAnswers:
    def test_one_data_set(self):
        answer = quartiles().release(RECORDS)
        assert answer == TRUE
        assert {type(x) for x in answer} == {int}
        half = fx.Quantiles(Q, 1e3, (0, 12), step=0.5).release(RECORDS)
        assert half == TRUE
        assert {type(x) for x in half} == {float}

    def test_with_a_total(self):
        for mechanism, more in (
            (quartiles(with_total=True), {}),
            (quartiles(), {"with_total": True}),
        ):
            values, total = mechanism.release(RECORDS, **more)
            assert (values, total) == (TRUE, 12)
            assert type(total) is int
            values, total = mechanism.sample(RECORDS, rng=1, **more)
            assert (values.tolist(), total) == (TRUE, 12)
            values, totals = mechanism.sample(RECORDS, 5, rng=1, **more)
            assert (values.shape, totals.shape, totals.dtype) == ((5, 3), (5,), np.int64)
        fine = fx.Quantiles(Q, 1e3, (0, 12), step=0.5, with_total=True)
        assert fine.release(RECORDS) == (TRUE, 12)
        assert fine.release(RECORDS, with_total=False) == TRUE

    def test_rows_lists_and_groups(self):
        rows = np.array([RECORDS, [12 - x for x in RECORDS]])
        wanted = np.array([TRUE, [4, 7, 9]])
        mechanism = quartiles()
        released = mechanism.release(rows)
        assert released.dtype == np.int64
        assert (released == wanted).all()
        assert (mechanism.release(rows.reshape(-1), offsets=[0, 12, 24]) == wanted).all()
        by = {"by": np.repeat(["a", "b"], 12), "groups": ["b", "a"]}
        assert (mechanism.release(rows.reshape(-1), **by) == wanted[::-1]).all()
        values, totals = mechanism.release(rows.reshape(-1), **by, with_total=True)
        assert ((values == wanted[::-1]).all(), totals.tolist()) == (True, [12, 12])
        assert totals.dtype == np.int64
        for size, shape in ((None, (2, 3)), (4, (2, 4, 3))):
            assert mechanism.sample(rows, size, rng=1).shape == shape
            assert mechanism.sample(rows.reshape(-1), size, **by, rng=1).shape == shape
            values, totals = mechanism.sample(rows, size, rng=1, with_total=True)
            assert (values.shape, totals.shape) == (shape, shape[:-1])

    def test_groups_of_the_data(self):
        by = {"by": ["a"] * 12, "groups": "from-data"}
        with pytest.warns(fx.PrivacyWarning):
            groups, values = quartiles().release(RECORDS, **by)
        assert (groups, values.tolist()) == (["a"], [TRUE])
        with pytest.warns(fx.PrivacyWarning):
            groups, (values, totals) = quartiles().release(RECORDS, **by, with_total=True)
        assert (groups, values.tolist(), totals.tolist()) == (["a"], [TRUE], [12])

    def test_a_label_keeps_answers_and_a_total_is_another_question(self, tmp_path):
        budget = fx.Budget.file(tmp_path / "b", epsilon=10.0)
        mechanism = fx.Quantiles(Q, 1.0, **GRID)
        once = mechanism.release(RECORDS, budget=budget, label="q")
        assert mechanism.release([], budget=budget, label="q") == once
        both = mechanism.release(RECORDS, budget=budget, label="t", with_total=True)
        assert type(both) is tuple
        assert replace(mechanism, with_total=True).release([], budget=budget, label="t") == both
        assert budget.spent == 2.0
        with pytest.raises(fx.LabelError):
            mechanism.release(RECORDS, budget=budget, label="t")

    def test_a_key_repeats_answers(self):
        mechanism, key = fx.Quantiles(Q, 0.1, **GRID), {"key": restored_key(), "label": "q"}
        answers = {tuple(mechanism.release(RECORDS, **key)) for _ in range(5)}
        assert len(answers) == 1
        backward = mechanism.release(RECORDS[::-1], **key)
        assert {tuple(backward)} == answers

    def test_persons_and_missing_records(self):
        records = [*map(float, RECORDS), float("nan"), 1.0, 1.0, 1.0]
        person = [*range(13), 0, 0, 0]  # one of the first person's records counts
        assert quartiles().release(records, person=person, nan="drop") == TRUE

    def test_bytes_do_not_depend_on_how_records_come(self):
        mechanism, shuffled = fx.Quantiles(Q, 0.3, **GRID), RECORDS[::2] + RECORDS[1::2]
        wanted = mechanism.sample(RECORDS, 50, rng=3)
        values, number = np.unique(RECORDS, return_counts=True)
        for records, more in (
            (shuffled, {}),
            (np.array(RECORDS, np.float64), {"assume_sorted": True}),
            ((values, number), {}),
            (lambda: (np.array([x]) for x in shuffled), {}),
            (shuffled, {"threads": 2}),
        ):
            assert (mechanism.sample(records, 50, rng=3, **more) == wanted).all()
        assert len(np.unique(wanted, axis=0)) > 5

    @pytest.mark.parametrize("kind", [fx.Quantiles, fx.ApproximateQuantiles])
    def test_too_many_records(self, kind):
        """Refused before memory is asked for, whose lack would tell their number."""
        many = [1, 7], [2**40, 2]
        for q in (Q, [0.5]):
            with raises("fewer records than 2**32"):
                kind(q, 1.0, **GRID).release(many)

    def test_no_records_at_all(self):
        draws = fx.Quantiles(Q, 1.0, **GRID).sample([], 300, rng=1)
        assert (np.diff(draws) >= 0).all()
        assert len(np.unique(draws, axis=0)) > 100


class TestOneQuantile:
    SETTINGS = ({}, {"neighbors": "replace"}, {"grid": [0.0, 1.5, 5.0, 12.0], "step": None})

    @each("settings", SETTINGS)
    def test_is_that_of_quantile(self, settings):
        given = {"epsilon": 0.3, **GRID} | settings
        one, several = fx.Quantile(0.3, **given), fx.Quantiles([0.3], **given)
        rows = np.array([RECORDS, [12 - x for x in RECORDS]])
        by = {"by": [1, 2] * 6, "groups": [2, 1]}
        for data, more in ((RECORDS, {}), (RECORDS, by), (rows, {})):
            for size in (None, 7):
                plain = one.sample(data, size, rng=5, **more)
                drawn = several.sample(data, size, rng=5, **more)
                assert drawn.dtype == np.asarray(plain).dtype
                assert (drawn == np.asarray(plain)[..., None]).all()
                assert drawn.ndim == np.ndim(plain) + 1
        assert several.guarantee == one.guarantee

    @each("settings", SETTINGS)
    def test_its_law_is_that_of_quantile(self, settings):
        given = {"epsilon": 0.3, **GRID} | settings
        one = fx.Quantile(0.3, **given).law(RECORDS)
        law = fx.Quantiles([0.3], **given).law(RECORDS)
        assert law.marginal(0) == one
        assert pickle.loads(pickle.dumps(law)) == law
        assert law.log_normalizer == one.log_normalizer
        assert law.expected_error().tolist() == [one.expected_error(one.truth)]
        places = one.grid.index(np.array(RECORDS, np.float64))
        ranks = [((places < t).sum(), (places <= t).sum()) for t in range(one.grid.size)]
        off = [max(low - 0.3 * 12, 0.3 * 12 - high, 0.0) for low, high in ranks]
        assert law.expected_rank_error() == pytest.approx([one.probabilities @ off], abs=1e-12)
        assert (law.sample(9, rng=2)[:, 0] == one.sample(9, rng=2)).all()
        target = {"expected_error": 3.0}
        assert law.epsilon_for(**target) == one.epsilon_for(**target)
        assert fx.Quantiles([0.3], **given).accuracy(RECORDS)[0].expected == law.expected_error()[0]
        with raises("total of one quantile"):
            law.total()

    def test_releases_are_lists_of_one(self):
        several = fx.Quantiles([0.5], **SURE)
        assert several.release(RECORDS) == [5]
        assert several.release(np.array([RECORDS, RECORDS])).tolist() == [[5], [5]]
        assert several.release(lambda: iter([np.array(RECORDS)])) == [5]


class TestComparator:
    def test_it_is_not_released(self):
        rival = fx.JointExponentialQuantiles(Q, **SURE)
        with raises("for simulations only, got Quantiles"):
            fx.Query().release({"x": RECORDS}, {"q": (rival, "x")})
        assert fx.Query().sample({"x": RECORDS}, {"q": (rival, "x")}, rng=1)["q"].shape == (1, 3)
        assert rival.guarantee == quartiles().guarantee
        assert rival.sample(RECORDS, 4, rng=1).shape == (4, 3)
        assert rival.sample(np.array([RECORDS, RECORDS]), 4, rng=1).shape == (2, 4, 3)

    @pytest.mark.parametrize("kind", [fx.Quantiles, fx.JointExponentialQuantiles])
    def test_calls_of_one_number_refuse_several(self, kind):
        with raises("one answer a mechanism"):
            fx.compare([kind(Q, **SURE)], RECORDS)
        with raises("mechanisms of one number"):
            fx.expected_errors([RECORDS], [kind(Q, **SURE)])

    def test_refusals(self):
        with pytest.raises(TypeError):
            fx.JointExponentialQuantiles(Q, **SURE, neighbors="replace")


def exact(records, q, size, totals, rate, ties):
    """The law of answers on a grid 0, ..., size - 1, from all tuples."""
    weights = twin.enumerated(records, size, q, totals, lambda d: math.exp(-rate * d), ties)
    return twin.probabilities(weights)


DRAWS = 60_000
LAWS = {
    "add-remove": (fx.Quantiles, {}, 1 / 2, None),
    "replace": (fx.Quantiles, {"neighbors": "replace"}, 1 / 4, "n"),
    "JointExp": (fx.JointExponentialQuantiles, {}, 1 / 4 / (1 - 0.25), "n"),
    "JointExp, spread": (fx.JointExponentialQuantiles, {"ties": "spread"}, 1 / 4 / 0.75, "n"),
}


@pytest.mark.statistical
@each("name", LAWS)
def test_draws_have_the_law_that_is_promised(name):
    """And not that of another rate: of epsilon 10 % greater, or of another kind of ties."""
    kind, settings, share, target = LAWS[name]
    epsilon, records = 2.0, [1, 2, 2, 4]
    mechanism = kind([0.25, 0.5], epsilon, (0, 5), step=1, **settings)
    draws = mechanism.sample(records, DRAWS, rng=11)
    totals = [4] if target == "n" else range(0, 200, 4)
    ties = settings.get("ties", "spread" if kind is fx.Quantiles else "left")
    q = [Fraction(1, 4), Fraction(1, 2)]
    law = exact(records, q, 6, totals, epsilon * share, ties)
    keys = list(law)
    counts = np.array([(draws == key).all(axis=1).sum() for key in keys])
    assert counts.sum() == DRAWS
    assert counts_fit(counts, [law[key] for key in keys])
    wrong = exact(records, q, 6, totals, 1.1 * epsilon * share, ties)
    assert not counts_fit(counts, [wrong[key] for key in keys])
