"""Over many data sets: is the epsilon that is enough that of each one's law?"""

import math
import warnings

import numpy as np
import pytest

import fastexp as fx
from tests.messages import raises

MEDIAN = fx.Median(epsilon=5.0, bounds=(0, 100), step=1)
TARGET = {"error": 3, "probability": 0.9}


def whole(rng, n, most=100):
    return rng.integers(0, most, n)


def test_it_is_that_of_each_law():
    enough = fx.epsilon_for(MEDIAN, like=whole, n=51, **TARGET, datasets=40, rng=7)
    rows = [whole(random, 51) for random in np.random.default_rng(7).spawn(40)]
    each = sorted(MEDIAN.law(row).epsilon_for(**TARGET) for row in rows)
    assert enough.epsilons.tolist() == each
    assert enough.worst == each[-1]
    assert enough.median == each[19]  # of 40, 20 are enough for half
    assert enough.quantile(0.95) == each[37]
    assert len(set(each)) > 30
    assert enough.n == 51


@pytest.mark.parametrize("given", [{"n": 200}, {"datasets": 300}, {"n": 1000, "datasets": 5}])
def test_numbers_are_one_data_set(given):
    """They take no n and no number of data sets, which would have no effect."""
    numbers = np.arange(50)
    with raises("n for like given numbers"):
        fx.epsilon_for(MEDIAN, like=numbers, **TARGET, **given)
    assert fx.epsilon_for(MEDIAN, like=numbers, **TARGET, n=50, datasets=1).n == 50


def test_it_is_the_same_at_any_epsilon_of_the_mechanism():
    one, other = (
        fx.epsilon_for(m, like="ages", n=30, expected_error=4, datasets=5)
        for m in (fx.Median(epsilon=e, bounds=(0, 100), step=1) for e in (0.1, 9.0))
    )
    assert one.epsilons == pytest.approx(other.epsilons, rel=1e-11)


def test_no_warning_tells_of_the_data():
    price, bids = fx.Price(epsilon=1.0, bounds=(0, 1e200)), [5.0] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enough = fx.epsilon_for(price, like=bids, expected_loss=1e-310)
        assert enough.worst == price.law(bids).epsilon_for(expected_loss=1e-310)


@pytest.mark.slow
def test_of_several_quantiles_and_of_joint_selections():
    quartiles = fx.Quantiles(count=3, epsilon=1.0, bounds=(0, 120), step=1)
    ages = np.random.default_rng(1).integers(20, 90, 50)
    enough = fx.epsilon_for(quartiles, like=ages, expected_error=6)
    assert enough.worst == quartiles.law(ages).epsilon_for(expected_error=6)
    two = fx.JointTopK(2, epsilon=1.0)
    enough = fx.epsilon_for(
        two, like={"name": "votes", "votes": 300}, n=6, expected_loss=3, datasets=2
    )
    assert 0 < enough.median <= enough.worst < 10


def test_it_says_how_far_it_is():
    reports = []
    fx.epsilon_for(
        MEDIAN, like=whole, n=9, **TARGET, datasets=3, progress=lambda *pair: reports.append(pair)
    )
    assert reports == [(0, 3), (1, 3), (2, 3), (3, 3)]
    with raises("progress to call"):
        fx.epsilon_for(MEDIAN, like=whole, n=9, **TARGET, progress=3)


def test_of_files_and_numbers(tmp_path):
    file = tmp_path / "ages.csv"
    file.write_text("age,n\n" + "".join(f"{age},1\n" for age in range(20, 60)))
    enough = fx.epsilon_for(MEDIAN, like=file, column="age", n=80, **TARGET, datasets=5)
    assert enough.epsilons.shape == (5,)
    assert "age" in str(enough)
    fixed = fx.epsilon_for(MEDIAN, like=[30, 31, 32, 60, 61], **TARGET)
    assert fixed.epsilons.tolist() == [MEDIAN.law([30, 31, 32, 60, 61]).epsilon_for(**TARGET)]
    assert fixed.n == 5


def test_of_utilities():
    votes = {"name": "votes", "votes": 300}
    select = fx.Exponential(epsilon=1.0, sensitivity=1.0)
    enough = fx.epsilon_for(select, like=votes, n=6, loss=5, probability=0.9, datasets=8)
    assert 0 < enough.median <= enough.worst < 10


def halves(rng, n):
    return np.full(n, 10 + rng.integers(0, 2) / 2)  # on the grid, or half a step off


def test_where_some_data_sets_never_meet_it():
    enough = fx.epsilon_for(MEDIAN, like=halves, n=9, expected_error=0.25, datasets=30)
    never = int(np.isinf(enough.epsilons).sum())
    assert 5 < never < 25
    assert enough.worst == math.inf
    assert f"never         {never} data sets" in str(enough)


def test_its_repr_says_what_was_asked_and_no_more():
    enough = fx.epsilon_for(MEDIAN, like="ages", n=30, **TARGET, datasets=4)
    assert repr(enough) == (
        "SufficientEpsilon(Median, 'error <= 3 with probability 0.9', datasets=4, n=30)"
    )
    assert "an epsilon chosen by private data is itself a release" in enough._repr_html_()


def test_one_data_set_is_one():
    median = fx.Median(epsilon=1, bounds=(0, 100), step=1)
    enough = fx.epsilon_for(median, like=[21, 34, 58], error=20, probability=0.9)
    assert "1 data set of 3: " in str(enough)


@pytest.mark.parametrize("place", [0, 2])
def test_a_data_set_that_no_epsilon_reaches_is_infinite_wherever_it_is(place):
    turns = iter(range(3))

    def records(rng, n):  # the same each time
        return np.full(n, 4.5 if next(turns) == place else 4.0)

    median = fx.Median(epsilon=1, bounds=(0, 10), step=1)
    enough = fx.epsilon_for(median, like=records, n=9, error=0.2, probability=0.9, datasets=3)
    assert np.isinf(enough.epsilons).tolist() == [False, False, True]
