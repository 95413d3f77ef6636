"""What a mechanism has for calls by group: the contract between mechanisms, queries and draws."""

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
    _measure: ClassVar[Literal["error", "loss"]]  # what is said of its accuracy

    @property
    def guarantee(self) -> Guarantee:
        """What one draw promises."""
        ...

    @property
    def _labels(self) -> tuple[Any, ...]:
        """The candidates; a mechanism of numbers has none."""
        return ()

    @property
    def _entries(self) -> tuple[str, ...]:
        """What the values of an answer that is a list are called; none where it is one value."""
        return ()

    @property
    def _ranks(self) -> RankStatistic | None:
        """The statistic whose draws look at the records around its ranks only; None: at all."""
        return None

    def _policy(self, nan: object) -> str:
        """What is done with missing records, checked."""
        ...

    def _reading(self) -> RecordReading:
        """What a file without types is read as; see `ColumnRead` of queries."""
        ...

    def _read_as(self, nan: str) -> Hashable:
        """Equal for mechanisms to which `_read` gives equal values."""
        ...

    def _read(self, records: object, nan: str) -> tuple[AnyArray, AnyArray | None]:
        """Records as float64 or int64, and which of them are missing."""
        ...

    @property
    def _in_passes(self) -> bool:
        """Whether a release can go through the records in parts, holding few of them."""
        ...

    @property
    def _places(self) -> int:
        """How many points or candidates there are."""
        ...

    def _place(self, values: AnyArray) -> IntArray:
        """The grid point or candidate of each of them."""
        ...

    def _draws(self, segments: Segments, words: WordSource, size: int) -> Draws:
        """Draws of each segment."""
        ...

    def _exact(self, values: AnyArray) -> Any:
        """The exact law of a draw for records that `_read` gave."""
        ...

    def _streamed(self, records: AnyArray | RecordSource, threads: int) -> Any:
        """Draw once for all records that `_read` gave: an array, parts in passes, or counts.

        What is counted is what `_place` gave.

        None: this mechanism draws by group only, and so needs all of them in memory.
        """
        ...

    def _answer(self, index: int | IntArray, released: bool) -> Any:
        """What draws are called: numbers of the grid, candidates; of samples their numbers.

        Answers that are lists have an axis more: those of many groups (groups, entries).
        """
        ...

    def _kind(self, released: bool) -> AnswerKind:
        """What all answers are."""
        ...
