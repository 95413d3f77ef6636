"""When are two laws equal: whatever came before, or only if the law is the same?"""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from tests.support.each import each

RECORDS = [3, 8, 8, 1, 9, 2, 8, 5]
UTILITIES = [3, 8, 8, 1, 9, 2, 8, 5]
POINTS = [0, 1, 3, 7, 10]

MAKERS = {
    "Median": lambda epsilon: fx.Median(epsilon, bounds=(0, 10), step=1),
    "Median of points": lambda epsilon: fx.Median(epsilon, bounds=(0, 10), grid=POINTS),
    "Median widened": lambda epsilon: fx.Median(epsilon, bounds=(0, 10), step=1, widen=1),
    "Quantile": lambda epsilon: fx.Quantile(0.3, epsilon=epsilon, bounds=(0, 10), step=1),
    "Maximum": lambda epsilon: fx.Maximum(epsilon, bounds=(0, 10), step=1),
    "Mode": lambda epsilon: fx.Mode(epsilon, bounds=(0, 10), step=1),
    "Quantiles": lambda epsilon: fx.Quantiles([0.3, 0.6], epsilon, (0, 10), step=1),
    "Price": lambda epsilon: fx.Price(epsilon, bounds=(0, 10), step=1),
    "Price of floats": lambda epsilon: fx.Price(epsilon, bounds=(0, 10.5)),
    "LaplaceMedian": lambda epsilon: fx.LaplaceMedian(epsilon, bounds=(0, 10)),
    "SmoothSensitivityMedian": lambda epsilon: fx.SmoothSensitivityMedian(epsilon, bounds=(0, 10)),
}
SELECTIONS = {
    "Exponential": lambda epsilon: fx.Exponential(epsilon, 1.0),
    "Exponential with labels": lambda epsilon: fx.Exponential(
        epsilon, 1.0, candidates=list("abcdefgh"), base=[1, 2, 1, 1, 1, 0, 1, 1]
    ),
    "PermuteAndFlip": lambda epsilon: fx.PermuteAndFlip(epsilon, 1.0),
    "TopK": lambda epsilon: fx.TopK(2, epsilon, 1.0),
    "JointTopK": lambda epsilon: fx.JointTopK(2, epsilon),
}


def copies(law):
    yield copy.copy(law)
    yield copy.deepcopy(law)
    yield pickle.loads(pickle.dumps(law))


@each("name", MAKERS)
def test_records_of_any_form_and_order_have_one_law(name):
    make = MAKERS[name]
    law = make(1.0).law(RECORDS)
    whole = np.array(RECORDS)
    forms = [sorted(RECORDS), whole, whole.astype(np.float64), whole.astype(np.uint8)]
    forms += [lambda: [whole[:3], whole[3:]], (sorted(set(RECORDS)), [1, 1, 1, 1, 3, 1])]
    for records in forms:
        assert make(1.0).law(records) == law
    law.expected_error(*([] if name == "Quantiles" else [3]))  # what is computed is no part of it
    for other in copies(law):
        assert other == law


@each("name", MAKERS)
def test_other_records_and_other_mechanisms_have_other_laws(name):
    make = MAKERS[name]
    law = make(1.0).law(RECORDS)
    assert law != make(2.0).law(RECORDS)
    assert law != make(1.0).law([*RECORDS[:-1], 1])
    assert law != make(1.0).law([*RECORDS, 9, 9, 9])
    assert all(law != other(1.0).law(RECORDS) for key, other in MAKERS.items() if key != name)


@each("name", ["Median", "Quantile", "Price"])
def test_densities(name):
    mechanism = MAKERS[name](1.0)
    density = mechanism.continuous_law(RECORDS)
    assert density == mechanism.continuous_law(sorted(RECORDS)) != mechanism.law(RECORDS)
    assert density != mechanism.continuous_law([*RECORDS, 5])
    assert density != MAKERS[name](2.0).continuous_law(RECORDS)
    assert all(other == density for other in copies(density))


@each("name", SELECTIONS)
def test_laws_of_selections(name):
    make = SELECTIONS[name]
    law = make(1.0).law(UTILITIES)
    same = np.array(UTILITIES)
    forms = [same, same.astype(np.uint64), same.astype(np.int8), same.astype(float)]
    for utilities in forms[:3] if name == "JointTopK" else forms:  # which takes integers only
        assert make(1.0).law(utilities) == law
    assert all(other == law for other in copies(law))
    assert law != make(2.0).law(UTILITIES)
    assert law != make(1.0).law(sorted(UTILITIES))
    assert law != make(1.0).law(same + 1)  # other utilities, though the same probabilities
    others = [other for key, other in SELECTIONS.items() if key != name]
    assert all(law != other(1.0).law(UTILITIES) for other in others)


def test_utilities_are_compared_as_the_exact_numbers_that_they_are():
    make = fx.Exponential(1.0, 1.0).law
    assert make([2**53, 0]) == make([2.0**53, -0.0])
    assert make([2**53 + 1, 0]) != make([2.0**53, 0.0])
    assert make(np.array([2**63, 0], np.uint64)) == make([2.0**63, 0.0])
    assert make(np.array([2**63, 1], np.uint64)) != make(np.array([-(2**63), 1]))
    assert make([2**63 - 1, 0]) != make([2.0**63, 0.0])
    assert make([-(2**63), 0]) == make([-(2.0**63), 0.0])
    assert make([0.5, 0.0]) == make(np.array([0.5, 0.0])) != make([0.5, 1.0])
    assert make([1e300, -1.0]) == make([1e300, -1.0]) != make([1e300, -2.0])


def test_laplace_noise():
    for bounds in (None, (0, 20)):
        make = fx.Laplace(1.0, sensitivity=1, step=1, bounds=bounds)
        law = make.law(7)
        assert law == make.law(7.0) == make.law(Fraction(7))
        assert all(other == law for other in copies(law))
        assert law != make.law(8)
        assert law != make.law(7.25)
        assert law != fx.Laplace(1.0, sensitivity=2, step=1, bounds=bounds).law(7)


EVERY = {
    **{name: (make, RECORDS) for name, make in MAKERS.items()},
    **{name: (make, UTILITIES) for name, make in SELECTIONS.items()},
    "RandomizedResponse": (fx.RandomizedResponse, 1),
    "Laplace": (lambda epsilon: fx.Laplace(epsilon, 1, step=1), 7),
    "Laplace within": (lambda epsilon: fx.Laplace(epsilon, 1, step=1, bounds=(0, 20)), 7),
}


@each("name", EVERY)
def test_they_draw_what_their_mechanism_draws_at_any_epsilon(name):
    make, data = EVERY[name]
    law, how = make(1.0).law(data), {"rng": 4, "streams": [2], "threads": 2}
    for size in (None, 0, 1, 3, 5000):
        ours, laws = make(1.0).sample(data, size, **how), law.sample(size, **how)
        assert np.array_equal(ours, laws)
        assert type(ours) is type(laws)
    if hasattr(law, "with_epsilon"):
        other = law.with_epsilon(3.0)
        assert (type(other), other.epsilon, repr(other)) == (
            type(law),
            3.0,
            repr(make(3.0).law(data)),
        )
        assert np.array_equal(other.sample(300, rng=1), make(3.0).sample(data, 300, rng=1))
        assert other != law == other.with_epsilon(1.0)


@each("name", [*MAKERS, *SELECTIONS])
def test_they_keep_their_data(name):
    make, data = EVERY[name]
    array = np.array(data)
    law = make(1.0).law(array)
    array[:] = 1
    assert law == make(1.0).law(data)
    assert np.array_equal(law.sample(9, rng=1), make(1.0).sample(data, 9, rng=1))


def test_no_hash_tells_of_the_data_and_other_objects_are_no_laws():
    for law in (MAKERS["Median"](1.0).law(RECORDS), SELECTIONS["Exponential"](1.0).law([1])):
        with pytest.raises(TypeError, match=r"^unhashable type: '(GridLaw|FiniteLaw)'$"):
            hash(law)
        assert law != 1
        assert (law == None) is False  # noqa: E711
        assert law.__eq__("law") is NotImplemented
