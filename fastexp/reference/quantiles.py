"""The obvious, exact and slow twin of joint quantiles: over all answers, and by the chain.

Imports no kernel and no array library. Records and answers are indices of grid points; between two
neighbouring answers there is a count of records, c_1 .. c_(m+1) in all, and a weight is the
product of weigh(abs(c_j - t * d_j)), d_j being the share of records that belongs there. It need
not be a power: enumeration and chain agree for every function `weigh` of a distance.

* ties "left": records that equal an answer are above it.
* ties "spread": every record and every answer is a uniform point of its grid point's interval, the
  weight of ordered points is averaged over records and summed over answers. Of E records and K
  answers in one interval all (E + K)! orders are as likely, C(E + K, K) as far as ranks go, and
  ordered answers have the volume 1/K!: each pattern of latent ranks has E! / (E + K)!.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from math import comb, factorial, prod

Weigh = Callable[[Fraction], Fraction]
Answers = tuple[int, ...]


def power(base: Fraction, unit: int = 1) -> Weigh:
    """Weights base**-(unit * distance): distances are multiples of 1/unit."""

    def weigh(distance: Fraction) -> Fraction:
        exponent = distance * unit
        if exponent.denominator != 1:
            raise ValueError("unit must make all distances integers")
        return 1 / Fraction(base) ** exponent.numerator

    return weigh


def shares(q: Sequence[Fraction]) -> list[Fraction]:
    """d_1 .. d_(m+1): which share of the records belongs between neighbouring answers."""
    return [after - before for before, after in pairwise([Fraction(0), *q, Fraction(1)])]


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


def on_fine_grid(
    records: Sequence[int], size: int, fine: int, q: Sequence[Fraction], total: int, weigh: Weigh
) -> dict[Answers, Fraction]:
    """Weights of ties "spread" on a grid `fine` times as fine, where ties are rare, not gone.

    The average over all `fine**n` places of the records within their grid points; answers are
    summed over the fine points of theirs, of the volume 1/fine each. A polynomial in 1/fine whose
    value at 0 is `enumerated`.
    """
    sums: dict[Answers, Fraction] = {}
    cell = Fraction(1, fine ** (len(records) + len(q)))
    for places in product(range(fine), repeat=len(records)):
        moved = [fine * x + place for x, place in zip(records, places, strict=True)]
        weights = enumerated(moved, fine * size, q, [total], weigh, "left")
        for (_, answers), fine_weight in weights.items():
            rounded = tuple(point // fine for point in answers)
            sums[rounded] = sums.get(rounded, Fraction(0)) + cell * fine_weight
    return sums


def probabilities(weights: dict[tuple[int, Answers], Fraction]) -> dict[Answers, Fraction]:
    """The law of the answers alone."""
    whole, law = sum(weights.values()), dict[Answers, Fraction]()
    for (_, answers), summand in weights.items():
        law[answers] = law.get(answers, Fraction(0)) + summand / whole
    return law


# The chain: the same sums by sites, which are runs of grid points and points with records.


@dataclass(frozen=True)
class Site:
    """Neighbouring grid points where answers have as many records below, or one with records.

    `below`: how many records are below all of it; `records`: how many are in it, among which
    answers are anywhere (0 with ties "left", where a run ends at its last point's records).
    """

    start: int
    points: int
    below: int
    records: int
    ties: str

    def volume(self, answers: int) -> Fraction:
        """Of `answers` answers here, of each pattern of their ranks."""
        if self.ties == "left":
            return Fraction(comb(self.points + answers - 1, answers))
        if self.records:
            return Fraction(factorial(self.records), factorial(self.records + answers))
        return Fraction(self.points**answers, factorial(answers))


def sites(records: Sequence[int], size: int, ties: str) -> list[Site]:
    """All sites of a grid, in its order; private data."""
    line, start, below = list[Site](), 0, 0
    for point in [*sorted(set(records)), size]:
        at = sum(x == point for x in records)
        end = point + 1 if ties == "left" and at else point
        if end > start:
            line.append(Site(start, end - start, below, 0, ties))
        if ties == "spread" and at:
            line.append(Site(point, 1, below, at, ties))
        start, below = max(end, point + bool(at)), below + at
    return line


State = tuple[int, int, int]  # the site of the latest answer, its rank, answers in that site


def forward(
    line: Sequence[Site], q: Sequence[Fraction], total: int, weigh: Weigh
) -> list[dict[State, Fraction]]:
    """Sums of o_1 .. o_j by the state of o_j; the latest site's volume is not in them yet."""
    d = shares(q)

    def phi(j: int, c: int) -> Fraction:
        return weigh(abs(c - total * d[j]))

    rows: list[dict[State, Fraction]] = [{(-1, 0, 0): Fraction(1)}]
    for j in range(len(q)):
        row: dict[State, Fraction] = {}
        for (at, rank, k), summand in rows[-1].items():
            left = line[at].volume(k) if k else Fraction(1)
            for s in range(max(at, 0), len(line)):
                site = line[s]
                lowest = rank if s == at else site.below
                for r in range(lowest, site.below + site.records + 1):
                    state = (s, r, k + 1 if s == at else 1)
                    term = summand * phi(j, r - rank) * (1 if s == at else left)
                    row[state] = row.get(state, Fraction(0)) + term
        rows.append(row)
    return rows[1:]


def by_chain(
    records: Sequence[int], size: int, q: Sequence[Fraction], total: int, weigh: Weigh, ties: str
) -> Fraction:
    """The sum of all weights with this total, by the chain."""
    line, n, last = sites(records, size, ties), len(records), shares(q)[-1]
    final = forward(line, q, total, weigh)[-1]
    return sum(
        (
            summand * line[s].volume(k) * weigh(abs(n - rank - total * last))
            for (s, rank, k), summand in final.items()
        ),
        Fraction(0),
    )
