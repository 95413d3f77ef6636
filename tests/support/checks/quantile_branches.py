"""Deterministic checks of both engines of joint quantiles: what they draw, branch by branch.

A draw runs once for every way that its random choices can go. A choice among bounded ways has their
values over the bound, and what is left refuses; that these are never more than the bound is half
of the proof, the other half is that products of branches are the twin's weights. All other words
are uniform integers. So the law of what the engine would draw is known to many digits.

Plain functions, so that `tests/mutants` can run them against broken copies of the
package, without the compiler (`python -m tests.support.checks.quantile_branches`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from mpmath import mp, mpf

from tests.doors.intake import Counted, runs
from tests.doors.kernels import chain as kernels
from tests.doors.numbers import (
    QuantilesStatistic,
    quantile_chains,
    quantile_draws,
    quantile_few,
    quantile_sites,
)
from tests.doors.parameters import make_grid
from tests.doors.reference import exact, exact_chain
from tests.support import all_answers as twin
from tests.twins.quantiles import Weigh

BITS, DIGITS = 240, mpf(10) ** -40
FARTHER = 3  # totals beyond the range that are tried
LEAST = mpf(10) ** -25  # of an outcome's probability: rarer ones are not compared
Law = dict[tuple[int, tuple[int, ...]], Any]


class Case(NamedTuple):
    """A small data set, and parameters of the engine."""

    records: list[int]
    size: int
    q: tuple[Fraction, ...]
    rate: Fraction
    lattice: int | None
    ties: str

    def statistic(self) -> QuantilesStatistic:
        grid = make_grid((0, self.size - 1), step=1)
        return QuantilesStatistic(self.q, self.rate, self.lattice, grid, self.ties)

    def source(self) -> Counted:
        grid = make_grid((0, self.size - 1), step=1)
        return Counted(*runs(np.array(sorted(self.records), np.int64)), grid)

    def by_ranks(self) -> quantile_draws.Chain:
        return quantile_draws.Chain(self.statistic(), self.source())

    def by_few(self) -> quantile_few.FewChain:
        statistic = self.statistic()
        return quantile_few.FewChain(statistic, self.source(), statistic.tables(len(self.records)))

    def by_sites(self, most: int = 0) -> quantile_sites.SiteChain:
        return quantile_sites.SiteChain(self.statistic(), self.source(), most=most)

    def weights(self, totals: list[int]) -> Law:
        """The twin's, of some totals."""
        known = natural(self.rate)
        every = twin.enumerated(self.records, self.size, self.q, totals, known, self.ties)
        return {outcome: number(weight) for outcome, weight in every.items()}


class Branches:
    """Runs of a program, one for each way that its choices can go."""

    def __init__(self) -> None:
        self._chosen: list[int] = []
        self._among: list[list[Any]] = []
        self._at, self.far = 0, False

    def choose(self, among: Callable[[], list[Any]]) -> int:
        """One of some ways, of the probabilities that `among` says."""
        if self._at == len(self._chosen):
            self._among.append(among())
            self._chosen.append(self._next(-1))
        self._at += 1
        return self._chosen[self._at - 1]

    def _next(self, after: int) -> int:
        """The next way that is possible, or the number of all."""
        ways = self._among[-1]
        return next((i for i in range(after + 1, len(ways)) if ways[i] > 0), len(ways))

    def of(self, program: Callable[[], Any]) -> Iterator[tuple[Any, Any]]:
        """What it returns, with the probability of each branch."""
        while True:
            self._at, self.far = 0, False
            result, p = program(), mpf(1)
            for at, ways in zip(self._chosen, self._among, strict=True):
                p *= ways[at]
            yield result, p
            while self._chosen:
                self._chosen[-1] = self._next(self._chosen[-1])
                if self._chosen[-1] < len(self._among[-1]):
                    break
                self._chosen.pop()
                self._among.pop()
            if not self._chosen:
                return

    # What stands for randomness.

    def pick(self, _: int, __: Any, bound: Fraction, ways: Any) -> int | None:
        """`exact_chain.pick`: ways are never more than their bound."""

        def among() -> list[Any]:
            parts = [
                number(factor) * mp.exp(-number(exponent)) / number(bound)
                for factor, exponent in ways
            ]
            left = 1 - mp.fsum(parts)
            assert left > -DIGITS, f"ways are {mp.nstr(-left, 5)} of their bound too many"
            return [*parts, left if left > DIGITS else mpf(0)]

        ways = [*ways]
        at = self.choose(among)
        return None if at == len(ways) else at

    def below(self, bound: int, _: Any) -> int:
        """`exact.draw_below`."""
        return self.choose(lambda: [mpf(1) / bound] * bound)

    def word(self) -> int:
        """A word: of a total beyond the range how many zeros it begins with, else any one."""
        if not self.far:
            return 0
        self.far = False
        zeros = self.choose(lambda: [mpf(1) / (2 << i) for i in range(FARTHER)])
        return 1 << 63 - zeros


def number(x: Fraction) -> Any:
    """A fraction with many digits."""
    return mpf(x.numerator) / x.denominator


@cache
def natural(rate: Fraction) -> Weigh:
    """exp(-rate * distance) to many digits."""

    @cache
    def weigh(distance: Fraction) -> Fraction:
        with mp.workprec(BITS + 60):
            exponent = mp.exp(-number(rate * distance))
            return Fraction(int(mp.ldexp(exponent, BITS + 40)), 1 << BITS + 40)

    return weigh


def law(chain: quantile_draws.Chain, totals: Collection[int] = ()) -> Law:
    """What an attempt gives, and with which probability: of outcomes that are not refused.

    `totals`: those alone, each with a chain of its own that covers all ranks.
    """
    branches, found = Branches(), dict[Any, Any]()

    def open_paths(*arguments: Any) -> None:
        arguments[-2][:] = kernels.OPEN  # states: the exact walk decides

    def below(bound: int, words: Any) -> int:
        nonlocal in_rest
        at = branches.below(bound, words)
        branches.far = len(chain.within) <= at and in_rest  # the first number is that of a slot
        in_rest = False
        return at

    def attempt() -> Any:
        nonlocal in_rest
        shares = [mpf(float(x)) / mpf(chain.bound) for x in chain.masses]
        assert mp.fsum(shares) <= 1
        k = branches.choose(lambda: shares)
        in_rest = k == len(chain.nodes)
        if totals and (in_rest or chain.nodes[k].total not in totals):
            return None
        if in_rest:
            answer = chain._from_rest(branches.word)
        else:
            words = np.zeros((1, 5 * len(chain.weights.q) + 3), np.uint64)
            out, refused = chain._from_node(k, words, np.zeros(1, int), lambda _: branches.word)
            answer = None if refused[0] else out[0].tolist()
        return answer and (answer[-1], tuple(answer[:-1]))

    for total in totals:
        at = [(t, len(of)) for t, of in chain.nodes].index((total, 1))
        assert (chain.ints[at, :2, : len(chain.weights.q)] == [[0], [chain.n]]).all()
    in_rest = False
    with ExitStack() as stack, mp.workprec(BITS):
        for module, name, substitute in (
            (exact_chain, "pick", branches.pick),
            (exact_chain, "draw_below", below),
            (exact, "draw_below", below),
            (kernels, "draw_paths", open_paths),
            (quantile_sites, "MARGIN", math.inf),
        ):
            stack.enter_context(patch.object(module, name, substitute))
        for outcome, p in branches.of(attempt):
            if outcome is not None:
                found[outcome] = found.get(outcome, mpf(0)) + p
    return found


def law_is_that_of_the_twin(case: Case, chain: quantile_draws.Chain) -> Law:
    """Every outcome that is not too rare has its weight, over one bound; what is drawn."""
    drawn = law(chain)
    with mp.workprec(BITS):
        totals = sorted({t for t, _ in drawn})
        scale = number(chain.atoms_coin) * mp.exp(-number(chain.log_unit))
        scale /= mpf(chain.bound) * mpf(2) ** chain.unit
        rare = mpf(0)
        for outcome, weight in case.weights(totals).items():
            p = weight * scale
            if p > LEAST:
                assert abs(drawn.get(outcome, mpf(0)) / p - 1) < mpf(10) ** -30, outcome
            else:
                rare += p
        assert rare < mpf(10) ** -20
    return drawn


def probabilities(drawn: Law) -> Law:
    """Of outcomes that are not refused."""
    with mp.workprec(BITS):
        whole = mp.fsum(drawn.values())
        return {outcome: p / whole for outcome, p in drawn.items()}


@contextmanager
def settings(module: Any, **values: float) -> Iterator[None]:
    """Constants of an engine, which say what it uses and not what it draws."""
    with ExitStack() as stack:
        for name, value in values.items():
            assert hasattr(module, name)
            stack.enter_context(patch.object(module, name, value))
        yield


THIRDS = (Fraction(1, 3), Fraction(2, 3))
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
HALF = Fraction(1, 2)
TIES = ("left", "spread")


def picks_are_exact() -> None:
    """The first way whose sum passes R, of as many digits as it takes; none if R is above all."""
    half, quarter = (Fraction(1, 2), Fraction(0)), (Fraction(1, 4), Fraction(0))
    words = [0, (1 << 63) - 1, 1 << 63, (3 << 62) - 1, 3 << 62, (1 << 64) - 1]
    picked = [exact_chain.pick(word, lambda: 0, Fraction(1), [half, quarter]) for word in words]
    assert picked == [0, 0, 1, 1, None, None]
    for exponent, bound in ((1, Fraction(1)), (-1, Fraction(5))):
        with mp.workprec(BITS):
            share = int(mp.ldexp(mp.exp(-exponent) / number(bound), 128))
        for beside, wanted in ((-1, 0), (1, None)):
            lead, *further = divmod(share + beside, 1 << 64)
            way = [(Fraction(1), Fraction(exponent))]
            assert exact_chain.pick(lead, iter(further).__next__, bound, way) == wanted


def chains_of_ranks(ties: str) -> None:
    """As they come, with most of the mass in the rest, with shared totals, and by coins."""
    some = Case([0, 2, 2], 3, THIRDS, HALF, 8, ties)
    law_is_that_of_the_twin(some, some.by_ranks())
    alike = Case([1, 1, 1], 3, QUARTILES, Fraction(1, 4), None, ties)
    with settings(quantile_chains, REST_NATS=-40.0, GUESS_NATS=0.0):
        chain = some.by_ranks()
        assert chain.masses[-1] > 0.5 * chain.bound
        law_is_that_of_the_twin(some, chain)
    many = alike._replace(records=[1] * 8)
    with settings(quantile_chains, REST_NATS=-60.0, GUESS_NATS=0.8):
        chain = many.by_ranks()
        assert (chain.ints[0, 1, :3] < 8).any()  # not all ranks
        law_is_that_of_the_twin(many, chain)
    with settings(quantile_chains, SHARED=2.0, NEAR_NATS=-1.0):
        close = some._replace(lattice=2, records=[0, 2])
        chain = close.by_ranks()
        assert any(len(node.totals) > 1 for node in chain.nodes)
        law_is_that_of_the_twin(close, chain)
    with settings(quantile_chains, PLAIN_NATS=-1.0):
        chain = alike.by_ranks()
        assert chain.most == 1
        law_is_that_of_the_twin(alike, chain)
    fifths = tuple(Fraction(k, 5) for k in range(1, 5))
    for q in QUARTILES, fifths:  # one answer in a run, or two, more than its phases
        crowded = Case([0, 3], 4, q, Fraction(1, 4), None, ties)
        with settings(quantile_chains, PHASES=2, SMALL_ROOM=0):
            chain = crowded.by_ranks()
            assert chain.most == 2
            law_is_that_of_the_twin(crowded, chain)


def chains_of_few(ties: str) -> None:
    """As they come, of atoms that are full of answers, and where reach has to grow."""
    for case in (
        Case([0, 2, 2], 3, THIRDS, HALF, 8, ties),
        Case([], 2, QUARTILES, HALF, 8, ties),
        Case([1, 1, 1], 3, QUARTILES, Fraction(1, 4), None, ties),
        Case([1, 2], 3, (HALF,), Fraction(2), 1, ties),
        Case([0, 0, 1, 1, 1, 2], 3, THIRDS, HALF, 8, ties),
    ):
        law_is_that_of_the_twin(case, case.by_few())
    some = Case([0, 2, 2], 3, THIRDS, HALF, 8, ties)
    with settings(quantile_few, GUESS_NATS=-30.0):
        chain = some.by_few()
        assert chain.reach > 5
        law_is_that_of_the_twin(some, chain)


def chains_of_sites(ties: str) -> None:
    """As they come, with few states, few totals, groups of them, and all pairs of slots."""
    some = Case([0, 2, 2], 3, THIRDS, HALF, 8, ties)
    law_is_that_of_the_twin(some, some.by_sites())
    alike = Case([1, 1, 1], 2, QUARTILES, HALF, None, ties)
    for most in (2, 3):
        law_is_that_of_the_twin(alike, alike.by_sites(most))
    with settings(quantile_sites, PAIRS_PER_RANK=10**9):
        law_is_that_of_the_twin(alike, alike.by_sites())
    none = Case([], 2, (Fraction(1, 5), Fraction(2, 5), *THIRDS[1:], Fraction(4, 5)), HALF, 8, ties)
    law_is_that_of_the_twin(none, none.by_sites(2))
    atom = Case([1] * 30, 3, THIRDS, Fraction(20), None, ties)
    with settings(quantile_sites, WINDOW_NATS=-100.0):
        chain = atom.by_sites()
    if ties == "spread":
        assert chain.windows[1, 0] < chain.windows[0, 1]  # apart, and both in one site
    law_is_that_of_the_twin(atom, chain)
    some_apart = Case([0] * 4 + [2] * 9, 4, QUARTILES, Fraction(9), None, ties)
    with settings(quantile_sites, WINDOW_NATS=-60.0):
        law_is_that_of_the_twin(some_apart, some_apart.by_sites())
    with settings(quantile_sites, REST_NATS=-9.0):
        chain = some.by_sites()
        assert chain.masses[-1] > 0.5 * chain.bound
        law_is_that_of_the_twin(some, chain)
    with settings(quantile_sites, NEAR_NATS=-2.0):
        close = some._replace(lattice=2, records=[0, 2])
        chain = close.by_sites()
        assert any(len(node.totals) > 1 for node in chain.nodes)
        law_is_that_of_the_twin(close, chain)


def bounds_hold_of_many_records() -> None:
    """Where targets have more digits than floats: the first answer's bounds exceed its weights."""
    n = 10**6 + 1
    atom = Case([], 3, THIRDS, Fraction(512), 1, "spread")
    source = Counted(np.array([1]), np.array([n]), atom.statistic().grid)
    chain = quantile_sites.SiteChain(atom.statistic(), source)
    first = chain._rows(n)[0]
    for slot in range(first.low, first.high):
        cost = atom.rate * abs(int(chain.line.rank[slot]) - n * THIRDS[0])
        with mp.workprec(BITS):
            weight = mp.log(number(chain._factor(slot, 1))) - number(cost)
            assert weight < mp.mpf(float(first.states[0, slot - first.low]))


def run() -> None:
    """Everything, small enough for the interpreter."""
    picks_are_exact()
    bounds_hold_of_many_records()
    for ties in TIES:
        chains_of_sites(ties)
        chains_of_ranks(ties)
        chains_of_few(ties)


if __name__ == "__main__":
    run()
