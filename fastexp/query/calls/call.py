"""What every call has, be it a release, a sample or an analysis, for those who read its rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..._keys.group_names import Names
from ..._numbers.rank import RankStatistic
from ..._typing import IntArray
from ...grouped.segments import Segments
from ...grouped.words import Words
from .answers import Answer
from .scope import Scope


class Results(Protocol):
    """What comes of the records of each group: draws, or figures."""

    def draw(self, which: list[int], segments: Segments, names: Names, first: int = 0) -> None:
        """Take answers of the same segments; `first` is the place of the first of `names`."""
        ...

    def ranks(self, which: list[int]) -> RankStatistic | None:
        """The statistic around whose ranks the records of these answers are enough, if any is."""
        ...

    def put(self, which: int, group: int, index: Any) -> None:
        """A draw that was made elsewhere."""
        ...

    def answers(self, order: IntArray | None) -> list[Any]:
        """For each answer, what is said of the groups, in order."""
        ...


class Call(Protocol):
    """What a release and a sample differ in."""

    query: Scope
    answers: tuple[Answer, ...]
    threads: int
    size: int | None
    released: bool
    fresh: bool  # whether the words of an answer are any that nobody can repeat

    def words(self, answer: Answer, names: Names) -> Words:
        """The random words of groups, for an answer."""
        ...

    def choice(self, answer: Answer) -> bytes:
        """The key of the choice among too many rows of a person."""
        ...

    def results(self, groups: int) -> Results:
        """Where draws go, of so many groups."""
        ...

    def settle(self, draw: Callable[[], list[Any]], check: Callable[[], None]) -> list[Any]:
        """What `draw` returns, or what is kept of it; `check` refuses mistakes beforehand."""
        ...
