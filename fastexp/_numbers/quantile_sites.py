"""Joint quantiles where answers crowd in atoms or weights underflow: the chain of sites.

A state is a slot (a site and a rank in it) and k, the number of answers that the site has so far.
The k-th answer has the factor f(k) = 1/(E + k) at E records, g/k in a run of g points, and
(g + k - 1)/k in a run with ties "left". S[j][k] at a slot bounds f(k) times the sum of
phi * S[j - 1][k - 1] over slots up to it of the same site, or if k = 1, the sum of phi * S[j - 1]
over all slots of earlier sites. As f falls, the state `most` may stand for `most` answers or more;
a coin then makes the product of f(k) / f(most).

**Bounds.** Sums are logarithms in float64 of positive terms: nothing under- or overflows. A term
has a few roundings of numbers below `size`. A sum has at most as many steps as a row has slots and
ranks, each with an error of an ulp of `size` or less. A target of up to n records is rounded.
`spare`, at least 8 times the sum of these errors, is added to each row. The bounds are exactly exp
of a fraction, and `exact_chain.pick` compares with these where floats are within the margin. So
each step of a path is one of `exact_chain.walk`'s proof, and an accepted path has exactly its
weight.

**It ends.** The rest, of e**-8 of all weights or less, has the answers whose ranks are farther than
`reach` from the quantile's, and the totals as far from n. The longest runs count all their answers,
and with `most` = m all sites do. Then the only coin left is that of totals that share a chain,
which have a small share of all weights. A path is refused with a probability of about spare * m.
`most` doubles after MAX_REFUSALS refusals, up to m: the number of attempts is geometric, whatever
the records are. A total takes O(m * most) additions for each slot within `reach`, or for each pair
of slots if these are few.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from .._intake.record_sources import RecordSource
from .._typing import AnyArray, FloatArray, IntArray, WordArray
from ..kernels.figures.quantile_chain import step
from ..reference import exact, exact_chain
from ..reference.exact import NextWord
from .quantile_chains import MIN_MASS, REST_NATS, Node, Weights
from .quantile_draws import Chain
from .quantile_line import line_of, log_sum
from .rank import few_enough

MAX_REFUSALS = 64  # refusals before sites get twice as many states
# states of a site at first, and half as many more for each answer that it has on average
START_STATES = 6
START_STATES_OF_MANY = 4  # states of a site at first if records are many
MAX_ROW_NUMBERS = 1 << 22  # numbers in a row of states
LONG_RUNS = 32  # the longest runs, which have all states
WINDOW_NATS = 64.0  # nats of the first windows beyond an estimate
PAIRS_PER_RANK, MARGIN = 4, 4.0  # pairs of slots summed one by one, at most; times the slack
NEAR_NATS = 24.0  # totals at most this many nats below the best have chains of their own
Path = list[tuple[int, int]]  # the slot and the state of each answer


class Row(NamedTuple):
    """S of an answer in the slots low..high - 1."""

    low: int
    high: int
    states: FloatArray  # shape (k, slots)
    further: FloatArray  # further states of long runs, shape (k, their slots)
    sums: FloatArray  # of all states, less than `spare` below their sum


class SiteChain(Chain):
    """Draws of one data set by its sites; each slot has up to `most` states."""

    atoms_coin, together, crowded = Fraction(1), 1, True

    def __init__(
        self, weights: Weights, source: RecordSource, tried: int = 0, most: int = 0
    ) -> None:
        self.weights, self.source, self.tried = weights, source, tried
        self.n = few_enough(source.total())
        self.rate, self.step = float(weights.rate), weights.lattice or 0
        self.dense, self.unit = 0, 0
        grid, n, m = weights.grid, self.n, len(weights.q)
        line = self.line = line_of(*source.counts(grid), grid.size, bool(weights.left))
        slots = line.rank.size
        nats = weights.log_ways + m * math.log(n + m) + self.rate * (m + self.step) + REST_NATS
        reach = max(math.ceil((nats + WINDOW_NATS) / self.rate), 0) + self._nearest()
        if not most:
            wide = min(slots, 2 * reach) * m * START_STATES_OF_MANY > MAX_ROW_NUMBERS
            few = 2 if wide else START_STATES_OF_MANY
            average = START_STATES + START_STATES * m // (2 * line.start.size)
            most = few if 2 * n > m * m else average
        self.most = min(m, most)
        self.site = np.repeat(np.arange(line.start.size), np.diff(line.first))
        self.factors = np.array([line.log_factor(k + 1) for k in range(self.most)])
        runs = np.flatnonzero(line.records == 0)
        runs = runs[np.argsort(-line.points[runs], kind="stable")[:LONG_RUNS]]
        self.long = np.sort(line.first[runs]) if self.most < m else runs[:0]
        further = [line.log_factor(k + 1)[self.long] for k in range(self.most, m)]
        self.further = np.array(further).reshape(m - self.most, self.long.size)
        self.reach = 0
        while self.reach == 0 or n > reach < self.reach:  # ends: the window grows
            reach = max(reach, self.reach)
            self.windows = self._windows(reach)
            self.places = (
                line.rank.searchsorted(self.windows[0], "left").tolist(),
                line.rank.searchsorted(self.windows[1], "right").tolist(),
            )
            self.steps = self._steps()
            self.log_bounds: dict[int, float] = {}
            self._range()
        nearest = np.array([node.total for node in self.nodes])
        number = np.array([len(node.totals) for node in self.nodes])
        logs = np.array([self.log_bound(t) for t in nearest.tolist()])
        self.log_unit = Fraction(float(logs.max()))
        far = [
            max(node.total - node.totals[0], node.totals[-1] - node.total) for node in self.nodes
        ]
        least = np.minimum(logs - float(self.log_unit) + self.rate * np.array(far), 600.0)
        masses = [
            max(math.exp(x) * k * (1 + 2.0**-20), MIN_MASS)
            for x, k in zip(least, number, strict=True)
        ]
        rest = max(self._rest() - float(self.log_unit) + 2.0**-20, -600.0)
        # with a single total the windows may have all ranks: then there is no rest
        masses.append(math.exp(rest) if self.step or n > reach else 0.0)
        self._add(masses)
        self.ints = np.zeros((len(self.nodes), 2, m), np.int64)
        self.ints[:] = np.clip(self.windows, 0, n)
        self.filled: dict[int, list[Row]] = {}

    def log_bound(self, total: int) -> float:
        """Return an upper bound of ln of a total's sum of weights of answers in the windows."""
        if total not in self.log_bounds:
            self.log_bounds[total] = self._end(total, self._rows(total)[-1])
        return self.log_bounds[total]

    def _nearest(self) -> int:
        """Return the largest distance from a quantile's rank to a slot (ties "left" skip ranks)."""
        middle, rank = self._middle(), self.line.rank
        above = rank[np.minimum(rank.searchsorted(middle), rank.size - 1)]
        below = rank[np.maximum(rank.searchsorted(middle, "right") - 1, 0)]
        return int(np.minimum(np.abs(above - middle), np.abs(middle - below)).max())

    def _middle(self) -> IntArray:
        """The ranks of the quantiles, rounded down."""
        return self.weights.products([self.n])[0][0, : len(self.weights.q)]

    def _windows(self, reach: int) -> IntArray:
        """Return the least and the greatest rank of each answer; all others have u > reach.

        With r = rank - q * n and s = n - t, u >= |r + q * s| + |(1 - q) * s - r| >= 2 * |r| - |s|,
        and u >= |s|.
        """
        middle = self._middle()
        return np.array([middle - reach - 1, middle + reach + 2])

    def _range(self) -> None:
        """Set nodes for all totals outside the rest: a total near the best has its own node."""
        n, h = self.n, self.step
        best = round(Fraction(n, h)) if h else 0
        for direction in (1, -1, 1) if h else ():  # ends: far from n bounds fall
            best = self._climbed(best, direction)
        nats = self.weights.log_ways - self.log_bound(best * h if h else n) + REST_NATS
        if not h:
            self.reach = max(math.ceil(nats / self.rate), 1)
            self.nodes, self.within = [Node(n, range(n, n + 1))], range(n, n + 1)
            return
        nats += math.log(4 * max(nats, 1.0) / self.rate / h + 8)
        self.reach = max(math.ceil(nats / self.rate), n - best * h + 1, best * h - n + 1, 1)
        first = max(-((self.reach - 1 - n) // h), 0)
        last = (n + self.reach - 1) // h
        self.within = range(first * h, last * h + 1, h)
        self.nodes = [Node(best * h, range(best * h, best * h + 1, h))]
        for direction, end in ((1, last), (-1, first)):
            at = best
            while at != end:  # the next group is as long as keeps its bound small
                ahead = max(int((self._loss(at, best) - NEAR_NATS) / (2 * self.rate * h)), 0)
                ahead = min(ahead, abs(end - at) - 1)
                group = sorted((at + direction, at + direction * (1 + ahead)))
                middle = (group[0] + group[1]) // 2 * h
                self.nodes.append(Node(middle, range(group[0] * h, group[1] * h + 1, h)))
                at += direction * (1 + ahead)

    def _climbed(self, best: int, direction: int) -> int:
        """Return a total with a greater bound than those next to it in a direction.

        Strides are doubled, and then halved, as each bound takes a chain of its own.
        """
        stride, doubles = 1, True
        while stride:
            at = best + direction * stride
            rises = at >= 0 and self._loss(at, best) < 0
            best, doubles = at if rises else best, doubles and rises
            stride = 2 * stride if doubles else stride // 2
        return best

    def _loss(self, at: int, best: int) -> float:
        h = self.step
        return self.log_bound(best * h) - self.log_bound(at * h)

    def _rows(self, total: int) -> list[Row]:
        rank, spare, rows = self.line.rank, self.spare(total), list[Row]()
        for j, (low, high) in enumerate(zip(*self.places, strict=True)):
            tau = total * self.weights.shares[j]
            states = -self.rate * np.abs(rank[low:high] - float(tau))[None]
            further = np.empty((0, self.long.size))
            if j > 0:
                states, further = self._following(rows[-1], low, high, tau)
            states += self.factors[: states.shape[0], low:high] + spare
            further += self.further[: further.shape[0]] + spare
            sums = log_sum(states)
            if further.size:
                inside = (low <= self.long) & (self.long < high)
                at = self.long[inside] - low
                sums[at] = log_sum(np.array([sums[at], log_sum(further)[inside]]))
            rows.append(Row(low, high, states, further, sums + spare))
        return rows

    def _following(
        self, before: Row, low: int, high: int, tau: Fraction
    ) -> tuple[FloatArray, FloatArray]:
        """The states of the next answer in the slots low..high - 1, without their factors."""
        old = before.states
        states = np.full((min(len(old) + 1, self.most), high - low), -np.inf)
        if self._by_pairs(before.low, before.high, low, high):
            rank, site = self.line.rank, self.site
            apart = np.abs(
                np.subtract.outer(rank[low:high], rank[before.low : before.high]) - float(tau)
            )
            past = np.less.outer(np.arange(before.low, before.high), np.arange(low, high) + 1)
            same = np.equal.outer(site[before.low : before.high], site[low:high])
            nats = self.rate * apart.T
            states[0] = log_sum(np.where(past & ~same, before.sums[:, None] - nats, -np.inf))
            moved = np.array(
                [log_sum(np.where(past & same, x[:, None] - nats, -np.inf)) for x in old]
            )
        else:
            first, last = min(low, before.low), max(high, before.high)
            here = slice(low - first, high - first)
            x = np.full((len(old) + 1, last - first), -np.inf)
            x[0, before.low - first : before.high - first] = before.sums
            x[1:, before.low - first : before.high - first] = old
            states[0] = self._step(first, x[:1], tau, 0)[0, here]
            moved = self._step(first, x[1:], tau, 1)[:, here]
        states[1:] = moved[: len(states) - 1]
        full = len(old) == self.most and self.most < len(self.weights.q)
        further = np.full((len(before.further) + full, self.long.size), -np.inf)
        if full:  # in a long run one more answer is a state of its own, elsewhere the last state
            inside = (low <= self.long) & (self.long < high)
            at = self.long[inside] - low
            further[0, inside] = moved[-1, at]
            further[1:, inside] = before.further[:, inside] - self.rate * float(tau)
            moved[-1, at] = -np.inf
            states[-1] = log_sum(np.array([states[-1], moved[-1]]))
        return states, further

    def _step(self, low: int, x: FloatArray, tau: Fraction, inside: int) -> FloatArray:
        """Return the sums of phi * x over earlier sites, or if `inside`, slots of the same site.

        The columns of `x` are the slots from `low` on.
        """
        (copies, slots), rate = x.shape, self.rate
        if self.weights.left and inside:
            return x - rate * float(tau)
        rank = self.line.rank[low : low + slots] - self.line.rank[low]
        sites = np.flatnonzero(np.diff(self.site[low : low + slots], prepend=-1))
        sites = sites + np.arange(copies)[:, None] * slots
        first, whole = np.append(sites.reshape(-1), copies * slots), math.ceil(tau)
        out, work = np.empty(x.size), np.empty(2 * (int(rank[-1]) + 2))
        ranks, x = np.tile(rank, copies), np.ascontiguousarray(x).reshape(-1)
        step(x, ranks, first, inside, rate, whole, float(whole - tau), work, out)
        return out.reshape(copies, slots)

    def _by_pairs(self, low: int, high: int, start: int, stop: int) -> bool:
        """Whether a step to the slots start..stop - 1 goes through all pairs, as they are few."""
        ranks = int(self.line.rank[stop - 1] - self.line.rank[low])
        return (high - low) * (stop - start) < min(PAIRS_PER_RANK * ranks, MAX_ROW_NUMBERS // 4)

    def _steps(self) -> tuple[int, int]:
        """Return the largest numbers of slots and ranks that a sum of a row goes through."""
        rows = list(zip(*self.places, strict=True))
        slots, ranks = max(high - low for low, high in rows), 0
        for (low, high), (start, stop) in pairwise(rows):
            if not self._by_pairs(low, high, start, stop):
                slots = max(slots, stop - low)
                ranks = max(ranks, int(self.line.rank[stop - 1] - self.line.rank[low]))
        return slots, ranks

    def spare(self, total: int) -> float:
        """Return more than the rounding errors of a row's sums.

        A path to a cell costs at most its rank plus the total; or, within a row's ranks, their
        number and a share of the difference for each answer.
        """
        n, m, (slots, ranks) = self.n, len(self.weights.q), self.steps
        wide = int(np.ptp(self.windows, axis=0).max()) + 1
        far = min(n + total, m * wide + abs(n - total) + ranks)
        size = 2 * self.rate * far + 2 * m * math.log(self.weights.grid.size + n + m + 2) + 64
        targets = self.rate * (n + total)  # floats hold them to a relative 2**-53
        return float(2.0**-30 + 2.0**-49 * ((slots + ranks + m + 64) * size + targets))

    def _end(self, total: int, row: Row) -> float:
        rank = self.line.rank[row.low : row.high]
        to_end = np.abs(self.n - rank - float(total * self.weights.shares[-1]))
        ends = log_sum((row.sums - self.rate * to_end)[:, None])
        return float(ends[0]) + self.spare(total)

    def _from_node(
        self,
        k: int,
        words: WordArray,  # noqa: ARG002  # a path takes as many words as it has sites
        draw_index: IntArray,
        supply: Callable[[int], NextWord],
    ) -> tuple[IntArray, AnyArray]:
        node, m = self.nodes[k], len(self.weights.q)
        if k not in self.filled:
            self.filled = {k: self._rows(node.total)}
        size = draw_index.size
        out, refused = np.zeros((size, m + 1), np.int64), np.ones(size, np.bool_)
        for d, at in enumerate(draw_index.tolist()):
            answer = self._answer(k, supply(at))
            if answer is not None:
                out[d], refused[d] = answer, False
        return out, refused

    def _answer(self, k: int, next_word: NextWord) -> list[int] | None:
        node, bound = self.nodes[k], Fraction(self.masses[k]) / len(self.nodes[k].totals)
        total = node.totals[exact.draw_below(len(node.totals), next_word)]
        path = self._path(node.total, self.filled[k], next_word)
        if path is None:
            return None
        ranks = [int(self.line.rank[s]) for s, _ in path]
        difference = self._distance(ranks, total) - self._distance(ranks, node.total)
        log_bound = Fraction(self.log_bound(node.total))
        exponent = self.weights.rate * difference + self.log_unit - log_bound
        ways = [(self._coin(path), exponent)]
        if exact_chain.pick(next_word(), next_word, bound, ways) is None:
            return None
        answers = list[int]()
        for site, group in groupby(path, lambda state: int(self.site[state[0]])):
            start, points = int(self.line.start[site]), int(self.line.points[site])
            answers += [start + x for x in self.uniform(len([*group]), points, next_word)]
        return [*answers, total]

    def _coin(self, path: Path) -> Fraction:
        """Return the product of f(k) / f(most) over answers after the first `most` of a site."""
        coin = Fraction(1)
        for _, group in groupby(path, lambda state: int(self.site[state[0]])):
            states = [*group]
            if states[0][0] in self.long:
                continue
            for k in range(self.most + 1, len(states) + 1):
                coin *= self._factor(states[0][0], k) / self._factor(states[0][0], self.most)
        return coin

    def _factor(self, slot: int, k: int) -> Fraction:
        site = self.site[slot]
        points, records = int(self.line.points[site]), int(self.line.records[site])
        if records:
            return Fraction(1, records + k)
        return Fraction(points + (k - 1) * self.weights.left, k)

    def _path(self, total: int, rows: list[Row], next_word: NextWord) -> Path | None:
        """Return the slot and the state of each answer, or None if refused."""
        rank, m, path = self.line.rank, len(rows), Path()
        tau = [total * share for share in self.weights.shares]
        slack, one, end = self.spare(total), Fraction(1), rows[-1]
        gaps = self.n - rank[end.low : end.high]
        s = self._pick(self.log_bound(total), end.sums, gaps, tau[m], one, slack, next_word)
        k = None
        for j in range(m - 1, -1, -1):
            row = rows[j]
            if s is not None and k is None:
                s += row.low
                here = self._states(row, s)
                k = self._pick(row.sums[s - row.low], here, None, tau[j], one, slack, next_word)
            if s is None or k is None:
                return None
            path.append((s, k))
            bound, factor = float(self._states(row, s)[k]), self._factor(s, k + 1)
            first = int(self.line.first[self.site[s]])
            if j == 0:
                ways, gaps, low, width = np.zeros(1), rank[s : s + 1], s, 1
            elif k == 0:
                low, width = rows[j - 1].low, 0
                ways = rows[j - 1].sums[: max(first - low, 0)]
                gaps = rank[s] - rank[low : low + ways.size]
            else:
                before, low = rows[j - 1], max(first, rows[j - 1].low)
                width = min(s + 1, before.high) - low
                prior = before.states[:, low - before.low : low - before.low + width]
                if s in self.long:
                    prior = self._states(before, s)[:, None]
                ways = prior[k - 1 : k + (k == self.most - 1 and s not in self.long)].reshape(-1)
                gaps = np.tile(rank[s] - rank[low : low + width], ways.size // width)
            at = self._pick(bound, ways, gaps, tau[j], factor, slack, next_word)
            if at is None:
                return None
            s, k = (at, None) if k == 0 else (low + at % width, k - 1 + at // width)
        return path[::-1]

    def _states(self, row: Row, s: int) -> FloatArray:
        return np.append(row.states[:, s - row.low], row.further[:, self.long == s])

    def _pick(
        self, bound: float, logs: FloatArray, gaps: IntArray | None, tau: Fraction,
        factor: Fraction, slack: float, next_word: NextWord,
    ) -> int | None:  # fmt: skip
        """Return the first way whose sum of factor * exp(logs - rate * |gaps - tau|) passes R."""
        nats = np.zeros(logs.size) if gaps is None else np.abs(gaps - float(tau)) * self.rate
        p = np.exp(np.minimum(logs - nats - bound, 1.0)) * float(factor)
        ends, word = np.cumsum(p), next_word()
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
        return exact_chain.pick(word, next_word, Fraction(1), ways)
