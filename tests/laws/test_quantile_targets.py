"""Is the epsilon that is enough for several quantiles the grid's that is promised?"""

import math
from functools import partial

import numpy as np
import pytest

import fastexp as fx
from tests.doors.laws import GRID, MAX_OFF, Bounds, bounded, first_quantile_failure, mean_place
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


BUILDERS = {
    "add-remove": partial(fx.Quantiles, neighbors="add-remove"),
    "replace": partial(fx.Quantiles, neighbors="replace"),
    "left": partial(fx.JointExponentialQuantiles, ties="left"),
    "spread": partial(fx.JointExponentialQuantiles, ties="spread"),
}


@pytest.mark.slow
@each("builder", BUILDERS)
@each("target", [{"expected_error": 14.0}, {"error": 12, "probability": 0.6}])
@each("grid", [{"step": 1}, {"grid": [0, 1, 5, 20, 21, 22, 40, 61, 63, 80, 95, 100, 117, 120]}])
def test_the_answer_is_the_least_point_from_where_on_laws_hold(builder, target, grid):
    def law(epsilon: float) -> fx.QuantilesLaw:
        options = {"bounds": (0, 120), **grid}
        return BUILDERS[builder](count=3, epsilon=epsilon, **options).law(AGES)

    least = law(1.0).epsilon_for(**target)
    assert least == law(0.3).epsilon_for(**target)
    points = GRID[(least / 1.03 < GRID) & (8 * least > GRID)]
    points = np.array([*points[:-4:9], *points[-4:]])
    hold = np.array([holds(law(epsilon), target) for epsilon in points])
    first = points[~hold].max()
    assert least / 1.0111 < first < least
    assert hold[points > first].all()


def test_coarser_totals_are_searched_by_themselves():
    """At 1/8 the step of totals doubles: just below, errors jump beyond the target."""
    ages = (np.random.default_rng(1).integers(0, 12, 200) * 10).tolist()
    law = mechanism(1.0).law(ages)
    assert 0.125 <= law.epsilon_for(expected_error=12.0) < 0.125 * 1.0101
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
    return logarithm - MAX_OFF, logarithm + MAX_OFF


POINTS = np.geomspace(20, 0.1, 500).tolist()


def failure_of(several) -> tuple[int, int]:
    """As it is searched for, and by all points; how often one is looked at in full is counted."""
    closely = list[float]()

    def sums(x: float, step: int) -> list[Bounds]:
        assert step == 1
        return [Bounds(sum_of(a, x), sum_of(b, x), True) for a, b in several]

    def holds(x: float) -> bool:
        closely.append(x)
        return all(sum_of(a, x)[0] >= sum_of(b, x)[0] for a, b in several)

    number = first_quantile_failure(sums, holds, POINTS, lattice=False)
    assert len(closely) < 3
    exact = next((i for i, x in enumerate(POINTS) if not holds(x)), len(POINTS))
    return number, exact


@pytest.mark.slow
def test_the_search_finds_the_last_failure():
    """Of sums of decaying terms whose difference crosses 0 several times; by all points, too."""
    rng, several = np.random.default_rng(2), 0
    for _ in range(200):
        a = [(math.exp(rng.uniform(-2, 2)), d) for d in (rng.uniform(0, 1), rng.uniform(3, 9))]
        b = [(math.exp(rng.uniform(-1, 1)), rng.uniform(1, 3))]
        fails = np.array([sum_of(a, x)[0] < sum_of(b, x)[0] for x in POINTS])
        several += int((fails[1:] != fails[:-1]).sum()) > 1
        number, exact = failure_of([(a, b)])
        assert number == exact
    assert several > 5


def test_of_several_targets_the_last_failure_is_that_of_the_last_one():
    """All at once; of random sums, some of which fail again at greater rates."""
    rng = np.random.default_rng(3)
    for _ in range(100):
        several = []
        for _ in range(3):
            a = [(math.exp(rng.uniform(0, 2)), d) for d in (rng.uniform(0, 1), rng.uniform(3, 9))]
            several.append((a, [(math.exp(rng.uniform(-1, 1)), rng.uniform(1, 3))]))
        number, exact = failure_of(several)
        assert number == exact


def test_a_dip_between_two_rates_is_seen():
    """exp(-x) + exp(-9x) / 9 against a constant that it misses in between: no end tells of it."""
    dip = [(0.55, 1.0), (0.45, 9.0)], [(1.0, 2.2)]
    number, exact = failure_of([dip])
    assert number == exact
    assert 0.2 < POINTS[number] < 3


def test_bounds_of_shares():
    low, high = bounded(2.0, 0.25)
    assert low < 2.0 + math.log(0.25) < high
    assert high - low < 15 * MAX_OFF
    assert bounded(2.0, 0.0) == (-math.inf, 2.0 + math.log(2 * MAX_OFF))


@each(("r", "k"), [(1, 1), (1, 2), (2, 2), (2, 3), (5, 5)])
def test_the_mean_place_of_one_of_several_answers(r, k):
    """Of independent answers, and of all multisets: by a sum over points, and by a formula."""
    points = np.array([1, 2, 7, 63 * k, 64 * k, 64 * k + 1, 1 << 40])
    for left in (False, True):
        means = mean_place(r, k, points, left)
        for g, mean in zip(points[:-1].tolist(), means.tolist(), strict=False):
            x = np.arange(1, g)
            if left:
                tails = [places(r, k, y, g) for y in x.tolist()]
            else:
                tails = [binomial(r, k, y / g) for y in x.tolist()]
            assert mean == pytest.approx(sum(1 - p for p in tails), abs=1e-7)
        assert means[-1] / points[-1] == pytest.approx(r / (k + 1), rel=1e-9)


def binomial(r: int, k: int, p: float) -> float:
    """P(at least r of k)."""
    return sum(math.comb(k, i) * p**i * (1 - p) ** (k - i) for i in range(r, k + 1))


def places(r: int, k: int, y: int, g: int) -> float:
    """P(at least r of a multiset of k among g points are among y)."""
    ways = sum(
        math.comb(y + i - 1, i) * math.comb(g - y + k - i - 1, k - i) for i in range(r, k + 1)
    )
    return ways / math.comb(g + k - 1, k)
