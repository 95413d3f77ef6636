"""Private answers by group of whatever frame: the result is of the same kind.

Frames of Polars, pandas and pyarrow go to their own modules; what else narwhals knows as an
eager frame (Modin, cuDF) goes by it, and whatever else streams Arrow data by that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from .._release_key import ReleaseKey
from .._typing import Membership, RNGLike, SeedLike
from ..budget import Budget
from ..errors import ParameterTypeError
from .call import Call, Columns, release_call, sample_call
from .checks import described, records, result_name, wanted

FRAMES = (
    "frame must be a frame of Polars, pandas or pyarrow, one that narwhals (if installed) knows as "
    "eager, or an Arrow stream; of others see fastexp.spark and fastexp.dask; got {}"
)
Finish = Callable[[Call], Any]


def release(
    frame: Any,
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
    """One private answer for each group of a public list, of a frame of any kind.

    Parameters
    ----------
    frame
        A frame of Polars (also lazy), pandas or pyarrow; an eager frame of another kind that
        narwhals knows, as of Modin, if narwhals is installed; a
        relation of DuckDB; or whatever has ``__arrow_c_stream__``, whose columns are known, and
        refused, only when it is read, after the charge.
    mechanism
        A mechanism of numbers (`fastexp.Median`, `Quantile`, `Price`, ...) or `MostCommon`.
    column, by, person : str
        The columns of records, of groups (integers or text) and, if given, of persons.
    groups : sequence of int or str
        The public list of groups to answer, without repetition. ``"from-data"`` takes those
        that the data have, which are private: with a `PrivacyWarning`.
    max_groups, max_rows, membership, nan, threads
        As of `fastexp.Median.release`.
    key : ReleaseKey, optional
        The same key, label, mechanism, group and records repeat their answer, in all engines.
        Whether `by` and `person` are integers or text is part of the question.
    label : str, optional
        What the release is called; with `budget` or `key`. A `Budget.file` keeps its answers
        under this name, and the same question in any engine gives them again, without a charge
        or a look at the rows. With a key the default is ``"{column} by {by}"``.
    budget : Budget, optional
        Is charged ``mechanism.total(groups=True, ...)`` before a row is read; never refunded.
    name : str, optional
        What the column of answers is called; default: as `column`.

    Returns
    -------
    frame
        Of the kind of `frame`; of an Arrow stream a pyarrow Table or, without pyarrow, a dict
        of two arrays. A row for each group, in the order of the list: the columns `by` (int64
        or text) and `name`.

    Raises
    ------
    ParameterTypeError, ParameterError, BudgetExceeded, InvalidRecords
        As of `fastexp.Median.release`.

    Notes
    -----
    **Privacy**: ``mechanism.total(groups=True, membership=..., max_groups=..., max_rows=...)``.
    One key gives the same answers whatever the kind of frame.

    Examples
    --------
    >>> import fastexp as fx, pandas as pd, polars as pl
    >>> from fastexp import frame
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=100)
    >>> how = {"by": "city", "groups": ["Rome", "Bern", "Oslo"], "key": fx.release_key()}
    >>> rents = {"city": ["Oslo", "Rome"] * 90, "rent": [900, 600] * 90}
    >>> one = frame.release(pl.DataFrame(rents), median, "rent", **how)
    >>> two = frame.release(pd.DataFrame(rents), median, "rent", **how)
    >>> one.equals(pl.from_pandas(two))
    True
    """
    finish = opened(frame, column, by, person, name)
    limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    shared: dict[str, Any] = {"membership": membership, "nan": nan, "threads": threads}
    told: dict[str, Any] = {"key": key, "label": label, "budget": budget}
    return finish(release_call(mechanism, column, by, groups, **limits, **shared, **told))


def sample(
    frame: Any,
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
    frame
        As of `release`; with a size a column of lists (of arrays in frames like pandas', an
        array of shape (groups, size) in a dict).

    Raises
    ------
    ParameterTypeError, ParameterError, InvalidRecords
        As for `release`.
    """
    finish = opened(frame, column, by, person, name)
    limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    how: dict[str, Any] = {"size": size, "rng": rng, "nan": nan, "threads": threads}
    return finish(sample_call(mechanism, column, by, groups, **limits, **how))


def opened(frame: Any, column: Any, by: Any, person: Any, name: Any) -> Finish:
    """Check the frame and its columns; what then makes the answers of a call."""
    answer = result_name(column, by, name)
    home = own_module(frame)
    if home is not None:
        place = home.place_of(frame, column, by, person, name)
        return lambda call: home.answered(frame, call, place)
    eager = None if _is_arrow(frame) else known_to_narwhals(frame)
    if eager is not None:
        wanted(eager.columns, column, by, person)
        return lambda call: _by_narwhals(eager, call, column, by, person, answer)
    other = ParameterTypeError(FRAMES.format(described(frame)))
    streams_data = hasattr(type(frame), "__arrow_c_stream__") or _is_arrow(frame)
    if not streams_data or hasattr(frame, "dtype"):  # of one column: a series
        raise other
    if find_spec("pyarrow") is not None:
        from . import arrow

        rows = arrow.opened(frame, column, by, person)
        return lambda call: arrow.answered(call, rows, by, answer)
    from . import streams

    return lambda call: streams.answered(call, frame, column, by, person, answer)


def own_module(frame: Any) -> Any:
    """The module for frames of Polars, pandas or DuckDB, none of which is imported for it."""
    polars, pandas = sys.modules.get("polars"), sys.modules.get("pandas")
    duckdb = sys.modules.get("duckdb")
    if polars is not None and isinstance(frame, (polars.DataFrame, polars.LazyFrame)):
        from . import polars as own

        return own
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        from . import pandas as other

        return other
    if duckdb is None or find_spec("pyarrow") is None:
        return None
    if isinstance(frame, duckdb.DuckDBPyRelation):
        from . import duckdb as third

        return third
    return None


def known_to_narwhals(frame: Any) -> Any:
    """The frame in narwhals' hands; None if it does not know it as eager, or is not installed."""
    if find_spec("narwhals") is None:
        return None
    import narwhals.stable.v2 as nw

    found = nw.from_native(frame, eager_only=True, pass_through=True)
    return found if isinstance(found, nw.DataFrame) else None


def _is_arrow(frame: Any) -> bool:
    return type(frame).__module__.partition(".")[0] == "pyarrow"


def _by_narwhals(frame: Any, call: Call, column: str, by: str, person: Any, name: str) -> Any:
    import narwhals.stable.v2 as nw

    def columns(rows: Any) -> Columns:
        persons = None if person is None else rows[person].to_native()
        return Columns(rows[column].to_native(), rows[by].to_native(), persons)

    kind = frame.schema[column]
    either = kind in (nw.Object, nw.Unknown)
    text = either or kind in (nw.String, nw.Categorical, nw.Enum)
    records(call.mechanism, column, kind, numeric=either or kind.is_numeric(), text=text)
    labels, found = call.answers(
        columns(frame.head(0)), lambda: call.unraised(lambda: columns(frame))
    )
    text = call.of_text(labels, frame.schema[by] == nw.String)
    kinds = {"integers": nw.Int64(), "floats": nw.Float64(), "text": nw.String()}
    schema = {by: kinds["text" if text else "integers"], name: kinds[call.answer_kind]}
    many = call.size is not None
    if many and frame.implementation.is_pandas_like():  # there, arrays are objects
        schema[name] = nw.Object()
    elif many:
        schema[name] = nw.List(schema[name])
    data = {by: labels, name: list(found) if many else found}
    return nw.from_dict(data, schema, backend=frame.implementation).to_native()
