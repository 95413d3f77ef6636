"""The Protocol of engines: the columns of a frame, one pass over its rows, a frame of answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from ..._keys.group_names import Names
from ..._typing import AnyArray, IntArray
from ..disk.memory import Room

T = TypeVar("T")
ColumnReading: TypeAlias = Literal[
    "doubles",
    "numbers",
    "integers",
    "text",
    "booleans",
    "dates",
    "timestamps",
    "nanoseconds",
    "keys",
    "names",
]
ColumnKind: TypeAlias = Literal["integers", "floats", "text", "booleans", "dates", "timestamps"]


class ColumnRead(NamedTuple):
    """A column that a call reads, and the type as which it reads cells of text.

    Engines whose columns have types give the column as it is, whatever `reading` says.
    "doubles" are records between bounds within 2**53, so that the nearest double counts the same;
    "numbers" may be beyond. "nanoseconds" are timestamps that are in nanoseconds in the list.
    "keys" are persons, and groups without a list: only the data tell whether they are integers or
    text. "names" are private groups: text, whatever other keys are.

    longest: for "text", the number of characters of the longest listed text; longer texts need not
    be distinguished. None: not known.
    """

    column: str
    reading: ColumnReading
    longest: int | None = None


class ColumnReads(tuple[ColumnRead, ...]):
    """The distinct columns of a call, and the positions of groups, persons and records in them."""

    by: list[int]
    person: int | None
    records: list[int]


class Column(NamedTuple):
    """A column of finished answers: public, or what a simulation may show.

    Attributes
    ----------
    name : str
    kind : {"integers", "floats", "text", "booleans", "dates", "timestamps"}
    values : list of str, or ndarray of int64, float64, bool, datetime64[D] or datetime64[unit]
        One entry for each group. If each group has a list, of draws or of the values of an answer,
        an array of shape (groups, entries), of objects for text; if it has a list of draws that are
        lists, of shape (groups, size, entries).
    """

    name: str
    kind: ColumnKind
    values: AnyArray | list[str]

    @property
    def unit(self) -> str:
        """The unit of timestamps."""
        return np.datetime_data(np.asarray(self.values).dtype)[0]


def nested(column: Column, kind: T, of: Callable[[T], T]) -> T:
    """The type of a column whose entries are of a kind, or lists of it, or lists of these."""
    for _ in range(np.ndim(column.values) - 1):
        kind = of(kind)
    return kind


def key_columns(names: Sequence[str], keys: Names) -> list[Column]:
    """The columns of a list of groups, with these names."""
    pairs = zip(names, keys.columns(), strict=True)
    return [Column(name, column.kind, column.values) for name, column in pairs]


class Task(NamedTuple):
    """A task of workers on rows, which are columns of integers.

    Attributes
    ----------
    method : str
        The method of the work, from an iterator of parts, each a list of columns, to another one.
    kinds : tuple of str
        The NumPy types of the columns that it gives.
    arguments : tuple
        Further arguments of the method.
    by : int, optional
        The column of a shuffle: all rows that are equal in it go to the same of `calls` calls, as
        one iterator. None: no shuffle. The parts of a first task are the columns of the uses.
    calls : int
        The number of calls after a shuffle, at most: public.
    added : list of arrays
        Public rows that are added to those of the task before.
    """

    method: str
    kinds: tuple[str, ...]
    arguments: tuple[Any, ...] = ()
    by: int | None = None
    calls: int = 1
    added: Sequence[IntArray] = ()


class Workers(ABC):
    """What a frame has in addition if workers of its engine draw where the rows are.

    calls: the number of calls after a shuffle of many groups or persons, a public setting.
    """

    calls: int

    @abstractmethod
    def run(self, work: Any, uses: Sequence[ColumnRead], tasks: Sequence[Task]) -> list[IntArray]:
        """Run the tasks in turn; return the columns that all calls of the last one give.

        `work` holds secrets: it must not outlive the run, and no text may show it. A task may be
        run again, and its calls at the same time.
        """

    @abstractmethod
    def distinct(self, uses: Sequence[ColumnRead]) -> Sequence[Any]:
        """The distinct rows of these columns, as a part of `Frame.parts`."""

    @abstractmethod
    def ask(self, question: Callable[[], str]) -> str:
        """The answer of a worker to a question."""


class Frame(Protocol):
    """A frame of one engine, of which no row has been read.

    Its methods may raise errors of the engine; a call withholds those that may hold data.
    """

    @property
    def room(self) -> Room | None:
        """The memory beyond which rows are sorted on disk; None: all rows stay in memory."""
        ...

    def names(self) -> list[str] | None:
        """The names of all columns, in order, including repeated ones.

        None: they are not known before the frame is read, as for a stream.
        """
        ...

    def empty(self, uses: Sequence[ColumnRead]) -> Sequence[Any] | None:
        """The columns without rows, of their later types; None if not known yet.

        They have any form that `key_columns.read` and `number_columns.read` take.
        """
        ...

    def check_answers(self, names: Sequence[str], groups: Sequence[Column]) -> None:
        """Refuse, before the charge, answers that `finished` could not hold.

        names: of all columns of the answers; they are known to differ and to be UTF-8. groups: the
        columns of the public list; empty if groups come from the data.
        """
        ...

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[Sequence[Any]]:
        """Yield all rows in parts, each with the columns of `uses` in their order.

        It is called once, after the charge. A caller who stops before its end must close it
        (`contextlib.closing`), as a connection may be busy until then.
        """
        ...

    def finished(self, columns: Sequence[Column]) -> Any:
        """Answers as a frame of the same kind, with a row for each group, in order.

        Answers that `check_answers` accepted must not fail here, as they have been charged.
        """
        ...
