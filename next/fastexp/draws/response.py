"""Draws of randomised response: a random word says whether an answer is a lie."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..types import Array, Words
from .exact import MASK_64, exp_bounds
from .laplace import is_upto
from .words import SPARE, SYSTEM, further_words, pairs, system_bytes

PRECISION = 128


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
