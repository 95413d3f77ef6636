"""A call by group as far as it is public, and how its file is opened."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from .._question import Question
from ..grouped.request import Request, checked_membership
from ..query import memory
from . import grouped_draws, grouped_kinds, public_list
from .errors import UserMistake
from .grouped_key import read_key
from .grouped_keys import Found, Keys, Listed
from .grouped_records import Records, Table
from .grouped_rows import Batch, Rows

ONE_DRAW = 64  # bytes of a simulated draw, as it is printed


class Call:
    """What is asked; once it is open, of which rows.

    Parameters
    ----------
    options : Namespace
        Of the command line, checked.
    made : Median, Quantile, Price or MostCommon
        The mechanism.

    Attributes
    ----------
    mechanism
        Once it is open, with candidates as the column's values are.
    rows : Rows
    people : Found or None
    how : How
        Its rule is known once it is open.
    question : Question
        Public.
    labels : list or None
        The list; None: from the data.
    """

    rows: Rows
    people: Found | None

    def __init__(self, options: Namespace, made: Any) -> None:
        self.from_data = options.groups == public_list.FROM_DATA
        where = options.delimiter, options.by, options.file
        groups_kind = public_list.GROUPS
        found = None if self.from_data else public_list.listed(groups_kind, options.groups, *where)
        self.source = "" if found is None else found.source
        self.labels = None if found is None else found.labels
        key = None if options.key is None else read_key(options.key)
        self.mechanism, self._options, self._listed = made, options, found
        self.limits = options.max_groups or 1, options.max_rows or 1
        self.membership = checked_membership(options.membership or "private", options.person)
        self.nan = getattr(options, "nan", "drop")
        self.memory = options.memory or memory.free()
        label = f"{options.column} by {options.by}" if options.label is None else options.label
        simulated = options.draws is not None
        seed = grouped_draws.simulation(options.seed) if simulated else None
        draws, threads = options.draws or 1, 1 if options.threads is None else options.threads
        self.how = grouped_draws.How(key, label, seed, draws, threads, self.limits, "")
        self.question = self._question(options)
        self.promise = self.question.promise()
        if simulated and self.labels is not None:
            self.check_draws(len(self.labels))

    def _question(self, options: Namespace) -> Question:
        columns = options.column, options.by, options.person
        form = "groups", *columns, self.nan, tuple(self.labels or ())
        most, each = self.limits
        return Question(
            self.mechanism,
            groups=True,
            membership=self.membership,
            max_groups=most,
            max_rows=each,
            form=form,
        )

    def open(self) -> Iterator[Batch]:
        """The rows of FILE; its columns are there, and no record was looked at yet."""
        options, listed = self._options, self._listed
        table = Table(options.file, options.delimiter, options.column, options.by, options.person)
        records = Records(table, self.mechanism, self.nan)
        self.mechanism, kind = records.mechanism, table.kinds[1]
        names = None if listed is None else grouped_kinds.names_for(listed, kind, options.by)
        groups: Keys = Found("--by", kind is None) if names is None else Listed(names)
        self.people = None if options.person is None else Found("--person", kind is None)
        self.rows = Rows(table, records, groups, self.people)
        groups_listed = public_list.FROM_DATA if names is None else names
        asked = Request(options.by, groups_listed, None, options.person, *self.limits)
        self.how = self.how._replace(rule=asked.rule(self.nan))
        batches = iter(self.rows)
        next(batches)  # the header row
        return batches

    def check_draws(self, groups: int) -> None:
        """Refuse more draws than there is memory for."""
        if not self.how.is_release and groups * self.how.draws * ONE_DRAW > self.memory:
            raise UserMistake("so many draws of so many groups do not fit into memory (--memory)")
