"""Are the figures of permute-and-flip, steps, bounds and groups those of other computations?"""

from __future__ import annotations

import math

import numpy as np
import pytest

import fastexp as fx
from tests.docs.page_code import DOCS
from tests.doors.parameters import readable
from tests.doors.studies import COUNTS, READY, task


@pytest.fixture(scope="module")
def results():
    return fx.Study.ready("permute-and-flip", draws=5000).run(workers=1)


def formula(mechanism, n, p):
    """The paper's expected loss in its worst case: a lead of 2, the others' weight p."""
    if mechanism == "exponential":
        return 2 * (n - 1) * p / (1 + (n - 1) * p)
    return 2 * (1 + math.expm1(n * math.log1p(-p)) / (n * p))


class TestPermuteAndFlip:
    def test_the_papers_worst_case_by_what_the_mechanisms_are(self, results):
        """All that come before the best one in a random order must fail; or a share of weights."""
        rows = [r for r in results.rows if (r["data"], r["figure"]) == ("one leads by 2", "loss")]
        assert len(rows) == 4 * 9 * 2
        assert results.agree
        for row in rows:
            n, p = row["n"], math.exp(-row["epsilon"])
            if row["mechanism"] == "permute-and-flip":
                best = sum((1 - p) ** before for before in range(n)) / n
            else:
                best = 1 / (1 + (n - 1) * p)
            assert row["exact"] == pytest.approx(2 * (1 - best), rel=1e-11)
            assert formula(row["mechanism"], n, p) == pytest.approx(row["exact"], rel=1e-11)

    def test_the_printed_counts_are_what_can_be_expected(self, results):
        counts = np.array([10.683, 14.976, 4.443, 0.418, 1.025, 0.023, 0.993])
        weights = np.exp(counts / 2)
        share = 1 - weights.max() / weights.sum()
        rows = {
            (r["epsilon"], r["mechanism"]): r["exact"]
            for r in results.rows
            if (r["data"], r["figure"]) == ("marital status", "error")
        }
        assert rows[1.0, "exponential"] == pytest.approx(share, rel=1e-12)
        assert abs(24 - 200 * share) < 2 * math.sqrt(200 * share * (1 - share))
        page = (DOCS / "reference" / "studies.md").read_text()
        assert f"the study gives {200 * share:.1f} as the expected number of wrong draws" in page


class TestGrids:
    def test_the_step_and_widen_by_the_law_of_each_data_set(self):
        """Of records that are not rounded neither is of use; of rounded ones both are."""
        study = fx.Study.ready("grids", datasets=5, draws=0)
        results = study.run(workers=1)
        cells = {(r["data"], r["epsilon"], r["mechanism"]): r["exact"] for r in results.rows}
        levels = task.data_sets(study.scenarios[0], 0, 0, 5)
        for step, widen in ((0.001, 0.1), (0.1, 0), (1, 0)):
            median = fx.Median(epsilon=0.2, bounds=(0, 20), step=step, widen=widen)
            errors = [median.law(row).expected_error(np.median(row)) for row in levels]
            known = cells["16 levels", 0.2, f"step {step}, widen {widen}"]
            assert known == pytest.approx(np.mean(errors), rel=1e-9)
        words = ("step 0.001, widen 0", "step 0.001, widen 0.1", "step 1, widen 0")
        fine, widened, rounded = (cells["16 levels", 0.2, label] for label in words)
        assert rounded < widened < 0.8 * fine
        smooth = [cells["numbers that are not rounded", 0.2, label] for label in words]
        assert smooth[0] < min(smooth[1:])
        table = results.table()
        row = dict(zip(table.columns, table.rows[3], strict=True))
        assert (row["data"], row["epsilon"], len(row)) == ("16 levels", "0.2", 8)
        assert [row[label] for label in words] == [readable(x, 3) for x in (fine, widened, rounded)]


class TestPrices:
    def test_less_is_lost_than_the_theorem_allows(self):
        results = fx.Study.ready("prices", draws=0).run(workers=1)
        limits = [r for r in results.rows if r["figure"] == "loss_quantile" and r["level"] == 0.95]
        assert len(limits) == 4 * 3 * 2
        times = []
        for row in limits:
            step = float(row["mechanism"].removeprefix("step "))
            prices = round(16 / step) + 1
            bound = 16 / row["epsilon"] * (math.log(prices) + math.log(20))
            assert 0 <= row["exact"] < bound
            times += [bound / row["exact"]] if row["exact"] else []
        least, most = (readable(end(times), 2) for end in (min, max))
        known = f"whose bound is {round(float(least))} to {most} times the exact quantile"
        assert known in (DOCS / "reference" / "studies.md").read_text(), times
        for epsilon in (0.1, 1.0):  # the further the bound lies above the bids, the more is lost
            losses = {
                row["data"]: row["exact"]
                for row in results.rows
                if (row["figure"], row["mechanism"]) == ("loss", "step 0.01")
                and row["epsilon"] == epsilon
            }
            shares = [losses[f"bids around {median}"] / median for median in (8, 4, 2, 1)]
            assert shares == sorted(shares)


class TestGroups:
    @pytest.mark.slow
    def test_errors_fall_with_the_size_and_with_epsilon(self):
        results = fx.Study.ready("groups", draws=0, datasets=200).run(workers=1)
        for table in map(results.table, ("error", "error_quantile")):
            figures = np.array([[float(cell) for cell in row[1:]] for row in table.rows])
            assert figures.shape == (6, 5)
            assert (np.diff(figures, axis=0) <= 0).all()
            assert (np.diff(figures, axis=1) <= 0).all()


def test_the_reference_lists_all_with_their_questions():
    lines = (DOCS / "reference" / "studies.md").read_text().splitlines()
    rows = [line.split(" | ") for line in lines if line.startswith("| `")]
    assert [row[0].strip("|` ") for row in rows] == list(READY)
    assert [row[1] for row in rows] == [fx.Study.ready(name).question for name in READY]


@pytest.fixture(scope="module")
def tops():
    results = fx.Study.ready("top-k", draws=40, epsilon=1.0).run(workers=1)
    assert results.agree
    cells = {}
    for row in results.rows:
        kind, _, k = row["mechanism"].rpartition(", k = ")
        line = cells.setdefault((row["figure"], int(k), row["data"]), {})
        line[kind] = row["monte_carlo"] if row["exact"] is None else row["exact"]
    return cells


class TestTopK:
    """The joint mechanism's losses are those of its law; each way is the better one somewhere."""

    @pytest.mark.slow
    def test_exact_losses(self, tops):
        counts = {data["label"]: data["values"] for data in fx.Study.ready("top-k").data}
        assert {**counts, **COUNTS} == counts
        for k in (20, 50):
            for label, values in counts.items():
                want = fx.JointTopK(k, 1.0).law(values).expected_loss()
                assert tops["loss", k, label]["joint"] == pytest.approx(want, rel=1e-9)

    def test_who_is_better_where(self, tops):
        for label in ("Zipf", "geometric", "flat tail", "Adult"):
            losses = tops["loss", 50, label]
            rivals = (losses[kind] for kind in ("rounds", "permute-and-flip", "Laplace"))
            assert losses["joint"] < min(rivals)
        flat, zipf = tops["error", 50, "flat tail"], tops["error", 50, "Zipf"]
        assert (
            tops["loss", 50, "flat tail"]["joint"]
            > tops["loss", 50, "flat tail"]["rounds, δ = 1e-6"]
        )
        assert flat["joint"] == max(flat.values())
        assert zipf["joint"] < zipf["rounds"]
