"""The groups, persons and limits of a query, and the Protocols of its calls."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from ..._compiler.rounding import check_rounding
from ..._keys.group_names import Names
from ..._parameters import validate
from ..._typing import AnyArray, IntArray, Membership
from ...errors import ParameterError
from ...grouped.private_groups import PrivateGroups
from ...grouped.request import checked_membership
from ...pictures.cards import Card, HtmlRepr
from .answers import Answer, column_name
from .groups import groups_of

if TYPE_CHECKING:
    from ..._numbers.rank import RankStatistic
    from ...grouped.segments import Segments
    from ...grouped.words import WordSource
    from ..engines.frame import ColumnReads

Draw: TypeAlias = Callable[[], list[Any]]  # reads the rows, and draws
Check: TypeAlias = Callable[[], None]  # refuses mistakes before the charge


@dataclass(frozen=True, repr=False)
class Scope(HtmlRepr):
    """The groups that are answered, the persons of rows, and the limits of each person.

    `Query` adds the verbs, and documents the parameters.
    """

    by: tuple[str, ...]
    groups: Names | None  # None: groups from the data
    private: PrivateGroups | None  # the rule by which these appear; None: all of them do
    person: str | None
    max_groups: int
    max_rows: int
    membership: Membership

    def __init__(
        self,
        by: object = None,
        groups: object = None,
        person: str | None = None,
        max_groups: int = 1,
        max_rows: int = 1,
        membership: Membership = "private",
    ) -> None:
        check_rounding()
        put = object.__setattr__
        columns = _columns(by)
        put(self, "by", columns)
        person_column = None if person is None else column_name("person", person)
        put(self, "person", person_column)
        put(self, "max_groups", validate.counting("max_groups", max_groups))
        put(self, "max_rows", validate.counting("max_rows", max_rows))
        put(self, "membership", checked_membership(membership, person_column))
        if columns and groups is None:
            raise ParameterError(
                "groups must be given with by: the public list of groups to answer. Which groups "
                'exist in the data is private (groups="from-data" reveals it, with a warning)'
            )
        if not columns and (groups is not None or self.max_groups > 1):
            raise ParameterError("groups and max_groups need by, the columns of groups")
        group_choice = groups_of(groups, columns) if columns else None
        private = group_choice if isinstance(group_choice, PrivateGroups) else None
        put(self, "private", private)
        put(self, "groups", None if isinstance(group_choice, PrivateGroups) else group_choice)
        if private is not None and self.membership == "public":
            raise ParameterError('private groups need by, and membership="private"')

    __init__.__qualname__ = "Query.__init__"  # the name in the TypeError of a wrong call

    def __repr__(self) -> str:
        parts = []
        if self.by:
            groups = "'from-data'" if self.private is None else repr(self.private)
            groups = groups if self.groups is None else f"<{self.groups.size} groups>"
            parts += [f"by={list(self.by)!r}", f"groups={groups}"]
        if self.person is not None:
            parts.append(f"person={self.person!r}")
        parts += [
            f"{name}={most}"
            for name in ("max_groups", "max_rows")
            if (most := getattr(self, name)) != 1
        ]
        if self.membership != "private":
            parts.append(f"membership={self.membership!r}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _card(self) -> Card:
        groups: str | int = "from the data" if self.private is None else "private"
        groups = groups if self.groups is None else self.groups.size
        facts = [
            ("by", self.by or "all rows are one group"),
            ("groups", groups if self.by else None),
            ("person", self.person or "each row is one"),
            ("groups of a person, at most", self.max_groups),
            ("rows of a person in a group, at most", self.max_rows),
            ("membership", self.membership),
        ]
        return Card(f"{type(self).__name__}: which groups are answered, and whose a row is", facts)


def of_groups(scope: Scope, groups: Names) -> Scope:
    """Return the same scope, with these groups."""
    listed_scope = copy(scope)
    object.__setattr__(listed_scope, "groups", groups)
    return listed_scope


class Results:
    """The results of each group, draws or figures, in arrays with one entry for each group."""

    arrays: list[AnyArray]

    def draw(self, answers: list[int], segments: Segments, names: Names, first: int = 0) -> None:
        """Compute these answers from the same segments; `first` is the index of the first group."""
        raise NotImplementedError

    def ranks(self, answers: list[int]) -> RankStatistic | None:  # noqa: ARG002  # draws use it
        """The statistic around whose ranks these answers need records; None if they need all."""
        return None

    def put(self, answer: int, group: int, index: Any, records: int = 1) -> None:
        """Store a draw of a release that was made elsewhere, from this number of records."""
        raise NotImplementedError

    def answers(self, order: IntArray | None) -> list[Any]:
        """The results of each answer, for the groups in this order; None: as they are stored."""
        raise NotImplementedError

    def columns(self) -> list[AnyArray]:
        """All results in 64-bit columns: one column for each number of a group."""
        pairs = [(array, i) for array in self.arrays for i in np.ndindex(array.shape[1:])]
        return [array[(slice(None), *i)] for array, i in pairs]

    def put_columns(self, groups: IntArray, columns: list[IntArray]) -> None:
        """Store for these groups what `columns` gave, bit by bit."""
        for mine, column in zip(self.columns(), columns, strict=True):
            mine[groups] = column.view(mine.dtype)


class CoreCall(Protocol):
    """What every call has, in this process or on an engine's workers."""

    query: Scope
    answers: tuple[Answer, ...]
    uses: ColumnReads  # the columns that are read
    threads: int
    size: int | None
    released: bool
    fresh: bool  # whether the random words of answers are fresh: nobody can repeat them

    def words(self, answer: Answer, names: Names) -> WordSource:
        """The random words of groups, for an answer."""
        ...

    def choice(self, answer: Answer) -> bytes:
        """The key of the hash that chooses among too many rows of a person."""
        ...

    def results(self, groups: int) -> Results:
        """Empty results for this number of groups."""
        ...


class Call(CoreCall, Protocol):
    """A call in this process: what differs between releases and samples."""

    def charge_and_draw(self, draw: Draw, check: Check) -> list[Any]:
        """Return what `draw` returns, or answers that were kept; `check` refuses mistakes first."""
        ...

    def for_workers(self, query: Scope) -> CoreCall:
        """The call for an engine's workers; `query` is the same query, with the groups to draw."""
        ...


def _columns(by: object) -> tuple[str, ...]:
    if by is None:
        return ()
    names = (by,) if isinstance(by, str) else validate.items("by", by, 100)
    columns = tuple(column_name("by", name) for name in names)
    if not columns:
        raise ParameterError("by must name a column, or be None: all rows are one group")
    for i, name in enumerate(columns):
        if name in columns[:i]:
            raise ParameterError(f"by must name each column once, got {name!r} twice")
    return columns
