"""What was charged, in order, and what became of each release that has a label."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .terms import Cost, Spent

CHARGED, OPEN, ANSWERED, USED_UP = "charged", "open", "answered", "failed"  # states of a charge


class Entry(NamedTuple):
    """What is charged and for what; all of it is public."""

    cost: Cost
    name: str | None = None  # of the mechanisms
    about: str | None = None  # the question in words
    note: str | None = None  # the user's words
    label: str | None = None
    question: str = ""  # of a label: the digest of its question


class Outcome(NamedTuple):
    """The answers of a label, here or in a file of their own; with neither, its failure."""

    label: str
    text: str | None = None  # of the answers, as `answer_text` writes them
    beside: tuple[str, str] | None = None  # digest and key of the file that has the text


class Charge(NamedTuple):
    """An entry that was charged, and what became of it."""

    entry: Entry
    time: str
    spent: Spent  # by this charge and all earlier ones
    outcome: Outcome | None = None

    @property
    def state(self) -> str:
        """Whether there is a label, and answers under it."""
        if self.entry.label is None:
            return CHARGED
        if self.outcome is None:
            return OPEN
        return USED_UP if self.outcome[1:] == (None, None) else ANSWERED


@dataclass
class History:
    """All charges. A step takes effect by one assignment, whatever interrupts it."""

    charges: list[Charge] = field(default_factory=list)
    labels: dict[str | None, int] = field(default_factory=dict)  # places in `charges`, or beyond

    def copy(self) -> History:
        """Another history that begins with the same charges."""
        return History(self.charges.copy(), self.labels.copy())

    @property
    def spent(self) -> Spent:
        """The sum of all charges."""
        return self.charges[-1].spent if self.charges else Spent()

    def of(self, label: str | None) -> Charge | None:
        """The charge under a label."""
        place = self.labels.get(label)
        if place is None or place >= len(self.charges):  # it was interrupted before the charge
            return None
        charge = self.charges[place]
        return charge if charge.entry.label == label else None

    def add(self, step: Entry | Outcome, time: str) -> Charge:
        """The charge of a new entry, or that which has this outcome; ValueError if neither."""
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
