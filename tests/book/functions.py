"""Public functions on data: errors of many data sets, comparisons, audits, sensitivities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fastexp as fx
from tests.book.draws import DEAR, NOISY, STATISTICS
from tests.book.entries import Entry, numbers

ROWS = numbers(6 * 50, 121, 9).reshape(6, 50)
VOTES = [30, 22, 29, 4, 0]


def entries() -> Iterator[Entry]:
    """All of them."""
    for name, mechanism in {**STATISTICS, **NOISY}.items():
        if not name.startswith(("Price", *DEAR)):
            errors = fx.expected_errors(ROWS, [mechanism])
            yield Entry(f"expected_errors / {name}", errors.ravel().tolist(), repr(mechanism))
    truths = fx.expected_errors(ROWS, [STATISTICS["Median"]], truth=ROWS.mean(axis=1))
    yield Entry("expected_errors / other truths", truths.ravel().tolist())
    yield from _comparisons()
    yield from _audits()
    yield from _sensitivities()
    yield from _epsilons()


def _comparisons() -> Iterator[Entry]:
    numbers_of_records = [STATISTICS["Median"], STATISTICS["Median, widened"]]
    selections = {
        "exponential": fx.Exponential(1.0, 1.0),
        "flips": fx.PermuteAndFlip(1.0, 1.0),
        "noise": fx.ReportNoisyMax(1.0, 1.0),
    }
    for name, comparison in {
        "numbers": fx.compare(numbers_of_records, ROWS[0], truth=50.5, probability=0.9),
        "selections": fx.compare(selections, VOTES),
        "prices": fx.compare([STATISTICS["Price"], STATISTICS["Price, textbook"]], ROWS[1]),
    }.items():
        rows = [[row.name, row.accuracy.expected, list(row.needs)] for row in comparison.rows]
        yield Entry(f"compare / {name}", rows)
        yield Entry(f"compare / {name} / keys", sorted(comparison.as_dict()))


def _audits() -> Iterator[Entry]:
    for name, audit in {
        "by laws": fx.audit(STATISTICS["Median"], ROWS[0], ROWS[0, 1:]),
        "by laws, with delta": fx.audit(
            fx.Exponential(1.0, 1.0), VOTES, [29, *VOTES[1:]], delta=0.01
        ),
        "by draws": fx.audit(fx.Exponential(1.0, 1.0), VOTES, [29, *VOTES[1:]], draws=4_000, rng=7),
    }.items():
        figures = [audit.epsilon, audit.delta, audit.promised, audit.share]
        yield Entry(f"audit / {name}", [audit.method, audit.refuted, audit.event, figures])
        if audit.hits:
            yield Entry(f"audit / {name} / hits", list(audit.hits))


def _sensitivities() -> Iterator[Entry]:
    for beta in (0.01, 0.3):
        for relation in ("add-remove", "replace"):
            figure = fx.smooth_sensitivity(ROWS[2], beta, bounds=(0, 120), neighbors=relation)
            yield Entry(f"smooth_sensitivity, {beta}, {relation}", figure)
    pairs = [(row.tolist(), row[1:].tolist()) for row in ROWS]
    bound = fx.check_sensitivity(
        lambda data, point: -abs(sum(data) - point), pairs, candidates=range(3)
    )
    figures: list[Any] = [bound.sensitivity, bound.range_sensitivity, bound.monotonic, bound.pairs]
    yield Entry("check_sensitivity", figures)
    yield Entry("product", [str(key) for key in fx.product(town=["a", "b"], year=range(2))])


def _epsilons() -> Iterator[Entry]:
    """Enough epsilon on data sets that are made from a seed, and on records themselves."""
    median = fx.Median(1.0, (0, 120), step=1)
    for name, need in (
        (
            "a generator",
            fx.epsilon_for(median, like="ages", n=40, error=20, probability=0.9, datasets=12),
        ),
        ("records", fx.epsilon_for(median, like=ROWS[0], error=20, probability=0.9)),
    ):
        yield Entry(
            f"epsilon_for / {name}", [need.median, need.quantile(0.9), need.worst, need.target]
        )
