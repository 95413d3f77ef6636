"""Coins: lies of randomised response, and whether a private group appears, exactly.

Of n persons it appears with p(n): p(0) = 0, p(n) = min(e**epsilon * p(n - 1) + delta,
1 - e**-epsilon * (1 - p(n - 1) - delta), 1) (Desfontaines, Voss, Gipson and Mandayam 2022).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

import numpy as np

from ..types import Array, Integers, Words
from .exact import MASK_64, exp_bounds
from .laplace import is_upto
from .words import SPARE, SYSTEM, further_words, pairs, system_bytes

PRECISION = 128
BOUND_BITS = 256  # of the bounds that words are compared with
WORD = 64


def words_of_truth(gap: Fraction) -> tuple[int, int]:
    """Return two words: below the first one an answer is true, above the second one a lie.

    It is a lie if V >= 1 / (1 + exp(-gap)), for a uniform V with the word as its first bits.
    """
    one = 1 << PRECISION
    least, most = ((one << 64) // (one + part) for part in exp_bounds(gap, PRECISION)[::-1])
    return least, min(most, MASK_64)


def draw_lies(gap: Fraction, limits: tuple[int, int], rows: int, seeds: Words, size: int) -> Array:
    """Return whether each of `size` answers for each row is a lie, with 1 / (1 + exp(gap))."""
    depth, leads = 64, pairs(seeds, rows, size)[::2] if seeds.size else SYSTEM
    if not seeds.size:  # 16 bits, as the system takes 5 ns for each byte
        depth, leads = 16, np.frombuffer(system_bytes(2 * rows * size), np.uint16)
    least, most = (leads.dtype.type(limit >> 64 - depth) for limit in limits)
    lies = leads >= least
    for j in np.flatnonzero(lies & (leads <= most)).tolist():
        row, t = divmod(j, size)
        spare = further_words(seeds, row, (t << 32) + SPARE)
        lead, digits = int(leads[j]), depth
        while (is_true := is_upto(0, gap, gap, lead, digits)) is None:
            lead, digits = lead << 64 | next(spare), digits + 64
        lies[j] = not is_true
    return lies.reshape(rows, size)


def draw_appearances(persons: Integers, epsilon: Fraction, delta: Fraction, seeds: Words) -> Array:
    """Return a coin for each group, by its number of persons."""
    low, high = bounds(epsilon, delta, BOUND_BITS)
    below = np.array([*(bound >> BOUND_BITS - WORD for bound in low[:-1]), 0], np.uint64)
    above = np.array([*(max(x - 1, 0) >> BOUND_BITS - WORD for x in high[:-1]), 0], np.uint64)
    words, n = pairs(seeds, persons.size, 1)[::2], np.minimum(persons, below.size - 1)
    found: Array = (n == below.size - 1) | (words < below[n])
    for g in np.flatnonzero(~found & (words <= above[n])).tolist():
        spare = further_words(seeds, g, SPARE)
        found[g] = _decide(int(n[g]), epsilon, delta, int(words[g]), spare)
    return found


def _decide(n: int, epsilon: Fraction, delta: Fraction, lead: int, words: Iterator[int]) -> bool:
    """Return whether a uniform number, of which `lead` are the first bits, is below p(n)."""
    bits = WORD
    while True:
        low, high = bounds(epsilon, delta, BOUND_BITS + bits)
        if n >= len(low) or lead + 1 << BOUND_BITS <= low[n]:
            return True
        if lead << BOUND_BITS >= high[n]:
            return False
        lead, bits = lead << WORD | next(words), bits + WORD


@lru_cache(maxsize=16)
def bounds(epsilon: Fraction, delta: Fraction, bits: int) -> tuple[list[int], list[int]]:
    """Return integer bounds of 2**bits * p(n) for n = 0, 1, ..., until p is 1."""
    one = 1 << bits
    least_fall, most_fall = exp_bounds(epsilon, bits)
    falls = most_fall, least_fall  # exp(-epsilon), for a lower and an upper bound
    rises = (one << bits) // most_fall, -(-(one << bits) // least_fall)
    added = floor(delta * one), ceil(delta * one)
    low, high = [0], [0]
    while low[-1] < one:
        for bound, fall, rise, more, up_by in zip(
            (low, high), falls, rises, added, (0, one - 1), strict=True
        ):
            p = bound[-1]
            grown = (p * rise + up_by >> bits) + more
            rest = max(one - p - more, 0) * fall  # what is left, rounded the other way
            filled = one - (rest + (one - 1 - up_by) >> bits)
            bound.append(min(grown, filled, one))
    return low, high
