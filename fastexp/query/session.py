"""`Session`: data behind a door, which only finished answers leave."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from threading import Thread
from typing import Any, NoReturn
from weakref import ref

from .._compiler.rounding import check_rounding
from .._parameters import validate
from ..budget.budget import Budget
from ..errors import (
    BudgetError,
    FastexpError,
    ParameterError,
    ParameterTypeError,
    SessionError,
)
from .calls.answers import column_name
from .disk.memory import Room
from .door import Door, Files, check_person, scores_of, state_of
from .engines.frame import Frame
from .files.path_frame import PathFrame
from .frames.copies import copy_of
from .orders import FAILED, OfMechanisms, OfScores, Order
from .query import Query
from .untrusted import is_exactly, mechanism_of, pairs_of, query_of

UNREAD = "the release failed before a record was read"

# Not an attribute of the session: nothing that shows an object, copies it or writes it down may
# come to the records. No WeakKeyDictionary: `weakref.getweakrefs` leads from a key to it.
_DOORS: dict[ref[Any], Door] = {}


def _forget(session: ref[Any]) -> None:
    _DOORS.pop(session, None)


class Session:
    """Data that others query only through `release`, within a budget.

    For a curator who holds records and lets others ask: whoever has the session chooses
    mechanisms, columns and groups, and sees only answers that are paid for. It is a guard rail
    within one process, not a sandbox: see Notes.

    Parameters
    ----------
    frame
        The rows, of any kind that `Query.release` takes. Frames are copied into memory, once:
        later changes to them do not matter. Files (a path) are left where they are; a release
        is refused once their size, times or inodes have changed.
    budget : Budget
        Is charged for every release, before a record is read.
    person : str, optional
        The column that says whose a row is: of each person at most `max_groups` groups and in
        each of them at most `max_rows` rows count in an answer.
    max_groups, max_rows : int
        These limits, >= 1. Without `person` max_rows is your claim of how many rows one person
        has in all of the data, which nothing checks, and max_groups is 1.
    scores : dict of str to (callable, sequence, float), optional
        Utilities of your own that answers may name, of all rows together:
        ``score(columns, candidates)``, where columns is a dict of arrays, gives a number for each
        of the candidates, which are all int, all float, all text or all bool. The sensitivity
        is the most by which one person, with all of their rows, changes the score of any one
        candidate when they join, leave or are replaced, as the budget's `neighbors` says. What
        it raises is withheld; what it prints, logs or warns of is not. Not for paths.
    memory : int or str, optional
        For a path: the memory that its rows may take, as in `Query.release`.
    temp : str or Path, optional
        For a path: the folder for rows that do not fit into memory, as in `Query.release`.

    Raises
    ------
    ParameterError, ParameterTypeError
        If arguments do not fit together, the frame has no column `person`, or it has columns
        that no query could read or that cannot be copied.

    Notes
    -----
    **Privacy**: all releases together keep the budget, under its neighbors; `log` lists them. That
    a release failed after its charge may depend on the records and is not covered, and neither is
    the time that it took. Names and types of columns are public; of objects (lists of Python, say)
    the type of what is held when the session begins: another question is refused before a charge.

    **Guard rail**: nothing that the session has shows a record: no attribute, repr, copy, pickle
    or traceback, whatever a release is given. But whoever runs Python code in the process can
    reach all of its memory: by private names, the garbage collector, frames or tracing, by
    replacing functions, or in memory that was freed (``numpy.empty``). Give strangers a service
    that calls the session, not the session. Threads may share it.

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
        frame: object,
        *,
        budget: Budget,
        person: str | None = None,
        max_groups: int = 1,
        max_rows: int = 1,
        scores: Mapping[str, tuple[Any, Any, Any]] | None = None,
        memory: int | str | None = None,
        temp: object = None,
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
                "max_groups needs person: without it max_rows says how many rows one person "
                "has in all groups together"
            )
        utilities = scores_of(scores)
        room = Room(memory, temp)
        held: Frame | Files
        if isinstance(frame, (str, os.PathLike)):
            if utilities:
                raise ParameterError("scores are for frames in memory, got a path: read it before")
            path = os.path.abspath(os.fspath(frame))  # noqa: PTH100  # as `files_of` does
            opened: Any = PathFrame(path, memory)
            held = Files(path, memory, state_of(opened))
        else:
            held = opened = copy_of(frame)
        check_person(opened, whose)
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
        expand: bool = False,
    ) -> Any:
        """Private answers: charged once, read once, drawn once.

        Parameters
        ----------
        query : Query or None
            The columns `by` and the public list `groups`, and nothing else: persons and limits
            are the session's. None: all rows are one group.
        answers : dict of str to (mechanism, str) or (str, float)
            From the name of each answer to its mechanism (`Median`, `Quantile`, `Quantiles`,
            `ApproximateQuantiles`, `Maximum`, `OrderStatistic`, `Mode`, `Price`, `MostCommon` or
            `JointTopK` itself, no subclass) and the column of its records; or, in all of them, to
            the name of a score and an epsilon.
        label : str, optional
            What the release is called. The budget keeps its answers under this name: the same
            question gives them again, without a charge and without reading the rows.
        note : str, optional
            Your public words for the log: a line of at most 200 printable characters.
        nan : {"drop", "lower", "upper"} or dict, optional
            What to do with records that are missing, in all answers or by answer. Default:
            "drop"; "lower" where a mechanism is for neighbors="replace", whose number of records
            is public. Of scores: NaN is the lowest utility.
        threads : int
            How many; 0: all that the process may use.
        expand : bool
            A column for each value of answers that are lists, as of `Query.release`.

        Returns
        -------
        frame
            One row for each group in the order of the list; the columns `by`, then one for each
            answer, as of `Query.release`. A dict of arrays for a dict of arrays, a frame of
            pandas for one of pandas or Dask, of Polars for one of Polars, else an Arrow table.

        Raises
        ------
        ParameterError, ParameterTypeError
            If arguments, names or types of columns do not fit, or a quantile or a rank is so fine
            that the time one record takes would reveal it: nothing is read or charged.
        BudgetExceeded
            If the rest of the budget does not cover it: nothing is read or charged.
        BudgetError
            If the budget cannot be used, or (`LabelError`) the label belongs to another question
            or was used up by a failure.
        SessionError
            If files have changed: nothing is read or charged. Or, always with the same text, if
            anything went wrong after the charge.
        KeyboardInterrupt
            If the wait for the answers was interrupted: the release runs to its end, and keeps
            its answers if it has a label.

        Notes
        -----
        **Privacy**: the total of the query with the session's limits, as `Query.total` says, for
        every call whose answers are not kept under its label; of scores the sum of their epsilons.

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
        # No local variable is the door: this frame is in the traceback of what is raised.
        person, max_groups, max_rows = (
            _door(self).person,
            _door(self).max_groups,
            _door(self).max_rows,
        )
        plain_query = query_of(query, person, max_groups, max_rows)
        items = list(pairs_of(answers))
        kind: type[Order] = OfScores
        if not items or not all(is_exactly(item, str) for _, item, _ in items):
            kind = OfMechanisms
            items = [(name, mechanism_of(name, item), column) for name, item, column in items]
        order = kind(plain_query, items, label, note, nan, threads, expand)
        # In a thread: an interrupt, or what a handler of signals raises, comes to the main thread,
        # and so to no frame that holds a row.
        outcomes: list[Any] = []
        thread = Thread(target=_answer, args=(self, order, outcomes))
        thread.start()
        thread.join()
        outcome = outcomes[0] if outcomes else SessionError(FAILED if order.has_read else UNREAD)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def log(self) -> list[dict[str, Any]]:
        """The charges of the budget and what each was for, as `Budget.log` gives them.

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

    def __init_subclass__(cls, **_named: object) -> None:
        raise ParameterTypeError("Session cannot be subclassed")

    def __reduce_ex__(self, protocol: object) -> NoReturn:  # copy, deepcopy and pickle
        raise SessionError("a session cannot be copied or pickled: it would take the records along")


def _answer(session: Session, order: Order, outcomes: list[Any]) -> None:
    """Add the answers, or what is to be raised; nothing if there is no memory even for that."""
    with suppress(BaseException):
        outcomes.append(_attempted(session, order))


def _attempted(session: Session, order: Order) -> Any:
    try:
        return order.answers(_door(session))
    except BudgetError as error:  # its text is the same, whatever was drawn
        return type(error)(*error.args)
    except FastexpError as error:
        return SessionError(FAILED) if order.has_read else type(error)(*error.args)
    except BaseException:
        return SessionError(FAILED if order.has_read else UNREAD)


def _door(session: Session) -> Door:
    door = _opened(session)
    if door is None:
        raise SessionError("the session holds no data")
    return door


def _opened(session: Session) -> Door | None:
    """None where there is none; only a session is looked for, as others may equal all."""
    return _DOORS.get(ref(session)) if type(session) is Session else None
