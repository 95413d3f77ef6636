"""Do tests of goodness of fit notice a wrong law, and fail by chance as rarely as stated?"""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.stats import binom, chi2, hypergeom, poisson

from tests.support.each import each
from tests.support.goodness import (
    ALPHA,
    OF_STATISTIC,
    Fit,
    counts_fit,
    fits,
    g_statistic,
    two_sample_fits,
)

pytestmark = [pytest.mark.statistical, pytest.mark.fast]

N = 1_000_000
LONG = np.arange(2000) ** 8.0  # most outcomes of these weights are rare


def of_cell(probability: float, count: int, draws: int = N) -> Fit:
    """A cell of a probability, and two cells that share the rest evenly."""
    rest = (1 - probability) / 2
    half = (draws - count) // 2
    return counts_fit(np.array([half, draws - count - half, count]), [rest, rest, probability])


class TestOneSample:
    @each("seed", range(3))
    @each("weights", [0.99 ** np.arange(50), LONG, 0.5 ** np.arange(60)])
    def test_a_right_law(self, seed, weights):
        """Also with outcomes that are drawn less than once, or never; and a wrong one."""
        p = weights / weights.sum()
        counts = np.random.default_rng(seed).multinomial(N, p)
        assert counts_fit(counts, p)
        assert counts_fit(counts[::-1], p[::-1])
        assert fits(np.repeat(np.arange(p.size), counts), p)
        assert not counts_fit(counts[::-1], p)

    @pytest.mark.parametrize(("probability", "few", "many"), [(1e-6, 9, 600), (1e-7, 3, 20)])
    def test_a_rare_outcome(self, probability, few, many):
        assert of_cell(probability, 0)
        assert of_cell(probability, few)
        assert not of_cell(probability, many)

    def test_one_rare_outcome_among_others(self):
        """Their sum is right; alone, it is drawn for all of them."""
        p = np.array([0.5, 0.4999, *np.full(100, 1e-6)])
        counts = np.array([500_000, 499_900, *np.full(100, 1)])
        assert counts_fit(counts, p)
        counts[2:] = 0
        counts[2] = 100
        assert not counts_fit(counts, p)

    def test_many_rare_outcomes(self):
        """Each is drawn once, as may be; together, they are drawn too often."""
        p = np.array([0.5, 0.499999, *np.full(1000, 1e-9)])
        counts = np.zeros(1002, dtype=int)
        counts[:3] = 500_000, 499_998, 1
        assert counts_fit(counts, p)
        counts[3:63] = 1
        assert not counts_fit(counts, p)

    @pytest.mark.parametrize(
        ("expected", "counts", "merged"),
        [
            ([500, 486, 9, 5], [470, 507, 10, 13], [(0,), (1,), (2, 3)]),
            ([530, 463, 5, 2], [490, 499, 6, 5], [(0,), (1, 2, 3)]),
        ],
    )
    def test_the_statistic_is_that_of_merged_outcomes(self, expected, counts, merged):
        """Of the rare ones, or where they are too rare together, of them and the least."""
        few, law = ([sum(x[i] for i in cell) for cell in merged] for x in (counts, expected))
        for fit, same in (
            (counts_fit(counts, np.divide(expected, 1000)), counts_fit(few, np.divide(law, 1000))),
            (two_sample_fits(counts, expected), two_sample_fits(few, law)),
        ):
            assert fit.cells == same.cells == len(merged)
            assert fit.statistic == pytest.approx(same.statistic, rel=1e-12)
            assert fit.statistic > 1

    def test_impossible_outcomes(self):
        assert fits(np.array([0] * 50 + [1] * 50), [0.5, 0.5, 0.0])
        assert not fits(np.array([0] * 50 + [1] * 50 + [2]), [0.5, 0.5, 0.0])
        assert not counts_fit(np.array([3, 1]), [1.0, 0.0])

    @each("expected", [0.01, 1, 9.9, 10, 15, 20, 21.8, 22, 30, 50, 100])
    def test_the_chance_of_failing(self, expected):
        """The exact probabilities of the counts of an outcome that fail: at most ALPHA in all."""
        draws, p = 10_000, expected / 10_000
        counts = np.arange(int(expected + 8 * np.sqrt(expected)) + 30)
        if expected < 10:
            failing = [not of_cell(p, c, draws) for c in counts]
        else:
            failing = [not counts_fit(np.array([c, draws - c]), [p, 1 - p]) for c in counts]
        law = binom(draws, p)
        assert failing[-1]
        assert law.pmf(counts[failing]).sum() + law.sf(counts[-1]) <= ALPHA

    def test_the_chance_of_failing_with_many_rare_outcomes(self):
        """That any of a thousand is drawn as often as fails, by a union bound."""
        p = np.array([0.5, 0.4995, *np.full(1000, 5e-7)])
        counts = np.array([500_000, 499_500, *np.tile([0, 1], 500)])
        passing = []
        for count in range(30):
            counts[2] = count
            passing.append(bool(counts_fit(counts, p)))
        assert passing == sorted(passing, reverse=True)
        assert 1000 * binom.sf(sum(passing) - 1, N, 5e-7) <= ALPHA / 2

    @each("cells", [10, 60, 2000])
    def test_the_chance_of_failing_with_many_outcomes(self, cells):
        """That of G, of independent counts of ten: their laws are multiplied, in steps of 1/64."""
        counts, size, ten = np.arange(90), 2**19, np.array([10.0])
        steps = [round(64 * g_statistic(np.array([c]), ten, 1)) for c in counts]
        law = np.bincount(steps, poisson.pmf(counts, 10), size)
        sums = np.fft.irfft(np.fft.rfft(law) ** cells, size)
        assert sums[int(64 * chi2.isf(OF_STATISTIC, cells)) :].sum() <= ALPHA / 2

    def test_frequencies_are_refused(self):
        with pytest.raises(TypeError, match="integers"):
            counts_fit(np.array([50.0, 50.0]), [0.5, 0.5])

    @each("p", [[0.5, 0.4], [0.5, 0.25, 0.25], [0.5, np.nan]])
    def test_probabilities_must_sum_to_one(self, p):
        with pytest.raises(ValueError, match="summing to 1"):
            counts_fit(np.array([50, 50]), p)

    @pytest.mark.parametrize("counts", [[3, 1], [99, 1]])
    def test_too_few_draws_are_refused(self, counts):
        p = [0.5, 0.5] if sum(counts) < 10 else [0.99, 0.01]
        with pytest.raises(ValueError, match="too few"):
            counts_fit(np.array(counts), p)


class TestTwoSamples:
    @each("seed", range(3))
    @each("size", [3000, 200_000])
    def test_one_law_or_another(self, seed, size):
        rng = np.random.default_rng(seed)
        p = LONG / LONG.sum()
        first, second = rng.multinomial(200_000, p), rng.multinomial(size, p)
        assert two_sample_fits(first, second)
        assert two_sample_fits(second, first)
        assert not two_sample_fits(first, second[::-1])

    def test_many_outcomes_seen_once_against_never(self):
        ours, other = np.array([500, 500]), np.array([550, 550])
        ones, never = np.ones(100, dtype=int), np.zeros(100, dtype=int)
        assert not two_sample_fits([*ours, *ones], [*other, *never])
        assert two_sample_fits([*ours, *ones[::2], *never[::2]], [*ours, *never[::2], *ones[::2]])

    @pytest.mark.parametrize("place", [0, 1])
    def test_a_rare_outcome(self, place):
        """Eighteen times of a thousand against never of a hundred thousand."""
        tables = np.array([[500, 482, 18], [50_000, 50_000, 0]])
        assert not two_sample_fits(tables[place], tables[1 - place])
        tables = np.array([[500, 500, 0], [50_000, 49_000, 1000]])
        assert two_sample_fits(tables[place], tables[1 - place])

    @each(
        ("size", "expected"),
        [(1000, 1), (1000, 9.9), (1000, 10), (1000, 22), (1000, 50), (10_000, 22), (10_000, 50)],
    )
    def test_the_chance_of_failing(self, size, expected):
        """The same, given how often the outcome is drawn in both together."""
        total = round(expected * (size + 10_000) / size)
        counts = np.arange(min(total, 150) + 1)
        rest = 4 if expected < 10 else 1  # other outcomes, evenly
        failing = []
        for c in counts:
            first = [c, *np.diff(np.linspace(0, size - c, rest + 1).astype(int))]
            second = [total - c, *np.diff(np.linspace(0, 10_000 - total + c, rest + 1).astype(int))]
            failing.append(not two_sample_fits(first, second))
        law = hypergeom(size + 10_000, total, size)
        assert any(failing)
        assert law.pmf(counts[failing]).sum() + law.sf(counts[-1]) <= ALPHA

    def test_frequencies_are_refused(self):
        with pytest.raises(TypeError, match="integers"):
            two_sample_fits(np.array([50.0, 50.0]), np.array([50, 50]))

    def test_too_few_draws_are_refused(self):
        with pytest.raises(ValueError, match="too few"):
            two_sample_fits([3, 1], [2, 2])


def test_a_failure_shows_its_figures():
    """As pytest prints them, which shortens what is longer than 240."""
    shown = repr(of_cell(0.2, 203_000))
    assert re.fullmatch(
        r"<no fit: p = [\d.e-]+ of 1e-09; G = 56.\d+, critical [\d.]+, 3 cells; "
        r"worst: 2 \(203000 times, expected 2e\+05\)>",
        shown,
    )
    assert len(shown) < 200
    assert repr(of_cell(1e-6, 600)).endswith("2 cells; worst: 2 (600 times, expected 1)>")
    assert repr(of_cell(1e-6, 1)).startswith("<fit: p = 1 of")


@pytest.mark.parametrize("wrong", [False, True])
def test_it_equals_its_truth(wrong):
    """As tests of power compare it."""
    assert of_cell(1e-6, 600 if wrong else 1) == (not wrong)
    assert of_cell(1e-6, 600 if wrong else 1) != wrong
