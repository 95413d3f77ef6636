"""Joint quantiles of few records: a chain for each total, filled together by one kernel."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._intake.record_sources import RecordSource
from .._typing import FloatArray, IntArray
from ..kernels.numbers import few_chains as kernel
from .quantile_chains import ChainTables, Node, Weights
from .quantile_draws import Chain

MAX_RECORDS = 127  # a chain's work grows with the square of the number of records
CROWD = 4  # up to this many answers, coins in atoms seldom refuse, for any number of records
GUESS_NATS = 16.0  # nats of the first reach beyond what uniform records need
GROWS_NATS = 120.0  # nats by which the reach may grow before other chains take over


class Tables(NamedTuple):
    """Tables for chains of up to some number of records; public."""

    line: IntArray
    weights: FloatArray
    wholes: IntArray
    numbers: int  # of integers of scratch
    floats: int  # of floats of scratch
    rows: int  # floats of one chain and of masses


def fewest(m: int) -> int:
    """Return the fewest records for m answers, so that few answers lie in one atom."""
    return 0 if m <= CROWD else m * m


def tables(weights: Weights, most: int) -> Tables:
    """Return tables for up to `most` records; draws from n records do not depend on `most`."""
    rate, m, step = float(weights.rate), len(weights.q), weights.lattice
    ranks, wide, parts = most + 1, m + 1, max(m, 2) + 2
    reaches = [_reach(weights, (1 << bits) - 1) for bits in range(most.bit_length() + 1)]
    grows = math.ceil(GROWS_NATS / rate)
    farthest = max(reaches) + grows
    totals = (most + farthest) // step + 1 if step else ranks
    some = min(2 * farthest // step + 2, totals) if step else 1
    by = step or 1
    line = [m, weights.left, by, totals, ranks, fewest(m), int(step is None), grows, *reaches]
    line += [0] * (kernel.LINE - len(line))
    products = weights.products([*range(0, totals * by, by)])
    whole, rests = (np.ascontiguousarray(x[:, m:].T).reshape(-1) for x in products)
    wholes, table = whole.astype(np.int64), np.empty(wide * (ranks + 2) * totals)
    kernel.fill_weights(wholes, rests.astype(np.float64), totals, rate, table)
    chain = m * ranks * (2 + parts)
    return Tables(
        np.array(line), table, wholes, 4 * ranks + kernel.HEAD + totals + 8 * wide,
        some * (wide + chain + ranks + 4), 7 * wide + totals + 1 + chain,
    )  # fmt: skip


def _reach(weights: Weights, most: int) -> int:
    """Return a first guess of how far ranks and totals matter, for up to `most` records."""
    rate, m, step = float(weights.rate), len(weights.q), weights.lattice or 0
    wide = 1.1 * max(m * math.log1p(most * rate / 2) - math.lgamma(m + 1), 0.0) + GUESS_NATS
    return max(math.ceil(wide / rate), step // 2 + 1)


class FewChain(Chain):
    """Draws of one data set of few records; `fits` is False if weights underflow."""

    def __init__(self, weights: Weights, source: RecordSource, known: Tables) -> None:
        points = np.repeat(*source.counts(weights.grid))
        self.weights, self.source, self.n, self._tables = weights, source, points.size, known
        n, m, rate, step = self.n, len(weights.q), float(weights.rate), weights.lattice or 0
        totals = int(known.line[kernel.TOTALS])
        self.rate, self.step, self.dense, self.most = rate, step, 0, max(m, 2)
        self.slack, self._work = kernel.SLACK, np.empty(known.floats)
        self._state = np.empty(kernel.HEAD + totals, np.int64)
        cells, masses = np.empty((n + 1, 4), np.int64), np.empty(totals + 1)
        count = kernel.few_chains(
            points, weights.grid.size, known.line, rate, weights.log_ways, known.weights,
            cells.reshape(-1), self._state, self._work, masses,
        )  # fmt: skip
        self.cells, (fits, at, _, self.reach, self.unit) = (
            cells,
            self._state[: kernel.HEAD].tolist(),
        )
        self.fits: bool = fits == 1
        by = step or 1
        self.within = range(at * by, (at + count) * by, by)
        self.nodes = [Node(t, range(t, t + by, by)) for t in self.within]
        self.slots: int = count + (4 if step else 0)
        self.ints = np.zeros((count, 5, m + 1), np.int64)
        self.ints[:, 1, :m] = n
        self._add(masses[: count + 1].tolist())

    def rows(self, k: int) -> ChainTables:
        m, n, known = len(self.weights.q), self.n, self._tables
        length = m * (n + 1)
        ints, floats = np.empty((5, m + 1), np.int64), np.empty((7, m + 1))
        arrived, sums, phases = (np.empty(length * x) for x in (1, 1, self.most + 2))
        bound = kernel.few_rows(
            k, n, known.line, known.wholes, known.weights, self._state, self._work,
            ints.reshape(-1), floats.reshape(-1), arrived, phases, sums,
        )  # fmt: skip
        return ChainTables(bound, ints, floats, arrived, phases, sums)
