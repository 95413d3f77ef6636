"""The law of every mechanism by its definition: exact distances, weights in Fractions.

An answer is a number: of a candidate, or of a grid point. A law lists the probabilities of all.
Nothing here is fast, and nothing shares a formula with the library where a search will do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product
from typing import Any

Law = list[Fraction]
Data = tuple[int, ...]  # records as the numbers of their grid points
Statistic = Callable[[Data, int], set[int]]  # the points that are the statistic of these data
ADD_REMOVE, REPLACE = "add-remove", "replace"
DIGITS = 60
ZERO = Fraction(0)


@lru_cache(None)
def exp(x: Fraction) -> Fraction:
    """Return e**x within a relative 1e-57, for x down to -1000."""
    with localcontext(prec=DIGITS):
        return Fraction((Decimal(x.numerator) / x.denominator).exp())


def log(x: Fraction) -> float:
    with localcontext(prec=DIGITS):
        return float((Decimal(x.numerator) / x.denominator).ln())


def normal(weights: Sequence[Fraction]) -> Law:
    total = sum(weights)
    return [weight / total for weight in weights]


# Candidates


def weights(
    utilities: Sequence[float], rate: Fraction, base: Sequence[float] | None = None
) -> tuple[Fraction, list[Fraction]]:
    """Return the best utility, and base * exp(rate * (utility - best)) of each candidate."""
    measure = [Fraction(b) for b in base or [1] * len(utilities)]
    values = [Fraction(u) for u in utilities]
    top = max(u for u, b in zip(values, measure, strict=True) if b)
    return top, [
        b * exp(rate * (u - top)) if b else b for u, b in zip(values, measure, strict=True)
    ]


def exponential(
    utilities: Sequence[float], rate: Fraction, base: Sequence[float] | None = None
) -> Law:
    return normal(weights(utilities, rate, base)[1])


def permute_and_flip(utilities: Sequence[float], rate: Fraction) -> Law:
    """Return the law of the first success, over which others fail before it in a random order."""
    _, w = weights(utilities, rate)
    law = []
    for r in range(len(w)):
        others = [w[j] for j in range(len(w)) if j != r]
        total = Fraction(0)
        for n in range(len(w)):
            orders = Fraction(math.factorial(n) * math.factorial(len(others) - n))
            fail = sum(
                (math.prod(1 - x for x in before) for before in combinations(others, n)), ZERO
            )
            total += orders / math.factorial(len(w)) * fail
        law.append(w[r] * total)
    return law


def peeling(utilities: Sequence[float], rate: Fraction, rounds: int) -> Law:
    """Return the law of rounds of the exponential mechanism over the candidates that are left.

    The number of an answer has the indices as its digits, to the base of how many there are.
    """
    law = []
    for answer in product(range(len(utilities)), repeat=rounds):
        p, left = Fraction(1), list(range(len(utilities)))
        for i in answer:
            if i not in left:
                p = Fraction(0)
                break
            p *= exponential([utilities[j] for j in left], rate)[left.index(i)]
            left.remove(i)
        law.append(p)
    return law


def log_normalizer(
    utilities: Sequence[float], rate: Fraction, base: Sequence[float] | None = None
) -> float:
    top, each = weights(utilities, rate, base)
    return float(rate * top + Fraction(log(sum(each, Fraction(0)))))


# Numbers: data are records on a grid of `size` points, in any order.


def nearest(record: float, low: float, step: float, size: int) -> int:
    """Return the grid point at which a record counts; half-way: the one of even number."""
    place = (Fraction(record) - Fraction(str(low))) / Fraction(str(step))
    return round(min(max(place, Fraction(0)), Fraction(size - 1)))


def points(low: float, step: float, size: int) -> list[float]:
    """Return the grid's points: integers, or the doubles nearest to the decimals."""
    exact = [Fraction(str(low)) + i * Fraction(str(step)) for i in range(size)]
    whole = isinstance(low, int) and isinstance(step, int)
    return [int(x) if whole else float(x) for x in exact]


def sides(data: Data, point: int) -> tuple[int, int, int]:
    """Return how many records are below, at and above a point."""
    below, equal = sum(x < point for x in data), sum(x == point for x in data)
    return below, equal, len(data) - below - equal


def median(data: Data, size: int) -> set[int]:
    """The weak median: at most half of the records are on either side; of none, no point is."""
    n = len(data)
    return {t for t in range(size) if n and 2 * max(sides(data, t)[::2]) <= n}


@lru_cache(None)
def quantile(q: Fraction, convention: str) -> Statistic:
    """The weak quantile: at most q*n records below, (1-q)*n above; lower and upper: a record."""

    def statistic(data: Data, size: int) -> set[int]:
        n = len(data)
        if convention == "weak":
            rests = [(t, *sides(data, t)) for t in range(size if n else 0)]
            return {t for t, below, _, above in rests if below <= q * n and above <= (1 - q) * n}
        rank = n // 2 + 1 if convention == "upper" else max(1, math.ceil(q * n))
        return {sorted(data)[rank - 1]} if n else set()

    return statistic


def neighbours(data: Data, size: int, relation: str) -> Iterator[Data]:
    for i in range(len(data)):
        rest = data[:i] + data[i + 1 :]
        if relation == ADD_REMOVE:
            yield rest
        else:
            yield from (tuple(sorted((*rest, x))) for x in range(size))
    if relation == ADD_REMOVE:
        yield from (tuple(sorted((*data, x))) for x in range(size))


@lru_cache(None)
def searched(statistic: Statistic, size: int, relation: str, most: int) -> list[dict[Data, int]]:
    """For each point, the fewest steps from a data set to one whose statistic it is.

    It is a search of all data sets of `most` records, or of up to so many under add-remove.
    """
    sizes = range(most + 1) if relation == ADD_REMOVE else [most]
    answers = {
        data: statistic(data, size)
        for n in sizes
        for data in combinations_with_replacement(range(size), n)
    }
    found = []
    for point in range(size):
        front = {data for data, answer in answers.items() if point in answer}
        steps: dict[Data, int] = {}
        while front:
            steps.update(dict.fromkeys(front, max(steps.values(), default=-1) + 1))
            near = {e for data in front for e in neighbours(data, size, relation)}
            front = {e for e in near if e in answers and e not in steps}
        found.append(steps)
    return found


def duff(statistic: Statistic, data: Data, size: int, relation: str) -> list[int]:
    """Return the Duff distance of each point; 0 of all where no data set has a statistic."""
    most = max(2 * len(data) + 1, 9) if relation == ADD_REMOVE else len(data)
    found = searched(statistic, size, relation, most)
    return [steps.get(tuple(sorted(data)), 0) for steps in found]


def by_distance(distances: Sequence[Any], rate: Fraction) -> Law:
    least = min(distances)
    return normal([exp(-rate * (d - least)) for d in distances])


def revenue(bids: Data, prices: Sequence[Fraction]) -> list[Fraction]:
    """Return the revenue of each price; bids are the numbers of prices."""
    return [sum(bid >= t for bid in bids) * price for t, price in enumerate(prices)]


def noise(place: Fraction, rate: Fraction, ends: tuple[int, int]) -> Law:
    """Weight exp(-rate * |t - place|) on all integers t; those beyond an end count at the end.

    Integers that are 70 / rate from both ends and from the place have less than 1e-27 of all.
    """
    reach, (low, high) = math.ceil(70 / rate), ends
    start, stop = min(low, math.floor(place)) - reach, max(high, math.ceil(place)) + reach
    law = [Fraction(0)] * (high - low + 1)
    for t in range(start, stop + 1):
        law[min(max(t, low), high) - low] += exp(-rate * abs(t - place))
    return normal(law)


# The same for data that are too large for a search: formulas that a test compares with it.


def median_distance(below: int, equal: int, above: int, relation: str) -> int:
    n = below + equal + above
    if relation == REPLACE:
        return max(0, max(below, above) - n // 2)
    return max(0, abs(below - above) - equal) if n else 1


def quantile_distance(
    below: int, equal: int, above: int, q: Fraction, convention: str, relation: str
) -> Fraction:
    """The distance of a quantile: in ranks for the weak one under add-remove with q != 1/2."""
    n = below + equal + above
    if relation == REPLACE:
        rank = n // 2 + 1 if convention == "upper" else max(1, math.ceil(q * n))
        most = (rank - 1, n - rank) if convention != "weak" else (q * n // 1, (1 - q) * n // 1)
        return Fraction(max(0, below - most[0], above - most[1]) if n else 0)
    if convention == "weak" and q != Fraction(1, 2):
        return max(Fraction(0), below - q * n, above - (1 - q) * n)
    if convention == "weak":
        return Fraction(median_distance(below, equal, above, relation))
    if convention == "upper":  # the lower one of the records in reverse
        below, above = above, below

    def steps(low: int, high: int, copies: int) -> bool:
        """Whether so few records and more copies make the point the quantile."""
        total = low + high + equal + copies
        return equal + copies > 0 and low < math.ceil(q * total) <= total - high

    found = [
        (below - low) + (above - high) + copies
        for low in range(below + 1)
        for high in range(above + 1)
        for copies in range(2 * n + 2)
        if steps(low, high, copies)
    ]
    return Fraction(min(found))


def recursion(
    data: Data,
    q: Sequence[Fraction],
    size: int,
    places: int,
    weight: Callable[[Fraction], Any],
    by_rank: bool = False,
) -> dict[tuple[int, ...], Any]:
    """Return the law of several quantiles: the middle one, then those on each side of it.

    Each is a weak quantile of the records between two answers: weight(its distance in ranks /
    max(q, 1 - q)). The records take places of their points, all equally likely. Below an answer are
    the records at places below it or, `by_rank`, those that the quantile wants there.
    """
    memory: dict[Any, Any] = {}

    def law(records: Data, low: int, high: int, first: int, last: int) -> dict[Any, Any]:
        """The law of quantiles first, ..., last - 1 of these records, between two places."""
        key = records, low, high, first, last
        if first == last:
            return {(): 1}
        if key not in memory:
            j, found = (first + last) // 2, Counter()
            start, end = q[first - 1] if first else 0, q[last] if last < len(q) else 1
            share, n = (q[j] - start) / (end - start), len(records)
            each = []
            for t in range(low, high + 1):
                below, _, above = sides(records, t)
                d = max(Fraction(0), below - share * n, above - (1 - share) * n)
                each.append(weight(d / max(share, 1 - share)))
            for t, w in zip(range(low, high + 1), each, strict=True):
                below, equal, _ = sides(records, t)
                cut = min(max(round(share * n), below), below + equal) if by_rank else below
                lefts = law(records[:cut], low, t, first, j)
                rights = law(records[cut:], t, high, j + 1, last)
                for (a, p), (b, r) in product(lefts.items(), rights.items()):
                    found[*a, t // places, *b] += p * r * w / sum(each)
            memory[key] = found
        return memory[key]

    total: Counter[Any] = Counter()
    for own in product(range(places), repeat=len(data)):
        records = sorted(x * places + p for x, p in zip(data, own, strict=True))
        for answers, p in law(tuple(records), 0, size * places - 1, 0, len(q)).items():
            total[answers] += p
    return {answers: p / places ** len(data) for answers, p in total.items()}


def cells(
    data: Sequence[int], size: int, distance: Callable[[int, int, int], int]
) -> list[tuple[int, int, int]]:
    """Return (first point, how many points, distance) of each record's point and of each gap."""
    data = sorted(data)
    counts: dict[int, int] = {}
    for x in data:
        counts[x] = counts.get(x, 0) + 1
    found, start, below = [], 0, 0
    for x, equal in counts.items():
        found.append((start, x - start, distance(below, 0, len(data) - below)))
        found.append((x, 1, distance(below, equal, len(data) - below - equal)))
        start, below = x + 1, below + equal
    found.append((start, size - start, distance(below, 0, 0)))
    return [cell for cell in found if cell[1] > 0]


def cell_law(found: Sequence[tuple[int, int, int]], rate: float) -> list[float]:
    """Return the probabilities of cells, in doubles."""
    least = min(distance for _, _, distance in found)
    each = [count * math.exp(-rate * (distance - least)) for _, count, distance in found]
    total = math.fsum(each)
    return [weight / total for weight in each]


def bounded_range_rho(epsilon: float) -> float:
    """The zCDP of bounded range: r - 1 - ln r, r = epsilon / (e**epsilon - 1); see theory."""
    with localcontext(prec=DIGITS):
        e = Decimal(epsilon)
        r = e / (e.exp() - 1)
        return float(r - 1 - r.ln())
