"""The accessor `fx` of pandas frames and series."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .._release_key import ReleaseKey
from .._typing import Membership, RNGLike, SeedLike
from ..budget import Budget
from ..errors import ParameterError
from .call import Call, release_call, sample_call
from .pandas import answered, answers, place_of


class FrameAccessor:
    """`frame.fx.release(...)` and `frame.fx.sample(...)` of a DataFrame.

    They are `fastexp.pandas.release` and `fastexp.pandas.sample` of the frame.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def release(
        self,
        mechanism: Any,
        column: str,
        *,
        by: str,
        groups: Any,
        person: str | None = None,
        max_groups: int = 1,
        max_rows: int = 1,
        membership: Membership = "private",
        key: ReleaseKey | None = None,
        label: str | None = None,
        budget: Budget | None = None,
        nan: str = "raise",
        threads: int = 1,
        name: str | None = None,
    ) -> Any:
        """One private answer for each group of a public list, as of `fastexp.pandas.release`.

        Parameters
        ----------
        mechanism
            A mechanism of numbers (`fastexp.Median`, `Quantile`, ...) or `MostCommon`.
        column, by : str
            The columns of records and of groups (integers or text).
        groups : sequence of int or str
            The public list of groups to answer, or ``"from-data"``, with a `PrivacyWarning`.
        person : str, optional
            The column that says whose each row is, of whom `max_groups` and `max_rows` count.
        key : ReleaseKey, optional
            Repeats the answers of the same question. Whether `by` and `person` are integers or
            text is part of the question, and a retry is charged to a budget again.
        max_groups, max_rows, membership, label, budget, nan, threads, name
            As for `fastexp.pandas.release`, which says more of all of them.

        Returns
        -------
        pandas.DataFrame
            A row for each group, in the order of the list: the columns `by` and `name`
            (default: as `column`).

        Raises
        ------
        ParameterTypeError, ParameterError, BudgetExceeded, InvalidRecords
            As for `fastexp.pandas.release`.

        Notes
        -----
        **Privacy**: ``mechanism.total(groups=True, ...)``.

        Examples
        --------
        >>> import fastexp as fx, fastexp.pandas, pandas as pd
        >>> rents = pd.DataFrame({"zip": [1, 2] * 90, "rent": [900, 600] * 90})
        >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=100)
        >>> rents.fx.release(median, "rent", by="zip", groups=[2, 1])["rent"].to_list()
        [600, 900]
        """
        limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
        shared: dict[str, Any] = {"membership": membership, "nan": nan, "threads": threads}
        told: dict[str, Any] = {"key": key, "label": label, "budget": budget}
        place = place_of(self._frame, column, by, person, name)
        call = release_call(mechanism, column, by, groups, **limits, **shared, **told)
        return answered(self._frame, call, place)

    def sample(
        self,
        mechanism: Any,
        column: str,
        *,
        by: str,
        groups: Any,
        size: int | None = None,
        rng: SeedLike | RNGLike | None = None,
        person: str | None = None,
        max_groups: int = 1,
        max_rows: int = 1,
        nan: str = "raise",
        threads: int = 1,
        name: str | None = None,
    ) -> Any:
        """Simulated draws for each group, as of `fastexp.pandas.sample`; not private.

        Parameters
        ----------
        mechanism, column, by, groups, person, max_groups, max_rows, nan, threads, name
            As for `release`.
        size : int, optional
            How many draws of each group; None: one.
        rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
            Read here and now; None: fresh from the operating system.

        Returns
        -------
        pandas.DataFrame
            As of `release`, of `size` draws in each row if there is a size.
        """
        limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
        how: dict[str, Any] = {"size": size, "rng": rng, "nan": nan, "threads": threads}
        place = place_of(self._frame, column, by, person, name)
        call = sample_call(mechanism, column, by, groups, **limits, **how)
        return answered(self._frame, call, place)


class SeriesAccessor:
    """`series.fx.release(mechanism, by=cities, groups=...)` and `.sample`, of a column of records.

    `by` and `person` are series with the same index, or arrays and lists of the same length.
    The result is a series of answers, whose index is the groups in their order.
    """

    def __init__(self, series: pd.Series[Any]) -> None:
        self._series = series

    def release(
        self,
        mechanism: Any,
        *,
        by: Any,
        groups: Any,
        person: Any = None,
        max_groups: int = 1,
        max_rows: int = 1,
        membership: Membership = "private",
        key: ReleaseKey | None = None,
        label: str | None = None,
        budget: Budget | None = None,
        nan: str = "raise",
        threads: int = 1,
    ) -> pd.Series[Any]:
        """One private answer for each group of a public list.

        Parameters
        ----------
        mechanism, groups, max_groups, max_rows, membership, budget, nan, threads
            As for `fastexp.pandas.release`.
        key : ReleaseKey, optional
            Repeats the answers of the same question. Whether `by` and `person` are integers or
            text is part of the question, and a retry is charged to a budget again.
        by : Series or array_like
            The group of each record.
        person : Series or array_like, optional
            Whose each record is.
        label : str, optional
            Names the query; default ``"{name} by {name of by}"``, if both have a name. With a
            key it must be known.

        Returns
        -------
        pandas.Series
            Of the series' name; its index are the groups.

        Raises
        ------
        ParameterTypeError, ParameterError, BudgetExceeded, InvalidRecords
            As for `fastexp.pandas.release`; and if an index differs from the series' own.

        Examples
        --------
        >>> import fastexp as fx, fastexp.pandas, pandas as pd
        >>> rents = pd.DataFrame({"city": ["Oslo", "Rome"] * 90, "rent": [900, 600] * 90})
        >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=100)
        >>> cities = ["Rome", "Bern", "Oslo"]
        >>> rents["rent"].fx.release(median, by=rents["city"], groups=cities)["Oslo"].item()
        900
        """
        self._check(by=by, person=person)
        if key is not None and label is None and None in _names(self._series, by):
            raise ParameterError("label must be given with a key where series have no names")
        limits: dict[str, Any] = {"max_groups": max_groups, "max_rows": max_rows}
        told: dict[str, Any] = {"membership": membership, "key": key, "budget": budget}
        how: dict[str, Any] = {"label": label, "nan": nan, "threads": threads}
        names = self._named(by, person)
        return self._indexed(
            release_call(mechanism, **names, groups=groups, **limits, **told, **how), by, person
        )

    def sample(
        self,
        mechanism: Any,
        *,
        by: Any,
        groups: Any,
        size: int | None = None,
        rng: SeedLike | RNGLike | None = None,
        person: Any = None,
        max_groups: int = 1,
        max_rows: int = 1,
        nan: str = "raise",
        threads: int = 1,
    ) -> pd.Series[Any]:
        """Simulated draws for each group of a list, reproducible from `rng`; not private.

        Parameters
        ----------
        mechanism, groups, size, rng, max_groups, max_rows, nan, threads
            As for `fastexp.pandas.sample`.
        by, person
            As for `release`.

        Returns
        -------
        pandas.Series
            As of `release`, of arrays if there is a size.
        """
        self._check(by=by, person=person)
        limits: dict[str, Any] = {"max_groups": max_groups, "max_rows": max_rows}
        how: dict[str, Any] = {"size": size, "rng": rng, "nan": nan, "threads": threads}
        names = self._named(by, person)
        return self._indexed(
            sample_call(mechanism, **names, groups=groups, **limits, **how), by, person
        )

    def _check(self, **columns: Any) -> None:
        """A series with another index would have to be put into order first: by its owner."""
        for argument, column in columns.items():
            if isinstance(column, pd.Series) and not column.index.equals(self._series.index):
                raise ParameterError(f"{argument} must have the same index as the records")

    def _named(self, by: Any, person: Any) -> dict[str, Any]:
        """What columns are called in a label."""
        own, other = _names(self._series, by)
        named = {"column": own or "records", "by": other or "groups"}
        return named if person is None else {**named, "person": "person"}

    def _indexed(self, call: Call, by: Any, person: Any) -> pd.Series[Any]:
        groups, found = answers(call, self._series, by, person)
        found.index = pd.Index(groups, name=getattr(by, "name", None))
        return found.rename(self._series.name)


def _names(*columns: Any) -> list[str | None]:
    """The names of series that have one."""
    found = [getattr(column, "name", None) for column in columns]
    return [name if isinstance(name, str) else None for name in found]


pd.api.extensions.register_dataframe_accessor("fx")(FrameAccessor)
pd.api.extensions.register_series_accessor("fx")(SeriesAccessor)
