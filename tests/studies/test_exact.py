"""Are a study's figures right: exact ones against independent sums, drawn ones against exact?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

import fastexp as fx
from tests.doors.studies import MECHANISMS, Block, build, noisy_max_losses
from tests.doors.studies import data_sets as block_of
from tests.messages import raises
from tests.support.each import each

ALL = ("error", "bias", "loss", "error_quantile", "loss_quantile")
SMOOTH = "smooth-sensitivity-median"
NUMBERS = [
    "median",
    {"name": "median", "convention": "lower", "neighbors": "replace", "label": "lower"},
    {"name": "median", "convention": "upper", "step": 0.5, "label": "upper"},
    {"name": "median", "widen": 0.1, "label": "widened"},
    {"name": "median", "grid": [-3, -1, -0.5, 0, 0.25, 1, 3], "label": "listed"},
    {"name": "median", "truth": "lower", "label": "other truth"},
    {"name": "quantile", "q": 0.9},
    {"name": "order-statistic", "r": 3},
    "maximum",
    "mode",
    {"name": "price", "step": 0.01},
    {"name": "laplace", "sensitivity": 1, "step": 0.01},
    {"name": "laplace", "sensitivity": 0.1, "step": 0.01, "bounded": True, "statistic": "mean"},
    "laplace-median",
    *(
        {"name": SMOOTH, "noise": noise, "calibration": calibration}
        for noise in ("cauchy", "student-t", "pareto-tail")
        for calibration in ("paper", "tight")
    ),
    {"name": SMOOTH, "noise": "laplace", "delta": 0.01},
    {"name": SMOOTH, "noise": "laplace", "delta": 0.01, "calibration": "tight"},
    {"name": SMOOTH, "noise": "arsinh-normal"},
    {"name": SMOOTH, "noise": "cauchy", "neighbors": "add-remove", "midpoint": True},
]
SELECTIONS = [
    "exponential",
    "permute-and-flip",
    {"name": "report-noisy-max", "noise": "exponential"},
    {"name": "report-noisy-max", "noise": "gumbel"},
    {"name": "report-noisy-max", "noise": "laplace"},
    {"name": "exponential", "monotonic": True, "sensitivity": 2.0},
    "randomized-response",
]
NAMED = {spec if isinstance(spec, str) else spec["name"] for spec in [*NUMBERS, *SELECTIONS]}
# Those of several answers are in test_many_quantiles.py and test_top_selections.py.
ONE = {name: row for name, row in MECHANISMS.items() if "k" not in row.parameters}
ONE = {name: row for name, row in ONE.items() if not name.endswith("quantiles")}
for word in ONE.keys() - NAMED:
    (NUMBERS if "bounds" in ONE[word].parameters else SELECTIONS).append(word)


def study(**settings):
    base = {"name": "test", "epsilon": 1.0, "datasets": 40, "draws": 200, "figures": ALL}
    return fx.Study(**{**base, **settings}).run(workers=1)


def data_sets(made):
    """The data sets of a study's first group, as its tasks make them."""
    parts = []
    for place in range(made.blocks):
        rows = min(made.block, made.datasets - place * made.block)
        parts += list(block_of(made.scenarios[0], place, place * made.block, rows))
    return parts


def test_cases_are_of_mechanisms():
    assert ONE.keys() >= NAMED


class TestExactAndDrawnAgree:
    @pytest.mark.slow
    @each("mechanism", NUMBERS, ids=str)
    def test_numbers(self, mechanism):
        bounds = (0, 4) if "price" in str(mechanism) else (-4, 4)
        results = study(data="normal", n=21, bounds=bounds, mechanisms=[mechanism])
        assert results.rows
        for row in results.rows:
            assert row["agree"] is True, row
            assert row["exact"] is not None

    @each("mechanism", SELECTIONS, ids=str)
    def test_selections(self, mechanism):
        data, n = {"name": "scores", "most": 4}, 2 if "randomized" in str(mechanism) else 7
        results = study(data=data, n=n, mechanisms=[mechanism])
        assert results.rows
        assert all(row["agree"] is True for row in results.rows)

    @pytest.mark.parametrize("noise", ["laplace-lognormal", "uniform-lognormal"])
    def test_noise_without_closed_forms_is_drawn_only(self, noise):
        results = study(
            data="normal", n=21, bounds=(-4, 4), mechanisms=[{"name": SMOOTH, "noise": noise}]
        )
        assert {row["figure"] for row in results.rows} == {"error", "bias", "error_quantile"}
        for row in results.rows:
            assert row["exact"] is None
            assert row["agree"] is None
            assert row["low"] < row["monte_carlo"] < row["high"]
        assert results.agree is None  # nothing is compared

    def test_integer_records_too(self):
        results = study(
            data="ages",
            n=21,
            bounds=(0, 99),
            mechanisms=[{"name": "median", "step": 1}, {"name": SMOOTH}, "laplace-median"],
        )
        assert all(row["agree"] is True for row in results.rows)


class TestAgainstLaws:
    """Means over data sets are those of the laws of these data sets, one by one."""

    def test_medians(self):
        spec = {"name": "median", "convention": "lower", "step": 0.25}
        settings = {"n": 11, "bounds": (-4, 4), "mechanisms": [spec], "block": 16}
        made = fx.Study(name="t", epsilon=0.7, datasets=40, draws=0, figures=ALL[:3], **settings)
        found = made.run(workers=1)
        laws = []
        mechanism = fx.Median(0.7, (-4, 4), step=0.25, convention="lower")
        for row in data_sets(made):
            clamped = np.clip(row, -4, 4)
            truth = float(np.sort(clamped)[5])
            law = mechanism.law(clamped)
            laws.append((law.expected_error(truth), law.mean() - truth, law.expected_loss()))
        for row, column in zip(found.rows, np.array(laws).T, strict=True):
            assert row["exact"] == pytest.approx(column.mean(), rel=1e-12)
            assert row["exact_sd"] == pytest.approx(column.std(ddof=1), rel=1e-9)
            assert row["exact_se"] == pytest.approx(column.std(ddof=1) / math.sqrt(40), rel=1e-9)

    def test_losses_of_quantiles_are_in_units_of_the_utility(self):
        spec = {"name": "quantile", "q": 0.9}
        settings = {"n": 11, "bounds": (-4, 4), "mechanisms": [spec], "figures": "loss"}
        made = fx.Study(name="t", epsilon=0.7, datasets=10, draws=0, **settings)
        (row,) = made.run(workers=1).rows
        mechanism = fx.Quantile(0.9, 0.7, (-4, 4))
        losses = [mechanism.law(x).expected_loss() for x in data_sets(made)]
        assert row["exact"] == pytest.approx(np.mean(losses), rel=1e-12)

    def test_smooth_sensitivity(self):
        spec = {"name": SMOOTH, "noise": "cauchy"}
        settings = {"n": 12, "bounds": (-4, 4), "mechanisms": [spec], "block": 16}
        made = fx.Study(name="t", epsilon=0.7, datasets=40, draws=0, figures=ALL[:2], **settings)
        error, bias = made.run(workers=1).rows
        mechanism = fx.SmoothSensitivityMedian(0.7, bounds=(-4, 4))
        truths = [float(np.sort(row)[5]) for row in data_sets(made)]
        laws = [mechanism.law(row) for row in data_sets(made)]
        errors = [law.expected_error(t) for law, t in zip(laws, truths, strict=True)]
        assert error["exact"] == pytest.approx(np.mean(errors), rel=1e-12)
        means = [law.mean() - t for law, t in zip(laws, truths, strict=True)]
        assert bias["exact"] == pytest.approx(np.mean(means), rel=1e-9)

    def test_draws_are_those_of_the_mechanisms(self):
        """Known centres and scales, or sorted rows, are a short cut and nothing else."""
        specs = ["median", {"name": SMOOTH, "noise": "student-t"}, "laplace-median", "mode"]
        specs += [SMOOTH, {"name": SMOOTH, "midpoint": True}]
        made = fx.Study(name="t", n=30, bounds=(-1, 1), mechanisms=specs, epsilon=1.0, datasets=5)
        rows = np.array(data_sets(made))
        for cell in made.cells:
            block = Block(rows.copy(), 3, (-1.0, 1.0))
            drawn = cell.subject.draw(block, 7, cell.key)
            sample = cell.subject.mechanism.sample
            alone = [sample(row, 7, rng=cell.key, streams=[3 + i]) for i, row in enumerate(rows)]
            assert np.array_equal(drawn, alone)


class TestQuantiles:
    def test_of_one_data_set(self):
        """Of one data set the mixture is its law; bins err by little."""
        for spec in ({"name": "median"}, {"name": SMOOTH, "noise": "pareto-tail"}):
            made = fx.Study(
                name="t",
                n=50,
                bounds=(-4, 4),
                mechanisms=[spec],
                epsilon=1.0,
                datasets=1,
                draws=0,
                figures="error_quantile",
                levels=(0.1, 0.5, 0.95),
            )
            (row,) = data_sets(made)
            cell = made.cells[0]
            block = Block(row[None, :].copy(), 0, (-4.0, 4.0))
            truth = float(cell.subject.truths(block)[0])
            law = cell.subject.mechanism.law(row)
            for line in made.run(workers=1).rows:
                exact = law.error_quantile(line["level"], truth)
                assert line["exact"] == pytest.approx(exact, rel=0.003)

    @each("step", [None, 7.5])
    def test_where_laws_have_atoms(self, step):
        """Answers at grid points and at the bounds: nothing errs by more than 80."""
        median = fx.Median(0.1, (0, 120), step=step) if step else fx.LaplaceMedian(0.1, (0, 120))
        law = median.law([40] * 101)
        made = study(
            data=[40] * 101,
            bounds=(0, 120),
            mechanisms=[median],
            epsilon=0.1,
            datasets=2,
            draws=5000,
            figures="error_quantile",
            levels=(0.5, 0.9, 0.95, 0.99),
        )
        for row in made.rows:
            right = law.error_quantile(row["level"], 40)
            assert row["exact"] == pytest.approx(right, rel=0.003)
            assert row["low"] <= min(right, row["exact"])
            assert row["high"] >= max(right, row["exact"])
        if step is None:
            assert law.error_quantile(0.95, 40) == 80

    def test_losses_that_candidates_have(self):
        utilities = [10.3, 7.7, 5.1, 0.2]
        made = study(
            data={"name": "utilities", "values": utilities},
            mechanisms=["exponential"],
            epsilon=0.3,
            figures="loss_quantile",
            levels=(0.5, 0.8, 0.95),
        )
        law = fx.Exponential(0.3, 1).law(utilities)
        for row in made.rows:
            assert row["exact"] == pytest.approx(law.loss_quantile(row["level"]), rel=0.003)

    @pytest.mark.slow
    def test_intervals_cover(self):
        """Over 30 seeds, as often as they say at least, with and without atoms."""
        covered = []
        for seed in range(30):
            made = study(
                data=["ages", {"name": "normal", "mean": 40, "sd": 15}],
                n=50,
                bounds=(0, 120),
                epsilon=[0.1, 1.0],
                mechanisms=["laplace-median", {"name": SMOOTH}, {"name": "median", "step": 1}],
                datasets=20,
                draws=30,
                seed=seed,
                figures="error_quantile",
            )
            covered += [row["low"] <= row["exact"] <= row["high"] for row in made.rows]
        assert np.mean(covered) > 0.95

    def test_integers_on_a_grid_have_integer_quantiles(self):
        made = study(
            data="ages",
            n=31,
            bounds=(0, 120),
            mechanisms=[{"name": "median", "step": 1}],
            figures="error_quantile",
            levels=(0.5, 0.9, 0.99),
        )
        for row in made.rows:
            assert float(row["exact"]).is_integer()
            assert float(row["monte_carlo"]).is_integer()

    def test_integer_utilities_have_integer_losses(self):
        made = study(
            data={"name": "leader", "lead": 10},
            n=50,
            mechanisms=["exponential"],
            epsilon=0.5,
            figures="loss_quantile",
            levels=(0.01, 0.5, 0.95),
        )
        assert [row["exact"] for row in made.rows] == [0.0, 10.0, 10.0]
        assert [row["monte_carlo"] for row in made.rows] == [0.0, 10.0, 10.0]


class TestRounding:
    def test_noise_below_the_last_digit_is_no_disagreement(self):
        data = {"name": "values", "values": [40.0] * 99 + [41.0]}
        spec = {"name": SMOOTH, "noise": "student-t", "calibration": "tight"}
        figures = ("error", "bias", "error_quantile")
        made = study(data=data, bounds=(0, 120), mechanisms=[spec], epsilon=40.0, figures=figures)
        assert 0 < made.rows[0]["exact"] < 1e-15
        assert made.rows[0]["monte_carlo"] == 0
        assert made.agree


class TestRareDraws:
    """A rare large error that was not drawn is no disagreement; one that should have been is."""

    @each("seed", range(8))
    def test_missing_rare_ones_agree(self, seed):
        mechanisms = [{"name": "quantile", "q": 0.9}, {"name": SMOOTH}]
        made = study(
            n=100,
            bounds=(-1000, 1000),
            mechanisms=mechanisms,
            epsilon=2.0,
            datasets=10,
            draws=10,
            seed=seed,
        )
        assert made.agree

    def test_few_draws_that_are_all_alike_agree(self):
        made = study(
            data={"name": "utilities", "values": [0, 7]},
            mechanisms=["exponential"],
            datasets=1,
            draws=20,
            figures=("error", "loss"),
        )
        assert made.agree
        assert [row["monte_carlo"] for row in made.rows] == [0.0, 0.0]

    def test_too_many_missing_ones_do_not(self, monkeypatch):
        """Power: a third of the draws should be wrong, none is."""
        from tests.doors.studies import Selection

        def best(self, block, size, key):
            return np.repeat(block.rows.argmax(axis=1)[:, None], size, axis=1)

        monkeypatch.setattr(Selection, "draw", best)
        made = study(
            data={"name": "utilities", "values": [0, 1.4]},
            mechanisms=["exponential"],
            datasets=1,
            draws=200,
            figures=("error", "loss"),
        )
        assert [row["agree"] for row in made.rows] == [False, False]


class TestTheorems:
    def test_bounds_are_those_of_the_public_functions(self):
        made = fx.Study(
            name="t",
            data=["normal", {"name": "utilities", "values": [3, 3, 1, 0]}],
            n=40,
            bounds=(-4, 4),
            mechanisms=[{"name": "median", "convention": "lower"}, "exponential"],
            epsilon=2.0,
            datasets=3,
            draws=0,
            figures=("theorem_1", "theorem_6", "corollary_7"),
            levels=0.9,
        )
        first, sixth, seventh = made.run(workers=1).rows
        bounds = [fx.error_bound(r, 2.0, bounds=(-4, 4), failure=1 - 0.9) for r in data_sets(made)]
        assert first["exact"] == pytest.approx(np.mean(bounds), rel=1e-12)
        t = math.log(10)
        assert sixth["exact"] == pytest.approx(math.log(2) + t)
        assert seventh["exact"] == pytest.approx(math.log(4) + t)

    def test_they_hold(self):
        made = fx.Study.ready("bounds", n=100, datasets=5, draws=0, levels=0.9)
        rows = made.run(workers=1).rows
        theorems = [row for row in rows if row["figure"] in ("theorem_1", "theorem_6")]
        assert len(theorems) == 9
        for row in theorems:
            figure = {"theorem_1": "error_quantile"}.get(row["figure"], "loss_quantile")
            same = {k: row[k] for k in ("data", "mechanism", "epsilon")}
            beside = [r for r in rows if r["figure"] == figure and same.items() <= r.items()]
            assert beside[0]["exact"] <= row["exact"]

    def test_one_of_them_is_about_one_median_only(self):
        for way in ({}, {"convention": "lower", "neighbors": "replace"}, {"widen": 1}):
            with raises("figures that a mechanism has"):
                study(
                    n=9, bounds=(-4, 4), mechanisms=[{"name": "median", **way}], figures="theorem_1"
                )


class TestSelections:
    def test_bounds_are_those_of_records(self):
        """Utilities are not clamped."""
        how = {"data": {"name": "scores", "most": 20}, "n": 9, "mechanisms": ["exponential"]}
        assert study(**how).rows == study(**how, bounds=(-1, 1)).rows

    def test_a_bit_has_two_values(self):
        for values, wrong in (([0, 1], 0.2689), ([1, 0], 0.2689), ([1, 1], 0.0)):
            data = {"name": "utilities", "values": values}
            (row,) = study(data=data, mechanisms=["randomized-response"], figures="error").rows
            assert row["exact"] == pytest.approx(wrong, abs=1e-4)
            assert row["agree"]
        with raises("utilities of a bit"):
            study(data="scores", n=3, mechanisms=["randomized-response"])

    def test_quantiles_beyond_all_bins_are_not_known(self):
        how = {"data": {"name": "utilities", "values": [0, 1e9]}, "mechanisms": ["exponential"]}
        made = study(**how, epsilon=1e-9, figures=("loss", "loss_quantile"), levels=(0.1, 0.99))
        assert [row["exact"] for row in made.rows[1:]] == [0.0, None]
        assert [row["monte_carlo"] for row in made.rows[1:]] == [0.0, None]
        assert made.rows[0]["exact"] > 1e8
        assert made.agree

    def test_coarse_noise_has_quantiles(self):
        spec = {"name": "laplace", "sensitivity": 1000, "step": 1000}
        made = study(n=1, mechanisms=[spec], epsilon=1000.0, figures="error_quantile")
        assert all(row["exact"] <= 1000 for row in made.rows)
        assert made.agree

    def test_one_draw_is_judged_too(self):
        made = study(n=9, bounds=(-4, 4), mechanisms=["median"], draws=1, figures="error")
        assert made.rows[0]["z"] is not None
        assert made.rows[0]["low"] < made.rows[0]["high"]


class TestNoisyMax:
    @each("gap", [0.0, 0.1, 1.0, 7.0, 30.0])
    def test_two_candidates_in_closed_form(self, gap):
        p = noisy_max_losses(np.array([0.0, gap]), 1.0)
        worse = 0.5 * math.exp(-gap) * (1 + gap / 2)
        assert p[1] == pytest.approx(worse, rel=1e-11, abs=1e-19)
        assert p.sum() == pytest.approx(1.0, rel=1e-13)

    @pytest.mark.slow
    def test_more_by_adaptive_quadrature(self):
        losses, rate = np.array([0.0, 0.5, 0.5, 2.0, 3.25, 11.0]), 0.8

        def density(x, i):
            others = [stats.laplace.cdf(x + rate * v) for j, v in enumerate(losses) if j != i]
            return stats.laplace.pdf(x + rate * losses[i]) * math.prod(others)

        knots = sorted(-rate * losses)
        for i, p in enumerate(noisy_max_losses(losses, rate)):
            how = {"points": knots, "epsabs": 1e-13, "limit": 400}
            wanted, _ = integrate.quad(density, -40, 40, (i,), **how)
            assert p == pytest.approx(wanted, abs=1e-11)

    def test_equal_candidates_are_equally_likely(self):
        assert noisy_max_losses(np.zeros(5), 3.0) == pytest.approx(np.full(5, 0.2), rel=1e-13)


class TestTruths:
    @each("n", [1, 2, 5, 6])
    def test_of_medians(self, n):
        low, high = (n + 1) // 2, n // 2 + 1
        assert self.target(n) == (low, high)
        assert self.target(n, truth="midpoint", convention="lower") == (low, high)
        for word in ("lower", "upper"):
            rank = {"lower": low, "upper": high}[word]
            assert self.target(n, truth=word) == self.target(n, convention=word) == (rank, rank)

    def test_of_quantiles_and_order_statistics(self):
        assert self.target(10, "quantile", q=0.9) == (9, 9)
        assert self.target(3, "quantile", q=0.1) == (1, 1)
        assert self.target(7, "maximum") == (7, 7)
        assert self.target(7, "order-statistic", r=9) == (1, 1)

    def target(self, n, name="median", **parameters):
        return build({"name": name, **parameters}, 1.0, (0, 9)).target(n)
