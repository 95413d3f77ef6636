"""Private answers by group of pandas frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd
from pandas.api import types

from .._key_objects import KEYS
from .._release_key import ReleaseKey
from .._typing import Membership, RNGLike, SeedLike
from ..budget import Budget
from ..errors import ParameterError, ParameterTypeError
from .call import Call, Columns, release_call, sample_call
from .checks import described, records, result_name, wanted

NULLS = "null[pyarrow]"
TYPES: dict[str, Any] = {"integers": "int64", "floats": "float64", "text": "str"}


def release(
    frame: pd.DataFrame,
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
) -> pd.DataFrame:
    """One private answer for each group of a public list.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows. Its index does not matter.
    mechanism
        A mechanism of numbers (`fastexp.Median`, `Quantile`, `Price`, ...) or `MostCommon`.
    column : str
        The column of records: of any numeric type, also nullable and of Arrow. Decimals, also
        as objects, are read as the nearest float64.
    by : str
        The column of groups: integers, texts or categories of them. Rows of groups that are not
        listed, and of none (missing), are left out. Integers that pandas has made floats for
        the sake of gaps are refused: ``astype("Int64")``.
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
        What to do with records that are missing or NaN.
    threads : int
        1; 0 for all that the process may use.
    name : str, optional
        What the column of answers is called; default: as `column`.

    Returns
    -------
    pandas.DataFrame
        A row for each group, in the order of the list, also for groups without records: the
        columns `by` (int64 or str) and `name`. Neither rows, nor order, nor types depend on
        the data, unless groups are from the data (sorted then).

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
    >>> import fastexp as fx, fastexp.pandas, pandas as pd
    >>> rents = pd.DataFrame({"city": ["Oslo", "Rome"] * 90, "rent": [900, 600] * 90})
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=100)
    >>> answers = rents.fx.release(median, "rent", by="city", groups=["Rome", "Bern", "Oslo"])
    >>> answers.set_index("city")["rent"].loc[["Rome", "Oslo"]].to_dict()
    {'Rome': 600, 'Oslo': 900}
    """
    place = place_of(frame, column, by, person, name)
    limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    shared: dict[str, Any] = {"membership": membership, "nan": nan, "threads": threads}
    told: dict[str, Any] = {"key": key, "label": label, "budget": budget}
    call = release_call(mechanism, column, by, groups, **limits, **shared, **told)
    return answered(frame, call, place)


def sample(
    frame: pd.DataFrame,
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
) -> pd.DataFrame:
    """Simulated draws for each group of a list, reproducible from `rng`; not private.

    Parameters
    ----------
    frame, mechanism, column, by, groups, person, max_groups, max_rows, nan, threads, name
        As for `release`.
    size : int, optional
        How many draws of each group; None: one.
    rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
        None: fresh from the operating system; else as in SPEC 7.

    Returns
    -------
    pandas.DataFrame
        As of `release`, with an array of draws in each row (a column of objects) if there is a
        size. Draws of `MostCommon` are numbers of candidates. A group's draws do not depend on
        other groups, on the order of rows or on threads.

    Raises
    ------
    ParameterTypeError, ParameterError, InvalidRecords
        As for `release`.

    Examples
    --------
    >>> import fastexp as fx, fastexp.pandas, pandas as pd
    >>> rents = pd.DataFrame({"zip": [2, 2, 1], "rent": [900, 800, None]})
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=100)
    >>> how = {"groups": [1, 2, 3], "size": 100, "rng": 7, "nan": "drop"}
    >>> draws = fastexp.pandas.sample(rents, median, "rent", by="zip", **how)
    >>> draws["rent"].map(len).tolist()
    [100, 100, 100]
    """
    place = place_of(frame, column, by, person, name)
    limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    how: dict[str, Any] = {"size": size, "rng": rng, "nan": nan, "threads": threads}
    call = sample_call(mechanism, column, by, groups, **limits, **how)
    return answered(frame, call, place)


class Place(NamedTuple):
    """The columns of a call, and of its result."""

    column: str
    by: str
    person: str | None
    name: str
    used: list[str]


def place_of(frame: Any, column: Any, by: Any, person: Any, name: Any) -> Place:
    """Check the frame and the names of columns."""
    if not isinstance(frame, pd.DataFrame):
        raise ParameterTypeError(f"frame must be a pandas DataFrame, got {described(frame)}")
    answer, present = result_name(column, by, name), list(frame.columns)
    used = wanted(present, column, by, person)
    for each in used:
        if present.count(each) > 1:
            raise ParameterError(f"frame must have one column of the name {each!r}, got several")
    return Place(column, by, person, answer, used)


def answered(frame: pd.DataFrame, call: Call, place: Place) -> pd.DataFrame:
    """A row for each group."""

    def columns(rows: pd.DataFrame) -> Columns:
        persons = None if place.person is None else rows[place.person]
        return Columns(rows[place.column], rows[place.by], persons)

    return drawn(call, columns(frame.iloc[:0]), lambda: columns(frame), place)


def drawn(call: Call, empty: Columns, read: Callable[[], Columns], place: Place) -> pd.DataFrame:
    """The answers of columns of pandas, as `Call.answers` takes them."""
    kind = empty.records.dtype
    held = _coded(kind)
    coded = held is not kind
    either = types.is_object_dtype(held) or str(held) == NULLS
    numeric = either or (types.is_numeric_dtype(held) and not types.is_bool_dtype(held))
    text = either or types.is_string_dtype(held)
    records(call.mechanism, place.column, kind, numeric=numeric, text=text, coded=coded)
    for argument, keys in (("by", empty.groups), ("person", empty.persons)):
        if getattr(getattr(keys, "dtype", None), "kind", "O") == "f":
            raise ParameterTypeError(KEYS.format(argument))  # it would pass without a row
    labels, found = call.answers(empty, read)
    text = call.of_text(labels, _is_text(empty.groups))
    groups = pd.Series(labels, dtype=TYPES["text" if text else "integers"])
    if call.size is None:
        answers = pd.Series(found, dtype=TYPES[call.answer_kind])
    else:
        answers = pd.Series(list(found), dtype=object)
    return pd.DataFrame({place.by: groups, place.name: answers})


def _coded(kind: Any) -> Any:
    """The type of the entries of categories, pandas' and Arrow's; any other type as it is."""
    if isinstance(kind, pd.CategoricalDtype):
        return kind.categories.dtype
    if str(kind).startswith("dictionary") and isinstance(kind, pd.ArrowDtype):
        return pd.ArrowDtype(kind.pyarrow_dtype.value_type)
    return kind


def _is_text(keys: Any) -> bool:
    """Whether a column of groups is of text, as far as its type tells."""
    dtype: Any = getattr(keys, "dtype", object)
    return not types.is_integer_dtype(getattr(getattr(dtype, "categories", None), "dtype", dtype))
