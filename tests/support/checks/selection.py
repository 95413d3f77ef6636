"""Deterministic checks of noisy maxima, permute-and-flip and top-k: kernels, laws, promises.

Plain functions, so that `tests/mutants` can run them against broken copies of the
package, without the compiler (`python -m tests.support.checks.selection`).
There, constants of kernels can be changed too: rare paths become common (`changed`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

import fastexp as fx
from tests.doors.compiler import interpreted
from tests.doors.intake import utilities
from tests.doors.kernels import BLOCK, UNSURE, chords, gumbel, permute_flip, words
from tests.doors.laws import flip_law
from tests.doors.randomness import row_stream, seeds_of
from tests.doors.reference import exact as exact_twin
from tests.doors.selection import MASK_64, Rows, Weighting, key_value, plan, top_k
from tests.doors.selection import permute_flip as _permute_flip
from tests.support.altered import changed
from tests.twins import selection

NOISES = {"gumbel": gumbel.GUMBEL, "exponential": gumbel.EXPONENTIAL, "laplace": gumbel.LAPLACE}
SPECIAL = (0, 1, 2, 2**40 - 1, 2**40, 2**52 + 1, 2**62 - 1, 2**62, 2**63 - 1, 2**63, MASK_64)


def stream_words(stream: np.ndarray, number: int, first: int, count: int) -> np.ndarray:
    """Words of a substream; a few of them compared with the reference."""
    out = np.empty(count + count % 2, np.uint64)
    words.substream_words(stream, np.uint64(number), np.uint64(first), out)
    twin = exact_twin.substream((int(stream[0]), int(stream[1])), number, first)
    assert out[:4].tolist() == list(itertools.islice(twin, min(4, out.size)))
    return out[:count]


# Noise.


def noise(kind: int, word: int, more: int = 0) -> float:
    """The noise of one word."""
    out = np.empty(1)
    gumbel.noise_fill(kind, np.array([word], np.uint64), np.array([more], np.uint64), out)
    return float(out[0])


def share_above(kind: int, g: float) -> Fraction:
    """P(noise > g) as the kernel has it: the first of 2**128 words whose noise is not above g."""
    low, high = 0, 1 << 128
    while low < high:
        middle = (low + high) // 2
        if noise(kind, middle >> 64, middle & MASK_64) > g:
            low = middle + 1
        else:
            high = middle
    return Fraction(low, 1 << 128)


def true_share(name: str, g: float) -> Fraction:
    """P(noise > g), to 60 digits."""
    with localcontext() as context:
        context.prec = 80
        x = Decimal(g)
        if name == "gumbel":
            return Fraction(1 - (-(-x).exp()).exp())
        if name == "exponential":
            return Fraction((-x).exp())
        return Fraction((-x).exp() / 2 if g > 0 else 1 - x.exp() / 2)


def tails_are_right(gaps: Iterable[float], shares: Any = true_share) -> None:
    """The upper tail to relative 2e-12, the lower one to that or 2**-52 (Gumbel: 2**-63)."""
    for g in gaps:
        for name, kind in NOISES.items():
            if name != "exponential" or g > 0:
                found, true = share_above(kind, g), shares(name, g)
                slack = Fraction(1, 2 ** (52 if name == "exponential" else 63))
                assert abs(found - true) <= Fraction(2, 10**12) * true
                assert abs(found - true) <= Fraction(2, 10**12) * (1 - true) + slack


def noise_is_finite_and_falls(step: int = 8) -> None:
    """For every word a finite number, and a greater one for a lesser word, up to roundings."""
    steps = [n + d for n in (2**b for b in range(0, 64, step)) for d in (-1, 0, 1)]
    listed = sorted({*SPECIAL, *steps, *(MASK_64 - s for s in steps if s <= MASK_64)})
    pairs = [(w, m) for w in listed for m in ((0, 1, 2**63, MASK_64) if w < 2**40 else (0,))]
    one, two = (np.array(x, np.uint64) for x in zip(*pairs, strict=True))
    for name, kind in NOISES.items():
        out = np.empty(len(pairs))
        gumbel.noise_fill(kind, one, two, out)
        assert np.isfinite(out).all()
        assert (np.diff(out) <= 1e-15 * (1 + abs(out[1:]))).all()
        assert (out.min() >= 0) == (name == "exponential")
        assert out.max() > 88
        for word in (2**40, 2**50 + 3, 2**63, MASK_64):
            assert noise(kind, word, 0) == noise(kind, word, MASK_64)


def thresholds_are_safe(gaps: Iterable[float]) -> None:
    """Words above the threshold of a gap have a noise below it, by more than keys' roundings."""
    for gap in gaps:
        limit = int(gumbel.threshold(gap))
        if limit < MASK_64:
            for kind in NOISES.values():
                assert noise(kind, limit + 1) < gap - 1e-9
    assert int(gumbel.threshold(5.0)) < 2**64 * math.exp(-4.9)  # and others are passed by
    assert all(int(gumbel.threshold(g)) == MASK_64 for g in (0.0, -1.0, -np.inf, np.nan))


# Noisy maxima.


def keys(
    weighting: Weighting, u: np.ndarray, stream: np.ndarray, t: int, kind: int, mask: int = MASK_64
) -> np.ndarray:
    """The key of every candidate in draw t, from the words that the format names."""
    out = np.empty(u.size)
    more = stream_words(stream, t, 1 << 32, u.size)
    gumbel.noise_fill(kind, stream_words(stream, t, 0, u.size) & np.uint64(mask), more, out)
    rate, positive = weighting.rate_nats, np.ones(u.size, bool)
    if weighting.base is not None:
        positive = weighting.base > 0
    best = u[positive].max()
    with np.errstate(all="ignore"):
        if u.dtype.kind == "f":
            heights = (2.0 * rate) * (0.5 * u - 0.5 * best)
        else:
            gaps = [float(int(best) - int(x)) for x in u]
            heights = -rate * np.array(gaps)
        out = heights + out
        if weighting.base is not None:
            out = np.where(positive, out + weighting.log_base, -np.inf)
    return out


def noisy_max_is_brute_force(
    weighting: Weighting,
    u: np.ndarray,
    kind: int,
    chosen: int,
    draws: int,
    seed: int,
    mask: int = MASK_64,
) -> None:
    """All keys, in order: the kernel has passed by no candidate that would have won.

    `mask` is what words were cut to.
    """
    bits, data_kind = utilities.utilities(u, None, "raise")
    rows, seeds = Rows(bits, data_kind, weighting), seeds_of(seed, np.zeros(1, np.uint64))
    found = rows.noisy_max(seeds, draws, 1, kind, chosen)[0]
    stream = row_stream(seed, 0)
    for t in range(draws):
        own = keys(weighting, u, stream, t, kind, mask)
        assert found[t].tolist() == np.argsort(-own, kind="stable")[:chosen].tolist()


def noisy_max_cases(sizes: Iterable[int], seed: int = 1) -> Iterator[tuple[Weighting, np.ndarray]]:
    """Utilities of all kinds with spikes, equal ones and far ones, and bases with zeros."""
    rng = np.random.default_rng(seed)
    for k in sizes:
        rate = Fraction(float(rng.uniform(0.1, 3)))
        spread = 20 * rng.random(k)
        spike = spread.copy()
        spike[rng.integers(k)] += 30
        far = np.where(rng.random(k) < 0.3, -1e300, spread)
        far[-1] = 0
        base = np.where(rng.random(k) < 0.4, 0, rng.random(k) * 1e3)
        base[0] = 1
        for u in (spread, spike, far, np.zeros(k), np.round(spread).astype(np.int64) - 10):
            yield Weighting(rate, None), u
        yield Weighting(rate, None), np.round(spread).astype(np.uint64) + np.uint64(2**63)
        yield Weighting(rate, base), spread
        yield Weighting(rate, base), far


def noisy_maxima_are_brute_force(sizes: Iterable[int], draws: int = 2) -> None:
    """Every case with every noise, one winner or several; also with long words alone."""
    for number, (weighting, u) in enumerate(noisy_max_cases(sizes)):
        kind = number % 3
        noisy_max_is_brute_force(weighting, u, kind, 1, draws, number)
        near = int((u > u.max() / 2 - 100).sum()) if weighting.base is None else 1
        noisy_max_is_brute_force(weighting, u, kind, min(near, 5), draws, number)
    weighting, u = Weighting(Fraction(1, 5), None), np.sin(np.arange(70.0))
    fill = gumbel.fill_substream

    def fill_low(stream: Any, number: Any, first: Any, out: Any) -> None:
        fill(stream, number, first, out)
        out &= np.uint64(3)

    if interpreted():
        for kind in NOISES.values():
            with changed((gumbel, "fill_substream", fill_low)):
                noisy_max_is_brute_force(weighting, u, kind, 5, 2, 1, 3)
                noisy_max_is_brute_force(weighting, u, kind, 70, 1, 2, 3)


def heaps_are_sorted() -> None:
    """Keys poured in any order come out greatest first; lesser ones push nothing out."""
    for size in (1, 2, 3, 4, 7):
        for seed in range(6):
            given = np.random.default_rng(seed).permutation(20).astype(float)
            kept, places = np.full(size, -np.inf), np.full(size, -1)
            for place, key in enumerate(given):
                if key > kept[0]:
                    gumbel.insert(kept, places, key, place)
                assert kept[0] == kept.min()
            out = np.empty(size, np.int64)
            gumbel.pour(kept, places, out)
            assert out.tolist() == np.argsort(-given)[:size].tolist()


def report_noisy_max_has_its_noise() -> None:
    """Each noise by its name, and what it promises."""
    u = np.array([1.0, 0.0, 3.0, 2.5])
    for name, kind in NOISES.items():
        m = fx.ReportNoisyMax(1.0, 2.0, noise=name)
        stream = row_stream(5, 0)
        wanted = [int(keys(m._weighting, u, stream, t, kind).argmax()) for t in range(40)]
        assert m.sample(u, 40, rng=5).tolist() == wanted
        assert (m.guarantee.bounded_range is None) == (name != "gumbel")
        assert m._weighting.rate == Fraction(1, 4)


# Permute-and-flip.


def coins_are_certified() -> None:
    """A coin that bounds decide is decided rightly, at the scales of tries and later coins."""
    for bits in (24, 30, 40, 50):
        for height in (0.0, 1e-9, 0.3, 1.0, 7.77, 20.5, 39.9, 55.0, 300.0, np.inf):
            weight = Fraction(0)
            if height < 100:
                log = Fraction(height) * exact_twin.log_bounds(Fraction(2), 200)[0] / 2**200
                weight = (
                    sum(exact_twin.weight_bounds(Fraction(1), log, Fraction(1 << bits), 150)) / 2
                )
            middle = int(weight)
            for rho in {middle + d for d in (*range(-40, 40), -(2**20), 2**20)}:
                if 0 <= rho < 1 << bits:
                    verdict = chords.judge(height, 2.0**bits, rho)
                    assert verdict != chords.ACCEPTED or rho + 1 <= weight + Fraction(1, 2**20)
                    assert verdict != chords.REJECTED or rho >= weight - Fraction(1, 2**20)
            assert chords.judge(height, 2.0**bits, middle) == UNSURE
    for k, bits in ((1, 40), (2**20, 40), (2**20 + 1, 39), (2**21, 39), (10**9, 30)):
        assert permute_flip.try_bits(k) == bits


FLIPS = {
    "few": np.array([0.0, -1.0, -2.0]),
    "ints": np.array([3, 1, 0, 3], np.int64),
    "unsigned": np.array([2**63 + 5, 2**63, 2**63 + 4], np.uint64),
    "far": np.array([-1.7e308, 1.7e308, 1.7e308 - 1e293]),
    "one": np.array([7.0]),
    "later coins": np.append(np.full(90, -60.0), [0.0, -0.5]),
    "blocks": np.concatenate([[-0.3], np.full(1049, -60.0), [0.0, -0.5], np.full(40, -4.0)]),
}


def flips_are_the_twin(
    u: np.ndarray, draws: int, tries: int = 64, coarse: int | None = None
) -> None:
    """Word for word: what tries, later coins and the choice read, in samples and releases."""
    m = fx.PermuteAndFlip(1.0, 1.0)
    values = [Fraction(x) for x in u.tolist()]
    found = m.sample(u, draws, rng=4, streams=[9])
    key = row_stream(4, 9)
    stream = int(key[0]), int(key[1])

    def twin(t: int) -> int:
        return selection.permute_and_flip(m._weighting.rate, values, stream, t, tries, coarse)[0]

    assert found.tolist() == [twin(t) for t in range(draws)]
    assert m.sample(u, rng=4, streams=[9]) == m.sample(u[None], rng=4, streams=[9])[0] == twin(0)
    for t in range(min(draws, 8) if u.size > 1 else 0):  # one alone is not released
        parts = np.split(stream_words(key, t, 0, tries), [tries // 2])
        later = stream_words(key, t, 1 << 16, u.size)
        parts.append(np.append(later, stream_words(key, t, 1 << 32, permute_flip.CHOICES)))
        given = iter(parts)
        first = (3 << 31) + np.arange(8) * 65536  # the first words of exact tests
        tests = (int(stream_words(key, t, int(at), 2)[0]) for at in first)
        with changed(
            (_permute_flip, "os_words", lambda count, g=given: sized(next(g), count)),
            (_permute_flip, "os_word", tests.__next__),
        ):
            assert m.release(u) == found[t]


def sized(array: np.ndarray, count: int) -> np.ndarray:
    """The array, which must have this many items."""
    assert array.size == count
    return array


def coins_in_doubt_are_exact() -> None:
    """Bounds that decide nothing: each coin of a draw goes to an exact test, and is replayed.

    Without the compiler only. With coins of a bit or two the words of exact tests count.
    """
    if not interpreted():
        return
    never = [(where, "lower", lambda r: np.int64(0)) for where in (chords, permute_flip)]
    always = [(where, "upper", lambda r: np.int64(1 << 62)) for where in (chords, permute_flip)]
    u = np.array([-1.0, -7.0, 0.0, -0.5, -6.0, -9.0, -8.0])
    for tries, coarse in ((64, 1), (4, 2), (2, 1)):  # even tries: words come in pairs
        few = (
            (permute_flip, "TRIES", tries),
            (permute_flip, "try_bits", lambda k, coarse=coarse: coarse),
            (permute_flip, "COIN_BITS", coarse),
            (permute_flip, "UNUSED", np.uint64(64 - coarse)),
        )
        with changed(*never, *always, *few):
            flips_are_the_twin(u, 14, tries, coarse)
            flips_are_the_twin(np.array([5, 0, -4], np.int64), 6, tries, coarse)
    many = np.zeros(9)
    many[0] = 1e6  # nine coins, all in doubt: more than a draw may ask for
    said = ""
    with changed(*never, *always, (permute_flip, "TRIES", 2)):
        try:
            fx.PermuteAndFlip(1.0, 1.0).sample(many, 40, rng=1)
        except fx.FastexpError as error:
            said = str(error)
    assert "nine exact tests" in said


def refused_words_of_flips_are_void() -> None:
    """A try, and the choice, pass over words of zeros; a choice of such words alone is open."""
    zero, last = np.uint64(0), np.uint64((15 << 60) + 1)
    row = Rows(np.zeros(3, np.uint64), 0, Weighting(Fraction(1), None))
    seed = np.zeros(2, np.uint64)
    tried = np.array([zero, last])
    assert _permute_flip._tries(row.bits, row.kind, row.weighting, seed, 0, tried) == 2
    out, work = np.zeros(1, np.int64), _permute_flip._work(3)
    coins = np.zeros(permute_flip.TRIES + 3, np.uint64)  # no try counts, and all coins succeed
    for choices, chosen in (((zero, last), 2), ((zero, zero), permute_flip.NEEDS_WORDS)):
        given = np.concatenate([coins, np.resize(choices, permute_flip.CHOICES)])
        _permute_flip._run(row, _permute_flip.ANY_SEEDS, given, out, work)
        assert out[0] == chosen


def flip_laws_are_exact() -> None:
    """Integrals against polynomials in fractions, in one panel or several, with equal weights."""
    for weights, counts in (
        ([1], [1]),
        ([1], [13]),
        ([1, Fraction(1, 2), Fraction(1, 4)], [1, 1, 1]),
        ([1, Fraction(1, 2)], [1, 1]),
        ([1, Fraction(3, 4), Fraction(1, 1024), 0], [1, 2, 5, 1]),
        ([1, Fraction(7, 8), Fraction(1, 64), 0], [19, 7, 6, 1]),
        ([1, 1 - Fraction(1, 2**30)], [3, 4]),
        ([1, Fraction(1, 2**12)], [1, 30]),
    ):
        each = [Fraction(w) for w, n in zip(weights, counts, strict=True) for _ in range(n)]
        exact = selection.permute_and_flip_law(each)
        assert sum(exact) == 1
        places = np.cumsum([0, *counts[:-1]])
        w = np.array([float(x) for x in weights])
        found = flip_law(w, np.array(counts, float))[0] * w
        for p, place in zip(found.tolist(), places, strict=True):
            assert abs(Fraction(p) - exact[place]) <= exact[place] / 10**13


def weights_of(rate: Fraction, u: np.ndarray) -> list[Fraction]:
    """exp(rate * (u - best)), to 400 bits."""
    values = [Fraction(x) for x in u.tolist()]
    return [
        sum(exact_twin.weight_bounds(rate, max(values) - x, Fraction(1), 400)) / 2 for x in values
    ]


def flip_laws_of_mechanisms() -> None:
    """The law of data: which rate, which candidate, also equal and very low ones."""
    for monotonic in (False, True):
        m = fx.PermuteAndFlip(1.5, 2.0, monotonic=monotonic)
        rate = Fraction(1.5) / (2 if monotonic else 4)
        assert m._weighting.rate == rate
        for u in (
            np.array([1.0, 4.0, 4.0, -3.0, 2.5]),
            np.array([2, 9, 2**53 + 1, 2**53], np.int64),
        ):
            law = m.law(u)
            exact = [float(p) for p in selection.permute_and_flip_law(weights_of(rate, u))]
            assert np.allclose(law.probabilities, exact, rtol=1e-13, atol=1e-60)
            some = np.array(exact) > 1e-50
            logs = law.log_probabilities[some]
            assert np.allclose(logs, np.log(np.array(exact)[some]), rtol=1e-13, atol=1e-13)
    far = fx.PermuteAndFlip(1.0, 1.0).law([0.0, -2000.0]).log_probabilities[1]
    assert abs(far - (-1000 - math.log(2))) < 1e-12  # half of w: the integral of 1 - t


# Top-k.


def selections(m: fx.TopK, u: np.ndarray) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every ordered selection and the logarithm of its probability."""
    law = m.law(u)
    for chosen in itertools.permutations(range(u.size), m.k):
        yield chosen, law.log_probability(chosen)


def top_k_laws_are_exact() -> None:
    """All ordered selections of few candidates against fractions; they sum to 1."""
    for u in (np.array([1.0, 0.0, 2.0, -7.5]), np.array([2, 2**53, 2**53 + 1, 2**53], np.int64)):
        for k in (1, 2, 4):
            m = fx.TopK(k, 3.0 * k, 1.5)
            assert m._weighting.rate == 1
            weights, total = weights_of(Fraction(1), u), 0.0
            for chosen, log_p in selections(m, u):
                exact = selection.ordered_selection(weights, chosen)
                assert exact < Fraction(1, 10**100) or abs(log_p - math.log(exact)) < 1e-13
                total += math.exp(log_p)
            assert abs(total - 1) < 1e-13
        first = m.law(u).first_place_probabilities
        assert np.allclose(first, fx.Exponential(3.0, 1.5).law(u).probabilities, rtol=1e-15)
    law = fx.TopK(3, 6.0, 1.0).law([1e300, -1e300, 1e18, 1e18 - 256])
    assert abs(law.log_probability([0, 2, 3]) + math.log1p(math.exp(-256))) < 1e-15
    assert abs(law.log_probability([0, 3]) / -256 - 1) < 1e-15
    assert abs(law.log_probability([0, 1]) / -1e300 - 1) < 1e-15
    beyond = fx.TopK(2, 8.0, 1.0).law([1.7e308, -1.7e308, 0.0])
    assert beyond.log_probability([1, 0]) == -math.inf
    assert beyond.log_probability([0, 1]) == -math.inf  # 2 * 1.7e308 nats, too
    assert beyond.log_probability([0, 2]) == 0


def one_more(supply: Iterator[np.ndarray]) -> np.ndarray:
    """The next words, of which there must be some."""
    some = next(supply, None)
    assert some is not None
    return some


def peeling_bounds_what_is_left(k: int, rounds: int) -> None:
    """In each round the blocks' bounds are those of the candidates that are left, and not coarse.

    Rounds in one call are those of as many calls; the second one's words are refused.
    """
    rng = np.random.default_rng(3)
    u = np.round(9 * rng.random(k))
    u[[0, k // 2, k - 1]] = [90.0, 30.0, 60.0]
    bits, kind = utilities.utilities(u, None, "raise")
    one_way = Weighting(Fraction(1), None)
    peeling, at_once = (top_k.Peeling(bits, kind, one_way) for _ in range(2))
    words = rng.integers(0, 2**64, (rounds, 2), dtype=np.uint64)
    words[1], further = 0, np.full(2, 2**63, np.uint64)
    length = plan.peeled_block(k)
    taken: list[int] = []
    for two in words:
        index = np.empty(1, np.int64)
        supply = iter([two, further])
        peeling.take(lambda _, supply=supply: one_more(supply), lambda: 0, index)
        left, scan = np.ones(k), peeling._scan
        left[taken] = 0.0
        best = float(key_value(scan.tail(2) & MASK_64, kind))
        weights = 2.0**50 * float(scan.lift()) * np.exp(u - best) * left
        sums = np.add.reduceat(weights, np.arange(0, k, length))
        bounds = scan.blocks[:-6:3]
        assert (sums <= bounds * (1 + 1e-12)).all()
        assert (bounds <= sums * (1 + 2.0**-30) + 5 * BLOCK + 5 * length).all()
        assert k << 20 <= scan.total() == bounds.sum()
        taken.append(int(index[0]))
    together = np.empty(rounds, np.int64)
    supply = iter([words.reshape(-1), further])
    at_once.take(lambda _: one_more(supply), lambda: 0, together)
    assert next(supply, None) is None
    assert together.tolist() == taken
    assert len(set(taken)) == rounds
    assert taken[:3] == [0, k - 1, k // 2]


def top_k_samples() -> None:
    """Both methods select distinct candidates, the best first; coarse keys are peeled."""
    u = np.array([[30.0, 0.0, 90.0, 60.0], [1e18, 0.0, 1e18 - 1e9, 1e17]])
    m = fx.TopK(3, 6.0, 1.0)
    for method in ("gumbel", "envelope"):
        out = m.sample(u, 3, rng=1, method=method)
        assert out.tolist() == [[[2, 3, 0]] * 3, [[0, 2, 3]] * 3]
    far = [1e18, 0.0, 1.0]
    peeled = m.sample(far, 20, rng=1, method="envelope")
    assert m.sample(far, 20, rng=1).tolist() == peeled.tolist()
    assert {tuple(x) for x in peeled.tolist()} == {(0, 1, 2), (0, 2, 1)}
    assert sorted(m.release(np.array([2.0, 1.0, 2.0])).tolist()) == [0, 1, 2]


# Promises.


def worst_ratio(laws: Any, pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[float, float]:
    """(the worst |log-ratio|, the widest range of log-ratios) of neighbours' laws."""
    worst, width = 0.0, 0.0
    for first, second in pairs:
        ratios = laws(first) - laws(second)
        worst = max(worst, float(abs(ratios).max()))
        width = max(width, float(ratios.max() - ratios.min()))
    return worst, width


def neighbours(monotonic: bool, k: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Utilities and what one record makes of them, at sensitivity 1."""
    moves = itertools.product((0.0, 1.0) if monotonic else (-1.0, 0.0, 1.0), repeat=k)
    starts = [np.zeros(k), 2.0 * np.arange(k), -9.0 * np.arange(k), np.arange(k) % 2 * 1.0][: k + 1]
    for move, start in itertools.product(list(moves), starts):
        yield start, start + np.array(move)


def promises_hold(epsilons: Iterable[float], k: int) -> None:
    """Permute-and-flip and top-k keep epsilon; the first one spends all of it somewhere.

    Top-k of only two candidates spends half at most, as its second round tells nothing.
    """
    for monotonic in (True, False):
        for epsilon in epsilons:
            m = fx.PermuteAndFlip(epsilon, 1.0, monotonic=monotonic)
            laws = lambda u, m=m: m.law(u).log_probabilities  # noqa: E731
            worst, _ = worst_ratio(laws, neighbours(monotonic, k))
            assert abs(worst - epsilon) < 1e-12
            assert (m.guarantee.epsilon, m.guarantee.bounded_range) == (epsilon, None)
            assert abs(m.guarantee.rho / (epsilon * math.tanh(epsilon / 2)) - 1) < 1e-9
            top = fx.TopK(2, epsilon, 1.0, monotonic=monotonic)
            logs = lambda u, m=top: np.array([p for _, p in selections(m, u)])  # noqa: E731
            worst, _ = worst_ratio(logs, neighbours(monotonic, k))
            assert (0.25 if k == 2 else 0.5) * epsilon < worst <= epsilon + 1e-12
            assert top.guarantee.epsilon == epsilon
            assert top.guarantee.bounded_range is None


def range_of_permute_and_flip_is_not_bounded() -> None:
    """Two candidates, monotonic utilities: the range is epsilon + ln(2 - exp(-epsilon))."""
    m = fx.PermuteAndFlip(1.0, 1.0, monotonic=True)
    one, two = (m.law(u).log_probabilities for u in ([0.0, 0.0], [1.0, 0.0]))
    ratios = one - two
    assert abs(float(ratios.max() - ratios.min()) - (1 + math.log(2 - math.exp(-1)))) < 1e-14


def run() -> None:
    """All of it, at sizes that suit the interpreter; what is quick comes first."""
    tails_are_right((-3.0, 0.5, 10.0, 26.5, 36.9, 44.5, 60.0))
    noise_is_finite_and_falls()
    thresholds_are_safe(np.geomspace(1e-5, 80, 60).tolist())
    heaps_are_sorted()
    range_of_permute_and_flip_is_not_bounded()
    flip_laws_of_mechanisms()
    peeling_bounds_what_is_left(40, 40)
    top_k_samples()
    noisy_max_is_brute_force(Weighting(Fraction(1), None), np.arange(1030.0) % 7, 0, 3, 1, 5)
    top_k_laws_are_exact()
    report_noisy_max_has_its_noise()
    coins_are_certified()
    refused_words_of_flips_are_void()
    for name, u in FLIPS.items():
        flips_are_the_twin(u, 2 if name == "blocks" else 12)
    peeling_bounds_what_is_left(1100, 4)
    noisy_maxima_are_brute_force((1, 2, 65, 130), 1)
    flip_laws_are_exact()
    promises_hold((0.5,), 2)
    coins_in_doubt_are_exact()


if __name__ == "__main__":
    run()
