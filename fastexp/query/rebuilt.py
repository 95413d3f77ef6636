"""Arguments of a session's callers, built anew from plain values.

What is built here has no overwritten parameters, no methods of subclasses and no objects that
change while they are read. It is built before a record is in reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from .._keys.group_names import KeyNames, TupleNames
from .._parameters.digits import DigitGrid, digits
from .._parameters.grid import Grid
from ..errors import ParameterError, ParameterTypeError
from ..grouped.mechanism import GroupedMechanism
from ..grouped.private_groups import PrivateGroups
from ..mechanisms._counting import CountingMechanism
from ..mechanisms._several import JointMechanism
from ..mechanisms.table import TABLE
from .query import Query

MECHANISMS: dict[str, Any] = {row.name: row.kind for row in TABLE.values() if row.grouped}
PLAIN = (bool, int, float, str, Decimal, date, np.datetime64)  # immutable types
ANSWERS = (
    "answers must be a dict from names (text) to pairs: a mechanism and the column of its records, "
    "or the name of a score and an epsilon"
)
MAX_QUANTILES = 32  # in one draw, which takes some 0.1 s for few records
LIMITS = {"person": None, "max_groups": 1, "max_rows": 1, "membership": "private"}
STATED = f"query must have only by and groups: {', '.join(LIMITS)} belong to the session"
LISTED = 'query must have a public list of groups: groups="from-data" reveals groups of the records'
NAN = ("drop", "lower", "upper")


def is_exactly(value: object, *kinds: type) -> bool:
    """Whether a value is of one of these types, and not of a subclass.

    Types are compared by identity: a metaclass can say that its class equals any other.
    """
    return any(type(value) is kind for kind in kinds)


def answer_pairs(answers: Any) -> dict[str, tuple[Any, Any]]:
    """Return the pair of each answer, by name; refuse other forms."""
    if not is_exactly(answers, dict):
        raise ParameterTypeError(ANSWERS)
    pairs = {}
    for name, answer in answers.copy().items():
        pair = tuple(answer) if is_exactly(answer, tuple, list) else ()
        if not is_exactly(name, str) or len(pair) != 2:
            raise ParameterTypeError(ANSWERS)
        pairs[name] = pair
    return pairs


def mechanism_of(name: str, mechanism: object) -> GroupedMechanism:
    """Build a mechanism of fastexp's own, one of `MECHANISMS`, with the same public parameters.

    Other types are refused, subclasses too; `name` is that of the answer.
    """
    kind: Any = next((one for one in MECHANISMS.values() if type(mechanism) is one), None)
    if kind is None:
        raise ParameterTypeError(
            f"answer {name!r} must have a mechanism of fastexp's own "
            f"({', '.join(sorted(MECHANISMS))}; no subclass), or the name of a score"
        )
    public = [field.name for field in fields(kind) if field.init]
    built: GroupedMechanism = kind(
        **{item: plain(item, getattr(mechanism, item)) for item in public}
    )
    # A draw that takes seconds for few records reveals by its time whether a group has any.
    if isinstance(built, JointMechanism) and len(built.q) > MAX_QUANTILES:
        raise ParameterError(
            f"answer {name!r} must have at most {MAX_QUANTILES} quantiles in a session: fewer of "
            "them, or ApproximateQuantiles"
        )
    return built


def query_of(query: object, person: str | None, max_groups: int, max_rows: int) -> Query:
    """Build a query with the same groups and with these limits; None: all rows are one group.

    A query that states limits of its own or takes groups from the data is refused.
    """
    if query is None:
        return Query(person=person, max_rows=max_rows)
    if type(query) is not Query:
        raise ParameterTypeError("query must be a Query (no subclass), or None: all rows")
    for limit, default in LIMITS.items():
        stated = getattr(query, limit)
        if type(stated) is not type(default) or stated != default:
            raise ParameterError(STATED)
    by, groups = plain("by", query.by), query.groups
    if not by:
        return Query(person=person, max_rows=max_rows)
    if groups is None and type(query.private) is PrivateGroups:
        if person is None and max_rows > 1:  # the rows may be in as many groups
            raise ParameterError("private groups need person or max_rows=1 in a session")
        delta, epsilon = query.private.delta, query.private.epsilon
        private = PrivateGroups(plain("delta", delta), plain("epsilon", epsilon))
        return Query(by, private, person, max_groups, max_rows)
    if groups is None:
        raise ParameterError(LISTED)
    if type(groups) not in (KeyNames, TupleNames):
        raise ParameterTypeError("query must not be changed after it is created: create a new one")
    labels = [plain("groups", label) for label in groups.labels()]
    return Query(by, labels, person, max_groups, max_rows)


def policies_of(nan: Any, mechanisms: Mapping[str, GroupedMechanism]) -> dict[str, str]:
    """The treatment of missing records, by answer; refuse one that would reveal them."""
    is_fixed = {  # whether the number of records must be the same in neighbouring data
        name: not isinstance(mechanism, CountingMechanism)
        and mechanism.guarantee.neighbors == "replace"
        for name, mechanism in mechanisms.items()
    }
    policies = {name: "lower" if is_fixed[name] else "drop" for name in is_fixed}
    stated = nan.copy() if is_exactly(nan, dict) else dict.fromkeys(mechanisms, nan)
    for name, policy in stated.items() if nan is not None else ():
        if not is_exactly(name, str) or not is_exactly(policy, str) or policy not in NAN:
            raise ParameterError(f"nan must be one of {', '.join(map(repr, NAN))} in a session")
        if policy == "drop" and is_fixed.get(name):
            raise ParameterError(
                'nan must be "lower" or "upper" where neighbors="replace": the number of records '
                "is public there"
            )
        policies[name] = policy
    return policies


def plain(name: str, value: Any) -> Any:
    """Build a parameter from plain values; refuse what is, or holds, anything else."""
    if value is None or is_exactly(value, *PLAIN):
        return value
    if type(value) is Fraction:
        over, under = value.numerator, value.denominator
        if is_exactly(over, int) and is_exactly(under, int) and under > 0:
            return Fraction(over, under)
    if is_exactly(value, np.int64, np.float64):
        number: Any = value
        return number.item()
    if type(value) is tuple:
        return tuple(plain(name, item) for item in value)
    if type(value) is DigitGrid:
        return digits(**{key: plain(name, item) for key, item in value.table.items()})
    if type(value) is Grid:  # one without a list follows from bounds and step
        points = value.listing
        if points is None:
            return None
        if type(points) is np.ndarray and points.dtype.kind in "if":
            return points.copy()
    raise ParameterTypeError(f"{name} must be a number, text, or a tuple of these, of exact types")
