"""Types for type checkers: of frames, of the frames of answers, and of the options of queries.

Frames are known by their attributes, so that no engine need be installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict, TypeVar

if TYPE_CHECKING:
    from .._randomness.release_key import ReleaseKey
    from .._typing import Missing, RNGLike, SeedLike
    from ..budget.budget import Budget

File: TypeAlias = str | PathLike[str]


class _Columns(Protocol):
    """A frame of an engine."""

    @property
    def columns(self) -> Any: ...


class _Batch(Protocol):
    """A batch of Arrow data."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


class _Stream(Protocol):
    """A stream of Arrow data."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class _Batches(Protocol):
    """A data set or scanner of pyarrow."""

    def to_batches(self) -> Any: ...


FrameT = TypeVar("FrameT", bound=_Columns)
TableInput: TypeAlias = File | Sequence[File] | _Batch  # answers are a table
Stream: TypeAlias = _Stream | _Batches  # for these, too, unless they are frames


class CommonOptions(TypedDict, total=False):
    """Options of every call."""

    nan: Missing | Mapping[str, Missing]
    threads: int
    memory: int | str | None
    temp: File | None


class ReleaseOptions(CommonOptions, total=False):
    """Options of a release."""

    budget: Budget | None
    key: ReleaseKey | None
    label: str | None
    note: str | None
    output: File | None
    force: bool
    expand: bool


class SampleOptions(CommonOptions, total=False):
    """Options of a sample."""

    size: int | None
    rng: SeedLike | RNGLike | None
    expand: bool


class AccuracyOptions(CommonOptions, total=False):
    """Options of figures of accuracy."""

    probability: float
    rng: SeedLike | RNGLike | None
