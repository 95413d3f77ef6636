"""Are utilities exact, and are weights the exponentials of them that mechanisms document?"""

from __future__ import annotations

import itertools
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from tests.messages import raises
from tests.support.checks.numbers import CASES
from tests.support.each import each
from tests.twins import numbers as twins

RANDOM = np.random.default_rng(11)
SIZE = 7
DATA = [[], [3], [0, 0, 6], [1, 2, 2, 5], [6] * 5, [0, 1, 2, 3, 4, 5, 6], [2, 2, 2, 5, 5, 5, 0, 6]]
POINTS = [-3.5, -1.0, 0.25, 0.375, 4.0, 1e6, 2.0**60]  # no two gaps are equal


def same(utilities, exact):
    """Whether utilities are these numbers, or the nearest doubles to them."""
    expected = [float(u) for u in exact]
    return utilities.tolist() == expected and utilities.dtype in (np.int64, np.float64)


def log_weights_are(law, utilities, rate):
    """Whether ln P is rate * utility and a constant."""
    logs = law.log_probabilities
    off = logs - float(rate) * np.asarray(utilities, np.float64)
    assert off == pytest.approx(off[0], abs=1e-12 * (1 + np.abs(logs).max()))


class TestDistances:
    @pytest.mark.slow
    @each("case", CASES, ids=repr)
    def test_they_are_minus_the_distances_of_the_definition(self, case):
        grids = [({"bounds": (0, SIZE - 1), "step": 1}, 0.7), ({"bounds": (-1, 0.5)}, 1.3)]
        for grid, epsilon in grids:
            form = grid if "step" in grid else {**grid, "step": 0.25}
            if getattr(case.make, "keywords", {}).get("widen") and "step" not in grid:
                continue  # widths of cases are in steps of 1
            mechanism = case.make(epsilon, **form)
            points = mechanism.grid.values(np.arange(SIZE))
            for indices in DATA:
                law = mechanism.law(points[indices])
                exact = [-d for d in case.distances(indices, SIZE)]
                utilities = law.utility(law.points)
                assert same(utilities, exact), (grid, indices)
                assert (utilities.dtype == np.int64) == (case.unit == 1)
                log_weights_are(law, exact, Fraction(epsilon) / (2 * case.sensitivity * case.unit))

    @each("case", [c for c in CASES if not getattr(c.make, "keywords", {}).get("widen")], ids=repr)
    def test_on_points_that_are_not_evenly_spaced(self, case):
        mechanism = case.make(0.7, None, grid=POINTS)
        for indices in DATA:
            law = mechanism.law(np.array(POINTS)[indices])
            exact = [-d for d in case.distances(indices, SIZE)]
            assert same(law.utility(POINTS), exact)
            log_weights_are(law, exact, Fraction(0.7) / (2 * case.sensitivity * case.unit))

    @pytest.mark.parametrize("make", [fx.Median, fx.Mode])
    def test_widened_on_points(self, make):
        plain, wide = (make(0.7, grid=POINTS, widen=width) for width in (0, 1.375))
        for indices in DATA:
            records = np.array(POINTS)[indices]
            own = plain.law(records).utility(POINTS)
            exact = [max(own[abs(np.array(POINTS) - p) <= 1.375]) for p in POINTS]
            law = wide.law(records)
            assert law.utility(POINTS).tolist() == exact
            log_weights_are(law, exact, 0.35)

    def test_of_a_quantile_with_many_digits_they_are_rounded_once(self):
        q = Fraction(333_333_333, 1_000_000_000)
        law = fx.Quantile(q, 1.0, (0, 10), step=1).law((range(11), [10**7] * 11))
        for point in range(11):
            low, high = point * 10**7, (10 - point) * 10**7
            exact = -max(low - q * 11 * 10**7, high - (1 - q) * 11 * 10**7, Fraction(0))
            assert law.utility(point) == float(exact)
            assert exact == 0 or Fraction(law.utility(point)) != exact


class TestPrices:
    GRIDS = (
        {"bounds": (0, 3.5), "step": 0.25},
        {"bounds": (1, 9), "step": 1},
        {"bounds": (0, 3.5), "step": 0.01},
        {"bounds": (0, 2**61), "step": 2**58},
        {"bounds": (Decimal("0.001"), Decimal("4000000000000000.001")), "step": 10**15},
        {"grid": [0.0, 0.1, 1.0, 3.01, 3.1]},
        {"grid": [1, 3, 10, 2**60]},
        {"grid": [0.1, 1e17, 1e200]},
    )

    @each("grid", GRIDS, ids=repr)
    @each("scaling", ["tight", "textbook"])
    def test_they_are_revenues(self, grid, scaling):
        m = fx.Price(epsilon=3.0, scaling=scaling, **grid)
        prices = [m.grid.exact(t) for t in range(m.grid.size)]
        values = m.grid.values(np.arange(m.grid.size))
        for bids in ([], [1, 1, 1, 3.01], RANDOM.choice(values, 12), [values[-1]] * 5):
            law = m.law(bids)
            exact_bids = [m.grid.exact(max(int((values <= bid).sum()) - 1, 0)) for bid in bids]
            if any(bid < values[0] for bid in bids):
                continue
            exact = twins.revenue(exact_bids, prices)
            utilities = law.utility(values)
            assert same(utilities, exact)
            factor = {"tight": 1, "textbook": 2}[scaling]
            rate = Fraction(3) / (factor * prices[-1])
            log_weights_are(law, [u * rate for u in exact], 1)

    def test_integers_stay_integers_while_int64_holds_them(self):
        assert fx.Price(1.0, (1, 9), step=1).law([2, 3]).utility([1, 2, 3]).dtype == np.int64
        large = fx.Price(1.0, (0, 2**61), step=2**58).law([2**61] * 9)
        assert large.utility(2**61) == 9.0 * 2**61
        odd = fx.Price(1.0, grid=[1, 2**54 + 1]).law([2**54 + 1] * 3)
        assert odd.utility(2**54 + 1) == 3 * (2**54 + 1)


class TestLaplace:
    STATISTICS = (0, 3, 10.3, -7.75, Fraction(1, 3), Fraction(-22, 7), 2.0**-40)

    @each("f", STATISTICS)
    @each(("step", "bounds"), [(1, None), (0.1, None), (1, (0, 5)), (0.1, (-1, 1))])
    def test_they_are_minus_the_distances_from_the_statistic(self, f, step, bounds):
        m = fx.Laplace(1.0, 1, step=step, bounds=bounds)
        law, width = m.law(f), Fraction(str(step))
        middle = f if bounds is None else min(max(f, bounds[0]), bounds[1])
        near = round(Fraction(middle) / width)
        indices = range(near - 9, near + 9)
        if bounds is not None:
            indices = range(int(bounds[0] / width), int(bounds[1] / width) + 1)
        points = [i * width for i in indices]
        exact = [-abs(Fraction(middle) - p) for p in points]
        values = np.array([float(p) for p in points])
        assert same(law.utility(values), exact)
        logs = np.log(law.pmf(values))
        rate = 1.0 if bounds is None else float(law._rate / law._unit)
        off = logs - rate * np.array([float(u) for u in exact])
        assert off == pytest.approx(off[0], abs=1e-11)

    def test_integers_where_statistic_and_step_are(self):
        assert fx.Laplace(1.0, 1, step=1).law(10).utility([8, 12]).dtype == np.int64
        assert fx.Laplace(1.0, 1, step=1).law(10.5).utility([8, 12]).tolist() == [-2.5, -1.5]
        far = fx.Laplace(1.0, 1, step=1).law(2**60)
        assert far.utility(2**60 + 3) == -3


class TestCandidates:
    @each(
        "given",
        [
            np.array([3, -1, 2**62 + 1]),
            np.array([3, 1, 2**64 - 1], np.uint64),
            np.array([3.0, 1.0, 2.5]),
            np.array([3.0, 1.0, 2.0]),
            [1, 0, 7],
            [1.0, 0, 7],
        ],
        ids=repr,
    )
    @each("name", ["Exponential", "PermuteAndFlip", "TopK"])
    def test_they_are_those_that_were_given(self, given, name):
        rest = {"epsilon": 1.0, "sensitivity": 1.0}
        m = fx.TopK(2, **rest) if name == "TopK" else getattr(fx, name)(**rest)
        utilities = m.law(given).utilities
        array = np.asarray(given)
        wide = {"i": np.int64, "u": np.uint64, "f": np.float64}[array.dtype.kind]
        assert utilities.dtype == wide
        assert utilities.tolist() == array.tolist()
        with pytest.raises(ValueError, match="read-only"):
            utilities[0] = 9

    @pytest.mark.parametrize("monotonic", [False, True])
    def test_weights_are_their_exponentials(self, monotonic):
        given, base = np.array([3.0, 1.25, -2.0, 0.0]), [1, 0, 2, 5]
        m = fx.Exponential(1.5, 2.0, monotonic=monotonic, base=base)
        law, rate = m.law(given), 1.5 / 2 / (1 if monotonic else 2)
        weights = np.array(base) * np.exp(rate * law.utilities)
        assert law.probabilities == pytest.approx(weights / weights.sum(), rel=1e-13)
        one = fx.Exponential(1.5, 2.0, monotonic=monotonic).law(given)
        log_weights_are(one, one.utilities, rate)
        assert (one.with_epsilon(9.0).utilities == given).all()

    def test_counts_scores_bits_and_what_stands_for_nan(self):
        records, drinks = ["tea", "rye", "tea", "gin"], ["rye", "tea"]
        law = fx.MostCommon(1.0, drinks).law(records)
        assert law.utilities.tolist() == [1, 2]
        assert law.utilities.dtype == np.int64
        log_weights_are(law, law.utilities, 1.0)
        replaced = fx.MostCommon(1.0, drinks, neighbors="replace").law(records)
        log_weights_are(replaced, replaced.utilities, 0.5)
        scored = fx.Exponential.from_score(
            lambda data, r: data.count(r), drinks, epsilon=1.0, sensitivity=1.0
        )
        assert scored.law(records).utilities.tolist() == [1, 2]
        bit = fx.RandomizedResponse(1.25).law(1)
        assert bit.utilities.tolist() == [0, 1]
        log_weights_are(bit, bit.utilities, 1.25)
        lowest = fx.Exponential(1.0, 1.0).law([1.0, np.nan], nan="lowest")
        assert lowest.utilities.tolist() == [1.0, -np.finfo(float).max]

    @each("neighbors", ["add-remove", "replace"])
    @each("k", [1, 2, 3])
    def test_a_joint_selection_has_minus_its_greatest_shortfall(self, k, neighbors):
        counts = [5, 9, 5, 2]
        law = fx.JointTopK(k, epsilon=1.0, neighbors=neighbors).law(counts)
        assert law.utilities.tolist() == counts
        best = sorted(counts, reverse=True)
        rate = float(law._weighting.rate)
        logs = []
        for chosen in itertools.permutations(range(4), k):
            exact = -max(best[i] - counts[c] for i, c in enumerate(chosen))
            assert law.utility(chosen) == exact
            assert type(law.utility(chosen)) is int
            logs.append(law.log_probability(chosen) - rate * exact)
        assert logs == pytest.approx([logs[0]] * len(logs), abs=1e-12)
        divisor = {"add-remove": 1 if k == 1 else 2, "replace": 2 if k == 1 else 4}[neighbors]
        assert rate * divisor == pytest.approx(1.0)

    def test_a_joint_selection_that_is_none_is_refused(self):
        law = fx.JointTopK(2, epsilon=1.0).law([5, 9, 5, 2])
        for chosen in ([0], [0, 0], [0, 4], [0, 1, 2]):
            with pytest.raises(fx.ParameterError):
                law.utility(chosen)


class TestArguments:
    LAW = fx.Median(1.0, (0, 10), step=1).law([1, 2, 4, 7])

    def test_one_is_a_number_and_many_have_their_shape(self):
        assert self.LAW.utility(2) == 0
        assert type(self.LAW.utility(1)) is int
        assert type(fx.Price(1.0, (0, 1), step=0.5).law([1]).utility(0.5)) is float
        assert self.LAW.utility([[0, 1], [2, 10]]).tolist() == [[-4, -2], [0, -4]]
        assert self.LAW.utility([]).shape == (0,)

    def test_a_law_that_is_built_from_its_parts_has_none(self):
        law = self.LAW
        parts = law._grid, law._body, law._unit, law._rate, law._epsilon, law._sampler
        with raises("utility: law without data"):
            fx.GridLaw(*parts).utility(1)

    def test_one_of_several_quantiles_has_none(self):
        law = fx.Quantiles([0.25, 0.75], 1.0, (0, 10), step=1).law([1, 2, 4, 7])
        assert law.marginal(1).ppf(0.5) in range(11)

    def test_they_stay_at_another_epsilon_in_a_pickle_and_of_a_file(self, tmp_path):
        np.save(tmp_path / "a.npy", np.array([1, 2, 4, 7]))
        laws = [
            self.LAW.with_epsilon(3.0),
            pickle.loads(pickle.dumps(self.LAW)),
            fx.Median(1.0, (0, 10), step=1).law(tmp_path / "a.npy"),
            fx.Median(1.0, (0, 10), step=1).law(([7, 4, 2, 1], [1, 1, 1, 1])),
        ]
        points = self.LAW.points
        for law in laws:
            assert (law.utility(points) == self.LAW.utility(points)).all()
        price = fx.Price(1.0, (0, 9), step=1).law([2, 3]).with_epsilon(2.0)
        assert pickle.loads(pickle.dumps(price)).utility([2, 3]).tolist() == [4, 3]
        laplace = fx.Laplace(1.0, 1, step=1).law(5).with_epsilon(0.1)
        assert laplace.utility([4, 5, 7]).tolist() == [-1, 0, -2]

    def test_the_best_is_that_of_losses(self):
        for law in (self.LAW, fx.Price(1.0, (0, 9), step=0.5).law([2, 3, 8.5])):
            utilities = law.utility(law.points)
            loss = utilities.max() - utilities
            assert law.expected_loss() == pytest.approx(float((law.probabilities * loss).sum()))
            assert law.expected_utility() == pytest.approx(float(law.probabilities @ utilities))
