"""Does `compare` put the figures, promises and needed epsilons of mechanisms beside each other?"""

from __future__ import annotations

import itertools
import json
import math
from itertools import pairwise

import numpy as np
import pytest

import fastexp as fx
from tests.messages import raises, says
from tests.support.each import each

COUNTS = [30, 28, 17, 5]
AGES = np.random.default_rng(3).integers(18, 90, 200)
BOUNDS = {"bounds": (0, 120)}
KINDS = {
    "exponential": fx.Exponential(0.2, 1),
    "flip": fx.PermuteAndFlip(0.2, 1),
    "noisy max": fx.ReportNoisyMax(0.2, 1),
}


def expected(law, epsilon, measure, truth=None):
    law = law.with_epsilon(epsilon)
    return law.expected_loss() if measure == "loss" else law.expected_error(truth)


class TestFigures:
    def test_of_selections(self):
        comparison = fx.compare(KINDS, COUNTS, probability=0.8)
        assert (comparison.measure, comparison.probability) == ("loss", 0.8)
        assert [row.name for row in comparison.rows] == list(KINDS)
        for row, mechanism in zip(comparison.rows, KINDS.values(), strict=True):
            assert row.accuracy == mechanism.accuracy(COUNTS, probability=0.8)
            assert row.promise == mechanism.guarantee
        first, second, third = comparison.rows
        assert second.accuracy.expected == third.accuracy.expected  # one law
        assert second.accuracy.expected < first.accuracy.expected

    def test_of_numbers_each_with_a_truth_of_its_own_or_with_one_for_all(self):
        mechanisms = [
            fx.Median(0.5, **BOUNDS, step=1),
            fx.LaplaceMedian(0.5, **BOUNDS),
            (fx.Laplace(0.5, 120, step=1), sum),
        ]
        rows = fx.compare(mechanisms, AGES).rows
        assert [row.name for row in rows] == ["median", "laplace-median", "laplace of sum"]
        assert [row.accuracy.truth for row in rows] == [
            np.median(AGES),
            np.sort(AGES)[99],
            AGES.sum(),
        ]
        rows = fx.compare(mechanisms, AGES, truth=47).rows
        assert {row.accuracy.truth for row in rows} == {47}
        assert rows[0].accuracy == mechanisms[0].accuracy(AGES, probability=0.95, truth=47)

    def test_laws_may_be_given(self):
        median, laplace = fx.Median(0.5, **BOUNDS, step=1), fx.Laplace(0.5, 0.6, step=0.1)
        laws = [median.law(AGES), laplace.law(AGES.mean())]
        rows = fx.compare([median, laplace], laws).rows
        others = fx.compare([median, (laplace, np.mean)], AGES).rows
        assert [row.name for row in rows] == ["median", "laplace"]
        assert [row[1:] for row in rows] == [row[1:] for row in others]

    @pytest.mark.slow
    @each("seed", range(40))
    def test_permute_and_flip_never_loses_more(self, seed):
        """McKenna and Sheldon, NeurIPS 2020; so the exponential mechanism needs no less epsilon."""
        rng = np.random.default_rng(seed)
        utilities = rng.integers(0, 9, rng.integers(2, 9)) * rng.choice([1.0, 0.37])
        epsilon = float(rng.choice([0.01, 0.4, 3.0]))
        kinds = [kind(epsilon, 1.0) for kind in (fx.Exponential, fx.PermuteAndFlip)]
        exponential, flip = fx.compare(kinds, utilities).rows
        best = exponential.accuracy.expected
        assert flip.accuracy.expected <= best * (1 + 1e-12)
        assert flip.accuracy.best >= exponential.accuracy.best * (1 - 1e-12)
        if flip.accuracy.expected < best:
            assert flip.needs[0] > epsilon
            assert epsilon > (exponential.needs[1] or 0.0)  # None: too near for a proof


class TestNeeds:
    @each(
        ("mechanisms", "data"),
        [
            (list(KINDS.values()), COUNTS),
            ([fx.Median(0.2, **BOUNDS, step=1, widen=w) for w in (0, 3)], AGES),
            ([fx.Quantile(q, 0.2, **BOUNDS, step=1) for q in (0.5, 0.6)], AGES),
            ([fx.Price(0.3, **BOUNDS, step=1), fx.Price(0.3, **BOUNDS, step=10)], AGES),
        ],
        ids=["selections", "medians", "of two truths", "prices"],
    )
    def test_at_the_needed_epsilon_another_mechanism_is_as_accurate(self, mechanisms, data):
        comparison, compared = fx.compare(mechanisms, data), 0

        def value(law, epsilon):
            truth = None if comparison.measure == "loss" else law.truth
            return expected(law, epsilon, comparison.measure, truth)

        for row in comparison.rows:
            goal = row.accuracy.expected
            for needed, mechanism, other in zip(
                row.needs, mechanisms, comparison.rows, strict=True
            ):
                law = mechanism.law(data)
                if other is row:
                    assert needed == mechanism.epsilon
                elif needed is None:
                    assert value(law, 1e6) > goal
                elif needed > 1e-9:
                    compared += 1
                    assert value(law, needed) <= goal
                    assert value(law, needed / 1.0111) > goal
                    larger = needed * np.geomspace(1.001, 1e4, 30)
                    assert max(value(law, epsilon) for epsilon in larger) < goal
        assert compared >= 2

    def test_they_are_promised_ones(self):
        """Of top-k the total of all rounds, of the textbook's price half of the parameter."""
        rows = fx.compare([fx.TopK(3, 0.6, 1), fx.Exponential(0.1, 1)], COUNTS).rows
        assert rows[1].needs[0] == pytest.approx(0.3, rel=0.011)
        assert rows[0].needs[1] == pytest.approx(0.2, rel=0.011)
        prices = [fx.Price(1.0, **BOUNDS, step=1, scaling=s) for s in ("tight", "textbook")]
        rows = fx.compare(prices, AGES).rows
        assert [row.promise.epsilon for row in rows] == [1.0, 0.5]
        assert rows[0].needs == pytest.approx((1.0, 1.0), rel=0.011)
        assert rows[1].needs == pytest.approx((0.5, 0.5), rel=0.011)

    def test_there_is_none_where_no_epsilon_is_in_proportion_or_enough(self):
        curved = fx.TopK(2, 0.6, 1, delta=1e-6), fx.TopK(2, rho=0.1, sensitivity=1)
        for mechanism in curved:
            rows = fx.compare([mechanism, fx.Exponential(0.1, 1)], COUNTS, convert=True).rows
            assert rows[1].needs[0] is None
            assert rows[0].needs[1] > 0
        coarse, fine = (fx.Median(9.0, **BOUNDS, step=step) for step in (40, 1))
        assert fx.compare([coarse, fine], AGES).rows[1].needs[0] is None
        empty = fx.compare([coarse, fine], []).rows
        assert [row.needs for row in empty] == [(9.0, None), (None, 9.0)]


class TestPromises:
    ADDED, REPLACED = fx.Median(0.5, **BOUNDS), fx.Median(0.5, **BOUNDS, neighbors="replace")

    def test_of_two_relations_are_refused_or_converted(self):
        message = says(
            "neighbors: mechanisms of the same promise, got 'replace'", one="'add-remove'"
        )
        with pytest.raises(fx.ParameterError, match=says(message)):
            fx.compare([self.ADDED, self.REPLACED], AGES)
        first, second = fx.compare([self.ADDED, self.REPLACED], AGES, convert=True).rows
        assert (first.promise, second.promise) == (
            self.ADDED.guarantee.under("replace"),
            self.REPLACED.guarantee,
        )
        assert (first.promise.epsilon, second.promise.epsilon) == (1.0, 0.5)
        assert first.needs[0] == 1.0
        assert second.accuracy.promise.neighbors == "replace"
        assert first.accuracy.promise.neighbors == "add-remove"

    def test_converted_needs_are_of_the_converted_promises(self):
        """A replace median has half of the rate: at twice the parameter it is the other one."""
        first, second = fx.compare([self.ADDED, self.REPLACED], AGES, convert=True).rows
        law = self.REPLACED.law(AGES)
        again = expected(law, first.needs[1], "error", law.truth)
        assert again == pytest.approx(first.accuracy.expected, rel=0.011)
        law = self.ADDED.law(AGES)
        again = expected(law, second.needs[0] / 2, "error", law.truth)
        assert again == pytest.approx(second.accuracy.expected, rel=0.011)

    def test_of_two_deltas_are_refused_or_shown(self):
        smooth = fx.SmoothSensitivityMedian(0.5, **BOUNDS, noise="laplace", delta=1e-6)
        mechanisms = [smooth, self.REPLACED]
        with raises("delta: mechanisms of the same promise, got 1e-06", one="0.0"):
            fx.compare(mechanisms, AGES)
        comparison = fx.compare(mechanisms, AGES, convert=True)
        assert [row.promise.delta for row in comparison.rows] == [1e-6, 0.0]
        head = str(comparison).split("\n\n")[1].split("\n")[0]
        assert "delta" in head

    def test_for_both_relations_or_as_stated_they_go_with_any(self):
        price, bids = fx.Price(0.5, **BOUNDS, step=1), AGES
        assert fx.compare([price, price], bids).rows[0].promise.neighbors == "both"
        stated = fx.Laplace(0.5, 1, step=1)
        rows = fx.compare([self.ADDED, (stated, len)], bids).rows
        assert [row.promise.neighbors for row in rows] == ["add-remove", None]
        rows = fx.compare([self.ADDED, (stated, len), self.REPLACED], bids, convert=True).rows
        assert [row.promise.neighbors for row in rows] == ["replace"] * 3
        assert rows[1].promise.epsilon == 0.5  # as stated for replace


class TestNames:
    def test_say_what_differs(self):
        medians = [
            fx.Median(0.5, **BOUNDS, step=1),
            fx.Median(0.5, **BOUNDS, step=1, widen=2),
            fx.Median(0.5, **BOUNDS, step=10),
            fx.Median(0.25, **BOUNDS, step=1),
            fx.Median(0.25, **BOUNDS, step=1),
            fx.Maximum(0.5, **BOUNDS, step=1),
        ]
        assert [row.name for row in fx.compare(medians, AGES).rows] == [
            "median, epsilon 0.5, step 1",
            "median, epsilon 0.5, step 1, widen 2",
            "median, epsilon 0.5, step 10",
            "median, epsilon 0.25, step 1",
            "median, epsilon 0.25, step 1 (2)",
            "maximum",
        ]

    def test_are_those_of_a_dict(self):
        assert [row.name for row in fx.compare(KINDS, COUNTS).rows] == list(KINDS)


class TestShown:
    COMPARISON = fx.compare(KINDS, COUNTS)

    def test_with_a_warning_and_not_in_a_repr(self):
        comparison = self.COMPARISON
        assert repr(comparison) == "<Comparison of exponential; flip; noisy max>"
        figure = f"{comparison.rows[0].accuracy.expected:.4g}"
        for text in (str(comparison), comparison._repr_html_()):
            assert figure in text
            assert "Not private" in text
        assert max(map(len, str(comparison).split("\n"))) <= 80

    def test_as_plain_values(self):
        facts = json.loads(json.dumps(self.COMPARISON.as_dict()))
        assert (facts["measure"], facts["probability"]) == ("loss", 0.95)
        for row, wanted in zip(facts["rows"], self.COMPARISON.rows, strict=True):
            assert row["expected"] == wanted.accuracy.expected
            assert row["quantile"] == wanted.accuracy.quantiles[0.95]
            assert (row["epsilon"], row["delta"], row["neighbors"]) == (0.2, 0.0, None)
            assert row["rho"] == wanted.promise.rho
            assert list(row["needs"].values()) == list(wanted.needs)
            assert list(row["needs"]) == list(KINDS)

    def test_as_a_picture(self):
        pytest.importorskip("matplotlib")
        from matplotlib.figure import Figure

        axes = Figure().subplots()
        assert self.COMPARISON.plot(axes) is axes
        widths = [bar.get_width() for bar in axes.patches]
        assert widths == [row.accuracy.expected for row in self.COMPARISON.rows]
        (marks,) = (line.get_xdata().tolist() for line in axes.get_lines())
        assert marks == [row.accuracy.quantiles[0.95] for row in self.COMPARISON.rows]
        assert [label.get_text() for label in axes.get_yticklabels()] == list(KINDS)
        zero = fx.compare([fx.Median(9.0, **BOUNDS, step=s) for s in (1, 2)], [40] * 100).plot()
        assert not any(line.get_clip_on() for line in zero.get_lines())  # whole at 0
        far = [fx.Median(e, bounds=(0, 4e6), step=1000) for e in (0.01, 1.0)]
        ticks = fx.compare(far, range(100_000, 900_000, 1000)).plot()
        ticks.figure.draw_without_rendering()
        boxes = [tick.get_window_extent() for tick in ticks.get_xticklabels()]
        assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
        endless = fx.compare([fx.Median(1.0, **BOUNDS, step=1)] * 2, [math.inf])
        assert [bar.get_width() for bar in endless.plot().patches] == [0.0, 0.0]


@each(
    ("mechanisms", "data", "options", "message"),
    [
        ([], AGES, {}, "at least one mechanism"),
        (fx.Median(1.0, **BOUNDS), AGES, {}, "at least one mechanism"),
        (["median"], AGES, {}, "mechanisms or pairs, got str"),
        ([(fx.Median(1.0, **BOUNDS), 3)], AGES, {}, "mechanisms or pairs, got Median"),
        ([(fx.Median(1.0, **BOUNDS),)], AGES, {}, "mechanisms or pairs, got NoneType"),
        ([fx.Median(1.0, **BOUNDS), fx.Price(1.0, **BOUNDS)], AGES, {}, "mechanisms of one kind"),
        (KINDS, COUNTS, {"probability": 2}, "probability: from 0 to 1"),
        (KINDS, COUNTS, {"convert": 1}, "convert: true or false"),
        (KINDS, COUNTS, {"truth": 3}, "truth of a loss"),
        (KINDS, [fx.Exponential(1.0, 1.0).law([1.0, 2.0])], {}, "one law a mechanism, got 3"),
        (
            [KINDS["exponential"]],
            [fx.Exponential(2.0, 1.0).law([1.0, 2.0])],
            {},
            "laws of the mechanisms",
        ),
        (
            [KINDS["exponential"]],
            [fx.PermuteAndFlip(1.0, 1.0).law([1.0])],
            {},
            "laws of the mechanisms",
        ),
        (
            [fx.Median(1.0, grid=[*range(10), 20])],
            [fx.Median(1.0, grid=[*range(9), 9.5, 20]).law(AGES)],
            {},
            "laws of the mechanisms",
        ),
        (
            [fx.Median(1.0, grid=[*range(8), 8.5, 9.0, 20])],
            [fx.Median(1.0, grid=[*range(8), 8.5, 9.5, 20]).law(AGES)],
            {},
            "laws of the mechanisms",
        ),
        ([fx.ReportNoisyMax(1.0, 1.0, noise="laplace")], COUNTS, {}, "noise of a law"),
    ],
)
def test_what_does_not_fit_is_refused(mechanisms, data, options, message):
    with pytest.raises((fx.ParameterError, fx.ParameterTypeError), match=says(message)):
        fx.compare(mechanisms, data, **options)


class TestSeveralPlaces:
    """Top-k beside joint top-k has losses of the worst place, too, by draws."""

    COUNTS = (9, 7, 6, 2)
    JOINT, ROUNDS = fx.JointTopK(2, 1.0), fx.TopK(2, 1.0, 1.0, monotonic=True)

    def test_against_all_selections(self):
        law = self.ROUNDS.law(self.COUNTS)
        pairs = list(itertools.permutations(range(4), 2))
        masses = np.exp([law.log_probability(pair) for pair in pairs])
        losses = np.array([max(9 - self.COUNTS[i], 7 - self.COUNTS[j]) for i, j in pairs])
        mean = masses @ losses
        spread = math.sqrt(masses @ losses**2 - mean**2)
        joint, rounds = fx.compare([self.JOINT, self.ROUNDS], self.COUNTS).rows
        assert joint.accuracy == self.JOINT.accuracy(self.COUNTS, probability=0.95)
        assert rounds.name == "top-k, by draws"
        assert abs(rounds.accuracy.expected - mean) < 6 * spread / 100
        assert abs(rounds.accuracy.best - masses[losses == 0].sum()) < 0.03
        below = {t: masses[losses <= t].sum() for t in set(losses.tolist())}
        assert rounds.accuracy.quantiles[0.95] == min(t for t in below if below[t] > 0.95)
        first = law.first_place.expected_loss()
        assert mean - 6 * spread / 100 > first  # which is less than the worst place's
        assert rounds.needs == (rounds.needs[0], 1.0)
        assert joint.needs == (1.0, None)

    def test_the_epsilon_that_joint_top_k_needs(self):
        rounds = fx.compare([self.JOINT, self.ROUNDS], self.COUNTS).rows[1]
        enough = fx.JointTopK(2, rounds.needs[0]).law(self.COUNTS).expected_loss()
        assert enough == pytest.approx(rounds.accuracy.expected, rel=0.011)

    @pytest.mark.parametrize(
        "counts",
        [
            np.array([2**63 + 5, 2**63 + 9, 2**63, 1], np.uint64),
            np.array([2**63 - 5, 2**63 - 1, 2**63 - 10, -(2**63) + 1]),
        ],
    )
    def test_counts_whose_differences_are_beyond_their_type(self, counts):
        near = fx.compare([self.JOINT, self.ROUNDS], [14, 18, 9, 0]).rows[1].accuracy
        far = fx.compare([self.JOINT, self.ROUNDS], counts).rows[1].accuracy
        assert abs(far.expected - near.expected) < 0.2
        assert abs(far.best - near.best) < 0.03
        even = fx.TopK(2, 1.0, 2.0**70, monotonic=True)  # any two of them
        row = fx.compare([self.JOINT, even], counts).rows[1]
        assert row.accuracy.quantiles[0.95] == float(int(counts.max()) - int(counts.min()))

    def test_alone_top_k_has_those_of_its_first_place(self):
        (row,) = fx.compare([self.ROUNDS], self.COUNTS).rows
        assert row.name == "top-k"
        assert row.accuracy.expected == self.ROUNDS.law(self.COUNTS).first_place.expected_loss()

    def test_at_equal_rho(self):
        rounds = fx.TopK(2, rho=self.JOINT.guarantee.rho, sensitivity=1.0, monotonic=True)
        rows = fx.compare([self.JOINT, rounds], self.COUNTS).rows
        assert rows[0].promise.rho == rows[1].promise.rho == 0.125
