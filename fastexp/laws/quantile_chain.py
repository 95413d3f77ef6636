"""The sums of the joint law of several quantiles: by total, and by the place of each answer.

**What is left out.** With t records in total and answer j at rank i, the distance is at least
abs(i - t*q_j) + abs(n - i - t*(1 - q_j)) (triangle inequality, on either side of the answer), at
least abs(n - t), and at least that of each gap. At most exp(`_log_totals`) totals are near enough,
with at most exp(`log_volume`) answers each. So ranks, totals and gaps with a distance of more than
`_slack` nats have together at most exp(-cutoff) of the sum of the others. The same bound holds for
the totals whose weights are at most exp(`_floor`), and m times this bound for the states that
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

CUTOFF = 70.0  # nats below the sum at which terms are left out
UNIT = UNIT_BITS * log_of(2.0)  # nats of an exponent of 1
REBASE_NATS = 300.0  # a sum that is larger by this many nats becomes the masses' reference
SUMS = 1 << 22  # most sums of one total: 64 MB
# Most sums of all totals, at about 20 ns each; a call takes as long as CALL_COST sums.
MAX_SUMS, CALL_COST = 3 << 26, 1 << 8
MASS_COST = 16  # sums that each mass in memory counts as: less than 300 MB in all
LONG = "the law of so many quantiles of these records takes too long to compute: use sample"


class Windows(NamedTuple):
    """The windows of several totals, a row each: sites of the answers and targets of the gaps."""

    low: IntArray
    high: IntArray
    whole: IntArray
    gaps: AnyArray

    def mirrored(self, sites: int) -> Windows:
        """Return the same windows from right to left."""
        low, high, whole, gaps = (np.ascontiguousarray(x[:, ::-1]) for x in self)
        return Windows(sites - high, sites - low, whole, gaps)

    @property
    def place(self) -> IntArray:
        """The offset of each answer in a row of all answers' sites: site a is at place + a."""
        ends = np.cumsum(self.high - self.low, axis=1)
        return np.asarray(ends - self.high)


class ChainSums:
    """The sums of all answers with one total, in one direction, as `forward` fills them."""

    def __init__(self, line: Line, windows: Windows) -> None:
        """Allocate room for any of these totals."""
        self.line, self.windows, self.place = line, windows, windows.place
        first, rank, low = line.first, line.rank, windows.low
        stop, begin = first[windows.high], first[np.concatenate([low[:, :1], low[:, :-1]], axis=1)]
        room = np.maximum(stop - begin, rank[stop - 1] - rank[begin] + 2)
        sites = int((windows.high - low).sum(axis=1).max())
        self.start, self.depth = np.empty((2, sites), np.int64)
        self.most, self.whole = np.empty(low.shape[1], np.int64), np.empty(1, np.complex128)
        self.sums = np.empty(SUMS, np.complex128)  # only the filled part costs memory
        self._work = np.empty(4 * int(room.max()), np.complex128)

    def fill(self, n: int, i: int, fade: AnyArray, omitted: float) -> int:
        """Fill the sums of total i, and return their number."""
        line, (low, high, whole, gaps) = self.line, self.windows
        number = forward(
            line.points, line.records, line.first, line.rank, int(line.left), n,
            low[i], high[i], self.place[i], whole[i], gaps[i].reshape(-1), fade, omitted,
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
    """Masses of each answer by (r, after) and site, relative to a sum.

    The answer is the r-th in its site, and the first of the last `after` answers there.
    """

    def __init__(self, m: int, sites: int) -> None:
        self._sites = sites
        self.tall, self.wide = np.ones((2, m), np.int64)
        self.place = np.arange(m) * sites
        self.flat = np.zeros(m * sites)

    def grow(self, tall: IntArray, wide: IntArray, spend: Callable[[int], None]) -> None:
        """Make room for `tall` by `wide` masses of each answer in a site; `spend` may refuse."""
        if bool((tall <= self.tall).all() and (wide <= self.wide).all()):
            return
        old = self.by_answer()
        self.tall, self.wide = np.maximum(tall, self.tall), np.maximum(wide, self.wide)
        ends = np.cumsum(self.tall * self.wide * self._sites)
        spend(MASS_COST * int(ends[-1]))
        self.place = np.append(0, ends[:-1])
        self.flat = np.zeros(ends[-1])
        for masses, old_masses in zip(self.by_answer(), old, strict=True):
            masses[: old_masses.shape[0], : old_masses.shape[1]] = old_masses

    def by_answer(self) -> list[FloatArray]:
        """Return an array of shape (tall, wide, sites) for each answer."""
        shapes = zip(self.tall.tolist(), self.wide.tolist(), strict=True)
        parts = np.split(self.flat, self.place[1:])
        return [x.reshape(*shape, self._sites) for x, shape in zip(parts, shapes, strict=True)]


class Chain:
    """The sums of one data set at one rate; `lattice`: the step of totals, None if all are n."""

    def __init__(
        self,
        line: Line,
        size: int,
        n: int,
        q: tuple[Fraction, ...],
        rate: float,
        lattice: int | None,
        cutoff: float = CUTOFF,
    ) -> None:
        self.line, self.n, self.q, self.rate, self.lattice = line, n, q, rate, lattice
        self._cutoff = cutoff
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
        """Count sums; refuse them if all would take more than some seconds, or too much memory."""
        self._left -= sums
        if self._left < 0:
            raise InvalidRecords(LONG)

    @property
    def totals(self) -> tuple[IntArray, FloatArray]:
        """The totals that matter, and ln of the sum of each one's weights."""
        logs = self._logs
        return np.array([*logs]), np.array([*logs.values()])

    @cached_property
    def log_whole(self) -> float:
        """ln of the sum of all weights."""
        return log_sum_exp(self.totals[1])

    @cached_property
    def places(self) -> list[dict[tuple[int, int], FloatArray]]:
        """For each answer, by (r, k) and site: P(it is the r-th of k answers in that site)."""
        scale = exp_of(-self.log_whole + self._log_reference)
        return [
            {
                (r + 1, r + after + 1): by_site * scale
                for r, by_after in enumerate(masses)
                for after, by_site in enumerate(by_after)
                if by_site.any()
            }
            for masses in self._masses.by_answer()
        ]

    @cached_property
    @quiet
    def _logs(self) -> dict[int, float]:
        """ln of the sum of each total's weights; computing it also sums the masses."""
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
                # nearer totals change distances, and so ln of the sum, by at most `below` nats
                below = min(self._floor - logarithm, self._cutoff)
                i += way * max(1, int(below / (self.rate * h)) if h else 1)
        return {t: logs[t] for t in sorted(logs) if logs[t] > self._floor}

    @cached_property
    def _least(self) -> float:
        """A lower bound of ln of the sum of all weights."""
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
        """An upper bound of ln of the number of totals within `_slack`; at most `_slack` / 2."""
        if self.lattice is None:
            return 0.0
        nats = self.log_volume + self._cutoff - self._least
        return log_of(4.0 * nats / (self.rate * self.lattice) + 4.0)

    @property
    def _slack(self) -> float:
        """The distance in nats beyond which everything is left out."""
        return self.log_volume + self._cutoff - self._least + self._log_totals

    @property
    def _floor(self) -> float:
        """ln of the greatest sum of a total that is left out."""
        return self._least - self._cutoff - self._log_totals

    def _add(self, rows: ChainSums, back: ChainSums, i: int) -> float:
        """Return ln of the sum of a total's weights; if above `_floor`, add its answers' masses."""
        line, masses = self.line, self._masses
        self._fill(rows, i, self._fade)
        logarithm = rows.log_whole
        if logarithm <= self._floor:
            return logarithm
        self._fill(back, i, self._fade)
        if logarithm > self._log_reference + REBASE_NATS:
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
        self.spend(rows.fill(self.n, i, fade, exp_of(-self._cutoff)) + len(self.q) * CALL_COST)

    def _windows(self, totals: list[int], slack: float) -> Windows:
        """Return the sites, low..high - 1, in which answers matter, and the targets of the gaps.

        A target is a number of records. It is rounded up, with weights for the part that this adds.
        Targets above n + 1 are cut to it: every gap falls short of them, so that the rest weighs
        the same for all.
        """
        n, line = self.n, self.line
        t = np.array(totals, np.float64)[:, None]
        spare = np.maximum((slack / self.rate - np.abs(n - t)) / 2, 0.0) + 1
        ends = t * self._shares, n - t * (1.0 - self._shares)
        low = np.searchsorted(line.below + line.records, np.minimum(*ends) - spare, "left")
        high = np.searchsorted(line.below, np.maximum(*ends) + spare, "right")
        low = np.minimum(low, line.start.size - 1)
        high = np.maximum(high, low + 1)  # one site at least
        units = np.multiply.outer(np.array(totals, object), np.array(self._parts, object))
        whole = -(-units // self._unit)
        excess = np.maximum(whole - (n + 1), 0)
        over = (-units % self._unit / self._unit - excess).astype(np.float64)
        gaps = _weights(self.rate * np.stack([over, 1.0 - over], axis=2))
        return Windows(low, high, (whole - excess).astype(np.int64), gaps)

    @cached_property
    def _fade(self) -> AnyArray:
        return self._faded(self._slack)

    def _faded(self, slack: float) -> AnyArray:
        """Return exp(-rate * distance) of each distance; 0 at the last, for it and all larger."""
        fade = _weights(self.rate * np.arange(min(self.n + 1, ceil(slack / self.rate)) + 2.0))
        fade[-1] = NOTHING_AT_ALL
        return fade


def _weights(nats: FloatArray) -> AnyArray:
    """Return exp(-nats) in the number format of `quantile_sums`."""
    exponent = np.floor(nats / UNIT + 0.5)
    return exp(exponent * UNIT - nats) - 1j * exponent
