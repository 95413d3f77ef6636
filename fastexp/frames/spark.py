"""Private answers by group of Spark frames: `collect_list`, then `mapInArrow`.

Executors need fastexp of the same version; their Python processes share one cache of kernels.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from .._release_key import ReleaseKey
from .._typing import Membership, RNGLike, SeedLike
from ..budget import Budget
from .call import release_call, sample_call
from .checks import result_name
from .spark_plan import answers, rows_of


def release(
    frame: DataFrame,
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
) -> DataFrame:
    """One private answer for each group of a public list, as a lazy Spark frame.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The rows; no stream.
    mechanism : Median, Quantile, Price, MostCommon, ...
        What is asked of each group.
    column : str
        The records: integers or floats (for `MostCommon` also text).
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
        The same key, label, mechanism, group and records give the same answer, in every
        engine. Default: a fresh one for this call. Whether `by` and `person` are integers or
        text is part of the question, and a retry is charged to a budget again.
    label : str, optional
        Names the query; default: "{column} by {by}".
    budget : Budget, optional
        Is charged here, once; not when the plan runs.
    nan : {"raise", "drop", "lower", "upper"}
        What to do with records that are null or NaN: as for the mechanism's `release`.
    threads : int
        Of each task; Spark has as many tasks at a time as cores.
    name : str, optional
        Of the column of answers; default: that of the records.

    Returns
    -------
    pyspark.sql.DataFrame
        A row a group, in one partition in the order of `groups`: columns `by` (long or
        string) and `name` (long, double or string).

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument, or the type of a column, does not fit.
    BudgetExceeded
        If the rest of the budget does not cover it.
    pyspark.errors.PythonException
        When the plan runs, if a record is missing and nan="raise".

    Notes
    -----
    **Privacy**: ``mechanism.total(groups=True, max_groups=..., max_rows=...)``. Neither rows,
    nor order, nor schema tell which groups exist; Spark's own metrics, logs and shuffle files
    do, and are as private as the data. The plan holds the release key: whoever sees its
    pickled functions can undo the noise. **Retries**: tasks that fail, run twice or run again
    repeat their answers, and so does a plan that runs again on the same records. If the
    source has changed, the answers are those of a new release, which no budget knows of:
    write the result once and read that.

    Examples
    --------
    >>> import fastexp as fx
    >>> from fastexp.spark import release
    >>> rows = [("Rome", 900.0)] * 99 + [("Oslo", 1500.0)] * 99
    >>> rents = spark.createDataFrame(rows, ["city", "rent"])  # doctest: +SKIP
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 5000), step=50)
    >>> towns = ["Oslo", "Rome", "Bern"]
    >>> found = release(rents, median, "rent", by="city", groups=towns)  # doctest: +SKIP
    >>> [row.city for row in found.collect()]  # doctest: +SKIP
    ['Oslo', 'Rome', 'Bern']
    """
    answer = result_name(column, by, name)
    rows = rows_of(frame, mechanism, column, by, person)
    limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    shared: dict[str, Any] = {"membership": membership, "nan": nan, "threads": threads}
    told: dict[str, Any] = {"key": key, "label": label, "budget": budget}
    call = release_call(mechanism, column, by, groups, **limits, **shared, **told)
    return answers(rows, call, by, answer)


def sample(
    frame: DataFrame,
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
) -> DataFrame:
    """Simulated draws for each group, as a lazy Spark frame: for studies, not for release.

    Parameters
    ----------
    frame, mechanism, column, by, groups, person, max_groups, max_rows, nan, threads, name
        As for `release`.
    size : int, optional
        How many draws of each group; default: one, which is no list.
    rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
        Read here, once; None: fresh from the operating system. A group's draws do not depend
        on other groups, rows' order, partitions, retries or the engine.

    Returns
    -------
    pyspark.sql.DataFrame
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
    >>> import fastexp as fx
    >>> from fastexp.spark import sample
    >>> rents = spark.createDataFrame([(1, 900.0)] * 99, ["city", "rent"])  # doctest: +SKIP
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 5000), step=100)
    >>> how = {"by": "city", "groups": [1, 2], "size": 3, "rng": 1}
    >>> drawn = sample(rents, median, "rent", **how)  # doctest: +SKIP
    >>> [len(row.rent) for row in drawn.collect()]  # doctest: +SKIP
    [3, 3]
    """
    answer = result_name(column, by, name)
    rows = rows_of(frame, mechanism, column, by, person)
    limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    how: dict[str, Any] = {"size": size, "rng": rng, "nan": nan, "threads": threads}
    call = sample_call(mechanism, column, by, groups, **limits, **how)
    return answers(rows, call, by, answer)
