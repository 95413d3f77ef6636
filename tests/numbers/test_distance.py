"""Is every rank distance the number of steps that its definition says, in exact integers?"""

# ruff: noqa: E501  (a table, a row a case)

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from math import ceil, floor
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from fastexp.errors import ParameterError, ParameterTypeError
from tests.doors.numbers import distance as d
from tests.messages import raises, says
from tests.support.each import each
from tests.twins import numbers as twins

HALF = Fraction(1, 2)
QUANTILES = [Fraction(*pair) for pair in ((1, 2), (1, 4), (3, 4), (1, 10), (9, 10), (1, 3), (2, 3), (2, 5), (1, 100))]  # fmt: skip
VALUES = 4  # what records and points can be: 0, 1, 2, 3
MOST = 6  # records in a data set
FAR = 1 << 30
AR, SW = "add-remove", "replace"


class Case(NamedTuple):
    """A statistic: which points it includes, its form for n records, its twin, its sensitivity."""

    name: str
    neighbors: str
    includes: Callable[[list[int]], set[int]]  # of sorted records
    form: Callable[[int], np.ndarray]  # of n
    twin: Callable[[int, int, int], int | Fraction]
    steps: int = 1
    unit: Fraction = Fraction(1)

    def __repr__(self) -> str:
        return f"{self.name}, {self.neighbors}"


def record(rank: Callable[[int], int]) -> Callable[[list[int]], set[int]]:
    """The statistic that is the record of rank(n), from 1; none if there is no such record."""

    def includes(records: list[int]) -> set[int]:
        r = rank(len(records))
        return {records[r - 1]} if 1 <= r <= len(records) else set()

    return includes


def between(records: list[int], q: Fraction) -> set[int]:
    """All points from the lower to the upper q-quantile; none of no records."""
    n = len(records)
    if n == 0:
        return set()
    low, high = records[ceil(q * n) - 1], records[floor(q * n)]
    return set(range(low, high + 1))


def both(records: list[int]) -> set[int]:
    """The lower and the upper median where they are one."""
    n = len(records)
    return {records[n // 2]} if n and records[(n - 1) // 2] == records[n // 2] else set()


def modes(records: list[int]) -> set[int]:
    """The value that is more frequent than every other one."""
    counts = [records.count(x) for x in range(VALUES)]
    return {x for x, c in enumerate(counts) if counts.count(max(counts)) == 1 and c == max(counts)}


def quantile_form(q: Fraction, n: int, neighbors: str, convention: str) -> np.ndarray:
    return d.QuantileForms(q, neighbors, d.as_convention(q, convention))(n)


def quantile_case(q: Fraction, neighbors: str, convention: str) -> Case:
    rank = {"lower": lambda n: max(1, ceil(q * n)), "upper": lambda n: n // 2 + 1}
    includes = {"weak": partial(between, q=q), "strict": both}
    named = f"{convention}_{neighbors.replace('-', '_')}"
    quantile = getattr(twins, f"quantile_{named}", None)
    twin = getattr(twins, named) if q == HALF else partial(quantile, q)
    return Case(
        f"{convention} {q}",
        neighbors,
        record(rank[convention]) if convention in rank else includes[convention],
        lambda n: quantile_form(q, n, neighbors, convention),
        twin,
        d.steps(q, neighbors, convention),
        # the median's twin counts steps, which are halves of ranks
        Fraction(1) if q == HALF else d.unit(q, neighbors, convention),
    )


def order_case(r: int) -> Case:
    includes, twin = record(lambda n: n - r + 1), partial(twins.order_add_remove, r)
    return Case(f"{r}. largest", AR, includes, d.OrderForms(r), twin)


def maximum_case() -> Case:
    return order_case(1)._replace(name="maximum", twin=twins.maximum_add_remove)


MEDIANS = [quantile_case(HALF, n, c) for n in (AR, SW) for c in ("weak", "lower", "upper", "strict")]  # fmt: skip
OTHERS = [quantile_case(q, n, c) for q in QUANTILES[1:] for n in (AR, SW) for c in ("weak", "lower")]  # fmt: skip
ORDERS = [*map(order_case, range(1, 5)), maximum_case()]
CASES = MEDIANS + OTHERS + ORDERS
RANKS_ONLY = [c for c in OTHERS if c.neighbors == AR and c.name.startswith("weak")]
DUFF = [c for c in CASES if c not in RANKS_ONLY]


def data_sets(sizes: range) -> list[tuple[int, ...]]:
    """All data sets of these sizes, as counts of each value."""
    counts = itertools.product(range(max(sizes) + 1), repeat=VALUES)
    return [c for c in counts if sum(c) in sizes]


def records_of(counts: tuple[int, ...]) -> list[int]:
    return [x for x, c in enumerate(counts) for _ in range(c)]


class Neighbors:
    """Data sets, and for each of them those that are one step away."""

    def __init__(self, neighbors: str, sizes: range) -> None:
        self.sets = data_sets(sizes)
        place = {s: i for i, s in enumerate(self.sets)}
        one = np.eye(VALUES, dtype=int)
        moves = [*one, *-one] if neighbors == AR else [a - b for a in one for b in one]
        self.near = np.array(
            [[place.get(tuple((s + m).tolist()), -1) for m in moves] for s in np.array(self.sets)]
        )

    def steps_to(self, goal: np.ndarray) -> np.ndarray:
        """The least number of steps from each data set to one in `goal`."""
        steps = np.where(goal, 0, FAR)
        for level in itertools.count():
            reached = np.append(steps == level, False)[self.near].any(axis=1) & (steps == FAR)
            if not reached.any():
                return steps
            steps[reached] = level + 1
        raise AssertionError


@cache
def graph(neighbors: str, n: int = 0) -> Neighbors:
    """Under add-remove: large enough that no shortest path from MOST records leaves it.

    Removing all n records and adding r copies of x makes x the r-th largest, and for r = 1
    every other statistic. So a shortest path has at most n + r steps and passes through data
    sets of at most 2 * n + r records; r <= 4. Only copies of x are ever needed, and the
    values hold points below, at and above x.
    """
    return Neighbors(neighbors, range(2 * MOST + 5) if neighbors == AR else range(n, n + 1))


def graphs(neighbors: str) -> list[Neighbors]:
    return [graph(AR)] if neighbors == AR else [graph(SW, n) for n in range(1, MOST + 2)]


def truth(case: Case, steps: Neighbors) -> np.ndarray:
    """The distance by definition, (data sets, points)."""
    found = [case.includes(records_of(s)) for s in steps.sets]
    return np.array([steps.steps_to(np.array([x in f for f in found])) for x in range(VALUES)]).T


def stated(case: Case, sets: list[tuple[int, ...]]) -> np.ndarray:
    """The form's distance, (data sets, points)."""
    rows = []
    for counts in sets:
        total = np.cumsum([0, *counts])
        rows.append(d.distance(case.form(total[-1]), total[:-1], counts, total[-1] - total[1:]))
    return np.array(rows)


class TestDefinition:
    """Breadth-first search over data sets, for every data set of up to MOST records."""

    @pytest.mark.slow
    @each("case", DUFF, ids=repr)
    def test_steps_are_counted(self, case):
        for g in graphs(case.neighbors):
            small = np.array([sum(s) <= MOST or case.neighbors == SW for s in g.sets])
            sets, found = list(itertools.compress(g.sets, small)), truth(case, g)[small]
            assert found.max() < FAR
            np.testing.assert_array_equal(stated(case, sets), found)
            literal = [[case.twin(*twins.ranks(records_of(s), x)) for x in range(VALUES)] for s in sets]  # fmt: skip
            np.testing.assert_array_equal(np.array(literal), found)

    @pytest.mark.slow
    def test_the_searched_data_sets_are_enough(self):
        """A wider margin changes nothing, and too narrow a one would be noticed."""
        wide = Neighbors(AR, range(2 * MOST + 7))
        tight = Neighbors(AR, range(MOST + 1))
        differs = False
        for case in (order_case(4), quantile_case(Fraction(9, 10), AR, "lower")):
            for other, same in ((wide, True), (tight, False)):
                sets = [s for s in tight.sets if sum(s) <= MOST]
                pair = [truth(case, g)[[g.sets.index(s) for s in sets]] for g in (graph(AR), other)]
                assert (pair[0] <= pair[1]).all() if not same else (pair[0] == pair[1]).all()
                differs |= not same and (pair[0] != pair[1]).any()
        assert differs

    @each("convention", ["weak", "lower", "upper", "strict"])
    @each("neighbors", [AR, SW])
    def test_no_records(self, neighbors, convention):
        """One copy makes a point the statistic; replacing nothing never does: any constant."""
        value = d.distance(quantile_form(HALF, 0, neighbors, convention), 0, 0, 0)
        assert value == (1 if neighbors == AR else {"weak": 0, "strict": 2}.get(convention, 1))

    def test_the_mode(self):
        g = graph(AR)
        found = truth(Case("mode", AR, modes, np.array, max), g)
        for counts, row in zip(g.sets, found, strict=True):
            if sum(counts) <= MOST:
                at = [x for x in range(VALUES) if counts[x]]
                places = [at.index(x) if counts[x] else -1 for x in range(VALUES)]
                own = d.mode_distance(np.array(counts)[at], places)
                literal = [twins.mode_add_remove(counts, x) for x in range(VALUES)]
                assert own.tolist() == literal == row.tolist()

    def test_the_modes_steps_are_of_size_one(self):
        for counts in data_sets(range(MOST + 1)):
            own = np.array([twins.mode_add_remove(counts, x) for x in range(VALUES)])
            for i in range(VALUES):
                more = [c + (j == i) for j, c in enumerate(counts)]
                other = [twins.mode_add_remove(more, x) for x in range(VALUES)]
                assert np.abs(own - other).max() == 1


class TestSensitivity:
    """By one record at any point, those at the point and data sets of 0 and 1 included."""

    @pytest.mark.slow
    @each("case", CASES, ids=repr)
    def test_it_is_reached_and_not_exceeded(self, case):
        worst = []
        for g in graphs(case.neighbors):
            small = [i for i, s in enumerate(g.sets) if sum(s) <= MOST + 1]
            values = np.full((len(g.sets) + 1, VALUES), -1)
            values[small] = stated(case, [g.sets[i] for i in small])
            near = values[g.near[small]]  # (data sets, steps, points)
            change = np.abs(near - values[small][:, None, :])
            worst.append(change[near >= 0].max())
        assert max(worst) == case.steps
        if case.neighbors == SW:  # n is public: the promise holds for each
            assert set(worst) == {1}

    def test_it_is_one_record_from_none(self):
        """The step from no records to one is the largest there is, of every form."""
        for case in CASES:
            if case.neighbors == AR:
                none, one = (stated(case, [c]) for c in ((0, 0, 0, 0), (0, 0, 1, 0)))
                assert np.abs(none - one).max() == case.steps, case


def every_rank(most: int) -> Iterator[tuple[int, np.ndarray]]:
    """(n, columns L, E, U) of all ranks up to `most`, by n."""
    columns = np.array(list(itertools.product(range(most + 1), repeat=3)))
    totals = columns.sum(axis=1)
    for n in range(3 * most + 1):
        yield n, columns[totals == n]


def differences(case: Case, slot: int | None = None, most: int = 8) -> int:
    """How often a form (with one of its numbers raised by 1) differs from its twin."""
    wrong = 0
    for n, columns in every_rank(most):
        form = case.form(n).copy()
        if slot is not None:
            form[slot] += 1
        own = d.distance(form, *columns.T)
        twin = [case.twin(*row) for row in columns.tolist()]
        wrong += sum(x * case.unit != y for x, y in zip(own.tolist(), twin, strict=True))
    return wrong


class TestForms:
    """Against the literal formulas."""

    @pytest.mark.slow
    @each("case", CASES, ids=repr)
    def test_all_small_ranks(self, case):
        assert differences(case) == 0

    @pytest.mark.slow
    @each("slot", range(16))
    def test_every_number_matters(self, slot):
        """A form that is wrong in one number is noticed."""
        tried = [quantile_case(q, AR, "lower") for q in (Fraction(1, 3), Fraction(2, 3))]
        tried += [quantile_case(Fraction(1, 3), AR, "weak")]
        assert all(differences(case, slot, 4) for case in tried if (slot > 1 or case is tried[-1]))

    @pytest.mark.slow
    @each("neighbors", [AR, SW])
    @each("convention", ["weak", "lower", "upper", "strict"])
    def test_large_ranks_without_overflow(self, neighbors, convention):
        for q, n, ranks in self.large(300, median=convention in ("upper", "strict")):
            case = quantile_case(q, neighbors, convention)
            own = int(d.distance(case.form(n), *ranks))
            assert own * case.unit == case.twin(*ranks), (q, ranks)

    @each("r", [1, 2, 1000, 2**32 - 1])
    def test_large_ranks_of_order_statistics(self, r):
        for _, n, ranks in self.large(300, median=True):
            assert d.distance(d.OrderForms(r)(n), *ranks) == twins.order_add_remove(r, *ranks)

    def large(self, count: int, median: bool) -> Iterator[tuple[Fraction, int, tuple[int, int, int]]]:  # fmt: skip
        """Quantiles of large denominators; ranks at the ends, anywhere and near the quantile."""
        rng = np.random.default_rng(7)
        top = 2**32 - 1
        for _ in range(count):
            whole = int(rng.choice([2, 3, 100, 10**9, 10**9 - 7, rng.integers(2, 10**9)]))
            q = HALF if median else Fraction(int(rng.choice([1, whole - 1, rng.integers(1, whole)])), whole)  # fmt: skip
            n = int(rng.choice([top, top - 1, rng.integers(0, top)]))
            at = min(n, int(rng.choice([0, 0, 1, 2, rng.integers(0, n + 1)])))
            near = int(q * n) + int(rng.integers(-3, 4))
            low = min(max(0, int(rng.choice([0, n, near, near, rng.integers(0, n + 1)]))), n - at)
            yield q, n, (low, at, n - low - at)

    def test_numerators_are_never_negative(self):
        """So that a division that rounds towards 0 gives the same."""
        for case in CASES:
            for n in range(30):
                for s, gate, g, offset_0, _, offset_1, _ in case.form(n)[2:].reshape(2, 7).tolist():
                    assert s > 0
                    assert g > 0
                    assert max(offset_0, offset_1) <= gate

    def test_the_halfs_quantile_is_the_median(self):
        """In every twin; the weak one under add-remove in halves, where no records are 0."""
        assert d.as_quantile(0.5) == HALF
        assert d.steps(HALF, AR, "weak") == 1
        for case in MEDIANS:
            literal = getattr(twins, f"quantile_{case.twin.__name__}", None)
            for n, columns in every_rank(5):
                for row in columns.tolist() if literal and n else ():
                    assert literal(HALF, *row) == case.twin(*row) * d.unit(HALF, *self.words(case))

    @staticmethod
    def words(case: Case) -> tuple[str, str]:
        return case.neighbors, case.name.split()[0]

    def test_units_and_steps(self):
        third = Fraction(2, 3)
        assert d.unit(third, AR, "weak") == Fraction(1, 3)
        assert d.steps(third, AR, "weak") == 2
        assert d.unit(HALF, AR, "weak") == HALF
        for neighbors, convention in ((AR, "lower"), (SW, "weak"), (SW, "lower")):
            assert d.unit(third, neighbors, convention) == 1
            assert d.steps(third, neighbors, convention) == 1


class TestGaps:
    """Points that are not records: the distance as a function of the rank alone."""

    @staticmethod
    def gaps(form: np.ndarray, n: int) -> np.ndarray:
        i = np.arange(n + 1)
        return d.distance(form, i, 0, n - i)

    def test_the_medians_table(self):
        """Closed forms of the distance in gap i."""
        for n in range(1, 20):
            i, lower, upper = np.arange(n + 1), (n + 1) // 2, n // 2 + 1
            table = {
                ("weak", AR): abs(n - 2 * i),
                ("weak", SW): np.maximum(0, np.maximum(i - n // 2, (n + 1) // 2 - i)),
                ("strict", AR): abs(n - 2 * i) + 1,
                ("lower", AR): np.maximum(n - 2 * i, 2 * i - n + 1),
                ("upper", AR): np.maximum(2 * i - n, n - 2 * i + 1),
                ("lower", SW): np.maximum(i - lower + 1, lower - i),
                ("upper", SW): np.maximum(i - upper + 1, upper - i),
            }
            even = np.where(2 * i == n, 2, abs(i - n // 2) + 1)
            table["strict", SW] = table["lower", SW] if n % 2 else even
            for (convention, neighbors), expected in table.items():
                form = quantile_form(HALF, n, neighbors, convention)
                assert self.gaps(form, n).tolist() == expected.tolist()

    @pytest.mark.slow
    @each("case", CASES, ids=repr)
    def test_the_central_ones(self, case):
        for n in range(45):
            values = self.gaps(case.form(n), n)
            least = np.flatnonzero(values == values.min())
            assert np.ptp(values[least[0] : least[-1] + 1]) == 0
            assert (np.diff(values[: least[0] + 1]) <= 0).all()
            assert (np.diff(values[least[-1] :]) >= 0).all()

    @pytest.mark.slow
    @each("case", CASES, ids=repr)
    def test_the_farthest(self, case):
        for n in range(14):
            form, far = case.form(n), d.farthest(case.form(n), n)
            found = [
                int(d.distance(form, low, at, n - low - at))
                for low in range(n + 1)
                for at in range(n + 1 - low)
            ]
            assert max(found) <= far
            assert far in (max(found), form[0], form[1])

    @each("case", CASES, ids=repr)
    def test_how_fast_they_grow(self, case):
        for n in range(0, 45, 3):
            form = case.form(n)
            values, speed = self.gaps(form, n), d.slope(form)
            least = values.min()
            first, last = np.flatnonzero(values == least)[[0, -1]]
            sides = [values[:first][::-1] - least, values[last + 1 :] - least]
            for side in sides:
                assert all(v >= 1 + floor(speed * k) for k, v in enumerate(side))
            k = min(map(len, sides))
            if k:  # and not much faster on the slower side
                assert min(side[k - 1] for side in sides) <= 1 + ceil(speed * k)

    def test_the_slower_side_counts(self):
        """Of these forms both sides are equally fast."""
        slow, fast = (1, 0, 1, 0, 0, 0, 0), (3, 0, 2, 0, 0, 0, 0)
        assert d.slope(np.array([0, 0, *slow, *fast])) == 1
        assert d.slope(np.array([0, 0, *fast, *slow])) == 1
        assert d.slope(np.array([0, 0, *fast, *fast])) == Fraction(3, 2)

    def test_large_ones(self):
        for whole, n in itertools.product((2, 3, 10**9), (2**32 - 1, 2**32 - 2, 10**9 + 1)):
            q = Fraction(whole // 3 + 1, whole) if whole > 2 else HALF
            for neighbors, convention in itertools.product((AR, SW), ("weak", "lower")):
                form = quantile_form(q, n, neighbors, convention)
                i = floor(q * n) + np.arange(-3, 5)
                values = d.distance(form, i, 0, n - i)
                least = np.flatnonzero(values == values.min())
                assert (np.diff(values[: least[0] + 1]) < 0).all()
                assert (np.diff(values[least[-1] :]) > 0).all()
                assert abs(i[least[0]] - q * n) < 2
                assert abs(i[least[-1]] - q * n) < 2


class TestRecords:
    """Points that are records: where E > 0 changes the distance."""

    @staticmethod
    def dips(case: Case) -> bool:
        lower = case in OTHERS and case.name.startswith("lower") and case.neighbors == AR
        return lower or case in ORDERS or repr(case) == "strict 1/2, replace"

    @pytest.mark.slow
    @each("case", CASES, ids=repr)
    def test_where_the_distance_is_unimodal(self, case):
        """It is, or it dips by 1 at records, as the module says."""
        deepest = 0
        for counts in itertools.product(range(3), repeat=VALUES):
            spread = [x for c in counts for x in (0, c)] + [0]  # gaps and records in turn
            total = np.cumsum([0, *spread])
            n = int(total[-1])
            values = d.distance(case.form(n), total[:-1], spread, n - total[1:])
            best = int(values.argmin())
            left = values[: best + 1][::-1]
            for side in (left, values[best:]):
                deepest = max(deepest, int((np.maximum.accumulate(side) - side).max()))
        assert deepest == (1 if self.dips(case) else 0)

    def test_a_record_is_as_close_as_the_closer_gap(self):
        """Of the medians, unless it is one; not strictly under replace, if n is even."""
        for case in MEDIANS:
            for n, columns in every_rank(4):
                if case.neighbors == SW and case.name == "strict 1/2" and n % 2 == 0:
                    continue
                form = case.form(n)
                low, at, up = columns[columns[:, 1] > 0].T
                own = d.distance(form, low, at, up)
                gaps = [d.distance(form, low, 0, at + up), d.distance(form, low + at, 0, up)]
                assert ((own == np.minimum(*gaps)) | (own == 0)).all()


class TestPublishedScores:
    """Goldberg's two data sets, strict, under add-remove, on the integer grid."""

    STRICT = staticmethod(twins.strict_add_remove)

    def test_scores(self):
        data = [1, 100, 102, 104, 105, 200, 365]
        printed = {0: [104], -2: [102, 103, 105], -4: [100, 101, 106, 150, 200], -6: [1, 50, 300, 365], -8: [366]}  # fmt: skip
        for score, points in printed.items():
            for x in points:
                ranks = twins.ranks(data, x)
                assert -self.STRICT(*ranks) == score
                assert -d.distance(quantile_form(HALF, 7, AR, "strict"), *ranks) == score

    def test_the_law(self):
        data = [x - 1 for x in (1, 100, 102, 104, 105, 200, 365)]
        steps = twins.distances(data, 365, self.STRICT)
        assert {s: steps.count(s) for s in set(steps)} == {0: 1, 2: 3, 4: 97, 6: 264}
        assert sum(Fraction(1, 2**s) for s in steps) == Fraction("11.9375")  # epsilon = ln 4
        law = twins.grid_law(data, 365, self.STRICT, HALF)
        assert float(1 / law[103]) == pytest.approx(28.374946846581839, rel=1e-15)
        assert float(law[103]) == pytest.approx(0.0352423567665807, rel=1e-14)

    @pytest.mark.slow
    @pytest.mark.parametrize(("epsilon", "p"), [(1, 2.718274439423e-6), (10, 0.0215517567616776)])
    def test_the_worst_case(self, epsilon, p):
        top = 10**6
        records = np.array([0] * 4 + [top] * 3)
        grid = np.arange(top + 1)
        low, high = np.searchsorted(records, grid), np.searchsorted(records, grid, "right")
        steps = d.distance(quantile_form(HALF, 7, AR, "strict"), low, high - low, 7 - high)
        assert steps[0] == 0
        assert (steps[1:] == 2).all()
        assert 1 / (1 + top * math.exp(-epsilon)) == pytest.approx(p, rel=1e-12)
        assert 1 / np.exp(-epsilon / 2 * steps).sum() == pytest.approx(p, rel=1e-12)


class TestLaws:
    """The slow laws that fast ones are compared with."""

    def test_a_grid_law_counts_equal_records(self):
        law = twins.grid_law([3] * 40, 8, twins.weak_add_remove, HALF)
        assert sum(law) == 1
        assert float(law[0] / law[3]) == pytest.approx(math.exp(-20), rel=1e-14)
        assert law[0] == law[7]
        assert law[3] > 1 - Fraction(1, 10**7)

    def test_a_quantile_is_bound_before_the_ranks(self):
        q = Fraction(1, 4)
        law = twins.grid_law([0, 2, 2, 5], 6, partial(twins.quantile_weak_add_remove, q), Fraction(2))  # fmt: skip
        losses = [0, 0, 0, 2, 2, 2]  # L - 1 and U - 3, where positive
        expected = np.exp(-2.0 * np.array(losses))
        np.testing.assert_allclose([float(p) for p in law], expected / expected.sum(), rtol=1e-14)

    def test_widening(self):
        assert twins.widened([3, 2, 2, 0, 4, 5], 0) == [3, 2, 2, 0, 4, 5]
        assert twins.widened([3, 2, 2, 0, 4, 5], 1) == [2, 2, 0, 0, 0, 4]
        assert twins.widened([3, 2, 2, 0, 4, 5], 9) == [0] * 6

    def test_revenue_is_exact_at_a_bid(self):
        bids = [Fraction(1)] * 3 + [Fraction("3.01")]
        found = twins.revenue(bids, [Fraction(p) for p in ("1", "3", "3.01", "3.02")])
        assert found == [4, 3, Fraction("3.01"), 0]

    def test_laplace(self):
        points = [Fraction(i, 4) for i in range(-4, 5)]
        law = twins.laplace_law(Fraction("0.3"), points, Fraction(3, 2))
        expected = np.exp(-1.5 * np.abs(0.3 - np.arange(-4, 5) / 4))
        np.testing.assert_allclose([float(p) for p in law], expected / expected.sum(), rtol=1e-14)
        assert sum(law) == 1

    def test_the_twins_import_nothing_fast(self):
        tree = ast.parse(Path(twins.__file__).read_text())
        names = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        ours = {"tests.twins.selection"}
        assert names - ours == {"__future__", "collections.abc", "fractions", "math"}
        assert not [n for n in ast.walk(tree) if isinstance(n, ast.Import)]


class TestQuantiles:
    """What q may be."""

    GOOD: ClassVar = [
        (0.5, "1/2"), (0.1, "1/10"), (0.25, "1/4"), (np.float64(0.1), "1/10"), (np.float32(0.1), "1/10"),
        (Fraction(1, 3), "1/3"), (Decimal("0.3"), "3/10"), (1e-9, "1/1000000000"), (0.999999999, "999999999/1000000000"),
    ]  # fmt: skip

    @each(("q", "expected"), GOOD)
    def test_the_decimal_that_prints(self, q, expected):
        assert d.as_quantile(q) == Fraction(expected)

    BAD: ClassVar = [
        (0, ParameterError, "quantile between 0 and 1, got 0"), (1.0, ParameterError, "quantile between 0 and 1, got 1.0"), (-0.1, ParameterError, "quantile between 0 and 1, got -0.1"),
        (90, ParameterError, "90: quantile as a percentage, got 0.9"), (Decimal("99.9"), ParameterError, "99.9: quantile as a percentage, got 0.999"),
        (100, ParameterError, "quantile between 0 and 1, got 100"),
        (math.nan, ParameterError, "quantile between 0 and 1, got nan"), (math.inf, ParameterError, "quantile between 0 and 1, got inf"), (Decimal("NaN"), ParameterError, "quantile between 0 and 1, got NaN"),
        (Fraction(3, 2), ParameterError, "3/2: quantile as a percentage, got 0.015"), (Fraction(-1, 10**400), ParameterError, "q: quantile too near to 0"),
        (1 / 3, ParameterError, "0.3333333333333333: denominator of a quantile, got Fraction(1, 3)"),
        (2 / 3, ParameterError, "denominator of a quantile, got Fraction(2, 3)"), (Fraction(1, 10**9 + 1), ParameterError, "1/1000000001: denominator of a quantile, got Fraction..."),
        (1e-300, ParameterError, "denominator of a quantile, got Fraction(1, 1000000000)"), (math.nextafter(1, 0), ParameterError, "denominator of a quantile, got Fraction(999999999, 1000000000)"),
        (True, ParameterTypeError, "real number, got bool"), (np.True_, ParameterTypeError, "real number"),
        ("0.5", ParameterTypeError, "real number, got str"), (None, ParameterTypeError, "real number, got NoneType"), (0.5j, ParameterTypeError, "real number, got complex"),
        ([0.5], ParameterTypeError, "real number, got list"),
    ]  # fmt: skip

    @each(("q", "error", "text"), BAD, ids=lambda x: str(x)[:20])
    def test_what_is_refused(self, q, error, text):
        with pytest.raises(error, match=says(text)):
            d.as_quantile(q)

    def test_conventions(self):
        for convention in ("weak", "lower", "upper", "strict"):
            assert d.as_convention(HALF, convention) == convention
        assert d.as_convention(Fraction(1, 3), "lower") == "lower"
        with raises("one of several words, got 'upper'", words="'weak', 'lower'"):
            d.as_convention(Fraction(1, 3), "upper")
        with raises(
            "one of several words, got 'middle'", words="'weak', 'lower', 'upper', 'strict'"
        ):
            quantile_form(HALF, 3, AR, "middle")
