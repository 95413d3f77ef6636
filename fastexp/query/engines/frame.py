"""What a query asks of an engine: which columns a frame has, its rows once, a frame of answers."""

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
    """A column that a call reads, and as what: files of text hold nothing but text.

    Engines whose columns have types give the column as it is, whatever `reading` says.
    "doubles" are records between bounds within 2**53, so that the nearest double counts as they
    do; "numbers" may be beyond. "nanoseconds" are timestamps where the list has them in these.
    "keys" are persons and groups without a list, of which only the data know whether they are
    integers or text. "names" are groups that are private: text, whatever the others are.

    `longest`: characters of the longest text that is listed, where "text" is read: longer ones
    are all alike. None: not known.
    """

    column: str
    reading: ColumnReading
    longest: int | None = None


class ColumnReads(tuple[ColumnRead, ...]):
    """The columns of a call, each once; and where in them groups, persons and records are."""

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
        An entry a group. Where each group has a list, of draws or of the values of an answer, an
        array of shape (groups, entries), of objects where these are text; where it has a list of
        draws that are lists, of shape (groups, size, entries).
    """

    name: str
    kind: ColumnKind
    values: AnyArray | list[str]

    @property
    def unit(self) -> str:
        """That of timestamps."""
        return np.datetime_data(np.asarray(self.values).dtype)[0]


def nested(column: Column, kind: T, of: Callable[[T], T]) -> T:
    """The type of a column, whose entries are of a kind, or lists `of` it, or lists of these."""
    for _ in range(np.ndim(column.values) - 1):
        kind = of(kind)
    return kind


def key_columns(names: Sequence[str], keys: Names) -> list[Column]:
    """The columns of a list of groups, called by names of columns."""
    pairs = zip(names, keys.columns(), strict=True)
    return [Column(name, column.kind, column.values) for name, column in pairs]


class Task(NamedTuple):
    """What workers do with rows, all of which are columns of integers.

    Attributes
    ----------
    method : str
        Of the work: from an iterator of parts, each a list of columns, to another one.
    kinds : tuple of str
        The NumPy types of the columns that it gives.
    arguments : tuple
        What the method takes besides.
    by : int, optional
        A column: rows that are equal in it are in one of `calls` calls, which gets all of its rows.
        None: the rows of a call are any, and the first task's parts are the columns of the uses.
    calls : int
        How many there are at most, where rows come together: public.
    added : list of arrays
        Public rows, which come to those of the task before.
    """

    method: str
    kinds: tuple[str, ...]
    arguments: tuple[Any, ...] = ()
    by: int | None = None
    calls: int = 1
    added: Sequence[IntArray] = ()


class Workers(ABC):
    """What frames have besides, whose engine has workers that draw where the rows are.

    `calls` is to how many the rows of many groups or persons come together: a public setting.
    """

    calls: int

    @abstractmethod
    def run(self, work: Any, uses: Sequence[ColumnRead], tasks: Sequence[Task]) -> list[IntArray]:
        """The columns that the last of some tasks gives, of all its calls.

        Where `work` goes, its secrets go, too: it must not outlive the run, and no text shows it.
        A task may be run again, and calls of it at the same time.
        """

    @abstractmethod
    def distinct(self, uses: Sequence[ColumnRead]) -> Sequence[Any]:
        """These columns of the distinct rows, as of `Frame.parts`."""

    @abstractmethod
    def ask(self, question: Callable[[], str]) -> str:
        """What a worker answers."""


class Frame(Protocol):
    """A frame of one engine, of which no row has been read.

    Its methods may raise what the engine raises: the call withholds it where it may hold data.
    """

    @property
    def room(self) -> Room | None:
        """Beyond which rows are sorted on disk; None: they stay in memory."""
        ...

    def names(self) -> list[str] | None:
        """The names of all columns, in order; one that there is twice, twice.

        None: they are not known before it is read, as of a stream.
        """
        ...

    def empty(self, uses: Sequence[ColumnRead]) -> Sequence[Any] | None:
        """The columns without rows, of the types that they will have; None if not known yet.

        They are anything that `key_columns.read` and `number_columns.read` take.
        """
        ...

    def check_answers(self, names: Sequence[str], groups: Sequence[Column]) -> None:
        """Refuse what `finished` could not hold: called before the charge.

        `names` are those of all columns of the answers; `groups` the public list's columns,
        none where groups come from the data. Names that differ are already sure, and that
        they are UTF-8.
        """
        ...

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[Sequence[Any]]:
        """All rows, a part after the other, each the columns of `uses` in their order.

        It is called once, after the charge. Who does not go through it to its end closes it
        (`contextlib.closing`): until then a connection may be busy.
        """
        ...

    def finished(self, columns: Sequence[Column]) -> Any:
        """Answers as a frame of the same kind, a row a group, in order.

        What `check_answers` let pass must not fail here: it is paid for.
        """
        ...
