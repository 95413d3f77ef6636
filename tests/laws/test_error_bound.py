"""Is Theorem 1's bound computed as it says, with the greatest slope, and does it hold?"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastexp as fx
from tests.doors.laws import lambert_w, length
from tests.doors.laws import least_bound as _least
from tests.doors.numbers import smooth
from tests.support.each import each

RNG = np.random.default_rng(4)
NORMAL = RNG.normal(size=1000)
WIDE = (-10, 10)


class TestLambert:
    @pytest.mark.slow
    def test_against_many_digits(self):
        z = np.concatenate([np.geomspace(1e-300, 1.7e308, 900), np.linspace(0.01, 30, 600)])
        with mpmath.workdps(40):
            for x in z.tolist():
                exact, found = mpmath.lambertw(mpmath.mpf(x)).real, lambert_w(x)
                assert abs(found - exact) <= 1.5 * math.ulp(found)

    def test_the_ends(self):
        assert lambert_w(0.0) == 0.0
        assert lambert_w(5e-324) == 5e-324
        assert lambert_w(math.inf) == math.inf
        assert lambert_w(math.e) == pytest.approx(1.0, rel=3e-16)


class TestTheFormula:
    @pytest.mark.parametrize(
        ("epsilon", "w", "factor"),
        [(1.0, 9.70979402482, 66.73665052), (0.5, 9.0833399525, 124.8619039)],
    )
    def test_known_factors(self, epsilon, w, factor):
        x = np.repeat([-10.0, 10.0], 400)  # so far apart that the slope holds
        x[399] = 0.0
        found = fx.error_bound(x, epsilon, bounds=WIDE, slope=0.0025)
        how = {"bounds": WIDE, "neighbors": "add-remove"}
        sensitivity = fx.smooth_sensitivity(x, epsilon / (4 * w), **how)
        assert found == pytest.approx(factor * sensitivity, rel=1e-9)

    def test_the_length_is_that_of_the_distances(self):
        """By the law's own losses: all numbers at a distance of at most t."""
        x = np.sort(RNG.integers(0, 30, 12).astype(float))
        law = fx.Median(2.0, (0, 30), convention="lower").continuous_law(x)
        middles = (np.arange(30_000) + 0.5) / 1000
        density = law.pdf(middles)
        distance = np.round(-np.log(density / density.max())).astype(int) + 1
        for t in range(1, 15):
            expected = np.count_nonzero(distance <= t) / 1000
            assert length(x, 0.0, 30.0, t + 0.5) == pytest.approx(expected, abs=1e-9)

    @each("n", [1, 2, 7, 40, 400])
    @each("epsilon", [0.05, 1.0, 20.0])
    def test_the_slope_is_the_greatest_that_holds(self, n, epsilon):
        x = np.sort(RNG.normal(size=n).round(1))

        def holds(slope: float) -> bool:
            t = 2 * lambert_w(epsilon * 20 / (slope * 0.05)) / epsilon
            return length(x, -10.0, 10.0, t) >= slope * t

        w = _least(x, -10.0, 10.0, epsilon, 0.05)
        slope = epsilon * 20 / 0.05 * math.exp(-w) / w
        assert holds(slope * (1 - 1e-9))
        assert not holds(slope * (1 + 1e-9))
        found = fx.error_bound(x, epsilon, bounds=WIDE)
        assert found == pytest.approx(
            fx.error_bound(x, epsilon, bounds=WIDE, slope=slope * (1 - 1e-9)), rel=1e-6
        )
        assert found <= fx.error_bound(x, epsilon, bounds=WIDE, slope=slope / 3)


class TestTheBound:
    @pytest.mark.slow
    @settings(max_examples=60, deadline=None)
    @given(
        st.lists(st.integers(-40, 40), min_size=1, max_size=60),
        st.sampled_from([0.1, 0.5, 1.0, 4.0, 30.0]),
        st.sampled_from([0.01, 0.05, 0.5, 0.9]),
    )
    def test_it_holds(self, records, epsilon, failure):
        x = np.sort(np.array(records) / 4)
        law = fx.Median(epsilon, WIDE, convention="lower").continuous_law(x)
        exact = law.error_quantile(1 - failure, x[(x.size + 1) // 2 - 1])
        bound = fx.error_bound(x, epsilon, bounds=WIDE, failure=failure)
        assert min(bound, 20) >= exact * (1 - 1e-9)

    def test_it_is_far_above_the_exact_quantile(self):
        truth = np.sort(NORMAL)[499]
        bound = fx.error_bound(NORMAL, 1.0, bounds=WIDE)
        law = fx.Median(1.0, WIDE, convention="lower").law(NORMAL)
        assert 1.0 < bound < 10.0
        assert law.error_quantile(0.95, truth) < bound / 100

    def test_it_does_not_depend_on_the_form(self):
        expected = fx.error_bound(NORMAL, 1.0, bounds=WIDE)
        assert fx.error_bound(np.sort(NORMAL)[::-1].tolist(), 1.0, bounds=WIDE) == expected
        assert fx.error_bound(lambda: iter(np.split(NORMAL, 4)), 1.0, bounds=WIDE) == expected
        gaps = np.append(NORMAL, np.nan)
        assert fx.error_bound(gaps, 1.0, bounds=WIDE, nan="drop") == expected
        values = (NORMAL, np.ones(1000, int))
        assert fx.error_bound(values, 1.0, bounds=WIDE) == expected
        beyond = np.where(NORMAL > 1, 1e9, NORMAL)
        clamped = fx.error_bound(np.minimum(beyond, 10), 1.0, bounds=WIDE)
        assert fx.error_bound(beyond, 1.0, bounds=WIDE) == clamped


def test_the_sensitivity_is_that_of_add_remove(monkeypatch):
    seen = []
    real = smooth.one
    monkeypatch.setattr(smooth, "one", lambda *a, **k: seen.append(k) or real(*a, **k))
    fx.error_bound(NORMAL, 1.0, bounds=WIDE)
    assert seen == [{"neighbors": "add-remove"}]
