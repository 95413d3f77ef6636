"""Draws of candidates: one of a vector, a few or many of each row; several in order."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ..data.segments import Segments
from ..errors import InvalidUtilities, RoundingModeError
from ..kernels import alias, short_rows
from ..kernels import envelope as kernels
from ..kernels.alias import HEAD
from ..kernels.bits import LOG2E
from ..kernels.envelope import ATTEMPT, BEST, INDEX, PRECISION, PROBE, RHO, STOP, UNSURE
from ..kernels.gumbel import CHUNK, draw_gumbel
from ..kernels.jit import BLOCK
from ..types import Array, Floats, Integers, Words
from . import exact
from .words import SPARE, SYSTEM, further_words, pairs, some_seeds, system_pair, system_words

NO_BASE: Floats = np.empty(0)
SCALE = 2.0**PRECISION
MIN_MANY = 8  # draws of a row, and
CANDIDATES_PER_DRAW = 200  # at most so many candidates for each, for which an alias table pays


class Weighting:
    """The public side of a draw: weight base * exp(rate * utility), with an exact rate."""

    def __init__(self, rate: Fraction, base: Floats = NO_BASE) -> None:
        self.rate, self.base = rate, base
        self.rate_log2 = float(rate) * LOG2E


def draw(rows: Segments, weighting: Weighting, seeds: Words, size: int | None) -> Any:
    """Return indices of candidates: an int, or int64 of shape (size,), (rows,) or (rows, size)."""
    values, kind, count, _ = rows
    if count is not None:
        return shaped(_draws(rows, weighting, seeds, size or 1), count, size)
    if size is not None:
        return _draws(rows, weighting, seeds, size)
    words = SYSTEM
    if values.size <= BLOCK and weighting.base is NO_BASE:
        tag = name = 0
        if seeds is SYSTEM:
            low, high = system_pair()
        else:
            low, high, tag, name = seeds.tolist()
        rate = weighting.rate_log2
        index: int = kernels.draw_block(values, kind, rate, SCALE, low, high, tag, name)
        if index >= 0:
            return index
        check(index)
        words = np.array((low, high), np.uint64)  # for a release, the same round again
    if seeds.size:
        return int(_draws(rows, weighting, seeds, 1)[0])
    return int(_few(rows, weighting, SYSTEM, words if words.size else system_words(2), 1)[0])


def shaped(draws: Array, rows: int | None, size: int | None) -> Any:
    """Return draws as a number, or of shape (size,), (rows,) or (rows, size)."""
    if rows is None:
        return draws.item() if size is None else draws.reshape(-1)
    return draws.reshape(rows) if size is None else draws.reshape(rows, size)


def check(status: int) -> int:
    """Return a kernel's status; raise its error if it is one."""
    if status == kernels.NOT_FINITE:
        raise InvalidUtilities(
            "utilities must be finite: give a forbidden candidate a base of 0 instead"
        )
    if status == kernels.NOT_EXACT:
        raise RoundingModeError("the processor must round to nearest and keep subnormal numbers")
    return status


def _draws(rows: Segments, weighting: Weighting, seeds: Words, size: int) -> Integers:
    """Return `size` draws of each row, row after row."""
    count = rows.rows or 1
    k = rows.values.size // count
    if seeds.size and size >= MIN_MANY and size * CANDIDATES_PER_DRAW > k:
        return _many(rows, weighting, seeds, size)
    words = pairs(seeds, count, size)
    if size == 1 and k <= short_rows.SHORT and seeds.size and not weighting.base.size:
        return _short(rows, weighting, seeds, words)
    return _few(rows, weighting, seeds, words, size)


def peel(row: Segments, rate: Fraction, seeds: Words, rounds: int) -> Integers:
    """Return candidates in order, each of them drawn among those that are left."""
    words = pairs(seeds, 1, rounds)
    weighting = Weighting(rate, np.ones(row.values.size))
    return _few(row, weighting, seeds, words, rounds, peels=True)


def _few(
    rows: Segments,
    weighting: Weighting,
    seeds: Words,
    words: Words,
    size: int,
    *,
    peels: bool = False,
) -> Integers:
    count = rows.rows or 1
    k = rows.values.size // count
    # A block's bounds add to less than 2**62, and all bounds to less than 2**63.
    precision = min(PRECISION, 61 - k.bit_length())
    out, probe = np.empty(count * size, np.int64), np.empty(PROBE, np.int64)
    work, at, attempt, known = np.empty(BLOCK + 2 * -(-k // BLOCK), np.int64), 0, 0, False
    while True:
        at = kernels.draw_few(
            rows.values,
            rows.kind,
            weighting.base,
            weighting.rate_log2,
            precision,
            k,
            seeds,
            words,
            at,
            attempt,
            peels + known,
            out,
            probe,
            work,
        )
        if at == out.size:
            return out
        check(int(probe[STOP]))
        row, t = divmod(at, size)
        index, rho, attempt = probe[[INDEX, RHO, ATTEMPT]].tolist()
        spare = further_words(seeds, row, (t << 32) + SPARE + (attempt << 8))
        one = candidates_of(
            rows.values[row * k : (row + 1) * k], rows.kind, weighting, probe[BEST:]
        )
        attempt, known = attempt + 1, peels
        scale = Fraction(2) ** precision
        if probe[STOP] == UNSURE and one.accepts(index, scale, rho, spare):
            out[at], at, attempt, known = index, at + 1, 0, False
            weighting.base[index : index + peels] = 0.0
        elif not seeds.size:
            words = words if words.flags.writeable else words.copy()
            words[2 * at : 2 * at + 2] = system_pair()
            attempt = 0


def _short(rows: Segments, weighting: Weighting, seeds: Words, words: Words) -> Integers:
    count = rows.rows or 1
    k = rows.values.size // count
    out, work = np.empty(count, np.int64), np.empty((2 * k + 3) * short_rows.TILE, np.int64)
    rate = weighting.rate_log2
    check(short_rows.draw_short(rows.values, rows.kind, rate, k, words, out, work))
    left = np.flatnonzero(out < 0)
    if left.size:
        some = Segments(rows.values.reshape(-1, k)[left].reshape(-1), rows.kind, left.size)
        first = words.reshape(-1, 2)[left].reshape(-1)
        out[left] = _few(some, weighting, some_seeds(seeds, left), first, 1)
    return out


def _many(rows: Segments, weighting: Weighting, seeds: Words, size: int) -> Integers:
    count = rows.rows or 1
    k = rows.values.size // count
    out, work = np.empty(count * size, np.int64), np.empty(table_room(k), np.int64)
    values, kind, base, rate = rows.values, rows.kind, weighting.base, weighting.rate_log2
    if check(alias.draw_many(values, kind, base, rate, k, seeds, 0, out, work)):
        for j in np.flatnonzero(out < 0).tolist():
            row, t = divmod(j, size)
            one, own = values[row * k : (row + 1) * k], some_seeds(seeds, [row])
            alias.draw_many(one, kind, base, rate, k, own, 0, out[:0], work)
            spare = further_words(own, 0, t + 1 << 32)
            out[j] = settle(candidates_of(one, kind, weighting, work), work, True, spare)
    return out


def candidates_of(values: Words, kind: int, weighting: Weighting, probe: Any) -> exact.Candidates:
    """Return the candidates of a row; probe: its best key, and the lift."""
    best, lift = int(probe[0]) & exact.MASK_64, float(probe[1:].view(np.float64)[0])
    return exact.Candidates(values, kind, weighting.base, weighting.rate, best, lift)


def table_room(k: int) -> int:
    """Return the words of scratch for an alias table."""
    return HEAD + (3 << k.bit_length()) + alias.DRAWS


def settle(
    candidates: exact.Candidates, work: Integers, is_open: bool, words: Iterator[int]
) -> int:
    """Return a draw from cells: L of each candidate, then its doubts D, then void ones.

    An open draw is not from L. As D = (L >> 35) + 8 is at least U - L, the law is exact.
    """
    k, cells = int(work[HEAD - 2]), int(work[HEAD - 1])
    lowers, scale = work[HEAD : HEAD + k], Fraction(float(work[2:].view(np.float64)[0]))
    sums = np.cumsum(np.concatenate([lowers, (lowers >> 35) + 8]))
    certain = int(sums[k - 1])
    while True:
        from_cell = certain if is_open else 0
        x = from_cell + exact.draw_below(cells - from_cell, words)
        i = int(np.searchsorted(sums, x, "right"))
        if i < k:
            return i
        if i < 2 * k:
            rho = int(lowers[i - k]) + x - int(sums[i - 1])
            if candidates.accepts(i - k, scale, rho, words):
                return i - k
        is_open = False


def draw_several(
    rows: Segments, weighting: Weighting, seeds: Words, size: int | None, rounds: int, method: str
) -> Any:
    """Return indices in order, of shape (rounds,), (size, rounds), (rows, rounds) or all three.

    Each round is a draw among the candidates that are left. In simulations, the greatest keys of
    Gumbel noise follow the same law within rounding errors.
    """
    out = np.empty((rows.rows or 1, size or 1, rounds), np.int64)
    matrix = rows.values.reshape(len(out), -1)
    k = matrix.shape[1]
    if method == "gumbel":
        work = np.empty(CHUNK + rounds + -(-k // BLOCK), np.int64)
        base, rate, into = weighting.base, weighting.rate_log2, out.reshape(-1)
        check(draw_gumbel(rows.values, rows.kind, base, rate, k, seeds, rounds, into, work))
    else:
        for r, t in np.ndindex(out.shape[:2]):
            own = some_seeds(seeds, slice(r, r + 1))
            own[2:3] += np.uint64(t << 8)  # a draw has a tag, and so a stream, of its own
            out[r, t] = peel(Segments(matrix[r], rows.kind), weighting.rate, own, rounds)
    axes = [n for n in (rows.rows, size) if n is not None]
    return out.reshape([*axes, rounds])
