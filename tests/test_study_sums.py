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

import fastexp as fx
from fastexp.studies import sketch
from fastexp.studies.merge import Bins, Totals
from fastexp.studies.results import StudyResults
from fastexp.studies.sums import ExactSums, deviation, mean, root
from fastexp.studies.task import run_task, tasks_of
from tests.small_study import TASKS, small

FINITE = st.floats(allow_nan=False, allow_infinity=False)


class TestExactSums:
    @given(st.lists(st.tuples(FINITE, FINITE), min_size=1), st.randoms(use_true_random=False))
    def test_order_does_not_count(self, rows, random):
        sums = ExactSums(2)
        for row in rows:
            sums.add(row)
        shuffled, again = rows.copy(), ExactSums(2)
        random.shuffle(shuffled)
        for row in shuffled:
            again.add(row)
        assert sums.totals == again.totals
        assert sums[0] == sum(map(Fraction, (a for a, _ in rows)))
        assert sums[1] == sum(map(Fraction, (b for _, b in rows)))

    @given(st.lists(st.floats(-1e300, 1e300), min_size=1))
    def test_rounded_once_they_are_fsum(self, values):
        sums = ExactSums(1)
        for value in values:
            sums.add([value])
        assert float(sums[0]) == math.fsum(values)

    def test_numbers_of_all_sizes(self):
        sums = ExactSums(1)
        for value in (1e308, 5e-324, -1e308, 1.0, -1.0, 5e-324):
            sums.add([value])
        assert sums[0] == Fraction(2, 2**1074)

    @pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
    def test_only_finite_numbers_have_sums(self, value):
        with pytest.raises((OverflowError, ValueError)):
            ExactSums(1).add([value])

    def test_as_many_values_as_sums(self):
        with pytest.raises(ValueError, match="zip"):
            ExactSums(2).add([1.0])

    @given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=50))
    def test_moments(self, values):
        """Where the mean is large, sums of squares in doubles would have no digits left."""
        shifted = [Fraction(v) + 10**12 for v in values]
        total, squares, count = sum(shifted), sum(v * v for v in shifted), len(values)
        middle = total / count
        variance = sum((v - middle) ** 2 for v in shifted) / (count - 1)
        assert mean(Fraction(total), count) == float(middle)
        found = deviation(Fraction(total), Fraction(squares), count)
        assert found == pytest.approx(math.sqrt(variance), rel=1e-15)

    def test_corners(self):
        assert math.isnan(deviation(Fraction(1), Fraction(1), 1))
        assert root(Fraction(-1, 10**20)) == 0.0
        assert root(Fraction(9, 4)) == 1.5


class TestBins:
    @given(st.lists(st.lists(FINITE.map(abs), min_size=7, max_size=7), min_size=1, max_size=5))
    def test_bins_are_exact_sums(self, rows):
        bins, back = Bins(), Bins()
        for row in rows:
            bins.add(sketch.packed(np.array(row)))
        for row in reversed(rows):
            back.add(sketch.packed(np.array(row)))
        exact = [sum(map(Fraction, column)) for column in zip(*rows, strict=True)]
        if max(exact) < Fraction(2) ** 1023:
            assert bins.dense(7).tolist() == [float(number) for number in exact]
            assert bins.dense(7).tobytes() == back.dense(7).tobytes()

    @given(st.lists(FINITE, min_size=1, max_size=20))
    def test_packing_keeps_all_bits(self, values):
        first, held = sketch.unpacked(sketch.packed(np.array(values)))
        full = [0.0] * first + held
        full += [0.0] * (len(values) - len(full))
        assert full == values
        assert first == next((i for i, v in enumerate(values) if v != 0), 0)

    def test_nothing_is_packed_of_empty_bins(self):
        assert sketch.packed(np.zeros(9)) == [0, ""]
        assert sketch.unpacked([0, ""]) == (0, [])


class TestSketch:
    @pytest.mark.parametrize("most", [1.0, 20.0, 3e-7, 1e9])
    def test_edges(self, most):
        edges = sketch.edges_below(most)
        assert edges[0] == 0
        assert edges[-1] >= most
        assert edges[-1] <= 2 * most
        ratios = edges[2:] / edges[1:-1]
        assert ratios.max() < 1.0443  # 2 ** (1 / 16)
        assert ratios.min() > 1.0442
        assert edges[-1] / edges[1] == pytest.approx(2.0**40)
        assert not edges.flags.writeable

    def test_counts_go_where_the_edges_say(self):
        edges = np.array([0.0, 1.0, 2.0, 4.0])
        values = np.array([[0.0, 0.5, 1.0, 1.5], [2.0, 4.0, 9.0, 0.0]])
        assert sketch.counts(values, edges).tolist() == [2, 2, 2, 2]

    @pytest.mark.parametrize("p", [0.01, 0.25, 0.5, 0.95, 0.999])
    @pytest.mark.parametrize("law", ["exponential", "lognormal", "uniform", "pareto"])
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

    @given(st.lists(st.floats(1e-9, 1e3), min_size=1), st.floats(0.01, 0.99))
    def test_never_more_than_a_bin_away(self, values, p):
        """Whatever the sample: the 4.4 % of one bin."""
        sample, edges = np.array(values), sketch.edges_below(1e3)
        cumulative = np.cumsum(sketch.counts(sample, edges)).astype(float)
        true = float(np.quantile(sample, p, method="inverted_cdf"))
        assert sketch.quantile(cumulative, edges, p, 0.0) == pytest.approx(true, rel=0.0443)

    @pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.9, 0.99])
    @pytest.mark.parametrize("resolution", [0.5, 1.0])
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
    totals, blocks = Totals(study), tasks_of(study) // 4
    for number in order:
        totals.add(run_task(study, number), number // blocks)
    return StudyResults(study, totals).to_csv()


class TestMerging:
    def test_order_does_not_count(self):
        study = small()
        order = np.random.default_rng(1).permutation(TASKS).tolist()
        assert rows_of(study, range(TASKS)) == rows_of(study, order)

    def test_what_is_not_of_the_study_is_refused(self):
        totals, result = Totals(small()), run_task(small(), 0)
        with pytest.raises(fx.errors.StudyError, match="not one of this study"):
            totals.add({**result, "cells": result["cells"][:-1]}, 0)
        result["cells"][0]["error"]["sums"][0] = math.nan
        with pytest.raises(fx.errors.StudyError, match="infinite or not a number"):
            totals.add(result, 0)

    @pytest.mark.parametrize(("figure", "many"), [("error", 20_000), ("error_quantile", 2000)])
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
        assert peak(many) < 1.2 * peak(200)
