"""The exact twin of a draw from the chain of joint quantiles, if bounds leave it undecided.

A state has *ways*, each a factor times an exponential, and an upper bound of their exact sum, which
has few binary digits. R is uniform below the bound. The first way whose cumulative sum exceeds R is
taken; if there is none, the draw is refused. So P(path, not refused) is the product of the ways'
values over the product of the bounds. The bound of a state is a factor of the way that leads to
it: all bounds but the first cancel, and accepted paths have exactly their weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple

from .exact import NextWord, draw_below, exp_bounds

Way = tuple[Fraction, Fraction]  # a factor and an exponent: factor * exp(-exponent)


class ExactChain(NamedTuple):
    """The chain of one total, as `kernels/numbers/chain.py` filled it."""

    rate: Fraction
    n: int
    left: int
    most: int  # phases of a run, the last one also for more outputs; 1: a plain chain
    tau: list[Fraction]  # m + 1 targets
    lo: list[int]
    hi: list[int]
    cell: Callable[[int, int], Any]  # output and rank -> start, count, before, after
    shift: list[Fraction]  # factors of the sums and phases of the row before
    arrived: Callable[[int, int], Fraction]  # by output and rank, as `phases` and `sums`
    phases: Callable[[int, int], list[Fraction]]
    sums: Callable[[int, int], Fraction]
    usual: Callable[[int], int]  # the usual number of outputs in an atom, by its records
    atoms: list[tuple[int, int]]  # (point, records) if more than one output is usual

    def nats(self, records: int, j: int) -> Fraction:
        """Return the cost of this many records before output j."""
        return self.rate * abs(records - self.tau[j])


def pick(word: int, next_word: NextWord, bound: Fraction, ways: Iterable[Way]) -> int | None:
    """Return the first way whose cumulative sum exceeds R, uniform below the bound, or None.

    R begins with `word`, and further digits are drawn until bounds of the sums decide.
    """
    bits, lead, summands = 64, word, list(ways)
    while True:
        unit, lower, upper = bound / (1 << bits), Fraction(0), Fraction(0)
        least, most, decided = lead * unit, (lead + 1) * unit, True
        for at, (factor, exponent) in enumerate(summands):
            lo, hi = _exp(exponent, bits + 40 + _digits(factor) - _digits(bound))
            lower, upper = lower + factor * lo, upper + factor * hi
            if most <= lower:
                return at
            decided = least >= upper
            if not decided:
                break
        if decided:
            return None
        lead, bits = lead << 64 | next_word(), bits + 64


def _digits(x: Fraction) -> int:
    """Return about log2(x), for x > 0."""
    return x.numerator.bit_length() - x.denominator.bit_length()


def _exp(exponent: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return bounds of exp(-exponent), within about 2**-digits."""
    digits = max(digits, 8) + (0 if exponent >= 0 else 4 * int(-exponent) + 4)
    lo, hi = exp_bounds(abs(exponent), digits)
    one = 1 << digits
    if exponent < 0:
        return Fraction(one, hi), Fraction(one, lo)
    return Fraction(lo, one), Fraction(hi, one)


def walk(
    rows: ExactChain, bound: Fraction, words: list[int], next_word: NextWord
) -> list[tuple[int, int]] | None:
    """Return the rank and the phase of each output; None: the draw is refused."""
    if rows.most == 1:
        return _walk_plain(rows, bound, words, next_word)
    left, most, used, zero = rows.left, rows.most, 1, Fraction(0)
    path: list[tuple[int, int]] = []
    j, count, word = len(rows.lo), rows.n, words[0]
    while True:
        if j == 0:
            start = pick(word, next_word, bound, [(rows.shift[0], rows.nats(count, 0))])
            return None if start is None else path[::-1]
        first = rows.lo[j - 1]
        last = min(rows.hi[j - 1], rows.n if j == len(rows.lo) else count - 1)
        ways = [
            (rows.shift[j] * rows.sums(j - 1, i), rows.nats(count - i, j))
            for i in range(first, last + 1)
        ]
        at = pick(word, next_word, bound, ways)
        if at is None:
            return None
        j, count, f = j - 1, first + at, -1
        while True:
            phases, (_, length, before, after) = rows.phases(j, count), rows.cell(j, count)
            if f < 0:
                parts = [(phase, zero) for phase in phases]
                chosen = pick(words[used], next_word, rows.sums(j, count), parts)
                used += 1
                if chosen is None:
                    return None
                f = chosen
            path.append((count, f))
            if 1 <= f <= most:
                factor = Fraction(length + left * (f - 1), f)
            else:
                records = before if f == 0 else after
                factor = Fraction(1, records + rows.usual(records)) if records else zero
            ways = [(factor * rows.arrived(j, count) if f < 2 or f > most else zero, zero)]
            g = -1 if f > most else max(f - 1, 0)
            if j > 0 and rows.lo[j - 1] <= count <= rows.hi[j - 1]:
                stay_cost = rows.nats(0, j)
                value = rows.sums(j - 1, count) if g < 0 else rows.phases(j - 1, count)[g]
                ways.append((factor * rows.shift[j] * value, stay_cost))
                if f == most:
                    value = rows.phases(j - 1, count)[f]
                    ways.append((factor * rows.shift[j] * value, stay_cost))
            chosen = pick(words[used], next_word, phases[f], ways)
            used += 1
            if chosen is None:
                return None
            if chosen == 0:
                bound, word = rows.arrived(j, count), words[used]
                used += 1
                break
            j, f = j - 1, g if chosen == 1 else f


def _walk_plain(
    rows: ExactChain, bound: Fraction, words: list[int], next_word: NextWord
) -> list[tuple[int, int]] | None:
    """Do the same in a plain chain, where a way may lead to any cell of the row before."""
    path, count, zero = list[tuple[int, int]](), rows.n, Fraction(0)
    for j in reversed(range(len(rows.lo))):
        ways = [
            (rows.shift[j + 1] * rows.sums(j, i), rows.nats(count - i, j + 1))
            for i in range(rows.lo[j], rows.hi[j] + 1)
        ]
        at = pick(words[2 * j + 1], next_word, bound, ways)
        if at is None or rows.lo[j] + at > count:
            return None
        count, (_, length, *atoms) = rows.lo[j] + at, rows.cell(j, rows.lo[j] + at)
        bound = rows.arrived(j, count)
        alpha, beta = (Fraction(1, e + rows.usual(e)) if e else zero for e in atoms)
        parts = [(part * bound, zero) for part in (alpha, length, beta)]
        chosen = pick(words[2 * j + 2], next_word, rows.sums(j, count), parts)
        if chosen is None:
            return None
        f = chosen + chosen // 2
        if path and path[-1][0] == count:
            if path[-1][1] < f:
                return None
            path[-1] = count, 2 if path[-1][1] == f == 1 else path[-1][1]
        path.append((count, f))
    ways = [(rows.shift[0], rows.nats(count, 0))]
    return None if pick(words[0], next_word, bound, ways) is None else path[::-1]


def put(
    rows: ExactChain, path: list[tuple[int, int]], words: list[int], next_word: NextWord
) -> list[int] | None:
    """Return the grid indices of a path's outputs, in order; None: a coin refused them."""
    m, k, run, out, coin = len(path), 0, list[int](), list[int](), Fraction(1)
    for j, (rank, f) in enumerate(path):
        start, count, before, after = rows.cell(j, rank)
        if 1 <= f <= max(rows.most, 2):
            run = run if f > 1 else []
            k = len(run) + 1
            top = count + rows.left * (k - 1)
            x = _place(top, words[2 * j], words[2 * j + 1], next_word)
            run.append(top - 1 if rows.left and x in run else x)
            if k > rows.most:
                coin *= Fraction(top * rows.most, (count + rows.left * (rows.most - 1)) * k)
            out[j - k + 1 :] = [start + x - rows.left * at for at, x in enumerate(sorted(run))]
        else:
            records, x = (before, start - 1) if f == 0 else (after, start + count)
            k = k + 1 if j > 0 and out[-1] == x else 1
            usual = rows.usual(records)
            coin *= Fraction(records + usual, records + k) if k > usual else 1
            out.append(x)
    for point, records in rows.atoms:
        usual = rows.usual(records)
        for k in range(out.count(point) + 1, usual):
            coin *= Fraction(records + k, records + usual)
    if coin < 1 and pick(words[2 * m], next_word, Fraction(1), [(coin, Fraction(0))]) is None:
        return None
    return out


def _place(bound: int, low: int, high: int, next_word: NextWord) -> int:
    """Return a uniform integer below a bound from two words, or from more if these are refused."""
    return draw_below(bound, chain([low, high], iter(next_word, None)).__next__)
