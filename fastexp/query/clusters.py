"""Frames of Spark and Dask: workers draw where the rows are, and only answers come here.

The engine brings the rows of a person together, and a task marks those within the limits; then the
rows of a group, and a task answers it. A task may run again: which rows count depends on secrets
that were made before. What the last tasks draw is collected once; no step of an engine follows.
Types are those of the schema in all partitions, so that equal keys meet.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..data.keys import Labels
from ..draws.words import SYSTEM
from ..errors import InvalidRecords, ParameterError, ParameterTypeError
from ..parameters import checks
from ..types import Integers, Words
from .answers import Limits
from .output import Drawn, packed, unpacked
from .rows import Rows, Wanted, counted, draw, rows_of
from .sources import Arrow, Pandas

VERSION = version("fastexp")
LIMITED = "limited"  # a column beside those that are read, which have numbers as names
BATCH = 1 << 16  # rows that Spark gets at a time
WORKERS = f"workers must be there, and have fastexp {VERSION}, as this process has, and PyArrow"
WITHHELD = (
    "a task of a worker failed; what the engine says is withheld, since it may quote rows. Records "
    "must not be missing, or nan must say what missing ones mean; types must be those of the "
    "schema; all rows of a group must fit into a task: give workers more memory, or tasks fewer "
    "groups by more partitions"
)
LOST = "the engine lost a task, or divided a group among tasks: nothing can be answered"


class Plan(NamedTuple):
    """What tasks know. It is public."""

    version: str
    schema: Any  # of the columns that are read, which have numbers as names
    wanted: Wanted
    limits: Limits
    is_open: bool  # whether groups are those of the data

    @property
    def steps(self) -> list[tuple[Step, list[str], Any]]:
        """Each step; the columns by which rows come together before; the types after."""
        columns, person = self.wanted.columns, self.wanted.person
        cells = pa.schema([("cells", pa.string())])
        steps: list[Any] = [(answer_there, self.wanted.by, cells)]
        if person:
            marked = self.schema.append(pa.field(LIMITED, pa.int64()))
            steps.insert(0, (limit_there, [person], marked))
        return [(step, [str(columns.index(x)) for x in names], made) for step, names, made in steps]


Step = Callable[[Any, Plan, list[Words]], Any]


def type_there(table: Any, plan: Plan, _: list[Words]) -> Any:
    """Return the rows of a partition of pandas with the types of the schema."""
    for own, field in zip(table.schema, plan.schema, strict=True):
        if own.type.id not in (field.type.id, pa.null().id):  # text is no number
            raise ParameterTypeError("a partition must have the types of its frame")
    return table.cast(plan.schema)


def limit_there(table: Any, plan: Plan, secrets: list[Words]) -> Any:
    """Return the rows of whole persons that count, with a bit for each answer, then the coins."""
    rows = _rows(table, plan, plan.wanted)
    limited: Integers = np.zeros(rows.codes.size, np.int64)
    for number, asked in enumerate([*plan.wanted.asked, *[None] * bool(plan.limits.private)]):
        _, codes = counted(rows, asked, plan.limits, secrets[number])
        limited |= (codes >= 0).astype(np.int64) << number
    return table.append_column(LIMITED, pa.array(limited)).filter(pa.array(limited != 0))


def answer_there(table: Any, plan: Plan, secrets: list[Words]) -> Any:
    """Return the answers of all groups of a task that appear, as one text."""
    rows = _rows(table, plan, plan.wanted._replace(person=None))
    if LIMITED in table.column_names:
        rows = rows._replace(limited=np.array(table[LIMITED]))
    if not plan.is_open:
        is_met = np.bincount(rows.codes + 1, minlength=rows.size + 1)[1:] > 0
        places = Labels("listed", 0, "", np.flatnonzero(is_met).tolist())
        rows = rows.of_groups(is_met)._replace(labels=[places])
    checks.arithmetic()
    drawn = draw(rows, plan.wanted.asked, plan.limits, SYSTEM, secrets)
    return pa.table({"cells": [json.dumps(packed(drawn, has_labels=True))]})


def draw_there(source: Any, wanted: Wanted, limits: Limits, secrets: list[Words]) -> Drawn:
    """Return what workers draw, and draws for listed groups that no worker met."""
    cells = None
    with suppress(Exception):  # it may hold data: another one is raised below
        columns = list(source.head(wanted.columns).values())
        head = pa.table(columns, [*map(str, range(len(columns)))])
        plan = Plan(VERSION, head.schema, wanted, limits, bool(wanted.by) and wanted.names is None)
        cells = source.run(plan, secrets)
    if cells is None:
        raise InvalidRecords(WITHHELD)
    parts = [unpacked(json.loads(cell), has_labels=True) for cell in cells]
    rows = _rows(head, plan, wanted._replace(person=None))
    if not plan.is_open:
        rest = set(range(rows.size)).difference(*(part.labels[0].keys for part in parts))
        rows = rows._replace(size=len(rest), labels=[Labels("listed", 0, "", list(rest))])
    checks.arithmetic()  # after foreign code
    parts.append(draw(rows, wanted.asked, limits._replace(private=None), SYSTEM, secrets))
    keys = [[key for part in parts for key in part.labels[i].keys] for i in range(len(rows.labels))]
    groups = list(zip(*keys, strict=True))
    if len(cells) != (source.tasks if wanted.by else 1) or len(set(groups)) < len(groups):
        raise InvalidRecords(LOST)
    order = sorted(range(len(groups)), key=groups.__getitem__)
    matrix = np.concatenate([part.matrix for part in parts])[np.array(order, np.int64)]
    labels = [
        each._replace(keys=[known[i] for i in order])
        for each, known in zip(rows.labels, keys, strict=True)
    ]
    return Drawn(labels if plan.is_open else [], matrix)


def check_workers(source: Any) -> None:
    """Refuse workers without this version, as far as one small job shows them."""
    versions: list[str] = []
    with suppress(Exception):  # another one is raised below
        versions = source.versions()
    if set(versions) != {VERSION}:
        raise ParameterError(WORKERS)


class Spark(Arrow):
    """A DataFrame of Spark."""

    is_remote = True

    def __init__(self, frame: Any) -> None:
        if frame.isStreaming:
            raise ParameterError("frame must not be a stream: each batch would be a release")
        self.frame, self.session = frame, frame.sparkSession
        self.tasks = int(self.session.conf.get("spark.sql.shuffle.partitions"))

    def head(self, names: list[str]) -> dict[str, Any]:
        """Return columns of the same types, without rows."""
        empty = self.session.createDataFrame([], self._chosen(names).schema).toArrow()
        return dict(zip(names, empty.columns, strict=True))

    def versions(self) -> list[str]:
        """Return the versions of the workers that a task for each core meets."""
        cores = self.session.sparkContext.defaultParallelism
        work = self.session.range(0, cores, 1, cores).mapInArrow(_versions, "cells string")
        return work.toArrow()["cells"].to_pylist()  # type: ignore[no-any-return]

    def run(self, plan: Plan, secrets: list[Words]) -> list[str]:
        """Return what each task of the last step gives."""
        from pyspark.sql.pandas.types import from_arrow_schema

        rows = self._chosen(plan.wanted.columns)
        # Spark knows of some frames that they are empty, and would not run a task.
        nothing = self.session.sparkContext.emptyRDD()
        rows = rows.union(self.session.createDataFrame(nothing, rows.schema))
        sent = self.session.sparkContext.broadcast(plan)  # in a file, so without the secrets
        try:
            for step, keys, made in plan.steps:
                rows = rows.dropna(subset=keys).repartition(self.tasks if keys else 1, *keys)
                work = partial(_on_spark, step, sent, secrets)
                rows = rows.mapInArrow(work, from_arrow_schema(made, prefer_timestamp_ntz=True))
            return rows.toArrow()["cells"].to_pylist()  # type: ignore[no-any-return]
        finally:
            sent.destroy()

    def frame_of(self, columns: dict[str, Any]) -> Any:
        """Return a DataFrame of one partition, so that its rows keep their order."""
        from pyspark.sql.pandas.types import from_arrow_schema

        table = super().frame_of(columns)
        kinds = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
        return self.session.createDataFrame(table, kinds).coalesce(1)

    def _chosen(self, names: list[str]) -> Any:
        """Return columns, with numbers as names, as Spark reads dots in names."""
        quoted = ("`{}`".format(name.replace("`", "``")) for name in names)
        return self.frame.select(*quoted).toDF(*map(str, range(len(names))))


class Dask(Pandas):
    """A DataFrame of Dask."""

    is_remote = True

    def __init__(self, frame: Any) -> None:
        from dask.base import get_scheduler

        self.frame, self.tasks = frame, int(frame.npartitions)
        self.client = getattr(get_scheduler(), "__self__", None)  # none, if this process works

    def names(self) -> list[str]:
        """Return the names of the columns: a list of the frame itself would count its rows."""
        return list(self.frame.columns)

    def head(self, names: list[str]) -> dict[str, Any]:
        """Return columns of the same types, without rows."""
        import pandas as pd

        columns = {}
        for name in names:
            kind = self.frame.dtypes[name]
            if str(kind) in ("object", "category"):
                raise ParameterTypeError(
                    f"column {name!r} must have one type in all partitions, got {kind}: use .astype"
                )
            columns[name] = pa.array(pd.Series([], dtype=kind))
        return columns

    def versions(self) -> list[str]:
        """Return the versions of all workers."""
        if self.client is None:
            return [VERSION]
        return list(self.client.run(version, "fastexp").values())

    def run(self, plan: Plan, secrets: list[Words]) -> list[str]:
        """Return what each task of the last step gives."""
        import dask

        # Pickled here, as arrays that Dask sends may not be aligned.
        sent = dask.delayed(pickle.dumps((plan, secrets)), pure=False)
        rows = self.frame[plan.wanted.columns]
        rows.columns = plan.schema.names
        rows = rows.map_partitions(_on_dask, type_there, sent, meta=_meta(plan.schema))
        for step, keys, made in plan.steps:
            if keys:
                rows = rows.dropna(subset=keys)
                rows = rows.shuffle(  # by tasks, if this process works: they write no files
                    keys, npartitions=self.tasks, shuffle_method=None if self.client else "tasks"
                )
            else:
                rows = rows.repartition(npartitions=1)
            rows = rows.map_partitions(_on_dask, step, sent, meta=_meta(made))
        return [cell for part in dask.compute(*rows.to_delayed()) for cell in part["cells"]]

    def frame_of(self, columns: dict[str, Any]) -> Any:
        """Return a DataFrame of one partition, so that its rows keep their order."""
        import dask
        import dask.dataframe as dd

        with dask.config.set({"dataframe.convert-string": False}):  # it makes objects text
            return dd.from_pandas(super().frame_of(columns), npartitions=1, sort=False)


def _versions(batches: Iterable[Any]) -> Iterator[Any]:
    for _ in batches:
        yield pa.record_batch({"cells": [version("fastexp")]})


def _on_spark(step: Step, sent: Any, secrets: list[Words], batches: Iterable[Any]) -> Iterator[Any]:
    yield from _made(step, batches, sent.value, secrets).to_batches(BATCH)


def _on_dask(rows: Any, step: Step, sent: bytes) -> Any:
    plan, secrets = pickle.loads(sent)  # noqa: S301
    return _pandas(_made(step, rows, plan, secrets))


def _made(step: Step, rows: Any, plan: Plan, secrets: list[Words]) -> Any:
    """Return what a step makes; an error is raised again without what it says."""
    made = None
    with suppress(Exception):
        if hasattr(rows, "columns"):
            table = pa.Table.from_pandas(rows, preserve_index=False)
        else:  # Spark may also fail while it gives rows
            rows = list(rows)
            table = pa.Table.from_batches(rows) if rows else plan.schema.empty_table()
        made = step(table, plan, secrets) if plan.version == VERSION else None
    if made is None:
        raise InvalidRecords(WITHHELD)
    return made


def _pandas(table: Any) -> Any:
    """Return a frame of pandas with the same types."""
    import pandas as pd

    return table.to_pandas(types_mapper=pd.ArrowDtype)


def _meta(schema: Any) -> Any:
    return _pandas(schema.empty_table())


def _rows(table: Any, plan: Plan, wanted: Wanted) -> Rows:
    columns = dict(zip(plan.wanted.columns, table.columns, strict=False))  # one more: the limits
    return rows_of(Arrow(None), columns, wanted)
