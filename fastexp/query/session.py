"""`Session`: data that others can query only through `release`, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from .._compiler.rounding import check_rounding
from .._parameters import validate
from ..budget.budget import Budget, charge_and_draw, checked_note
from ..budget.question import Questions
from ..errors import BudgetError, FastexpError, ParameterError, ParameterTypeError, SessionError
from ..grouped.call_options import CallOptions
from ..grouped.request import check_key
from .calls.answers import answers_of, column_name
from .calls.execute import as_column, execute
from .calls.scope import Check, Draw
from .calls.verbs import ReleaseCall
from .disk.memory import Room
from .engines.frame import Column, ColumnRead, Frame
from .engines.types import check_keys
from .files.paths import is_path
from .files.unchanged import UnchangedFiles
from .frames.copies import copy_of
from .query import Query
from .rebuilt import answer_pairs, is_exactly, mechanism_of, plain, policies_of, query_of
from .scores import arrays_of, scores_of

UNREAD = "the release failed before a record was read"
FAILED = (
    "the release failed after it was charged; the reason is withheld, because it may depend on the "
    "records"
)


class Session:
    """Data that others can query only through `release`, within a budget.

    It is for a curator who lets others query records: they choose mechanisms, columns and groups,
    and see only answers that are charged. It is a guard rail within one process, not a sandbox:
    see Notes.

    Parameters
    ----------
    frame
        The rows, of any kind that `Query.release` takes. Frames are copied into memory once, so
        that later changes do not matter. Files (a path) are not copied: releases are refused once
        their size, times or inodes have changed.
    budget : Budget
        Is charged for every release before a record is read.
    person : str, optional
        The column with the person of each row. In an answer, the rows of a person count in at most
        `max_groups` groups, and at most `max_rows` of them in each.
    max_groups, max_rows : int
        These limits, >= 1. Without `person`, max_rows is your claim of the most rows that a person
        has in all of the data, which is not checked, and max_groups must be 1.
    scores : dict of str to (callable, sequence, float), optional
        Utilities of your own, computed from all rows together, which answers may name:
        ``score(columns, candidates)``, where columns is a dict of arrays, returns a number for each
        of the candidates, which are all int, all float, all text or all bool. The sensitivity
        is the most by which one person, with all of their rows, changes the score of any
        candidate if they join, leave or are replaced, as `neighbors` of the budget says. Errors
        of the score are withheld; its prints, logs and warnings are not. Not for paths.
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
    **Privacy**: all releases together keep the budget, under its neighbors; `log` lists them.
    Whether a release failed after its charge may depend on the records and is not covered, and
    neither is the time that it took. Names and types of columns are public. The type of a column of
    objects (such as a Python list) is that of its values when the session begins. A question that
    does not fit the types is refused before a charge.

    **Guard rail**: no public attribute of the session shows a record, and neither does its repr, a
    pickle, or the traceback of an error. But it is no sandbox: anybody who runs Python code in the
    process can reach all of its memory, by private names, the garbage collector, frames, tracing
    or replaced functions. Give strangers a service that calls the session, not the session.
    Threads may share it.

    References
    ----------
    McSherry, "Privacy integrated queries", SIGMOD 2009 (an interface that returns nothing but
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

    __slots__ = ("_budget", "_limits", "_opened", "_scores")

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
        if not isinstance(budget, Budget):
            raise ParameterTypeError(f"budget must be a Budget, got {type(budget).__name__}")
        person_column = None if person is None else column_name("person", person)
        groups = validate.counting("max_groups", max_groups)
        rows = validate.counting("max_rows", max_rows)
        if person_column is None and groups > 1:
            raise ParameterError(
                "max_groups needs person: without it max_rows says how many rows one person "
                "has in all groups together"
            )
        self._budget, self._limits = budget, (person_column, groups, rows)
        self._scores, room = scores_of(scores), Room(memory, temp)
        self._opened: Callable[[int], Frame]  # takes the number of threads
        if is_path(frame):
            if self._scores:
                raise ParameterError(
                    "scores need a frame in memory, got a path: read the file first"
                )
            self._opened = UnchangedFiles(frame, room).opened
        else:
            copy = copy_of(frame)
            self._opened = lambda _: copy
        _check_person(self._opened(1), person_column)

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
        """Release private answers, in one pass and for one charge.

        Parameters
        ----------
        query : Query or None
            The columns `by` and the `groups`, listed or private, and nothing else: the session
            sets persons and limits. None: all rows are one group.
        answers : dict of str to (mechanism, str) or (str, float)
            From the name of each answer to its mechanism (`Median`, `Quantile`, `Quantiles`,
            `ApproximateQuantiles`, `Maximum`, `OrderStatistic`, `Mode`, `Price`, `MostCommon` or
            `JointTopK`, no subclass) and the column of its records. Or all answers are scores:
            then to the name of the score and an epsilon.
        label : str, optional
            The name of the release. The budget keeps the answers under this name, and the same
            question returns them again, without a charge and without reading the rows.
        note : str, optional
            Public text for the log: a line of at most 200 printable characters.
        nan : {"drop", "lower", "upper"} or dict, optional
            What to do with missing records, for all answers or for each by name. Default: "drop";
            for a mechanism with neighbors="replace", "lower", as the number of records is public.
            For scores, NaN is the lowest utility.
        threads : int
            The number of threads; 0: as many as the process may use.
        expand : bool
            Whether answers that are lists get a column for each value, as in `Query.release`.

        Returns
        -------
        frame
            One row for each group in the order of the list, with the columns `by`, then one for
            each answer, as in `Query.release`. It is a dict of arrays for a dict of arrays, a
            pandas frame for pandas or Dask, a Polars frame for Polars, otherwise an Arrow table.

        Raises
        ------
        ParameterError, ParameterTypeError
            If arguments, names or types of columns do not fit, or a quantile or a rank is so fine
            that the time for a single record would reveal it: nothing is read or charged.
        BudgetExceeded
            If the rest of the budget does not cover it: nothing is read or charged.
        BudgetError
            If the budget cannot be used, or (`LabelError`) the label belongs to another question
            or was used up by a failure.
        SessionError
            If files have changed: nothing is read or charged. Or if anything fails after the
            charge, always with the same text.
        KeyboardInterrupt
            If the release was interrupted. If it was charged under a label, the same call
            continues under that charge; with `PrivateGroups`, the label is used up.

        Notes
        -----
        **Privacy**: each call costs the total of the query with the limits of the session
        (`Query.total`), or the sum of the epsilons of its scores, unless its answers are kept under
        its label.

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
        reading = _Reading()
        error: BaseException
        try:
            label, note, threads = (
                plain("label", label),
                plain("note", note),
                plain("threads", threads),
            )
            options = CallOptions(label=label, budget=self._budget, threads=threads).checked()
            pairs = answer_pairs(answers)
            plain_query = query_of(query, *self._limits)
            if pairs and all(is_exactly(item, str) for item, _ in pairs.values()):
                return self._selected(reading, plain_query, pairs, options, note, nan)
            return self._answered(reading, plain_query, pairs, options, note, nan, expand)
        except BudgetError as failure:  # its text does not depend on the draw
            error = type(failure)(*failure.args)
        except KeyboardInterrupt:
            error = KeyboardInterrupt()
        except BaseException as failure:
            is_mistake = isinstance(failure, FastexpError) and not reading.has_begun
            text = FAILED if reading.has_begun else UNREAD
            error = type(failure)(*failure.args) if is_mistake else SessionError(text)
        raise error  # outside the handler, so that no context or frame of the error holds a record

    def log(self) -> list[dict[str, Any]]:
        """Return the charges of the budget, as `Budget.log` does.

        Returns
        -------
        list of dict
        """
        return self._budget.log()

    @property
    def remaining(self) -> float:
        """The epsilon or rho that remains in the budget, rounded down."""
        return self._budget.remaining

    def __repr__(self) -> str:
        person, max_groups, max_rows = self._limits
        parts = [f"budget={self._budget!r}"]
        parts += [f"person={person!r}"] * (person is not None)
        parts += [f"max_groups={max_groups}"] * (max_groups > 1)
        parts += [f"max_rows={max_rows}"] * (max_rows > 1)
        parts += [f"scores={list(self._scores)}"] * bool(self._scores)
        return f"Session(<hidden>, {', '.join(parts)})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:  # copy, deepcopy and pickle
        raise SessionError(
            "a session cannot be copied or pickled: the copy would contain the records"
        )

    def _answered(
        self,
        reading: _Reading,
        query: Query,
        pairs: dict[str, tuple[Any, Any]],
        options: CallOptions,
        note: str | None,
        nan: object,
        expand: bool,
    ) -> Any:
        """Return the answers of mechanisms, by one call of a query."""
        mechanisms = {name: mechanism_of(name, item) for name, (item, _) in pairs.items()}
        columns = {name: (mechanisms[name], column) for name, (_, column) in pairs.items()}
        checked = answers_of(columns, query.by, policies_of(nan, mechanisms), expand)
        call = _SessionCall(
            query, checked, None, options.label, self._budget, options.threads, note
        )
        call.reading = reading
        return execute(call, self._opened(options.threads))

    def _selected(
        self,
        reading: _Reading,
        query: Query,
        pairs: dict[str, tuple[Any, Any]],
        options: CallOptions,
        note: str | None,
        nan: object,
    ) -> Any:
        """Return selections by scores of all rows together: one charge, and a draw for each."""
        if query.by:
            raise ParameterError("query must be None for scores, which are of all rows together")
        if nan is not None:
            raise ParameterError("nan must be None for scores: NaN is the lowest utility")
        questions, draws = [], []
        for name, (called, epsilon) in pairs.items():
            if called not in self._scores:
                names = ", ".join(map(repr, self._scores)) or "none"
                raise ParameterError(
                    f"answer {name!r} must name a score of the session ({names}), got {called!r}"
                )
            score = self._scores[called]
            mechanism = score.mechanism(plain("epsilon", epsilon))
            questions.append(score.question(mechanism, called, name))
            draws.append((name, score, mechanism.epsilon))
        frame = self._opened(options.threads)

        def draw() -> list[Any]:
            return [
                score.selected(arrays_of(frame), epsilon, options.threads)
                for _, score, epsilon in draws
            ]

        def check() -> None:
            frame.check_answers([name for name, *_ in draws], [])

        selected = charge_and_draw(
            self._budget,
            check_key(options),
            Questions(tuple(questions)),
            lambda: reading.of(draw),
            check,
            checked_note(note, self._budget),
        )
        return frame.finished(
            [
                Column(name, score.kind, as_column([candidate], score.kind))
                for (name, score, _), candidate in zip(draws, selected, strict=True)
            ]
        )


class _Reading:
    """A record of whether the data may have been read."""

    has_begun = False

    def of(self, draw: Draw) -> list[Any]:
        """Return the result of `draw`, without warnings of NumPy, and with one error for all."""
        self.has_begun = True
        try:
            with np.errstate(all="ignore"):
                return draw()
        except KeyboardInterrupt:
            raise
        except BaseException:
            raise SessionError(FAILED) from None


class _SessionCall(ReleaseCall):
    """A release that notes when it begins to read."""

    reading: _Reading

    def charge_and_draw(self, draw: Draw, check: Check) -> list[Any]:
        return super().charge_and_draw(lambda: self.reading.of(draw), check)


def _check_person(frame: Frame, person: str | None) -> None:
    """Refuse a frame without the column of persons, if one is named."""
    if person is None:
        return
    if (frame.names() or []).count(person) != 1:
        raise ParameterError(f"person must be a column of the frame, got {person!r}")
    use = ColumnRead(person, "keys")
    for column in frame.empty([use]) or ():
        check_keys("person", use, column)
