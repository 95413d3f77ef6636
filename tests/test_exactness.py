"""Are bounds true, and is the law exact where they decide nothing?

A kernel accepts a draw by certified bounds; the few that they leave open are decided in Fractions.
Bounds are compared with 120 digits at their breakpoints. Then they are made so coarse, in the
interpreter, that a large part of all draws is open. Every check is seen to fail.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import pytest

from fastexp.draws import exact
from fastexp.kernels import alias, bits, envelope, jit

from . import child, coarse

WORD = 1 << 64
interpreted = pytest.mark.skipif(jit.MODE == "jit", reason="helpers are not Python's")


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    with mpmath.workdps(120), np.errstate(all="ignore"):  # integers wrap on purpose
        yield


def real(x: Fraction) -> Any:
    return mpmath.mpf(x.numerator) / x.denominator


def decay(exponent: Fraction) -> Any:
    """Return exp(-exponent); from 9,999 on, exp(-9,999) stands for it."""
    return mpmath.exp(-real(min(exponent, Fraction(9999))))


# Fractions that decide


def is_bracket(gamma: Fraction, precision: int, low: int, high: int) -> bool:
    return low <= mpmath.exp(-real(gamma)) * mpmath.mpf(2) ** precision <= high


EXPONENTS = [
    Fraction(n, d) for d in (1, 3, 128, 10**30) for n in (1, 2, 5, 127, 128, 129, 10**4)
] + [Fraction(1, 10**300), Fraction(199, 2), Fraction(72), Fraction(73), Fraction(10**9)]


@pytest.mark.parametrize("precision", [10, 64, 130, 300])
def test_exp_bounds(precision: int) -> None:
    for gamma in EXPONENTS:
        low, high = exact.exp_bounds(gamma, precision)
        assert is_bracket(gamma, precision, low, high), gamma
        assert high - low <= 2, gamma
        assert not is_bracket(gamma, precision, high + 1, high + 2), gamma
        assert not is_bracket(gamma, precision, low - 2, low - 1), gamma
    assert exact.exp_bounds(Fraction(0), precision) == (1 << precision, 1 << precision)


def scripted(*words: int) -> Iterator[int]:
    """Yield these words; another one is a StopIteration."""
    return iter(words)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(2) ** 50, Fraction(3, 7) * 2**33])
@pytest.mark.parametrize("exponent", [Fraction(1, 3), Fraction(1, 10**15), Fraction(20)])
def test_accept(exponent: Fraction, scale: Fraction) -> None:
    """The coin V is compared with scale * exp(-exponent) - rho to its last word."""
    target = real(scale) * mpmath.exp(-real(exponent))
    rho = int(mpmath.floor(target))
    part = int(mpmath.floor((target - rho) * mpmath.mpf(2) ** 192))
    first, second, third = part >> 128, part >> 64 & WORD - 1, part & WORD - 1
    for word, accepted in ((third - 9, True), (third + 9, False)):
        assert exact.accept(exponent, scale, rho, scripted(first, second, word)) == accepted
    with pytest.raises(StopIteration):
        exact.accept(exponent, scale, rho, scripted(first, second))  # two words leave it open
    for word, accepted in ((second - 2, True), (second + 2, False)):
        assert exact.accept(exponent, scale, rho, scripted(first, word)) == accepted
    for below, accepted in ((rho - 1, True), (rho + 1, False)):
        assert exact.accept(exponent, scale, below, scripted(first, 0)) == accepted


def test_accept_of_a_tie_ends() -> None:
    """exp(0) is rational: bounds would never leave V = 0 or V close to 1."""
    for word in (0, WORD - 1):
        assert exact.accept(Fraction(0), Fraction(8), 7, scripted(word))
        assert not exact.accept(Fraction(0), Fraction(8), 8, scripted(word))


BOUNDS = [1, 2, 3, 5, 7 << 40, (1 << 62) - 1, 1 << 62, (1 << 62) + 1, (1 << 63) - 1]


def check_uniform(draw: Callable[[int, int], int | None], bound: int, width: int) -> None:
    """Each value has as many words, (2**width) // bound: the first and the last one decide.

    `draw` maps (word, bound) to a value, or None if the word is refused.
    """
    share, refused = divmod(1 << width, bound)
    for value in {0, 1 % bound, bound // 3, max(bound - 2, 0), bound - 1}:
        first = -(-((value << width) + refused) // bound)
        for word, expected in (
            (first, {value}),
            (first + share - 1, {value}),
            (first - 1, {value - 1, None}),
            (first + share, {value + 1, None}),
        ):
            if 0 <= word < 1 << width:
                assert draw(word, bound) in expected, (bound, value)


def draw_pair(word: int, bound: int) -> int | None:
    value, counts = bits.below(*(np.uint64(x) for x in (word % WORD, word >> 64, bound)))
    return int(value) if counts else None


def draw_word(word: int, bound: int) -> int | None:
    value, counts = bits.below_word(np.uint64(word), np.uint64(bound))
    return int(value) if counts else None


def draw_exact(word: int, bound: int) -> int | None:
    try:
        return exact.draw_below(bound, scripted(word))
    except StopIteration:
        return None


@interpreted
@pytest.mark.parametrize("bound", BOUNDS)
def test_uniform_integers(bound: int) -> None:
    check_uniform(draw_pair, bound, 128)
    check_uniform(draw_word, bound, 64)
    check_uniform(draw_exact, bound, 64)


def test_uniform_integers_are_not_biased() -> None:
    """A threshold of "the low part is at least the bound", or none, fails."""

    def too_strict(word: int, bound: int) -> int | None:
        return word * bound >> 64 if word * bound % WORD >= bound else None

    def none(word: int, bound: int) -> int | None:
        return word * bound >> 64

    for wrong in (too_strict, none):
        with pytest.raises(AssertionError):
            check_uniform(wrong, 7 << 40, 64)


@interpreted
@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # of Random123, the reference (Salmon et al. 2011)
        ((0, 0), 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((WORD - 1, WORD - 1), WORD - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            (0x85A308D3243F6A88, 0x0370734413198A2E),
            0x299F31D0A4093822,
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_philox(counter: tuple[int, int], key: int, expected: str) -> None:
    w = [int(x, 16) for x in expected.split()]
    words = w[0] | w[1] << 32, w[2] | w[3] << 32
    assert exact.philox(*counter, key) == words
    assert tuple(map(int, bits.philox(*map(np.uint64, (*counter, key))))) == words


# Certified bounds


def gaps(rate: Fraction) -> list[float]:
    """Return gaps of utilities with heights at and beside multiples of 1/2, and others."""
    unit = math.log(2) / float(rate)
    halves = [m / 2 for m in (*range(1, 40), 100, *range(121, 127))]
    points = [unit * (h + d) for h in halves for d in (0, -(2.0**-24), 2.0**-24, 2.0**-23)]
    points += [float(np.nextafter(unit * h, way)) for h in halves for way in (0, np.inf)]
    tiny = [0.0, 2.0**-1074, 2.0**-1022, 2.0**-101 / float(rate), 2.0**-99 / float(rate), 1e-9]
    return [*tiny, *points, *(np.random.default_rng(1).random(99) * 65 * unit).tolist(), 1e300]


RATES = [Fraction(1, 2), Fraction(3, 7), Fraction(1, 10**9), Fraction(10**6)]
BASES = [1.0, 2 - 2.0**-52, 2.0**52, 2.0**-1022, 3.7e-200]


@lru_cache
def weights(precision: int, base: float = 1.0) -> list[tuple[Any, Any, Any]]:
    """Return (scaled weight, height, mantissa * scale) for many gaps and rates."""
    exponent, mantissa = bits.parts(np.float64(base))
    lift, found = np.floor(-exponent), []  # of the best candidate, if it has this base
    for rate in RATES:
        for gap in gaps(rate):
            words = np.array([0.0, -gap]).view(np.uint64)
            top = bits.order_key(words[0], bits.FLOAT)
            rate_log2 = np.float64(float(rate) * bits.LOG2E)
            height = bits.height(words[1], bits.FLOAT, top, rate_log2) - exponent - lift
            weight = real(Fraction(base)) * mpmath.mpf(2) ** (precision + int(lift))
            weight *= decay(rate * Fraction(gap))
            found.append((weight, height, np.float64(mantissa * 2.0**precision)))
    return found


def test_weight() -> None:
    """The relative error of 2**-height is at most 2**-45.8, and not much less."""
    points = [m / 2 for m in range(1, 300)]
    points += [float(np.nextafter(x, way)) for x in points for way in (0, 1e3)] + [0.0, 999.5, 1000]
    points += (np.random.default_rng(2).random(2000) * 40).tolist()
    worst = max(
        abs(mpmath.mpf(float(bits.weight(np.float64(h), np.float64(1)))) * mpmath.mpf(2) ** h - 1)
        for h in points
    )
    assert 2**-46.0 < worst <= 2**-45.8


def are_bounds(lower: Any, upper: Any, precision: int, base: float) -> bool:
    """Whether lower(r) <= scaled weight <= upper(r) for r, its rounded value."""
    return all(
        lower(r) <= weight <= upper(r)
        for weight, height, scale in weights(precision, base)
        for r in [bits.rounded_weight(height, scale)]
    )


@interpreted
@pytest.mark.parametrize("precision", [50, 30])
@pytest.mark.parametrize("base", BASES)
def test_bounds(precision: int, base: float, monkeypatch: pytest.MonkeyPatch) -> None:
    assert are_bounds(envelope.lower, envelope.upper, precision, base)
    rounding = Fraction(1, 2)
    for weight, height, scale in weights(precision, base):
        rounded = int(bits.rounded_weight(height, scale))
        assert abs(rounded - weight) <= weight * mpmath.mpf(2) ** -39 + real(rounding)
    # Without their units, or without the relative part, they are no bounds.
    assert not are_bounds(lambda r: envelope.lower(r) + 2, envelope.upper, precision, base)
    assert not are_bounds(envelope.lower, lambda r: envelope.upper(r) - 3, precision, base)
    monkeypatch.setattr(envelope, "SLACK", np.int64(62))
    assert are_bounds(envelope.lower, envelope.upper, precision, base) == (precision < 50)


def is_chord(chord: Callable[[Any, Any], Any], precision: int) -> bool:
    return all(
        weight <= chord(height, np.float64(precision)) <= weight * 1.062 + 2
        for weight, height, _ in weights(precision)
    )


@interpreted
@pytest.mark.parametrize("precision", [50, 41, 30])
def test_chord(precision: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_chord(bits.chord, precision)
    assert not is_chord(lambda h, p: bits.chord(h, p) - 1, precision)
    assert not is_chord(lambda h, p: bits.chord(h, p) * 1.001, precision)
    monkeypatch.setattr(bits, "FIXED", 1610612736.0)
    assert not is_chord(bits.chord, precision)


def have_doubts(scale: float, fewer: int = 0, **changes: Any) -> bool:
    """Whether L <= weight <= L + D for the cells of an alias table, D = (L >> 35) + 8 - fewer."""
    rate, work = Fraction(3, 7), np.empty(1000, np.int64)
    values = -np.array(gaps(rate))
    base, rate_log2 = np.empty(0), np.float64(float(rate) * bits.LOG2E)
    best, lift, _ = envelope.survey(values.view(np.uint64), 0, base, rate_log2, work[-1:])
    alias.fill_lowers(values.view(np.uint64), 0, base, rate_log2, best, lift, scale, work)
    lowers = work[alias.HEAD : alias.HEAD + values.size].tolist()
    exact_weights = [real(Fraction(scale)) * decay(-rate * Fraction(x)) for x in values.tolist()]
    return all(
        low <= weight <= low + (low >> 35) + 8 - fewer
        for low, weight in zip(lowers, exact_weights, strict=True)
    )


@interpreted
@pytest.mark.parametrize("scale", [2.0**50, 2.0**44 / 3, 1e9])
def test_cells_of_an_alias_table(scale: float) -> None:
    assert have_doubts(np.float64(scale))
    assert not have_doubts(np.float64(scale), fewer=8)


@interpreted
def test_heights_of_tiny_gaps() -> None:
    """A gap below 2**-100 / rate counts as none, as products of subnormal numbers take time."""
    for rate in (2.0**-30, 1.0, 2.0**30):
        for gap, is_seen in (
            (2.0**-102 / rate, False),
            (2.0**-99 / rate, True),
            (2.0**-1074, False),
        ):
            words = np.array([0.0, -gap]).view(np.uint64)
            top = bits.order_key(words[0], bits.FLOAT)
            height = bits.height(words[1], bits.FLOAT, top, np.float64(rate))
            assert height == (gap * rate if is_seen else 0)


# Open draws


@pytest.mark.parametrize("paths", [coarse.IN_PYTHON, coarse.IN_KERNELS], ids=["Python", "kernels"])
def test_open_draws_follow_the_law(paths: tuple[str, ...]) -> None:
    for path, (is_right, refused, accepted) in coarse.outcomes(paths).items():
        assert is_right, path
        assert min(refused, accepted) >= 20, path


@pytest.mark.parametrize(
    ("planted", "paths"),
    [
        ("all is accepted", ("release", "few")),
        ("half the weight", ("one", "rows of base")),
        ("all is accepted", ("many",)),
        ("coarse bounds are believed", ("rows",)),
        ("loose cells are believed", ("median, one", "median, many", "lower, many")),
        ("all is accepted", ("quantiles, many",)),
    ],
)
def test_wrong_exact_branches_are_seen(planted: str, paths: tuple[str, ...]) -> None:
    for path, (is_right, _, _) in coarse.outcomes(paths, planted).items():
        assert not is_right, path


def test_words_are_used_once() -> None:
    """Rounds, places, coins and further attempts of a draw have blocks of their own."""
    paths = "few", "few of base", "rows", "many", "many of base", "median, one", "median, many"
    found = coarse.repeated(paths, 3)
    found |= coarse.repeated(("chords",), 6)  # which refuse some before others are open
    for path, (used, twice) in found.items():
        assert used > 100, path
        assert not twice, path


BLOCKS = """
import json
import numpy as np
import fastexp as fx
from fastexp.kernels import envelope
seen, weigh = [], envelope.weigh
def counted(values, *rest):
    seen.append(values.size)
    return weigh(values, *rest)
envelope.weigh = counted
found, mechanism = [], fx.Exponential(1.0, 1.0)
for at in (0, 1500, 2999):
    u = np.zeros(3000)
    u[at] = 99
    for draw in (mechanism.release, lambda u: mechanism.sample(u, rng=1)):
        seen.clear()
        found.append([draw(u), sum(seen)])
print(json.dumps(found))
"""


def test_a_release_weighs_every_block() -> None:
    """Then the drawn one; only a simulation leaves some out, as which ones depends on the data."""
    found = json.loads(child.run(BLOCKS, FASTEXP_KERNELS="python"))
    assert [answer for answer, _ in found] == [0, 0, 1500, 1500, 2999, 2999]
    assert [weighed for _, weighed in found[::2]] == [3000 + 1024, 3000 + 1024, 3000]
    assert all(weighed < 3000 for _, weighed in found[1::2])
