"""Joint quantiles: exact draws from the chain of a data set, and from its rest.

A draw picks a node of the chain by its mass, then a path backward through its rows
(`kernels/numbers/chain.py`): the rank of each answer, and its place in its cell. The exact twin
decides what bounds leave open, from the same words. All else is rejection: of paths that coins
refuse, of totals that share a chain, of the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, cached_property
from itertools import groupby, pairwise

import numpy as np

from .._typing import AnyArray, IntArray, WordArray
from ..kernels.numbers import chain as _kernels
from ..reference import exact, exact_chain
from ..reference.exact import NextWord
from .quantile_chains import MIN_MASS, ChainTables, Sums

# m**2 / n below which outputs do not crowd: at least twice the nats of coins where atoms are few
CROWDED = 2.0
PILOT = 32  # test draws: if all are refused, outputs crowd


class Chain(Sums):
    """Draws of one data set."""

    @property
    def together(self) -> int:
        """The number of attempts that a release makes at once."""
        return 256 if self.dense else 1

    @property
    def crowded(self) -> bool:
        """Whether outputs crowd, so that coins refuse nearly all attempts."""
        if not self.dense or self.dense**2 < CROWDED * self.n:
            return False
        best, count = self.masses[:-1].argmax(), 2 * (5 * self.dense // 2) + 4
        words = np.empty((PILOT, count), np.uint64)
        known = np.zeros(2, np.uint64)  # constant words: they only choose the kind of chain
        _kernels.chain_words(known, np.arange(PILOT), 0, count, words.reshape(-1))
        return not (self._paths(int(best), words)[2] == _kernels.DONE).any()

    def attempt(
        self, words: WordArray, supply: Callable[[int], NextWord]
    ) -> tuple[IntArray, AnyArray]:
        """Return answers and totals of draws from their words, and the indices of refused draws.

        `supply(d)` gives further words of draw d. It is cached: no two coins share words.
        """
        supply = cache(supply)
        size, m = words.shape[0], len(self.weights.q)
        out, refused = np.zeros((size, m + 1), np.int64), np.zeros(size, np.bool_)
        r = (words[:, 0] >> np.uint64(11)).astype(np.float64) * (self.bound * 2.0**-53)
        at = self.ends.searchsorted(r, "right")
        margin = self.bound * 2.0**-28
        near = (np.abs(self.ends[:, None] - r).min(0) < margin) | (at >= self.ends.size)
        for d in near.nonzero()[0].tolist():
            ways = [(Fraction(x), Fraction(0)) for x in self.masses.tolist()]
            chosen = exact_chain.pick(int(words[d, 0]), supply(d), Fraction(self.bound), ways)
            at[d] = -1 if chosen is None else chosen
        refused[at < 0] = True
        for k in sorted({*at.tolist()} - {-1}):
            draw_index = (at == k).nonzero()[0]
            if k == len(self.nodes):
                for d in draw_index.tolist():
                    answer = self._from_rest(supply(d))
                    refused[d] = answer is None
                    out[d] = answer or 0
            else:
                out[draw_index], refused[draw_index] = self._from_node(
                    k, words[draw_index, 1:], draw_index, supply
                )
        return out, refused.nonzero()[0]

    def _from_node(
        self, k: int, words: WordArray, draw_index: IntArray, supply: Callable[[int], NextWord]
    ) -> tuple[IntArray, AnyArray]:
        """Return answers and totals of draws from one node, and a mask of the refused ones."""
        node, size, m = self.nodes[k], draw_index.size, len(self.weights.q)
        out, ranks, states, rows = self._paths(k, words)
        for d in (states == _kernels.OPEN).nonzero()[0].tolist():
            draw_words, next_word = words[d].tolist(), supply(int(draw_index[d]))
            twin = self.exact_rows(node.total, rows)
            path = exact_chain.walk(twin, Fraction(rows.bound), draw_words[: 3 * m + 1], next_word)
            points = path and exact_chain.put(twin, path, draw_words[3 * m + 1 :], next_word)
            states[d] = _kernels.DONE if points else _kernels.AGAIN
            if path and points:
                out[d], ranks[d] = points, [rank for rank, _ in path]
        answers = np.empty((size, m + 1), np.int64)
        answers[:, :m], answers[:, m] = out, node.total
        if len(node.totals) > 1 or self.masses[k] <= MIN_MASS:  # else the mass is the bound
            scale = Fraction(2) ** (self.unit - int(rows.ints[3, m])) * Fraction(self.masses[k])
            scale /= len(node.totals) * Fraction(rows.bound)
            for d in (states == _kernels.DONE).nonzero()[0].tolist():
                next_word = supply(int(draw_index[d]))
                t = node.totals[exact.draw_below(len(node.totals), next_word)]
                difference = self._distance(ranks[d].tolist(), t)
                difference -= self._distance(ranks[d].tolist(), node.total)
                way = [(Fraction(1), self.weights.rate * difference)]
                if exact_chain.pick(next_word(), next_word, scale, way) is None:
                    states[d] = _kernels.AGAIN
                answers[d, m] = t
        return answers, states != _kernels.DONE

    def _paths(self, k: int, words: WordArray) -> tuple[IntArray, IntArray, IntArray, ChainTables]:
        """Return grid indices, ranks and states of draws from one node, and its chain."""
        rows, size, m = self.rows(k), len(words), len(self.weights.q)
        out, ranks = np.zeros((size, m), np.int64), np.zeros((size, m), np.int64)
        states, words = np.zeros(size, np.int64), np.ascontiguousarray(words)
        _kernels.draw_paths(
            self.cells.reshape(-1), rows.ints.reshape(-1), rows.floats.reshape(-1), self.rate,
            self.slack, self.n, self.weights.left, self.most, self.dense, rows.bound, rows.arrived,
            rows.phases, rows.sums, words.reshape(-1), out.reshape(-1), ranks.reshape(-1), states,
            np.empty(m, np.int64),
        )  # fmt: skip
        return out, ranks, states, rows

    def _distance(self, ranks: list[int], total: int) -> Fraction:
        """Return the sum of |c_j - t * d_j| for answers with these numbers of records below."""
        counts = [b - a for a, b in pairwise([0, *ranks, self.n])]
        shares = self.weights.shares
        return sum((abs(c - total * d) for c, d in zip(counts, shares, strict=True)), Fraction(0))

    def _from_rest(self, next_word: NextWord) -> list[int] | None:
        """Return answers and a total that no chain covers, or None if they are refused."""
        statistic, m = self.weights, len(self.weights.q)
        size, grid = statistic.grid.size, statistic.grid
        slot, scale = exact.draw_below(self.slots, next_word), Fraction(1)
        if slot < len(self.within):
            total = self.within[slot]
        else:  # x is 0, 1, 2 ... with probability 1/2, 1/4, 1/8 ...
            word, x = next_word(), 64
            while not word:
                word, x = next_word(), x + 64
            x -= word.bit_length()
            scale = Fraction(2) ** x
            ahead = (x + 1) * self.step
            total = self.within[-1] + ahead if slot % 2 else self.within[0] - ahead
            if total < 0:
                return None
        answers, ranks = list[int](), list[int]()
        for _, of_one in groupby(self.uniform(m, size, next_word)):
            point = [*of_one]
            below = self.source.below(grid, point[0])
            inside = 0 if statistic.left else self.source.below(grid, point[0] + 1) - below
            answers += point
            ranks += [below + x for x in multiset(len(point), inside + 1, next_word)]
        for k, node in enumerate(self.nodes):
            lo, hi = self.ints[k, :2, :m]
            if total in node.totals and bool(((lo <= ranks) & (ranks <= hi)).all()):
                return None
        volume = self.slots * statistic.ways * scale
        bound = Fraction(self.masses[-1]) * Fraction(2) ** self.unit / volume
        way = [(self.atoms_coin, statistic.rate * self._distance(ranks, total) + self.log_unit)]
        passes = exact_chain.pick(next_word(), next_word, bound, way) is not None
        return [*answers, total] if passes else None

    def uniform(self, m: int, size: int, next_word: NextWord) -> list[int]:
        """Return m ordered answers from their law without weights."""
        if self.weights.left:
            return multiset(m, size, next_word)
        return sorted(exact.draw_below(size, next_word) for _ in range(m))

    def _usual(self, records: int) -> int:
        """Return the usual number of answers in an atom of this many records, at least 1."""
        return max(1, records * self.dense // max(self.n, 1))

    @cached_property
    def _atoms(self) -> list[tuple[int, int]]:
        """The points and records of atoms where more than one answer is usual."""
        ends = [(start + count, after) for start, count, _, after in self.cells.tolist()]
        return [(point, after) for point, after in ends if self._usual(after) > 1]

    @cached_property
    def atoms_coin(self) -> Fraction:
        """The factor by which coins of the chain's draws multiply all weights, also the rest's.

        E! / (E + k)! is at most (E + u)**-k over the product of (E + i) / (E + u), i < u.
        """
        return math.prod(
            (
                Fraction(records + i, records + self._usual(records))
                for _, records in self._atoms
                for i in range(1, self._usual(records))
            ),
            start=Fraction(1),
        )

    def exact_rows(self, total: int, rows: ChainTables) -> exact_chain.ExactChain:
        lo, hi, base, at = (row.tolist() for row in rows.ints[:4])
        parts = self.most + 2

        def cell(j: int, i: int) -> list[int]:
            numbers: list[int] = self.cells[i - base[j]].tolist()
            return numbers

        def phases(j: int, i: int) -> list[Fraction]:
            here = parts * (at[j] + i - lo[j])
            return [Fraction(x) for x in rows.phases[here : here + parts].tolist()]

        statistic, m = self.weights, len(self.weights.q)
        tau = [total * share for share in statistic.shares]
        shift = [Fraction(x) for x in rows.floats[_kernels.SHIFT].tolist()]
        return exact_chain.ExactChain(
            statistic.rate, self.n, statistic.left, self.most, tau, lo[:m], hi[:m], cell,
            shift, lambda j, i: Fraction(float(rows.arrived[at[j] + i - lo[j]])), phases,
            lambda j, i: Fraction(float(rows.sums[at[j] + i - lo[j]])), self._usual, self._atoms,
        )  # fmt: skip


def multiset(k: int, size: int, next_word: NextWord) -> list[int]:
    """Return k of `size` numbers, sorted, by a uniform multiset (k distinct of size + k - 1)."""
    chosen = list[int]()
    for top in range(size, size + k):
        x = exact.draw_below(top, next_word)
        chosen.append(top - 1 if x in chosen else x)
    return [x - at for at, x in enumerate(sorted(chosen))]
