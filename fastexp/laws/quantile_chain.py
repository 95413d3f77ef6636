"""The sums of joint quantiles' law: by total, by place of each answer, in logarithms.

The chain of `tests/twins/quantiles.py`. Sites are runs of grid points and points with records,
slots the ranks of each; a state is a slot and how many answers its site has so far. The K-th of
them multiplies by g/K in a run of g points, by 1/(E + K) at E records and, with ties "left", by (g
+ K - 1)/K: K answers together have the volume of each pattern of their ranks.

**What is left out.** With t records in total and answer j at rank i, the distance is at least
abs(i - t*q_j) + abs(n - i - t*(1 - q_j)) (triangle inequality, on either side of the answer), and
at least abs(n - t). There are at most `log_volume` answers, so that ranks and totals of more than
that distance are exp(-lost) of the sum, or less; the sum that this is relative to is itself the sum
of the others. States of more answers in a site are left out where, in every slot, they have less
than exp(-lost) of those of fewer: the factors to come are smaller, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, inf, lgamma
from math import log as log_of
from typing import NamedTuple

import numpy as np

from .._numbers.quantile_line import Line, log_sum
from .._typing import AnyArray, FloatArray, IntArray
from ..errors import InvalidRecords
from ..kernels.figures.quantile_chain import step
from .elementary import exp, quiet

LOST = 100.0  # nats
KEPT = 1 << 22  # numbers of rows that are kept from the sum of a total for its places
MOST, CALL = 3 << 24, 1 << 11  # slots of all steps, at some 65 ns; a step takes as long as CALL
HELD = 2  # as many for each number that is kept: less than 300 MB in all
LONG = "the law of so many quantiles of these records takes too long: sample it"


class Row(NamedTuple):
    """The sums up to an answer in the sites low..high - 1, by how many are in its site so far."""

    low: int
    high: int
    sums: dict[int, FloatArray]


class Chain:
    """The sums of one data set at one rate; `lattice` None: the total is n."""

    lattice: int | None
    line: Line
    n: int
    q: tuple[Fraction, ...]
    rate: float

    def __init__(
        self,
        line: Line,
        size: int,
        n: int,
        q: tuple[Fraction, ...],
        rate: float,
        lattice: int | None,
        lost: float = LOST,
    ) -> None:
        self.line, self.n, self.q, self.rate, self.lattice = line, n, q, rate, lattice
        self._lost = lost
        m = len(q)
        grows = m - 1 if line.left else 0  # C(N + m - 1, m) <= (N + m - 1)**m / m!
        self._shares = [float(q) for q in q]
        self._parts = [b - a for a, b in pairwise([Fraction(0), *q, Fraction(1)])]
        self.log_volume: float = m * log_of(size + grows) - lgamma(m + 1)
        self._mirror = line.mirrored(n)
        self._work = np.empty(2 * (n + 2))
        self._factors: dict[int, FloatArray] = {}
        self._products: dict[int, FloatArray] = {}
        self._left = MOST
        self._forward: dict[int, list[Row]] = {}
        self._room = KEPT

    def _factor(self, k: int) -> FloatArray:
        if k not in self._factors:
            self.spend(HELD * self.line.rank.size)
            self._factors[k] = self.line.log_factor(k)
        return self._factors[k]

    def _product(self, k: int) -> FloatArray:
        """ln of what k answers in a site multiply by, of each slot."""
        if k not in self._products:
            self.spend(HELD * self.line.rank.size)
            fewer = self._product(k - 1) if k > 1 else 0.0
            self._products[k] = fewer + self._factor(k)
        return self._products[k]

    def spend(self, slots: int) -> None:
        """Refuse what would take more than some seconds, or too much memory."""
        self._left -= slots
        if self._left < 0:
            raise InvalidRecords(LONG)

    @cached_property
    @quiet
    def totals(self) -> tuple[IntArray, FloatArray]:
        """The totals that count, and ln of the sum of each one's weights."""
        h = self.lattice
        if h is None:
            return np.array([self.n]), np.array([self._log_sum(self.n)])
        near, logs = (self.n + h // 2) // h, dict[int, float]()
        some_lost = self._lost / 2
        farthest = self._slack - some_lost
        for way in (1, -1):
            place = near if way == 1 else near - 1
            while place >= 0 and self.rate * abs(self.n - h * place) <= farthest:
                logs[h * place] = self._log_sum(h * place)
                # a total that is so far away changes a distance, and so the sum, by no more
                below = min(self._least - logs[h * place], self._lost) - some_lost
                place += way * max(1, int(below / (self.rate * h)))
        some = sorted(t for t, logarithm in logs.items() if logarithm > self._least - some_lost)
        return np.array(some), np.array([logs[t] for t in some])

    @cached_property
    def log_whole(self) -> float:
        """ln of the sum of all weights."""
        return float(log_sum(self.totals[1][:, None])[0])

    @cached_property
    def _least(self) -> float:
        """At most ln of the sum of all weights."""
        h, nats = self.lattice, 64.0
        total = self.n if h is None else (self.n + h // 2) // h * h
        while True:
            logarithm = self._log_sum(total, nats)
            if logarithm > -inf:
                return logarithm
            nats *= 2.0

    @property
    def _slack(self) -> float:
        """Nats of distance beyond which nothing counts."""
        return self.log_volume + self._lost - self._least

    def _log_sum(self, total: int, slack: float | None = None) -> float:
        ranges = self._ranges(total, self._slack if slack is None else slack)
        if ranges is None:
            return -inf
        row, rows = None, list[Row]()
        for row in self._rows(self.line, ranges, self._targets(total)):
            self._room -= sum(logs.size for logs in row.sums.values())
            if slack is None and self._room >= 0:
                rows.append(row)
        if row is None:
            return -inf
        if len(rows) == len(self.q):
            self._forward[total] = rows
        last = self.n - self._slots(self.line.rank, self.line, row.low, row.high)
        to_end = self.rate * np.abs(last - float(total * (1 - self.q[-1])))
        return float(log_sum((log_sum(np.array(list(row.sums.values()))) - to_end)[:, None])[0])

    def _targets(self, total: int) -> list[Fraction]:
        """How many records are wanted before each answer and after the one before."""
        return [total * part for part in self._parts]

    def _ranges(self, total: int, slack: float) -> list[tuple[int, int]] | None:
        """The sites, low..high - 1, where each answer counts."""
        spare = (slack / self.rate - abs(self.n - total)) / 2
        if spare < 0:
            return None
        ranges = []
        for share in self._shares:
            a, b = sorted((total * share, self.n - total * (1.0 - share)))
            low = np.searchsorted(self.line.below + self.line.records, a - spare - 1, "left")
            high = np.searchsorted(self.line.below, b + spare + 1, "right")
            if low >= high:
                return None
            ranges.append((int(low), int(high)))
        return ranges

    def _slots(self, values: AnyArray, line: Line, low: int, high: int) -> AnyArray:
        return values[line.first[low] : line.first[high]]

    def _rows(
        self, line: Line, ranges: list[tuple[int, int]], targets: list[Fraction]
    ) -> Iterator[Row]:
        """Those of o_1, o_2, ...: each site's factor is in its sums."""
        mirrored = line is self._mirror
        row = None
        for (low, high), target in zip(ranges, targets, strict=False):
            if row is None:
                apart = np.abs(self._slots(line.rank, line, low, high) - float(target))
                sums = {1: -self.rate * apart}
            else:
                sums = self._following(line, row, low, high, target)
            for k, logs in sums.items():
                factor = self._factor(k)
                logs += self._slots(factor[::-1] if mirrored else factor, line, low, high)
            row = Row(low, high, self._that_count(sums))
            yield row

    def _following(
        self, line: Line, row: Row, low: int, high: int, target: Fraction
    ) -> dict[int, FloatArray]:
        """The sums of the next answer in low..high - 1, without its factors."""
        first = line.first
        begin, end = min(low, row.low), max(high, row.high)
        x = np.full(first[end] - first[begin], -inf)
        x[first[row.low] - first[begin] : first[row.high] - first[begin]] = log_sum(
            np.array(list(row.sums.values()))
        )
        out = self._step(line, begin, end, x, 0, target)
        sums = {1: out[first[low] - first[begin] : first[high] - first[begin]].copy()}
        begin, end = max(low, row.low), min(high, row.high)
        for k, logs in row.sums.items() if begin < end else ():
            x = logs[first[begin] - first[row.low] : first[end] - first[row.low]]
            more = np.full(first[high] - first[low], -inf)
            some = self._step(line, begin, end, x, 1, target)
            more[first[begin] - first[low] : first[end] - first[low]] = some
            sums[k + 1] = more
        return sums

    def _step(
        self, line: Line, begin: int, end: int, x: FloatArray, inside: int, target: Fraction
    ) -> FloatArray:
        self.spend(x.size + CALL)
        out, whole = np.empty(x.size), ceil(target)
        first = line.first[begin : end + 1] - line.first[begin]
        rank = self._slots(line.rank, line, begin, end)
        rest = float(whole - target)
        step(x, rank, first, inside, self.rate, whole, rest, self._work, out)
        return out

    def _that_count(self, sums: dict[int, FloatArray]) -> dict[int, FloatArray]:
        """Without states that are nothing beside those of fewer answers in the site."""
        counted = {1: sums[1]}
        for k in sorted(sums)[1:]:
            fewer = log_sum(np.array(list(counted.values())))
            if bool((sums[k] > fewer - self._lost).any()):
                counted[k] = sums[k]
        return counted

    @cached_property
    @quiet
    def places(self) -> list[dict[tuple[int, int], FloatArray]]:
        """Of each answer by (r, k) and site: P(it is the r-th of k answers in that site)."""
        line = self.line
        by_answer: list[dict[tuple[int, int], FloatArray]] = [{} for _ in self.q]
        sites = line.start.size
        for total in self.totals[0].tolist():
            ranges, targets = self._ranges(total, self._slack), self._targets(total)
            if ranges is None:
                continue
            mirrored = [(sites - high, sites - low) for low, high in ranges[::-1]]
            back = list(self._rows(self._mirror, mirrored, targets[::-1]))[::-1]
            forward = self._forward.pop(total, None) or self._rows(line, ranges, targets)
            for j, row in enumerate(forward):
                self._join(by_answer[j], row, back[j])
        return by_answer

    def _join(self, places: dict[tuple[int, int], FloatArray], row: Row, back: Row) -> None:
        """Add what both sides of an answer have, whose factor is in both."""
        line, low, high = self.line, row.low, row.high
        starts = line.first[low:high] - line.first[low]
        for r, before in row.sums.items():
            for after, logs in back.sums.items():
                k = r + after - 1
                # each side has the factors of its answers in the site; those of k answers count
                factors = self._product(k) - self._product(r) - self._product(after)
                p = before + logs[::-1] - self.log_whole + self._slots(factors, line, low, high)
                self.spend((p.size + CALL) // 4)  # less than a step
                masses = np.add.reduceat(exp(p), starts)
                if (r, k) not in places:
                    self.spend(HELD * line.start.size)
                    places[r, k] = np.zeros(line.start.size)
                places[r, k][low:high] += masses
