"""The keyword arguments that the verbs of records share, for type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from .._randomness.release_key import ReleaseKey
    from .._typing import ArrayLike, Membership, Method, Missing, NaN, RNGLike, SeedLike
    from ..budget.budget import Budget


class Simulation(TypedDict, total=False):
    """Options of every `sample`."""

    rng: SeedLike | RNGLike | None
    streams: ArrayLike | None
    threads: int


class KernelSimulation(Simulation, total=False):
    """Options of a `sample` by one of two kernels."""

    method: Method | None


class UtilitySimulation(KernelSimulation, total=False):
    """Options of a `sample` from utilities."""

    nan: NaN


class BitSimulation(Simulation, total=False):
    """Options of a `sample` of bits."""

    method: Literal["flips"] | None


class NumberReading(TypedDict, total=False):
    """Options for reading records that are numbers."""

    nan: Missing
    assume_sorted: bool


class NoisySimulation(Simulation, NumberReading, total=False):
    """Options of a `sample` of a statistic with float noise."""


class Persons(TypedDict, total=False):
    """Options for the persons of records, and for groups by offsets."""

    offsets: object
    person: object
    max_groups: int
    max_rows: int


class GroupedRelease(Persons, total=False):
    """Options of a release by group."""

    disjoint: bool
    membership: Membership
    key: ReleaseKey | None
    label: str | None
    budget: Budget | None
    threads: int


class GroupedSample(Persons, KernelSimulation, total=False):
    """Options of simulated draws by group."""


class CountReleaseOptions(GroupedRelease, total=False):
    """Options for records of candidates."""

    nan: NaN


class CountSampleOptions(GroupedSample, total=False):
    """Options for records of candidates."""

    nan: NaN


class NumberReleaseOptions(GroupedRelease, NumberReading, total=False):
    """Options for records that are numbers."""


class LawReading(TypedDict, total=False):
    """Options of a `law`, if it has them."""

    nan: str
    assume_sorted: bool


class NumberSampleOptions(GroupedSample, NumberReading, total=False):
    """Options for records that are numbers."""
