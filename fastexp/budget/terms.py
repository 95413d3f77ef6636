"""What a budget is of, what releases cost, and whether the rest covers it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from .._parameters import validate
from ..errors import BudgetExceeded, ParameterError
from ..privacy import Guarantee, amounts

UNITS, RELATIONS = ("epsilon", "rho"), ("add-remove", "replace")


class Cost(NamedTuple):
    """What a release costs: of the budget's unit, and of delta."""

    amount: float
    delta: float


class Spent(NamedTuple):
    """What several releases cost, exactly; in how many charges."""

    amount: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    charges: int = 0

    def with_one(self, cost: Cost) -> Spent:
        """And one charge more."""
        exact = amounts.exact
        delta = self.delta + exact(cost.delta) if cost.delta else self.delta
        return Spent(self.amount + exact(cost.amount), delta, self.charges + 1)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a budget is of: fixed when it is made."""

    unit: str
    limit: float
    delta: float
    neighbors: str

    def cost(self, guarantee: Guarantee) -> Cost:
        """What a promise costs, in this unit and relation."""
        promise = guarantee.under(validate.neighbors(self.neighbors))
        if self.unit == "rho":
            amount, delta = promise.rho, 0.0
        else:
            amount, delta = promise.epsilon, promise.delta
        if delta > 0.0 and self.delta == 0.0:
            raise ParameterError(
                "a budget of only epsilon takes pure promises, got one with delta > 0; "
                "use Budget(epsilon=..., delta=...) or Budget(rho=...)"
            )
        if amount is None:
            raise ParameterError(f"a budget of {self.unit} takes promises of it, got one without")
        if amount == math.inf:
            raise BudgetExceeded(f"the release costs all of {self.unit} that there is, and more")
        return Cost(amount, delta)

    def after(self, spent: Spent, cost: Cost) -> Spent:
        """What is spent with one release more, or BudgetExceeded.

        Amounts are the decimals that print.
        """
        total = spent.with_one(cost)
        limits = (self.unit, self.limit, spent.amount, total.amount, cost.amount)
        for unit, limit, before, now, more in (
            limits,
            ("delta", self.delta, spent.delta, total.delta, cost.delta),
        ):
            if now != before and now > amounts.exact(limit):
                raise BudgetExceeded(
                    f"the release costs {more!r} of {unit}, but of the budget of "
                    f"{limit!r} only {rest(limit, before)!r} remains; nothing was drawn or charged"
                )
        return total

    def text(self, spent: Spent) -> str:
        """What is spent and what is left, for a repr."""
        pairs = [("", self.limit, spent.amount)]
        if self.delta > 0.0:
            pairs.append(("_delta", self.delta, spent.delta))
        parts = []
        for kind, limit, amount in pairs:
            parts.append(f"spent{kind}={amounts.up(amount)!r}")
            parts.append(f"remaining{kind}={rest(limit, amount)!r}")
        return ", ".join(parts)


def terms_of(
    epsilon: float | None, delta: float, rho: float | None, neighbors: str
) -> Terms | None:
    """The terms of public arguments; None if there is no amount."""
    if epsilon is not None and rho is not None:
        raise ParameterError("Budget takes either epsilon or rho")
    slack = validate.fraction("delta", delta)
    if slack == 1.0:
        raise ParameterError("delta must be in [0, 1), got 1.0")
    if slack > 0.0 and epsilon is None:
        raise ParameterError("delta must be given with epsilon")
    if epsilon is not None:
        return Terms("epsilon", validate.positive("epsilon", epsilon), abs(slack), neighbors)
    return None if rho is None else Terms("rho", validate.positive("rho", rho), 0.0, neighbors)


def rest(limit: float, spent: Fraction) -> float:
    """What is left of a limit, rounded down."""
    return amounts.down(max(amounts.exact(limit) - spent, Fraction(0)))
