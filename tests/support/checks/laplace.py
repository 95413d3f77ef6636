"""Deterministic checks of Laplace noise by inversion: its twin by the definition, its kernel by it.

Plain functions, so that `tests/mutants` can run them against broken copies of the
package, without the compiler (`python -m tests.support.checks.laplace`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

import mpmath as mp
import numpy as np

import fastexp as fx
from tests.doors.kernels import laplace as kernels
from tests.doors.numbers import laplace
from tests.doors.randomness import AGAIN, ROW, seeds_of
from tests.doors.reference import Sides, block_number, exact, laplace_index
from tests.support.altered import changed
from tests.twins.selection import derive_stream

TOP = 1 << 64
BESIDE = 300  # binary digits in which V agrees with an edge of two blocks
FINER = 2 * BESIDE  # of the definition
NO_END, HALF = (None, None), Fraction(1, 2)
COINS = "blocks", "blocks and ends", "half a nat", "one block"  # of CASES: with places and coins

# Rate, phase, points up to the statistic and beyond it, points a block.
CASES = {
    "a point": Sides(Fraction(1), Fraction(0), *NO_END, 1),
    "half-way": Sides(Fraction(1, 3), HALF, *NO_END, 1),
    "a third": Sides(Fraction(2, 7), Fraction(1, 3), *NO_END, 1),
    "steep": Sides(Fraction(9), Fraction(3, 7), *NO_END, 1),
    "beside the middle": Sides(Fraction(1 << 40), HALF - Fraction(1, 1 << 39), *NO_END, 1),
    "nearly one side": Sides(Fraction(60), Fraction(1, 8), *NO_END, 1),
    "nearly the other": Sides(Fraction(90), Fraction(7, 8), *NO_END, 1),
    "no noise": Sides(Fraction(2) ** 800, Fraction(7, 8), *NO_END, 1),
    "fine": Sides(Fraction(1, 1000), Fraction(7, 9), *NO_END, 1),
    "finest of one word": Sides(Fraction(1, (1 << 22) - 1), Fraction(1, 9), *NO_END, 1),
    "bounds": Sides(Fraction(1, 5), Fraction(2, 3), 4, 9, 1),
    "flat": Sides(Fraction(1, 1 << 21), Fraction(2, 3), 3, 4, 1),
    "an end": Sides(Fraction(1, 2), Fraction(0), 7, 0, 1),
    "two points": Sides(Fraction(1, 10), Fraction(2, 5), 1, 1, 1),
    "blocks": Sides(Fraction(1, 1 << 30), Fraction(2, 3), *NO_END, 200),
    "blocks and ends": Sides(Fraction(1, 1 << 30), Fraction(2, 3), 1001, 1400, 200),
    "a short side": Sides(Fraction(1, 1 << 30), Fraction(1, 8), 1 << 50, 1, 250),
    "half a nat": Sides(Fraction(1, 6), Fraction(1, 8), 8, 10, 3),
    "one block": Sides(Fraction(1, 1 << 30), Fraction(1, 8), 20, 100, 255),
    "one large block": Sides(Fraction(1, 1 << 90), Fraction(7, 8), 1 << 40, 1 << 51, 1 << 53),
}  # fmt: skip


def is_whole(sides: Sides) -> bool:
    """Whether all points are one block."""
    return sides.left is not None and sides.left + sides.right <= sides.block


def blocks(sides: Sides) -> list[int]:
    """Some blocks, in order: those next to the statistic, others, and the last ones of ends."""
    chosen = {*range(-4, 4), -30, -100, 17, 90}
    for points, sign in ((sides.left, -1), (sides.right, 1)):
        if points:
            last = (points - 1) // sides.block
            chosen |= {last - 1, last} if sign > 0 else {~last, ~(last - 1)}
    return sorted(n for n in chosen if there(sides, n))


def there(sides: Sides, number: int) -> bool:
    """Whether there is a block of this number."""
    points, passed = (sides.right, number) if number >= 0 else (sides.left, ~number)
    return passed >= 0 and (points is None or passed * sides.block < points)


def number_of(x: Fraction) -> mp.mpf:
    """A fraction with all digits."""
    return mp.mpf(x.numerator) / x.denominator


def upper_edge(sides: Sides, number: int) -> mp.mpf:
    """P(a block is `number` or before it), by the definition: sums of geometric weights."""
    rate, phase = number_of(sides.rate), number_of(sides.phase)
    ends = [mp.mpf(0) if n is None else mp.exp(-rate * n) for n in (sides.left, sides.right)]
    weights = [mp.exp(-rate * (x - min(phase, 1 - phase))) for x in (phase, 1 - phase)]
    total = sum(w * (1 - q) for w, q in zip(weights, ends, strict=True))
    beyond = sides.block * (number + 1 if number >= 0 else -number - 1)
    if number >= 0:
        return 1 - weights[1] * max(mp.exp(-rate * beyond) - ends[1], 0) / total
    return weights[0] * (mp.exp(-rate * beyond) - ends[0]) / total


def digits(x: mp.mpf, count: int) -> list[int]:
    """The first words of a number in (0, 1)."""
    whole = int(mp.floor(x * mp.mpf(2) ** (64 * count)))
    return [whole >> 64 * (count - 1 - i) & (TOP - 1) for i in range(count)]


def no_more() -> int:
    """Where further words are none of a draw's business."""
    raise AssertionError


def edges(sides: Sides) -> Iterator[tuple[int, int, mp.mpf]]:
    """Neighbouring blocks, and the V between them."""
    for number in blocks(sides):
        if there(sides, number + 1):
            yield number, number + 1, upper_edge(sides, number)


def the_twin_is_the_definition(names: Iterable[str] = CASES) -> int:
    """A V just below an edge gives the block before it, one just above the block after it."""
    seen, beside = 0, mp.mpf(2) ** -BESIDE
    for name in names:
        sides = CASES[name]
        if is_whole(sides):
            continue
        with mp.workprec(FINER):
            for before, after, edge in edges(sides):
                for number, v in ((before, edge - beside), (after, edge + beside)):
                    if 2 * beside < edge < 1 - 2 * beside:
                        lead, *more = digits(v, FINER // 64)
                        assert block_number(sides, lead, iter(more).__next__) == number, name
                        seen += 1
    return seen


def points_of(sides: Sides, number: int) -> list[int]:
    """The points of a block, as the words of places count them."""
    if is_whole(sides):
        return list(range(1 - sides.left, sides.right + 1))
    end, passed = (sides.right, number) if number >= 0 else (sides.left, ~number)
    last = sides.block * (passed + 1) if end is None else min(sides.block * (passed + 1), end)
    away = range(sides.block * passed, last)
    return [1 + i for i in away] if number >= 0 else [-i for i in away]


def coins_of_the_twin(names: Iterable[str] = COINS) -> int:
    """A place passes just below the ratio of weights; just above it another one is drawn."""
    seen, beside = 0, mp.mpf(2) ** -BESIDE
    for name in names:
        sides = CASES[name]
        for number in [0] if is_whole(sides) else blocks(sides):
            with mp.workprec(FINER):
                before, after = there(sides, number - 1), there(sides, number + 1)
                low = upper_edge(sides, number - 1) if before else mp.mpf(0)
                high = upper_edge(sides, number) if after else mp.mpf(1)
                (lead,) = digits((low + high) / 2, 1)
                points, x = points_of(sides, number), number_of(sides.phase)
                nearest = min(abs(p - x) for p in points)
                for at in {1, len(points) // 2, len(points) - 1} & {*range(1, len(points))}:
                    row = lead, (2 * at + 1) * TOP // (2 * len(points))
                    ratio = mp.exp(-number_of(sides.rate) * (abs(points[at] - x) - nearest))
                    for v, drawn in ((ratio - beside, points[at]), (ratio + beside, points[0])):
                        if v < 1:
                            coin, *more = digits(v, -(-BESIDE // 64))  # then: place 0, which passes
                            more += [TOP // len(points) // 2, 0]
                            index = laplace_index(sides, (*row, coin), iter(more).__next__)
                            assert index == drawn, name
                            seen += 1
    return seen


def words_of(sides: Sides, draws: int) -> np.ndarray:
    """Random words of V, and hard ones: about edges, from a word off to where bounds end."""
    words = np.random.default_rng(7).integers(0, TOP, draws, np.uint64).tolist()
    words += [0, 1, (1 << 44) - 1, 1 << 44, TOP - (1 << 44), TOP - 2, TOP - 1]
    if not is_whole(sides):
        with mp.workprec(FINER):
            for _, _, edge in edges(sides):
                middle = int(mp.floor(edge * TOP))
                for k in (-1, 0, 1, 4, 9, 11, 15, 20, 22, 26):
                    off = int(2**k)
                    words += [w for w in (middle - off, middle + off) if 0 <= w < TOP]
    return np.array(words, np.uint64)


def filled(sides: Sides, words: np.ndarray) -> tuple[np.ndarray, int]:
    """What the kernel makes of words, and how many draws it says are open."""
    lean = float(sides.rate) * float(1 - 2 * sides.phase)
    each = 1 if sides.block == 1 else kernels.WORDS
    out = np.empty(words.size // each, np.int64)
    ends = [-1 if n is None else n for n in (sides.left, sides.right)]
    opened = kernels.laplace_fill(words, float(sides.rate), lean, *ends, sides.block, out)
    return out, opened


def rows_of(sides: Sides, draws: int) -> np.ndarray:
    """All words of draws, a row each: the first are random, then there are hard ones."""
    words = words_of(sides, draws)
    if sides.block == 1:
        return words.reshape(-1, 1)
    rng = np.random.default_rng(3)
    places, coins = (rng.integers(0, TOP, words.size, np.uint64) for _ in range(2))
    edge = min(max(int((1 - float(sides.rate * sides.block)) * TOP), 0), TOP - 1)
    for i in range(draws, words.size):
        count = len(points_of(sides, 0)) if sides.block < 1000 else 1 << 51
        beside = (i % 97) * TOP // count + i % 2  # where the next place begins, or a word after it
        places[i] = (places[i], 0, beside % TOP)[i % 3]
        coins[i] = (coins[i], edge, TOP - 1, 0)[i % 4]
    return np.stack([words, places, coins], axis=1)


def the_kernel_is_the_twin(names: Iterable[str] = CASES, draws: int = 60) -> int:
    """The kernel's points are the twin's of the same words, or it leaves them open."""
    seen = 0
    for name in names:
        sides = CASES[name]
        rows = rows_of(sides, draws)
        out, opened = filled(sides, rows.reshape(-1))
        left_open = out == kernels.OPEN
        assert opened == left_open.sum(), name
        coins = float(sides.rate * sides.block) if sides.block > 1 else 0.0
        assert left_open[:draws].mean() < 0.1 + 2 * coins, name
        for row, index in zip(rows.tolist(), out.tolist(), strict=True):
            if index != kernels.OPEN:
                assert index == laplace_index(sides, row, no_more), name
                seen += 1
    return seen


def logarithms_are_as_near_as_stated(names: Iterable[str] = CASES, draws: int = 60) -> float:
    """The greatest error of -ln s, against any V that begins with the word; below 2**-43."""
    worst = 0.0
    for name in names:
        sides = CASES[name]
        if is_whole(sides):
            continue
        rate, fine = float(sides.rate), 2.0**46
        ends = [-1 if n is None else n for n in (sides.left, sides.right)]
        steps = kernels.shares(rate, rate * float(1 - 2 * sides.phase), *ends)
        least = [1 << 44, (1 << 44) + 1, TOP - (1 << 44) - 1, (1 << 45) + 5, 1 << 53]
        for word in [*least, *words_of(sides, draws).tolist()]:
            number = int(kernels.block_number(np.uint64(word), steps, fine, 0.0))
            if number == kernels.OPEN:
                continue
            with mp.workprec(200):
                given = mp.mpf(number if number >= 0 else ~number) / fine
                for v in (mp.mpf(word) / TOP, mp.mpf(word + 1) / TOP):
                    s = rest_of_side(sides, v, on_left=number < 0)
                    if s > 0:
                        worst = max(worst, float(abs(given + mp.log(s))))
                    else:
                        assert min(word, TOP - 1 - word) < 1 << 44, name
    return worst


def rest_of_side(sides: Sides, v: mp.mpf, *, on_left: bool) -> mp.mpf:
    """s of a V, by the definition."""
    rate, phase = number_of(sides.rate), number_of(sides.phase)
    q = [mp.mpf(0) if n is None else mp.exp(-rate * n) for n in (sides.left, sides.right)]
    t = mp.exp(rate * (1 - 2 * phase))
    if on_left:
        return q[0] + v * ((1 - q[0]) + (1 - q[1]) / t)
    return q[1] + (1 - v) * ((1 - q[1]) + (1 - q[0]) * t)


def samples_are_the_twin(draws: int = 9) -> None:
    """Each draw has its own words; those that are left open go on with a substream of theirs."""
    given = kernels.laplace_fill
    line, tiny = fx.Laplace(1.0, 1, step=1), fx.Laplace(1.0, 1, step=1e-9)
    bounded = fx.Laplace(1.0, 2, step=1, bounds=(-3, 9))
    for mechanism, f, share in (
        (line, 0.3, None),
        (tiny, 0.1, None),
        (tiny, 3, 2.0),
        (bounded, 8.9, 0.7),
    ):
        with changed((laplace, "BLOCK_NATS", share or laplace.BLOCK_NATS)):
            sampler = mechanism._sampler(f)
            truth = sampler.truth
            counts = [None if n < 0 else n for n in truth.points]
            sides = Sides(mechanism._weighting.rate, truth.phase, *counts, sampler.block)
            seeds = seeds_of(5, np.array([0], np.uint64))
            key = int(seeds[0]), int(seeds[1])
            words = exact.substream(derive_stream(key, ROW, 0), 0)
            each = 1 if sides.block == 1 else kernels.WORDS
            rows = [[next(words) for _ in range(each)] for _ in range(draws)]
            again = derive_stream(key, AGAIN, 0)
            for every in (False, True):  # the second time, all draws are left open

                def fill(*arguments: object, every: bool = every) -> int:
                    opened = given(*arguments)
                    if every:
                        arguments[-1][:] = kernels.OPEN
                    return arguments[-1].size if every else opened

                with changed((laplace, "laplace_fill", fill)):
                    drawn = mechanism.sample(f, draws, rng=5)
                index = [
                    laplace_index(sides, row, exact.substream(again, j).__next__)
                    for j, row in enumerate(rows)
                ]
                assert drawn.tolist() == truth.values(np.array(index)).tolist()


def releases_read_words(words: Callable[[], Iterator[int]]) -> None:
    """A release has the words of the operating system: its own, and those of open draws."""
    for mechanism, f in ((fx.Laplace(0.5, 1, step=0.25), 0.3), (fx.Laplace(1.0, 1, step=1e-9), 3)):
        read, again = words(), words()
        sampler = mechanism._sampler(f)
        sides = Sides(mechanism._weighting.rate, sampler.truth.phase, *NO_END, sampler.block)

        def given(size: int, read: Iterator[int] = read) -> bytes:
            return b"".join(next(read).to_bytes(8, "little") for _ in range(size // 8))

        with changed((laplace.os_words.__globals__["os"], "urandom", given)):
            drawn = mechanism.release(f)
        row = [next(again) for _ in range(1 if sides.block == 1 else kernels.WORDS)]
        index = laplace_index(sides, row, again.__next__)
        assert drawn == mechanism._grid.value(sampler.truth.below + index)
        assert next(read) == next(again)


def zeros_first() -> Iterator[int]:
    """Words that leave a release open."""
    yield 0
    yield from exact.substream((1, 2), 0)


def run() -> None:
    """Everything, small enough for the interpreter."""
    samples_are_the_twin()
    releases_read_words(zeros_first)
    releases_read_words(lambda: exact.substream((3, 4), 0))
    assert coins_of_the_twin() > 100
    assert the_twin_is_the_definition() > 150
    assert the_kernel_is_the_twin(draws=20) > 600
    assert 2.0**-46 < logarithms_are_as_near_as_stated(draws=10) < 2.0**-43


if __name__ == "__main__":
    run()
