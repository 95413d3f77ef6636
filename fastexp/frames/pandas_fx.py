"""The accessor `fx` of pandas frames and series."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd

from .._release_key import ReleaseKey
from .._typing import Membership, RNGLike, SeedLike
from ..budget import Budget
from ..errors import ParameterError
from .call import Call, release_call, sample_call
from .pandas import answers, release, sample


class FrameAccessor:
    """`frame.fx.release(...)` and `frame.fx.sample(...)` of a DataFrame.

    They are `fastexp.pandas.release` and `fastexp.pandas.sample` of the frame.
    """

    def __init__(self, frame: Any) -> None:
        self.release = partial(release, frame)
        self.sample = partial(sample, frame)


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
        mechanism, groups, max_groups, max_rows, membership, key, budget, nan, threads
            As for `fastexp.pandas.release`.
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
