"""Joint top-k in integers: losses, how many sequences are within one, and the law by slices.

With c(1) >= ... >= c(d) the counts in order, a sequence s of k distinct items has the loss
max over i of c(i) - c[s_i]. It is not negative: s_1 is no better than c(1).

**How many.** A loss is at most v if each s_i is in A_i, the items of at least c(i) - v. These sets
grow with i, so that the i - 1 items before s_i are in A_i, too: it is one of |A_i| - i + 1 others.
Hence N(v) = product of |A_i| - i + 1 sequences.

**Slices.** With q < 1, q**loss = (1 - q) * sum of q**v over v >= loss. So P(s) proportional to
q**loss(s) is: draw v proportional to N(v) * q**v, then one of the N(v) sequences evenly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def loss(counts: Sequence[int], sequence: Sequence[int]) -> int:
    """How far the worst place is behind the item that belongs there. Not private."""
    ordered = sorted(counts, reverse=True)
    return max(best - counts[item] for best, item in zip(ordered, sequence, strict=False))


def reaches(counts: Sequence[int], k: int, v: int) -> list[int]:
    """|A_i| of each place. Not private."""
    ordered = sorted(counts, reverse=True)
    return [sum(count >= ordered[i] - v for count in counts) for i in range(k)]


def sequences_within(reach: Sequence[int]) -> int:
    """N(v), from |A_i| of each place."""
    return math.prod(size - i for i, size in enumerate(reach))


def loss_law(counts: Sequence[int], k: int, q: Fraction) -> dict[int, Fraction]:
    """P(loss = v) of each v that has sequences. Not private."""
    weights, before = {}, 0
    for v in range(max(counts) - min(counts) + 1):
        within = sequences_within(reaches(counts, k, v))
        if within > before:
            weights[v] = (within - before) * q**v
        before = within
    total = sum(weights.values(), Fraction(0))
    return {v: weight / total for v, weight in weights.items()}
