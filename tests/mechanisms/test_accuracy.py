"""Are the figures of `mechanism.accuracy` those of the definition, and are they never in a repr?"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

import fastexp as fx
from tests.support.each import each

UTILITIES = [4, 4, 3, 1, 0]
RECORDS = [1, 2, 2, 7, 9]
GRID = {"bounds": (0, 10), "step": 1}


def exponential(epsilon, utilities):
    weights = [Fraction(math.exp(epsilon * (u - max(utilities)) / 2)) for u in utilities]
    return [w / sum(weights) for w in weights]


def permute_and_flip(epsilon, utilities):
    """By the definition: in each order the first one whose coin is heads."""
    heads = [Fraction(math.exp(epsilon * (u - max(utilities)) / 2)) for u in utilities]
    places = list(permutations(range(len(utilities))))
    chance = [Fraction(0)] * len(utilities)
    for order in places:
        left = Fraction(1)
        for candidate in order:
            chance[candidate] += left * heads[candidate] / len(places)
            left *= 1 - heads[candidate]
    return chance


def median(epsilon, records):
    """Duff's distance: how many records must be added so that half lie on either side."""

    def distance(r):
        below, above = (sum(x < r for x in records), sum(x > r for x in records))
        equal = len(records) - below - above
        return max(below - above - equal, above - below - equal, 0)

    weights = [Fraction(math.exp(-epsilon * distance(r) / 2)) for r in range(11)]
    return [w / sum(weights) for w in weights]


def figures(values, chances, levels):
    """Mean and quantiles of a finite law."""
    mean = sum(v * p for v, p in zip(values, chances, strict=True))
    pairs = sorted(zip(values, chances, strict=True))
    quantiles = []
    for level in levels:
        total = Fraction(0)
        for value, chance in pairs:
            total += chance
            if total >= Fraction(level):
                quantiles.append(value)
                break
    return float(mean), quantiles


@each("epsilon", [0.2, 1.3])
@each(
    ("kind", "chances"),
    [
        (fx.Exponential, exponential),
        (fx.PermuteAndFlip, permute_and_flip),
        (fx.ReportNoisyMax, permute_and_flip),
    ],
)
def test_losses_are_those_of_the_definition(kind, chances, epsilon):
    levels = (0.1, 0.6, 0.9)
    accuracy = kind(epsilon=epsilon, sensitivity=1).accuracy(UTILITIES, probability=levels)
    law = chances(epsilon, UTILITIES)
    mean, quantiles = figures([4 - u for u in UTILITIES], law, levels)
    assert (accuracy.measure, accuracy.truth, accuracy.bias) == ("loss", None, None)
    assert accuracy.expected == pytest.approx(mean, rel=1e-12)
    assert accuracy.quantiles == dict(zip(levels, quantiles, strict=True))
    assert accuracy.best == pytest.approx(float(law[0] + law[1]), rel=1e-12)


@each("epsilon", [0.2, 1.3])
@each("truth", [None, 4.5, 30])
def test_errors_are_those_of_the_definition(epsilon, truth):
    accuracy = fx.Median(epsilon=epsilon, **GRID).accuracy(RECORDS, probability=0.8, truth=truth)
    law, centre = median(epsilon, RECORDS), 2 if truth is None else truth
    mean, quantiles = figures([abs(r - centre) for r in range(11)], law, [0.8])
    assert (accuracy.measure, accuracy.truth, accuracy.best) == ("error", centre, None)
    assert accuracy.expected == pytest.approx(mean, rel=1e-12)
    assert accuracy.quantiles == {0.8: quantiles[0]}
    output = float(sum(r * p for r, p in enumerate(law)))
    assert accuracy.bias == pytest.approx(output - centre, rel=1e-12)


MECHANISMS = {
    "median": (fx.Median(1.0, **GRID), RECORDS),
    "quantile": (fx.Quantile(0.9, 1.0, **GRID), RECORDS),
    "third": (fx.OrderStatistic(3, 1.0, **GRID), RECORDS),
    "maximum": (fx.Maximum(1.0, **GRID), RECORDS),
    "mode": (fx.Mode(1.0, **GRID), RECORDS),
    "price": (fx.Price(1.0, **GRID), RECORDS),
    "laplace": (fx.Laplace(1.0, 1, step=1), 21),
    "laplace within bounds": (fx.Laplace(1.0, 1, step=1, bounds=(0, 9)), 8.4),
    "laplace median": (fx.LaplaceMedian(1.0, bounds=(0, 10)), RECORDS),
    "smooth": (fx.SmoothSensitivityMedian(1.0, bounds=(0, 10), noise="cauchy"), RECORDS),
    "exponential": (fx.Exponential(1.0, 1.0), UTILITIES),
    "flip": (fx.PermuteAndFlip(1.0, 1.0), UTILITIES),
    "noisy max": (fx.ReportNoisyMax(1.0, 1.0, noise="gumbel"), UTILITIES),
    "most common": (fx.MostCommon(1.0, [2, 7]), RECORDS),
    "top 2": (fx.TopK(2, 1.0, 1.0), UTILITIES),
    "top 2 of rho": (fx.TopK(2, rho=0.1, sensitivity=1.0), UTILITIES),
    "response": (fx.RandomizedResponse(1.0), 1),
}


@each("name", MECHANISMS)
def test_every_mechanism_with_a_law_has_an_accuracy(name):
    mechanism, data = MECHANISMS[name]
    accuracy, law = mechanism.accuracy(data), mechanism.law(data)
    assert (accuracy.epsilon, accuracy.promise) == (mechanism.epsilon, mechanism.guarantee)
    assert list(accuracy.quantiles) == [0.5, 0.95]
    if accuracy.measure == "error":
        assert accuracy.truth == law.truth
        assert accuracy.expected == law.expected_error(law.truth)
        assert accuracy.quantiles[0.95] == law.error_quantile(0.95, law.truth)
    else:
        first = law.first_place if name.startswith("top") else law
        assert accuracy.expected == first.expected_loss()
        assert accuracy.quantiles[0.95] == first.loss_quantile(0.95)
        assert accuracy.best == first.loss_cdf(0.0)
    assert (accuracy.best is None) == (accuracy.measure == "error")


def test_selections_and_prices_lose_and_other_numbers_err():
    measures = {name: m.accuracy(d).measure for name, (m, d) in MECHANISMS.items()}
    errors = [name for name, measure in measures.items() if measure == "error"]
    assert errors == [
        *("median", "quantile", "third", "maximum", "mode", "laplace"),
        *("laplace within bounds", "laplace median", "smooth"),
    ]


def test_missing_records_are_treated_as_the_law_treats_them():
    records, mechanism = [1.0, 2.0, math.nan, 7.0], fx.Median(1.0, **GRID)
    with pytest.raises(fx.InvalidRecords):
        mechanism.accuracy(records)
    assert mechanism.accuracy(records, nan="drop") == mechanism.accuracy([1, 2, 7])
    assert mechanism.accuracy(records, nan="lower").truth == 1.5
    lowest = fx.Exponential(1.0, 1.0).accuracy([1.0, math.nan, 0.0], nan="lowest")
    assert lowest.quantiles[0.5] == 0.0
    with pytest.raises(TypeError, match="nan"):
        fx.Laplace(1.0, 1, step=1).accuracy(3, nan="drop")


def test_without_records_there_is_no_error_and_no_picture():
    accuracy = fx.Median(1.0, **GRID).accuracy([])
    assert (accuracy.truth, accuracy.bias) == (None, None)
    assert math.isnan(accuracy.expected)
    assert np.isnan(list(accuracy.quantiles.values())).all()


def test_infinite_truths_have_infinite_errors():
    accuracy = fx.Median(1.0, **GRID).accuracy([math.inf] * 3)
    assert (accuracy.expected, accuracy.bias) == (math.inf, -math.inf)
    assert accuracy.quantiles == {0.5: math.inf, 0.95: math.inf}


def test_a_truth_of_64_bits_is_not_rounded():
    mechanism = fx.Median(50.0, bounds=(2**62, 2**62 + 10), step=1)
    accuracy = mechanism.accuracy([2**62 + 1] * 40)
    assert accuracy.truth == 2**62 + 1
    assert accuracy.expected < 1e-3


@each("name", MECHANISMS)
def test_figures_are_shown_with_a_warning_and_never_in_a_repr(name):
    mechanism, data = MECHANISMS[name]
    accuracy = mechanism.accuracy(data)
    assert repr(accuracy) == (
        f"Accuracy(measure={accuracy.measure!r}, epsilon={mechanism.epsilon!r})"
    )
    for text in (str(accuracy), accuracy._repr_html_()):
        assert "Not private" in text
        assert fx.Accuracy.__name__ in text
    assert json.loads(json.dumps(accuracy.as_dict()))["expected"] == accuracy.expected
    with pytest.raises(TypeError, match="unhashable"):
        hash(accuracy)


def test_the_picture_has_the_figures_and_takes_axes():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    accuracy = fx.Median(0.2, **GRID).accuracy(RECORDS)
    axes = Figure().subplots()
    assert accuracy.plot(axes) is axes
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == [
        f"expected error: {accuracy.expected:.4g}",
        f"50% at most: {accuracy.quantiles[0.5]:g}",
        f"95% at most: {accuracy.quantiles[0.95]:g}",
    ]
    heights = axes.get_lines()[0].get_ydata()
    widths = axes.get_lines()[0].get_xdata()
    law = fx.Median(0.2, **GRID).law(RECORDS)
    assert len(widths) == 102  # from the last quantile to the edge it stays at 1
    assert (widths[-1], heights[-1]) == (axes.get_xlim()[1], 1.0)
    for p, error in zip(heights[1:-1], widths[1:-1], strict=True):
        assert error == law.error_quantile(p, 2)
    many = fx.Median(0.2, **GRID).accuracy(RECORDS, probability=(0.1, 0.5, 0.9, 0.95, 0.99)).plot()
    legend = many.get_legend()
    assert legend.get_frame().get_facecolor() == many.get_facecolor() == (1, 1, 1, 1)
    assert all(line.get_zorder() < legend.get_zorder() for line in many.get_lines())
    assert many.figure.texts[1].get_text().startswith("truth ")
    sure = fx.Median(50, bounds=(0, 9), step=1).accuracy([4] * 99).plot()
    assert sure.get_lines()[0].get_xydata()[-2:].tolist() == [[0, 1], [1, 1]]
    endless = fx.Laplace(1.0, 1, step=1).accuracy(3).plot()
    assert np.isfinite(endless.get_lines()[0].get_xdata()).all()
