"""What is promised: of each mechanism, of whole calls, and the arithmetic of promises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fastexp as fx
from fastexp import privacy
from tests.book.draws import LABELS, NOISY, SELECTIONS, STATISTICS
from tests.book.entries import Entry, outcome
from tests.book.groups import MECHANISMS

OTHERS = {
    "Exponential, base": fx.Exponential(1.0, 1.0, base=[1, 2]),
    "TopK with delta, replace": fx.TopK(9, 4.0, 2.0, delta=1e-9, monotonic=True),
    "JointTopK, sensitivity": fx.JointTopK(2, 1.0, 5, candidates=LABELS),
    "Laplace": fx.Laplace(1.0, 1, step=1),
    "Laplace, bounded": fx.Laplace(0.7, 2, step=0.5, bounds=(-3.0, 3.0)),
    "RandomizedResponse": fx.RandomizedResponse(0.5),
    "SmoothSensitivityMedian, midpoint": fx.SmoothSensitivityMedian(
        1.0, 0.1, bounds=(0, 1), noise="laplace", midpoint=True, neighbors="add-remove"
    ),
}
CALLS: tuple[dict[str, Any], ...] = (
    {"rows": 3},
    {"rows": 3, "disjoint": True},
    {"groups": True},
    {"groups": True, "membership": "public"},
    {"groups": True, "max_groups": 4, "max_rows": 3},
    {"neighbors": "replace"},
    {"neighbors": "add-remove"},
    {"groups": True, "neighbors": "replace", "max_groups": 2},
)


def entries() -> Iterator[Entry]:
    """All of them."""
    grouped = {f"by group, {name}": mechanism for name, (mechanism, _) in MECHANISMS.items()}
    for name, mechanism in {**SELECTIONS, **STATISTICS, **NOISY, **OTHERS, **grouped}.items():
        yield Entry(name, _said(mechanism.guarantee), repr(mechanism))
        for options in CALLS:
            call = f"total({', '.join(f'{key}={value!r}' for key, value in options.items())})"
            total = outcome(lambda m=mechanism, options=options: m.total(**options))
            yield Entry(f"{name}.{call}", _said(total))
    yield from _arithmetic()
    yield from _budgets()


def _said(guarantee: Any) -> Any:
    """All that a guarantee says."""
    if isinstance(guarantee, str):
        return guarantee
    names = ("epsilon", "neighbors", "bounded_range", "rho", "delta", "assumes")
    return {name: getattr(guarantee, name) for name in names}


def _arithmetic() -> Iterator[Entry]:
    for epsilon in (0.01, 0.3, 1.0, 7.5):
        for name, value in {
            "pure_rho": privacy.pure_rho(epsilon),
            "bounded_range_divergence": privacy.bounded_range_divergence(epsilon, 2.5),
            "zcdp_delta": privacy.zcdp_delta(epsilon / 8, 1.0),
            "zcdp_epsilon": privacy.zcdp_epsilon(epsilon / 8, 1e-6),
            "adaptive_delta": privacy.adaptive_delta(20, epsilon, 5.0),
            "adaptive_epsilon": privacy.adaptive_epsilon(20, epsilon, 1e-6),
            "nonadaptive_delta": privacy.nonadaptive_delta(20, epsilon, 5.0),
            "nonadaptive_epsilon": privacy.nonadaptive_epsilon(20, epsilon, 1e-6),
            "peeling_round": float(privacy.peeling_round(9, epsilon=epsilon, delta=1e-6)),
            "peeling_round by rho": float(privacy.peeling_round(9, rho=epsilon)),
            "rank_rate": str(privacy.rank_rate(epsilon, 3)),
            "count_rate": [str(privacy.count_rate(epsilon, n)) for n in ("add-remove", "replace")],
            "selection_rate": [str(privacy.selection_rate(epsilon, 3, m)) for m in (True, False)],
            "loss_bound": fx.loss_bound(3.0, epsilon=epsilon, sensitivity=1.0, k=9),
            "error_bound": fx.error_bound(list(range(99)), epsilon, bounds=(0, 120)),
            "epsilon_for": fx.epsilon_for(k=16, loss=20 / epsilon, sensitivity=1, failure=0.05),
        }.items():
            yield Entry(f"{name}, {epsilon}", value)
        one, other = (privacy.selection_guarantee(e, "add-remove", "") for e in (epsilon, 0.2))
        for name, made in {
            "sequential": privacy.sequential([one, other, one]),
            "parallel": privacy.parallel([one, other]),
            "group": privacy.group(one, 3),
            "advanced": privacy.advanced(one, 12, delta=1e-6),
            "under": one.under("replace"),
        }.items():
            yield Entry(f"{name}, {epsilon}", _said(made))
    yield Entry("HOLDS_FOR", {key: str(value) for key, value in privacy.HOLDS_FOR.items()})


def _budgets() -> Iterator[Entry]:
    """What is spent, in every unit, and when a budget has no room."""
    median = fx.Median(0.5, (0, 120), step=1)
    for name, budget in {
        "epsilon": fx.Budget(2.0),
        "replace": fx.Budget(2.0, neighbors="replace"),
        "delta": fx.Budget(2.0, delta=1e-6),
        "rho": fx.Budget(rho=0.05),
    }.items():
        spent: list[Any] = []
        for _ in range(5):
            spent.append(outcome(lambda b=budget: median.release([1, 2, 3], budget=b) >= 0))
            spent += [budget.spent, budget.remaining]
        yield Entry(f"budget of {name}", spent)
