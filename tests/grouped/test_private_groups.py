"""Is the rule by which groups appear (ε, δ)-private, as good as can be, and drawn exactly?"""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from tests.doors.grouped import private_groups
from tests.doors.reference import exact
from tests.messages import raises
from tests.support.each import each

BITS = 256
RATES = [*itertools.product((0.1, 0.5, 1.0, 2.0), (1e-9, 1e-6, 1e-3))]


def enclosed(epsilon):
    """Fractions around exp(-epsilon)."""
    low, high = exact.exp_bounds(Fraction(epsilon), BITS)
    return Fraction(low, 1 << BITS), Fraction(high, 1 << BITS)


def broken(p, before, fall, delta):
    """By how much one of the four inequalities between neighbouring numbers fails."""
    pairs = (p, before), (before, p), (1 - p, 1 - before), (1 - before, 1 - p)
    return max(one - other / fall - delta for one, other in pairs)


class TestRule:
    @each("epsilon, delta", RATES)
    def test_it_is_private_and_no_rule_shows_more(self, epsilon, delta):
        low, high = private_groups.bounds_of(epsilon, delta, BITS)
        least_fall, most_fall = enclosed(epsilon)
        unit, exact_delta = Fraction(1, 1 << BITS), Fraction(delta)
        pairs = [*zip(low, high, strict=True)][:61]
        assert pairs[0] == (0, 0)
        for (low_before, high_before), (p_low, p_high) in itertools.pairwise(pairs):
            assert 0 <= p_high - p_low < 1 << 64
            before, p = high_before * unit, p_low * unit
            assert p > low_before * unit
            slack = Fraction(1, 1 << 150)
            assert broken(p, before, most_fall, exact_delta) <= slack
            if p < 1:
                more = min(p + Fraction(1, 10**12), Fraction(1))
                assert broken(more, low_before * unit, least_fall, exact_delta) > 0

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
    @each(
        "epsilon, delta, max_rows", [(1.0, 1e-8, 1), (0.3, 1e-5, 2), (2.5, 1e-3, 3), (20, 1e-9, 1)]
    )
    def test_it_is_the_least_multiple(self, epsilon, delta, max_rows):
        step = 1 << (math.ceil(8 / epsilon) - 1).bit_length()
        threshold = fx.PrivateGroups(delta).threshold(epsilon, max_rows)
        least = 2 * (max_rows + math.log(1 / delta) / epsilon)
        assert threshold % step == 0
        assert least - 1e-9 <= threshold < least + step

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
