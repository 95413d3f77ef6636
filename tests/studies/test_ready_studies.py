"""Do the studies that come with fastexp answer their questions, and rightly?"""

from __future__ import annotations

import html
import math

import numpy as np
import pytest

import fastexp as fx
from tests.doors.studies import FOLDER, READY, source_of, table_of, tables_of

# Exact expectations x 100 over 2,000 data sets with these settings, found independently of this
# package (a simulation in NumPy), and their standard deviations across data sets.
KNOWN = {
    ("SS, δ = 0", 0.5): (61.5, 11.2),
    ("SS, δ = 0", 1.0): (22.7, 5.9),
    ("SS, δ = 0", 2.0): (8.5, 3.1),
    ("SS, δ = 0.001", 0.5): (14.54, 2.08),
    ("SS, δ = 0.001", 1.0): (4.09, 0.83),
    ("SS, δ = 0.001", 2.0): (1.23, 0.34),
    ("SS, δ = 0.9", 0.5): (2.83, 1.09),
    ("SS, δ = 0.9", 1.0): (1.05, 0.51),
    ("SS, δ = 0.9", 2.0): (0.44, 0.25),
    ("Duff", 0.5): (0.572, 0.155),
    ("Duff", 1.0): (0.305, 0.119),
    ("Duff", 2.0): (0.162, 0.087),
}


@pytest.fixture(scope="module")
def table1():
    return fx.Study.ready("table1").run(workers=1)


class TestTable1:
    @pytest.mark.slow
    def test_every_printed_cell_is_reproduced(self, table1):
        """To a fifth of the printed standard deviation, and half of the last printed digit."""
        cells = {(r["mechanism"], r["epsilon"]): r for r in table1.rows}
        printed = source_of(table1.study.to_dict())["printed"]["cells"]
        assert len(printed) == len(KNOWN) == 12
        for name, epsilon, mean, sd in printed:
            ours = cells[name, epsilon]
            assert abs(100 * ours["exact"] - mean) <= 0.2 * sd + 0.05, name
            assert abs(100 * ours["monte_carlo_sd"] - sd) <= 0.25 * sd + 0.05, name

    def test_and_so_are_independent_simulations(self, table1):
        cells = {(r["mechanism"], r["epsilon"]): r for r in table1.rows}
        for place, (mean, sd) in KNOWN.items():
            ours = cells[place]
            error = math.hypot(100 * ours["exact_se"], sd / math.sqrt(2000))
            rounding = 0.05 if mean > 10 and mean != 14.54 else 0.005 if mean > 0.6 else 0.0005
            rounding = 0.05 if place[0] == "SS, δ = 0" else rounding
            assert abs(100 * ours["exact"] - mean) <= 4.5 * error + rounding, place
            assert 100 * ours["exact_sd"] == pytest.approx(sd, rel=0.1)

    def test_exact_and_drawn_agree(self, table1):
        assert table1.agree
        assert all(row["agree"] is True for row in table1.rows)

    def test_its_table_has_the_printed_cells_beside_ours(self, table1):
        beside, every = tables_of(table1.to_dict())
        assert (len(beside.rows), every.columns[1:5]) == (12, [*dict.fromkeys(x for x, _ in KNOWN)])
        ours = table1.rows[0]
        exact, sd = (f"{100 * ours[column]:.2f}" for column in ("exact", "monte_carlo_sd"))
        off = (100 * ours["exact"] - 64.3) / 17.4
        assert beside.rows[0] == [
            "SS, δ = 0",
            "0.5",
            "64.3 (17.4)",
            f"{exact} ({sd})",
            f"{off:+.2f}",
        ]
        worst = max(abs(float(row[-1])) for row in beside.rows)
        assert f"Of the 12 printed means ours differ by at most {worst:.2f} of" in beside.note
        exact_only = fx.Study.ready("table1", datasets=2, draws=0).run(workers=1)
        assert tables_of(exact_only.to_dict())[0].rows[0][3].endswith(" (-)")
        part = fx.Study.ready("table1", datasets=2, draws=0, epsilon=[1.0, 9.0]).run(workers=1)
        assert len(tables_of(part.to_dict())[0].rows) == 4

    def test_fair_rivals_are_a_few_times_as_far_off(self, table1):
        """One relation, the same epsilon, and Duff is better by a factor, not by 100."""
        labels = [label for label in table1.table().columns[5:] if label != "Duff, replace"]
        cells = {(row["mechanism"], row["epsilon"]): row for row in table1.rows}
        for label in labels:
            for epsilon in (0.5, 1.0, 2.0):
                rival, duff = cells[label, epsilon], cells["Duff, replace", epsilon]
                assert rival["neighbors"] == duff["neighbors"] == "replace"
                assert 1.0 < rival["exact"] / duff["exact"] < 10


class TestPrices:
    def test_the_tutorials_bids_by_an_independent_sum(self):
        study = fx.Study.ready("price-tradeoff", datasets=1, draws=0)
        rows = [r for r in study.run(workers=1).rows if r["data"] == "four bids"]
        prices = np.arange(3501) / 1000
        revenue = prices * np.array([sum(b >= p for b in (1, 1, 1, 3.01)) for p in prices])
        assert rows
        for row in rows:
            rate = row["epsilon"] / (3.5 if row["mechanism"] == "price" else 7.0)
            weights = np.exp(rate * (revenue - revenue.max()))
            loss = (weights * (revenue.max() - revenue)).sum() / weights.sum()
            assert row["exact"] == pytest.approx(loss, rel=1e-9)

    def test_the_continuous_curve_is_near(self):
        """Known to 12 digits; on a grid the best price is a point, which a density cannot see."""
        law = fx.Price(0.001, (0, 3.5), step=0.001, scaling="textbook").continuous_law(
            [1, 1, 1, 3.01]
        )
        known = {0.001: 2.27697750019, 70.001: 0.100197195232, 90.001: 0.0777886539192}
        for epsilon, loss in known.items():
            assert law.with_epsilon(epsilon).expected_loss() == pytest.approx(loss, rel=1e-10)
        rows = fx.Study.ready("price-tradeoff", datasets=1, draws=0).run(workers=1).rows
        cells = {(r["data"], r["mechanism"], r["epsilon"]): r["exact"] for r in rows}
        for epsilon, loss in known.items():
            assert cells["four bids", "textbook", epsilon] == pytest.approx(loss, rel=0.03)


class TestBits:
    def test_probabilities_of_a_wrong_answer(self):
        rows = fx.Study.ready("randomized-response", draws=1000).run(workers=1).rows
        scale = {"randomized response": 1.0, "exponential": 0.25, "tutorial": 0.125}
        assert len(rows) == 3 * 13
        for row in rows:
            wrong = 1 / (1 + math.exp(scale[row["mechanism"]] * row["epsilon"]))
            assert row["exact"] == pytest.approx(wrong, rel=1e-12)
            assert row["agree"]


class TestLaplace:
    def test_errors_in_closed_form(self):
        rows = fx.Study.ready("laplace", draws=2000).run(workers=1).rows
        for row in rows:
            assert row["agree"]
            if row["mechanism"] == "Laplace" and row["figure"] == "error":
                q = math.exp(-row["epsilon"] * 0.001)
                assert row["exact"] == pytest.approx(0.001 * 2 * q / (1 - q * q), rel=1e-9)


class TestGoldberg:
    def test_nasty_data_stay_nasty(self):
        study = fx.Study.ready("nice-and-nasty", datasets=5, draws=10, n=7)
        rows = [r for r in study.run(workers=1).rows if r["figure"] == "error"]
        for row in rows:
            if row["data"] == "nasty":  # 0 has weight 1, a million others exp(-epsilon) each
                others = 1e6 * math.exp(-row["epsilon"])
                assert row["exact"] == pytest.approx(others / (1 + others) * 500000.5, rel=1e-9)
        nice = {r["epsilon"]: r["exact"] for r in rows if r["data"] == "nice"}
        assert nice[10.0] < 60_000


class TestSelection:
    @pytest.mark.slow
    def test_permute_and_flip_loses_no_more_than_the_exponential_mechanism(self):
        study = fx.Study.ready("selection", n=(10, 100), datasets=5, draws=200)
        rows = study.run(workers=1).rows
        assert all(row["agree"] for row in rows)
        cells = {(r["data"], r["n"], r["epsilon"], r["mechanism"]): r["exact"] for r in rows}
        for (data, n, epsilon, name), loss in cells.items():
            if name == "permute-and-flip":
                assert loss <= cells[data, n, epsilon, "exponential"] * (1 + 1e-12)


FAST = ("bounds", "laplace", "price-tradeoff", "selection")  # which make most kinds of tables


def ran(name, out):
    study = fx.Study.ready(name)
    assert study.question.endswith("?")
    changes = {"datasets": 2, "draws": 5}
    if name in ("selection", "bounds", "nice-and-nasty"):
        changes["n"] = 20
    if name == "quantiles":
        changes |= {"n": 100, "epsilon": 1.0, "datasets": 1}
    return fx.Study.ready(name, **changes).run(workers=1, out=out)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=getattr(pytest.mark, "fast" if name in FAST else "slow"))
        for name in READY
    ],
)
def test_each_has_a_question_and_tables(name, tmp_path):
    found = tables_of(ran(name, tmp_path).to_dict())
    assert found
    for table in found:
        assert table.title
        assert table.rows
        for row in table.rows:
            assert len(row) == len(table.columns)
            assert all(isinstance(cell, str) for cell in row)
    assert tables_of(table_of(tmp_path)) == found


@pytest.mark.slow
@pytest.mark.parametrize("name", READY)
def test_each_has_a_page(name, tmp_path):
    results = ran(name, tmp_path)
    page = results.report(tmp_path)[0].read_text()
    for table in tables_of(results.to_dict()):
        assert html.escape(table.title) in page


@pytest.mark.parametrize("name", READY)
def test_each_is_a_file_as_a_users(name):
    study = fx.Study.ready(name)
    if name != "top-k":  # which names thousands of counts
        assert fx.Study.load(FOLDER / f"{name}.toml") == study
    assert source_of(study.to_dict())["repeats"]


def test_no_file_is_left_out():
    assert sorted(READY) == sorted(path.stem for path in FOLDER.glob("*.toml"))


def test_a_study_says_what_it_repeats_unless_it_is_another():
    def notes(name, **changes):
        results = fx.Study.ready(name, datasets=1, draws=0, **changes).run(workers=1)
        return [table.note for table in tables_of(results.to_dict())]

    repeats = "Repeats Table 1 of Muñoz Medina and Gillenwater 2020."
    assert [note.endswith(repeats) for note in notes("table1", epsilon=3.0)] == [False, True]
    for other in ({"n": 50}, {"bounds": (-3, 3)}, {"mechanisms": "median"}):
        assert repeats not in "".join(notes("table1", **other))
    own = fx.Study(name="own", mechanisms="median", epsilon=1, n=5, bounds=(0, 1), datasets=1)
    own_results = own.run(workers=1)
    assert tables_of(own_results.to_dict()) == [own_results.table()]
