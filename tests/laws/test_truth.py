"""What does a law know of the statistic of its data?"""

import pickle
from fractions import Fraction
from functools import partial

import numpy as np

import fastexp as fx
from tests.doors.laws import laplace_density
from tests.messages import raises
from tests.support.each import each

STEPS = "averaged_inverted_cdf"
RNG = np.random.default_rng(5)
FEW = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]
MANY = RNG.integers(-20, 160, 6000)  # as counts of points, once sorted, beyond the bounds too
FINE = RNG.normal(50, 40, 6001)


def revenue(bids, price):
    return price * np.count_nonzero(bids >= price)


TRUTHS = {
    "median": (fx.Median, {}, lambda x: np.median(x)),
    "lower": (fx.Median, {"convention": "lower"}, lambda x: np.sort(x)[(x.size - 1) // 2]),
    "quantile": (
        fx.Quantile,
        {"q": 0.9},
        lambda x: np.quantile(x, 0.9, method=STEPS),
    ),
    "third": (fx.OrderStatistic, {"r": 3}, lambda x: np.sort(x)[-3]),
    "maximum": (fx.Maximum, {}, lambda x: x.max()),
    "cauchy": (fx.SmoothSensitivityMedian, {}, lambda x: np.sort(x)[(x.size - 1) // 2]),
    "mode": (fx.Mode, {}, lambda x: np.bincount(np.clip(np.rint(x), 0, 120).astype(int)).argmax()),
    "price": (fx.Price, {}, lambda x: max(np.arange(121), key=lambda p: revenue(x, p))),
}


@each("data", [FEW, MANY, FINE], ids=["few", "many", "fine"])
@each("name", TRUTHS)
def test_it_is_the_statistic(name, data):
    kind, parameters, statistic = TRUTHS[name]
    grid = {} if name == "cauchy" else {"step": 1}
    mechanism = kind(epsilon=1.0, bounds=(0, 120), **grid, **parameters)
    truth = float(statistic(np.array(data)))
    records = np.array(data)
    law = mechanism.law(records)
    again = pickle.loads(pickle.dumps(law))
    records[:] = 7  # a law has its own
    assert float(law.truth) == truth
    assert again.truth == law.truth
    if name != "cauchy":
        assert law.with_epsilon(3.0).truth == truth
    if name not in ("cauchy", "mode"):
        assert mechanism.continuous_law(data).truth == truth


@each("kind", [fx.Median, fx.Maximum, fx.Mode, fx.Price])
def test_there_is_none_without_records(kind):
    assert kind(epsilon=1.0, bounds=(0, 5), step=1).law([]).truth is None


@each("f", [7, -1.25, Fraction(1, 3), 400])
@each("bounds", [None, (0, 10)])
def test_of_laplace_noise_it_is_what_was_given(f, bounds):
    laplace = fx.Laplace(epsilon=1.0, sensitivity=1, step=1, bounds=bounds)
    for law in laplace.law(f), laplace.law(f).with_epsilon(2.0), laplace.continuous_law(f):
        assert law.truth == float(f)


def test_a_law_of_no_data_has_none():
    with raises("truth: law without data"):
        _ = laplace_density(0.0, Fraction(1), None, 1.0).truth


@each("kind", [fx.Median, fx.Price, fx.LaplaceMedian])
def test_errors_are_measured_from_it_unless_another_is_given(kind):
    law = kind(epsilon=1.0, bounds=(0, 9)).law([1, 2, 9])
    assert law.expected_error() == law.expected_error(law.truth) != law.expected_error(0)
    assert law.error_quantile(0.9) == law.error_quantile(0.9, law.truth)
    assert (law.error_quantile([0.5, 0.9]) == law.error_quantile([0.5, 0.9], law.truth)).all()


def test_without_a_statistic_a_truth_must_be_given():
    law = fx.Median(epsilon=1.0, bounds=(0, 9), step=1).law([])
    for errors in law.expected_error, partial(law.error_quantile, 0.9):
        with raises("truth of no statistic"):
            errors()
