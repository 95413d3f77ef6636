"""`Session`: data behind a door, which only finished answers leave."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import Any, NamedTuple, NoReturn, TypeVar
from weakref import ref

import numpy as np

from .._compiler.rounding import check_rounding
from .._parameters import validate
from ..budget.budget import Budget, checked_note, once
from ..budget.question import Question, Questions
from ..errors import (
    BudgetError,
    FastexpError,
    ParameterError,
    ParameterTypeError,
    SessionError,
)
from ..grouped.request import check_key
from ..mechanisms.most_common import MostCommon
from .answers import Answer, answers_of, column_name
from .call import Released, carried_out, values_of
from .engines.copies import copy_of
from .engines.frame import Column, Frame, Use
from .engines.paths import PathFrame
from .engines.types import check_keys
from .memory import Room
from .query import Query
from .scores import Score, arrays_of, score_of, scores_of
from .untrusted import is_exactly, mechanism_of, pairs_of, plain, query_of

T = TypeVar("T")
FAILED = "the release failed once it was charged; why is withheld, as it may depend on the records"
UNREAD = "the release failed before a record was read"
CHANGED = "the files of the session changed since it began: nothing was read or charged"
NAN = ("drop", "lower", "upper")


class Files(NamedTuple):
    """Where rows are that memory does not hold, and what their files were at the start."""

    path: str
    memory: int | str | None
    state: list[Any]

    def frame(self, threads: int) -> Any:
        """The same files, opened anew."""
        frame = PathFrame(self.path, self.memory, threads)
        try:
            same = _state(frame) == self.state
        except (FastexpError, OSError):
            same = False
        if not same:
            raise SessionError(CHANGED)
        return frame


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Door:
    """What a session holds."""

    rows: Frame | Files
    room: Room
    budget: Budget
    person: str | None
    max_groups: int
    max_rows: int
    scores: dict[str, Score]

    def frame(self, threads: int) -> Frame:
        """The rows."""
        opened: Frame = self.rows.frame(threads) if isinstance(self.rows, Files) else self.rows
        return opened


# Not an attribute of the session: nothing that shows an object, copies it or writes it down may
# come to the records. No WeakKeyDictionary: `weakref.getweakrefs` leads from a key to it.
_DOORS: dict[ref[Session], Door] = {}


def _forget(session: ref[Session]) -> None:
    _DOORS.pop(session, None)


class Session:
    """Data that answer through `release` alone, within a budget.

    For a curator who holds records and lets others ask: who has the session chooses
    mechanisms, columns and groups, and sees nothing but answers that are paid for. It is a guard
    rail within one process, not a sandbox: see Notes.

    Parameters
    ----------
    frame
        The rows, of any kind that `Query.release` takes. Frames are copied into memory, once:
        later changes of theirs do not matter. Files (a path) are left where they are; a release
        is refused once their size, times or inodes changed.
    budget : Budget
        Is charged for every release, before a record is read.
    person : str, optional
        The column that says whose a row is: of each person at most `max_groups` groups and in
        each of them at most `max_rows` rows count in an answer.
    max_groups, max_rows : int
        These limits, >= 1. Without `person` max_rows is your claim of how many rows one person
        has in all of the data, which nobody checks, and max_groups is 1.
    scores : dict of str to (callable, sequence, float), optional
        Utilities of your own that may be asked for by their names, of all rows together:
        ``score(columns, candidates)``, where columns is a dict of arrays, gives a number for each
        of the candidates, which are all int, all float, all text or all bool. The sensitivity
        is the most by which one person, with all of their rows, changes the score of any one
        candidate when they join, leave or are replaced, as the budget's `neighbors` says. What
        it raises is withheld; what it prints, logs or warns of is not. Not of paths.
    memory : int or str, optional
        Of a path: what its rows may take, as of `Query.release`.
    temp : str or Path, optional
        Of a path: the folder for rows that memory has no room for, as of `Query.release`.

    Raises
    ------
    ParameterError, ParameterTypeError
        If arguments do not fit together, the frame has no column `person`, or holds columns
        that no query could read or that cannot be copied.

    Notes
    -----
    **Privacy**: all releases together keep the budget, under its neighbors; `log` lists them.
    That a release failed after its charge may tell of the records and is outside of it, and so
    is the time that it took. Names and types of columns are public. **Guard rail**: nothing
    that the session has shows a record: no attribute, repr, copy, pickle or traceback, whatever
    a release is given. But whoever runs Python code in the process can reach all of its memory:
    by private names, the garbage collector, frames, tracing, by exchanging functions, or where
    it was freed (``numpy.empty``). Give strangers a service that calls the session, not the
    session. Threads may share it.

    References
    ----------
    McSherry, "Privacy integrated queries", SIGMOD 2009 (an interface that hands out nothing but
    answers).

    Examples
    --------
    >>> import fastexp as fx
    >>> bids = {"bid": [1.0, 1.0, 1.0, 3.01] * 50}
    >>> def revenue(columns, prices):
    ...     return [price * int((columns["bid"] >= price).sum()) for price in prices]
    >>> prices = [0.5, 1.0, 3.0]
    >>> budget = fx.Budget(epsilon=3.0)
    >>> session = fx.Session(bids, budget=budget, scores={"revenue": (revenue, prices, 3.0)})
    >>> session.release(None, {"price": ("revenue", 2.0)})["price"].tolist() in ([1.0], [3.0])
    True
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 4), step=1)
    >>> session.release(None, {"median": (median, "bid")})
    {'median': array([1])}
    >>> session.remaining, [entry["about"] for entry in session.log()]
    (0.0, ['Exponential of revenue', 'Median of bid'])
    """

    __slots__ = ("__weakref__",)

    def __init__(
        self,
        frame: Any,
        *,
        budget: Budget,
        person: str | None = None,
        max_groups: int = 1,
        max_rows: int = 1,
        scores: Mapping[str, tuple[Any, Any, Any]] | None = None,
        memory: int | str | None = None,
        temp: Any = None,
    ) -> None:
        check_rounding()
        if ref(self) in _DOORS:
            raise ParameterError("a session begins once: make a new one")
        if not isinstance(budget, Budget):
            raise ParameterTypeError(f"budget must be a Budget, got {type(budget).__name__}")
        whose = None if person is None else column_name("person", person)
        groups = validate.counting("max_groups", max_groups)
        rows = validate.counting("max_rows", max_rows)
        if whose is None and groups > 1:
            raise ParameterError(
                "max_groups goes with person: without it max_rows says how many rows one person "
                "has, in whatever groups"
            )
        utilities = scores_of(scores)
        room = Room(memory, temp)
        held: Frame | Files
        if isinstance(frame, (str, os.PathLike)):
            if utilities:
                raise ParameterError("scores are for frames in memory, got a path: read it before")
            path = os.path.abspath(os.fspath(frame))  # noqa: PTH100  (as `files_of` does)
            opened: Any = PathFrame(path, memory)
            held = Files(path, memory, _state(opened))
            _check_person(opened, whose)
        else:
            held = copy_of(frame)
            _check_person(held, whose)
        _DOORS[ref(self, _forget)] = Door(held, room, budget, whose, groups, rows, utilities)

    def release(
        self,
        query: Query | None,
        answers: dict[str, tuple[Any, Any]],
        *,
        label: str | None = None,
        note: str | None = None,
        nan: str | dict[str, str] | None = None,
        threads: int = 1,
    ) -> Any:
        """Private answers: charged once, read once, drawn once.

        Parameters
        ----------
        query : Query or None
            The columns `by` and the public list `groups`, and nothing else: persons and limits
            are the session's. None: all rows are one group.
        answers : dict of str to (mechanism, str) or (str, float)
            From the name of each answer to its mechanism (`Median`, `Quantile`, `Maximum`,
            `OrderStatistic`, `Mode`, `Price` or `MostCommon` itself, no subclass) and the column
            of its records; or, in all of them, to the name of a score and an epsilon.
        label : str, optional
            What the release is called. A budget in a file keeps its answers under this name: the
            same question gives them again, without a charge or a look at the rows.
        note : str, optional
            Your public words for the log: a line of at most 200 printable characters.
        nan : {"drop", "lower", "upper"} or dict, optional
            What to do with records that are missing, in all answers or by answer. Default:
            "drop"; "lower" where a mechanism is for neighbors="replace", whose number of records
            is public. Of scores: NaN is the lowest utility.
        threads : int
            1; 0 for all that the process may use.

        Returns
        -------
        frame
            A row a group in the order of the list; the columns `by`, then one an answer, as of
            `Query.release`. A dict of arrays if the rows were one, a frame of pandas (of
            Dask, too) or of Polars, else an Arrow table.

        Raises
        ------
        ParameterError, ParameterTypeError
            If arguments, names or types of columns do not fit, or a quantile or a rank is so fine
            that how long one record takes would tell of it: nothing is read or charged.
        BudgetExceeded
            If the rest of the budget does not cover it: nothing is read or charged.
        BudgetError
            If the budget cannot be used, or (`LabelError`) the label is another question's or
            was used up by a failure.
        SessionError
            If files changed: nothing is read or charged. Or, always with the same text, if
            anything went wrong after the charge.
        KeyboardInterrupt
            Where the wait for the answers was interrupted: the release goes on to its end, and
            keeps its answers if it has a label.

        Notes
        -----
        **Privacy**: the total of the query with the session's limits, as `Query.total` says, for
        every call anew; of scores the sum of their epsilons.

        Examples
        --------
        >>> import fastexp as fx
        >>> frame = {"tenant": [*range(200)] * 2, "city": ["Rome", "Oslo"] * 200}
        >>> frame["rent"] = [600, 900] * 200
        >>> budget = fx.Budget(epsilon=4.0)
        >>> session = fx.Session(frame, budget=budget, person="tenant", max_rows=2)
        >>> cities = fx.Query(by="city", groups=["Oslo", "Rome"])
        >>> median = fx.Median(epsilon=2.0, bounds=(0, 2000), step=100)
        >>> session.release(cities, {"median": (median, "rent")})
        {'city': ['Oslo', 'Rome'], 'median': array([900, 600])}
        >>> session.remaining
        0.0
        """
        check_rounding()
        limits = _door(self).person, _door(self).max_groups, _door(self).max_rows
        plain_query, given = query_of(query, *limits), list(pairs_of(answers))
        kind: type[_Call] = _OfScores
        if not given or not all(is_exactly(item, str) for _, item, _ in given):
            kind = _OfMechanisms
            given = [(name, mechanism_of(name, item), column) for name, item, column in given]
        call = kind(plain_query, given, label, note, nan, threads)
        # In a thread: an interrupt, or what a handler of signals raises, comes to the main thread,
        # and so to no frame that holds a row.
        outcomes: list[Any] = []
        thread = Thread(target=_answer, args=(self, call, outcomes))
        thread.start()
        thread.join()
        answered = outcomes[0] if outcomes else SessionError(FAILED if call.has_read else UNREAD)
        if isinstance(answered, BaseException):
            raise answered
        return answered

    def log(self) -> list[dict[str, Any]]:
        """What was asked and paid: the charges of the budget, as of `Budget.log`.

        Returns
        -------
        list of dict
        """
        return _door(self).budget.log()

    @property
    def remaining(self) -> float:
        """What is left of the budget's epsilon, or rho; rounded down."""
        return _door(self).budget.remaining

    def __repr__(self) -> str:
        door = _opened(self)
        if door is None:
            return "Session(<closed>)"
        parts = [f"budget={door.budget!r}"]
        parts += [f"person={door.person!r}"] * (door.person is not None)
        parts += [f"max_groups={door.max_groups}"] * (door.max_groups > 1)
        parts += [f"max_rows={door.max_rows}"] * (door.max_rows > 1)
        parts += [f"scores={list(door.scores)}"] * bool(door.scores)
        return f"Session(<hidden>, {', '.join(parts)})"

    def __init_subclass__(cls, **_named: Any) -> None:
        raise ParameterTypeError("Session cannot be subclassed")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:  # copy, deepcopy and pickle
        raise SessionError("a session cannot be copied or pickled: it would take the records along")


class _Call(ABC):
    """What a release asks, of plain values; `has_read` once records may have been read.

    It holds nothing of the session: it is in the traceback of what the release raises.
    """

    def __init__(
        self,
        query: Query,
        given: list[tuple[str, Any, Any]],
        label: Any,
        note: Any,
        nan: Any,
        threads: Any,
    ) -> None:
        for argument, value in (("label", label), ("note", note)):
            if value is not None and not is_exactly(value, str):
                raise ParameterTypeError(f"{argument} must be text (no subclass of str)")
        if not is_exactly(threads, int):
            raise ParameterTypeError("threads must be an int (no subclass)")
        self.query, self.given, self.label, self.note = query, given, label, note
        self.nan, self.threads, self.has_read = nan, validate.threads(threads), False

    @abstractmethod
    def answers(self, door: Door) -> Any:
        """Charged, read and drawn."""

    def reading(self, draw: Callable[[], T]) -> T:
        """What `draw` returns, which reads records: NumPy warns of none of them meanwhile.

        Whatever it raises is a failure, also what a score raises: nobody interrupts this thread.
        """
        self.has_read = True
        try:
            with np.errstate(all="ignore"):
                return draw()
        except BaseException:
            raise SessionError(FAILED) from None


class _OfMechanisms(_Call):
    """Answers of fastexp's own mechanisms."""

    def answers(self, door: Door) -> Any:
        pairs = {name: pair for name, *pair in self.given}
        wanted = answers_of(pairs, self.query.by, _policies(self.nan, pairs))
        way = _Watched(self, wanted, door.budget)
        return carried_out(way, door.frame(self.threads), door.room)


class _Watched(Released):
    """A release that tells its call when it reads."""

    def __init__(self, call: _Call, answers: tuple[Answer, ...], budget: Budget) -> None:
        super().__init__(call.query, answers, None, call.label, budget, call.threads, call.note)
        self._call = call

    def obtained(self, draw: Callable[[], list[Any]], check: Callable[[], None]) -> list[Any]:
        """Charged before a row is read."""
        return super().obtained(lambda: self._call.reading(draw), check)


class _OfScores(_Call):
    """Answers of scores, by the exponential mechanism."""

    def answers(self, door: Door) -> Any:
        if self.query.by:
            raise ParameterError("query must be None for scores, which are of all rows together")
        if self.nan is not None:
            raise ParameterError("nan must be None for scores: NaN is the lowest utility")
        label = check_key(None, self.label, door.budget)
        note = checked_note(self.note, door.budget)
        questions, draws = [], []
        for name, called, epsilon in self.given:
            score = score_of(door.scores, name, called)
            mechanism = score.mechanism(plain("epsilon", epsilon))
            form = "score", called, column_name("the names of answers", name)
            questions.append(Question(mechanism, form=form, column=called))
            draws.append((name, score, mechanism.epsilon))
        frame = door.frame(self.threads)

        def draw() -> list[Any]:
            return [
                score.drawn(arrays_of(frame), epsilon, self.threads) for _, score, epsilon in draws
            ]

        def check() -> None:
            frame.check_answers([name for name, *_ in draws], [])

        values = once(
            door.budget,
            label,
            Questions(tuple(questions)),
            lambda: self.reading(draw),
            check,
            note,
        )
        return frame.finished(
            [
                Column(name, score.kind, values_of([value], score.kind))
                for (name, score, _), value in zip(draws, values, strict=True)
            ]
        )


def _answer(session: Session, call: _Call, outcomes: list[Any]) -> None:
    """Add the answers, or what is to be raised; nothing if there is no memory even for that."""
    with suppress(BaseException):
        outcomes.append(_attempted(session, call))


def _attempted(session: Session, call: _Call) -> Any:
    """The answers; or what is to be raised, which knows nothing of how it came to it."""
    try:
        return call.answers(_door(session))
    except BudgetError as error:  # its text is the same, whatever was drawn
        return type(error)(*error.args)
    except FastexpError as error:
        return SessionError(FAILED) if call.has_read else type(error)(*error.args)
    except BaseException:
        return SessionError(FAILED if call.has_read else UNREAD)


def _door(session: Session) -> Door:
    door = _opened(session)
    if door is None:
        raise SessionError("the session holds no data")
    return door


def _opened(session: Session) -> Door | None:
    """None where there is none; only a session is looked for, as others may equal all."""
    return _DOORS.get(ref(session)) if type(session) is Session else None


def _policies(nan: Any, pairs: dict[str, Any]) -> dict[str, str]:
    """What is done with missing records, by answer: never what tells of them."""
    counted = {name: _is_counted(mechanism) for name, (mechanism, _) in pairs.items()}
    policies = {name: "lower" if counted[name] else "drop" for name in counted}
    stated = nan if is_exactly(nan, dict) else dict.fromkeys(pairs, nan)
    for name, policy in dict.copy(stated).items() if nan is not None else ():
        if not is_exactly(name, str) or not is_exactly(policy, str) or policy not in NAN:
            raise ParameterError(f"nan must be one of {', '.join(map(repr, NAN))} in a session")
        if policy == "drop" and counted.get(name):
            raise ParameterError(
                'nan must be "lower" or "upper" where neighbors="replace": the number of records '
                "is public there"
            )
        policies[name] = policy
    return policies


def _is_counted(mechanism: Any) -> bool:
    """Whether the number of records must be the same in neighbouring data."""
    return not isinstance(mechanism, MostCommon) and mechanism.guarantee.neighbors == "replace"


def _state(frame: PathFrame) -> list[Any]:
    """What the file system says of the files of a path."""
    return [(file, os.stat(file.path).st_ctime_ns) for file in frame.files]  # noqa: PTH116


def _check_person(frame: Frame, person: str | None) -> None:
    names = frame.names() or []
    if person is None:
        return
    if names.count(person) != 1:
        raise ParameterError(f"person must be a column of the frame, got {person!r}")
    use = Use(person, "keys")
    for column in frame.empty([use]) or ():
        check_keys("person", use, column)
