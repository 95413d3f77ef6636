"""Do all laws answer alike: a number for a number, an array in the shape of an array?"""

from __future__ import annotations

import math

import numpy as np

import fastexp as fx
from tests.messages import raises
from tests.support.each import each

UTILITIES, RECORDS = [3.0, 8.0, 8.5, 1.0], [3, 8, 8, 1, 9]
LOSSES = {
    "FiniteLaw": fx.Exponential(1.0, 1.0).law(UTILITIES),
    "PermuteAndFlipLaw": fx.PermuteAndFlip(1.0, 1.0).law(UTILITIES),
    "JointTopKLaw": fx.JointTopK(2, 1.0).law([3, 8, 9, 1]),
    "GridLaw": fx.Median(1.0, bounds=(0, 10), step=1).law(RECORDS),
    "ContinuousLaw": fx.Median(1.0, bounds=(0, 10), step=1).continuous_law(RECORDS),
}
NUMBERS = {
    "GridLaw": LOSSES["GridLaw"],
    "ContinuousLaw": LOSSES["ContinuousLaw"],
    "LaplaceLaw": fx.Laplace(1.0, 1, step=1).law(4),
    "NoiseLaw": fx.LaplaceMedian(1.0, bounds=(0, 10)).law(RECORDS),
}
CALLS = [
    *((law, name) for law in LOSSES for name in ("loss_cdf", "loss_tail", "loss_quantile")),
    *((law, name) for law in NUMBERS for name in ("cdf", "ppf", "expected_error")),
]
ARGUMENTS = np.array([[0.25, 0.5, 0.75], [0.1, 1.0, 0.0]])


@each(("law", "name"), CALLS)
def test_a_number_for_a_number_and_the_same_in_arrays(law, name):
    method = getattr((LOSSES | NUMBERS)[law], name)
    several = method(ARGUMENTS)
    assert several.shape == ARGUMENTS.shape
    for x, value in zip(ARGUMENTS.flat, several.flat, strict=True):
        number = method(float(x))
        assert type(number) in (float, int)
        assert number == value


@each("law", NUMBERS)
def test_probabilities_and_truths_are_broadcast(law):
    quantiles = NUMBERS[law].error_quantile(ARGUMENTS[0][:, None], [3.0, 5.0])
    assert quantiles.shape == (3, 2)
    assert quantiles[1, 0] == NUMBERS[law].error_quantile(0.5, 3.0)
    assert isinstance(NUMBERS[law].error_quantile(0.5, 3.0), float)


@each("law", NUMBERS)
def test_deviations_are_roots_of_variances(law):
    assert NUMBERS[law].sd() == math.sqrt(NUMBERS[law].var())


@each("law", LOSSES)
def test_another_epsilon_there_and_back_is_the_same_law(law):
    start = LOSSES[law]
    assert start.with_epsilon(2.0).epsilon == 2.0
    assert start.with_epsilon(2.0) != start
    assert start.with_epsilon(2.0).with_epsilon(1.0) == start


def test_a_round_of_top_k_has_the_epsilon_of_its_law():
    mechanism = fx.TopK(2, 3.0, 1.0)
    law = mechanism.law(UTILITIES)
    assert law.epsilon == mechanism.round_epsilon == law.first_place.epsilon


def test_noise_has_one_kernel():
    with raises("method of noise"):
        NUMBERS["NoiseLaw"].sample(method="envelope")
