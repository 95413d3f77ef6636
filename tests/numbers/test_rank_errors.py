"""Are accuracy figures of many rows at once those of each row's own exact law?"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from tests.doors.numbers import RowFigures, distance, rank_errors
from tests.messages import raises
from tests.support.each import each

TOLERANCE = 1e-12
EDGES = np.array([0.0, 1e-9, 0.1, 0.25, 0.3, 0.5, 1.0, 2.0, 3.5, 5.0, 40.0, 1e3, np.inf])
CONVENTIONS = ["weak", "lower", "upper", "strict"]
GRIDS = [{"step": 1}, {"step": 0.1}, {"step": 0.25}, {}]


def data(name: str, rows: int, n: int) -> np.ndarray:
    """Sorted rows: smooth, tied, with records outside (0, 10), all equal, far apart."""
    rng = np.random.default_rng([n, len(name)])
    made = {
        "smooth": lambda: rng.normal(5, 1, (rows, n)),
        "outside": lambda: rng.normal(6, 9, (rows, n)),
        "integers": lambda: rng.poisson(4, (rows, n)),
        "tied": lambda: rng.choice([2.0, 2.1, 7.3], (rows, n)),
        "equal": lambda: np.full((rows, n), 3.0),
        "skewed": lambda: rng.exponential(0.01, (rows, n)).round(4),
    }
    return np.sort(made[name](), axis=1)


def truths_of(rows: np.ndarray) -> np.ndarray:
    """Points of the grid, points between, and points outside."""
    found = np.median(rows, axis=1)
    found[1::4] = found[1::4].round()
    found[2::4] += 0.123
    found[3::4] = [-1.0, 11.5, 0.0, 10.0][rows.shape[1] % 4]
    return found


def compare(mechanism, rows, truths, edges=EDGES):
    """All figures of all rows against each row's law."""
    statistic, unit = mechanism._statistic, mechanism._unit
    assert rank_errors.is_regular(statistic, rows)
    found = rank_errors.figures(statistic, rows, truths, unit)
    inside = rank_errors.masses(statistic, rows, truths, edges)
    width = float(mechanism.bounds[1] - mechanism.bounds[0])
    for r, truth in enumerate(truths.tolist()):
        law = mechanism.law(rows[r])
        error = law.expected_error(truth)
        assert found.error[r] == pytest.approx(error, rel=TOLERANCE, abs=1e-200)
        bias, rounding = law.mean() - truth, 1e-15 * width
        assert abs(found.bias[r] - bias) <= TOLERANCE * error + 3 * rounding
        assert found.loss[r] == pytest.approx(law.expected_loss(), rel=TOLERANCE, abs=1e-200)
        square = law.var() + bias * bias
        assert found.error_square[r] == pytest.approx(square, rel=1e-9, abs=rounding**2)
        (below, _), (upto, _) = law._window(np.full(edges.shape, truth), edges)
        assert np.allclose(inside[r], np.maximum(upto - below, 0), rtol=0, atol=TOLERANCE)


class TestAgainstLaws:
    @pytest.mark.slow
    @each("convention", CONVENTIONS)
    @each("neighbors", ["add-remove", "replace"])
    @each("n", [1, 2, 3, 8, 21, 400])
    def test_medians_of_all_sorts(self, convention, neighbors, n):
        for grid, (name, epsilon) in itertools.product(
            GRIDS, [("smooth", 1.0), ("tied", 20.0), ("outside", 0.3)]
        ):
            bounds = (0, 10)
            how = {"neighbors": neighbors, "convention": convention}
            mechanism = fx.Median(epsilon, bounds, **grid, **how)
            rows = data(name, 4, n)
            compare(mechanism, rows, truths_of(rows))

    @pytest.mark.slow
    @each("epsilon", [0.01, 0.1, 1.0, 5.0, 20.0])
    @each("name", ["smooth", "integers", "equal", "skewed", "outside"])
    def test_any_epsilon_and_data(self, epsilon, name):
        for grid, n in itertools.product(GRIDS, [5, 100]):
            rows = data(name, 4, n)
            compare(fx.Median(epsilon, (0, 10), **grid), rows, truths_of(rows))

    @pytest.mark.slow
    @each(
        "make",
        [
            lambda **how: fx.Quantile(0.9, 0.7, (0, 10), **how),
            lambda **how: fx.Quantile(0.9, 0.7, (0, 10), neighbors="replace", **how),
            lambda **how: fx.Quantile(0.25, 2.0, (0, 10), convention="lower", **how),
            lambda **how: fx.Quantile(0.123, 2.0, (0, 10), **how),
            lambda **how: fx.OrderStatistic(3, 0.7, (0, 10), **how),
            lambda **how: fx.OrderStatistic(50, 0.7, (0, 10), **how),
            lambda **how: fx.Maximum(0.7, (0, 10), **how),
        ],
    )
    def test_other_ranks(self, make):
        for grid, name, n in itertools.product(GRIDS, ["smooth", "tied", "outside"], [1, 10, 101]):
            rows = data(name, 4, n)
            compare(make(**grid), rows, truths_of(rows))

    @each("bounds", [(-4, 4.123457), (0, 1e-3), (1e6, 1e6 + 1), (-5, 2**30 - 5)])
    def test_grids_of_any_scale(self, bounds):
        low, high = bounds
        rows = np.sort(np.random.default_rng(3).uniform(low, high, (4, 60)), axis=1)
        truths = np.median(rows, axis=1)
        edges = (high - low) * np.array([0.0, 0.01, 0.2, 0.6, 2.0])
        mechanism = fx.Median(1.0, bounds)
        found = rank_errors.figures(mechanism._statistic, rows, truths)
        inside = rank_errors.masses(mechanism._statistic, rows, truths, edges)
        for r, truth in enumerate(truths.tolist()):
            law = mechanism.law(rows[r])
            assert found.error[r] == pytest.approx(law.expected_error(truth), rel=1e-11)
            (below, _), (upto, _) = law._window(np.full(edges.shape, truth), edges)
            assert np.allclose(inside[r], np.maximum(upto - below, 0), rtol=0, atol=TOLERANCE)

    def test_many_edges_on_points_and_beside_them(self):
        rows = data("outside", 3, 31)
        truths = np.array([4.9, 5.0, 5.05])
        edges = np.sort(np.concatenate([np.arange(700) / 100, [-1.0, -1e-9, np.nextafter(0.3, 1)]]))
        compare(fx.Median(0.2, (0, 10), step=0.1), rows, truths, edges)

    def test_one_tie_anywhere(self):
        rows = data("smooth", 60, 100)
        for r in range(60):
            rows[r, 20 + r + 1] = rows[r, 20 + r]
        compare(fx.Median(0.2, (0, 10), step=1e-6), rows, truths_of(rows))

    def test_long_rows_of_ties_are_crossed_quickly(self):
        rows = np.repeat([[3.0, 5.0, 6.0]], [40_000, 30_001, 29_999], axis=1)
        compare(fx.Median(1e-4, (0, 10), step=1), rows, np.array([5.0]))


def exactly(mechanism, row, truth, edges):
    """Figures by their definition: all points, in Fractions, with rational weights 2**-distance."""
    grid, form = mechanism.grid, mechanism._statistic.form_of(len(row))
    points = [grid.exact(t) for t in range(grid.size)]
    mapped = np.array([max(0, sum(p <= x for p in points) - 1) for x in row])
    d = [
        int(distance.distance(form, (mapped < t).sum(), (mapped == t).sum(), (mapped > t).sum()))
        for t in range(grid.size)
    ]
    w = [Fraction(1, 2**k) for k in d]
    total, errors = sum(w), [abs(p - Fraction(truth)) for p in points]
    pairs = list(zip(w, errors, strict=True))
    return (
        float(sum(a * e for a, e in pairs) / total),
        float(sum(a * (p - Fraction(truth)) for a, p in zip(w, points, strict=True)) / total),
        float(sum(a * (k - min(d)) for a, k in zip(w, d, strict=True)) / total),
        [float(sum(a for a, e in pairs if e <= Fraction(edge)) / total) for edge in edges],
        [k - min(d) for k in d],
        float(sum(a * e * e for a, e in pairs) / total),
        float(sum(a * (k - min(d)) ** 2 for a, k in zip(w, d, strict=True)) / total),
    )


@pytest.mark.proof
class TestByDefinition:
    @each("convention", CONVENTIONS)
    @each("neighbors", ["add-remove", "replace"])
    @each("kind", [np.float64, np.int64])
    def test_tiny_grids_in_fractions(self, convention, neighbors, kind):
        mechanism = fx.Median(
            2 * np.log(2), (-2, 3), step=1, neighbors=neighbors, convention=convention
        )
        edges = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 4.0])
        outputs = mechanism.grid.values(np.arange(6))
        for n in (1, 2, 3, 4):
            every = itertools.combinations_with_replacement([-3, -2, -1, 0, 1, 5], n)
            rows = np.array(list(every), kind)
            for truth in (-2.0, 0.5, 1.0, 7.0):
                truths = np.full(rows.shape[0], truth)
                statistic = mechanism._statistic
                found = rank_errors.figures(statistic, rows, truths)
                inside = rank_errors.masses(statistic, rows, truths, edges)
                given = np.tile(outputs, (rows.shape[0], 1))
                losses = rank_errors.distances(statistic, rows, given)
                for r in range(0, rows.shape[0], 5):
                    known = exactly(mechanism, rows[r], truth, edges)
                    error, mean, loss, mass, far, square, loss_square = known
                    assert found.error_square[r] == pytest.approx(square, rel=1e-13)
                    assert found.loss_square[r] == pytest.approx(loss_square, rel=1e-13)
                    assert found.error[r] == pytest.approx(error, rel=1e-14)
                    assert found.bias[r] == pytest.approx(mean, rel=1e-13, abs=1e-14 * error)
                    assert found.loss[r] == pytest.approx(loss, rel=1e-14)
                    assert inside[r] == pytest.approx(mass, rel=1e-14)
                    assert losses[r].tolist() == far

    def test_steep_laws_keep_the_digits_of_what_is_rare(self):
        mechanism = fx.Median(20.0, (0, 100), step=1)
        rows = np.array([[7] * 20 + [9] * 3])
        found = rank_errors.figures(mechanism._statistic, rows, np.array([7.0]))
        law = mechanism.law(rows[0])
        assert 0 < law.expected_error(7) < 1e-70
        assert found.error[0] == pytest.approx(law.expected_error(7), rel=1e-12)
        assert found.bias[0] == pytest.approx(found.error[0] * 0.86, rel=0.2)

    def test_no_loss_and_no_error(self):
        mechanism = fx.Median(150.0, (0, 2), step=1)
        found = rank_errors.figures(mechanism._statistic, np.ones((1, 30)), np.ones(1))
        assert found == RowFigures(*np.zeros((5, 1)))


class TestDistances:
    @pytest.mark.parametrize("q", [0.5, 0.9])
    def test_of_draws_average_to_the_expected_loss(self, q):
        mechanism = fx.Quantile(q, 0.5, (0, 10))
        rows = data("smooth", 3, 80)
        draws = mechanism.sample(rows, 20_000, rng=4)
        unit = mechanism._unit
        losses = rank_errors.distances(mechanism._statistic, rows, draws, unit)
        found = rank_errors.figures(mechanism._statistic, rows, np.zeros(3), unit)
        error = losses.std(axis=1) / np.sqrt(20_000)
        assert (np.abs(losses.mean(axis=1) - found.loss) < 5 * error).all()

    def test_one_by_one(self):
        mechanism = fx.Quantile(0.3, 0.5, (0, 10), step=0.1)
        rows = data("outside", 5, 40)
        points = np.tile(mechanism.grid.values(np.arange(101)), (5, 1))
        found = rank_errors.distances(mechanism._statistic, rows, points, mechanism._unit)
        for r in range(5):
            law = mechanism.law(rows[r])
            p, far = law.probabilities, found[r]
            assert float(p @ far) == pytest.approx(law.expected_loss(), rel=1e-12)
            assert far.min() == 0
            order = np.argsort(far)
            assert (np.diff(p[order]) <= 1e-15).all()


class TestWhichRows:
    def test_rows_do_not_know_of_each_other(self):
        rows, mechanism = data("smooth", 9, 50), fx.Median(1.0, (0, 10))
        truths = truths_of(rows)
        together = rank_errors.figures(mechanism._statistic, rows, truths)
        masses = rank_errors.masses(mechanism._statistic, rows, truths, EDGES)
        for r in range(9):
            some = slice(r, r + 1)
            alone = rank_errors.figures(mechanism._statistic, rows[some], truths[some])
            assert [x[0] for x in alone] == [x[r] for x in together]
            mass = rank_errors.masses(mechanism._statistic, rows[some], truths[some], EDGES)
            assert mass.tolist() == masses[some].tolist()

    @pytest.mark.parametrize("name", ["smooth", "integers", "outside", "equal"])
    @pytest.mark.parametrize("convention", ["weak", "strict"])
    def test_it_does_not_matter_how_many_ranks_come_first(self, name, convention, monkeypatch):
        mechanism = fx.Median(1.0, (0, 10), neighbors="replace", convention=convention)
        rows = data(name, 40, 300)
        truths = truths_of(rows)
        outputs = np.hstack([mechanism.sample(rows, 50, rng=2), rows[:, ::50].clip(0, 10)])
        statistic = mechanism._statistic
        figures = rank_errors.figures(statistic, rows, truths)
        masses = rank_errors.masses(statistic, rows, truths, EDGES)
        losses = rank_errors.distances(statistic, rows, outputs)
        assert not np.isnan(losses).any()
        looks = []
        for bits in (1, 16, 10**6):
            monkeypatch.setattr(rank_errors, "BITS", bits)
            again = rank_errors.figures(statistic, rows, truths)
            for a, b in zip(figures, again, strict=True):
                assert np.allclose(a, b, rtol=1e-13, atol=1e-14 * figures.error.max())
            again = rank_errors.masses(statistic, rows, truths, EDGES)
            assert np.allclose(masses, again, rtol=0, atol=1e-14)
            assert rank_errors.distances(statistic, rows, outputs).tolist() == losses.tolist()
            looks.append(rank_errors._ranks(statistic, 300, bits).low)
        assert looks[0] > looks[1] > looks[2] == 0

    def test_only_rows_that_need_them_get_more_ranks(self, monkeypatch):
        mechanism, calls = fx.Median(1.0, (0, 10), step=1e-3), []
        rows, cells_of = data("smooth", 40, 300), rank_errors.row_cells
        rows[7, :] = 3.0
        rows[9, :] = 3.0
        rows[9, -1] = 9.0  # so far away that it counts for the error
        monkeypatch.setattr(rank_errors, "ROWS", 32)
        monkeypatch.setattr(
            rank_errors, "row_cells", lambda *given: calls.append(len(given[2])) or cells_of(*given)
        )
        figures = rank_errors.figures(mechanism._statistic, rows, np.full(40, 3.0))
        assert calls[:3] == [32, 8, 1]  # ties at the end of the window are followed: row 7 is whole
        laws = [mechanism.law(rows[r]).expected_error(3.0) for r in (7, 9)]
        assert figures.error[[7, 9]] == pytest.approx(laws, rel=1e-12, abs=0)

    def test_what_is_left_to_laws(self):
        rows, plain = data("smooth", 2, 9), fx.Median(1.0, (0, 10))
        assert rank_errors.is_regular(plain._statistic, rows)
        gaps = rows.copy()
        gaps[1, -1] = np.nan
        for mechanism, other in [
            (fx.Median(1.0, (0, 10), widen=0.5), rows),
            (fx.Median(1.0, (0, 10), grid=[1, 2, 5]), rows),
            (fx.Median(1.0, (0, 10), grid=[1, 2, 5], widen=2), rows),
            (fx.Median(1.0, (0, 2**60), step=2**20), rows),
            (plain, gaps),
            (plain, rows[:, :0]),
            (plain, rows[0]),
            (plain, rows.astype(np.float32)),
        ]:
            assert not rank_errors.is_regular(mechanism._statistic, other)
        assert rank_errors.is_regular(fx.Median(1000.0, (0, 10))._statistic, rows)
        listed = fx.Median(1.0, (0, 10), grid=[1, 2, 5])._statistic
        with raises("rows on a grid"):
            rank_errors.figures(listed, rows, np.zeros(2))

    def test_no_rows(self):
        statistic = fx.Median(1.0, (0, 10))._statistic
        none = np.empty((0, 5))
        assert rank_errors.figures(statistic, none, np.empty(0)).bias.shape == (0,)
        assert rank_errors.masses(statistic, none, np.empty(0), EDGES).shape == (0, EDGES.size)
        assert rank_errors.distances(statistic, none, np.empty((0, 3))).shape == (0, 3)
