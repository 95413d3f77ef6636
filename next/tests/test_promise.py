"""Do all neighbours of small data keep the guarantee, and do some use all of it?

The laws are those of public figures, which `test_law` compares with the definition.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastexp as fx

from . import oracle
from .oracle import ADD_REMOVE, REPLACE
from .table import ALL_RECORDS, MECHANISMS, NAMES, SIZE, Row

ORDERS = np.array([1.001, 1.5, 2, 3, 8, 64])  # of Rényi divergences
FULL = 0.999  # the share of a promise that a tight mechanism uses


def neighbours(row: Row) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of data that differ in one record, in all ways."""
    if row.kind == "utilities":
        for u in row.data:
            for move in itertools.product(row.moves, repeat=len(u)):
                yield u, tuple(x + d for x, d in zip(u, move, strict=True))
    elif row.kind in ("score", "labels"):
        for votes in row.data:
            for rest in (
                [votes[:i] + votes[i + 1 :] for i in range(len(votes))]
                if row.relation == REPLACE
                else [votes]
            ):
                yield from ((votes, rest + candidate) for candidate in row.released or ())
    elif row.kind == "number":
        yield from ((x, x + d) for x in row.data for d in row.moves)
    elif row.kind == "bit":
        yield from ((0, 1), (1, 0))
    else:
        for data in ALL_RECORDS:
            yield from ((data, e) for e in oracle.neighbours(data, SIZE, row.relation))


def log_ratios(row: Row) -> tuple[Any, Any]:
    """Return ln p and ln(p / q) of each answer for all pairs, a pair in a line; NaN beyond k."""
    laws: dict[Any, Any] = {}
    lines = []
    for pair in neighbours(row):
        for data in pair:
            if data not in laws:
                with np.errstate(divide="ignore"):
                    law = np.log(row.figures(data))
                laws[data] = np.append(
                    law[law > -np.inf], np.full(12 - (law > -np.inf).sum(), np.nan)
                )
        lines.append([laws[data] for data in pair])
    p, q = np.array(lines).transpose(1, 0, 2)
    assert (np.isnan(p) == np.isnan(q)).all(), "an answer is possible on one side only"
    return p, p - q


def spent(p: Any, ratios: Any) -> tuple[float, float, float]:
    """Return the worst log-ratio, range of log-ratios, and Rényi divergence over its order."""
    span = np.nanmax(ratios, 1) - np.nanmin(ratios, 1)
    orders = ORDERS[:, None, None]
    moments = np.nansum(np.exp(p + (orders - 1) * ratios), -1)
    divergence = np.log(moments) / (ORDERS - 1)[:, None] / ORDERS[:, None]
    return float(np.nanmax(np.abs(ratios))), float(span.max()), float(divergence.max())


def keeps(guarantee: fx.Guarantee, worst: tuple[float, float, float]) -> bool:
    """Whether nothing above the promise is spent."""
    promised = guarantee.epsilon, guarantee.bounded_range or np.inf, guarantee.rho or np.inf
    return all(a <= b * (1 + 1e-9) + 1e-12 for a, b in zip(worst, promised, strict=True))


def is_tight(guarantee: fx.Guarantee, worst: tuple[float, float, float]) -> bool:
    """Whether nearly all of the bounded range is used or, if none is promised, of epsilon."""
    log_ratio, span, _ = worst
    if guarantee.bounded_range:
        return span >= FULL * guarantee.bounded_range
    return log_ratio >= FULL * guarantee.epsilon


@pytest.mark.parametrize("row", MECHANISMS, ids=NAMES)
def test_promise(row: Row) -> None:
    worst, guarantee = spent(*log_ratios(row)), row.make().guarantee
    assert keeps(guarantee, worst)
    assert is_tight(guarantee, worst) == row.is_tight


@pytest.mark.parametrize("row", MECHANISMS, ids=NAMES)
def test_guarantee(row: Row) -> None:
    guarantee = row.make().guarantee
    own = row.relation if row.kind in ("records", "labels") else None
    assert guarantee.neighbors == (row.promised or own)
    assert guarantee.delta == 0
    assert guarantee.assumes


def test_log_ratio_of_epsilon_is_used() -> None:
    """An unlikely best candidate's ratio is nearly epsilon, not only the range."""
    p = np.log(fx.probabilities([0, 60], 1.0))
    q = np.log(fx.probabilities([1, 59], 1.0))
    assert 1 - 1e-9 < q[0] - p[0] <= 1 + 1e-9


@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, 0.1, 1.0, 7.0, 50.0, 800.0])
def test_rho(epsilon: float) -> None:
    """It is that of bounded range to the last digits, rounded up, and at most epsilon**2 / 8."""
    exact = oracle.bounded_range_rho(epsilon)
    for mechanism in (
        fx.Exponential(epsilon, 3.0),
        fx.Exponential(epsilon, 3.0, monotonic=True),
        fx.Median(epsilon, (0, 10), step=1, neighbors=ADD_REMOVE),
        fx.Median(epsilon, (0, 10), step=1, neighbors=REPLACE),
    ):
        guarantee = mechanism.guarantee
        assert (guarantee.epsilon, guarantee.bounded_range) == (epsilon, epsilon)
        assert exact <= guarantee.rho <= exact * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 3, Fraction(1, 3), Decimal("0.1"), Decimal("1e-5"), 1e-9])
def test_amounts_are_rounded_up(epsilon: Any) -> None:
    """What is promised is at least what is meant, as the decimal that it prints."""
    guarantee = fx.Exponential(epsilon, 1).guarantee
    meant = Fraction(str(epsilon))
    assert meant <= Fraction(str(guarantee.epsilon)) <= meant * (1 + Fraction(1, 10**15))
    assert guarantee.bounded_range == guarantee.epsilon
