"""Joint quantiles by their definition: the weight of every total and every tuple of answers.

In Fractions; the twin in `tests/twins`, whose chain has the same sums, says what is meant by
ties and weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from math import factorial, prod

from tests.twins.quantiles import Weigh, shares

Answers = tuple[int, ...]


def power(base: Fraction, unit: int = 1) -> Weigh:
    """Weights base**-(unit * distance): distances are multiples of 1/unit."""

    def weigh(distance: Fraction) -> Fraction:
        exponent = distance * unit
        if exponent.denominator != 1:
            raise ValueError("unit must make all distances integers")
        return 1 / Fraction(base) ** exponent.numerator

    return weigh


def counts(ranks: Sequence[int], n: int) -> list[int]:
    """c_1 .. c_(m+1) of answers with so many records below."""
    return [after - before for before, after in pairwise([0, *ranks, n])]


def distance(counted: Sequence[int], total: int, q: Sequence[Fraction]) -> Fraction:
    """The sum of abs(c_j - t * d_j)."""
    return sum((abs(c - total * d) for c, d in zip(counted, shares(q), strict=True)), Fraction(0))


def weight(counted: Sequence[int], total: int, q: Sequence[Fraction], weigh: Weigh) -> Fraction:
    """The product of the weights of abs(c_j - t * d_j)."""
    return prod(
        (weigh(abs(c - total * d)) for c, d in zip(counted, shares(q), strict=True)),
        start=Fraction(1),
    )


def latent_ranks(
    records: Sequence[int], answers: Answers, ties: str
) -> Iterator[tuple[list[int], Fraction]]:
    """All ranks that answers may have, each with its volume; with ties "left" the only ones."""
    below = {point: sum(x < point for x in records) for point in set(answers)}
    if ties == "left":
        yield [below[point] for point in answers], Fraction(1)
        return
    patterns, volume = [], Fraction(1)
    for point in sorted(below):
        e, k = records.count(point), answers.count(point)
        within = combinations_with_replacement(range(e + 1), k)
        patterns.append([[below[point] + b for b in bs] for bs in within])
        volume *= Fraction(factorial(e), factorial(e + k))
    for pattern in product(*patterns):
        yield [rank for ranks in pattern for rank in ranks], volume


def enumerated(
    records: Sequence[int],
    size: int,
    q: Sequence[Fraction],
    totals: Iterable[int],
    weigh: Weigh,
    ties: str,
) -> dict[tuple[int, Answers], Fraction]:
    """The weight of every total and every non-decreasing tuple of grid points."""
    records, n = sorted(records), len(records)
    return {
        (t, answers): sum(
            (
                volume * weight(counts(ranks, n), t, q, weigh)
                for ranks, volume in latent_ranks(records, answers, ties)
            ),
            Fraction(0),
        )
        for t in totals
        for answers in combinations_with_replacement(range(size), len(q))
    }


def probabilities(weights: dict[tuple[int, Answers], Fraction]) -> dict[Answers, Fraction]:
    """The law of the answers alone."""
    whole, law = sum(weights.values()), dict[Answers, Fraction]()
    for (_, answers), summand in weights.items():
        law[answers] = law.get(answers, Fraction(0)) + summand / whole
    return law
