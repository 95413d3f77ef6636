"""A call by group as far as it is public: files are opened, no record is looked at."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from ..grouped.request import Request
from ..privacy import Guarantee
from . import grouped_draws, grouped_kinds, grouped_memory, public_list
from .errors import UserMistake
from .grouped_key import read_key
from .grouped_keys import Found, Keys, Listed
from .grouped_records import Records, Table
from .grouped_rows import Rows

ONE_DRAW = 64  # bytes of a simulated draw, as it is printed


class Call:
    """What is asked, of which rows.

    Parameters
    ----------
    options : Namespace
        Of the command line, checked.
    made : Median, Quantile, Price or MostCommon
        The mechanism.

    Attributes
    ----------
    mechanism
        With candidates as the column's values are.
    rows : Rows
    how : How
    promise : Guarantee
        Of the whole call.
    names : Names or None
        The list; None: from the data.
    """

    def __init__(self, options: Namespace, made: Any) -> None:
        self.from_data = options.groups == public_list.FROM_DATA
        where = options.delimiter, options.by, options.file
        groups_kind = public_list.GROUPS
        found = None if self.from_data else public_list.listed(groups_kind, options.groups, *where)
        self.source = "" if found is None else found.source
        key = None if options.key is None else read_key(options.key)
        table = Table(options.file, options.delimiter, options.column, options.by, options.person)
        records = Records(table, made, getattr(options, "nan", "drop"))
        self.mechanism = records.mechanism
        kind = table.kinds[1]
        self.names = None if found is None else grouped_kinds.names_for(found, kind, options.by)
        groups: Keys = Found("--by", kind is None) if self.names is None else Listed(self.names)
        self.people = None if options.person is None else Found("--person", kind is None)
        self.rows = Rows(table, records, groups, self.people)
        self.limits = options.max_groups or 1, options.max_rows or 1
        self.membership = options.membership or "private"
        self.promise: Guarantee = self.mechanism.total(**self.charged)
        self.memory = options.memory or grouped_memory.free()
        label = f"{options.column} by {options.by}" if options.label is None else options.label
        simulated = options.draws is not None
        seed = grouped_draws.simulation(options.seed) if simulated else None
        draws, threads = options.draws or 1, 1 if options.threads is None else options.threads
        listed = public_list.FROM_DATA if self.names is None else self.names
        asked = Request(options.by, listed, None, options.person, *self.limits)
        rule = asked.rule(getattr(options, "nan", "drop"))
        self.how = grouped_draws.How(key, label, seed, draws, threads, self.limits, rule)
        if simulated and self.names is not None:
            self.check_draws(self.names.size)

    @property
    def charged(self) -> dict[str, Any]:
        """What a budget is charged for, as `total` takes it."""
        most, each = self.limits
        return {
            "groups": True,
            "max_groups": most,
            "max_rows": each,
            "membership": self.membership,
        }

    def check_draws(self, groups: int) -> None:
        """Refuse more draws than there is memory for."""
        if not self.how.is_release and groups * self.how.draws * ONE_DRAW > self.memory:
            raise UserMistake("so many draws of so many groups do not fit into memory (--memory)")
