"""The interface of mechanisms in calls by group: the contract with queries and draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Hashable

    from .._intake.record_sources import RecordSource
    from .._numbers.rank import RankStatistic
    from .._typing import AnyArray, IntArray
    from ..privacy import Guarantee
    from .segments import Draws, Segments
    from .words import WordSource

AnswerKind: TypeAlias = Literal["integers", "floats", "text", "booleans"]
RecordReading: TypeAlias = Literal["doubles", "numbers", "integers", "booleans", "text"]


class GroupedMechanism(Protocol):
    """A mechanism that answers for each of many groups of records."""

    epsilon: float
    _measure: ClassVar[Literal["error", "loss"]]  # the measure of its accuracy

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one draw."""
        ...

    @property
    def _labels(self) -> tuple[Any, ...]:
        """The candidates; a mechanism of numbers has none."""
        return ()

    @property
    def _entries(self) -> tuple[str, ...]:
        """The names of the values of an answer that is a list; none if it is one value."""
        return ()

    @property
    def _ranks(self) -> RankStatistic | None:
        """The statistic whose draws read only records around its ranks; None: they read all."""
        return None

    def _policy(self, nan: object) -> str:
        """Return the checked policy for missing records."""
        ...

    def _reading(self) -> RecordReading:
        """Return the type that a file without types is read as; see `ColumnRead` of queries."""
        ...

    def _read_as(self, nan: str) -> Hashable:
        """Return a key that is equal for mechanisms to which `_read` gives equal values."""
        ...

    def _read(self, records: object, nan: str) -> tuple[AnyArray, AnyArray | None]:
        """Return records as float64 or int64, and a mask of the missing ones."""
        ...

    @property
    def _in_passes(self) -> bool:
        """Whether a release can go through the records in parts, holding few of them."""
        ...

    @property
    def _places(self) -> int:
        """The number of points or candidates."""
        ...

    def _place(self, values: AnyArray) -> IntArray:
        """Return the index of each value's grid point or candidate."""
        ...

    def _draws(self, segments: Segments, words: WordSource, size: int) -> Draws:
        """Return the draws of each segment."""
        ...

    def _exact(self, values: AnyArray) -> Any:
        """Return the exact law of a draw for records that `_read` gave."""
        ...

    def _streamed(self, records: AnyArray | RecordSource, threads: int) -> Any:
        """Draw once for all records that `_read` gave: an array, parts in passes, or counts.

        Counts are those of the indices that `_place` gave. The draw is None if this mechanism
        draws by group only, and so needs all records in memory.
        """
        ...

    def _answer(self, index: int | IntArray, released: bool) -> Any:
        """Return answers from draws: numbers of the grid, or candidates (for samples, indices).

        Answers that are lists have one more axis: for many groups the shape is (groups, entries).
        """
        ...

    def _kind(self, released: bool) -> AnswerKind:
        """Return the type of all answers."""
        ...
