"""Does JointTopK count records of every form, of each group by itself, and draw by their law?"""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastexp as fx
from tests.messages import raises, says
from tests.support.each import each
from tests.support.goodness import counts_fit

DRINKS = ["tea", "milk", "rye", "ale"]
COUNTS = [9, 7, 6, 2]
CUPS = [drink for drink, count in zip(DRINKS, COUNTS, strict=True) for _ in range(count)]
TOP = fx.JointTopK(2, epsilon=1.0, candidates=DRINKS)
SURE = fx.JointTopK(2, epsilon=1e4, candidates=DRINKS)
BY = [1] * 12 + [2] * 12  # of the cups: tea, milk; rye, milk (4, 2 ale, 2)
PAIRS = list(permutations(range(4), 2))
FORMS = {
    "list": CUPS,
    "tuple": tuple(CUPS),
    "array": np.array(CUPS),
    "objects": np.array(CUPS, object),
    "pandas": pd.Series(CUPS),
    "categories": pd.Series(CUPS, dtype="category"),
    "polars": pl.Series(CUPS),
    "arrow": pa.array(CUPS),
    "dictionary": pa.array(CUPS).dictionary_encode(),
    "chunks": pa.chunked_array([CUPS[:5], CUPS[5:]]),
    "others too": [*CUPS, "wine", None],
    "mapping": dict(zip(DRINKS[::-1], COUNTS[::-1], strict=True)),
    "value_counts": pd.Series(CUPS).value_counts(),
    "counts": COUNTS,
    "counts in an array": np.array(COUNTS, np.int32),
    "counts in a series": pd.Series(COUNTS),
    "counts in polars": pl.Series(COUNTS),
}


def probabilities(mechanism, counts):
    law = mechanism.law(counts)
    return np.array([math.exp(law.log_probability(pair)) for pair in PAIRS])


def tallied(draws):
    return np.array([(draws == pair).all(axis=1).sum() for pair in PAIRS])


class TestForms:
    @pytest.mark.engines
    @each("form", FORMS)
    def test_all_are_the_same_counts(self, form):
        draws = TOP.sample(FORMS[form], size=50, rng=3)
        np.testing.assert_array_equal(draws, TOP.sample(COUNTS, size=50, rng=3))
        assert TOP.law(FORMS[form]).log_normalizer == TOP.law(COUNTS).log_normalizer
        assert TOP.accuracy(FORMS[form]).expected == TOP.accuracy(COUNTS).expected
        assert SURE.release(FORMS[form]) == ["tea", "milk"]
        budget = fx.Budget(epsilon=1e9)
        assert SURE.release(FORMS[form], budget=budget) == ["tea", "milk"]
        assert budget.spent == fx.Budget(epsilon=1e9).spent + 1e4

    def test_no_records_are_counts_of_0(self):
        assert TOP.law([]).expected_loss() == TOP.law([0, 0, 0, 0]).expected_loss() == 0.0

    def test_rows_of_records_and_of_counts(self):
        want = [["tea", "milk"], ["ale", "rye"]]
        assert SURE.release([COUNTS, [0, 1, 2, 9]]) == want
        assert SURE.release(np.array([COUNTS, [0, 1, 2, 9]])) == want
        records = pa.array([CUPS, ["ale"] * 9 + ["rye"] * 2])
        assert SURE.release(records) == want

    def test_numbers_as_candidates_are_told_from_counts(self):
        numbered = fx.JointTopK(2, epsilon=1e4, candidates=[1, 2, 3])
        assert numbered.release(Counter([3, 3, 3, 1, 1, 2])) == [3, 1]
        assert numbered.release([3, 3, 3, 1, 1, 2], by=[5] * 6, groups=[5]) == [[3, 1]]
        for data in ([3, 3, 1], np.array([3, 3, 1]), [[3, 3, 1]]):
            for verb in (numbered.release, numbered.sample, numbered.law):
                with raises("counts of numeric candidates"):
                    verb(data)

    @each(
        ("mechanism", "data", "more", "message"),
        [
            (
                fx.JointTopK(2, 1.0),
                COUNTS,
                {"by": [1] * 4, "groups": [1]},
                "groups without candidates",
            ),
            (fx.JointTopK(2, 1.0, 2.0, candidates=DRINKS), CUPS, {}, "sensitivity of records"),
            (TOP, dict.fromkeys(DRINKS, 3), {"person": [1] * 4}, "what goes with records"),
        ],
    )
    def test_refusals(self, mechanism, data, more, message):
        for verb in (mechanism.release, mechanism.sample):
            with pytest.raises(fx.ParameterError, match=says(message)):
                verb(data, **more)

    def test_a_query_refuses_what_takes_no_records(self):
        budget = fx.Budget(epsilon=9.0)
        for mechanism in (fx.JointTopK(2, 1.0), fx.JointTopK(2, 1.0, 0.5, candidates=DRINKS)):
            with raises("groups without candidates", "sensitivity of records"):
                fx.Query().release({"x": CUPS}, {"top": (mechanism, "x")}, budget=budget)
        assert budget.charges == 0


class TestGroups:
    @pytest.mark.statistical
    def test_draws_have_the_law_of_each_group(self):
        draws = TOP.sample(CUPS, 20_000, by=BY, groups=[2, 1, 3], rng=8)
        assert draws.shape == (3, 20_000, 2)
        for group, counts in zip(draws, ([0, 4, 6, 2], [9, 3, 0, 0], [0] * 4), strict=True):
            assert counts_fit(tallied(group), probabilities(TOP, counts))
        other = fx.JointTopK(2, epsilon=1.1, candidates=DRINKS)
        assert not counts_fit(tallied(draws[0]), probabilities(other, [0, 4, 6, 2]))

    @pytest.mark.statistical
    def test_so_have_releases_with_and_without_a_key(self):
        """One draw a group, of groups with the same records."""
        by = np.repeat(np.arange(5_000), len(CUPS))
        for more in ({}, {"key": fx.release_key(), "label": "cups"}):
            drawn = TOP.release(CUPS * 5_000, by=by, groups=range(5_000), **more)
            places = np.array([[DRINKS.index(drink) for drink in pair] for pair in drawn])
            assert counts_fit(tallied(places), probabilities(TOP, COUNTS))

    def test_one_place_is_the_most_common(self):
        for neighbors in ("add-remove", "replace"):
            one = fx.JointTopK(1, 0.3, neighbors=neighbors, candidates=DRINKS)
            same = fx.MostCommon(0.3, DRINKS, neighbors=neighbors)
            drawn = one.sample(CUPS, 40, by=BY, groups=[1, 2], rng=4)
            assert drawn.shape == (2, 40, 1)
            np.testing.assert_array_equal(
                drawn[..., 0], same.sample(CUPS, 40, by=BY, groups=[1, 2], rng=4)
            )

    def test_a_groups_draws_are_its_own(self):
        """Whatever the other groups, the order of records, the threads."""
        alone = TOP.sample(CUPS[12:], 9, by=BY[12:], groups=[2], rng=6)
        together = TOP.sample(CUPS[::-1], 9, by=BY[::-1], groups=[1, 3, 2], rng=6, threads=2)
        np.testing.assert_array_equal(alone[0], together[2])
        assert (together[0] != together[2]).any()
        whole = TOP.sample(CUPS, offsets=[0, 12, 24], rng=6)
        assert whole.shape == (2, 2)

    def test_a_key_repeats(self):
        key = fx.release_key()
        first = TOP.release(CUPS, by=BY, groups=[1, 2], key=key, label="a")
        again = TOP.release(CUPS[::-1], by=BY[::-1], groups=[2, 1], key=key, label="a")
        assert first == again[::-1]
        labels = [f"label {i}" for i in range(20)]
        others = [TOP.release(CUPS, by=BY, groups=[1, 2], key=key, label=name) for name in labels]
        assert any(other != first for other in others)

    def test_persons_are_bounded_and_charged(self):
        budget = fx.Budget(epsilon=100.0)
        person = [*range(12)] * 2
        top = fx.JointTopK(2, epsilon=3.0, candidates=DRINKS)
        limits = {"person": person, "max_groups": 2, "max_rows": 2}
        assert len(top.release(CUPS, by=BY, groups=[1, 2], budget=budget, **limits)) == 2
        assert budget.spent == 3.0 * 4 == top.total(groups=True, max_groups=2, max_rows=2).epsilon
        one = SURE.sample(["tea"] * 50 + ["milk", "ale", "ale"], person=[0] * 50 + [1, 2, 3], rng=1)
        assert one.tolist() == [3, 0] or one.tolist() == [3, 1]

    def test_groups_of_the_data(self):
        with pytest.warns(fx.PrivacyWarning):
            groups, answers = SURE.release(CUPS, by=BY, groups="from-data")
        assert (groups, answers) == ([1, 2], [["tea", "milk"], ["rye", "milk"]])
        names, indices = SURE.sample(CUPS, by=BY, groups="from-data", rng=1, labels=True)
        assert (names, indices) == (groups, answers)


class TestQueries:
    ROWS = pa.table({"g": BY, "cup": CUPS})
    QUERY = fx.Query(by="g", groups=[2, 1])
    ASKED = {"top": (SURE, "cup")}  # noqa: RUF012  # only read

    def test_lists_and_columns(self):
        found = self.QUERY.release(self.ROWS, self.ASKED).to_pydict()
        assert found == {"g": [2, 1], "top": [["rye", "milk"], ["tea", "milk"]]}
        found = self.QUERY.release(self.ROWS, self.ASKED, expand=True).to_pydict()
        assert found == {"g": [2, 1], "top_1": ["rye", "tea"], "top_2": ["milk", "milk"]}

    @pytest.mark.engines
    def test_the_same_bytes_by_key_of_every_form(self):
        key = fx.release_key()
        asked = {"top": (TOP, "cup")}
        direct = TOP.release(CUPS, by=BY, groups=[2, 1], key=key, label="a")
        for rows in (self.ROWS, self.ROWS.to_pandas(), pl.DataFrame(self.ROWS)):
            found = self.QUERY.release(rows, asked, key=key, label="a")["top"]
            lists = found.to_pylist() if isinstance(rows, pa.Table) else map(list, found)
            assert list(lists) == direct

    def test_accuracy_is_that_of_the_law(self):
        found = self.QUERY.accuracy(self.ROWS, {"top": (TOP, "cup")}).to_pydict()
        laws = [TOP.law([0, 4, 6, 2]), TOP.law([9, 3, 0, 0])]
        assert found["expected"] == pytest.approx([law.expected_loss() for law in laws])
        assert found["best"] == pytest.approx([law.loss_cdf(0) for law in laws])
        assert found["n"] == [12, 12]
