"""The namespace `fx` of Polars frames and expressions."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from .._group_names import Names
from .._release_key import ReleaseKey
from .._typing import Membership, RNGLike, SeedLike
from ..budget import Budget
from ..errors import ParameterError, ParameterTypeError
from ..grouped.request import FROM_DATA, is_from_data
from .call import Call, release_call, sample_call
from .polars import answer_series, answer_type, answered, place_of

LISTS = (
    "fx needs a column of lists, one for each group: make it by group_by(...).agg(column), or "
    "inside agg by pl.col(column).implode()"
)
KEYS = "by must hold integers or texts, one for each list: inside agg, pl.col(by).first()"


class FrameNamespace:
    """`frame.fx.release(...)` and `frame.fx.sample(...)` of a DataFrame or LazyFrame.

    They are `fastexp.polars.release` and `fastexp.polars.sample` of the frame.
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
        """One private answer for each group of a public list, as of `fastexp.polars.release`.

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
            As for `fastexp.polars.release`, which says more of all of them.

        Returns
        -------
        polars.DataFrame or polars.LazyFrame
            A row for each group, in the order of the list: the columns `by` and `name`
            (default: as `column`).

        Raises
        ------
        ParameterTypeError, ParameterError, BudgetExceeded, InvalidRecords
            As for `fastexp.polars.release`.

        Notes
        -----
        **Privacy**: ``mechanism.total(groups=True, ...)``.

        Examples
        --------
        >>> import fastexp as fx, fastexp.polars, polars as pl
        >>> rents = pl.DataFrame({"zip": [1, 2] * 90, "rent": [900, 600] * 90})
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
        """Simulated draws for each group, as of `fastexp.polars.sample`; not private.

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
        polars.DataFrame or polars.LazyFrame
            As of `release`, of `size` draws in each row if there is a size.
        """
        limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
        how: dict[str, Any] = {"size": size, "rng": rng, "nan": nan, "threads": threads}
        place = place_of(self._frame, column, by, person, name)
        call = sample_call(mechanism, column, by, groups, **limits, **how)
        return answered(self._frame, call, place)


class ExprNamespace:
    """`pl.col(lists).fx.sample(...)` and `.release(...)`: each list is a group's records.

    For lists that exist already. Rows, then, tell which groups exist: for a release by a public
    list of groups use `frame.fx.release`. An answer depends on its own row alone.
    """

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def sample(
        self,
        mechanism: Any,
        *,
        by: str | pl.Expr,
        size: int | None = None,
        rng: SeedLike | RNGLike | None = None,
        nan: str = "raise",
        threads: int = 1,
    ) -> pl.Expr:
        """Simulated draws for each list; not private.

        Parameters
        ----------
        mechanism, size, rng, nan, threads
            As for `fastexp.polars.sample`; `rng` is read here and now.
        by : str or polars.Expr
            The group that each list is of: it names the row's stream of random words. A row
            without one has no answer (null).

        Returns
        -------
        polars.Expr
            A draw, or a list of them, for each row. A null list is an empty one.

        Notes
        -----
        Inside `agg`, ``pl.col("rent").implode().fx.sample(mechanism, by=pl.col("city").first())``
        does the same; Polars then makes one call a group, which is slower by far than the lists
        of a `group_by` before.

        Examples
        --------
        >>> import fastexp as fx, fastexp.polars, polars as pl
        >>> rents = pl.DataFrame({"city": ["Oslo", "Rome"] * 90, "rent": [900, 600] * 90})
        >>> lists = rents.group_by("city", maintain_order=True).agg("rent")
        >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=100)
        >>> lists.with_columns(pl.col("rent").fx.sample(median, by="city", rng=1)).rows()
        [('Oslo', 900), ('Rome', 600)]
        """
        how: dict[str, Any] = {"size": size, "rng": rng, "nan": nan, "threads": threads}
        return self._planned(sample_call(mechanism, "lists", "by", FROM_DATA, **how), by)

    def release(
        self,
        mechanism: Any,
        *,
        by: str | pl.Expr,
        groups: str,
        max_groups: int = 1,
        max_rows: int = 1,
        membership: Membership = "private",
        key: ReleaseKey | None = None,
        label: str | None = None,
        budget: Budget | None = None,
        nan: str = "raise",
        threads: int = 1,
    ) -> pl.Expr:
        """One private answer for each list, **of those groups that exist**.

        Parameters
        ----------
        mechanism, max_groups, max_rows, membership, budget, nan, threads
            As for `fastexp.polars.release`; the budget is charged here and now. Persons are
            not bounded here: `max_groups` and `max_rows` are your claim.
        key : ReleaseKey, optional
            Repeats the answers of the same question. Whether `by` is integers or text is part
            of the question, and a retry is charged to a budget again.
        by : str or polars.Expr
            The group that each list is of. A row without one has no answer (null).
        groups : {"from-data"}
            To be said: rows tell which groups exist. There is a `PrivacyWarning`.
        label : str, optional
            Names the query; default ``"{column} by {by}"``, by the expressions' output names.

        Returns
        -------
        polars.Expr
            An answer for each row. A null list is an empty one.
        """
        if not is_from_data(groups):
            raise ParameterError(
                f'groups must be "{FROM_DATA}": expressions answer the rows that there are; for a '
                "public list of groups use frame.fx.release"
            )
        column, key_name = ("lists", "by") if label else (_name(self._expr), _name(by))
        claim: dict[str, Any] = {"max_groups": max_groups, "max_rows": max_rows}
        told: dict[str, Any] = {"key": key, "label": label, "budget": budget}
        how: dict[str, Any] = {"membership": membership, "nan": nan, "threads": threads}
        return self._planned(
            release_call(mechanism, column, key_name, groups, **claim, **told, **how), by
        )

    def _planned(self, call: Call, by: str | pl.Expr) -> pl.Expr:
        kind, node = answer_type(call), partial(answers, call=call)
        both = [self._expr, by]  # the first one names the result
        return pl.map_batches(both, node, return_dtype=kind, is_elementwise=True)


def answers(parts: Any, call: Call) -> pl.Series:
    """The answers of some rows: lists and their groups."""
    lists, keys = parts
    if isinstance(lists.dtype, pl.Array):
        lists = lists.arr.to_list()
    if not isinstance(lists.dtype, pl.List):
        raise ParameterTypeError(LISTS)
    rows = keys.len() if lists.len() == 1 else lists.len()
    lists, keys = (s.new_from_index(0, rows) if s.len() != rows else s for s in (lists, keys))
    names, known = _named(keys)
    if not known.all():
        lists = lists.filter(known)
    lengths = lists.list.len().fill_null(0)
    offsets = np.concatenate([np.zeros(1, np.int64), lengths.cum_sum().cast(pl.Int64).to_numpy()])
    items = lists.filter(lengths > 0).explode()  # of empty lists it would make nulls
    found = call.segments(items, offsets, names)
    out = answer_series(lists.name, found, call)
    if known.all():
        return out
    place = known.cast(pl.Int64).cum_sum() - 1
    return out.gather(place.set(~known, None))


def _named(keys: pl.Series) -> tuple[Names, pl.Series]:
    """The groups of rows, as often as they come, and which rows have one."""
    if keys.dtype.is_integer():
        keys = keys.cast(pl.Int64, strict=False)  # beyond int64: of no group
        known = keys.is_not_null()
        return Names(keys.drop_nulls().to_numpy()), known
    if keys.dtype in (pl.String, pl.Categorical, pl.Enum):
        return Names(None, tuple(keys.drop_nulls().cast(pl.String).to_list())), keys.is_not_null()
    raise ParameterTypeError(KEYS)


def _name(expr: str | pl.Expr) -> str:
    if isinstance(expr, str):
        return expr
    name = None
    with contextlib.suppress(pl.exceptions.PolarsError):
        name = expr.meta.output_name()
    if name is None:
        raise ParameterError("label must be given where expressions have no single name")
    return name


pl.api.register_dataframe_namespace("fx")(FrameNamespace)
pl.api.register_lazyframe_namespace("fx")(FrameNamespace)
pl.api.register_expr_namespace("fx")(ExprNamespace)
