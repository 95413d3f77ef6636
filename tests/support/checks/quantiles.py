"""Deterministic checks of several quantiles at once: what mechanisms promise.

Plain functions, so that `tests/mutants` can run them against broken copies of the
package, without the compiler (`python -m tests.support.checks.quantiles`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, partial
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

import fastexp as fx
from tests.support import all_answers as twin

Q, SIZE, MOST = (0.25, 0.75), 3, 4  # quantiles, points and records of small data sets
SLACK = 1.0 + 1e-12
MECHANISMS = {
    "joint": partial(fx.Quantiles, Q),
    "joint, thirds": partial(fx.Quantiles, count=2),
    "joint, replace": partial(fx.Quantiles, Q, neighbors="replace"),
    "JointExp": partial(fx.JointExponentialQuantiles, Q),
    "JointExp, spread": partial(fx.JointExponentialQuantiles, Q, ties="spread"),
}


def neighbors(relation: str) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs of small data sets."""
    for n in range(MOST):
        for records in combinations_with_replacement(range(SIZE), n):
            more = [(*records, x) for x in range(SIZE)]
            if relation == "add-remove":
                yield from ((records, each) for each in more)
            else:
                yield from ((one, other) for one in more for other in more if one < other)


@cache
def weights(mechanism: Any, records: tuple[int, ...]) -> list[float]:
    """Of all answers and totals, as the mechanism's rate, lattice and ties say."""
    statistic, step = mechanism._statistic, mechanism._statistic.lattice
    totals = [len(records)] if step is None else range(0, 3 * step, step)
    rate = float(statistic.rate)
    ties = "left" if statistic.left else "spread"
    all_weights = twin.enumerated(
        records, SIZE, statistic.q, totals, lambda d: math.exp(-rate * d), ties
    )
    return list(all_weights.values())


def worst(mechanism: Any) -> tuple[float, float]:
    """The greatest log-ratio of probabilities of neighbours, and the greatest range of one pair."""
    ratio = span = 0.0
    for pair in neighbors(mechanism.guarantee.neighbors):
        first, second = (weights(mechanism, tuple(sorted(records))) for records in pair)
        whole = math.log(sum(first) / sum(second))
        logs = [math.log(b / a) + whole for a, b in zip(first, second, strict=True)]
        ratio, span = max(ratio, max(logs), -min(logs)), max(span, max(logs) - min(logs))
    return ratio, span


def promises_hold(epsilon: float = 1.5) -> None:
    """Of ratios and ranges; most of these is used, so that nothing is given away."""
    for name, make in MECHANISMS.items():
        mechanism = make(epsilon=epsilon, bounds=(0, SIZE - 1), step=1)
        promise, (ratio, span) = mechanism.guarantee, worst(mechanism)
        assert ratio <= SLACK * promise.epsilon, name
        assert span <= SLACK * promise.bounded_range, name
        least = 0.65 if name in ("joint, replace", "JointExp, spread") else 0.99
        assert span >= least * promise.bounded_range, name


def errors_of_a_median_with_its_total() -> None:
    """They are those of the joint law, and not of the median alone."""
    records = np.array([[0, 1, 2, 2]])
    settings: Any = {"epsilon": 1.5, "bounds": (0, SIZE - 1), "step": 1, "with_total": True}
    (expected,) = fx.Quantiles([0.5], **settings).law(records[0]).expected_error()
    ((error,),) = fx.expected_errors(records, [fx.Median(**settings)])
    assert math.isclose(error, expected, rel_tol=1e-12)


def run() -> None:
    """Everything, small enough for the interpreter."""
    promises_hold()
    errors_of_a_median_with_its_total()


if __name__ == "__main__":
    run()
