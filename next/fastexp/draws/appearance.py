"""Coins of private groups: whether a group of n persons appears, exactly.

Of n persons it does with p(n): p(0) = 0, p(n) = min(e**epsilon * p(n - 1) + delta,
1 - e**-epsilon * (1 - p(n - 1) - delta), 1) (Desfontaines, Voss, Gipson and Mandayam 2022).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

import numpy as np

from ..types import Array, Integers, Words
from .exact import exp_bounds
from .words import SPARE, further_words, pairs

BITS = 256  # of the bounds that words are compared with
WORD = 64


def draw(persons: Integers, epsilon: Fraction, delta: Fraction, seeds: Words) -> Array:
    """Return a coin for each group, by its number of persons."""
    low, high = bounds(epsilon, delta, BITS)
    below = np.array([*(bound >> BITS - WORD for bound in low[:-1]), 0], np.uint64)
    above = np.array([*(max(x - 1, 0) >> BITS - WORD for x in high[:-1]), 0], np.uint64)
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
        low, high = bounds(epsilon, delta, BITS + bits)
        if n >= len(low) or lead + 1 << BITS <= low[n]:
            return True
        if lead << BITS >= high[n]:
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
