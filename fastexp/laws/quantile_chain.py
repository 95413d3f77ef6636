"""The sums of joint quantiles' law: by total, and by place of each answer.

**What is left out.** With t records in total and answer j at rank i, the distance is at least
abs(i - t*q_j) + abs(n - i - t*(1 - q_j)) (triangle inequality, on either side of the answer), and
at least abs(n - t), and that of each gap. There are at most exp(`log_volume`) answers for each of
so many totals, so that ranks, totals and gaps beyond `_slack` nats of distance are together
exp(-lost) of the sum, or less; the sum that this is relative to is itself the sum of the others. So
are the totals whose weights are at most exp(`_floor`), and m times as much the states that
`quantile_sums` leaves out in either direction.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, inf, lcm, lgamma
from math import exp as exp_of
from math import log as log_of
from typing import NamedTuple

import numpy as np

from .._numbers.quantile_line import Line
from .._typing import AnyArray, FloatArray, IntArray
from ..errors import InvalidRecords
from ..kernels.figures.quantile_sums import NOTHING_AT_ALL, UNIT_BITS, forward, join
from .elementary import exp, log_sum_exp, quiet

LOST = 70.0  # nats
UNIT = UNIT_BITS * log_of(2.0)  # nats of an exponent
APART = 300.0  # nats between sums, beyond which masses have another unit
SUMS = 1 << 22  # of the rows of one total: 64 MB
# Of all rows, at about 20 ns a sum; a call takes as long as CALL_COST sums.
MAX_SUMS, CALL_COST = 3 << 26, 1 << 8
HELD = 16  # as many for each number that is kept: less than 300 MB in all
LONG = "the law of so many quantiles of these records takes too long: sample it"


class Windows(NamedTuple):
    """Of several totals, a row each: the sites of answers, and the targets of gaps."""

    low: IntArray
    high: IntArray
    whole: IntArray
    gaps: AnyArray

    def mirrored(self, sites: int) -> Windows:
        """From right to left."""
        low, high, whole, gaps = (np.ascontiguousarray(x[:, ::-1]) for x in self)
        return Windows(sites - high, sites - low, whole, gaps)

    @property
    def place(self) -> IntArray:
        """Where the sites of each answer are in a row of all of them: site a at place + a."""
        ends = np.cumsum(self.high - self.low, axis=1)
        return np.asarray(ends - self.high)


class ChainSums:
    """The sums of all answers with one total, in one direction, as `forward` fills them."""

    def __init__(self, line: Line, windows: Windows) -> None:
        """Make room for any of these totals."""
        self.line, self.windows, self.place = line, windows, windows.place
        first, rank, low = line.first, line.rank, windows.low
        stop, begin = first[windows.high], first[np.concatenate([low[:, :1], low[:, :-1]], axis=1)]
        room = np.maximum(stop - begin, rank[stop - 1] - rank[begin] + 2)
        sites = int((windows.high - low).sum(axis=1).max())
        self.start, self.depth = np.empty((2, sites), np.int64)
        self.most, self.whole = np.empty(low.shape[1], np.int64), np.empty(1, np.complex128)
        self.sums = np.empty(SUMS, np.complex128)  # of which only what is filled costs memory
        self._work = np.empty(4 * int(room.max()), np.complex128)

    def fill(self, n: int, i: int, fade: AnyArray, lost: float) -> int:
        """Fill them, of total i; the number of sums."""
        line, (low, high, whole, gaps) = self.line, self.windows
        number = forward(
            line.points, line.records, line.first, line.rank, int(line.left), n,
            low[i], high[i], self.place[i], whole[i], gaps[i].reshape(-1), fade, lost,
            self.start, self.depth, self.most, self.sums, self._work, self.whole,
        )  # fmt: skip
        if number < 0:
            raise InvalidRecords(LONG)
        return int(number)

    @property
    def log_whole(self) -> float:
        """ln of the sum of all weights."""
        whole = complex(self.whole[0])
        return log_of(whole.real) + UNIT * whole.imag if whole.real > 0.0 else -inf


class Masses:
    """Of each answer by (r, after) and site, over a sum: answer j is r-th, and first of `after`."""

    def __init__(self, m: int, sites: int) -> None:
        self._sites = sites
        self.tall, self.wide = np.ones((2, m), np.int64)
        self.place = np.arange(m) * sites
        self.flat = np.zeros(m * sites)

    def grow(self, tall: IntArray, wide: IntArray, spend: Callable[[int], None]) -> None:
        """Make room for so many answers in a site, if it can be spent."""
        if bool((tall <= self.tall).all() and (wide <= self.wide).all()):
            return
        old = self.by_answer()
        self.tall, self.wide = np.maximum(tall, self.tall), np.maximum(wide, self.wide)
        ends = np.cumsum(self.tall * self.wide * self._sites)
        spend(HELD * int(ends[-1]))
        self.place = np.append(0, ends[:-1])
        self.flat = np.zeros(ends[-1])
        for masses, some in zip(self.by_answer(), old, strict=True):
            masses[: some.shape[0], : some.shape[1]] = some

    def by_answer(self) -> list[FloatArray]:
        """Of each answer an array, shape (tall, wide, sites)."""
        shapes = zip(self.tall.tolist(), self.wide.tolist(), strict=True)
        parts = np.split(self.flat, self.place[1:])
        return [x.reshape(*shape, self._sites) for x, shape in zip(parts, shapes, strict=True)]


class Chain:
    """The sums of one data set at one rate; `lattice` None: the total is n."""

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
        self.log_volume: float = m * log_of(size + grows) - lgamma(m + 1)
        self._shares = np.array([float(share) for share in q])
        self._unit = lcm(*(share.denominator for share in q))
        ends = [0, *(int(share * self._unit) for share in q), self._unit]
        self._parts = [after - before for before, after in pairwise(ends)]
        self._left = MAX_SUMS
        self._masses = Masses(m, line.start.size)
        self._reference = np.ones(1, np.complex128)  # the sum that masses are relative to
        self._log_reference = -inf

    def spend(self, sums: int) -> None:
        """Refuse what would take more than some seconds, or too much memory."""
        self._left -= sums
        if self._left < 0:
            raise InvalidRecords(LONG)

    @property
    def totals(self) -> tuple[IntArray, FloatArray]:
        """The totals that count, and ln of the sum of each one's weights."""
        logs = self._logs
        return np.array([*logs]), np.array([*logs.values()])

    @cached_property
    def log_whole(self) -> float:
        """ln of the sum of all weights."""
        return log_sum_exp(self.totals[1])

    @cached_property
    def places(self) -> list[dict[tuple[int, int], FloatArray]]:
        """Of each answer by (r, k) and site: P(it is the r-th of k answers in that site)."""
        scale = exp_of(-self.log_whole + self._log_reference)
        return [
            {
                (r + 1, r + after + 1): some * scale
                for r, by_after in enumerate(masses)
                for after, some in enumerate(by_after)
                if some.any()
            }
            for masses in self._masses.by_answer()
        ]

    @cached_property
    @quiet
    def _logs(self) -> dict[int, float]:
        """ln of the sum of each total's weights; masses are summed, too."""
        h, n, logs = self.lattice, self.n, dict[int, float]()
        reach = int(self._slack / self.rate)
        totals = [n] if h is None else [*range(max(-((reach - n) // h), 0) * h, n + reach + 1, h)]
        windows = self._windows(totals, self._slack)
        rows = ChainSums(self.line, windows)
        back = ChainSums(self.line.mirrored(n), windows.mirrored(self.line.start.size))
        nearest = min(range(len(totals)), key=lambda i: abs(totals[i] - n))
        for way in (1, -1):
            i = nearest if way == 1 else nearest - 1
            while 0 <= i < len(totals):
                logs[totals[i]] = logarithm = self._add(rows, back, i)
                # a total that is so far away changes a distance, and so the sum, by no more
                below = min(self._floor - logarithm, self._lost)
                i += way * max(1, int(below / (self.rate * h)) if h else 1)
        return {t: logs[t] for t in sorted(logs) if logs[t] > self._floor}

    @cached_property
    def _least(self) -> float:
        """At most ln of the sum of all weights."""
        h, nats = self.lattice, 64.0
        total = self.n if h is None else (self.n + h // 2) // h * h
        while True:
            rows = ChainSums(self.line, self._windows([total], nats))
            self._fill(rows, 0, self._faded(nats))
            if rows.log_whole > -inf:
                return rows.log_whole
            nats *= 2.0

    @cached_property
    def _log_totals(self) -> float:
        """At least ln of how many totals there are within `_slack`: itself less than its half."""
        if self.lattice is None:
            return 0.0
        nats = self.log_volume + self._lost - self._least
        return log_of(4.0 * nats / (self.rate * self.lattice) + 4.0)

    @property
    def _slack(self) -> float:
        """Nats of distance beyond which nothing counts."""
        return self.log_volume + self._lost - self._least + self._log_totals

    @property
    def _floor(self) -> float:
        """ln of the sum of a total that does not count, at most."""
        return self._least - self._lost - self._log_totals

    def _add(self, rows: ChainSums, back: ChainSums, i: int) -> float:
        """ln of the sum of a total's weights; if it counts, its answers' masses are added."""
        line, masses = self.line, self._masses
        self._fill(rows, i, self._fade)
        logarithm = rows.log_whole
        if logarithm <= self._floor:
            return logarithm
        self._fill(back, i, self._fade)
        if logarithm > self._log_reference + APART:
            masses.flat *= exp_of(self._log_reference - logarithm)
            self._reference, self._log_reference = rows.whole.copy(), logarithm
        after, low, high = back.most[::-1], rows.windows.low[i], rows.windows.high[i]
        masses.grow(rows.most, after, self.spend)
        self.spend(int((rows.most * after * (line.first[high] - line.first[low])).sum()))
        join(
            line.points, line.records, line.first, int(line.left), low, high,
            rows.place[i], rows.start, rows.depth, rows.sums,
            back.place[i], back.start, back.depth, back.sums,
            self._reference, masses.place, masses.wide, masses.flat,
        )  # fmt: skip
        return logarithm

    def _fill(self, rows: ChainSums, i: int, fade: AnyArray) -> None:
        self.spend(rows.fill(self.n, i, fade, exp_of(-self._lost)) + len(self.q) * CALL_COST)

    def _windows(self, totals: list[int], slack: float) -> Windows:
        """The sites, low..high - 1, where answers count, and how many records gaps are to have.

        These are rounded up, and weights of what that adds. With more than n of them each gap falls
        short, and the rest weighs the same for all.
        """
        n, line = self.n, self.line
        t = np.array(totals, np.float64)[:, None]
        spare = np.maximum((slack / self.rate - np.abs(n - t)) / 2, 0.0) + 1
        ends = t * self._shares, n - t * (1.0 - self._shares)
        low = np.searchsorted(line.below + line.records, np.minimum(*ends) - spare, "left")
        high = np.searchsorted(line.below, np.maximum(*ends) + spare, "right")
        low = np.minimum(low, line.start.size - 1)
        high = np.maximum(high, low + 1)  # a site more is none too many
        units = np.multiply.outer(np.array(totals, object), np.array(self._parts, object))
        whole = -(-units // self._unit)
        beyond = np.maximum(whole - (n + 1), 0)
        over = (-units % self._unit / self._unit - beyond).astype(np.float64)
        gaps = _weights(self.rate * np.stack([over, 1.0 - over], axis=2))
        return Windows(low, high, (whole - beyond).astype(np.int64), gaps)

    @cached_property
    def _fade(self) -> AnyArray:
        return self._faded(self._slack)

    def _faded(self, slack: float) -> AnyArray:
        """exp(-rate * distance), 0 for the last distance and beyond."""
        fade = _weights(self.rate * np.arange(min(self.n + 1, ceil(slack / self.rate)) + 2.0))
        fade[-1] = NOTHING_AT_ALL
        return fade


def _weights(nats: FloatArray) -> AnyArray:
    """exp(-nats), as `quantile_sums` reads numbers."""
    exponent = np.floor(nats / UNIT + 0.5)
    return exp(exponent * UNIT - nats) - 1j * exponent
