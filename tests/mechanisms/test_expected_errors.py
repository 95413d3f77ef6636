"""Are expected errors of many data sets those of each one's law, for every kind of mechanism?"""

from __future__ import annotations

import numpy as np
import pytest

import fastexp as fx
from fastexp.errors import InvalidRecords, ParameterError, ParameterTypeError
from tests.messages import says
from tests.support.each import each

BOUNDS = (0, 10)
RNG = np.random.default_rng(12)
DATA = {
    "floats": RNG.normal(5, 2, (6, 41)),
    "float32": RNG.normal(5, 2, (6, 41)).astype(np.float32),
    "integers": RNG.poisson(5, (6, 40)),
    "unsigned": RNG.poisson(5, (6, 40)).astype(np.uint8),
    "outside": RNG.normal(5, 20, (6, 9)),
    "one": RNG.normal(5, 2, (3, 1)),
    "columns": np.asfortranarray(RNG.normal(5, 2, (6, 8))),
}
MECHANISMS = {
    "median": fx.Median(1.0, BOUNDS),
    "steep": fx.Median(3000.0, BOUNDS),
    "strict": fx.Median(0.4, BOUNDS, step=0.5, neighbors="replace", convention="strict"),
    "widened": fx.Median(1.0, BOUNDS, step=0.25, widen=0.5),
    "points": fx.Median(1.0, BOUNDS, grid=[0, 1, 2, 5.5, 10]),
    "quantile": fx.Quantile(0.9, 2.0, BOUNDS),
    "third": fx.OrderStatistic(3, 1.0, BOUNDS, step=1),
    "maximum": fx.Maximum(1.0, BOUNDS),
    "mode": fx.Mode(1.0, BOUNDS, step=1),
    "price": fx.Price(1.0, BOUNDS, step=0.5),
    "laplace": fx.LaplaceMedian(1.0, BOUNDS),
    "cauchy": fx.SmoothSensitivityMedian(1.0, 0, bounds=BOUNDS),
}


@each("data", DATA)
@each("truth", [None, 5, -3.25, "rows"])
def test_they_are_those_of_laws(data, truth):
    records = DATA[data]
    rows = records.shape[0]
    truths = np.linspace(-1, 11, rows) if truth == "rows" else truth
    errors = fx.expected_errors(records, list(MECHANISMS.values()), truth=truths)
    assert errors.shape == (rows, len(MECHANISMS))
    for j, mechanism in enumerate(MECHANISMS.values()):
        for r, row in enumerate(records):
            law = mechanism.law(row)
            wanted = np.broadcast_to(truths, rows)[r] if truth is not None else law.truth
            known = law.expected_error(float(wanted))
            assert errors[r, j] == pytest.approx(known, rel=1e-12, abs=1e-14), (mechanism, r)


def test_rank_statistics_by_definition():
    """Points, weights and distances, without a law."""
    mechanism = fx.Median(2 * np.log(2), (0, 6), step=1, convention="weak")
    records = np.array([[1, 2, 2, 6], [0, 0, 5, 5]])
    points = np.arange(7)
    for row, error in zip(records, fx.expected_errors(records, [mechanism])[:, 0], strict=True):
        low, high = (row[:, None] < points).sum(axis=0), (row[:, None] > points).sum(axis=0)
        weights = 2.0 ** -np.maximum(0, np.maximum(2 * low - 4, 2 * high - 4))
        assert error == pytest.approx(weights @ abs(points - np.median(row)) / weights.sum())


@each("name", ["median", "widened", "points"])
def test_errors_from_an_infinite_statistic_are_infinite(name):
    """As of `accuracy`: records may be infinite, outputs are not."""
    records = np.array([[1, np.inf, np.inf], [1, 2, 3]])
    errors = fx.expected_errors(records, [MECHANISMS[name]])[:, 0].tolist()
    assert errors == [MECHANISMS[name].accuracy(row).expected for row in records]
    assert errors[0] == np.inf


def test_rows_are_sorted_but_not_changed():
    records = DATA["floats"].copy()
    errors = fx.expected_errors(records, [MECHANISMS["median"]])
    assert np.array_equal(records, DATA["floats"])
    ordered = np.sort(records)
    again = fx.expected_errors(ordered, (MECHANISMS["median"],), assume_sorted=True)
    assert np.array_equal(errors, again)
    assert fx.expected_errors(records[:0], [MECHANISMS["mode"]]).shape == (0, 1)
    assert fx.expected_errors(records, []).shape == (6, 0)


def test_a_draw_is_as_far_off_as_said():
    mechanism = fx.Median(0.7, BOUNDS)
    draws = mechanism.sample(DATA["floats"], 40_000, rng=3)
    off = np.abs(draws - 5.0)
    error = off.std(axis=1) / 200
    expected = fx.expected_errors(DATA["floats"], [mechanism], truth=5)[:, 0]
    assert (np.abs(off.mean(axis=1) - expected) < 5 * error).all()  # fails by chance in 1 of 3e5
    other = fx.expected_errors(DATA["floats"], [fx.Median(0.5, BOUNDS)], truth=5)[:, 0]
    assert (np.abs(off.mean(axis=1) - other) > 5 * error).any()


@each(
    ("call", "error", "message"),
    [
        (
            lambda x: fx.expected_errors(x, fx.Median(1.0, BOUNDS)),
            ParameterTypeError,
            "list of mechanisms",
        ),
        (
            lambda x: fx.expected_errors(x, [fx.Exponential(1.0, 1.0)]),
            ParameterTypeError,
            "mechanisms of one number, got Exponential",
        ),
        (
            lambda x: fx.expected_errors(x, [fx.Laplace(1.0, sensitivity=1, step=1)]),
            ParameterTypeError,
            "mechanisms of one number, got Laplace",
        ),
        (
            lambda x: fx.expected_errors(
                x, [fx.SmoothSensitivityMedian(1.0, 0, bounds=BOUNDS, noise="uniform-lognormal")]
            ),
            ParameterError,
            "mechanisms with exact errors, got 'uniform-lognormal'",
        ),
        (lambda x: fx.expected_errors(x[0], []), ParameterTypeError, "rows of numbers"),
        (
            lambda x: fx.expected_errors([[1.0]], [MECHANISMS["mode"]]),
            ParameterTypeError,
            "rows of numbers",
        ),
        (lambda x: fx.expected_errors(x[:, :0], []), InvalidRecords, "no records"),
        (lambda x: fx.expected_errors(x * np.nan, []), InvalidRecords, "missing records"),
        (lambda x: fx.expected_errors(x, [], truth=[1, 2]), ParameterError, "6: one truth a row"),
        (lambda x: fx.expected_errors(x, [], truth=np.inf), ParameterError, "truth that is finite"),
        (
            lambda x: fx.expected_errors(x, [], assume_sorted=1),
            ParameterTypeError,
            "assume_sorted: true or false",
        ),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=says(message)):
        call(DATA["floats"])
