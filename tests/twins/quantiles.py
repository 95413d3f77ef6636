"""The exact twin of the chain of joint quantiles: sums of weights by sites and ranks.

Imports no kernel and no array library. Records and answers are indices of grid points; between two
neighbouring answers there is a count of records, c_1 .. c_(m+1) in all, and a weight is the
product of weigh(abs(c_j - t * d_j)), d_j being the share of records that belongs there. It need
not be a power: the chain is the sum over all answers for every function `weigh` of a distance.

* ties "left": records that equal an answer are above it.
* ties "spread": every record and every answer is a uniform point of its grid point's interval, the
  weight of ordered points is averaged over records and summed over answers. Of E records and K
  answers in one interval all (E + K)! orders are as likely, C(E + K, K) as far as ranks go, and
  ordered answers have the volume 1/K!: each pattern of latent ranks has E! / (E + K)!.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb, factorial

Weigh = Callable[[Fraction], Fraction]


def shares(q: Sequence[Fraction]) -> list[Fraction]:
    """d_1 .. d_(m+1): which share of the records belongs between neighbouring answers."""
    return [after - before for before, after in pairwise([Fraction(0), *q, Fraction(1)])]


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
