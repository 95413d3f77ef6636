"""Is the rule by which groups appear (ε, δ)-private, as good as can be, and drawn exactly?"""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest

import fastexp as fx
from tests.messages import raises
from tests.support.checks import private_groups as checks
from tests.support.each import each

RATES = [*itertools.product((0.1, 0.5, 1.0, 2.0), (1e-9, 1e-6, 1e-3))]


class TestRule:
    @each("epsilon, delta", RATES)
    def test_it_is_private_and_no_rule_shows_more(self, epsilon, delta):
        checks.rule_is_private(epsilon, delta)

    def test_coins_are_exact(self):
        checks.coins_are_exact()

    def test_numbers_that_are_published(self):
        """Desfontaines et al. 2022: from 37 and 218 persons on a group appears for certain."""
        for epsilon, delta, certain in ((1.0, 1e-8, 37), (0.1, 1e-6, 218)):
            groups = fx.PrivateGroups(delta, epsilon)
            assert groups.law(certain) == 1.0 > groups.law(certain - 1)
            assert groups.smallest(1.0) == certain
            assert groups.law([0, 1]).tolist() == [0.0, pytest.approx(delta, rel=1e-12)]
            assert groups.law(groups.smallest(0.95)) >= 0.95 > groups.law(groups.smallest(0.95) - 1)

    def test_many_at_once(self):
        law = fx.PrivateGroups(1e-8, 1.0).law(np.arange(10**6))
        assert law[:3].tolist() == [0.0, pytest.approx(1e-8), pytest.approx(1e-8 * (1 + math.e))]
        assert (np.diff(law) >= 0).all()
        assert law[37:].min() == 1.0


class TestThreshold:
    def test_it_is_the_least_multiple(self):
        checks.thresholds_are_least()

    def test_it_has_the_limits_of_a_total(self):
        groups = fx.PrivateGroups(1e-8)
        assert groups.threshold(1024.0) == 3
        assert groups.threshold(1e-15) >= 2 * math.log(1e8) / 1e-15
        for epsilon in (1e-310, 9e-16, 1025.0):
            with raises("epsilon: within limits"):
                groups.threshold(epsilon)

    @each("delta", [1e-2 / 16, 1e-4])
    def test_a_median_with_a_total_is_private_row_by_row(self, delta):
        """The published row of all data of up to four records on three points."""
        epsilon = 2 * math.log(2)
        groups, step, most = fx.PrivateGroups(delta), 8, 160
        threshold, totals = groups.threshold(epsilon), np.arange(0, most, step)

        def row(records):
            weights = {}
            for o in range(3):
                below, equal = sum(x < o for x in records), records.count(o)
                ranks = range(below, below + equal + 1)  # where the answer lies in its point
                off = [
                    np.abs(r - totals / 2) + np.abs(len(records) - r - totals / 2) for r in ranks
                ]
                weights[o] = np.mean([2.0**-x for x in off], axis=0)
            whole = sum(x.sum() for x in weights.values())
            seen = np.concatenate([x[totals >= threshold] for x in weights.values()]) / whole
            seen = seen if records else 0 * seen
            return np.append(seen, 1 - seen.sum())

        median = fx.Quantiles([0.5], epsilon, bounds=(0, 2), step=1, with_total=True)
        law = median.law([0, 2, 2])
        assert row([0, 2, 2])[-1] == pytest.approx(law.total().cdf(threshold - 1), rel=1e-9)

        rows = {
            x: row(list(x))
            for n in range(5)
            for x in itertools.combinations_with_replacement(range(3), n)
        }
        worst = 0.0
        for x, y in itertools.product(rows, repeat=2):
            if abs(len(x) - len(y)) == 1 and (not {*x} - {*y} or not {*y} - {*x}):
                worst = max(worst, np.maximum(rows[x] - 4.0 * rows[y], 0.0).sum())
        assert delta / 100 < worst <= delta


class TestParameters:
    def test_what_is_refused(self):
        for delta in (0, -1e-9, 0.0011, math.nan):
            with raises("delta of groups", "delta: finite and positive"):
                fx.PrivateGroups(delta)
        with raises("groups of too many persons"):
            fx.PrivateGroups(1e-8, 1e-5)
        with raises("law of groups without epsilon"):
            fx.PrivateGroups(1e-8).law(3)
        with raises("numbers of persons"):
            fx.PrivateGroups(1e-8, 1.0).law(1.5)

    def test_they_are_values(self):
        groups = fx.PrivateGroups(delta=1e-8, epsilon=1.0)
        groups.law(3)
        assert groups == pickle.loads(pickle.dumps(groups)) == fx.PrivateGroups(1e-8, 1.0)
        assert len(pickle.dumps(groups)) < 300
        assert repr(groups) == "PrivateGroups(delta=1e-08, epsilon=1.0)"
