"""Is the accuracy of answers by group that of the exact laws, one by one?"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from fastexp.grouped.segments import Segments
from fastexp.query.accuracy import FIGURES, accuracy_of

WIDE = {"bounds": (0, 20), "step": 1}
LENGTHS = [0, 1, 2, 5, 8, 9, 40, 0, 33]
OFFSETS = np.concatenate([[0], np.cumsum(LENGTHS)])
RECORDS = np.random.default_rng(1).integers(-2, 24, OFFSETS[-1])


def parts(values):
    return [values[a:b] for a, b in itertools.pairwise(OFFSETS)]


def at_rank(values, low, high):
    ordered = np.sort(values).tolist()
    return (ordered[low - 1] + ordered[high - 1]) / 2


def whole(x):
    """The two ranks about x: equal but where x is whole."""
    return math.ceil(x), math.floor(x) + 1


NUMBERS = {
    "median": (
        fx.Median(1.0, **WIDE),
        lambda x: at_rank(x, *whole(Fraction(1, 2) * x.size)),
    ),
    "lower": (
        fx.Median(0.5, **WIDE, convention="lower", neighbors="replace"),
        lambda x: at_rank(x, (x.size + 1) // 2, (x.size + 1) // 2),
    ),
    "upper": (
        fx.Median(0.5, **WIDE, convention="upper"),
        lambda x: at_rank(x, x.size // 2 + 1, x.size // 2 + 1),
    ),
    "fine": (
        fx.Median(0.5, bounds=(-3, 20.5)),
        lambda x: at_rank(x, *whole(Fraction(1, 2) * x.size)),
    ),
    "widened": (
        fx.Median(0.5, **WIDE, widen=2),
        lambda x: at_rank(x, *whole(Fraction(1, 2) * x.size)),
    ),
    "quantile": (
        fx.Quantile(0.8, 1.0, bounds=(0, 20), grid=[0, 1, 4, 9, 16, 20]),
        lambda x: at_rank(x, *whole(Fraction(4, 5) * x.size)),
    ),
    "second": (
        fx.OrderStatistic(2, 1.0, **WIDE),
        lambda x: at_rank(x, max(x.size - 1, 1), max(x.size - 1, 1)),
    ),
    "maximum": (fx.Maximum(1.0, **WIDE), lambda x: float(x.max())),
    "mode": (
        fx.Mode(1.0, **WIDE),
        lambda x: min(set(c := x.clip(0, 20).tolist()), key=lambda v: (-c.count(v), v)),
    ),
}
LOSSES = {
    "price": fx.Price(1.0, **WIDE),
    "most common": fx.MostCommon(0.4, range(24)),
    "flips": fx.MostCommon(0.4, range(24), mechanism="permute-and-flip", neighbors="replace"),
}


class TestNumbers:
    @pytest.mark.parametrize("name", NUMBERS)
    @pytest.mark.parametrize("floats", [False, True])
    def test_figures_are_those_of_each_law(self, name, floats):
        mechanism, truth = NUMBERS[name]
        records = RECORDS / 1.0 if floats else RECORDS
        found = accuracy_of(mechanism, Segments(records, OFFSETS), 0.9)
        assert tuple(found) == FIGURES
        assert mechanism._measure == "error"
        assert found["n"].tolist() == LENGTHS
        for g, own in enumerate(parts(records)):
            figures = [found[figure][g] for figure in FIGURES[1:]]
            if own.size == 0:
                assert np.isnan(figures).all()
                continue
            law, true = mechanism.law(own[::-1]), truth(own)
            wanted = [
                true,
                law.mean() - true,
                law.expected_error(true),
                law.error_quantile(0.9, true),
            ]
            assert figures == wanted

    def test_the_truth_is_not_moved_into_the_bounds(self):
        """So that bounds that do not fit show."""
        mechanism = fx.Median(100.0, **WIDE)
        segments = Segments(
            np.array([70, 71, 72, math.inf, math.inf, -math.inf]), np.array([0, 3, 5, 6])
        )
        found = accuracy_of(mechanism, segments, 0.5)
        assert found["truth"].tolist() == [71.0, math.inf, -math.inf]
        assert found["expected"] == pytest.approx([51.0, math.inf, math.inf], abs=0.1)
        assert found["bias"] == pytest.approx([-51.0, -math.inf, math.inf], abs=0.1)
        assert found["quantile"].tolist() == [51.0, math.inf, math.inf]

    def test_draws_have_these_errors(self):
        mechanism, size = NUMBERS["median"][0], 20_000
        found = accuracy_of(mechanism, Segments(RECORDS, OFFSETS), 0.9)
        drawn = mechanism.sample(RECORDS, size, offsets=OFFSETS, rng=3)
        for g in np.flatnonzero(LENGTHS):
            errors = np.abs(drawn[g] - found["truth"][g])
            spread = 6 * errors.std() / math.sqrt(size)
            assert abs(errors.mean() - found["expected"][g]) < spread
            assert (errors <= found["quantile"][g]).mean() > 0.9 - 6 * 0.3 / math.sqrt(size)
            below = errors < found["quantile"][g]
            assert below.mean() < 0.9 + 6 * 0.3 / math.sqrt(size)


class TestLosses:
    @pytest.mark.parametrize("name", LOSSES)
    def test_figures_are_those_of_each_law(self, name):
        mechanism, records = LOSSES[name], RECORDS.clip(0, 23)
        found = accuracy_of(mechanism, Segments(records, OFFSETS), 0.75)
        assert mechanism._measure == "loss"
        assert found["n"].tolist() == LENGTHS
        assert np.isnan([found["truth"], found["bias"]]).all()
        for g, own in enumerate(parts(records)):
            law = mechanism.law(own)
            wanted = [law.expected_loss(), law.loss_quantile(0.75)]
            assert [found["expected"][g], found["quantile"][g]] == wanted


def test_no_groups_have_no_figures():
    found = accuracy_of(fx.Median(1.0, **WIDE), Segments(RECORDS[:0], np.array([0])), 0.5)
    assert {name: values.shape for name, values in found.items()} == dict.fromkeys(FIGURES, (0,))
