"""Do sums and quantile sketches merge exactly, in any order, in constant memory?"""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fastexp as fx
from fastexp import StudyResults
from tests.doors.studies import ExactMoments, Figure, Totals, root, run_task, sketch
from tests.messages import raises
from tests.support.each import each
from tests.support.small_study import TASKS, small


class TestExactSums:
    @each("value", [math.inf, -math.inf, math.nan])
    def test_only_finite_numbers_have_sums(self, value):
        with pytest.raises((OverflowError, ValueError)):
            Figure().add({"sums": {"difference": value}}, 1)

    def test_roots(self):
        assert root(Fraction(-1, 10**20)) == 0.0
        assert root(Fraction(9, 4)) == 1.5


GROUPS = st.lists(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=9), min_size=1)


class TestExactMoments:
    @pytest.mark.slow
    @given(GROUPS, st.randoms(use_true_random=False))
    def test_of_groups_in_any_order(self, groups, random):
        """Where the mean is large, sums of squares in doubles would have no digits left."""
        groups = [[float(v + 10**12) for v in group] for group in groups]
        found, again = ExactMoments(), ExactMoments()
        for made in (found, again):
            for group in groups:
                middle = math.fsum(group) / len(group)
                squares = math.fsum((v - middle) ** 2 for v in group)
                made.add(len(group), math.fsum(group), squares)
            random.shuffle(groups)
        values = [Fraction(v) for group in groups for v in group]
        middle = sum(values) / len(values)
        assert found.mean == again.mean == float(middle)
        assert found.deviation == again.deviation
        if len(values) == 1:
            assert found.deviation is None
        else:
            variance = sum((v - middle) ** 2 for v in values) / (len(values) - 1)
            assert found.deviation == pytest.approx(math.sqrt(variance), rel=1e-9, abs=2e-4)

    def test_equal_numbers_have_no_spread(self):
        made = fx.Study(
            name="t",
            data={"name": "leader", "lead": 3},
            n=10,
            mechanisms=["exponential"],
            epsilon=0.7,
            figures="loss",
            datasets=100,
            draws=0,
            block=30,
        )
        (row,) = made.run(workers=1).rows
        assert 0 <= row["exact_sd"] <= 1e-15 * row["exact"]


COUNTS = st.integers(0, 1 << 49)


class TestBins:
    @staticmethod
    def of(rows: list[Any]) -> list[int]:
        figure = Figure()
        for row in rows:
            figure.add({"bins": {"drawn": sketch.packed(np.resize(np.array(row), sketch.BINS))}}, 1)
        return figure.bins["drawn"].tolist()

    @pytest.mark.slow
    @given(st.lists(st.lists(COUNTS, min_size=7, max_size=7), min_size=1, max_size=5))
    def test_they_add_in_any_order(self, rows):
        columns = [sum(column) for column in zip(*rows, strict=True)]
        assert self.of(rows)[:7] == columns
        assert self.of(rows) == self.of(rows[::-1])

    def test_more_than_an_int64_holds(self):
        assert self.of([[1 << 62]] * 5) == [5 << 62] * sketch.BINS

    @each("values", [[0, 0, 3, 0, 5, 0], [1, 0], [0, 0]])
    def test_packing_keeps_all(self, values):
        indices, held = sketch.packed(np.array(values))
        assert all(held)
        unpacked = np.zeros(len(values), np.int64)
        unpacked[indices] = held
        assert unpacked.tolist() == values

    def test_expected_numbers_are_rounded_to_2_to_the_minus_30(self):
        masses = np.array([0.0, 0.3, 2.0**-30, 1e-12, 1024.0, -1e-17])
        assert sketch.quanta(masses).tolist() == [0, round(0.3 * 2**30), 1, 0, 1 << 40, 0]


class TestSketch:
    @each("most", [1.0, 20.0, 3e-7, 1e9])
    def test_edges(self, most):
        edges = sketch.edges_below(most)
        assert edges[0] == 0
        assert edges[-1] >= most
        assert edges[-1] <= 2 * most
        ratios = edges[2:] / edges[1:-1]
        assert ratios.max() < 1.002712  # 2 ** (1 / 256)
        assert ratios.min() > 1.002711
        assert edges[-1] / edges[1] == pytest.approx(2.0**40)
        assert not edges.flags.writeable

    def test_counts_go_where_the_edges_say(self):
        edges = np.array([0.0, 1.0, 2.0, 4.0])
        values = np.array([[0.0, 0.5, 1.0, 1.5], [2.0, 4.0, 9.0, 0.0]])
        assert sketch.counts(values, edges).tolist() == [2, 2, 2, 1, 1]

    @pytest.mark.slow
    @each("p", [0.01, 0.25, 0.5, 0.95, 0.999])
    @each("law", ["exponential", "lognormal", "uniform", "pareto"])
    def test_quantiles_of_large_samples(self, law, p):
        random = np.random.default_rng(5)
        sample = {
            "exponential": lambda: random.exponential(3.0, 10**6),
            "lognormal": lambda: random.lognormal(0, 2, 10**6),
            "uniform": lambda: random.uniform(0, 7, 10**6),
            "pareto": lambda: random.pareto(1.5, 10**6),
        }[law]()
        edges = sketch.edges_below(float(sample.max()))
        cumulative = np.cumsum(sketch.counts(sample, edges)).astype(float)
        found = sketch.quantile(cumulative, edges, p, 0.0)
        assert found == pytest.approx(np.quantile(sample, p), rel=4e-3)

    @pytest.mark.slow
    @given(st.lists(st.floats(1e-9, 1e3), min_size=1), st.integers(100, 9899))
    def test_never_more_than_a_bin_away(self, values, level):
        """Whatever the sample: the 0.27 % of one bin. Levels are not near to multiples of 1/n."""
        p = (level + math.sqrt(0.5)) / 10**4
        sample, edges = np.array(values), sketch.edges_below(1e3)
        cumulative = np.cumsum(sketch.counts(sample, edges)).astype(float)
        true = float(np.quantile(sample, p, method="inverted_cdf"))
        assert sketch.quantile(cumulative, edges, p, 0.0) == pytest.approx(true, rel=0.002712)

    @each("law", [stats.expon(scale=2), stats.lognorm(1), stats.randint(1, 90)])
    def test_laws_are_evaluated_where_their_mass_is(self, law):
        """With a fraction of the evaluations, bins have the law's mass, up to 1e-6 a group."""
        edges, asked = sketch.edges_below(1e3), []

        def below(at):
            asked.extend(at)
            return 7 * law.cdf(at)

        found = np.cumsum(sketch.masses(below, 7, edges, 1e-6)) / sketch.UNIT
        assert found[-1] == pytest.approx(7)
        assert np.abs(found[:-1] - 7 * law.cdf(edges)).max() < 7.1e-6
        assert len(asked) < 0.6 * edges.size

    @each("p", [0.1, 0.3, 0.5, 0.9, 0.99])
    @each("resolution", [0.5, 1.0])
    def test_multiples_of_a_resolution_are_met(self, p, resolution):
        sample = resolution * np.random.default_rng(5).geometric(0.15, 10**5)
        edges = sketch.edges_below(1e3)
        cumulative = np.cumsum(sketch.counts(sample, edges)).astype(float)
        true = float(np.quantile(sample, p, method="inverted_cdf"))
        assert sketch.quantile(cumulative, edges, p, resolution) == true

    def test_errors_of_zero(self):
        edges = sketch.edges_below(10.0)
        cumulative = np.cumsum(sketch.counts(np.array([0.0, 0.0, 0.0, 5.0]), edges)).astype(float)
        assert sketch.quantile(cumulative, edges, 0.75, 0.0) == 0.0
        assert sketch.quantile(cumulative, edges, 0.76, 0.0) > 4.7


def rows_of(study: fx.Study, order: Any) -> str:
    """The table of tasks that are added in an order."""
    totals, blocks = Totals(study), study.tasks // 4
    for number in order:
        totals.add(run_task(study, number), number // blocks)
    return StudyResults(study, totals).to_csv()


class TestMerging:
    @pytest.mark.slow
    def test_order_does_not_count(self):
        study = small()
        order = np.random.default_rng(1).permutation(TASKS).tolist()
        assert rows_of(study, range(TASKS)) == rows_of(study, order)

    def test_what_is_not_of_the_study_is_refused(self):
        totals, result = Totals(small()), run_task(small(), 0)
        with raises("result of another study"):
            totals.add({**result, "cells": result["cells"][:-1]}, 0)
        result["cells"][0]["error"]["moments"]["exact"][0] = math.nan
        with raises("infinite figure"):
            totals.add(result, 0)

    @pytest.mark.slow
    @pytest.mark.parametrize(("figure", "many"), [("error", 5_000), ("error_quantile", 2000)])
    def test_memory_does_not_grow_with_the_data_sets(self, figure, many):
        def peak(datasets: int) -> int:
            study = small(**how, datasets=datasets)
            tracemalloc.start()
            try:
                study.run(workers=1)
                return tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

        how: dict[str, Any] = {"data": "normal", "n": 3, "block": 200, "draws": 2}
        how |= {"figures": figure, "epsilon": 1.0, "mechanisms": ["median"]}
        small(**how, datasets=200).run(workers=1)  # what is compiled, imported or kept once
        assert peak(many) < 1.2 * peak(1000)  # of more tasks than are in flight
