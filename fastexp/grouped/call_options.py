"""The options of a call, passed whole from the public verb to the question of a budget."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._parameters import validate


class CallOptions(NamedTuple):
    """The options of `release`, and those that `sample` shares with it: as given, then checked."""

    by: Any = None
    groups: Any = None
    offsets: Any = None
    person: Any = None
    max_groups: Any = 1
    max_rows: Any = 1
    disjoint: Any = False
    membership: Any = "private"
    key: Any = None
    label: Any = None
    budget: Any = None
    threads: Any = 1
    nan: Any = "raise"
    assume_sorted: Any = False

    @property
    def is_grouped(self) -> bool:
        """Whether this is a call by group."""
        return not (self.by is self.groups is self.offsets is self.person is None)

    @property
    def is_of_persons(self) -> bool:
        """Whether the call has groups, limits of persons or a key, and so is about records."""
        limits_are_1 = type(self.max_groups) is type(self.max_rows) is int and self[4:6] == (1, 1)
        return self.is_grouped or not limits_are_1 or self.key is not None

    def checked(self) -> CallOptions:
        """Validate the options that need neither the mechanism nor the list of groups."""
        return self._replace(
            disjoint=validate.flag("disjoint", self.disjoint),
            membership=validate.choice("membership", self.membership, ("private", "public")),
            threads=validate.threads(self.threads),
            assume_sorted=validate.flag("assume_sorted", self.assume_sorted),
        )


DEFAULTS = CallOptions()
