"""The answers that a call asks for, and the promise of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

from ..errors import ParameterError, ParameterTypeError
from ..mechanisms.candidates import MostCommon
from ..mechanisms.numbers import NumberMechanism
from ..mechanisms.price import Price
from ..parameters import checks
from ..privacy.composition import group, sequential
from ..privacy.guarantee import Guarantee, times
from ..types import Neighbors, Relation
from .private_groups import PrivateGroups

FORM = (
    "answers must be a dict from the name of each answer to its mechanism and the column of its "
    'records, as {"median": (fx.Median(...), "rent")}'
)
MOST = 62
NAN = "raise", "drop", "lower", "upper"
ONE_STEP = "adding or removing a record costs no more than replacing one"
RATHER = "one person is one record; "
CLAIM = "you claim, and nothing checks, that each person has"


class Asked(NamedTuple):
    """One answer: its name, its mechanism, the column of its records, what missing ones mean."""

    name: str
    mechanism: NumberMechanism | MostCommon
    column: str
    nan: str

    @property
    def reading(self) -> tuple[str, Any, Any]:
        """What is read: answers with equal ones share it."""
        names = getattr(self.mechanism, "_names", None)
        return self.column, names and names.keys, self.mechanism._times

    @property
    def parts(self) -> tuple[Any, ...]:
        """All that the answer depends on, in plain values."""
        public: Any = self.mechanism
        values = tuple(getattr(public, field.name) for field in fields(public) if field.init)
        return self.name, type(public).__name__, values, self.column, self.nan

    @property
    def has_loss(self) -> bool:
        """Whether it is judged by its loss of utility, not by its error."""
        return isinstance(self.mechanism, (MostCommon, Price))

    @property
    def relation(self) -> Relation:
        """The relation of the promise."""
        stated: Relation = getattr(self.mechanism, "neighbors", "both")
        return stated


class Limits(NamedTuple):
    """What a promise depends on beside the mechanisms."""

    is_grouped: bool
    private: PrivateGroups | None
    has_persons: bool
    max_groups: int
    max_rows: int
    is_public: bool  # whether each person's group is


def column_name(argument: str, name: object) -> str:
    """Return the name of a column."""
    if not isinstance(name, str) or not name:
        raise ParameterTypeError(f"{argument} must be the name of a column, got {name!r}")
    return name


def read_answers(answers: object, nan: object, taken: tuple[str, ...]) -> list[Asked]:
    """Check the answers of a call; their names must not be among those that are taken."""
    if not isinstance(answers, Mapping):
        raise ParameterTypeError(f"{FORM}, got {type(answers).__name__}")
    checks.whole("the number of answers", len(answers), 1, MOST)
    policies = dict(nan) if isinstance(nan, Mapping) else dict.fromkeys(answers, nan)
    if policies.keys() - answers.keys():
        raise ParameterError("nan must be for names of answers")
    asked = []
    for name, pair in answers.items():
        column_name("the name of an answer", name)
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ParameterTypeError(f"{FORM}; answer {name!r} is no such pair")
        mechanism, column = pair
        if not isinstance(mechanism, (NumberMechanism, MostCommon)):
            kind = type(mechanism).__name__
            raise ParameterTypeError(
                f"answer {name!r} must have a mechanism of numbers, such as Median, Quantiles or "
                f"Price, or MostCommon, got {kind}"
            )
        if name in taken:
            raise ParameterError(f"answers must not have the name of a column of by, got {name!r}")
        policy = checks.choice("nan", policies.get(name, "raise"), NAN)
        asked.append(Asked(name, mechanism, column_name("column", column), policy))
    if len({each.relation for each in asked} - {"both"}) > 1:
        raise ParameterError(
            "answers must have promises for the same neighbors: ask for them in two calls"
        )
    return asked


def promise(limits: Limits, asked: list[Asked], neighbors: Neighbors | None) -> Guarantee:
    """Return the promise of a whole call under a relation; default: that of the answers."""
    stated = {each.relation for each in asked} - {"both"}
    relation: Any = neighbors or (stated.pop() if stated else "add-remove")
    promises = [_total(each.mechanism.guarantee, limits, relation) for each in asked]
    if limits.private is not None:
        promises.append(_appearance(limits.private, limits, relation))
    return promises[0] if len(promises) == 1 else sequential(promises)


def _total(one: Guarantee, limits: Limits, relation: Neighbors) -> Guarantee:
    """Return the promise of one answer of all groups, from that of one record and one group.

    A person who is added or removed changes max_groups groups by max_rows records each. One who is
    replaced does so twice: in 2 * max_groups groups, or in max_groups of them, where records are
    replaced. If the promise is for add-remove, both may be the same groups: twice the steps.
    """
    most, rows = limits.max_groups, limits.max_rows
    moved = one.under(relation)
    text = one.assumes
    if relation == "replace" and one.neighbors == "add-remove":
        moved, draws = replace(group(one, 2 * rows), neighbors=relation), most
    else:
        may_move = (limits.is_grouped and not limits.is_public) or rows > 1
        draws = most * (2 if relation == "replace" and may_move else 1)
        moved = group(moved, rows)
        if draws > most and one.neighbors == "replace":
            text += f"; {ONE_STEP}"
    if limits.has_persons or most > 1 or rows > 1:
        who = "each person counts with" if limits.has_persons else CLAIM
        groups = f" in each of at most {most} group{'s' * (most > 1)}" if limits.is_grouped else ""
        text = f"{who} at most {rows} row{'s' * (rows > 1)}{groups}; {text.removeprefix(RATHER)}"
    if limits.has_persons:  # which rows of others count is a mixture, whose range may be larger
        moved = replace(moved, bounded_range=None)
    return _times(replace(moved, assumes=text), draws)


def _appearance(private: PrivateGroups, limits: Limits, relation: Neighbors) -> Guarantee:
    """Return the promise of which groups appear.

    Without persons max_rows is a claim about all data: they may lie in as many groups.
    """
    changed = limits.max_groups * (1 if limits.has_persons else limits.max_rows)
    return _times(private.guarantee.under(relation), changed * (2 if relation == "replace" else 1))


def _times(one: Guarantee, count: int) -> Guarantee:
    """Return the promise of `count` groups that change."""
    width = one.bounded_range
    return replace(
        one,
        epsilon=times(one.epsilon, count),
        bounded_range=None if width is None else times(width, count),
        rho=times(one.rho, count),
        delta=min(1.0, times(one.delta, count)),
    )
