"""Private answers by group from Arrow tables and streams, as pyarrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .._group_keys import codes_of
from .._release_key import ReleaseKey
from .._typing import AnyArray, Membership
from ..budget import Budget
from ..errors import ParameterError, ParameterTypeError
from . import checks
from .call import Call, Columns, release_call, sample_call

ANSWERS = {"integers": pa.int64(), "floats": pa.float64(), "text": pa.string()}
NUMBERS = pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null
TEXTS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_null,
)
NAMES = ["records", "group", "person"]
VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
INT32 = 1 << 31  # items of a list array with short offsets


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
) -> pa.Table:
    """One private answer for each group of an Arrow table, from the system's randomness.

    Parameters
    ----------
    frame : pyarrow.Table, RecordBatch or RecordBatchReader, or any Arrow stream
        Anything with `__arrow_c_stream__`. Of a reader or stream, which is read once, only the
        rows of listed groups are held. The columns of a stream are known, and refused, only
        when it is read, after the charge.
    mechanism
        A mechanism of numbers (`Median`, `Quantile`, `Price`, ...) or `MostCommon`.
    column : str
        The records: one number (or label) a person. Decimals are read as the
        nearest float64.
    by : str
        The group of each record: integers or text, also as a dictionary. Rows of groups that
        are not in `groups`, and of none (null), are left out.
    groups : sequence of int or str
        The public list of groups to answer; also those without rows are answered.
        ``"from-data"`` takes the groups that the data have, which are private: with a
        `PrivacyWarning`.
    person : str, optional
        Whose each row is. Of each person at most `max_groups` groups, and in each of them at
        most `max_rows` rows count.
    max_groups, max_rows, membership, nan, threads
        As of `Median.release`.
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
        What the column of answers is called; default: `column`.

    Returns
    -------
    pyarrow.Table
        A row a group, in the order of `groups`: columns `by` (int64 or string) and `name`
        (int64, double or string). Neither order nor types depend on the rows.

    Raises
    ------
    ParameterTypeError, ParameterError
        If an argument is outside its range or of the wrong type, or a column is not there.
    BudgetExceeded
        If the rest of the budget does not cover it: nothing is read or charged.
    BudgetError
        If the label was given to another question, or the file cannot be used.
    InvalidRecords
        If a record is missing and nan="raise". A budget is charged before.

    Notes
    -----
    **Privacy**: ``mechanism.total(groups=True, ...)``. The same key, label, mechanism and rows
    repeat their answers, whatever the order of the rows, their batches and the engine.

    Examples
    --------
    >>> import fastexp as fx, fastexp.arrow, pyarrow as pa
    >>> rents = pa.table({"city": ["Oslo", "Rome"] * 60, "rent": [900, 400] * 60})
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=10)
    >>> found = fx.arrow.release(rents, median, "rent", by="city", groups=["Rome", "Bern"])
    >>> found["city"].to_pylist(), found.schema.types
    (['Rome', 'Bern'], [DataType(string), DataType(int64)])
    """
    rows = opened(frame, column, by, person)
    shown = checks.result_name(column, by, name)
    limits: Any = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    told: Any = {"membership": membership, "key": key, "label": label, "budget": budget}
    how: Any = {"nan": nan, "threads": threads}
    call = release_call(mechanism, column, by, groups, **limits, **told, **how)
    return answered(call, rows, by, shown)


def sample(
    frame: Any,
    mechanism: Any,
    column: str,
    *,
    by: str,
    groups: Any,
    size: int | None = None,
    rng: Any = None,
    person: str | None = None,
    max_groups: int = 1,
    max_rows: int = 1,
    nan: str = "raise",
    threads: int = 1,
    name: str | None = None,
) -> pa.Table:
    """Simulated draws for each group of an Arrow table, reproducible from `rng`; not private.

    Parameters
    ----------
    frame, mechanism, column, by, groups, person, max_groups, max_rows, nan, threads, name
        As of `release`.
    size : int, optional
        How many draws of each group; None: one.
    rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
        As in SPEC 7.

    Returns
    -------
    pyarrow.Table
        As of `release`; with `size` the answers are lists. Of `MostCommon` they are the numbers
        of candidates.

    Raises
    ------
    ParameterTypeError, ParameterError, InvalidRecords
        As of `release`, and for `size` and `rng`.
    """
    rows = opened(frame, column, by, person)
    shown = checks.result_name(column, by, name)
    limits: Any = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    how: Any = {"size": size, "rng": rng, "nan": nan, "threads": threads}
    call = sample_call(mechanism, column, by, groups, **limits, **how)
    return answered(call, rows, by, shown)


class Rows(NamedTuple):
    """Tables of two or three columns: records, groups, persons; at least one table."""

    column: str  # what that of records is called in the frame
    parts: Iterable[pa.Table]
    schema: pa.Schema | None  # None: not known before the parts begin
    once: bool  # parts come from a stream: hold of them what is needed


def opened(frame: Any, column: str, by: str, person: str | None) -> Rows:
    """The columns of a frame, before a row of it is read.

    What is known only as a stream is not asked for it yet: its producer may run a query then.
    """
    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    if isinstance(frame, pa.Table):
        chosen, schema = _chosen(frame.schema, column, by, person)
        whole = pa.table([frame.column(i) for i in chosen], schema=schema)
        return Rows(column, iter([whole]), schema, once=False)
    if isinstance(frame, pa.RecordBatchReader):
        _, schema = _chosen(frame.schema, column, by, person)
        return Rows(column, _parts(frame, column, by, person), schema, once=True)
    one = isinstance(frame, pa.ChunkedArray) or hasattr(frame, "dtype")  # a series
    if one or not hasattr(type(frame), "__arrow_c_stream__"):
        raise ParameterTypeError(
            f"frame must be an Arrow table or stream, got {checks.described(frame)}"
        )
    return Rows(column, _parts(frame, column, by, person), None, once=True)


def _parts(stream: Any, column: str, by: str, person: str | None) -> Iterator[pa.Table]:
    """A table without rows, then batch after batch."""
    reader = pa.RecordBatchReader.from_stream(stream)
    chosen, schema = _chosen(reader.schema, column, by, person)
    yield schema.empty_table()
    for batch in reader:
        yield pa.table([batch.column(i) for i in chosen], schema=schema)


def _chosen(
    whole: pa.Schema, column: str, by: str, person: str | None
) -> tuple[list[int], pa.Schema]:
    """Where the columns are, and their types."""
    index = places(whole.names, column, by, person)
    kinds = [whole.field(i).type for i in index]
    return index, pa.schema(list(zip(NAMES[: len(kinds)], kinds, strict=True)))


def places(present: list[str], column: str, by: str, person: str | None) -> list[int]:
    """Where the columns are: each name once."""
    checks.wanted(present, column, by, person)
    asked = {"column": column, "by": by} | ({} if person is None else {"person": person})
    for argument, name in asked.items():
        if not isinstance(name, str):
            raise ParameterTypeError(
                f"{argument} must be a column's name, got {type(name).__name__}"
            )
        if present.count(name) > 1:
            raise ParameterError(f"{argument} must be one column of the frame, got several")
    return [present.index(name) for name in asked.values()]


def answered(call: Call, rows: Rows, by: str, name: str) -> pa.Table:
    """Groups and answers."""
    schema = rows.schema

    def columns(table: pa.Table) -> Columns:
        kind = table.schema.field(0).type
        coded = pa.types.is_dictionary(kind)
        held = kind.value_type if coded else kind
        numeric, text = (any(test(held) for test in tests) for tests in (NUMBERS, TEXTS))
        checks.records(call.mechanism, rows.column, kind, numeric=numeric, text=text, coded=coded)
        return Columns(*table.columns)

    def read() -> Columns:
        nonlocal schema
        parts = call.each(rows.parts)
        table = held(call, parts) if rows.once else next(parts)
        schema = schema or table.schema
        return columns(table)

    empty = None if schema is None else columns(schema.empty_table())
    labels, answers = call.answers(empty, read)
    kind = pa.string() if schema is None else schema.field(1).type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    text = call.of_text(labels, not pa.types.is_integer(kind))
    keys = pa.array(labels, pa.string() if text else pa.int64())
    return pa.table([keys, answer_column(call, answers)], names=[by, name])


def held(call: Call, parts: Iterable[pa.Table]) -> pa.Table:
    """The rows of listed groups of a stream; their groups as numbers of the list's."""
    kept, codes = [], [np.zeros(0, np.int32)]
    for whole in parts:
        part = _filterable(whole)
        if call.names is not None:
            found = codes_of(part.column(1), call.names)
            known = found >= 0
            if not known.all():
                part, found = part.filter(pa.array(known)), found[known]
            codes.append(found.astype(np.int32))
        kept.append(part)
    rows = pa.concat_tables(kept)
    if call.names is None:
        return rows
    labels = pa.array(call.names.labels(), pa.string() if call.names.kind == "text" else pa.int64())
    group = pa.DictionaryArray.from_arrays(np.concatenate(codes), labels)
    return rows.set_column(1, "group", group)


def _filterable(table: pa.Table) -> pa.Table:
    """The same without views, of which pyarrow leaves out no rows."""
    kinds = [VIEWS.get(kind, kind) for kind in table.schema.types]
    return table.cast(pa.schema(list(zip(table.column_names, kinds, strict=True))))


def answer_column(call: Call, answers: Any) -> pa.Array:
    """Answers of groups as an array, or lists of `size`."""
    kind = ANSWERS[call.answer_kind]
    if call.size is None:
        return pa.array(answers, kind)
    many: AnyArray = np.asarray(answers)
    flat = pa.array(many.reshape(-1), kind)
    offsets = np.arange(many.shape[0] + 1) * call.size
    if many.size < INT32:
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat)
    return pa.LargeListArray.from_arrays(pa.array(offsets), flat)
