"""Are mechanisms and figures of a user's asked, checked and compared as those of fastexp are?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fastexp as fx
from tests.messages import raises, says
from tests.support.each import each


class Plain:
    """A median with wide noise: nothing but a name and draws."""

    scale = 2.0

    def __init__(self, name: str = "plain") -> None:
        self.name = name

    def sample(self, data: Any, epsilon: float, size: int, rng: Any) -> Any:
        return np.median(data) + rng.laplace(0, self.scale / epsilon, size)


class WithTruth(Plain):
    def __init__(self, name: str = "with truth") -> None:
        super().__init__(name)

    def truth(self, data: Any) -> float:
        return float(np.median(data))


class Exact:
    """The library's own median in a user's hands: draws and laws."""

    name = "exact"

    def at(self, epsilon: float) -> fx.Median:
        return fx.Median(epsilon=epsilon, bounds=(0, 120), step=1, convention="lower")

    def sample(self, data: Any, epsilon: float, size: int, rng: Any) -> Any:
        return self.at(epsilon).sample(data, size, rng=int(rng.integers(2**63)))

    def law(self, data: Any, epsilon: float) -> Any:
        return self.at(epsilon).law(data)

    def promise(self, epsilon: float) -> fx.Guarantee:
        return self.at(epsilon).guarantee


class Lying(Exact):
    """Draws at half of the epsilon that its law has."""

    def sample(self, data: Any, epsilon: float, size: int, rng: Any) -> Any:
        return super().sample(data, epsilon / 2, size, rng)


class Flip:
    name = "flip"
    takes = "utilities"

    def sample(self, data: Any, epsilon: float, size: int, rng: Any) -> Any:
        return fx.PermuteAndFlip(epsilon, 1).sample(data, size, rng=int(rng.integers(2**63)))

    def law(self, data: Any, epsilon: float) -> Any:
        return fx.PermuteAndFlip(epsilon, 1).law(data)


def off_by_two(answers: Any, truth: float) -> Any:
    return np.abs(answers - truth) > 2


def study(*mechanisms: Any, **changes: Any) -> fx.Study:
    settings: dict[str, Any] = {"name": "s", "epsilon": 1.0, "data": "ages", "n": 41, "draws": 40}
    return fx.Study(**{**settings, "mechanisms": mechanisms, "datasets": 30, **changes})


def rows(*mechanisms: Any, **changes: Any) -> list[dict[str, Any]]:
    return study(*mechanisms, **changes).run(workers=1).rows


class TestSubjects:
    def test_a_law_gives_exact_figures_that_draws_check(self):
        figures = ("error", "bias", "error_quantile")
        ours = {"name": "median", "step": 1, "convention": "lower"}
        found = rows(Exact(), ours, figures=figures, bounds=(0, 120))
        mine, named = found[: len(found) // 2], found[len(found) // 2 :]
        for one, other in zip(mine, named, strict=True):
            assert one["agree"] is True
            close = 0.003 if one["level"] else 1e-9  # bins of quantiles are 0.27 % wide
            assert one["exact"] == pytest.approx(other["exact"], rel=close)
            assert one["promised_epsilon"] == other["promised_epsilon"]
            assert one["neighbors"] == other["neighbors"]

    def test_draws_of_another_law_are_noticed(self):
        assert [row["agree"] for row in rows(Lying(), draws=2000)] == [False]

    def test_draws_alone(self):
        (row,) = rows(WithTruth(), draws=400)
        assert row["exact"] is None
        assert row["promised_epsilon"] is None
        assert row["low"] < 2.0 < row["high"]  # of 12,000 draws: E|Laplace(2)|

    def test_without_truth_there_are_figures_of_ones_own_only(self):
        with raises("figures that a mechanism has, got none without truth..."):
            study(Plain())
        (row,) = rows(Plain(), figures={"old": lambda answers, _truth: answers > 20})
        assert 0.9 < row["monte_carlo"] <= 1

    def test_quantiles_need_bounds(self):
        with raises("figures that a mechanism has, got error, bias..."):
            study(WithTruth(), figures="error_quantile")
        (row, _) = rows(WithTruth(), figures="error_quantile", bounds=(0, 120))
        assert row["low"] < row["monte_carlo"] < row["high"]

    def test_quantiles_beyond_the_bounds(self):
        """Answers need not be clamped; what is too far is missing, and the table says so."""
        how = {"figures": "error_quantile", "levels": 0.95, "draws": 200}
        (row,) = rows(WithTruth(), epsilon=0.01, bounds=(0, 120), **how)
        assert row["monte_carlo"] == pytest.approx(200 * np.log(20), rel=0.1)
        results = study(WithTruth(), "median", epsilon=[1e-6, 1.0], bounds=(0, 120), **how).run()
        assert results.rows[0]["monte_carlo"] is None
        note = results.table().note
        assert note.endswith("Quantiles that are missing are too far beyond the bounds.")
        near = study(WithTruth(), bounds=(0, 120), **how).run()
        assert "missing" not in near.table().note

    def test_selections(self):
        found = rows(Flip(), "permute-and-flip", data="votes", n=5, figures=["error", "loss"])
        assert [row["agree"] for row in found] == [True] * 4
        assert [row["exact"] for row in found[:2]] == [row["exact"] for row in found[2:]]

    def test_blocks_and_neighbours_do_not_count(self):
        """Draws of a data set depend on its number, the mechanism and epsilon alone."""
        data = {"function": lambda rng, n: rng.integers(0, 99, n)}
        whole = rows(WithTruth(), data=data, bounds=(0, 120))
        assert rows(WithTruth(), data=data, bounds=(0, 120), block=7)[0][
            "monte_carlo"
        ] == pytest.approx(whole[0]["monte_carlo"], rel=1e-12)
        beside = rows("median", WithTruth(), Exact(), data=data, bounds=(0, 120))
        assert beside[1]["monte_carlo"] == whole[0]["monte_carlo"]

    def test_records_come_sorted_and_clamped_and_may_be_written_to(self):
        seen = []

        class Looks(WithTruth):
            def sample(self, data: Any, _epsilon: float, size: int, _rng: Any) -> Any:
                seen.append(data.copy())
                data[:] = 0
                return np.zeros(size)

        beside = rows(Looks(), WithTruth("beside"), bounds=(20, 60), datasets=3)
        alone = rows(WithTruth("beside"), bounds=(20, 60), datasets=3)
        assert len(seen) == 3
        assert beside[1:] == alone
        for data in seen:
            assert (np.diff(data) >= 0).all()
            assert data.min() >= 20
            assert data.max() <= 60

    @each(
        ("answers", "words"),
        [
            (lambda size: np.zeros(size - 1), "...plain: answers of an own mechanism, got 40"),
            (lambda size: np.full(size, np.inf), "...plain: answers of an own mechanism, got 40"),
            (lambda _: None, "...plain: answers of an own mechanism, got 40"),
            (lambda size: ["a"] * size, "answers that are no numbers, got plain"),
        ],
    )
    def test_what_is_no_answer(self, answers, words):
        class Wrong(WithTruth):
            def sample(self, _data: Any, _epsilon: float, size: int, _rng: Any) -> Any:
                return answers(size)

        with pytest.raises(fx.StudyError, match=says(words)):
            rows(Wrong("plain"))

    def test_indices_beyond_the_candidates(self):
        class Beyond(Flip):
            def sample(self, data: Any, _epsilon: float, size: int, _rng: Any) -> Any:
                return np.full(size, data.size)

        with raises("...flip: answers that are no indices"):
            rows(Beyond(), data="votes", n=5)

    @each(
        ("subject", "words"),
        [
            (3, "mechanism of a study"),
            ({"subject": 3}, "subject without draws"),
            ({"subject": "module:name"}, "subject that is none"),
            (type("Nameless", (), {"sample": print})(), "subject without draws"),
            (type("Named", (Plain,), {})(name=3), "text of a study"),
            (Plain, "mechanism of a study"),
            (fx.Median, "mechanism of a study"),
            (Plain("median"), "name of the package's own mechanism"),
            (type("Other", (Plain,), {"takes": "rows"})(), "...takes: one of several words"),
        ],
    )
    def test_what_is_no_subject(self, subject, words):
        with pytest.raises(fx.ParameterError, match=says(words)):
            study(subject)


class TestTemplates:
    def test_a_grid_of_digits_needs_no_bounds(self):
        spec = {"name": "median", "grid": {"digits": 2, "negative": False}}
        template = fx.Median(1, grid=fx.digits(2, negative=False))
        found = rows(template, spec | {"label": "it"}, epsilon=[0.5, 2.0], bounds=None)
        named = [row["mechanism"] for row in found]
        assert set(named) == {"median grid=digits(2, negative=False)", "it"}
        exact = [
            [row["exact"] for row in found if (row["mechanism"] == "it") is it] for it in (0, 1)
        ]
        assert exact[0] == exact[1]
        assert all(exact[0])

    @each(
        ("mechanism", "spec"),
        [
            (fx.Median(1, (0, 120)), {"name": "median"}),
            (
                fx.Median(1, (0, 120), step=1, neighbors="replace", widen=2),
                {"name": "median", "step": 1, "neighbors": "replace", "widen": 2},
            ),
            (fx.Quantile(0.9, 1, (0, 120), step=1), {"name": "quantile", "q": 0.9, "step": 1}),
            (
                fx.Median(1, (0, 120), grid=[0, 7, 50, 120]),
                {"name": "median", "grid": [0, 7, 50, 120]},
            ),
            (
                fx.OrderStatistic(3, 1, (0, 120), step=1),
                {"name": "order-statistic", "r": 3, "step": 1},
            ),
            (
                fx.SmoothSensitivityMedian(1, bounds=(0, 120), noise="cauchy"),
                {"name": "smooth-sensitivity-median", "noise": "cauchy"},
            ),
            (fx.LaplaceMedian(1, (0, 120)), {"name": "laplace-median"}),
            (
                fx.Laplace(1, 1, step=1, bounds=(0, 120)),
                {"name": "laplace", "sensitivity": 1, "step": 1, "bounded": True},
            ),
        ],
    )
    def test_a_template_is_its_name_with_its_bounds(self, mechanism, spec):
        template, named = ({"mechanism": mechanism, "label": "it"}, {**spec, "label": "it"})
        for one in (template, {**named, "bounds": (0, 120)}):
            found = rows(one, epsilon=[0.5, 2.0], bounds=(0, 120))
            expected = rows(named, epsilon=[0.5, 2.0], bounds=(0, 120))
            assert [r["exact"] for r in found] == [r["exact"] for r in expected]
            assert all(r["agree"] for r in found)

    def test_selections(self):
        found = rows(
            fx.Exponential(1, 0.5),
            {"name": "exponential", "sensitivity": 0.5, "label": "by name"},
            fx.RandomizedResponse(1),
            data={"name": "utilities", "values": [0, 1]},
            n=2,
            figures="error",
        )
        assert found[0]["exact"] == found[1]["exact"]
        assert found[0]["exact"] == pytest.approx(1 / (1 + np.e))
        assert found[2]["exact"] == pytest.approx(1 / (1 + np.e))

    @each("width", [(0, 120), (30, 50), (30, 31)])
    @each("n", [40, 41])
    def test_errors_are_from_the_truth_beyond_the_bounds(self, width, n):
        """Data are clamped to the study's bounds, not to a mechanism's."""
        medians = [
            fx.Median(1, width, step=1),
            fx.SmoothSensitivityMedian(1, bounds=width, noise="cauchy", midpoint=True),
            fx.LaplaceMedian(1, width),
        ]
        figures = ("error", "bias", "error_quantile")
        made = study(*medians, n=n, figures=figures, draws=400, datasets=20)
        found = made.run(workers=1).rows
        assert [row["agree"] for row in found] == [True] * 12
        if width == (30, 31):
            errors = [row["exact"] for row in found if row["figure"] == "error"]
            assert min(errors) > 5  # the median age is about 40
            levels = [row["exact"] for row in found if row["level"]]
            assert None not in levels
            assert min(levels) > 2

    def test_a_template_that_no_study_knows(self):
        with raises("MostCommon: mechanism that no study has, got median..."):
            study(fx.MostCommon(1, ["a", "b"]))


@pytest.mark.peers
@pytest.mark.slow
class TestOtherLibraries:
    """The medians of two libraries, as the page on studies of one's own has them."""

    def test_opendp(self):
        dp = pytest.importorskip("opendp.prelude")
        dp.enable_features("contrib")

        class OpenDP(WithTruth):
            def measurement(self, epsilon: float) -> Any:
                return dp.m.make_private_quantile(
                    dp.vector_domain(dp.atom_domain(T="i64")),
                    dp.symmetric_distance(),
                    dp.max_divergence(),
                    candidates=list(range(101)),
                    alpha=0.5,
                    scale=1 / epsilon,
                )

            def sample(self, data: Any, epsilon: float, size: int, _rng: Any) -> Any:
                measurement = self.measurement(epsilon)
                assert measurement.map(1) == pytest.approx(epsilon)
                return [measurement(data) for _ in range(size)]

        ours = {"mechanism": fx.Median(1, (0, 100), step=1), "label": "ours"}
        found = rows(OpenDP(), ours, n=201, datasets=20, draws=30)
        theirs, exact = found[0], found[1]["exact"]
        # Permute-and-flip errs at most as much as the exponential mechanism, and at least half.
        assert theirs["low"] < 1.1 * exact
        assert theirs["high"] > 0.5 * exact

    def test_diffprivlib(self):
        tools = pytest.importorskip("diffprivlib.tools")

        class Diffprivlib(WithTruth):
            def sample(self, data: Any, epsilon: float, size: int, rng: Any) -> Any:
                seeds = rng.integers(2**31, size=size).tolist()
                return [
                    tools.median(data, epsilon=epsilon, bounds=(0, 100), random_state=seed)
                    for seed in seeds
                ]

        found = rows(Diffprivlib(), n=201, datasets=10, draws=20)
        assert 0.2 < found[0]["monte_carlo"] < 5
        assert found == rows(Diffprivlib(), n=201, datasets=10, draws=20)


class TestFigures:
    def test_beside_ours(self):
        found = rows(
            "median",
            bounds=(0, 120),
            figures=["error", off_by_two, {"square": lambda a, t: (a - t) ** 2}],
        )
        assert [row["figure"] for row in found] == ["error", "off_by_two", "square"]
        assert found[0]["agree"] is True
        assert found[1]["agree"] is None
        assert found[1]["low"] <= found[1]["monte_carlo"] <= found[1]["high"]

    def test_against_our_own_figure(self):
        """E|answer - truth| by a function is what `error` draws, to the last bit."""
        error = {"mine": lambda answers, truth: np.abs(answers - truth)}
        for mechanism in ("median", "smooth-sensitivity-median", fx.Mode(1, (0, 120), step=1)):
            found = rows(mechanism, bounds=(0, 120), figures=["error", error])
            assert found[0]["monte_carlo"] == pytest.approx(found[1]["monte_carlo"], rel=1e-12)

    def test_of_selections_the_truth_is_the_best(self):
        found = rows(
            "exponential", data="votes", n=5, figures=["error", {"mine": lambda a, t: a != t}]
        )
        assert found[0]["monte_carlo"] == pytest.approx(found[1]["monte_carlo"], rel=1e-12)

    @each(
        ("figures", "words"),
        [
            ([lambda a, _: a], "name of an own figure"),
            ({"error": off_by_two}, "name of an own figure"),
            ({"mine": 3}, "figure of a wrong type"),
            ([off_by_two, {"off_by_two": off_by_two}], "setting with a value twice"),
        ],
    )
    def test_faults(self, figures, words):
        with pytest.raises(fx.ParameterError, match=says(words)):
            study("median", bounds=(0, 120), figures=figures)

    def test_they_need_draws(self):
        with raises("draws for figures"):
            study("median", bounds=(0, 120), figures=off_by_two, draws=0)

    def test_what_is_no_figure(self):
        with raises("numbers of an own figure, got 40"):
            rows("median", bounds=(0, 120), figures={"sum": lambda a, _: a.sum()})
