"""Does a law hold its records: whatever their form was, and what becomes of them afterwards?"""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import fastexp as fx
from tests.messages import raises
from tests.support.each import each

FINE, COARSE = fx.Median(0.01, (0, 120)), fx.Median(0.01, (0, 120), step=0.5)
RNG = np.random.default_rng(31)
MANY = RNG.permutation(np.repeat(RNG.uniform(0, 120, 3000), 2))
LEVELS = np.array([0.01, 0.3, 0.5, 0.9])
FEW = np.sort(MANY[:50])
NEAR = [-4.0, 0.0, 59.0, 60.0, 60.25, 61.7, 119.0, 200.0, -1e100, 1e100]


def forms(records: np.ndarray) -> dict[str, object]:
    """The same records, many times."""
    values, counts = np.unique(records, return_counts=True)
    return {
        "array": records,
        "reversed": records[::-1],
        "list": records.tolist(),
        "sorted": np.sort(records),
        "counted": (values, counts),
        "parts": lambda: iter([records[:2000], records[2000:]]),
    }


def closed_form(law: fx.GridLaw, truth: float) -> float:
    """The expected error, by the sums of all cells."""
    return law._weights.error(*law._around(np.array([truth]))).item() * law._scale


@each("mechanism", [FINE, COARSE], ids=["fine", "coarse"])
@each("records", [MANY, FEW], ids=["many", "few"])
def test_laws_of_one_data_set_are_equal_and_give_the_same_bits(mechanism, records):
    laws = {name: mechanism.law(data) for name, data in forms(records).items()}
    laws["promised"] = mechanism.law(np.sort(records), assume_sorted=True)
    first = laws.pop("array")
    errors, quantiles = first.expected_error(NEAR), first.ppf(LEVELS)
    draws = mechanism.sample(records, 50, rng=2)
    for name, law in laws.items():
        assert np.array_equal(law.expected_error(NEAR), errors), name
        assert np.array_equal(law.ppf(LEVELS), quantiles), name
        assert np.array_equal(law.sample(50, rng=2), draws), name
        assert law == first, name


@each("mechanism", [FINE, COARSE], ids=["fine", "coarse"])
@each("promised", [False, True])
def test_later_changes_of_the_array_are_not_seen(mechanism, promised):
    records = np.sort(MANY) if promised else MANY.copy()
    law = mechanism.law(records, assume_sorted=promised)
    records[:] = 119.0
    assert law == mechanism.law(MANY)
    assert law.expected_error(60.0) == mechanism.law(MANY).expected_error(60.0)
    assert np.array_equal(law.sample(9, rng=1), mechanism.sample(MANY, 9, rng=1))


@each("records", [MANY, FEW, MANY[:0]], ids=["many", "few", "none"])
@each("mechanism", [FINE, COARSE, fx.Mode(1.0, (0, 120), step=1)])
def test_copies_and_pickles_hold_them_too(mechanism, records):
    law = mechanism.law(records)
    for other in (pickle.loads(pickle.dumps(law)), copy.deepcopy(law), copy.copy(law)):
        assert other.expected_error(60.0) == law.expected_error(60.0)
        assert other.sample(rng=4) == law.sample(rng=4)
        assert other == law


@pytest.mark.slow
@each(
    "mechanism",
    [
        FINE,
        COARSE,
        fx.Median(2.0, (0, 120), step=1, widen=3),
        fx.Median(1.0, (-(2**62), 2**62), step=2**30),
        fx.Quantile(0.9, 1.0, (0, 120), convention="lower"),
        fx.Maximum(0.5, (0, 120), step=1),
    ],
)
def test_expected_errors_are_those_of_all_cells(mechanism):
    for records in (MANY, FEW, MANY[:1], MANY[:0], np.r_[np.full(90, 61.5), 3.0, 118.0]):
        law = mechanism.law(records)
        other = law.with_epsilon(3.0)
        for truth in NEAR:
            one = law.expected_error(truth)
            assert one == pytest.approx(closed_form(law, truth), rel=1e-12, abs=1e-300)
            assert other.expected_error(truth) == pytest.approx(
                closed_form(other, truth), rel=1e-12
            )
        assert law.expected_error(NEAR).tolist() == [law.expected_error(x) for x in NEAR]


def test_another_epsilon_has_the_errors_of_a_law_of_its_own():
    law, other = FINE.law(MANY), fx.Median(0.02, (0, 120)).law(MANY)
    law.expected_error(60.0)
    assert (
        law.with_epsilon(0.02).expected_error(NEAR).tolist() == other.expected_error(NEAR).tolist()
    )


def test_missing_records_are_refused_at_once():
    gaps = MANY.copy()
    gaps[7] = np.nan
    for mechanism in (FINE, COARSE):
        for data in (gaps, gaps[:20], np.sort(gaps)):
            with raises("missing records"):
                mechanism.law(data)
