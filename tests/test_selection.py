"""Permute-and-flip, several candidates in order, Gumbel noise, matrices and threads.

`test_law` has the laws of small data by every path; here are large data, extremes, exact branches.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import fastexp as fx
from fastexp import errors
from fastexp.kernels import bits, gumbel, jit
from fastexp.privacy.rates import peeling_round

from . import child, oracle
from .test_law import RELEASES, SINGLE, fits

interpreted = pytest.mark.skipif(jit.MODE == "jit", reason="helpers are not Python's")
FLIP, CHOOSE = fx.PermuteAndFlip(1.0, 1.0), fx.Exponential(1.0, 1.0)
MEDIAN = fx.Median(1.0, (0, 9), step=1)


def cases() -> Iterator[Any]:
    rng = np.random.default_rng(11)
    for k in (2, 3, 33, 64, 65, 500, 1025, 2500):
        yield pytest.param(rng.integers(0, 8, k), id=f"{k} counts")
        yield pytest.param(20 * rng.random(k), id=f"{k} floats")
        yield pytest.param(30.0 * (np.arange(k) == k // 2) + (np.arange(k) == 0), id=f"{k} peaked")
    yield pytest.param(np.full(300, -1e300), id="all equal")
    yield pytest.param(np.array([1.7e308, -1.7e308, 1.7e308]), id="overflow")
    yield pytest.param(2**63 + np.arange(40, dtype=np.uint64) // 9, id="beyond 2**63")


def paths(mechanism: Any, u: Any, draws: int) -> Iterator[tuple[str, Any]]:
    rows = np.tile(u, (draws // 4, 1))
    yield "release", [mechanism.release(u) for _ in range(RELEASES)]
    yield "releases of rows", mechanism.release(rows[:RELEASES], disjoint=True)
    yield "one", [mechanism.sample(u, rng=i) for i in range(SINGLE)]
    yield "many", mechanism.sample(u, draws, rng=1)
    yield "rows", mechanism.sample(rows, rng=2)
    yield "few of rows", mechanism.sample(rows[: draws // 20], 5, rng=3)


def quarters(u: Any) -> Any:
    return np.arange(len(u)) * 4 // len(u)


def decays(u: Any) -> Any:
    gaps = [max(Fraction(x) - Fraction(max(u.tolist())), -2000) for x in u.tolist()]
    return np.exp([float(gap) / 2 for gap in gaps])


@pytest.mark.parametrize("u", list(cases()))
def test_permute_and_flip(u: Any) -> None:
    """Quarters of the candidates have their shares, by the integral of a polynomial."""
    w, k = decays(u), len(u)
    t, share = np.polynomial.legendre.leggauss(min(k // 2 + 1, 300))
    with np.errstate(divide="ignore"):
        logs = np.log1p(-np.multiply.outer((t + 1) / 2, w))
    products = np.exp(logs.sum(axis=1)[:, None] - logs)
    law = np.bincount(quarters(u), w * (share @ products) / 2)
    assert abs(law.sum() - 1) < 1e-9
    for path, answers in paths(FLIP, u, 20_000 if k < 200 else 4000):
        assert fits(quarters(u)[np.asarray(answers)], dict(enumerate(law.tolist()))), path


@pytest.mark.parametrize("method", ["envelope", "gumbel"])
@pytest.mark.parametrize("u", list(cases()))
def test_first_and_last_of_three(u: Any, method: str) -> None:
    """Pairs of quarters, of the first candidate and of the second one, have their shares."""
    w, group, rounds = decays(u), quarters(u), min(len(u), 3)
    law = np.zeros((4, 4))
    for i in range(len(u)):
        left = w * (np.arange(len(u)) != i)
        if left.sum() > 0:
            np.add.at(law[group[i]], group, w[i] / w.sum() * left / left.sum())
    mechanism = fx.TopK(rounds, float(rounds))
    draws = 600 if method == "envelope" else 4000
    rows = np.tile(u, (draws, 1))
    found = {
        "many": mechanism.sample(u, draws, rng=1, method=method),
        "rows": mechanism.sample(rows, rng=2, method=method),
        "few of rows": mechanism.sample(rows[: draws // 3], 3, rng=3, method=method),
    }
    if method == "envelope":
        found["release"] = np.array([mechanism.release(u) for _ in range(RELEASES)])
        found["releases of rows"] = mechanism.release(rows, disjoint=False)
    for path, answers in found.items():
        assert answers.shape[-1] == rounds
        assert all(len(set(one)) == rounds for one in answers.reshape(-1, rounds).tolist())
        numbers = 4 * group[answers[..., 0]] + group[answers[..., 1]]
        assert fits(numbers, dict(enumerate(law.ravel().tolist()))), path


@pytest.mark.parametrize("method", ["envelope", "gumbel"])
@pytest.mark.parametrize("far", [1e2, 1e7, 1e17, 1e300])
def test_candidates_far_below_the_best(far: float, method: str) -> None:
    """What is far below the best keeps its own law: noise does not vanish beside the gap."""
    mechanism = fx.TopK(4, 8.0)
    u = [-far, 0.0, -far, -2 * far, -2 * far]
    answers = mechanism.sample(u, 2000, rng=5, method=method)
    assert (answers[:, 0] == 1).all()
    assert fits(
        answers[:, 1] * 25 + answers[:, 2] * 5 + answers[:, 3],
        {25 * a + 5 * (2 - a) + b: 1 / 4 for a in (0, 2) for b in (3, 4)},
    )


@pytest.mark.parametrize("base", [None, (1, 0, 2.5), (1e-3, 2.0**52, 5), (1e-300, 1e300, 1.0)])
def test_gumbel_of_small_data(base: Any) -> None:
    mechanism = fx.Exponential(1.5, 1, base=base)
    for u in ((3, 1, 2), (0, 0, 5), (0.25, -9.5, 0), (-1, 1, 2.0**-1074)):
        law = dict(enumerate(map(float, oracle.exponential(u, Fraction(3, 4), base))))
        rows = np.tile(np.asarray(u, float), (20_000, 1))
        for answers in (
            [mechanism.sample(u, rng=i, method="gumbel") for i in range(SINGLE)],
            mechanism.sample(u, 50_000, rng=1, method="gumbel"),
            mechanism.sample(rows, rng=2, method="gumbel"),
            mechanism.sample(rows[:900], 9, rng=3, method="gumbel"),
        ):
            assert fits(answers, law)
    assert isinstance(mechanism.sample([1, 2, 3], rng=1, method="gumbel"), int)


@interpreted
def test_noise() -> None:
    """It is right within 1e-14, and no word above a threshold has a key above the threshold's."""
    words = [0, 1, 2**20, 2**62 - 1, 2**62, 2**63, 2**64 - 2**11, 2**64 - 1]
    words += np.random.default_rng(1).integers(0, 2**64, 200, np.uint64).tolist()
    with mpmath.workdps(50), np.errstate(all="ignore"):  # integers wrap on purpose
        for word in words:
            exact = -mpmath.log(-mpmath.log1p(-(mpmath.mpf(word) + 0.5) / 2**64), 2)
            assert abs(float(gumbel.noise(np.uint64(word))) - exact) < 1e-14, word
        for key in (2.1, 3.0, 10.25, 40.0):
            found = float(gumbel.noise(gumbel.threshold(np.float64(key))))
            assert (key - 1.6 if key > 9 else -1) < found < key - 1
        assert gumbel.threshold(np.float64(2)) == bits.ALL_ONES


def test_threads() -> None:
    """They change no byte, whatever the rows and the method."""
    rng = np.random.default_rng(6)
    for rows in (5, 67):
        u = rng.random((rows, 90)) * 9
        for mechanism in (CHOOSE, FLIP, MEDIAN, fx.TopK(3, 1.0)):
            for options in ({}, {"method": "gumbel"}):
                if options and mechanism in (FLIP, MEDIAN):
                    continue
                for size in (None, 9):
                    first = mechanism.sample(u, size, rng=3, **options)
                    for threads in (0, 2, 3, 30):
                        again = mechanism.sample(u, size, rng=3, threads=threads, **options)
                        assert again.dtype == first.dtype
                        assert np.array_equal(again, first)
    with pytest.raises(errors.InvalidUtilities) as error:
        CHOOSE.sample([[0.0, np.nan]] * 9, threads=2)
    assert error.value.__cause__ is error.value.__context__ is None


def test_matrices() -> None:
    """A release answers each row, in order, if it is told what rows are."""
    u, labels = np.eye(3) * 2000.0, ["a", "b", "c"]
    for disjoint in (True, False):
        for make in (fx.Exponential, fx.PermuteAndFlip):
            assert make(1.0, 1.0).release(u, disjoint=disjoint).tolist() == [0, 1, 2]
            assert make(1.0, 1.0).release(u[1:2], disjoint=disjoint).tolist() == [1]
            assert make(1.0, 1.0, candidates=labels).release(u, disjoint=disjoint) == labels
            assert make(1.0, 1.0, candidates=labels).release(u[1], disjoint=disjoint) == "b"
        pairs, top = u[:2] + np.array([0, 0, 1000]), fx.TopK(2, 2.0, candidates=labels)
        assert top.release(pairs, disjoint=disjoint) == [["a", "c"], ["b", "c"]]
        assert fx.TopK(2, 2.0).release(pairs, disjoint=disjoint).tolist() == [[0, 2], [1, 2]]
    for wrong in (None, "yes", 1):
        with pytest.raises(errors.ParameterTypeError, match="disjoint"):
            CHOOSE.release(u, disjoint=wrong)


COARSE = """
import json
import numpy as np
from collections import Counter
import fastexp as fx
from fastexp.draws import choose, exact, flips
from fastexp.kernels import flips as kernels
planted, tries = {planted!r}, {tries}
choose.PRECISION = kernels.COIN_BITS = 3
kernels.TRIES = flips.TRIES = tries
accept, coins = exact.accept, Counter()
def counted(*arguments):
    coins[is_accepted := accept(*arguments)] += 1
    return is_accepted or planted == "all is accepted"
exact.accept = counted
if planted == "upper bounds are believed":
    kernels.lower = kernels.upper
u = {u}
flip, top = fx.PermuteAndFlip(1.5, 1), fx.TopK(2, 3.0)
draws = dict(
    release=lambda n: [flip.release(u) for _ in range(n)],
    rows=lambda n: flip.sample(np.tile(u, (n, 1)), rng=1),
    many=lambda n: flip.sample(u, n, rng=1),
    rounds=lambda n: [top.release(u) @ [len(u), 1] for _ in range(n)],
    several=lambda n: top.sample(u, n, rng=1) @ [len(u), 1],
)
found = {{}}
for path in {paths!r}:
    coins.clear()
    answers = np.asarray(draws[path]({n})).tolist()
    found[path] = answers, coins[False], coins[True]
print(json.dumps(found))
"""
PLAIN = [0.5, 0, -1, 2, 0.25]
FLIPS, ROUNDS = ("release", "rows", "many"), ("rounds", "several")


def outcomes(paths: Any, tries: int, planted: str = "", n: int = 1500) -> dict[str, Any]:
    """Return for each path whether it has the law, and how many coins Fractions tossed."""
    code = COARSE.format(planted=planted, tries=tries, u=PLAIN, paths=paths, n=n)
    found = json.loads(child.run(code, FASTEXP_KERNELS="python"))
    law = oracle.permute_and_flip(PLAIN, Fraction(3, 4))
    rounds = oracle.peeling(PLAIN, Fraction(3, 4), 2)
    return {
        path: (fits(answers, dict(enumerate(map(float, law if path in FLIPS else rounds)))), *rest)
        for path, (answers, *rest) in found.items()
    }


@pytest.mark.parametrize(("paths", "tries"), [(FLIPS, 2), (FLIPS, 64), (ROUNDS, 64)])
def test_open_coins_follow_the_law(paths: Any, tries: int) -> None:
    """With three bits of bounds, Fractions decide a large part."""
    for path, (is_right, refused, accepted) in outcomes(paths, tries).items():
        assert is_right, path
        assert min(refused, accepted) >= 20, path


@pytest.mark.parametrize("method", ["envelope", "gumbel"])
def test_draws_and_rounds_are_independent(method: str) -> None:
    """Streams of draws, rows and rounds have no word in common."""
    mechanism, u = fx.TopK(2, 1e-9), np.zeros(4)
    pairs = {12 * a + b: 1 / 144 for a in range(12) for b in range(12)}
    for answers in (
        mechanism.sample(u, 20_000, rng=1, method=method),
        mechanism.sample(np.tile(u, (20_000, 1)), rng=1, method=method),
        mechanism.sample(np.tile(u, (10_000, 1)), 2, rng=1, method=method).reshape(-1, 2),
    ):
        first, second = answers.T
        places = 3 * first + second - (second > first)
        assert fits(12 * places[::2] + places[1::2], pairs)


def test_too_many_rounds_cost_nothing() -> None:
    budget = fx.Budget(9.0)
    with pytest.raises(VALUE, match=r"2\*\*30"):
        fx.TopK(1 << 15, 1.0).release(np.zeros((1 << 15) + 1), budget=budget)
    assert budget.spent == 0


@pytest.mark.parametrize("planted", ["all is accepted", "upper bounds are believed"])
@pytest.mark.parametrize(("paths", "tries"), [(FLIPS, 2), (FLIPS, 64)])
def test_wrong_exact_branches_are_seen(planted: str, paths: Any, tries: int) -> None:
    for path, (is_right, *_) in outcomes(paths, tries, planted).items():
        assert not is_right, path


@pytest.mark.parametrize("rounds", [1, 3, 100])
@pytest.mark.parametrize("total", [1e-9, 0.1, 1.0, 12.0])
def test_rounds_of_a_total(rounds: int, total: float) -> None:
    """They are the largest that keep it: purely, by rho, or nearly so by delta."""
    for delta in 0, Decimal("1e-400"):
        assert peeling_round(rounds, epsilon=total, delta=delta) == Fraction(total) / rounds
    assert fx.TopK(rounds, total).guarantee.epsilon == total
    each = peeling_round(rounds, rho=total)
    after = Fraction(math.nextafter(float(each), math.inf))
    costs = [fx.privacy.selection_guarantee(e, None, "").rho for e in (each, after)]
    assert (
        Fraction(str(costs[0])) * rounds <= Fraction(str(total)) < costs[1] * rounds * (1 + 1e-15)
    )
    assert fx.TopK(rounds, rho=total).guarantee.rho <= total
    assert fx.TopK(rounds, rho=total).guarantee.epsilon >= float(each * rounds)
    for delta in (1e-12, 1e-3, 0.9):
        each = peeling_round(rounds, epsilon=total, delta=delta)
        assert each >= Fraction(total) / rounds
        if each > Fraction(total) / rounds:
            least = least_delta(fx.privacy.selection_rho(each) * rounds, total)
            assert delta * 0.99 < least <= delta
        guarantee = fx.TopK(rounds, total, delta=delta).guarantee
        assert (guarantee.epsilon, guarantee.delta) == (total, delta)
        assert guarantee.bounded_range is None


def least_delta(rho: float, epsilon: float) -> float:
    """Return delta by Proposition 12 of Canonne, Kamath and Steinke, over many orders."""
    orders = 1 + np.geomspace(1e-12, 1e13, 200_000)
    logs = (orders - 1) * (orders * rho - epsilon) - np.log(orders - 1)
    return float(np.exp((logs + orders * np.log1p(-1 / orders)).min()))


@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, 0.1, 1.0, 7.0, 50.0, 800.0])
def test_rho_without_a_bounded_range(epsilon: float) -> None:
    guarantee = fx.PermuteAndFlip(epsilon, 1.0).guarantee
    with mpmath.workdps(60):
        exact = mpmath.mpf(epsilon) * mpmath.tanh(mpmath.mpf(epsilon) / 2)
        assert exact <= guarantee.rho <= exact * (1 + mpmath.mpf(10) ** -14)
    assert (guarantee.epsilon, guarantee.bounded_range) == (epsilon, None)


VALUE, TYPE = errors.ParameterError, errors.ParameterTypeError
PARAMETERS: list[tuple[Any, Any, str]] = [
    (lambda: fx.TopK(0, 1.0), VALUE, "k must be between"),
    (lambda: fx.TopK(1.5, 1.0), TYPE, "k must be an integer"),
    (lambda: fx.TopK(2), VALUE, "epsilon .* must be given"),
    (lambda: fx.TopK(2, 1.0, rho=1.0), VALUE, "epsilon .* not both"),
    (lambda: fx.TopK(2, rho=1.0, delta=0.1), VALUE, "epsilon .* not both"),
    (lambda: fx.TopK(2, 1.0, delta=1.0), VALUE, "delta must be in"),
    (lambda: fx.TopK(2, 1.0, delta=-0.1), VALUE, "delta must be in"),
    (lambda: fx.TopK(2, 1.0, delta=None), TYPE, "delta must be a number"),
    (lambda: fx.TopK(2, rho=-1.0), VALUE, "rho must be > 0"),
    (lambda: fx.TopK(2, 0.0), VALUE, "epsilon must be > 0"),
    (lambda: fx.TopK(3, 1.0).release([1, 2]), VALUE, "utilities must have k numbers"),
    (lambda: fx.TopK(3, 1.0).sample([[1, 2]] * 3), VALUE, "utilities must have k numbers"),
    (lambda: fx.PermuteAndFlip(0, 1), VALUE, "epsilon must be > 0"),
    (lambda: fx.PermuteAndFlip(1, 1, candidates="ab"), TYPE, "candidates must be a sequence"),
    (lambda: fx.PermuteAndFlip(1, 1, monotonic=1), TYPE, "monotonic must be True or False"),
    (lambda: fx.MostCommon(1, None), TYPE, "candidates must be a sequence"),
    (lambda: fx.MostCommon(1, ["a"]), VALUE, "candidates must be two or more"),
    (lambda: fx.MostCommon(1, ["a", "b"], neighbors="both"), VALUE, "neighbors must be"),
    (lambda: CHOOSE.sample([1, 2], method="alias"), VALUE, "method must be"),
    (lambda: FLIP.sample([1, 2], method="gumbel"), VALUE, "method must be 'envelope'"),
    (lambda: MEDIAN.sample([1, 2], method="gumbel"), VALUE, "method must be 'envelope'"),
    (lambda: CHOOSE.sample([1, 2], threads=-1), VALUE, "threads must be between"),
    (lambda: CHOOSE.sample([1, 2], threads=1.5), TYPE, "threads must be an integer"),
]


@pytest.mark.parametrize("case", range(len(PARAMETERS)))
def test_parameters(case: int) -> None:
    call, kind, words = PARAMETERS[case]
    with pytest.raises(kind, match=words):
        call()


@pytest.mark.parametrize("k", [2, 64, 65, 1025])
def test_utilities_that_are_not_finite(k: int) -> None:
    u = np.zeros(k)
    u[-1] = np.nan
    for mechanism in (FLIP, fx.TopK(2, 1.0)):
        for call in (
            lambda m=mechanism: m.release(u),
            lambda m=mechanism: m.release([u, u], disjoint=True),
            lambda m=mechanism: m.sample(u, 3, rng=1),
            lambda m=mechanism: m.sample([np.zeros(k), u], rng=1),
        ):
            with pytest.raises(errors.InvalidUtilities, match="utilities must be finite"):
                call()
    for mechanism in (CHOOSE, fx.TopK(2, 1.0)):
        with pytest.raises(errors.InvalidUtilities, match="utilities must be finite"):
            mechanism.sample(u, method="gumbel")


def test_as_many_rounds_as_candidates() -> None:
    """The last round has one candidate left; the scale follows those that are left."""
    for k in (2, 5, 1030):
        mechanism, u = fx.TopK(k, 50.0 * k), np.arange(k, dtype=float)
        for answer in (
            mechanism.release(u),
            mechanism.sample(u, rng=1),
            mechanism.sample(u, rng=1, method="gumbel"),
        ):
            assert answer.tolist() == list(range(k))[::-1]
