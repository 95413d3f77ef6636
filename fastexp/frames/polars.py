"""Private answers by group of Polars frames, eager and lazy.

A lazy frame is collected here, once, and only the columns that are needed. Its answers are
lazy again, but finished: a plan that drew would be a new release each time that it runs.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import polars as pl

from .._release_key import ReleaseKey
from .._typing import Membership, RNGLike, SeedLike
from ..budget import Budget
from ..errors import ParameterTypeError
from .call import Call, Columns, release_call, sample_call
from .checks import described, records, result_name, wanted

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)
TEXTS = pl.String, pl.Categorical, pl.Enum
TYPES: dict[str, Any] = {"integers": pl.Int64(), "floats": pl.Float64(), "text": pl.String()}


def release(
    frame: Frame,
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
) -> Frame:
    """One private answer for each group of a public list.

    Parameters
    ----------
    frame : polars.DataFrame or polars.LazyFrame
        The rows. A lazy frame is collected here, once: the columns that are named.
    mechanism
        A mechanism of numbers (`fastexp.Median`, `Quantile`, `Price`, ...) or `MostCommon`.
    column : str
        The column of records; decimals are read as the nearest float64.
    by : str
        The column of groups: integers, strings, categoricals or enums. Rows of groups that
        are not listed, and of none (null), are left out.
    groups : sequence of int or str
        The public list of groups to answer, without repetition. ``"from-data"`` takes those
        that the data have, which are private: with a `PrivacyWarning`.
    person : str, optional
        The column that says whose each row is. Of each person at most `max_groups` groups and
        at most `max_rows` rows in each of them count.
    max_groups, max_rows : int
        These limits; without `person` they are your claim, which nobody checks.
    membership : {"private", "public"}
        Whether it is public who is in which group: what a budget is charged.
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
        What to do with records that are null or NaN.
    threads : int
        1; 0 for all that the process may use. Polars' own threads are not counted.
    name : str, optional
        What the column of answers is called; default: as `column`.

    Returns
    -------
    polars.DataFrame or polars.LazyFrame
        As `frame`; a lazy one holds finished answers. A row for each group, in the order of
        the list, also for groups without records: the columns `by` (Int64 or String) and
        `name`. Neither rows, nor order, nor types depend on the data, unless groups are from
        the data (sorted then).

    Raises
    ------
    ParameterTypeError, ParameterError
        If parameters, or the types of columns, are wrong.
    BudgetExceeded
        If the rest of the budget does not cover it: nothing is read or charged.
    BudgetError
        If the label was given to another question, or the file cannot be used.
    InvalidRecords
        If a record is missing and nan="raise". A budget is charged before.

    Notes
    -----
    **Privacy**: ``mechanism.total(groups=True, membership=..., max_groups=..., max_rows=...)``.

    Examples
    --------
    >>> import fastexp as fx, fastexp.polars, polars as pl
    >>> rents = pl.LazyFrame({"city": ["Oslo", "Rome"] * 90, "rent": [900, 600] * 90})
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=100)
    >>> answers = rents.fx.release(median, "rent", by="city", groups=["Rome", "Bern", "Oslo"])
    >>> answers.filter(pl.col("city") != "Bern").collect().rows()
    [('Rome', 600), ('Oslo', 900)]
    """
    place = place_of(frame, column, by, person, name)
    limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    shared: dict[str, Any] = {"membership": membership, "nan": nan, "threads": threads}
    told: dict[str, Any] = {"key": key, "label": label, "budget": budget}
    call = release_call(mechanism, column, by, groups, **limits, **shared, **told)
    answers: Frame = answered(frame, call, place)
    return answers


def sample(
    frame: Frame,
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
) -> Frame:
    """Simulated draws for each group of a list, reproducible from `rng`; not private.

    Parameters
    ----------
    frame, mechanism, column, by, groups, person, max_groups, max_rows, nan, threads, name
        As for `release`.
    size : int, optional
        How many draws of each group, as a list; None: one.
    rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
        None: fresh from the operating system; else as in SPEC 7.

    Returns
    -------
    polars.DataFrame or polars.LazyFrame
        As of `release`, with a list of draws in each row if there is a size. Draws of
        `MostCommon` are numbers of candidates. A group's draws do not depend on other groups,
        on the order of rows, on the engine or on threads.

    Raises
    ------
    ParameterTypeError, ParameterError, InvalidRecords
        As for `release`.

    Examples
    --------
    >>> import fastexp as fx, fastexp.polars, polars as pl
    >>> rents = pl.DataFrame({"zip": [2, 2, 1], "rent": [900, 800, None]})
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=100)
    >>> how = {"groups": [1, 2, 3], "size": 100, "rng": 7, "nan": "drop"}
    >>> draws = fastexp.polars.sample(rents, median, "rent", by="zip", **how)
    >>> draws.select("zip", pl.col("rent").list.len()).rows()
    [(1, 100), (2, 100), (3, 100)]
    """
    place = place_of(frame, column, by, person, name)
    limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    how: dict[str, Any] = {"size": size, "rng": rng, "nan": nan, "threads": threads}
    call = sample_call(mechanism, column, by, groups, **limits, **how)
    answers: Frame = answered(frame, call, place)
    return answers


class Place(NamedTuple):
    """The columns of a call, and of its result."""

    column: str
    by: str
    person: str | None
    name: str
    used: list[str]
    text: bool  # whether keys are text, as far as the type of their column tells


def place_of(frame: Any, column: Any, by: Any, person: Any, name: Any) -> Place:
    """Check the frame and the names of columns."""
    if not isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        raise ParameterTypeError(
            f"frame must be a Polars DataFrame or LazyFrame, got {described(frame)}"
        )
    answer, schema = result_name(column, by, name), frame.collect_schema()
    used = wanted(schema, column, by, person)
    text = isinstance(by, str) and schema[by] in TEXTS
    return Place(column, by, person, answer, used, text)


def answered(frame: pl.DataFrame | pl.LazyFrame, call: Call, place: Place) -> Any:
    """A row for each group."""

    def read() -> Columns:
        rows = frame.select(place.used)
        whole = call.unraised(rows.collect) if isinstance(rows, pl.LazyFrame) else rows
        return _columns(whole, place)

    empty = pl.DataFrame(schema=frame.collect_schema())
    kind = empty[place.column].dtype
    numeric, text = kind.is_numeric() or kind == pl.Null, kind in TEXTS or kind == pl.Null
    records(call.mechanism, place.column, kind, numeric=numeric, text=text)
    labels, found = call.answers(_columns(empty, place), read)
    text = call.of_text(labels, place.text)
    groups = pl.Series(place.by, labels, dtype=TYPES["text" if text else "integers"])
    answers = pl.DataFrame([groups, _answer_series(place.name, found, call)])
    return answers.lazy() if isinstance(frame, pl.LazyFrame) else answers


def _columns(rows: pl.DataFrame, place: Place) -> Columns:
    persons = None if place.person is None else rows[place.person]
    return Columns(rows[place.column], rows[place.by], persons)


def _answer_series(name: str, found: Any, call: Call) -> pl.Series:
    """Answers as a column: those of several draws as lists."""
    if call.size is None:
        return pl.Series(name, found, dtype=TYPES[call.answer_kind])
    return pl.Series(name, found).arr.to_list()
