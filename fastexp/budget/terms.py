"""The terms of a budget, its charges in order, and the check that the rest covers a release."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Context, Decimal, Inexact, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

from .._parameters import validate
from .._typing import Neighbors
from ..errors import BudgetExceeded, ParameterError
from ..privacy import Guarantee, amounts

# Sums of decimals are exact, as doubles span 633 digits (an inexact sum would raise), and four
# times as fast as sums of fractions.
SUMS = Context(prec=1000, Emin=-9999, Emax=9999, traps=[Inexact, InvalidOperation])
CHARGED, OPEN, ANSWERED, USED_UP = "charged", "open", "answered", "failed"  # states of a charge
Unit = Literal["epsilon", "rho"]


@lru_cache(maxsize=256)  # few amounts recur
def printed(number: float) -> Decimal:
    """Return the decimal that a finite amount prints, which is what it stands for."""
    return Decimal(float.__repr__(number))


class Cost(NamedTuple):
    """The cost of a release: epsilon or rho, and delta."""

    amount: float
    delta: float


class Spent(NamedTuple):
    """The exact cost of several releases."""

    amount: Decimal = Decimal(0)
    delta: Decimal = Decimal(0)

    def with_one(self, cost: Cost) -> Spent:
        """Return the sum with one more charge."""
        amount, delta = SUMS.add(self.amount, printed(cost.amount)), self.delta
        if cost.delta:
            delta = SUMS.add(delta, printed(cost.delta))
        return Spent(amount, delta)


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a budget, fixed when it is made."""

    unit: Unit
    limit: float
    delta: float
    neighbors: Neighbors

    def cost(self, guarantee: Guarantee) -> Cost:
        """Return the cost of a promise, in this unit and relation."""
        promise = guarantee.under(self.neighbors)
        if self.unit == "rho":
            amount, delta = promise.rho, 0.0
        else:
            amount, delta = promise.epsilon, promise.delta
        if delta > 0.0 and self.delta == 0.0:
            other = "" if promise.rho is None else " or Budget(rho=...)"
            raise ParameterError(
                "a budget of epsilon alone takes only promises without delta, got one with delta "
                f"> 0; use Budget(epsilon=..., delta=...){other}"
            )
        if amount is None:
            budget = "rho=..." if self.unit == "epsilon" else "epsilon=..., delta=..."
            raise ParameterError(
                f"a budget of {self.unit} takes only promises that have one, got one without; "
                f"use Budget({budget})"
            )
        if amount == math.inf:
            raise BudgetExceeded(f"the release costs more {self.unit} than any budget has")
        return Cost(amount, delta)

    def check(self, spent: Spent, cost: Cost) -> None:
        """Raise BudgetExceeded if a release costs more than remains."""
        for unit, limit, before, price in (
            (self.unit, self.limit, spent.amount, cost.amount),
            ("delta", self.delta, spent.delta, cost.delta),
        ):
            if price and SUMS.add(before, printed(price)) > printed(limit):
                raise BudgetExceeded(
                    f"the release costs {price!r} of {unit}, but only {rest(limit, before)!r} of "
                    f"the budget of {limit!r} remains; nothing was drawn or charged"
                )


def terms_of(
    epsilon: float | None, delta: float, rho: float | None, neighbors: Neighbors
) -> Terms | None:
    """Return the terms of public arguments; None if there is no amount."""
    if epsilon is not None and rho is not None:
        raise ParameterError("either epsilon or rho must be given, not both")
    slack = validate.delta(delta)
    if slack > 0.0 and epsilon is None:
        raise ParameterError("delta must be given with epsilon")
    if epsilon is not None:
        return Terms("epsilon", validate.positive("epsilon", epsilon), abs(slack), neighbors)
    return None if rho is None else Terms("rho", validate.positive("rho", rho), 0.0, neighbors)


def rest(limit: float, spent: Decimal) -> float:
    """Return what remains of a limit, rounded down."""
    return amounts.down(max(amounts.exact(limit) - Fraction(spent), Fraction(0)))


class Entry(NamedTuple):
    """A charge to be made: the amount and its purpose, all of it public."""

    cost: Cost
    name: str | None = None  # of the mechanisms
    about: str | None = None  # the question in words
    note: str | None = None  # by the user
    label: str | None = None
    question: str = ""  # the digest of the question under a label


class Outcome(NamedTuple):
    """The answers of a label, here or in a separate file; with neither, its failure."""

    label: str
    text: str | None = None  # of the answers, as `answer_text` writes them
    beside: tuple[str, str] | None = None  # digest and key of the file that has the text


class Charge(NamedTuple):
    """An entry that was charged, and its outcome."""

    entry: Entry
    time: str
    spent: Spent  # by this charge and all earlier ones
    outcome: Outcome | None = None

    @property
    def state(self) -> str:
        """Return the state: by whether there is a label, and an outcome under it."""
        if self.entry.label is None:
            return CHARGED
        if self.outcome is None:
            return OPEN
        return USED_UP if self.outcome[1:] == (None, None) else ANSWERED


@dataclass
class History:
    """All charges. A step takes effect by one assignment, so that no interrupt splits it."""

    charges: list[Charge] = field(default_factory=list)
    labels: dict[str | None, int] = field(default_factory=dict)  # index in `charges`, or beyond it

    @property
    def spent(self) -> Spent:
        """The sum of all charges."""
        return self.charges[-1].spent if self.charges else Spent()

    def of(self, label: str | None) -> Charge | None:
        """Return the charge under a label."""
        place = self.labels.get(label)
        if place is None or place >= len(self.charges):  # an interrupt came before the charge
            return None
        charge = self.charges[place]
        return charge if charge.entry.label == label else None

    def add(self, step: Entry | Outcome, time: str) -> Charge:
        """Add a step, and return its charge; ValueError if its label does not allow it."""
        if isinstance(step, Outcome):
            known = self.of(step.label)
            if known is None or known.state != OPEN:
                raise ValueError
            charge = known._replace(outcome=step)
            self.charges[self.labels[step.label]] = charge
            return charge
        charge = Charge(step, time, self.spent.with_one(step.cost))
        if step.label is not None:
            if self.of(step.label) is not None:
                raise ValueError
            self.labels[step.label] = len(self.charges)
        self.charges.append(charge)
        return charge
