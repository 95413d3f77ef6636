"""Are the figures of permute-and-flip, steps, bounds and groups those of other computations?"""

from __future__ import annotations

import copy
import itertools
import math
import re

import numpy as np
import pytest

import fastexp as fx
from tests.docs.page_code import DOCS
from tests.doors.parameters import readable
from tests.doors.studies import COUNTS, READY, flips, tables_of, task


@pytest.fixture(scope="module")
def results():
    return fx.Study.ready("permute-and-flip", draws=5000).run(workers=1)


class TestPermuteAndFlip:
    def test_the_papers_worst_case_by_what_the_mechanisms_are(self, results):
        """All that come before the best one in a random order must fail; or a share of weights."""
        rows = [r for r in results.rows if (r["data"], r["figure"]) == (flips.LEADER, "loss")]
        assert len(rows) == 4 * 9 * 2
        assert results.agree
        for row in rows:
            n, p = row["n"], math.exp(-row["epsilon"])
            if row["mechanism"] == "permute-and-flip":
                best = sum((1 - p) ** before for before in range(n)) / n
            else:
                best = 1 / (1 + (n - 1) * p)
            assert row["exact"] == pytest.approx(2 * (1 - best), rel=1e-11)
            known = flips.formula(row["mechanism"], n, row["epsilon"])
            assert known == pytest.approx(row["exact"], rel=1e-11)

    def test_its_table_says_how_near_it_is(self, results):
        worst, _ = tables_of(results.to_dict())
        assert len(worst.rows) == 36
        near = re.search(r"by at most (\S+) of them", worst.note)
        assert near is not None
        assert float(near[1]) < 1e-11
        assert "1.999 times" in worst.sentence
        wrong = copy.deepcopy(results.to_dict())
        wrong["rows"][0]["exact"] *= 1.01
        worst, _ = tables_of(wrong)
        assert "by at most 1e-02 of them" in worst.note

    def test_the_printed_counts_are_what_can_be_expected(self, results):
        counts = np.array([10.683, 14.976, 4.443, 0.418, 1.025, 0.023, 0.993])
        weights = np.exp(counts / 2)
        share = 1 - weights.max() / weights.sum()
        rows = {
            (r["epsilon"], r["mechanism"]): r["exact"]
            for r in results.rows
            if (r["data"], r["figure"]) == (flips.STATUS, "error")
        }
        assert rows[1.0, "exponential"] == pytest.approx(share, rel=1e-12)
        assert abs(24 - 200 * share) < 2 * math.sqrt(200 * share * (1 - share))
        _, status = tables_of(results.to_dict())
        assert f"expected are {200 * share:.1f}." in status.note


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
        (table,) = tables_of(results.to_dict())
        row = dict(zip(table.columns, table.rows[3], strict=True))
        assert (row["data"], row["epsilon"], len(row)) == ("16 levels", "0.2", 8)
        assert [row[label] for label in words] == [readable(x, 3) for x in (fine, widened, rounded)]
        assert READY["grids"].repeats in table.note


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
            times += [bound / row["exact"]] if row["epsilon"] == 1 and row["exact"] else []
        tables = tables_of(results.to_dict())
        ends = [readable(end(times), 2) for end in (min, max)]
        assert f"is {ends[0]} to {ends[1]} times the exact quantile" in tables[1].sentence
        for table in tables:
            shares = [float(row[1]) for row in table.rows]
            assert all(low < high for low, high in itertools.pairwise(shares))


class TestGroups:
    @pytest.mark.slow
    def test_errors_fall_with_the_size_and_with_epsilon(self):
        results = fx.Study.ready("groups", draws=0, datasets=200).run(workers=1)
        for table in tables_of(results.to_dict()):
            figures = np.array([[float(cell) for cell in row[1:]] for row in table.rows])
            assert figures.shape == (6, 5)
            assert (np.diff(figures, axis=0) <= 0).all()
            assert (np.diff(figures, axis=1) <= 0).all()


def test_the_reference_lists_all_with_their_questions():
    lines = (DOCS / "reference" / "studies.md").read_text().splitlines()
    rows = [line.split(" | ") for line in lines if line.startswith("| `")]
    assert [row[0].strip("|` ") for row in rows] == list(READY)
    assert [row[1] for row in rows] == [study.question for study in READY.values()]


@pytest.fixture(scope="module")
def tops():
    results = fx.Study.ready("top-k", draws=40, epsilon=1.0).run(workers=1)
    assert results.agree
    return {
        table.title: {
            row[0]: [float(cell.replace(",", "")) for cell in row[1:]] for row in table.rows
        }
        for table in tables_of(results.to_dict())
    }


class TestTopK:
    """The joint mechanism's losses are those of its law; each way is the better one somewhere."""

    @pytest.mark.slow
    def test_exact_losses(self, tops):
        for k in (20, 50):
            losses = tops[f"Mean loss of the worst place, in records (k = {k}, ε = 1)"]
            for label, counts in COUNTS.items():
                want = fx.JointTopK(k, 1.0).law(counts).expected_loss()
                assert losses[label][0] == pytest.approx(want, rel=0.01)

    def test_who_is_better_where(self, tops):
        losses = tops["Mean loss of the worst place, in records (k = 50, ε = 1)"]
        shares = tops[next(title for title in tops if "share" in title and "k = 50" in title)]
        assert all(row[0] < min(row[1], *row[4:]) for row in losses.values())
        assert losses["flat tail"][0] > losses["flat tail"][2]  # rounds with delta
        assert shares["flat tail"][0] > max(shares["flat tail"][1:])
        assert shares["Zipf"][0] < shares["Zipf"][1]
