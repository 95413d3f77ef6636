"""What a budget is of, what releases cost, and whether the rest covers it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from .._parameters import validate
from ..errors import BudgetExceeded, ParameterError
from ..privacy import Guarantee, amounts

# Sums of decimals: exact, as doubles span 633 digits (a sum that is not would raise), and four
# times as fast as of fractions.
SUMS = Context(prec=1000, Emin=-9999, Emax=9999, traps=[Inexact, InvalidOperation])
UNITS, RELATIONS = ("epsilon", "rho"), ("add-remove", "replace")


@lru_cache(maxsize=256)  # few amounts recur
def printed(number: float) -> Decimal:
    """The decimal that prints: what a finite amount stands for."""
    return Decimal(float.__repr__(number))


class Cost(NamedTuple):
    """What a release costs: of the budget's unit, and of delta."""

    amount: float
    delta: float


class Spent(NamedTuple):
    """What several releases cost, exactly; in how many charges."""

    amount: Decimal = Decimal(0)
    delta: Decimal = Decimal(0)
    charges: int = 0

    def with_one(self, cost: Cost) -> Spent:
        """And one charge more."""
        amount, delta = SUMS.add(self.amount, printed(cost.amount)), self.delta
        if cost.delta:
            delta = SUMS.add(delta, printed(cost.delta))
        return Spent(amount, delta, self.charges + 1)


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
        if cost.amount and total.amount > printed(self.limit):
            raise _exceeded(self.unit, self.limit, spent.amount, cost.amount)
        if cost.delta and total.delta > printed(self.delta):
            raise _exceeded("delta", self.delta, spent.delta, cost.delta)
        return total

    def text(self, spent: Spent) -> str:
        """What is spent and what is left, for a repr."""
        pairs = [("", self.limit, spent.amount)]
        if self.delta > 0.0:
            pairs.append(("_delta", self.delta, spent.delta))
        parts = []
        for kind, limit, amount in pairs:
            parts.append(f"spent{kind}={amounts.up(Fraction(amount))!r}")
            parts.append(f"remaining{kind}={rest(limit, amount)!r}")
        return ", ".join(parts)


def terms_of(
    epsilon: float | None, delta: float, rho: float | None, neighbors: str
) -> Terms | None:
    """The terms of public arguments; None if there is no amount."""
    if epsilon is not None and rho is not None:
        raise ParameterError("either epsilon or rho must be given, not both")
    slack = validate.fraction("delta", delta)
    if slack == 1.0:
        raise ParameterError("delta must be in [0, 1), got 1.0")
    if slack > 0.0 and epsilon is None:
        raise ParameterError("delta must be given with epsilon")
    if epsilon is not None:
        return Terms("epsilon", validate.positive("epsilon", epsilon), abs(slack), neighbors)
    return None if rho is None else Terms("rho", validate.positive("rho", rho), 0.0, neighbors)


def _exceeded(unit: str, limit: float, spent: Decimal, cost: float) -> BudgetExceeded:
    return BudgetExceeded(
        f"the release costs {cost!r} of {unit}, but of the budget of {limit!r} only "
        f"{rest(limit, spent)!r} remains; nothing was drawn or charged"
    )


def rest(limit: float, spent: Decimal) -> float:
    """What is left of a limit, rounded down."""
    return amounts.down(max(amounts.exact(limit) - Fraction(spent), Fraction(0)))
