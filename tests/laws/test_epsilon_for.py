"""Is the epsilon that a law finds the least point of the grid from which on the accuracy is had?"""

import math
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from tests.doors.laws import GRID, Unreached, targets
from tests.messages import raises, says
from tests.support.each import each

TWO_SIDES = [49.95] * 100 + [50] + [52.2] * 100  # all but one record far from their median
EXAMPLE = fx.Median(epsilon=1.0, bounds=(48, 52.2), step=0.01).law(TWO_SIDES)
FEW = [1, 4, 4, 5, 9, 2, 6, 5, 3, 5, 8]
TEN = {"bounds": (0, 10), "step": 1}
UTILITIES = [3.0, 2.5, 2.5, 0.0, -4.0]
LAWS = {
    "exponential": fx.Exponential(1.0, 1.0).law(UTILITIES),
    "base": fx.Exponential(1.0, 1.0, base=[1, 4, 1, 90, 0]).law(UTILITIES[::-1]),
    "permute-and-flip": fx.PermuteAndFlip(1.0, 1.0).law(UTILITIES),
    "median": fx.Median(1.0, **TEN).law(FEW),
    "two sides": fx.Median(1.0, **TEN).law([2] * 30 + [3] + [9] * 30),
    "fine": fx.Median(1.0, (0, 10)).law(FEW),
    "quantile": fx.Quantile(0.9, 1.0, **TEN).law(FEW),
    "widened": fx.Median(1.0, **TEN, widen=2).law(FEW),
    "points": fx.Median(1.0, (0, 10), grid=[0, 1.5, 4, 4.25, 7, 10]).law(FEW),
    "mode": fx.Mode(1.0, **TEN).law(FEW),
    "price": fx.Price(1.0, (0, 10), step=0.5).law(FEW),
    "prices": fx.Price(1.0, (0, 10)).law(FEW),
    "laplace": fx.Laplace(1.0, sensitivity=1, step=0.5).law(3.2),
    "bounded": fx.Laplace(1.0, sensitivity=1, step=0.5, bounds=(0, 10)).law(3.2),
    "median density": fx.Median(1.0, (0, 10)).continuous_law(FEW),
    "price density": fx.Price(1.0, (0, 10)).continuous_law(FEW),
    "laplace density": fx.Laplace(1.0, sensitivity=1, step=1).continuous_law(3.2),
    "laplace noise": fx.LaplaceMedian(1.0, (0, 10)).law(FEW),
    "cauchy": fx.SmoothSensitivityMedian(1.0, bounds=(0, 10)).law(FEW),
}
TARGETS = [
    {"error": 2, "probability": 0.9},
    {"error": 1.5, "probability": 0.5},
    {"error": 3, "probability": 0.8, "truth": 6.0},
    {"expected_error": 1.25},
    {"expected_error": 2.6, "truth": 4.0},
    {"loss": 2, "probability": 0.9},
    {"loss": 0, "probability": 0.4},
    {"expected_loss": 0.3},
    {"expected_loss": 2.0},
]
OF_ERRORS = says("error of numbers", "loss of utilities")


def at(law, epsilon):
    return law._at(epsilon) if isinstance(law, fx.NoiseLaw) else law.with_epsilon(epsilon)


def surplus(law, epsilon, target):
    """By how much a law at an epsilon has the accuracy; from its own closed forms."""
    law, truth = at(law, float(epsilon)), target.get("truth", getattr(law, "truth", None))
    if "expected_error" in target:
        return target["expected_error"] - law.expected_error(truth)
    if "expected_loss" in target:
        return target["expected_loss"] - law.expected_loss()
    if "loss" in target:
        return law.loss_cdf(target["loss"]) - target["probability"]
    number = law._numbers("truth", np.array([truth]))
    (below, _), (_, above) = law._window(number, np.array([float(target["error"])]))
    return float(1.0 - (below + above)[0]) - target["probability"]


def below(epsilon):
    """The point of the grid below the one of an answer, which is at most a thousandth less."""
    return float(GRID[epsilon / 1.005 > GRID][0])


def check(law, target, epsilon):
    """The target holds there and at points of the grid above, and fails at the one below."""
    above = [epsilon, *GRID[epsilon <= GRID][-3:], *GRID[epsilon <= GRID][::-40]]
    assert min(surplus(law, e, target) for e in above) > -1e-12
    if epsilon > 1.01 * getattr(law, "_least", 1e-9):
        assert surplus(law, below(epsilon), target) < 1e-12


@pytest.mark.slow
def test_by_brute_force():
    """Of all laws and targets, of which most are met."""
    met = 0
    for law in LAWS.values():
        for target in TARGETS:
            of_errors = "error" in target or "expected_error" in target
            if isinstance(law, fx.FiniteLaw if of_errors else fx.NoiseLaw):
                with pytest.raises(fx.ParameterError, match=says(OF_ERRORS)):
                    law.epsilon_for(**target)
            elif surplus(law, 1e6, target) < 0:
                with raises("error out of reach", "epsilon out of reach", high="1e+06"):
                    law.epsilon_for(**target)
            else:
                epsilon = law.epsilon_for(**target)
                check(law, target, epsilon)
                assert epsilon == float(f"{epsilon:.3e}")
                assert epsilon <= 1e-9 or min(abs(GRID / epsilon - 1)) < 1.001e-3
                met += 1e-9 < epsilon < 1e6
    assert met > 0.6 * len(LAWS) * len(TARGETS)


class TestAnErrorThatRisesWithEpsilon:
    def test_the_example(self):
        target = {"error": 2, "probability": 0.95}
        shares = [surplus(EXAMPLE, e, target) + 0.95 for e in (0.001, 0.1, 12)]
        assert [round(share, 3) for share in shares] == [0.950, 0.912, 0.968]
        epsilon = EXAMPLE.epsilon_for(**target)
        assert epsilon == 10.42  # not 1e-9, where the target holds too
        check(EXAMPLE, target, epsilon)

    @pytest.mark.slow
    @each("p", [0.91, 0.9111, 0.9113, 0.92, 0.94, 0.9502, 0.96, 0.99])
    def test_of_probabilities(self, p):
        target = {"error": 2, "probability": p}
        check(EXAMPLE, target, EXAMPLE.epsilon_for(**target))

    @pytest.mark.slow
    @each("limit", [0.05, 0.5, 1.0, 1.14, 1.2, 1.6])
    def test_of_expectations(self, limit):
        target = {"expected_error": limit}
        check(EXAMPLE, target, EXAMPLE.epsilon_for(**target))

    def test_a_search_that_trusts_a_few_points_misses_it(self, monkeypatch):
        """The power of the checks above, where the target fails on a short interval alone."""
        shares = [surplus(EXAMPLE, e, {"error": 2, "probability": 0.0}) for e in GRID]
        target = {"error": 2, "probability": min(shares) + 1e-6}
        epsilon = EXAMPLE.epsilon_for(**target)
        assert epsilon > 0.01
        monkeypatch.setattr(targets, "GRID", GRID[:: GRID.size // 20])
        assert EXAMPLE.epsilon_for(**target) == 1e-9


class TestByDefinition:
    """Medians of few integers: weights are powers of exp(-epsilon / 2), sums are Fractions."""

    @staticmethod
    def surplus(records, truth, target, epsilon):
        y = Fraction(math.exp(-epsilon / 2))
        total = gain = Fraction(0)
        for point in range(11):
            sides = 2 * sum(x < point for x in records), 2 * sum(x > point for x in records)
            weight = y ** max(0, max(sides) - len(records))
            error = abs(point - Fraction(truth))
            if "error" in target:
                part = (error <= target["error"]) - Fraction(target["probability"])
            else:
                part = Fraction(target["expected_error"]) - error
            total, gain = total + weight, gain + weight * part
        return gain / total

    @pytest.mark.slow
    @each("seed", range(8))
    def test_they_agree(self, seed):
        rng = np.random.default_rng(seed)
        records = [2] * seed + rng.integers(0, 11, 4 + seed).tolist() + [9] * seed
        median = fx.Median(1.0, **TEN, convention="weak")
        law, truth = median.law(records), float(np.median(records))
        assert law.truth == truth
        met = 0
        for target in (
            *({"error": r, "probability": p} for r in (0.5, 2, 4) for p in (0.3, 0.85, 0.999)),
            *({"expected_error": t} for t in (0.51, 1.2, 2.4)),
        ):
            try:
                epsilon = law.epsilon_for(**target)
            except fx.ParameterError:
                assert self.surplus(records, truth, target, 700) < 0
                continue
            for e in (epsilon, *GRID[(epsilon <= GRID) & (GRID < 60)][::-20]):
                assert self.surplus(records, truth, target, float(e)) >= 0
            if epsilon > 1e-9:
                met += 1
                assert self.surplus(records, truth, target, below(epsilon)) < 0
        assert met > 3


class TestNoAnswer:
    def test_a_truth_off_the_grid(self):
        law = fx.Median(1.0, (0, 10), step=1).law([4.25] * 50)
        assert law.epsilon_for(error=0.25, probability=0.9) < 1

    @each(
        "law",
        [
            fx.Median(1.0, (0, 10), step=1).law([733083.3125]),
            fx.Laplace(1.0, 1, step=1, bounds=(0, 10)).law(733083.3125),
            fx.Laplace(1.0, 1, step=1).law(733083.3125),
            fx.Median(1.0, (0, 10), step=1).continuous_law([733083.3125]),
            fx.Quantiles([0.25, 0.75], 1.0, (0, 10), step=1).law([733083.3125] * 2),
        ],
        ids=lambda law: type(law).__name__,
    )
    @each("target", [{"expected_error": 1e-9}, {"error": 0, "probability": 0.5}])
    def test_an_error_says_the_rule_and_no_figure_of_the_data(self, law, target):
        with pytest.raises(fx.FastexpError) as caught:
            law.epsilon_for(**target)
        assert "733" not in str(caught.value)
        if not isinstance(caught.value, fx.PrecisionError):
            (name,) = target.keys() - {"probability"}
            out_of_reach = says("error out of reach", high="1e+06", name=name)
            assert out_of_reach.search(str(caught.value))

    def test_a_target_that_is_met_with_equality(self):
        law = fx.Median(1.0, (0, 10), step=1, convention="weak").law([4, 6])
        assert law.truth == 5

    def test_masses_that_it_can(self):
        law = fx.Exponential(1.0, 1.0, base=[1.0, 1e-300, 1.0]).law([0.0, 5.0, -2.0])
        for target in {"loss": 4, "probability": 0.77}, {"expected_loss": 0.5}:
            epsilon = law.epsilon_for(**target)
            assert epsilon > 100
            check(law, target, epsilon)

    @pytest.mark.parametrize("name", ["expected_loss", "expected_error"])
    def test_a_limit_near_the_end_of_float64(self, name):
        law = fx.Median(1.0, (0, 10_000), step=1).law([1, 5, 9] * 10)
        assert 100 < law.epsilon_for(**{name: 1e-290}) < 200

    def test_a_target_that_hardly_depends_on_epsilon(self):
        law = fx.LaplaceMedian(1.0, (-4, 2)).law([-1, -1, -1])
        error = law._at(0.004).expected_error(-1)
        assert law.epsilon_for(expected_error=error) == pytest.approx(0.004, rel=0.011)
        law = fx.Exponential(1.0, 1.0).law([3.0, 1.0, 0.0])
        loss = law.with_epsilon(1e-6).expected_loss()
        assert law.epsilon_for(expected_loss=loss) == pytest.approx(1e-6, rel=0.011)

    def test_noise_whose_scale_is_searched_for(self):
        for noise in {"calibration": "tight"}, {"noise": "arsinh-normal"}:
            law = fx.SmoothSensitivityMedian(1.0, bounds=(0, 10), **noise).law(FEW)
            with raises("noise without scales"):
                law.epsilon_for(expected_error=1.0)

    def test_noise_whose_errors_need_not_fall(self):
        """Clamped at a bound that is nearer than the truth."""
        law = fx.LaplaceMedian(1.0, (0, 10)).law([0, 1, 1])
        target = {"expected_error": 4.0, "truth": 4.5}
        assert not law._rises(targets.target_of(None, None, None, 4.0, None, 4.5))
        check(law, target, law.epsilon_for(**target))

    @each("name", ["exponential", "permute-and-flip", "cauchy"])
    def test_what_a_law_does_not_have(self, name):
        wrong = "expected_loss" if name == "cauchy" else "expected_error"
        with pytest.raises(fx.ParameterError, match=says(OF_ERRORS)):
            LAWS[name].epsilon_for(**{wrong: 1.0})

    @each(
        ("target", "message"),
        [
            ({}, "one target, got none"),
            ({"error": 1, "loss": 2, "probability": 0.5}, "one target, got error, loss"),
            ({"error": 1}, "probability of a target"),
            ({"expected_error": 1, "probability": 0.5}, "probability of a target"),
            ({"error": -1, "probability": 0.5}, says("error: finite and at least", least="0")),
            ({"loss": 1, "probability": 1}, "probability: between 0 and 1, got 1.0"),
            ({"expected_loss": 0}, "expected_loss: finite and positive"),
            ({"expected_loss": 1, "truth": 3}, "truth without error"),
            ({"expected_error": 1, "truth": math.inf}, "one finite truth"),
            ({"expected_error": 1, "truth": [1, 2]}, "one finite truth"),
        ],
    )
    def test_bad_targets(self, target, message):
        with pytest.raises(fx.ParameterError, match=says(message)):
            LAWS["median"].epsilon_for(**target)

    def test_no_statistic(self):
        for records in [], [math.inf] * 3:
            law = fx.Median(1.0, **TEN).law(records)
            with raises("truth of no statistic"):
                law.epsilon_for(error=1, probability=0.1)
            assert law.epsilon_for(error=10, probability=0.1, truth=5) == 1e-9


def test_of_top_k_it_is_the_first_place_and_a_round():
    law = fx.TopK(2, epsilon=4.0, sensitivity=1.0).law(UTILITIES)
    assert law.epsilon_for(expected_loss=0.3) == law.first_place.epsilon_for(expected_loss=0.3)


class TestTheSearch:
    @staticmethod
    def enough(holds, least=1e-9, rising=False):
        failing = targets.first_failure(holds, rising=rising)
        return targets.least_epsilon(holds, least, failing)

    @each("failing", [0.3, 2e-9, 17.0, 9e5])
    @each("rising", [False, True])
    def test_it_finds_the_last_failure(self, failing, rising):
        answer = self.enough(lambda e: e > failing, rising=rising)
        assert failing < answer <= 1.0111 * failing

    def test_a_failure_above_an_interval_of_success(self):
        assert self.enough(lambda e: not 0.5 < e < 0.51) == pytest.approx(0.51, rel=0.011)
        assert self.enough(lambda e: not 0.5 < e < 0.51, rising=True) == 1e-9

    def test_it_holds_at_the_rounded_point_too(self):
        point = float(GRID[1500])
        rounded = targets.rounded_up(point)
        assert point < rounded
        answer = self.enough(lambda e: e >= point and e != rounded)
        assert rounded < answer <= 1.0111 * rounded

    def test_the_ends(self):
        assert self.enough(lambda _: True) == 1e-9
        assert self.enough(lambda _: True, 3e-5) == 3e-5
        with pytest.raises(Unreached):
            self.enough(lambda e: e < 1e6)
        assert self.enough(lambda e: e == 1e6) == 1e6

    def test_the_grid(self):
        assert GRID[0] == 1e6
        assert 1e-9 < GRID[-1] < 1.01e-9
        assert np.allclose(GRID[:-1] / GRID[1:], 1.01, rtol=1e-13)


def test_a_cell_whose_best_point_is_the_truth():
    """Its error falls to 0 faster than float64 can say, and is 0 there at any rate."""
    law, target = fx.Price(1.0, (0, 1), step=1).law([1, 1, 1]), {"expected_error": 0.4329}
    check(law, target, law.epsilon_for(**target))
