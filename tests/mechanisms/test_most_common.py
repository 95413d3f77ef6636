"""Does `MostCommon` keep its law and promise by permute-and-flip, and with labelled counts?"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import fastexp as fx
from fastexp import privacy
from tests.doors.parameters import encoded_mechanism
from tests.doors.reference import exact
from tests.messages import raises
from tests.privacy.test_privacy import count_pairs
from tests.support.each import each
from tests.support.goodness import fits
from tests.twins import selection

FLIP = "permute-and-flip"
RECORDS = ["a"] * 5 + ["b"] * 3 + ["c"] * 4 + ["z"]


def flips(epsilon=0.7, candidates=("a", "b", "c", "d"), **others):
    return fx.MostCommon(epsilon, candidates, mechanism=FLIP, **others)


def exact_law(counts, rate):
    """By its integral, from weights that are good to 200 bits."""
    gaps = [max(counts) - c for c in counts]
    weights = [Fraction(exact.exp_bounds(rate * g, 200)[0], 1 << 200) for g in gaps]
    return np.array([float(p) for p in selection.permute_and_flip_law(weights)])


class TestPermuteAndFlip:
    @pytest.mark.parametrize(("neighbors", "divisor"), [("add-remove", 1), ("replace", 2)])
    def test_the_law(self, neighbors, divisor):
        law = flips(neighbors=neighbors).law(RECORDS)
        assert isinstance(law, fx.PermuteAndFlipLaw)
        wanted = exact_law([5, 3, 4, 0], Fraction(0.7) / divisor)
        assert np.abs(law.probabilities / wanted - 1).max() < 1e-12
        plain = fx.MostCommon(0.7, list("abcd"), neighbors=neighbors).law(RECORDS)
        assert law.expected_loss() < plain.expected_loss()

    def test_samples_are_those_of_the_law_and_of_the_twin(self):
        mechanism = flips()
        drawn = mechanism.sample(RECORDS, 500, rng=3)
        assert (drawn == mechanism.law(RECORDS).sample(500, rng=3)).all()
        same = fx.PermuteAndFlip(0.7, 1.0, monotonic=True).sample([5, 3, 4, 0], 500, rng=3)
        assert (drawn == same).all()
        with raises("one of several words", words="'envelope'"):
            mechanism.sample(RECORDS, 5, rng=1, method="gumbel")

    @pytest.mark.statistical
    def test_releases_have_the_law(self):
        mechanism = flips()
        drawn = np.array(["abcd".index(mechanism.release(RECORDS)) for _ in range(4_000)])
        assert fits(drawn, mechanism.law(RECORDS).probabilities)
        assert not fits(drawn, mechanism.law(RECORDS[1:]).probabilities)

    @pytest.mark.slow
    @each("epsilon", [0.3, 2.0])
    @each("neighbors", ["add-remove", "replace"])
    def test_the_promise_is_kept_and_the_range_is_not_bounded(self, epsilon, neighbors):
        """Epsilon by all neighbours of up to four records; the range is above epsilon."""
        mechanism = flips(epsilon, list("abc"), neighbors=neighbors)
        promise = mechanism.guarantee
        assert (promise.epsilon, promise.neighbors) == (epsilon, neighbors)
        assert promise.bounded_range is None
        assert promise.rho == privacy.pure_rho(epsilon)
        ratio = span = 0.0
        for first, second in count_pairs(3, 4, neighbors):
            laws = [mechanism.law(dict(zip("abc", c, strict=True))) for c in (first, second)]
            difference = laws[0].log_probabilities - laws[1].log_probabilities
            ratio = max(ratio, np.abs(difference).max())
            span = max(span, difference.max() - difference.min())
        assert 0.8 * epsilon < ratio <= epsilon + 1e-12
        assert span > epsilon

    def test_totals_and_budgets_are_those_of_pure_privacy(self):
        mechanism, budget = flips(), fx.Budget(rho=9.0, neighbors="add-remove")
        mechanism.release(RECORDS, budget=budget)
        assert budget.spent == mechanism.guarantee.rho
        how = {"by": [1] * len(RECORDS), "groups": [1, 2]}
        mechanism.release(RECORDS, budget=budget, max_groups=2, **how)
        total = mechanism.total(groups=True, max_groups=2)
        assert total.epsilon == pytest.approx(1.4)
        assert budget.spent == pytest.approx(mechanism.guarantee.rho + total.rho)

    def test_the_object(self):
        mechanism, plain = flips(), fx.MostCommon(0.7, list("abcd"))
        assert plain.mechanism == "exponential"
        assert mechanism != plain
        assert encoded_mechanism(mechanism) != encoded_mechanism(plain)


class TestCountsWithLabels:
    """Beside what `test_counts_with_labels.py` tries of all selections."""

    @pytest.mark.engines
    def test_of_numbers_a_mapping_only(self):
        mechanism, votes = fx.MostCommon(0.5, [1, 2]), [1, 2, 2]
        assert mechanism.law({2: 2, 1: 1, 3: 9}) == mechanism.law(votes)
        series = pd.Series(votes).value_counts()  # its values are candidates, too: records
        assert mechanism.law(series) == mechanism.law(series.tolist())
        assert mechanism.law(series.to_dict()) == mechanism.law(votes)

    def test_the_largest_counts_are_exact(self):
        law = fx.MostCommon(1.0, ["a", "b"]).law({"a": 2**62, "b": 2**62 - 1})
        assert law.probabilities[0] == pytest.approx(1 / (1 + math.exp(-1)), rel=1e-14)

    @each(
        "others",
        [
            {"by": ["x"], "groups": ["x"]},
            {"offsets": [0, 1]},
            {"person": [1]},
            {"max_groups": 2},
            {"key": fx.release_key(), "label": "q"},
        ],
        ids=lambda others: next(iter(others)),
    )
    def test_what_needs_records_is_refused_before_the_charge(self, others):
        mechanism, budget = fx.MostCommon(0.5, ["a", "b"]), fx.Budget(1.0)
        with raises("what goes with records"):
            mechanism.release({"a": 1}, budget=budget, **others)
        if not {"max_groups", "key"} & set(others):
            with raises("what goes with records"):
                mechanism.sample({"a": 1}, **others)
        assert budget.spent == 0.0

    @pytest.mark.engines
    def test_a_label_of_a_budget_repeats_the_answer_of_the_same_records(self, tmp_path):
        budget = fx.Budget.file(tmp_path / "ledger", epsilon=1.0, neighbors="add-remove")
        mechanism = flips(0.4)
        found = mechanism.release(dict(Counter(RECORDS)), budget=budget, label="a")
        assert mechanism.release(RECORDS, budget=budget, label="a") == found
        assert budget.spent == 0.4

    def test_an_object_that_fails_is_not_quoted(self):
        class Failing(dict):
            def items(self):
                raise ValueError("SECRET")

        with pytest.raises(fx.InvalidRecords) as caught:
            fx.MostCommon(0.5, ["a", "b"]).law(Failing(a=1))
        assert "SECRET" not in str(caught.value)
        assert caught.value.__context__ is None
