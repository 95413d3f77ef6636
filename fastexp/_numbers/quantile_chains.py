"""Joint quantiles: the chains of a data set, for all totals, and the mass of each chain.

The weight of a total t and ordered answers is exp(-rate * u). Here u is the sum of |c_j - t * d_j|,
c_j is the number of records between two neighbouring answers, and d_j is their share. Ties "spread"
average the weight over all places of records in the intervals of their grid points
(`tests/twins/quantiles.py`).

Answers that the chain of a total does not cover have u >= reach: with S_j = rank_j - q_j * t and
s = n - t, u = sum |S_j - S_(j-1)| >= |S_j| + |s - S_j| (S_0 = 0, S_(m+1) = s), so answers outside
the band min(0, s) - w <= S_j <= max(0, s) + w have u >= 2 * w + |s|. These answers, and totals
with |s| >= reach, are the *rest*. It is bounded by exp(-rate * reach) times the number (or volume)
of all answers. From a total t to t', each |c_j - t * d_j| changes by at most |t - t'| * d_j, so
weights grow by a factor of at most exp(rate * |t - t'|): totals far from n share a chain, and a
coin decides.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .._intake.record_sources import NOTHING, RecordSource, Window
from .._parameters.grid import Grid
from .._typing import AnyArray, FloatArray, IntArray
from ..kernels.bits.logexp import LN2
from ..kernels.numbers import chain as _kernels
from .rank import few_enough

REST_NATS = 8.0  # the share of the rest is about e**-8,
MAX_EXCESS_NATS = 2.0  # and at most e**-6
MAX_GAP = 256  # ranges of cells at most this many ranks apart are merged
GUESS_NATS = 36.0  # nats of the first reach beyond what uniform records need
# With this many nats between quantiles, answers in one cell, or in no order, are rare.
PLAIN_NATS = 32.0
PHASES = 4  # answers in a cell that other chains count; coins make the factors of further ones
# Cells of all phases: up to the first number, more answers in a cell are counted; the second is
# the maximum.
SMALL_ROOM, MAX_ROOM = 1 << 22, 1 << 23
NEAR_NATS = 12.0  # totals within about this many nats of n have chains of their own
SHARED = 0.02  # largest share of all mass for totals that share a chain
MIN_MASS = 2.0**-900  # smaller masses are raised to it
MAX_REST_NATS = 600.0  # ln of the mass of the rest is clipped to +-600
UNDERFLOW, DROP = 2.0**750, 2.0**250  # largest drop at the end; factor by which a row may drop more
EMPTY = Window(NOTHING, NOTHING, 0, 0)


class Underflow(Exception):
    """Raised when floats with one exponent per row cannot hold the weights."""


class Weights:
    """The weights of joint quantiles; public. `lattice` is the step of totals, None if t = n."""

    grid: Grid
    lattice: int | None
    q: tuple[Fraction, ...]
    rate: Fraction

    def __init__(
        self, q: tuple[Fraction, ...], rate: Fraction, lattice: int | None, grid: Grid, ties: str
    ) -> None:
        self.q, self.rate, self.lattice, self.grid = q, rate, lattice, grid
        self.left: int = int(ties == "left")
        self.shares: list[Fraction] = [b - a for a, b in pairwise([Fraction(0), *q, Fraction(1)])]
        self._unit = math.lcm(*(x.denominator for x in q))
        self._units = np.array([int(x * self._unit) for x in [*q, *self.shares]], object)
        self.inner: float = float(min(self.shares[1:-1], default=Fraction(0)) * rate)
        m, size = len(q), grid.size
        number = math.comb(size + m - 1, m) if self.left else size**m
        parts = 1 if self.left else math.factorial(m)
        # The number of all answers, or their volume.
        self.ways: Fraction = Fraction(number, parts)
        # Differences of lgamma lose all digits.
        self.log_ways: float = math.log(number) - math.log(parts)

    def products(self, totals: list[int]) -> tuple[IntArray, FloatArray]:
        """Return the whole and the fractional parts of q * t and t * shares for each total t."""
        kind = np.int64 if max(totals) * self._unit < 1 << 62 else object
        exact = np.multiply.outer(np.array(totals, kind), self._units.astype(kind))
        whole, rests = np.divmod(exact, self._unit)
        return whole.astype(np.int64), rests.astype(np.float64) / self._unit


class Node(NamedTuple):
    """The total of a chain, and the totals that share this chain."""

    total: int
    totals: range


class ChainTables(NamedTuple):
    """The tables of a chain: see `kernels/numbers/chain.py`."""

    bound: float  # upper bound of its sum, in units of 2**exponent
    ints: IntArray
    floats: FloatArray
    arrived: FloatArray
    phases: FloatArray
    sums: FloatArray


class Sums:
    """Cells, chains of totals, and their masses, of one data set."""

    n: int
    source: RecordSource
    weights: Weights
    rate: float
    step: int
    extent: tuple[int, int]
    cells: IntArray
    lengths: FloatArray
    bases: AnyArray
    last: list[FloatArray]
    last_index: int
    far: list[int]
    room: int
    widest: int
    bounds: AnyArray
    floats: AnyArray
    ints: AnyArray
    unit: int

    log_unit = Fraction(0)  # masses are in units of 2**unit * exp(log_unit)

    def __init__(self, weights: Weights, source: RecordSource) -> None:
        self.weights, self.source, self.n = weights, source, few_enough(source.total())
        n, m, rate, step = self.n, len(weights.q), float(weights.rate), weights.lattice or 0
        self.rate, self.step = rate, step
        self.dense: int = m if 0 < n < m * m and not weights.left else 0  # then all atoms are cells
        usual = 1.1 * max(m * math.log1p(n * rate / 2) - math.lgamma(m + 1), 0.0) + GUESS_NATS
        nearest = round(Fraction(n, step)) * step if step else n
        self.reach: int = max(math.ceil(usual / rate), abs(n - nearest) + 1)
        self._take(self.reach)
        self.extent, self.summed = (0, 0), dict[Node, tuple[float, IntArray, FloatArray]]()
        near, wide, shared, tries = math.ceil((NEAR_NATS + m / 2) / rate), 0.0, True, 0
        while wide > 0.0 or shared:  # ends: the rest falls with `reach`, sharing with `near`
            self._fill_nodes(self._nodes(near))
            self._weigh()
            best = self.masses[:-1].argmax()
            nats = self.rest_nats - math.log(self.least) + REST_NATS
            wide, tries = nats if nats > MAX_EXCESS_NATS else 0.0, tries + 1
            shifts = self.floats[best, _kernels.SHIFT, 1:].max()
            underflow = max(shifts / DROP, 1 / self.bounds[best])
            if underflow > UNDERFLOW and (tries > 1 or not wide):
                raise Underflow
            shared = self.shared > SHARED * self.bound
            if wide:
                self.reach += math.ceil(nats / rate)
                self._take(self.reach)
            if shared:
                near *= 2

    def _take(self, reach: int) -> None:
        """Set the cells of ranks within `reach` of the quantiles' ranks; of all if `dense`."""
        reach = max(reach, self.n) if self.dense else reach
        n, weights, ranges, bases = self.n, self.weights, list[list[int]](), list[int]()
        room = 0
        most = reach + self.step + 2  # the middle of an even number of totals is a step off
        for middle in weights.products([n])[0][0, : len(weights.q)].tolist():
            low, high = max(middle - most, 0), min(middle + most, n)
            if not ranges or low > ranges[-1][1] + MAX_GAP:
                room += ranges[-1][1] - ranges[-1][0] + 1 if ranges else 0
                ranges.append([low, high])
            ranges[-1][1] = high
            bases.append(ranges[-1][0] - room)
        room += ranges[-1][1] - ranges[-1][0] + 1
        self.cells, self.lengths = np.empty((room, 4), np.int64), np.empty(room)
        self.bases, at = np.array(bases), 0
        wanted = [(max(low - 1, 0), min(high, n - 1)) for low, high in ranges]
        windows = self.source.windows(weights.grid, wanted) if n else [EMPTY]
        for (low, high), window in zip(ranges, windows, strict=True):
            end = at + high - low + 1
            _kernels.fill_cells(
                window.points, window.records, window.below, n, weights.grid.size, low, high,
                weights.left, self.dense, self.cells[at:end].reshape(-1),
                self.lengths[at:end],
            )  # fmt: skip
            at = end

    def _nodes(self, near: int) -> list[Node]:
        """Return the nodes of totals with |n - t| < reach: single near n, then growing groups."""
        n, step = self.n, self.step
        if not step:
            self.within: range = range(n, n + 1)
            return [Node(n, self.within)]
        first, last = max(-((self.reach - 1 - n) // step), 0), (n + self.reach - 1) // step
        self.within, nodes = range(first * step, last * step + 1, step), list[Node]()
        low, high = max(-((near - n) // step), first), min((n + near) // step, last)
        for k in range(low, high + 1):
            nodes.append(Node(k * step, range(k * step, k * step + 1, step)))
        number = 1
        while low > first or high < last:
            groups = (
                range(max(low - number, first), low),
                range(high + 1, min(high + number, last) + 1),
            )
            for group in groups:
                if group:
                    middle = group[len(group) // 2] * step
                    nodes.append(Node(middle, range(group[0] * step, group[-1] * step + 1, step)))
            low, high, number = groups[0].start, groups[1].stop - 1, (3 * number + 1) // 2
        return nodes

    def _fill_nodes(self, nodes: list[Node]) -> None:
        """Set the places of the nodes' chains, and upper bounds of their sums."""
        self.last, self.last_index = list[FloatArray](), -1
        n, m, totals = self.n, len(self.weights.q), [node.total for node in nodes]
        far = [max(t - r[0], r[-1] - t) for t, r in nodes]
        whole, rests = self.weights.products(totals)
        ints, floats = np.zeros((len(nodes), 5, m + 1), np.int64), np.zeros((len(nodes), 7, m + 1))
        ints[:, 2, :m], rooms = self.bases, np.zeros(2, np.int64)
        _kernels.fill_nodes(
            np.array(totals), np.array(far), whole.reshape(-1), rests.reshape(-1), n, self.reach,
            self.rate, ints.reshape(-1), floats.reshape(-1), rooms,
        )  # fmt: skip
        self.nodes, self.far = nodes, far
        self.room, self.widest = rooms.tolist()
        plain = min(totals) * self.weights.inner >= PLAIN_NATS
        wide = min(n, 3 * self.reach) + 3  # at least the widest row, whatever the nodes are
        most = min(m, max(PHASES, SMALL_ROOM // (m * wide)), MAX_ROOM // (m * wide))
        self.most: int = 1 if plain else max(most, 2)
        self.slack: float = 2.0**-40 + wide * 2.0**-49
        if self.extent != (self.reach, self.most):
            self.extent, self.summed = (self.reach, self.most), {}
        new = [k for k, node in enumerate(nodes) if node not in self.summed]
        if new:
            new_ints, new_floats, stays = ints[new], floats[new], len(nodes) == 1
            bounds, *self.last = self._filled(new_ints, new_floats, stays)
            self.last_index = 0 if stays else -1
            sums = zip(bounds.tolist(), new_ints, new_floats, strict=True)
            self.summed.update(zip([nodes[k] for k in new], sums, strict=True))
        known = zip(*[self.summed[node] for node in nodes], strict=True)
        self.bounds, self.ints, self.floats = map(np.array, known)
        self.exponents: AnyArray = self.ints[:, 3, m]

    def _filled(self, ints: IntArray, floats: FloatArray, stays: bool) -> tuple[FloatArray, ...]:
        """Return bounds of the sums of some chains, and B, phases and A of the last one."""
        bounds, room = np.empty(len(ints)), self.room if stays else 2 * self.widest
        arrived, sums = np.empty(room), np.empty(room)
        phases = np.empty(room * (self.most + 2) if self.most > 1 else 0)
        _kernels.fill_chains(
            self.cells.reshape(-1), self.lengths, ints.reshape(-1), floats.reshape(-1), self.rate,
            self.slack, self.n, self.weights.left, self.most, self.dense, int(stays),
            np.empty(4 * self.widest + 8), arrived, phases, sums, bounds,
        )  # fmt: skip
        return bounds, arrived, phases, sums

    def rows(self, k: int) -> ChainTables:
        ints, floats = self.ints[k], self.floats[k]
        if k != self.last_index:
            self.last_index, self.last = k, list[FloatArray]()  # frees the old tables first
            _, *self.last = self._filled(ints[None], floats[None], True)
        return ChainTables(float(self.bounds[k]), ints, floats, *self.last)

    def _weigh(self) -> None:
        """Set upper bounds of the masses of all nodes and of the rest, in units of 2**unit."""
        bounds, exponents = np.frexp(self.bounds)
        exponents = exponents.astype(np.int64) + self.exponents
        nats = self.rate * np.array(self.far)
        powers = exponents + np.where(nats, np.ceil(nats / LN2 + 2.0**-20), 0).astype(np.int64)
        self.unit, numbers = int(powers.max()), [len(node.totals) for node in self.nodes]
        self.rest_nats: float = self._rest() - self.unit * LN2
        alone = bounds * np.ldexp(1.0, np.maximum(exponents - self.unit, -1000))
        self.least: float = float((alone * numbers).sum())
        scaled = (bounds * np.ldexp(1.0, np.maximum(powers - self.unit, -1000))).tolist()
        up = 1 + 2.0**-50
        masses = [
            max(x * (k * up if k > 1 else 1), MIN_MASS)
            for x, k in zip(scaled, numbers, strict=True)
        ]
        self.shared: float = sum(x for x, k in zip(masses, numbers, strict=True) if k > 1)
        masses.append(math.exp(min(max(self.rest_nats + 2.0**-20, -MAX_REST_NATS), MAX_REST_NATS)))
        self._add(masses)

    def _rest(self) -> float:
        """Return an upper bound of ln of the mass of the rest, over all slots of totals."""
        self.slots: int = len(self.within) + (4 if self.step else 0)
        return self.weights.log_ways + math.log(self.slots) - self.rate * self.reach

    def _add(self, masses: list[float]) -> None:
        self.masses: AnyArray = np.array(masses)
        self.ends: AnyArray = np.cumsum(self.masses)
        self.bound: float = float(self.ends[-1]) * (1 + 2.0**-30)
