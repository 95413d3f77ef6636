"""Deterministic checks of the sampler: exact, without false alarms, on kernels as they are.

They are plain functions, so that `tests/mutants` can run them against broken copies of
the package, also without the compiler (`python -m tests.support.checks.sampler`).
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import accumulate

import numpy as np

import fastexp as fx
from tests.doors.budget import Cost, Question, Spent, Terms
from tests.doors.compiler import interpreted
from tests.doors.intake import utilities as data
from tests.doors.kernels import BLOCK, alias, envelope, words
from tests.doors.kernels import flips as flips_kernels
from tests.doors.randomness import Spare
from tests.doors.reference import exact as exact_twin
from tests.doors.selection import MASK_64, Flips, Scan, Table, bits_value, key_value
from tests.doors.selection import flips as flips_room
from tests.support.altered import changed
from tests.support.cases import CASES, Case
from tests.twins import selection

PRECISIONS = (0, 1, 3, 6, 20, 50)
HALF = Fraction(1, 2)
TERMS = (
    ("epsilon", 1.0, 0.0, "add-remove"),
    ("epsilon", 1.0, 0.0, "replace"),
    ("rho", 1.0, 0.0, "add-remove"),
)


def scanned(case: Case, precision: int, threads: int = 1) -> Scan:
    """The settled scan of a case."""
    bits, kind = data.utilities(case.utilities, None, "raise")
    scan = Scan(bits, kind, case.mechanism._weighting, precision)
    scan.fill(threads)
    return scan


def scan_draws(scan: Scan, size: int, stream: np.ndarray) -> np.ndarray:
    """`size` draws, each from the scanned blocks and two words of its own.

    What a release does, with words of a stream: draw t of a substream's 4,096 takes words 2t
    and 2t + 1; further rounds and exact tests take what follows word 8,192.
    """
    out = np.empty(size, dtype=np.int64)
    for start in range(0, size, alias.DRAWS):
        part, number = out[start : start + alias.DRAWS], start // alias.DRAWS
        own = np.empty(2 * part.size, dtype=np.uint64)
        words.substream_words(stream, number, 0, own)
        spare = Spare(stream, number, 2 * alias.DRAWS)
        for t in range(part.size):
            status = scan._round(own[2 * t : 2 * t + 2])
            part[t] = scan.resolve(status, partial(spare.words, 2), spare)
    return out


def lowers_and_doubts(scan: Scan, scale: float) -> tuple[list[int], list[int]]:
    """L and D of every candidate at a scale, from the kernel."""
    weights = np.empty(scan.bits.size, np.int64)
    best = scan.blocks[scan.blocks.size - 4 : scan.blocks.size - 2]
    w = scan.weighting
    work = np.empty(2 * BLOCK, np.int64)
    sums = alias.weigh(scan.bits, scan.kind, w.log2_base, w.rate_log2, scale, best, weights, work)
    positive = [True] * weights.size if w.base is None else (w.base > 0).tolist()
    doubts = [int(alias.doubt(x)) if p else 0 for x, p in zip(weights, positive, strict=True)]
    assert sums == (int(weights.sum()), sum(doubts))
    return weights.tolist(), doubts


def exact_weights(
    scan: Scan, scale: float, precision: int = 120
) -> list[tuple[Fraction, Fraction]]:
    """Bounds of f * w of every candidate, from the reference."""
    scale_ = Fraction(scale) * scan.lift()
    out = []
    for i in range(scan.bits.size):
        base, rate = scan.weighting.base_of(i), scan.weighting.rate
        if base > 0:
            bits = precision + int(scale_ * base).bit_length()
            out.append(exact_twin.weight_bounds(rate, scan.gap(i), scale_ * base, bits))
        else:
            out.append((Fraction(0), Fraction(0)))
    return out


def envelope_contains(case: Case, precision: int) -> None:
    """L <= f*w <= U and f*w <= L + D, for every candidate; U is 0 exactly where base is."""
    scan = scanned(case, precision)
    uppers = scan.work[: scan.bits.size].tolist()
    least, doubts = lowers_and_doubts(scan, scan.scale)
    exact = exact_weights(scan, scan.scale)
    for i, (lo, hi) in enumerate(exact):
        assert least[i] <= lo
        assert hi <= uppers[i]
        assert hi <= least[i] + doubts[i]
        assert (uppers[i] == 0) == (scan.weighting.base_of(i) == 0)
        assert hi <= scan.scale * (1 + Fraction(1, 2**30))
    assert max(hi for _, hi in exact) >= scan.scale / 4
    assert scan.total() == sum(uppers)


def every_round(case: Case, precision: int) -> None:
    """One word for each value of R: each (candidate, rho) comes up exactly once.

    The kernel accepts at once if and only if rho < L; and both agree with the twin.
    """
    scan = scanned(case, precision)
    total, uppers = scan.total(), scan.work[: scan.bits.size].tolist()
    least, _ = lowers_and_doubts(scan, scan.scale)
    values = range(total) if total <= 3000 else _corners(uppers, total)
    seen = set()
    for value in values:
        word = word_for(value, total)
        status = _round(scan, word)
        if case.mechanism.base is None and (precision == envelope.PRECISION or interpreted()):
            assert _round_alone(scan, word) == status
        index, rho = scan.tail(4), scan.tail(5)
        assert (index, rho) == selection.envelope_round(uppers, word)
        assert status == (index if rho < least[index] else envelope.UNSURE)
        assert 0 <= rho < uppers[index]
        seen.add((index, rho))
    assert len(seen) == len(values)


def word_for(value: int, bound: int) -> int:
    """A 128-bit word that gives `value` as a uniform integer below `bound`."""
    return -(-(2 * value + 1 << 127) // bound)


def _round(scan: Scan, word: int) -> int:
    pair = np.array([word & MASK_64, word >> 64], np.uint64)
    return scan._round(pair)


def _round_alone(scan: Scan, word: int) -> int:
    """The same from the kernel of a block without a base, which has its scale as a constant."""
    pair = np.uint64(word & MASK_64), np.uint64(word >> 64)
    with changed((envelope, "SCALE", scan.scale)):
        rate = scan.weighting.rate_log2
        status: int = envelope.envelope_block(scan.bits, scan.kind, rate, *pair)
    return status


def refused_words_are_void() -> None:
    """A sum that does not divide 2**128 refuses the word 0."""
    scan = scanned(CASES[0], envelope.PRECISION)
    assert _round(scan, 0) == _round_alone(scan, 0) == envelope.AGAIN


def _corners(uppers: list[int], total: int) -> list[int]:
    """The values of R about the edges of each candidate's range."""
    edges = [0, *accumulate(uppers)]
    return sorted({v for e in edges for v in (e - 1, e, e + 1) if 0 <= v < total})


def acceptance_is_exact(case: Case) -> None:
    """`accepts` is rho + V < f*w: true below, false above, and split where they meet."""
    scan = scanned(case, 3)
    for i, (lo, hi) in enumerate(exact_weights(scan, scan.scale)):
        if scan.weighting.base_of(i) == 0:
            continue  # U is 0: never drawn
        whole = int(lo)
        if whole > 0:
            assert scan.accepts(i, scan.scale, whole - 1, lambda: MASK_64)
        assert not scan.accepts(i, scan.scale, whole + 1, lambda: 0)
        cut = int((hi - whole) * 2**64)  # V's first 64 bits below or above the fraction
        if 2 < cut < MASK_64 - 2 and hi - lo < Fraction(1, 2**70):
            assert scan.accepts(i, scan.scale, whole, scripted(cut - 1, MASK_64))
            assert not scan.accepts(i, scan.scale, whole, scripted(cut + 1, 0))


def open_rounds_are_tested(case: Case) -> None:
    """What a round leaves open is drawn if the exact test says so, and else void."""
    scan, tested = scanned(case, 3), set()
    for value in _corners(scan.work[: scan.bits.size].tolist(), scan.total()):
        for coin in (0, MASK_64):
            status = _round(scan, word_for(value, scan.total()))
            index, rho = scan.tail(4), scan.tail(5)
            if status == envelope.UNSURE:
                passes = scan.accepts(index, scan.scale, rho, scripted(coin, MASK_64 - coin))
                wanted = index if passes else None
                word = scripted(coin, MASK_64 - coin)
                try:
                    drawn = scan.resolve(status, iter(()).__next__, word)
                except StopIteration:  # another round
                    drawn = None
                assert drawn == wanted
                tested.add(wanted is None)
    assert True in tested


def scripted(first: int, then: int) -> exact_twin.Words:
    """A word source: `first`, and `then` for ever."""
    supply = iter([first])
    return lambda: next(supply, then)


def table_is_exact(case: Case, column_bits: int, cell_bits: int) -> None:
    """Counting cells: each candidate owns L_i, the slow outcome all others, no cell is lost."""
    table = Table(scanned(case, 50), column_bits, cell_bits)
    k, columns = case.utilities.size, 1 << column_bits
    least, doubts = lowers_and_doubts(table.scan, table.scale)
    assert table.weights[:k].tolist() == least
    assert table.doubt_sums().tolist() == list(accumulate(doubts))
    assert sum(least) + sum(doubts) <= table.cells == int(table.weights.sum())
    owned = [0] * columns
    for column, entry in enumerate(table.entries.tolist()):
        cut, other = entry >> column_bits, entry & (columns - 1)
        assert 0 <= cut <= 1 << cell_bits
        owned[column] += cut
        owned[other] += (1 << cell_bits) - cut
    assert owned == table.weights.tolist()
    for i, (lo, hi) in enumerate(exact_weights(table.scan, table.scale)):
        assert least[i] <= lo
        assert hi <= least[i] + doubts[i]


def slow_cells_are_shared(case: Case) -> None:
    """Each slow cell, one after the other: candidate i claims its D_i cells, the rest is void."""
    table = Table(scanned(case, 50), 6, 2)
    k = case.utilities.size
    certain = table.cells - int(table.weights[k])
    sums = table.doubt_sums()
    doubts = np.diff(sums, prepend=0).tolist()
    claimed: list[tuple[int, int]] = []

    def claims(index: int, cell: int) -> bool:
        claimed.append((index, cell))
        return True

    slow = table.cells - certain
    found = []
    for cell in range(slow):
        word = word_for(cell, slow)
        supply = iter([word & MASK_64, word >> 64])
        found.append(
            exact_twin.settle_slow(certain, sums, table.cells, claims, lambda s=supply: next(s))
        )
    wanted = [(i, j) for i in range(k) for j in range(doubts[i])]
    assert claimed == wanted
    assert found == [i for i, _ in wanted] + [None] * (slow - len(wanted))


def table_words_are_read_right() -> None:
    """One word for each cell of a small table: the kernel's look-up is the table's, and whole."""
    table = Table(scanned(CASES[0], 50), 4, 3)
    cells = [(c << 60) | (x << 57) | 1 for c in range(16) for x in range(8)]
    out = np.empty(len(cells), np.int64)
    one = np.uint64
    args = table.entries, one(4), one(60), one(57), one(7), np.array(cells, one), out
    for look_up in (alias.look_up, alias.look_up_ahead):
        out[:] = -1
        look_up(*args)
        assert out.tolist() == [table.look_up(word) for word in cells]
    assert np.bincount(out, minlength=16).tolist() == table.weights.tolist()


def law_is_the_reference(case: Case) -> None:
    """Probabilities, also as logarithms, against exact ones."""
    law = case.mechanism.law(case.utilities)
    base = [b for b in case.mechanism.base or (1.0,) if b > 0]
    size = max(abs(np.log(b)) for b in base)  # logarithms of the base cancel in heights
    for exact, p, log_p in zip(case.exact(), law.probabilities, law.log_probabilities, strict=True):
        if exact == 0:
            assert p == 0
            assert log_p == -np.inf
        elif exact < Fraction(1, 10**50):
            assert p < 1e-49
            assert log_p < -110
        else:
            allowed = 4e-16 * (4 + 3 * abs(float(log_p)) + size)
            assert abs(float(Fraction(float(p)) / exact - 1)) <= allowed


def blocks_are_bounded(k: int = 2 * BLOCK + 500) -> None:
    """Many blocks: each bound is at least the sum of U at the common scale, and close to it."""
    rng = np.random.default_rng(8)
    utilities = 30 * rng.random(k)
    utilities[[5, BLOCK, k - 1]] = [40.0, 60.0, 59.0]
    for base in (None, np.where(rng.random(k) < 0.2, 0, np.exp2(rng.uniform(-40, 40, k)))):
        case = Case("blocks", fx.Exponential(1.0, 1.0, base=base), utilities)
        scan = scanned(case, 50)
        bounds = scan.blocks[0:-6:3].tolist()
        assert scan.total() == sum(bounds)
        exact = exact_weights(scan, scan.scale, 80)
        for b, bound in enumerate(bounds):
            _round(scan, word_for(sum(bounds[:b]), scan.total()))
            first = next(i for i, (_, hi) in enumerate(exact[b * BLOCK :]) if hi > 0)
            assert (scan.tail(4), scan.tail(5)) == (b * BLOCK + first, 0)
            word = word_for(sum(bounds[:b]) + bound // 3, scan.total())
            _round(scan, word)  # computes block b again at the common scale
            part = exact[b * BLOCK : (b + 1) * BLOCK]
            uppers = scan.work[: len(part)].tolist()
            assert all(hi <= u for (_, hi), u in zip(part, uppers, strict=True))
            inside = selection.envelope_round(uppers, word_for(bound // 3, sum(uppers)))
            if bound // 3 < sum(uppers) and inside is not None:
                assert (scan.tail(4) - b * BLOCK, scan.tail(5)) == inside
            assert sum(uppers) <= bound <= sum(uppers) * (1 + 2.0**-30) + 12 * BLOCK
            if b < len(bounds) - 1:  # just above the sum: void
                value = sum(bounds[:b]) + sum(uppers)
                if value < sum(bounds[: b + 1]):
                    assert _round(scan, word_for(value, scan.total())) == envelope.AGAIN


def bounded_integers_are_uniform() -> None:
    """Two limbs of two bits: every bound and word."""
    limbs = np.array([x for w in range(16) for x in (w & 3, w >> 2)], np.uint64)
    out = np.empty(48, np.uint64)
    for bound in range(1, 16):
        words.bounded(limbs, np.uint64(bound >> 2), np.uint64(bound & 3), np.uint64(2), out)
        kept = [int(out[3 * i]) << 2 | int(out[3 * i + 1]) for i in range(16) if out[3 * i + 2]]
        assert [kept.count(v) for v in range(bound)] == [16 // bound] * bound
        assert len(kept) == 16 // bound * bound


def values_are_exact() -> None:
    """The exact numbers behind bits and keys."""
    for case in CASES:
        bits, kind = data.utilities(case.utilities, None, "raise")
        exact = [bits_value(int(b), kind) for b in bits]
        assert exact == [Fraction(u) for u in case.utilities.tolist()]
        scan = scanned(case, 50)
        base = case.mechanism.base or (1.0,) * len(exact)
        best = max(u for u, b in zip(exact, base, strict=True) if b > 0)
        assert key_value(scan.tail(2) & MASK_64, kind) == best


def promises_hold() -> None:
    """The factor of epsilon: exact log-ratios of all outputs for neighbouring counts."""
    neighbours = {
        "add-remove": [([3, 2], [4, 2]), ([0, 0], [1, 0]), ([1, 5], [1, 6])],
        "replace": [([3, 2], [4, 1]), ([1, 0], [0, 1])],
    }
    for relation, pairs in neighbours.items():
        mechanism = fx.MostCommon(0.5, ["a", "b"], neighbors=relation)
        rate, ones = mechanism._weighting.rate, [Fraction(1)] * 2
        for pair in pairs:
            laws = [selection.probabilities(rate, [*map(Fraction, x)], ones) for x in pair]
            ratios = [float(p / q) for p, q in zip(*laws, strict=True)]
            logs = np.log(ratios)
            assert np.abs(logs).max() <= 0.5 + 1e-12
            assert logs.max() - logs.min() <= 0.5 + 1e-12
    near = fx.MostCommon(1.0, ["a", "b"]).law(["a"] * 4).probabilities
    assert abs(near[0] - 1 / (1 + np.exp(-4.0))) < 1e-15


def flips_are_exact() -> None:
    """Every first byte and second word of few bits: coins show 1 for V < p, and p is right."""
    for epsilon, width in ((0.5, 5), (1.0, 1), (3.0, 4), (6.0, 3)):
        flips = Flips(Fraction(epsilon), width)
        ones = [Fraction(1)] * 2
        p = selection.probabilities(flips.epsilon, [Fraction(1), Fraction(0)], ones)[1]
        assert flips.cut == p * 2 ** (8 + width) // 1
        every = np.arange(256, dtype=np.uint8).view(np.uint64)
        top, low, unused = flips.top, flips.low, flips.unused
        coins, places = np.empty(32, np.uint64), np.empty(256, np.int64)
        shown = coins.view(np.uint8)
        assert flips_kernels.flips_throw(every, top, coins, places) == 1
        assert places[0] == int(top)
        expected = [1] * int(top) + [flips_kernels.OPEN] + [0] * (255 - int(top))
        assert shown.tolist() == expected
        second, settled = np.empty(1, np.uint64), []
        for value in range(1 << width):
            second[0] = (value + 1 << 64 - width) - 1
            still = flips_kernels.flips_settle(second, places[:1], low, unused, coins)
            settled.append(int(shown[int(top)]))
            assert still == (settled[-1] == flips_kernels.OPEN)
        least = int(low)
        rest = (1 << width) - 1 - least
        assert settled == [1] * least + [int(flips_kernels.OPEN)] + [0] * rest


def flips_draw_on_exactly() -> None:
    """The exact test, where V's first words are p's: one unit below, above, and then again."""
    for epsilon in (Fraction(1), Fraction(1, 10**9), Fraction(50)):
        digits = exact_twin.flip_cut(epsilon, 200)
        lead, word = digits >> 192, digits >> 128 & MASK_64
        for bits, start, then in ((8, lead, word), (72, digits >> 128, digits >> 64 & MASK_64)):
            if 0 < then < MASK_64:
                assert exact_twin.flip(epsilon, start, bits, scripted(then - 1, MASK_64))
                assert not exact_twin.flip(epsilon, start, bits, scripted(then + 1, 0))
        assert exact_twin.flip(epsilon, digits >> 128, 72, scripted(digits >> 64 & MASK_64, 0))
        assert not exact_twin.flip(
            epsilon, digits >> 128, 72, scripted(digits >> 64 & MASK_64, MASK_64)
        )


def one_coin_is_exact() -> None:
    """A coin by itself: below, above and at p's first digits, where V is drawn on."""
    for epsilon in (Fraction(1), Fraction(1, 10**9), Fraction(50)):
        coins, digits = Flips(epsilon), exact_twin.flip_cut(epsilon, 136)
        assert digits >> 64 == coins.cut
        then = digits & MASK_64
        for step, word, expected in (
            (-1, MASK_64, 1),
            (1, 0, 0),
            (0, max(then - 1, 0), int(then > 0)),
            (0, min(then + 1, MASK_64), 0),
        ):
            lead = coins.cut + step
            if lead < 0:  # p of epsilon 50 has no first digits but zeros
                continue
            pair = lead & MASK_64, lead >> 64 | 5 << 8
            words = (
                (flips_room, "os_pair", lambda p=pair: p),
                (flips_room, "os_word", lambda w=word: w),
            )
            with changed(*words):
                assert coins.fresh_coin() == expected


def fresh_coins_are_settled() -> None:
    """A release's coin whose first byte is p's: by its second word, and where that is p's, too."""
    flips, digits = Flips(Fraction(1)), exact_twin.flip_cut(Fraction(1), 136)
    top, low, then = int(flips.top), int(flips.low), digits & MASK_64
    for second, last, expected in (
        *((low - 1, MASK_64, 1), (low + 1, 0, 0)),
        *((low, then - 1, 1), (low, then + 1, 0)),
    ):
        supply = iter([top | 255 << 8, second])
        given = (flips_room, "os_words", lambda n, w=supply: np.array([next(w)], np.uint64))
        with changed(given, (flips_room, "os_word", scripted(last, last))):
            assert flips.fresh_coins(2).tolist() == [expected, 0]


def flips_are_the_reference(count: int = 4200) -> None:
    """The coins of a simulation against their twin, also where many need an exact test."""
    stream = np.array([3, 5], np.uint64)
    for epsilon, width in ((1.0, 64), (0.3, 1), (1.0, 1), (2.0, 1)):
        flips = Flips(Fraction(epsilon), width)
        twin = selection.stream_flips(flips.epsilon, (3, 5), count, width)
        assert flips.stream_coins(count, stream).tolist() == twin
    mechanism = fx.RandomizedResponse(1.0)
    assert mechanism._flips.cut == exact_twin.flip_cut(Fraction(1), 72)
    lie, truth = mechanism.law(1).probabilities
    assert abs(truth / lie - np.e) < 1e-14


def promises_add_up() -> None:
    """Numbers of composition that are known, from below and above; a budget to its last cent."""

    def safely(found: float, known: float, digits: float = 1e-7) -> None:
        assert known * (1 - digits) <= found <= known * (1 + digits)

    one = fx.MostCommon(0.1, ["a", "b"]).guarantee
    assert (one.rho, one.under("replace").rho) == (0.00125, 0.005)
    assert fx.privacy.total(one, rows=3).epsilon == 0.3
    assert fx.privacy.total(one, groups=True, neighbors="replace").epsilon == 0.2
    replaced = fx.MostCommon(0.1, ["a", "b"], neighbors="replace").guarantee
    assert fx.privacy.total(replaced, groups=True).epsilon == 0.2
    assert fx.privacy.total(replaced, groups=True, membership="public").epsilon == 0.1
    assert fx.privacy.total(one, max_rows=3).rho == 0.01125
    safely(fx.privacy.pure_rho(1.0), 0.46211715726000975)
    safely(fx.privacy.bounded_range_divergence(0.5, 20.0), 0.34015587)
    safely(fx.privacy.bounded_range_divergence(40.0, 3.0), 40 - 1.5 * np.log(3) + np.log(2))
    safely(fx.privacy.zcdp_delta(0.0125, 0.5), 1.5157e-4, 1e-4)
    safely(fx.privacy.nonadaptive_delta(100, 0.1, 1.0), 6.887477e-3)
    safely(fx.privacy.nonadaptive_delta(1, 1.0, 0.5), 0.07740468631569)
    for k in range(1, 30):
        each = fx.privacy.peeling_round(k, rho=0.1)
        assert k * each**2 / 8 <= Fraction(0.1) < k * (each * (1 + Fraction(1, 2**51))) ** 2 / 8
    one_way, moves, rho = (Terms(*terms) for terms in TERMS)
    m = fx.Exponential(0.1, 1.0)
    for _ in range(2):  # costs are kept, each for its own question and budget
        for terms, asked, cost in (
            (one_way, Question(m), 0.1),
            (one_way, Question(m, 3), 0.3),
            (one_way, Question(m, 3, True), 0.1),
            (moves, Question(m, 3, True), 0.2),
            (moves, Question(m, 3, True, membership="public"), 0.1),
            (one_way, Question(m, groups=True, max_groups=2), 0.2),
            (one_way, Question(m, max_rows=4), 0.4),
            (rho, Question(m, 3), 0.00375),
        ):
            assert asked.cost(terms) == (cost, 0.0)
    wide = Spent().with_one(Cost(1e300, 0.0)).with_one(Cost(0.1, 0.0))
    assert Fraction(wide.amount) == 10**300 + Fraction(1, 10)
    budget = fx.Budget(0.3)
    for _ in range(3):
        budget.charge(one)
    assert (budget.spent, budget.remaining) == (0.3, 0.0)
    for full, refused in ((budget, one), (fx.Budget(1.0), replaced)):
        try:
            full.charge(refused)
        except (fx.BudgetExceeded, fx.ParameterError):
            continue
        raise AssertionError


def run() -> None:
    """All of it, at sizes that suit the interpreter; what is quick comes first."""
    promises_add_up()
    bounded_integers_are_uniform()
    refused_words_are_void()
    values_are_exact()
    promises_hold()
    flips_are_exact()
    flips_draw_on_exactly()
    one_coin_is_exact()
    fresh_coins_are_settled()
    slow_cells_are_shared(CASES[0])
    table_words_are_read_right()
    for case in CASES:
        for precision in (3, 50):
            envelope_contains(case, precision)
        every_round(case, 3)
        acceptance_is_exact(case)
        open_rounds_are_tested(case)
        table_is_exact(case, 8, 5)
    flips_are_the_reference()
    for case in CASES:
        law_is_the_reference(case)
    blocks_are_bounded(BLOCK + 300)


if __name__ == "__main__":
    run()
