"""Joint quantiles where answers crowd in atoms or weights underflow: the chain of sites.

A state is a slot, that is a site and a rank in it, and k, how many answers the site has so far;
the k-th multiplies by f(k) = 1/(E + k) at E records, g/k in a run of g points, (g + k - 1)/k in one
with ties "left", so that no coin is left to atoms. S[j][k] at a slot bounds f(k) times the sum of
phi * S[j - 1][k - 1] over slots up to it of the same site, or, of k = 1, of phi * S[j - 1] over all
slots of earlier sites. As f falls, `most` may stand for `most` answers or more, and a coin makes
the product of f(k) / f(most).

**Bounds.** Sums are logarithms in float64 of positive terms: nothing under- or overflows. A term is
a few roundings of numbers below `size`, a sum has at most n + slots + m steps, each of an ulp of
`size` or less; `slack`, 8 times their sum and more, is added to each row. As numbers these bounds
are exp of a fraction, and `exact_chain.pick` compares with them where floats are within the margin:
a way is a step of `exact_chain.walk`'s proof, and an accepted path has exactly its weight.

**It ends.** All ranks are in the chain. A way is refused with a probability of about slack * m, a
total beyond the range e**-8, and with `most` = m no coin is left but that of totals that share a
chain, which have a small share of all. `most` doubles after TRIES refusals, up to m: the number of
attempts is geometric, whatever the records are. A total takes O(m * most * (slots + n)) additions;
with ties "left" and few sites O(m * sites * (sites + most)).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import groupby

import numpy as np

from .._intake.record_sources import Source
from .._typing import AnyArray, FloatArray, IntArray, WordArray
from ..kernels.figures.quantile_chain import step
from ..reference import exact, exact_chain
from .quantile_chains import LEAST, REST_NATS, Node, Weights
from .quantile_draws import Chain, Words
from .quantile_line import line_of, log_sum

TRIES = 64  # refusals before a site has twice as many states
SOME = 6  # states of a site to begin with, and half as many for each answer that it has on average
PAIRS, MARGIN = 4, 4.0  # pairs of slots a rank that are summed one by one; of slack
NEAR = 24.0  # nats: totals within them have chains of their own
Path = list[tuple[int, int]]  # the slot and the state of each answer


class SiteChain(Chain):
    """Draws of one data set by sites, of which each has up to `most` states a slot."""

    atoms_coin = Fraction(1)

    def __init__(self, weights: Weights, source: Source, tried: int = 0, most: int = 0) -> None:
        self.weights, self.source, self.n, self.tried = weights, source, source.total(), tried
        self.rate, self.step, self.dense, self.unit = (
            float(weights.rate),
            weights.lattice or 0,
            0,
            0,
        )
        grid, m = weights.grid, len(weights.q)
        line = self.line = line_of(*source.counts(grid), grid.size, bool(weights.left))
        slots = line.rank.size
        self.most = min(m, most or SOME + SOME * m // (2 * line.start.size))
        self.site = np.repeat(np.arange(line.start.size), np.diff(line.first))
        self.factors = np.array([line.log_factor(k + 1) for k in range(self.most)])
        self.few = bool(weights.left) and slots * slots < PAIRS * self.n
        self.known: dict[int, float] = {}
        self._range()
        nearest = np.array([node.total for node in self.nodes])
        number = np.array([len(node.totals) for node in self.nodes])
        logs = np.array([self.log_bound(t) for t in nearest.tolist()])
        self.log_unit = Fraction(float(logs.max()))
        far = [
            max(node.total - node.totals[0], node.totals[-1] - node.total) for node in self.nodes
        ]
        nats = np.minimum(logs - float(self.log_unit) + self.rate * np.array(far), 600.0)
        masses = [
            max(math.exp(x) * k * (1 + 2.0**-20), LEAST) for x, k in zip(nats, number, strict=True)
        ]
        self.slots = len(self.within) + (4 if self.step else 0)
        rest = weights.log_ways + math.log(self.slots) - self.rate * self.reach
        rest = max(rest - float(self.log_unit) + 2.0**-20, -600.0)
        masses.append(math.exp(rest) if self.step else 0.0)  # of one total all ranks are there
        self.masses = np.array(masses)
        self.ends = np.cumsum(self.masses)
        self.bound = float(self.ends[-1]) * (1 + 2.0**-30)
        self.ints = np.zeros((len(self.nodes), 2, m), np.int64)
        self.ints[:, 1] = self.n
        self.filled: dict[int, list[FloatArray]] = {}

    @property
    def together(self) -> int:
        return 1

    @property
    def crowded(self) -> bool:
        return True

    def after(self, tried: int) -> SiteChain:
        """What to go on with after so many refused attempts."""
        if tried < self.tried + TRIES or self.most == len(self.weights.q):
            return self
        return SiteChain(self.weights, self.source, tried, 2 * self.most)

    def log_bound(self, total: int) -> float:
        """At least ln of the sum of all weights of a total."""
        if total not in self.known:
            self.known[total] = self._end(total, self._rows(total)[-1])
        return self.known[total]

    def _range(self) -> None:
        """Nodes for all totals that are not in the rest: one a total about the likeliest."""
        n, h = self.n, self.step
        self.reach = 1
        if not h:
            self.nodes, self.within = [Node(n, range(n, n + 1))], range(n, n + 1)
            return
        low, high = 0, n // h + 1  # the likeliest: logarithms of sums of convex distances
        while high - low > 2:
            a, b = low + (high - low) // 3, high - (high - low) // 3
            low, high = (low, b) if self.log_bound(a * h) >= self.log_bound(b * h) else (a, high)
        best = max(range(low, high + 1), key=lambda k: self.log_bound(k * h))
        nats = self.weights.log_ways - self.log_bound(best * h) + REST_NATS
        nats += math.log(4 * max(nats, 1.0) / self.rate / h + 8)
        self.reach = max(math.ceil(nats / self.rate), n - best * h + 1, best * h - n + 1, 1)
        first = max(-((self.reach - 1 - n) // h), 0)
        last = (n + self.reach - 1) // h
        self.within = range(first * h, last * h + 1, h)
        self.nodes = [Node(best * h, range(best * h, best * h + 1, h))]
        for way, end in ((1, last), (-1, first)):
            at = best
            while at != end:  # each next group as long as its bound stays small
                ahead = max(int((self._loss(at, best) - NEAR) / (2 * self.rate * h)), 0)
                ahead = min(ahead, abs(end - at) - 1)
                group = sorted((at + way, at + way * (1 + ahead)))
                middle = (group[0] + group[1]) // 2 * h
                self.nodes.append(Node(middle, range(group[0] * h, group[1] * h + 1, h)))
                at += way * (1 + ahead)

    def _loss(self, at: int, best: int) -> float:
        h = self.step
        return self.log_bound(best * h) - self.log_bound(at * h)

    def _rows(self, total: int) -> list[FloatArray]:
        """S of all answers: states and slots."""
        line, n, m, rate = self.line, self.n, len(self.weights.q), self.rate
        slots, work = line.rank.size, np.empty(2 * (n + 2))
        rows = list[FloatArray]()
        for j, share in enumerate(self.weights.shares[:m]):
            tau = total * share
            if j == 0:
                row = -rate * np.abs(line.rank - float(tau))[None]
            else:
                before = rows[-1]
                row = np.full((min(before.shape[0] + 1, self.most), slots), -np.inf)
                row[0] = self._step(log_sum(before)[None], tau, 0, work) + self.spare(total)
                moved = self._step(before, tau, 1, work)
                row[1:] = moved[: row.shape[0] - 1]
                if before.shape[0] == self.most:
                    row[-1] = log_sum(np.array([row[-1], moved[-1]]))
            rows.append(row + self.factors[: row.shape[0]] + self.spare(total))
        return rows

    def _step(self, x: FloatArray, tau: Fraction, inside: int, work: FloatArray) -> FloatArray:
        """The sums of phi * x over earlier sites, or over earlier slots of the same one."""
        line, rate = self.line, self.rate
        if self.weights.left and inside:
            return x - rate * float(tau)
        if self.few:
            apart = np.abs(np.subtract.outer(-line.rank, -line.rank) - float(tau))
            earlier = np.tri(line.rank.size, k=-1).T > 0
            return log_sum(np.where(earlier, x.T - rate * apart, -np.inf))[None]
        copies, whole = x.shape[0], math.ceil(tau)
        sites = line.first[:-1] + np.arange(copies)[:, None] * line.rank.size
        first = np.append(sites.reshape(-1), copies * line.rank.size)
        out = np.empty(x.size)
        ranks = np.tile(line.rank, copies)
        step(x.reshape(-1), ranks, first, inside, rate, whole, float(whole - tau), work, out)
        return out.reshape(x.shape)

    def spare(self, total: int) -> float:
        """More than the errors of a row's sums."""
        slots, m, n = self.line.rank.size, len(self.weights.q), self.n
        size = (
            2 * self.rate * (n + total) + 2 * m * math.log(self.weights.grid.size + n + m + 2) + 64
        )
        return float(2.0**-30 + 2.0**-49 * (slots + (0 if self.few else n) + m + 64) * size)

    def _end(self, total: int, row: FloatArray) -> float:
        to_end = np.abs(self.n - self.line.rank - float(total * self.weights.shares[-1]))
        ends = log_sum((log_sum(row) - self.rate * to_end)[:, None])
        return float(ends[0]) + 2 * self.spare(total)

    def _from_node(
        self,
        k: int,
        words: WordArray,  # noqa: ARG002  # a path takes as many words as it has sites
        which: IntArray,
        more: Callable[[int], Words],
    ) -> tuple[IntArray, AnyArray]:
        node, m = self.nodes[k], len(self.weights.q)
        if k not in self.filled:
            self.filled = {k: self._rows(node.total)}
        out, refused = np.zeros((which.size, m + 1), np.int64), np.ones(which.size, np.bool_)
        for d, at in enumerate(which.tolist()):
            answer = self._answer(k, more(at))
            if answer is not None:
                out[d], refused[d] = answer, False
        return out, refused

    def _answer(self, k: int, more: Words) -> list[int] | None:
        """One attempt."""
        node, bound = self.nodes[k], Fraction(self.masses[k]) / len(self.nodes[k].totals)
        total = node.totals[exact.draw_below(len(node.totals), more)]
        path = self._path(node.total, self.filled[k], more)
        if path is None:
            return None
        ranks = [int(self.line.rank[s]) for s, _ in path]
        apart = self._distance(ranks, total) - self._distance(ranks, node.total)
        exponent = self.weights.rate * apart + self.log_unit - Fraction(self.log_bound(node.total))
        ways = [(self._coin(path), exponent)]
        if exact_chain.pick(more(), more, bound, ways) is None:
            return None
        answers = list[int]()
        for site, group in groupby(path, lambda state: int(self.site[state[0]])):
            start, points = int(self.line.start[site]), int(self.line.points[site])
            answers += [start + x for x in self.uniform(len([*group]), points, more)]
        return [*answers, total]

    def _coin(self, path: Path) -> Fraction:
        """The product of f(k) / f(most) of answers beyond `most` in their sites."""
        coin = Fraction(1)
        for _, group in groupby(path, lambda state: int(self.site[state[0]])):
            states = [*group]
            for k in range(self.most + 1, len(states) + 1):
                coin *= self._factor(states[0][0], k) / self._factor(states[0][0], self.most)
        return coin

    def _factor(self, slot: int, k: int) -> Fraction:
        site = self.site[slot]
        points, records = int(self.line.points[site]), int(self.line.records[site])
        if records:
            return Fraction(1, records + k)
        return Fraction(points + (k - 1) * self.weights.left, k)

    def _path(self, total: int, rows: list[FloatArray], more: Words) -> Path | None:
        """The slot and the state of each answer; None: refused."""
        rank, m, path = self.line.rank, len(rows), Path()
        tau = [total * share for share in self.weights.shares]
        slack, one = self.spare(total), Fraction(1)
        sums = log_sum(rows[-1]) + slack
        s = self._pick(self.log_bound(total), sums, self.n - rank, tau[m], one, slack, more)
        k = None
        for j in range(m - 1, -1, -1):
            if s is not None and k is None:
                here = rows[j][:, s]
                k = self._pick(sums[s], here, None, tau[j], one, slack, more)
            if s is None or k is None:
                return None
            path.append((s, k))
            bound, factor = float(rows[j][k, s]), self._factor(s, k + 1)
            first = int(self.line.first[self.site[s]])
            if j == 0:
                ways, gaps = np.zeros(1), rank[s : s + 1]
            elif k == 0:
                sums = log_sum(rows[j - 1]) + slack
                ways, gaps = sums[:first], rank[s] - rank[:first]
            else:
                before = rows[j - 1][k - 1 : k + (k == self.most - 1), first : s + 1]
                ways = before.reshape(-1)
                gaps = np.tile(rank[s] - rank[first : s + 1], before.shape[0])
            at = self._pick(bound, ways, gaps, tau[j], factor, slack, more)
            if at is None:
                return None
            if k == 0:
                s, k = at, None
            else:
                width = s + 1 - first
                s, k = first + at % width, k - 1 + at // width
        return path[::-1]

    def _pick(
        self, bound: float, logs: FloatArray, gaps: IntArray | None, tau: Fraction,
        factor: Fraction, slack: float, more: Words,
    ) -> int | None:  # fmt: skip
        """The first of the ways factor * exp(logs - rate * |gaps - tau|) whose sum passes R."""
        nats = np.zeros(logs.size) if gaps is None else np.abs(gaps - float(tau)) * self.rate
        p = np.exp(np.minimum(logs - nats - bound, 1.0)) * float(factor)
        ends, word = np.cumsum(p), more()
        r = (word >> 11) * 2.0**-53
        at = int(np.searchsorted(ends, r, "right"))
        if at < ends.size and float(np.abs(ends - r).min()) > MARGIN * slack:
            return at
        ways = [
            (
                factor if x > -np.inf else Fraction(0),
                (Fraction(bound) - Fraction(x) if x > -np.inf else Fraction(0))
                + (self.weights.rate * abs(gaps[i].item() - tau) if gaps is not None else 0),
            )
            for i, x in enumerate(logs.tolist())
        ]
        return exact_chain.pick(word, more, Fraction(1), ways)
