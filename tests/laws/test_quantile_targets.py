"""Is the epsilon that is enough for several quantiles the last at which a target fails?"""

import math

import numpy as np
import pytest

import fastexp as fx
from fastexp.errors import PrecisionError
from tests.doors.laws import (
    OFF,
    Bounds,
    Unreached,
    bounded,
    least_epsilon,
)
from tests.doors.laws import (
    last_quantile_failure as last_failure,
)
from tests.messages import raises
from tests.support.each import each

AGES = (np.random.default_rng(1).integers(0, 12, 40) * 10).tolist()


def mechanism(epsilon: float, neighbors: str = "add-remove") -> fx.Quantiles:
    return fx.Quantiles(count=3, epsilon=epsilon, bounds=(0, 120), step=1, neighbors=neighbors)


def holds(law, target: dict[str, float]) -> bool:
    """By the marginals of a law."""
    if "expected_error" in target:
        return bool((law.expected_error() <= target["expected_error"]).all())
    p = target["probability"]
    errors = [law.marginal(j).error_quantile(p, law.truth[j]) for j in range(3)]
    return max(errors) <= target["error"]


@pytest.mark.slow
@each(
    ("neighbors", "target"),
    [
        ("add-remove", {"expected_error": 14.0}),
        ("add-remove", {"error": 12, "probability": 0.6}),
        ("replace", {"error": 12, "probability": 0.6}),
        ("replace", {"expected_error": 14.0}),
    ],
)
def test_laws_of_other_epsilons_agree(neighbors, target):
    least = mechanism(1.0, neighbors).law(AGES).epsilon_for(**target)
    assert least == mechanism(0.3, neighbors).law(AGES).epsilon_for(**target)
    for factor in (1.0, 1.1, 2, 7):
        assert holds(mechanism(least * factor, neighbors).law(AGES), target)
    assert not holds(mechanism(least * (1 - 2e-3), neighbors).law(AGES), target)


def test_coarser_totals_are_searched_by_themselves():
    """At 1/8 the step of totals doubles: just below, errors jump beyond the target."""
    ages = (np.random.default_rng(1).integers(0, 12, 200) * 10).tolist()
    law = mechanism(1.0).law(ages)
    assert law.epsilon_for(expected_error=12.0) == 0.125
    errors = [mechanism(epsilon).law(ages).expected_error().max() for epsilon in (0.125, 0.12499)]
    assert errors[0] < 11.6
    assert errors[1] > 12.4


def test_a_target_that_always_or_never_holds():
    law = mechanism(1.0).law(AGES)
    assert law.epsilon_for(expected_error=125.0) == 1e-9
    published = fx.JointExponentialQuantiles(count=3, epsilon=1.0, bounds=(0, 120), step=1)
    with raises("1e+06: error out of reach, got error"):
        published.law(AGES).epsilon_for(error=1, probability=0.999)
    with raises("truth of several quantiles"):
        law.epsilon_for(expected_error=1.0, truth=3)
    with raises("expected_loss: loss of utilities"):
        law.epsilon_for(expected_loss=1.0)


def sum_of(terms: list[tuple[float, float]], x: float) -> tuple[float, float]:
    logarithm = math.log(sum(w * math.exp(-d * x) for w, d in terms))
    return logarithm - OFF, logarithm + OFF


@pytest.mark.slow
def test_the_search_finds_the_last_failure():
    """Of sums of decaying terms whose difference crosses 0 several times; by many rates, too."""
    rng, several = np.random.default_rng(2), 0
    for _ in range(200):
        a = [(math.exp(rng.uniform(-2, 2)), d) for d in (rng.uniform(0, 1), rng.uniform(3, 9))]
        b = [(math.exp(rng.uniform(-1, 1)), rng.uniform(1, 3))]
        xs = np.geomspace(0.1, 20, 4001)
        fails = np.array([sum_of(a, x)[0] < sum_of(b, x)[0] for x in xs])
        crossings = int((fails[1:] != fails[:-1]).sum())
        several += crossings > 1

        def sums(x: float, a=a, b=b) -> list[Bounds]:
            return [Bounds(sum_of(a, x), sum_of(b, x))]

        if fails[-1]:
            with pytest.raises(Unreached):
                last_failure(sums, 0.1, 20)
        else:
            last = xs[np.flatnonzero(fails)[-1]] if fails.any() else 0.1
            assert last <= last_failure(sums, 0.1, 20) <= last * 1.0015
    assert several > 5


def test_of_several_targets_the_last_failure_is_that_of_the_last_one():
    """All at once or one by one; of random sums, some of which fail again at greater rates."""
    rng = np.random.default_rng(3)
    for _ in range(100):
        several = []
        for _ in range(3):
            a = [(math.exp(rng.uniform(0, 2)), d) for d in (rng.uniform(0, 1), rng.uniform(3, 9))]
            several.append((a, [(math.exp(rng.uniform(-1, 1)), rng.uniform(1, 3))]))

        def sums(x: float, several=several) -> list[Bounds]:
            return [Bounds(sum_of(a, x), sum_of(b, x)) for a, b in several]

        if all(bounds.sure >= 0.0 for bounds in sums(20)):
            alone = [
                last_failure(lambda x, j=j, sums=sums: [sums(x)[j]], 0.1, 20) for j in range(3)
            ]
            assert last_failure(sums, 0.1, 20) == pytest.approx(max(alone), rel=1e-8)


def test_a_dip_between_two_rates_is_seen():
    """exp(-x) + exp(-9x) / 9 against a constant that it misses in between: no end tells of it."""

    def sums(x: float) -> list[Bounds]:
        middle = math.log(0.55 * math.exp(-x) + 0.45 * math.exp(-9 * x))
        line = -2.2 * x  # a lies above this line at both ends of [0.05, 3], and below between
        return [Bounds((middle - OFF, middle + OFF), (line - OFF, line + OFF))]

    ends = [sums(x)[0].sure for x in (0.001, 3.0)]
    assert ends[1] > 0
    assert sums(0.2)[0].sure < 0
    assert last_failure(sums, 0.001, 3.0) > 0.2


def test_bounds_of_shares():
    low, high = bounded(2.0, 0.25)
    assert low < 2.0 + math.log(0.25) < high
    assert high - low < 1e-7
    assert bounded(2.0, 0.0) == (-math.inf, 2.0 + math.log(2 * OFF))


def test_a_target_met_with_equality_has_no_proof():
    equal = Bounds((-1.0, 1.0), (-1.0, 1.0))
    with pytest.raises(PrecisionError):
        least_epsilon(lambda _, step: [equal], lattice=True)


def test_two_sums_that_are_equal_to_their_bounds_have_no_answer():
    with raises("target met with equality"):
        last_failure(lambda x: [Bounds((-x - OFF, -x + OFF), (-x - OFF, -x + OFF))], 0.1, 20)
