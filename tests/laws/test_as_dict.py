"""Does a law give its outputs with their probabilities as a dict?"""

from __future__ import annotations

import pytest

import fastexp as fx
from tests.support.each import each

GRIDS = {
    "integers": fx.Median(epsilon=1, bounds=(0, 4), step=1),
    "decimals": fx.Quantile(0.9, epsilon=1, bounds=(0, 1), step=0.25),
    "points": fx.Mode(epsilon=1, grid=[0, 1, 9]),
    "price": fx.Price(epsilon=1, bounds=(0, 2), step=0.5),
}


@pytest.mark.parametrize("selected", ["exponential", "permute-and-flip"])
def test_candidates_by_their_labels(selected):
    law = fx.MostCommon(epsilon=1, candidates=["a", 2, None], mechanism=selected).law(["a", 2, 2])
    distribution = law.as_dict()
    assert list(distribution) == ["a", 2, None]
    assert list(distribution.values()) == law.probabilities.tolist()
    assert {type(p) for p in distribution.values()} == {float}


def test_candidates_without_labels_by_their_indices():
    law = fx.Exponential(epsilon=1, sensitivity=1).law([0.0, 2.0])
    assert law.as_dict() == {0: law.probabilities[0], 1: law.probabilities[1]}
    first = fx.TopK(1, epsilon=1, sensitivity=1).law([0.0, 2.0]).first_place
    assert first.as_dict() == law.as_dict()


@each("name", GRIDS)
def test_points_of_a_grid(name):
    law = GRIDS[name].law([0.3, 1, 1, 3])
    distribution = law.as_dict()
    assert list(distribution) == law.points.tolist()
    assert {point: law.pmf(point) for point in distribution} == distribution
    assert sum(distribution.values()) == pytest.approx(1, rel=1e-14)
    assert {type(point) for point in distribution} == {int if law.grid.whole else float}
