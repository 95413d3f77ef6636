"""Deterministic checks of the chain of joint quantiles: its upper sums, and draws word by word.

Plain functions, so that `tests/mutants` can run them against broken copies of the
package, without the compiler (`python -m tests.support.checks.quantile_chains`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import numpy as np

from tests.doors.intake import Counted, runs
from tests.doors.kernels import chain as kernels
from tests.doors.numbers import quantile_chains as chains
from tests.doors.numbers import quantiles as engine
from tests.doors.parameters import make_grid
from tests.doors.randomness import Spare, seeds_of, stream_of
from tests.doors.reference import exact, exact_chain
from tests.doors.selection import MASK_64
from tests.doors.shared import AnyArray
from tests.twins import quantiles as twin

THIRDS = (Fraction(1, 3), Fraction(2, 3))
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
UNEVEN = (Fraction(1, 10), Fraction(3, 20), Fraction(1, 5), Fraction(9, 10))
HALF, TINY = Fraction(1, 2), Fraction(1, 10**8)
TIES = ("left", "spread")


def chain_of(
    records: AnyArray, size: int, q: tuple[Fraction, ...], rate: Fraction, lattice: int, ties: str
) -> engine.Chain:
    """The chain of a small data set."""
    grid = make_grid((0, size - 1), step=1)
    source = Counted(*runs(np.sort(np.asarray(records, np.int64))), grid)
    return engine.Chain(engine.QuantilesStatistic(q, rate, lattice, grid, ties), source)


@contextmanager
def plain() -> Iterator[None]:
    """Chains are plain, however near quantiles are."""
    nats, chains.PLAIN_NATS = chains.PLAIN_NATS, -1.0
    try:
        yield
    finally:
        chains.PLAIN_NATS = nats


@contextmanager
def two_phases() -> Iterator[None]:
    """Chains count two answers in a run, and coins make the factors of more."""
    limits, (chains.PHASES, chains.SMALL_ROOM) = (chains.PHASES, chains.SMALL_ROOM), (2, 0)
    try:
        yield
    finally:
        chains.PHASES, chains.SMALL_ROOM = limits


def sums_are_bounded(
    records: list[int], size: int, q: tuple[Fraction, ...], rate: Fraction, ties: str, near: int
) -> None:
    """Of totals so near the number of records: from above, and where no coin takes off, hardly."""
    chain, number = chain_of(records, size, q, rate, 4, ties), 0
    sure = ties == "left" and chains.PLAIN_NATS > 0
    assert chain.dense == 0

    def weight(distance: Fraction) -> Fraction:
        low, high = exact.exp_bounds(rate * distance, 80)
        return Fraction(low + high, 1 << 81)

    for mass, (total, totals) in zip(chain.masses[:-1].tolist(), chain.nodes, strict=True):
        if len(totals) == 1 and abs(total - len(records)) <= near:
            bound = Fraction(mass) * Fraction(2) ** chain.unit
            whole = twin.by_chain(records, size, q, total, weight, ties)
            assert whole * (1 - TINY) <= bound, (ties, total)  # some ranks are left to the rest
            assert not sure or bound < whole * (1 + TINY), total
            number += 1
    assert number > 0


def windows_may_end_early() -> None:
    """Two outputs, the first without records below it: of the second the far part alone."""
    n, length, rate, slack = 1, 2.0, 0.5, 2.0**-40
    whole, part = np.array([1, 0, 2]), np.array([0.5, 0.25, 0.75])
    windows = [0, 0, 0], [0, n, 0], [0, 0, 0], [0, 1, 0], whole
    ints, floats = np.array(windows, np.int64), np.zeros((7, 3))
    floats[:3] = np.exp(-rate * np.array([part, 1 - part, whole + part]))
    room, bounds = n + 2, np.empty(1)
    kernels.fill_chains(
        np.tile([0, int(length), 0, 0], n + 1), np.tile([length], n + 1), ints.reshape(-1),
        floats.reshape(-1), rate, slack, n, 0, 2, 0, 1,
        np.empty(4 * room + 8), np.empty(room), np.empty(4 * room), np.empty(room), bounds,
    )  # fmt: skip

    def phi(j: int, count: int) -> float:
        return float(np.exp(-rate * abs(count - whole[j] - part[j])))

    ways = [phi(1, i) * phi(2, n - i) / (1 if i else 2) for i in range(n + 1)]
    exact_sum, bound = phi(0, 0) * length**2 * sum(ways), bounds[0] * 2.0 ** int(ints[3, 2])
    assert exact_sum * (1 - slack / 8) <= bound < exact_sum * (1 + 99 * slack)


def kernels_take_the_exact_way(
    number: int, q: tuple[Fraction, ...], ties: str, points: int, size: int = 12
) -> None:
    """From the same words both take the same answers and ranks, or are refused.

    A draw with a word as great as can be, in each place once, is left open or the same.
    """
    random = np.random.default_rng(number)
    chain = chain_of(random.integers(0, points, number), points, q, HALF, 8, ties)
    k = int(chain.masses[:-1].argmax())
    rows, m = chain.rows(k), len(q)
    words = random.integers(0, 2**64, (size + 5 * m + 1, 5 * m + 3), dtype=np.uint64)
    words[size + np.arange(5 * m + 1), np.arange(5 * m + 1)] = MASK_64
    words[0, 3 * m + 1 : -2] = [MASK_64, MASK_64 // 3] * m  # of 3 places: with a carry
    out, ranks, states = (np.zeros(len(words) * k, np.int64) for k in (m, m, 1))
    kernels.draw_paths(
        chain.cells.reshape(-1), rows.ints.reshape(-1),
        rows.floats.reshape(-1), chain.rate, chain.slack, chain.n, int(ties == "left"), chain.most,
        chain.dense, rows.bound, rows.arrived, rows.phases, rows.sums, words.reshape(-1), out,
        ranks, states, np.empty(m, np.int64),
    )  # fmt: skip
    assert (states[:size] != kernels.OPEN).all()
    assert (states[size:] == kernels.OPEN).any()
    twin_rows = chain.exact_rows(chain.nodes[k].total, rows)
    more = Spare(stream_of(seeds_of(1, np.zeros(1, np.uint64)), 0), 0, 0)
    for d in np.flatnonzero(states != kernels.OPEN):
        some = words[d].tolist()
        path = exact_chain.walk(twin_rows, Fraction(rows.bound), some[: 3 * m + 1], more)
        assert path or chain.most == 1
        points = path and exact_chain.put(twin_rows, path, some[3 * m + 1 :], more)
        if path:
            assert [rank for rank, _ in path] == ranks[m * d : m * (d + 1)].tolist()
        assert (states[d] == kernels.DONE) == bool(points)
        if points:
            assert points == out[m * d : m * (d + 1)].tolist()


def run() -> None:
    """Everything, small enough for the interpreter."""
    windows_may_end_early()
    for ties in TIES:
        sums_are_bounded([1, 2, 5, 6], 8, THIRDS, HALF, ties, 16)
        sums_are_bounded([0, 3, 3, 6, 7, 7, 7, 7, 8], 10, QUARTILES, HALF, ties, 16)
        sums_are_bounded(list(range(0, 160, 2)), 160, THIRDS, Fraction(4), ties, 0)
        kernels_take_the_exact_way(40, UNEVEN, ties, 50)
        kernels_take_the_exact_way(0, THIRDS, ties, 3)
        kernels_take_the_exact_way(7, QUARTILES, ties, 100)
        with plain():
            sums_are_bounded([2] * 16, 8, UNEVEN, HALF, ties, 4)
            kernels_take_the_exact_way(16, UNEVEN, ties, 4, 60)
            kernels_take_the_exact_way(3, THIRDS, ties, 3, 60)
        with two_phases():
            kernels_take_the_exact_way(3, UNEVEN, ties, 3, 60)


if __name__ == "__main__":
    run()
