"""`Median` and `Quantile` with a private total: are draws and figures those of `Quantiles`?"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from tests.messages import raises

SETTINGS: dict[str, Any] = {"epsilon": 0.5, "bounds": (0, 50), "step": 0.5}
RECORDS = np.random.default_rng(1).integers(0, 50, 120)
PAIRS = [
    (fx.Median(**SETTINGS, with_total=True), fx.Quantiles([0.5], **SETTINGS, with_total=True)),
    (
        fx.Quantile(Fraction(2, 3), **SETTINGS, with_total=True),
        fx.Quantiles([Fraction(2, 3)], **SETTINGS, with_total=True),
    ),
]
BY = {"by": np.repeat([3, 1, 2], 40), "groups": [1, 2, 3, 4]}


@pytest.mark.parametrize(("single", "several"), PAIRS, ids=["median", "quantile"])
class TestQuantilesOfOne:
    @pytest.mark.parametrize("size", [None, 3])
    @pytest.mark.parametrize("call", [{}, BY, {"offsets": [0, 50, 120]}], ids=str)
    def test_draws_are_those_of_quantiles(
        self, single: Any, several: Any, size: int | None, call: dict[str, Any]
    ) -> None:
        values, totals = single.sample(RECORDS, size, rng=7, **call)
        expected, expected_totals = several.sample(RECORDS, size, rng=7, **call)
        np.testing.assert_array_equal(values, np.asarray(expected)[..., 0])
        np.testing.assert_array_equal(totals, expected_totals)

    def test_rows(self, single: Any, several: Any) -> None:
        rows = RECORDS.reshape(4, 30)
        values, totals = single.sample(rows, 2, rng=7)
        expected, expected_totals = several.sample(rows, 2, rng=7)
        np.testing.assert_array_equal(values, expected[..., 0])
        np.testing.assert_array_equal(totals, expected_totals)

    def test_its_law_is_that_of_quantiles(self, single: Any, several: Any) -> None:
        law, expected = single.law(RECORDS), several.law(RECORDS)
        assert law.marginal(0).pmf(RECORDS).tolist() == expected.marginal(0).pmf(RECORDS).tolist()
        assert law.truth.tolist() == expected.truth.tolist()
        for drawn, sampled in zip(
            law.sample(5, rng=3), single.sample(RECORDS, 5, rng=3), strict=True
        ):
            np.testing.assert_array_equal(drawn, sampled)

    def test_figures_are_those_of_quantiles(self, single: Any, several: Any) -> None:
        rows = RECORDS.reshape(4, 30)
        (expected,) = several.accuracy(RECORDS)
        assert single.accuracy(RECORDS).expected == expected.expected
        by_law = [several.law(row).expected_error() for row in rows]
        np.testing.assert_allclose(fx.expected_errors(rows, [single]), by_law, rtol=1e-12)
        (row,) = fx.compare([single], RECORDS).rows
        assert row.accuracy.expected == expected.expected
        like = {"name": "normal", "mean": 20, "sd": 9}
        enough = [
            fx.epsilon_for(one, like=like, n=200, expected_error=4, datasets=3).worst
            for one in (single, several)
        ]
        assert enough[0] == enough[1]

    def test_a_query_has_a_column_for_each(self, single: Any, several: Any) -> None:
        frame = {"x": RECORDS, "by": BY["by"]}
        query = fx.Query(by="by", groups=BY["groups"])
        answers = query.release(frame, {"x": (single, "x")}, expand=True)
        assert list(answers) == ["by", f"x_{float(several.q[0])}", "x_total"]
        drawn, expected = (
            query.sample(frame, {"x": (one, "x")}, size=2, rng=1)["x"].tolist()
            for one in (single, several)
        )
        assert drawn == expected

    def test_its_total_decides_which_groups_appear(self, single: Any, several: Any) -> None:
        groups = fx.PrivateGroups(delta=1e-3)
        keys = np.repeat([3, 1], [110, 10])
        names, (values, totals) = single.release(RECORDS, by=keys, groups=groups)
        assert names == [3]
        assert totals[0] >= groups.threshold(0.5)
        assert 0 <= values[0] <= 50
        query = fx.Query(by="by", groups=groups)
        frame = {"x": RECORDS, "by": keys}
        appears = [
            query.accuracy(frame, {"x": (one, "x")})["appears"].tolist()
            for one in (single, several)
        ]
        assert appears[0] == appears[1]

    def test_a_kept_answer(self, single: Any, several: Any) -> None:
        budget = fx.Budget(epsilon=0.5)
        first = single.release(RECORDS, budget=budget, label="a")
        assert single.release([], budget=budget, label="a") == first
        assert type(first[1]) is int
        assert single.guarantee == several.guarantee


class TestPublicParameters:
    def test_what_does_not_go_with_a_total(self) -> None:
        with raises("total without its neighbors"):
            fx.Median(**SETTINGS, with_total=True, neighbors="replace")
        for other in ({"convention": "lower"}, {"widen": 1}):
            with raises("what goes with a total"):
                fx.Median(**SETTINGS, with_total=True, **other)
        with raises("within limits", name="epsilon", low="1e-15", high="1024", number="2000.0"):
            fx.Quantile(0.5, **(SETTINGS | {"epsilon": 2e3}), with_total=True)
        with raises("density with a total"):
            PAIRS[0][0].continuous_law(RECORDS)

    def test_without_a_total_it_is_the_mechanism_that_it_was(self) -> None:
        plain = fx.Median(**SETTINGS)
        assert plain == fx.Median(**SETTINGS, with_total=False) != PAIRS[0][0]
        assert repr(PAIRS[0][0]).endswith("with_total=True)")
        assert isinstance(plain.release(RECORDS), float)
