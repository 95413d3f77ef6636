"""The keyword arguments that the verbs of records share, for type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from ._mechanism import Simulation

if TYPE_CHECKING:
    from .._randomness.release_key import ReleaseKey
    from .._typing import Membership, Method, Missing, NaN
    from ..budget.budget import Budget


class Persons(TypedDict, total=False):
    """Whose records they are, and which lie together."""

    offsets: object
    person: object
    max_groups: int
    max_rows: int


class GroupedRelease(Persons, total=False):
    """Of a release by group."""

    disjoint: bool
    membership: Membership
    key: ReleaseKey | None
    label: str | None
    budget: Budget | None
    threads: int


class GroupedSample(Persons, Simulation, total=False):
    """Of simulated draws by group."""

    method: Method | None


class CountReleaseOptions(GroupedRelease, total=False):
    """Of records of candidates."""

    nan: NaN


class CountSampleOptions(GroupedSample, total=False):
    """Of records of candidates."""

    nan: NaN


class NumberReleaseOptions(GroupedRelease, total=False):
    """Of records that are numbers."""

    nan: Missing
    assume_sorted: bool


class NumberSampleOptions(GroupedSample, total=False):
    """Of records that are numbers."""

    nan: Missing
    assume_sorted: bool
