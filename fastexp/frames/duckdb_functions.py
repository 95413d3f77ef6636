"""Functions of DuckDB's SQL that answer from lists of records: releases and simulations."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any

import duckdb
from duckdb import func

from .._release_key import ReleaseKey
from .._typing import Membership
from ..budget import Budget, spend
from ..errors import ParameterError, ParameterTypeError
from ..grouped.request import FROM_DATA, Request, check_key
from ..mechanisms.median import Median
from ..mechanisms.quantile import Quantile
from .call import Call, release_call, sample_call
from .duckdb_lists import Once, answers

TYPES = {"integers": "BIGINT", "floats": "DOUBLE", "text": "VARCHAR"}
TAKEN = (
    "function must be a name that the connection has no function of yet, got {!r}: take another "
    "one, or con.remove_function() a function that was registered before"
)
ONLY = "con must be the only argument if there is no function"


def register(
    con: duckdb.DuckDBPyConnection,
    function: str | None = None,
    mechanism: Any = None,
    *,
    groups: Any = None,
    max_groups: int = 1,
    max_rows: int = 1,
    membership: Membership = "private",
    key: ReleaseKey | None = None,
    label: str | None = None,
    budget: Budget | None = None,
    nan: str = "raise",
) -> None:
    """Make one release by group a function of SQL: ``function(group, list(x))``.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        The connection that shall know the function.
    function : str, optional
        Its name. None, with no further argument: registers simulations for any query instead,
        ``fx_sample_median(group, list(x), epsilon, lower, upper, step, seed)`` and
        ``fx_sample_quantile(group, list(x), q, epsilon, lower, upper, step, seed)``, whose
        parameters are constants. Their draws are those of `Median.sample` with ``rng=seed``;
        they are not private.
    mechanism
        A mechanism of numbers (`Median`, `Quantile`, `Price`, ...) or `MostCommon`.
    groups : sequence of int or str
        The public list of groups. The function refuses any other group. ``"from-data"``: it
        answers every group that a query has, with a `PrivacyWarning`.
    max_groups, max_rows : int
        In how many groups one person is, and with how many records in each of them, at most.
        Your claim: lists do not say whose their records are. `release` can bound it.
    membership, nan
        As of `Median.release`.
    key, label
        As of `Median.release`, both or neither. The label ``"{column} by {by}"`` gives the
        answers of the other engines. Without a key, each registration has a fresh one. Whether
        groups are integers or text is part of the question, and a retry is charged to a budget
        again.
    budget : Budget, optional
        Is charged here for one release of all groups, and never refunded.

    Raises
    ------
    ParameterTypeError, ParameterError
        If an argument is outside its range or of the wrong type, or the name is taken.
    BudgetExceeded
        If the rest of the budget does not cover it: then there is no such function.

    Notes
    -----
    The group is an integer up to 64 bits, VARCHAR or ENUM; for NULL the answer is NULL. The
    list is of any numbers, or labels; NULL is an empty one. **Which groups exist** is private,
    and a query over ``GROUP BY`` alone shows it, whatever its functions do. Start from the
    public list, as below; group before the join, since ``list`` over the rows of a LEFT JOIN
    makes ``[NULL]`` of a group without rows, which is one missing record.

    **One registration is one release**: each group may be asked again, in any query, and
    repeats its answer, as long as its list holds the same records in any order. For other
    records the function fails (that it fails depends on the data, and is outside the
    guarantee): register another one, which is another release.

    The function is volatile: DuckDB neither folds nor merges calls. Failures arrive as
    `duckdb.InvalidInputException`.

    Examples
    --------
    >>> import duckdb, fastexp as fx, fastexp.duckdb
    >>> con = duckdb.connect()
    >>> _ = con.execute("CREATE TABLE cities AS SELECT unnest(['Rome', 'Bern']) AS city")
    >>> _ = con.execute("CREATE TABLE rents AS SELECT 'Rome' AS city, range AS rent FROM range(99)")
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=10)
    >>> cities = con.table("cities").to_arrow_table()["city"]
    >>> fx.duckdb.register(con, "private_rent", median, groups=cities)
    >>> query = '''SELECT city, private_rent(city, rents) AS rent FROM cities LEFT JOIN
    ...     (SELECT city, list(rent) AS rents FROM rents GROUP BY city) USING (city)'''
    >>> con.sql(query).to_arrow_table().num_rows
    2
    """
    if function is None:
        if mechanism is not None:
            raise ParameterError(ONLY)
        _register_general(con)
        return
    _name(function)
    check_key(key, label)
    Request("group", groups).checked()
    claim: Any = {"max_groups": max_groups, "max_rows": max_rows, "membership": membership}
    told: Any = {"key": key, "label": function if label is None else label, "nan": nan}
    call = release_call(mechanism, "list", "group", groups, **claim, **told)
    once = Once(call, function)
    _create(con, function, lambda *columns: answers(function, call, columns, once), _type(call))
    if budget is None:
        return
    try:
        spend(budget, mechanism, groups=True, **claim)
    except BaseException:
        con.remove_function(function)
        raise


def register_sample(
    con: duckdb.DuckDBPyConnection,
    function: str,
    mechanism: Any,
    *,
    size: int | None = None,
    rng: Any = None,
    nan: str = "raise",
) -> None:
    """Make simulated draws by group a function of SQL: ``function(group, list(x))``.

    **Not a release**: draws are those of each group's own stream, for studies. The function
    answers any group of any query.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        The connection that shall know the function.
    function : str
        Its name.
    mechanism, size, rng, nan
        As of `Median.sample`; `rng` is read here, once.

    Raises
    ------
    ParameterTypeError, ParameterError
        If an argument is outside its range or of the wrong type.

    Examples
    --------
    >>> import duckdb, fastexp as fx, fastexp.duckdb
    >>> con = duckdb.connect()
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=10)
    >>> fx.duckdb.register_sample(con, "simulated", median, rng=1)
    >>> con.sql("SELECT simulated('Rome', [400, 500, 600])").types
    [BIGINT]
    """
    call = sample_call(mechanism, "list", "group", FROM_DATA, size=size, rng=rng, nan=nan)
    _name(function)
    _create(con, function, lambda *columns: answers(function, call, columns), _type(call))


def _name(function: Any) -> None:
    if not isinstance(function, str) or not function:
        raise ParameterTypeError(f"function must be a name, got {type(function).__name__}")


def _type(call: Call) -> str:
    """SQL's type of the answers."""
    return TYPES[call.answer_kind] + ("" if call.size is None else "[]")


def _create(
    con: duckdb.DuckDBPyConnection, name: str, answer: Callable[..., Any], returned: str
) -> None:
    """A function of any arguments: groups and records are of several types."""
    try:
        con.create_function(
            name,
            answer,
            None,
            returned,
            type=func.PythonUDFType.ARROW,
            null_handling=func.FunctionNullHandling.SPECIAL,
            side_effects=True,  # else calls with equal arguments are folded or merged
        )
    except (duckdb.NotImplementedException, duckdb.CatalogException):
        raise ParameterError(TAKEN.format(name)) from None


GENERAL = {  # between the lists and the seed
    "fx_sample_median": ("epsilon", "lower", "upper", "step"),
    "fx_sample_quantile": ("q", "epsilon", "lower", "upper", "step"),
}


def _register_general(con: duckdb.DuckDBPyConnection) -> None:
    """Simulations whose parameters are in the query."""
    for function in GENERAL:
        _create(con, function, _general(function), TYPES["floats"])


def _general(function: str) -> Callable[..., Any]:
    names = "group", "records", *GENERAL[function], "seed"

    def answer(*columns: Any) -> Any:
        if len(columns) != len(names):
            raise ParameterTypeError(
                f"{function} takes {', '.join(names)}, got {len(columns)} arguments"
            )
        given = zip(names[2:], columns[2:], strict=True)
        *parameters, seed = [_constant(name, column) for name, column in given]
        call = _call(tuple(map(float, parameters)), seed)
        return answers(function, call, columns[:2])

    return answer


@lru_cache(maxsize=64)
def _call(parameters: tuple[float, ...], seed: int) -> Call:
    *q, epsilon, lower, upper, step = parameters
    how: Any = {"epsilon": epsilon, "bounds": (lower, upper), "step": step}
    mechanism = Quantile(q[0], **how) if q else Median(**how)
    return sample_call(mechanism, "list", "group", FROM_DATA, rng=seed)


def _constant(name: str, column: Any) -> Any:
    """The one number of a parameter's column."""
    found = column.unique().to_pylist()
    if len(found) != 1 or not isinstance(found[0], (int, float, Decimal)):
        raise ParameterTypeError(f"{name} must be a number, the same in all rows")
    return found[0]
