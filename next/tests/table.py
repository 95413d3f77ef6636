"""Every mechanism: how it is made, small data, its law by the oracle, its law by public figures.

A new mechanism is a row here and a definition in `oracle`. What a test does with a row depends on
its kind alone, which says what its data are:

* "utilities": a vector of utilities; `sample` also takes rows of them;
* "score": data of a user's score, which `Exponential.from_score` weighs;
* "records": numbers of grid points; `sample` also takes rows of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
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

    def told(self, data: Any) -> Any:
        """Return data as a user has them."""
        return [self.records[i] for i in data] if self.kind == "records" else data


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


for e in EPSILONS:
    for is_monotonic in (False, True):
        for delta in (1.0, 2.5):
            exponential(e, delta, is_monotonic)
        exponential(e, 1, is_monotonic, (1, 0, 2.5))
        score(e, is_monotonic)
    score(e, True, (1, 3, 0.25))
    for relation in (ADD_REMOVE, REPLACE):
        median(e, relation, 0, 1)
for relation in (ADD_REMOVE, REPLACE):
    median(Fraction(1), relation, -0.2, 0.2)
    median(Fraction(1), relation, 0, 0, (-0.3, 0.1, 0.25, 1e6))
median(Fraction(1), ADD_REMOVE, -10, 5)
NAMES = [row.name for row in MECHANISMS]


def counted(answers: Any) -> dict[Any, int]:
    """Return how often each answer occurs."""
    values, counts = np.unique(np.asarray(answers), return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))
