"""Checks of joint top-k, without the compiler: they notice each mutant of `JOINT`."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import fastexp as fx
from tests.doors.compiler import interpreted
from tests.doors.randomness import Spare, seeds_of, stream_of
from tests.doors.reference import exact
from tests.doors.selection import Weighting, joint_top_k
from tests.support.altered import changed
from tests.support.goodness import counts_fit
from tests.twins import joint_top_k as twin

HALF = 2 * math.log(2)  # epsilon of weights 2**-loss, where a record adds at most 1
VECTORS = {  # joint selections: N(v), P(loss) with weights 2**-loss, in units of the last number
    ((9, 7, 6, 2), 2): ([1, 2, 4, 6, 6, 9, 9, 12], {0: 128, 1: 64, 2: 64, 3: 32, 5: 12, 7: 3}, 303),
    ((5, 5, 4, 3, 3), 3): ([2, 18, 60], {0: 4, 1: 16, 2: 21}, 41),
    ((10, 8, 8, 7, 1, 0), 3): (
        [2, 6, 18, 24, 24, 24, 24, 48, 80, 100, 120],
        {0: 512, 1: 512, 2: 768, 3: 192, 7: 48, 8: 32, 9: 10, 10: 5},
        2079,
    ),
}
TABLES = [*itertools.combinations_with_replacement(range(3, -1, -1), 4)]


def twin_is_the_definition() -> None:
    """N(v) and the law against all sequences one by one, and against known figures."""
    for (counts, k), (within, law, unit) in VECTORS.items():
        reaches = [twin.reaches(counts, k, v) for v in range(len(within))]
        assert [twin.sequences_within(reach) for reach in reaches] == within
        known = {v: Fraction(n, unit) for v, n in law.items()}
        assert twin.loss_law(counts, k, Fraction(1, 2)) == known
    for counts, k in itertools.product(TABLES, (1, 2, 3, 4)):
        losses = [twin.loss(counts, s) for s in itertools.permutations(range(4), k)]
        assert min(losses) == 0
        for v in range(4):
            reach = twin.reaches(counts, k, v)
            assert twin.sequences_within(reach) == sum(loss <= v for loss in losses)
        weights = Counter(losses)
        total = sum(n * Fraction(1, 3) ** v for v, n in weights.items())
        law = {v: n * Fraction(1, 3) ** v / total for v, n in weights.items()}
        assert twin.loss_law(counts, k, Fraction(1, 3)) == law


def laws_are_exact() -> None:
    """Losses, places and selections, against all sequences."""
    cases = [(counts, k) for counts in TABLES[::3] for k in (2, 3, 4)]
    wide = [((1 << 60, 1 << 60, (1 << 60) - 3, 5, -(1 << 63)), 3), ((0, 0, 0, 0), 4)]
    wide.append((((1 << 63) - 1, 0, -(1 << 63)), 3))  # sums of two gaps are beyond 64 bits
    for counts, k in [*VECTORS, *cases, *wide]:
        law = fx.JointTopK(k, HALF).law(np.array(counts))
        weights, places = {}, np.zeros((len(counts), k))
        for s in itertools.permutations(range(len(counts)), k):
            weights[s] = 0.5 ** twin.loss(counts, s)
        total = math.fsum(weights.values())
        for s, weight in weights.items():
            places[list(s), range(k)] += weight / total
            exact = -math.log(2) * twin.loss(counts, s) - math.log(total)
            assert math.isclose(law.log_probability(s), exact, rel_tol=1e-14, abs_tol=1e-14)
        assert math.isclose(law.log_normalizer, math.log(total), rel_tol=1e-14)
        for v in {twin.loss(counts, s) for s in weights}:
            exact = math.fsum(w for s, w in weights.items() if twin.loss(counts, s) == v) / total
            assert math.isclose(law.loss_pmf(v), exact, rel_tol=1e-13)
        mean = math.fsum(w * twin.loss(counts, s) for s, w in weights.items()) / total
        assert math.isclose(law.expected_loss(), mean, rel_tol=1e-13, abs_tol=1e-300)
        assert np.allclose(law.first_place_probabilities, places[:, 0], rtol=1e-13)
        for item in range(len(counts)):
            assert np.allclose(law.place_probabilities(item), places[item], rtol=1e-13)


def promises_hold() -> None:
    """The worst ratio and the range of log-ratios over all tables of 0, ..., 2 and neighbours."""
    for k, moves in ((1, (0, 1)), (2, (0, 1)), (1, (-1, 0, 1)), (2, (-1, 0, 1))):
        neighbors = "replace" if -1 in moves else "add-remove"
        mechanism, worst, width = fx.JointTopK(k, 1.5, neighbors=neighbors), 0.0, 0.0
        for counts in itertools.product(range(3), repeat=4):
            logs = _logs(mechanism, counts)
            for change in itertools.product(moves, repeat=4):
                ratios = logs - _logs(mechanism, np.add(counts, change))
                worst = max(worst, abs(ratios).max())
                width = max(width, ratios.max() - ratios.min())
        assert worst <= 1.5 * (1 + 1e-12)
        assert math.isclose(width, 1.5, rel_tol=1e-12), (k, neighbors, width)
        assert mechanism.guarantee.bounded_range == 1.5
        assert fx.JointTopK(k, 1.5, 4.0, neighbors=neighbors)._rate == mechanism._rate / 4


def _logs(mechanism: fx.JointTopK, counts: object) -> np.ndarray:
    table = np.asarray(counts)
    rate = float(mechanism._weighting.rate)
    losses = [twin.loss(table.tolist(), s) for s in itertools.permutations(range(4), mechanism.k)]
    heights = -rate * np.array(losses)
    return heights - math.log(np.exp(heights).sum())


def bounds_are_certified() -> None:
    """B and what is below it, against exact weights; the rest needs no more than 1."""
    rng = np.random.default_rng(1)
    for size, k, rate in ((4, 2, Fraction(1, 2)), (40, 9, Fraction(1, 7)), (9, 9, Fraction(3))):
        counts = rng.integers(0, 60, size)
        slices = joint_top_k.Slices(counts, k, Weighting(rate, None))
        shift, cells, halving, scale = slices._plan
        sums, lift = slices._bounds
        bounds = np.diff(sums, prepend=0).tolist()
        assert shift == 0
        assert bounds[-1] == 1
        assert 2**halving * rate > Fraction(7, 10) >= 2**halving * rate / 2 or halving == 0
        for v in [*range(0, cells, 1 + cells // 50), cells - 1]:
            reach = twin.reaches(counts.tolist(), k, v)
            assert slices.reach(v) == reach
            weight = twin.sequences_within(reach) * math.exp(-rate * v) * 2.0 ** (scale - lift)
            assert weight * (1 - 1e-12) <= bounds[v] <= weight * (1 + 2.0**-24) + 5
            least = bounds[v] - (bounds[v] >> joint_top_k.SLACK - 1) - 4
            assert least <= weight * (1 + 1e-12)
        rest = size**k * math.exp(-rate * cells) * 2.0 ** (scale + halving + 1)
        assert rest <= 1


def tables() -> Iterator[tuple[np.ndarray, int, Fraction]]:
    """Counts with ties, far apart, at the ends of int64, and many."""
    rng = np.random.default_rng(2)
    yield np.array([9, 7, 6, 2]), 2, Fraction(1, 2)
    yield np.array([4, 4, 4, 4, 4]), 3, Fraction(1, 2)
    yield np.array([5, 2**63 - 1, 5, -(2**63), 7]), 4, Fraction(2)
    yield np.array([3, 1, 2]), 3, Fraction(1)
    yield rng.integers(0, 9, 60), 20, Fraction(1)
    yield rng.permutation((1e4 / np.arange(1, 301) ** 1.5).astype(np.int64)), 4, Fraction(1)
    yield np.sort(rng.integers(0, 90, 400)), 2, Fraction(1, 2)


def kernels_are_the_twin(draws: int = 12) -> None:
    """Ranks, reaches, bounds and draws of the kernels, against NumPy and Python."""
    seeds = seeds_of(5, np.arange(1, dtype=np.uint64))
    for counts, k, rate in tables():
        slices = joint_top_k.Slices(counts, k, Weighting(rate, None))
        order = np.argsort(~counts, kind="stable")
        sums, lift = slices._bounds
        assert np.array_equal(slices._store[: 2 * k], [*order[:k], *counts[order[:k]]])
        behind = [int(counts[order[k - 1]]) - int(count) for count in counts]
        cells = slices._plan.cells
        for x in {0, 1, 2, 5, cells // 2, cells - 1} & {*range(cells)}:
            assert slices._store[2 * k + x] == sum(gap <= x for gap in behind)
        other_sums, other_lift = slices._wide_bounds()
        bounds, others = np.diff(sums), np.diff(other_sums)
        assert other_lift == lift
        assert (abs(bounds - others) <= 4 + (bounds >> 35)).all()
        stream = stream_of(seeds, 0)
        ranks = slices.draws(stream, draws)
        for t in range(draws):
            assert slices.ranks(Spare(stream, t, 0)) == ranks[t].tolist()
            supply = Spare(stream, t, 0)
            fresh = joint_top_k.Slices(counts, k, Weighting(rate, None))
            assert np.array_equal(fresh.draw(supply.words(k + 8), supply), order[ranks[t]])


def words_that_are_refused() -> None:
    """A zero is refused where the bound is no power of 2; too few words leave a draw open."""
    slices = joint_top_k.Slices(np.array([4, 4, 4, 4, 4]), 3, Weighting(Fraction(1, 2), None))
    some = np.random.default_rng(1).integers(1 << 60, 1 << 62, 8, dtype=np.uint64)
    ends = some[:3], np.append(some[:3], np.uint64(0)), some[:2] * np.uint64(0)
    for words in (some, np.insert(some, 1, 0), np.insert(some, 0, 0), *ends):
        out = np.empty(3, np.int64)
        slices._run(words, out)
        supply = iter(words.tolist())
        try:
            expected = slices.ranks(supply.__next__)
        except StopIteration:
            expected = None
        assert (out[0] == joint_top_k.kernels.OPEN) == (expected is None)
        assert expected is None or out.tolist() == expected


def the_rest_is_left_open() -> None:
    """A word of ones falls beyond all slices, and is no refused one."""
    slices = joint_top_k.Slices(np.array([9, 7, 6, 2]), 2, Weighting(Fraction(1, 2), None))
    out, ones = np.empty(2, np.int64), np.full(4, 2**64 - 1, np.uint64)
    slices._run(ones, out)
    assert out[0] == joint_top_k.kernels.OPEN


def ends_of_slices_are_left_open() -> None:
    """What the kernel draws next to the ends of slices, the exact draw has by the same words."""
    some, decided = np.random.default_rng(2).integers(1 << 62, 1 << 64, 6, np.uint64), 0
    for counts, rate in (((9, 7, 6, 2), Fraction(1, 2)), ((90, 40, 6, 2), Fraction(2))):
        slices = joint_top_k.Slices(np.array(counts), 2, Weighting(rate, None))
        sums, _ = slices._bounds
        for start, end in itertools.pairwise([0, *sums[:-1].tolist()]):
            share = end - start >> 25
            for back in {1, 4, 5, share + 1, share + 4, share + 5, end - start}:
                words = np.array([word_for(max(end - back, start), int(sums[-1])), *some])
                out = np.empty(2, np.int64)
                slices._run(words, out)
                exactly = slices.ranks(itertools.chain(words.tolist(), some.tolist()).__next__)
                decided += out[0] != joint_top_k.kernels.OPEN
                assert out[0] == joint_top_k.kernels.OPEN or out.tolist() == exactly
                drawn = slices.draw(words, iter(some.tolist()).__next__)
                assert drawn.tolist() == slices._order[exactly].tolist()
    assert decided > 20


def word_for(value: int, total: int) -> np.uint64:
    """A word whose integer below `total` is `value`."""
    return np.uint64(-(-(value << 64) // total) + 5)


def draws_that_are_left_open_are_exact(draws: int = 40) -> None:
    """Bounds so wide that many draws are open."""
    wide = (joint_top_k, "SLACK", 1), (joint_top_k.kernels, "SLACK", np.int64(1))
    with changed(*wide):
        slices = joint_top_k.Slices(np.array([9, 7, 6, 2]), 2, Weighting(Fraction(1, 2), None))
        stream = stream_of(seeds_of(5, np.arange(1, dtype=np.uint64)), 0)
        ranks = slices.draws(stream, draws)
        assert ranks.tolist() == [slices.ranks(Spare(stream, t, 0)) for t in range(draws)]


def slices_of_a_cell_have_their_own_weights() -> None:
    """Next to the weight of each slice of a wide cell: it is drawn below, and refused above."""
    slices = joint_top_k.Slices(np.array([9, 7, 6, 2]), 2, Weighting(Fraction(1, 2), None))
    slices._plan = slices._plan._replace(shift=2, cells=slices._plan.cells // 4 + 1)
    sums, lift = slices._bounds
    for v in range(12):
        before = int(sums[v // 4 - 1]) if v >= 4 else 0
        reach = slices.reach(v)
        weight = (
            twin.sequences_within(reach) * math.exp(-v / 2) * 2.0 ** (slices._plan.scale - lift)
        )
        for rho, wanted in ((int(weight * (1 - 1e-9)), reach), (int(weight * (1 + 1e-9)), None)):
            if before + rho < sums[v // 4]:
                words = iter([int(word_for(before + rho, int(sums[-1]))), v % 4 << 62, 0])
                try:
                    drawn = slices._slice(words.__next__)
                except StopIteration:
                    drawn = None
                assert drawn == wanted


def positions_have_slots() -> None:
    """Eight positions in a table of eight each have a slot of their own, and are found again."""
    slots = np.zeros(16, np.int64)
    with np.errstate(over="ignore"):
        for position in range(100, 108):
            slot = joint_top_k.kernels.slot_of(slots, position)
            assert slots[slot] == 0
            slots[slot] = position + 1
        assert sorted(slots[::2].tolist()) == list(range(101, 109))
        for position in range(100, 108):
            assert slots[joint_top_k.kernels.slot_of(slots, position)] == position + 1


def draws_are_the_law(draws: int = 2000) -> None:
    """Selections against enumeration; also where most is in the rest, and by exact coins only."""
    counts, k, rate = (9, 7, 6, 2), 2, Fraction(1, 2)
    law = fx.JointTopK(k, 1.0).law(counts)
    chosen = list(itertools.permutations(range(4), k))
    probabilities = np.exp([law.log_probability(s) for s in chosen])
    drawn = Counter(map(tuple, law.sample(draws, rng=1).tolist()))
    assert counts_fit(np.array([drawn[s] for s in chosen]), probabilities)
    slices = joint_top_k.Slices(np.array(counts), k, Weighting(rate, None))
    slices._plan, slices._bounds = joint_top_k.Plan(0, 2, 1, -5), (np.array([1, 2, 3]), 0)
    bound = 4**k * math.exp(-2 * float(rate)) * 2.0 ** (-5 + 1 + 1)
    assert bound <= 1
    words = exact.substream((1, 2), 0)
    drawn = Counter(tuple(slices._order[slices.ranks(words.__next__)]) for _ in range(draws))
    assert counts_fit(np.array([drawn[s] for s in chosen]), probabilities)


def wide_cells_draw_the_law(draws: int = 1500) -> None:
    """Cells of several slices, of which one is drawn evenly."""
    counts, k = np.array([9, 7, 6, 2]), 2
    law = fx.JointTopK(k, 1.0).law(counts)
    chosen = list(itertools.permutations(range(4), k))
    probabilities = np.exp([law.log_probability(s) for s in chosen])
    slices = joint_top_k.Slices(counts, k, Weighting(Fraction(1, 2), None))
    slices._plan = slices._plan._replace(shift=2, cells=slices._plan.cells // 4 + 1)
    sums, lift = slices._bounds
    for a, bound in enumerate(np.diff(sums, prepend=0)[:9].tolist()):
        for v in range(4 * a, 4 * a + 4):
            weight = twin.sequences_within(slices.reach(v)) * math.exp(-v / 2)
            assert weight * 2.0 ** (slices._plan.scale - lift) * (1 - 1e-12) <= bound
    few = joint_top_k.Plan(shift=2, cells=1, halving=1, scale=0)  # the rest is likely
    for plan, count in ((slices._plan, draws), (few, draws // 3)):
        slices._plan = plan
        slices._bounds = slices._wide_bounds()
        words = exact.substream((1, 3), 0)
        drawn = Counter(tuple(slices._order[slices.ranks(words.__next__)]) for _ in range(count))
        assert counts_fit(np.array([drawn[s] for s in chosen]), probabilities)


def run() -> None:
    """All of them, shortly."""
    twin_is_the_definition()
    laws_are_exact()
    promises_hold()
    bounds_are_certified()
    kernels_are_the_twin()
    words_that_are_refused()
    positions_have_slots()
    the_rest_is_left_open()
    ends_of_slices_are_left_open()
    slices_of_a_cell_have_their_own_weights()
    if interpreted():
        draws_that_are_left_open_are_exact()
    draws_are_the_law()
    wide_cells_draw_the_law()
