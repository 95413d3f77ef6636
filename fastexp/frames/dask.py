"""Private answers by group of Dask frames: rows of listed groups are brought here, once.

Workers only leave rows out. The draw is made in this process, so that a task that runs twice
draws nothing, and no graph holds what an answer is drawn with.
"""

from __future__ import annotations

from typing import Any

import dask
import dask.dataframe as dd
import pandas as pd

from .._group_keys import codes_of
from .._key_names import KeyNames
from .._release_key import ReleaseKey
from .._typing import Membership, RNGLike, SeedLike
from ..budget import Budget
from ..errors import ParameterError, ParameterTypeError
from . import pandas
from .call import Call, Columns, release_call, sample_call
from .checks import described
from .pandas import Place


def release(
    frame: dd.DataFrame,
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
) -> dd.DataFrame:
    """One private answer for each group of a public list, as a small Dask frame.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The rows, of a frame of pandas. They are computed here, once, by the scheduler in
        use; those of listed groups, of the columns that are named, come to this process.
    mechanism : Median, Quantile, Price, MostCommon, ...
        What is asked of each group.
    column : str
        The records: integers, floats or decimals, which are read as the nearest float64 (for
        `MostCommon` also text).
    by : str
        The group of each record: integers or text. Rows of other groups than those in
        `groups`, and of none (null), are left out.
    groups : sequence of int or str
        The public list of groups to answer, also those without records. ``"from-data"``
        takes those that the data have, in increasing order, with a `PrivacyWarning`.
    person : str, optional
        Whose each record is: integers or text. Of each person at most `max_groups` groups and
        in each of them at most `max_rows` records count. Records of nobody (null) are left out.
    max_groups, max_rows : int
        These limits; without `person` they are your claim, which nobody checks.
    membership : {"private", "public"}
        As for `fastexp.privacy.total`: what the budget is charged for.
    key : ReleaseKey, optional
        The same key, label, mechanism, group and records repeat their answer, in all engines.
        Whether `by` and `person` are integers or text is part of the question.
    label : str, optional
        What the release is called; with `budget` or `key`. A `Budget.file` keeps its answers
        under this name, and the same question in any engine gives them again, without a charge
        or a look at the rows. With a key the default is ``"{column} by {by}"``.
    budget : Budget, optional
        Is charged ``mechanism.total(groups=True, ...)`` before a row is read; never refunded.
    nan : {"raise", "drop", "lower", "upper"}
        What to do with records that are null or NaN: as for the mechanism's `release`.
    threads : int
        1; 0 for all that the process may use. Dask's own are not counted.
    name : str, optional
        Of the column of answers; default: that of the records.

    Returns
    -------
    dask.dataframe.DataFrame
        Finished answers, a row a group, in one partition in the order of `groups`: columns
        `by` (int64 or str) and `name` (int64, float64 or str).

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument, or the type of a column, does not fit.
    BudgetExceeded
        If the rest of the budget does not cover it: nothing is read or charged.
    BudgetError
        If the label was given to another question, or the file cannot be used.
    InvalidRecords
        If a record is missing and nan="raise". A budget is charged before.

    Notes
    -----
    **Privacy**: ``mechanism.total(groups=True, max_groups=..., max_rows=...)``. Neither rows,
    nor order, nor types tell which groups exist; what Dask shows and keeps of its partitions
    does, and is as private as the data.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd
    >>> import fastexp as fx
    >>> from fastexp.dask import release
    >>> rents = pd.DataFrame({"city": ["Rome", "Oslo"] * 99, "rent": [900, 1500] * 99})
    >>> rows = dd.from_pandas(rents, npartitions=4)
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 5000), step=50)
    >>> found = release(rows, median, "rent", by="city", groups=["Oslo", "Rome", "Bern"])
    >>> found.compute()["city"].tolist()
    ['Oslo', 'Rome', 'Bern']
    """
    place = place_of(frame, column, by, person, name)
    limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    shared: dict[str, Any] = {"membership": membership, "nan": nan, "threads": threads}
    told: dict[str, Any] = {"key": key, "label": label, "budget": budget}
    call = release_call(mechanism, column, by, groups, **limits, **shared, **told)
    return answered(frame, call, place)


def sample(
    frame: dd.DataFrame,
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
) -> dd.DataFrame:
    """Simulated draws for each group, as a small Dask frame: for studies, not for release.

    Parameters
    ----------
    frame, mechanism, column, by, groups, person, max_groups, max_rows, nan, threads, name
        As for `release`.
    size : int, optional
        How many draws of each group; default: one, which is no list.
    rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
        None: fresh from the operating system; else as in SPEC 7. A group's draws do not
        depend on other groups, rows' order, partitions or the engine.

    Returns
    -------
    dask.dataframe.DataFrame
        As of `release`; with `size` a column of lists. Of `MostCommon` draws are numbers of
        candidates.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument, or the type of a column, does not fit.

    Notes
    -----
    **Privacy**: none; who knows the seed knows the noise.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd
    >>> import fastexp as fx
    >>> from fastexp.dask import sample
    >>> rows = dd.from_pandas(pd.DataFrame({"zip": [1] * 99, "rent": [900] * 99}), npartitions=2)
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 5000), step=100)
    >>> drawn = sample(rows, median, "rent", by="zip", groups=[1, 2], size=3, rng=1).compute()
    >>> [len(draws) for draws in drawn["rent"]]
    [3, 3]
    """
    place = place_of(frame, column, by, person, name)
    limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    how: dict[str, Any] = {"size": size, "rng": rng, "nan": nan, "threads": threads}
    call = sample_call(mechanism, column, by, groups, **limits, **how)
    return answered(frame, call, place)


def place_of(frame: Any, column: Any, by: Any, person: Any, name: Any) -> Place:
    """Check the frame and the names of columns."""
    if not isinstance(frame, dd.DataFrame):
        raise ParameterTypeError(f"frame must be a Dask DataFrame, got {described(frame)}")
    place = pandas.place_of(frame._meta, column, by, person, name)
    for used in place.used:
        if isinstance(frame[used].dtype, pd.CategoricalDtype) and not frame[used].cat.known:
            raise ParameterError(f"{used!r} must have known categories: .cat.as_known() finds them")
    return place


def answered(frame: dd.DataFrame, call: Call, place: Place) -> dd.DataFrame:
    """A row for each group, in one partition."""

    def read() -> Columns:
        shape = _listed(frame._meta, place, call.names)
        rows = frame[place.used].map_partitions(_listed, place, call.names, meta=shape)
        return _columns(call.unraised(rows.compute), call.names)

    empty = _columns(_listed(frame._meta, place, None), None)
    answers = pandas.drawn(call, empty, read, place)
    with dask.config.set({"dataframe.convert-string": False}):  # it makes text of lists of draws
        found: dd.DataFrame = dd.from_pandas(answers, npartitions=1, sort=False)  # type: ignore[no-untyped-call]
    return found


def _listed(part: pd.DataFrame, place: Place, names: KeyNames | None) -> pd.DataFrame:
    """The columns, of the rows of listed groups; these as places in the list."""
    groups: Any = _plain(part[place.by]) if names is None else codes_of(part[place.by], names)
    columns = {"records": _plain(part[place.column]), "groups": groups}
    if place.person is not None:
        columns["persons"] = _plain(part[place.person])
    rows = pd.DataFrame(columns, index=part.index)
    return rows if names is None else rows[groups >= 0]


def _plain(column: pd.Series) -> pd.Series:
    """Without categories, whose numbers differ between partitions."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    kind = column.dtype.categories.dtype
    return column.astype("Int64" if pd.api.types.is_integer_dtype(kind) else kind)


def _columns(rows: pd.DataFrame, names: KeyNames | None) -> Columns:
    groups: Any = rows["groups"]
    if names is not None:
        groups = pd.Categorical.from_codes(groups, names.labels())
    return Columns(rows["records"], groups, rows.get("persons"))
