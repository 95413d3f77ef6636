"""Do medians with noise do what they say: verbs, laws, the published table, refusals?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import kstest

import fastexp as fx
from tests.doors.laws import ClampedNoise
from tests.doors.privacy import CONCENTRATED, NOISES
from tests.messages import raises, says
from tests.support.goodness import ALPHA

RECORDS = np.array([1.0, 2.0, 4.0, 7.0, 8.0])
BOUNDS = (0, 10)
LAW = [noise for noise in NOISES if noise not in CONCENTRATED[:2]]


def smooth(epsilon=1.0, noise="cauchy", bounds=BOUNDS, **how):
    delta = how.pop("delta", 1e-3 if noise == "laplace" else 0.0)
    return fx.SmoothSensitivityMedian(epsilon, delta, bounds=bounds, noise=noise, **how)


RIVALS = [fx.LaplaceMedian(1.0, BOUNDS), *(smooth(noise=noise) for noise in NOISES)]
each = pytest.mark.parametrize("rival", RIVALS, ids=repr)
WITH_LAW = [r for r in RIVALS if r._noise is not None]
each_law = pytest.mark.parametrize("rival", WITH_LAW, ids=repr)


class TestPublishedTable:
    """300 data sets of 1,000 standard normal records, clamped to +-10: error times 100.

    The smooth sensitivity rows of a published comparison with the exponential mechanism, with
    the exact expectation over the noise.
    """

    ROWS = (
        ({"noise": "laplace"}, (14.54, 4.09, 1.23)),
        ({"noise": "laplace", "delta": 0.9}, (2.83, 1.05, 0.44)),
        ({"noise": "cauchy"}, (61.5, 22.7, 8.5)),
        ({"noise": "laplace", "neighbors": "add-remove"}, (12.6, 3.4, 1.0)),
        ({"noise": "laplace", "neighbors": "add-remove", "midpoint": True}, (6.4, 1.7, 0.5)),
    )

    @pytest.mark.parametrize(("how", "published"), ROWS)
    def test_errors(self, how, published):
        data = np.sort(np.random.default_rng(20).normal(size=(300, 1000)), axis=1)
        for epsilon, wanted in zip((0.5, 1.0, 2.0), published, strict=True):
            rival = smooth(epsilon, bounds=(-10, 10), **how)
            pair = rival._centres_and_scales(data)
            law = ClampedNoise(rival._noise, *pair, (-10.0, 10.0))
            errors = 100 * law.expected_error(pair[0])
            slack = 5 * errors.std() / math.sqrt(300) + 0.05
            assert abs(errors.mean() - wanted) < slack

    def test_tight_constants_are_several_times_better(self):
        data = np.sort(np.random.default_rng(21).normal(size=(300, 1000)), axis=1)
        for noise, most in (("pareto-tail", 1.7), ("laplace", 2.3), ("cauchy", 2.5)):
            rival = smooth(noise=noise, calibration="tight", bounds=(-10, 10))
            pair = rival._centres_and_scales(data)
            law = ClampedNoise(rival._noise, *pair, (-10.0, 10.0))
            errors = law.expected_error(pair[0])
            assert 100 * errors.mean() < most


class TestCentreAndScale:
    def test_of_a_small_data_set(self):
        """By the definition: the greatest exp(-beta*k) times a window of k + 1 gaps."""
        x = np.array([0.0, 1, 2, 4, 7, 8, 10])
        for noise in NOISES:
            rival = smooth(noise=noise)
            windows = [
                (x[j] - x[i]) * math.exp(-rival.beta * (j - i - 1))
                for i in range(4)
                for j in range(3, 7)
                if i < j
            ]
            (centre,), (scale,) = rival._centres_and_scales(RECORDS[None])
            assert centre == 4
            assert scale == pytest.approx(max(windows) / rival.alpha, rel=1e-13)

    def test_of_the_global_sensitivity(self):
        rival = fx.LaplaceMedian(0.5, (-10, 30))
        centres, scales = rival._centres_and_scales(np.array([[-50.0, -20, 3], [1, 2, 3]]))
        assert centres.tolist() == [-10, 2]
        assert scales.tolist() == [80, 80]
        assert rival.scale == 80

    def test_medians(self):
        even = np.array([[1.0, 2, 6, 9]])
        assert smooth()._centres_and_scales(even)[0] == 2
        assert smooth(midpoint=True)._centres_and_scales(even)[0] == 4
        assert smooth(midpoint=True, bounds=(0, 4))._centres_and_scales(even)[0] == 3

    @each
    def test_equal_records_within_reach_leave_little_noise(self, rival):
        same = np.full(5000, 3.0)
        spread = np.std(rival.sample(same, 50, rng=1))
        assert (spread > 0.1) == isinstance(rival, fx.LaplaceMedian)


class TestSample:
    @each
    def test_shapes_and_rows(self, rival):
        rows = np.stack([RECORDS, RECORDS[::-1] / 2, RECORDS + 1])
        drawn = rival.sample(rows, 6, rng=3)
        assert drawn.shape == (3, 6)
        assert drawn.dtype == np.float64
        assert isinstance(rival.sample(RECORDS, rng=3), float)
        assert rival.sample(rows, rng=3).tolist() == drawn[:, 0].tolist()
        for i in range(3):
            assert (rival.sample(rows[i], 6, rng=3, streams=[i]) == drawn[i]).all()
        assert (rival.sample(rows, 6, rng=3, streams=[2, 1, 0])[0] != drawn[0]).any()
        assert (rival.sample(np.sort(rows), 6, rng=3, assume_sorted=True, threads=2) == drawn).all()
        assert rival.sample(rows[:0], 6, rng=3).shape == (0, 6)
        assert ((drawn >= 0) & (drawn <= 10)).all()

    @each
    def test_forms_of_records(self, rival):
        drawn = rival.sample(RECORDS, 9, rng=4)
        values = RECORDS.astype(np.int64)
        for form in (
            RECORDS.tolist(),
            values,
            RECORDS.astype(np.float32),
            (values, np.ones(5, np.int64)),
            lambda: iter([RECORDS[3:], RECORDS[:3]]),
        ):
            assert (rival.sample(form, 9, rng=4) == drawn).all()
        whole = np.arange(12).reshape(2, 6)
        assert (rival.sample(whole, 9, rng=4) == rival.sample(whole * 1.0, 9, rng=4)).all()

    @each
    def test_missing_records(self, rival):
        gaps = np.array([np.nan, 4.0, 1.0, np.nan, 8.0])
        for how, filled in (
            ("drop", [1.0, 4.0, 8.0]),
            ("lower", [-np.inf, -np.inf, 1.0, 4.0, 8.0]),
            ("upper", [1.0, 4.0, 8.0, np.inf, np.inf]),
        ):
            drawn = rival.sample(filled, 5, rng=1)
            assert (rival.sample(gaps, 5, rng=1, nan=how) == drawn).all()
            assert (rival.sample(gaps[None], 5, rng=1, nan=how) == drawn).all()
            assert (rival.sample(gaps.tolist(), 5, rng=1, nan=how) == drawn).all()
        for data in (gaps, gaps[None], lambda: iter([gaps]), np.zeros(0), np.zeros((2, 0))):
            with raises("no records", "missing records", records="records"):
                rival.sample(data, 5, rng=1)

    def test_larger_data_take_the_same_way(self):
        """Selected ranks and sorted rows give the same bytes."""
        rng = np.random.default_rng(5)
        data = rng.normal(3, 2, size=9001)
        for rival in (smooth(3.0), smooth(2.0, neighbors="add-remove"), RIVALS[0]):
            drawn = rival.sample(data[None], 4, rng=1)[0]
            assert (rival.sample(data, 4, rng=1) == drawn).all()
            assert (rival.sample(np.sort(data), 4, rng=1, assume_sorted=True) == drawn).all()


class TestLaw:
    @pytest.mark.fast
    @pytest.mark.statistical
    @each_law
    def test_draws_have_the_law(self, rival):
        law = rival.law(RECORDS)
        drawn = rival.sample(RECORDS, 100_000, rng=6)
        assert (law.sample(100_000, rng=6, threads=2) == drawn).all()
        assert law.sample(rng=6) == drawn[0]
        assert (
            law.sample(3, rng=6, streams=[9]) == rival.sample(RECORDS, 3, rng=6, streams=[9])
        ).all()
        inside = (drawn > 0) & (drawn < 10)
        low, high = law.cdf(0), law.cdf(np.nextafter(10, 0))
        assert kstest(drawn[inside], lambda x: (law.cdf(x) - low) / (high - low)).pvalue > ALPHA
        for at, mass in ((0, low), (10, 1 - high)):
            assert abs(np.mean(drawn == at) - mass) < 6 * math.sqrt(mass / 1e5)
        for found, wanted in (
            (law.mean(), drawn),
            (law.expected_error(4.0), np.abs(drawn - 4)),
            (law.expected_error(9.5), np.abs(drawn - 9.5)),
            (law.expected_error(-3), drawn + 3),
            (law.var(), (drawn - law.mean()) ** 2),
        ):
            assert abs(found - wanted.mean()) < 6 * wanted.std() / math.sqrt(drawn.size)
        assert law.sd() == math.sqrt(law.var())

    @each_law
    def test_quantiles(self, rival):
        law = rival.law(RECORDS)
        p = np.array([[0.01, 0.3, 0.5], [0.7, 0.95, 1.0]])
        x = law.ppf(p)
        assert (law.quantile(p) == x).all()
        assert x.shape == p.shape
        inside = (x > 0) & (x < 10)
        np.testing.assert_allclose(law.cdf(x)[inside], p[inside], rtol=1e-13)
        assert law.ppf(0.5) == 4
        assert (law.ppf(0), law.ppf(1)) == (0, 10)
        assert law.cdf([-np.inf, -1e-9, 10, np.inf]).tolist() == [0, 0, 1, 1]

    @each_law
    def test_error_quantiles(self, rival):
        law = rival.law(RECORDS)
        p, truth = np.array([0.05, 0.4, 0.5, 0.9, 0.999]), np.array([[4.0], [1.5], [10.0], [12.0]])
        r = law.error_quantile(p, truth)
        assert r.shape == (4, 5)

        def within(radius):
            return law.cdf(truth + radius) - law.cdf(np.nextafter(truth - radius, -np.inf))

        assert (within(r * (1 + 1e-12)) >= p - 1e-13).all()
        least = r > np.maximum(truth - 10, 0)
        assert (within(r * (1 - 1e-12))[least] <= (p + np.zeros_like(r))[least] + 1e-11).all()
        centred = law.error_quantile(0.05, 4.0)
        assert centred == pytest.approx(law.ppf(0.525) - 4, rel=1e-12)

    def test_no_scale(self):
        law = smooth(5.0).law(np.full(100_000, 3.0))
        assert (law.mean(), law.var(), law.expected_error(5)) == (3, 0, 2)
        assert law.cdf([2.9, 3, 3.1]).tolist() == [0, 1, 1]
        assert law.ppf([0, 0.3, 1]).tolist() == [3, 3, 3]
        assert law.error_quantile([0, 0.5, 1], 5).tolist() == [0, 2, 2]
        assert law.sample(3, rng=1).tolist() == [3, 3, 3]

    def test_it_shows_nothing(self):
        law = smooth().law(RECORDS)
        assert repr(law) == "NoiseLaw(SmoothSensitivityMedian(epsilon=1.0, bounds=(0, 10)))"
        assert law.epsilon == 1

    @pytest.mark.parametrize("noise", CONCENTRATED[:2])
    def test_some_noises_have_none(self, noise):
        with raises("noise without a law"):
            smooth(noise=noise).law(RECORDS)

    def test_of_one_data_set_only(self):
        with raises("one data set for a law"):
            smooth().law(RECORDS[None])

    def test_arguments_are_checked(self):
        law = smooth().law(RECORDS)
        for wrong in (
            lambda: law.ppf(1.5),
            lambda: law.expected_error(np.inf),
            lambda: law.cdf(np.nan),
            lambda: law.error_quantile([0.1, 0.2], [1, 2, 3]),
        ):
            with pytest.raises(fx.ParameterError):
                wrong()


class TestParameters:
    @each
    def test_nothing_is_released(self, rival):
        name = type(rival).__name__
        with pytest.raises(
            fx.NotReleasable, match=says("for simulations only", type=name, instead="Median")
        ):
            rival.release(RECORDS, budget=None)

    def test_guarantees(self):
        assert fx.LaplaceMedian(2.0, BOUNDS).guarantee.neighbors == "both"
        assert fx.LaplaceMedian(2.0, BOUNDS).guarantee.epsilon == 2
        found = smooth(2.0, neighbors="add-remove").guarantee
        assert (found.epsilon, found.delta, found.neighbors) == (2.0, 0.0, "add-remove")
        assert smooth(noise="laplace").guarantee.delta == 1e-3
        assert smooth(noise="arsinh-normal").guarantee.rho == 0.5
        assert smooth(noise="arsinh-normal", delta=1e-5).guarantee.epsilon > 1

    def test_constants(self):
        assert smooth().alpha == smooth().beta == pytest.approx(1 / 6)
        assert smooth().sigma is None
        assert smooth(noise="uniform-lognormal").sigma == pytest.approx(math.sqrt(2))

    @pytest.mark.parametrize(
        ("how", "message"),
        [
            ({"noise": "normal"}, "noise: one of several words"),
            ({"calibration": "best"}, "calibration: one of several words"),
            ({"neighbors": "swap"}, "neighbors: one of several words"),
            ({"midpoint": 1}, "midpoint: true or false"),
            ({"delta": 0.1}, "'cauchy': delta of pure noise"),
            ({"noise": "laplace", "delta": 0}, "delta of noise"),
            ({"epsilon": 0}, "epsilon: finite and positive"),
            ({"bounds": (1, 1)}, "bounds in order"),
        ],
    )
    def test_wrong_ones(self, how, message):
        with pytest.raises((fx.ParameterError, fx.ParameterTypeError), match=says(message)):
            smooth(**how)
