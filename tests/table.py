"""Every mechanism: how it is made, small data, its law by the oracle, its law by public figures.

A new mechanism is a row here and a definition in `oracle`. What a test does with a row depends on
its kind alone, which says what its data are:

* "utilities": a vector of utilities; `sample` also takes rows of them;
* "score": data of a user's score, which `Exponential.from_score` weighs;
* "labels": a list of labels;
* "records": numbers of grid points; `sample` also takes rows of them;
* "number" and "bit": a number, a bit; `sample` also takes several, a row each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

import fastexp as fx

from . import oracle
from .oracle import ADD_REMOVE, REPLACE

SIZE = 4  # points of a small grid
EPSILONS = Fraction(1, 2), Fraction(3)
UTILITIES = (3, 1, 2), (0, 0, 5), (2, 2, 2, 0), (-1, 0.5, 0.25), (7, 2.0**-1074)
BASED = (3, 9, 2), (0.5, 9, 5), (-2, 9, 2)
RECORDS = (), (2,), (3, 0), (1, 1), (3, 0, 1), (2, 3, 2), (0, 3, 0, 1), (2, 1, 2, 3)
VOTES = "", "a", "ba", "abca"
QUANTILES = (
    ((1, 2), "lower"),
    ((1, 2), "upper"),
    ((1, 3), "weak"),
    ((1, 3), "lower"),
    ((9, 10), "weak"),
    ((9, 10), "lower"),
    ((1, 10**9), "lower"),
)
WITHOUT_ROWS = "score", "labels"  # kinds whose `sample` takes one data set
ALL_RECORDS = tuple(d for n in range(5) for d in combinations_with_replacement(range(SIZE), n))


@dataclass(frozen=True)
class Row:
    name: str
    kind: str
    make: Callable[[], Any]
    data: tuple[Any, ...]  # small data, in the order of a user
    law: Callable[[Any], oracle.Law]  # by the oracle
    figures: Callable[[Any], Any]  # by public figures
    released: tuple[Any, ...] | None = None  # what `release` returns for each answer of the law
    drawn: tuple[Any, ...] | None = None  # what `sample` returns for it; None: its number
    records: tuple[Any, ...] = ()  # the record that counts at each grid point
    moves: tuple[float, ...] = ()  # what one record may add to each utility
    relation: str = ADD_REMOVE
    is_tight: bool = True  # some neighbours use all of the promise
    promised: str | None = None  # the relation of the guarantee, if it is another one
    draws: int = 150_000  # of a law by some paths
    number: Callable[[Any, Any], Any] = lambda _, answers: answers  # the answers' numbers, of data

    def told(self, data: Any) -> Any:
        """Return data as a user has them."""
        if self.kind == "labels":
            return list(data)
        return [self.records[i] for i in data] if self.kind == "records" else data

    def rows(self, data: Any, count: int) -> Any:
        """Return so many rows of data as a user has them."""
        return np.full(count, data) if np.ndim(data) == 0 else np.tile(data, (count, 1))


MECHANISMS: list[Row] = []


def exponential(epsilon: Fraction, sensitivity: float, monotonic: bool, base: Any = None) -> None:
    rate = epsilon / Fraction(sensitivity) / (1 if monotonic else 2)
    options: dict[str, Any] = {"monotonic": monotonic, "base": base}
    moves = (0, sensitivity) if monotonic else (-sensitivity, 0, sensitivity)
    MECHANISMS.append(
        Row(
            f"exponential {epsilon} {sensitivity} {monotonic} {base}",
            "utilities",
            lambda: fx.Exponential(float(epsilon), sensitivity, **options),
            BASED if base else UTILITIES,
            lambda u: oracle.exponential(u, rate, base),
            lambda u: fx.probabilities(u, float(epsilon), sensitivity, **options),
            moves=moves,
        )
    )


def score(epsilon: Fraction, monotonic: bool, base: Any = None) -> None:
    rate, options = epsilon / (1 if monotonic else 2), {"monotonic": monotonic, "base": base}
    candidates = ("a", "b", "c")

    def counts(votes: str) -> list[int]:
        return [votes.count(candidate) for candidate in candidates]

    MECHANISMS.append(
        Row(
            f"from_score {epsilon} {monotonic} {base}",
            "score",
            lambda: fx.Exponential.from_score(
                lambda votes, candidate: votes.count(candidate),
                candidates,
                epsilon=float(epsilon),
                sensitivity=1,
                **options,
            ),
            VOTES,
            lambda votes: oracle.exponential(counts(votes), rate, base),
            lambda votes: fx.probabilities(counts(votes), float(epsilon), **options),
            released=candidates,
            is_tight=monotonic,
        )
    )


def permute_and_flip(epsilon: Fraction, monotonic: bool) -> None:
    rate = epsilon / (1 if monotonic else 2)

    def figures(u: Any) -> Any:
        """w(r) times the integral over t of the product of 1 - t * w(j), a polynomial."""
        t, share = np.polynomial.legendre.leggauss(len(u))
        w = np.exp(float(rate) * (np.asarray(u) - max(u)))
        factors = 1 - np.multiply.outer((t + 1) / 2, w)
        others = [np.delete(factors, r, axis=1).prod(axis=1) for r in range(len(u))]
        return w * (others @ share / 2)

    MECHANISMS.append(
        Row(
            f"permute-and-flip {epsilon} {monotonic}",
            "utilities",
            lambda: fx.PermuteAndFlip(float(epsilon), 1, monotonic=monotonic),
            UTILITIES,
            lambda u: oracle.permute_and_flip(u, rate),
            figures,
            moves=(0, 1) if monotonic else (-1, 0, 1),
        )
    )


def top_k(epsilon: Fraction, monotonic: bool) -> None:
    rate = epsilon / 2 / (1 if monotonic else 2)

    def figures(u: Any) -> Any:
        law = np.zeros((len(u), len(u)))
        for i, p in enumerate(fx.probabilities(u, float(epsilon) / 2, monotonic=monotonic)):
            left = [j for j in range(len(u)) if j != i]
            rest = [u[j] for j in left]
            law[i, left] = p * (
                fx.probabilities(rest, float(epsilon) / 2, monotonic=monotonic)
                if len(rest) > 1
                else 1
            )
        return law.ravel()

    MECHANISMS.append(
        Row(
            f"top-k {epsilon} {monotonic}",
            "utilities",
            lambda: fx.TopK(2, float(epsilon), monotonic=monotonic),
            (*UTILITIES, (0, 0, 200)),
            lambda u: oracle.peeling(u, rate, 2),
            figures,
            moves=(0, 1) if monotonic else (-1, 0, 1),
            number=lambda u, answers: np.asarray(answers) @ [len(u), 1],
            draws=15_000,
        )
    )


def most_common(epsilon: Fraction, relation: str) -> None:
    candidates = ("a", "b", "c")
    rate = epsilon / (1 if relation == ADD_REMOVE else 2)

    def counts(votes: str) -> list[int]:
        return [votes.count(candidate) for candidate in candidates]

    MECHANISMS.append(
        Row(
            f"most common {epsilon} {relation}",
            "labels",
            lambda: fx.MostCommon(float(epsilon), candidates, neighbors=relation),
            VOTES,
            lambda votes: oracle.exponential(counts(votes), rate),
            lambda votes: fx.probabilities(counts(votes), float(rate), monotonic=True),
            released=candidates,
            relation=relation,
        )
    )


def median(
    epsilon: Fraction, relation: str, low: float, step: float, grid: tuple[float, ...] = ()
) -> None:
    points = grid or tuple(oracle.points(low, step, SIZE))
    bounds = points[0], points[-1]
    form: dict[str, Any] = {"grid": grid} if grid else {"bounds": bounds, "step": step}

    def figures(data: Any) -> Any:
        records = [points[i] for i in data]
        utilities = fx.median_utilities(records, bounds=bounds, neighbors=relation, points=points)
        return fx.probabilities(utilities, float(epsilon))

    MECHANISMS.append(
        Row(
            f"median {epsilon} {relation} {grid or f'{bounds} {step}'}",
            "records",
            lambda: fx.Median(float(epsilon), neighbors=relation, **form),
            RECORDS,
            lambda data: oracle.by_distance(
                oracle.duff(oracle.median, data, SIZE, relation), epsilon / 2
            ),
            figures,
            released=points,
            drawn=points,
            records=points,
            relation=relation,
        )
    )


def quantile(epsilon: Fraction, relation: str, q: Fraction, convention: str) -> None:
    parts = q.numerator, q.denominator
    is_in_ranks = relation == ADD_REMOVE and convention == "weak" and q != Fraction(1, 2)
    # In ranks one record moves the distance by max(q, 1 - q), else it counts steps.
    most = max(q, 1 - q) if is_in_ranks else Fraction(1)
    told: Any = q if parts[1] == 3 else parts[0] / parts[1]
    points = tuple(range(SIZE))

    def distances(data: Any) -> list[Any]:
        sides = [oracle.sides(data, t) for t in points]
        return [oracle.quantile_distance(*s, q, convention, relation) for s in sides]

    def law(data: Any) -> oracle.Law:
        duff = oracle.duff(oracle.quantile(q, convention), data, SIZE, relation)
        return oracle.by_distance(distances(data) if is_in_ranks else duff, epsilon / (2 * most))

    MECHANISMS.append(
        Row(
            f"quantile {q} {epsilon} {relation} {convention}",
            "records",
            lambda: fx.Quantile(
                told,
                float(epsilon),
                (0, SIZE - 1),
                step=1,
                neighbors=relation,
                convention=convention,
            ),
            RECORDS,
            law,
            lambda data: fx.probabilities(
                [-float(d / most) for d in distances(data)], float(epsilon)
            ),
            released=points,
            drawn=points,
            records=points,
            relation=relation,
            is_tight=not is_in_ranks or q < Fraction(1, 2),  # else it takes ten records
        )
    )


def price(epsilon: Fraction, relation: str, low: float, step: float, scaling: str) -> None:
    points, rate = tuple(oracle.points(low, step, SIZE)), epsilon / (1 + (scaling == "textbook"))
    exact = [Fraction(str(low)) + i * Fraction(str(step)) for i in range(SIZE)]
    MECHANISMS.append(
        Row(
            f"price {epsilon} {relation} {low} {step} {scaling}",
            "records",
            lambda: fx.Price(float(epsilon), (low, points[-1]), step=step, scaling=scaling),
            RECORDS,
            lambda bids: oracle.exponential(oracle.revenue(bids, exact), rate / exact[-1]),
            lambda bids: fx.probabilities(
                fx.revenue([points[i] for i in bids], points),
                float(epsilon),
                points[-1],
                monotonic=scaling == "tight",
            ),
            released=points,
            drawn=points,
            records=points,
            relation=relation,
            is_tight=low == 0 or relation == REPLACE,
            promised="both",
        )
    )


def laplace(
    epsilon: Fraction, sensitivity: float, step: float, ends: tuple[int, int], moves: int
) -> None:
    """Numbers of steps from one end to the other; the sensitivity counts as so many `moves`."""
    unit, rate = Fraction(str(step)), epsilon / moves
    answers = oracle.points(
        float(ends[0] * unit) if step % 1 else ends[0], step, ends[1] - ends[0] + 1
    )
    law = lru_cache(None)(lambda x: oracle.noise(Fraction(x) / unit, rate, ends))
    MECHANISMS.append(
        Row(
            f"laplace {epsilon} {sensitivity} {step} {ends}",
            "number",
            lambda: fx.Laplace(
                float(epsilon), sensitivity, step=step, bounds=(answers[0], answers[-1])
            ),
            (0, 0.3125, -0.1875, 2.5, 0.6875, -100),
            law,
            lambda x: [float(p) for p in law(x)],
            released=tuple(answers),
            drawn=tuple(answers),
            moves=(sensitivity, -sensitivity, sensitivity / 2),
            is_tight=Fraction(sensitivity) == moves * unit,
            draws=30_000,
        )
    )


def response(epsilon: Fraction) -> None:
    MECHANISMS.append(
        Row(
            f"response {epsilon}",
            "bit",
            lambda: fx.RandomizedResponse(float(epsilon)),
            (0, 1),
            lambda bit: oracle.exponential([bit == 0, bit == 1], epsilon),
            lambda bit: fx.probabilities([1 - bit, bit], float(epsilon), monotonic=True),
            relation=REPLACE,
            promised=REPLACE,
        )
    )


for e in EPSILONS:
    for is_monotonic in (False, True):
        for delta in (1.0, 2.5):
            exponential(e, delta, is_monotonic)
        exponential(e, 1, is_monotonic, (1, 0, 2.5))
        score(e, is_monotonic)
        permute_and_flip(e, is_monotonic)
        top_k(e, is_monotonic)
    score(e, True, (1, 3, 0.25))
    for relation in (ADD_REMOVE, REPLACE):
        most_common(e, relation)
        median(e, relation, 0, 1)
        price(e, relation, 0, 1, "tight")
        price(e, relation, 0.1, 0.1, "tight")
    price(e, ADD_REMOVE, 0, 0.5, "textbook")
    laplace(e, 1, 1, (-3, 3), 1)
    response(e)
laplace(Fraction(3), 2.5, 1, (-4, 4), 3)
laplace(Fraction(3), 0.5, 0.25, (-2, 6), 2)
for relation in (ADD_REMOVE, REPLACE):
    median(Fraction(1), relation, -0.2, 0.2)
    median(Fraction(1), relation, 0, 0, (-0.3, 0.1, 0.25, 1e6))
median(Fraction(1), ADD_REMOVE, -10, 5)
for parts, kind in QUANTILES:
    for e, relation in zip(EPSILONS, (ADD_REMOVE, REPLACE), strict=True):
        quantile(e, relation, Fraction(*parts), kind)
NAMES = [row.name for row in MECHANISMS]


def counted(answers: Any) -> dict[Any, int]:
    """Return how often each answer occurs."""
    values, counts = np.unique(np.asarray(answers), return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))
