"""A frame that answers only through `release`, within a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, ParameterTypeError
from .query import Query
from .scope import FROM_DATA

if TYPE_CHECKING:
    from ..privacy.budget import Budget


class Session:
    """A frame and a budget: others ask queries, and see only answers that are charged.

    Parameters
    ----------
    frame
        The rows, of any kind that `Query.release` takes; it must not be changed meanwhile.
    budget : Budget
        Is charged for every release before a row is read.
    person : str, optional
        The column with the person of each row. Queries must have it, too; their limits are charged.
        Default: each row is a person, and queries must not claim otherwise.

    Raises
    ------
    ParameterTypeError
        If `budget` is no Budget.

    Notes
    -----
    **It is a guard rail and no sandbox**: no public attribute shows a row, but whoever runs Python
    in the process can reach all of its memory. Give strangers a service that calls the session.

    References
    ----------
    McSherry, "Privacy integrated queries", SIGMOD 2009.

    Examples
    --------
    >>> import fastexp as fx
    >>> session = fx.Session({"age": [30, 31, 32] * 100}, fx.Budget(epsilon=1.0))
    >>> median = fx.Median(epsilon=0.8, bounds=(0, 120), step=1)
    >>> session.release(fx.Query(), {"median": (median, "age")})
    {'median': array([31])}
    >>> round(session.budget.remaining, 1)
    0.2
    """

    __slots__ = ("_frame", "_person", "budget")

    def __init__(self, frame: Any, budget: Budget, *, person: str | None = None) -> None:
        from ..privacy.budget import Budget

        if not isinstance(budget, Budget):
            raise ParameterTypeError(f"budget must be a Budget, got {type(budget).__name__}")
        self._frame, self.budget, self._person = frame, budget, person

    def release(
        self, query: Query, answers: Any, *, nan: Any = "raise", label: str | None = None
    ) -> Any:
        """Release answers of the frame, as `Query.release` does.

        Parameters
        ----------
        query : Query
            With the session's `person`, and without ``groups="from-data"``.
        answers, nan, label
            As for `Query.release`.

        Returns
        -------
        frame
            Of the same kind as the session's.

        Raises
        ------
        ParameterError, ParameterTypeError
            As of `Query.release`, and if the query is another one.
        BudgetExceeded, LabelError, BudgetError, InvalidRecords
            As of `Query.release`.
        """
        if type(query) is not Query:
            raise ParameterTypeError(f"query must be a Query, got {type(query).__name__}")
        claims = self._person is None and (query.max_groups, query.max_rows) != (1, 1)
        is_public = query.membership == "public"
        if query.person != self._person or claims or is_public or query.groups == FROM_DATA:
            raise ParameterError(
                f"query must have person={self._person!r}, limits other than 1 with a person only, "
                "private membership, and no groups from the data"
            )
        return query.release(self._frame, answers, nan=nan, budget=self.budget, label=label)
