"""Frames of Dask, whose workers draw: `run` sends them the work, in a graph that nobody keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import dask.base
import dask.config
import dask.dataframe as dd
import dask.optimization
import numpy as np
import pandas as pd
from dask.delayed import delayed

from ..._typing import AnyArray, IntArray
from ...errors import ParameterError
from .frame import Column, ColumnRead, Task, Workers
from .limits import brought
from .pandas import PandasFrame, columns_of


class DaskFrame(Workers):
    """A `Frame` of a DataFrame."""

    room = None
    calls = 64

    def __init__(self, frame: dd.DataFrame) -> None:
        self._frame, self._types = frame, PandasFrame(frame._meta)
        self.names, self.check_answers = self._types.names, self._types.check_answers

    def empty(self, uses: Sequence[ColumnRead]) -> list[pd.Series]:
        for use in uses:
            column = self._frame[use.column]
            if isinstance(column.dtype, pd.CategoricalDtype) and not column.cat.known:
                raise ParameterError(
                    f"{use.column!r} must have known categories: .cat.as_known() finds them"
                )
        return columns_of(self._frame._meta, uses)

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[list[pd.Series]]:
        yield columns_of(brought(self._frame[_names(uses)].compute), uses)

    def run(self, work: Any, uses: Sequence[ColumnRead], tasks: Sequence[Task]) -> list[IntArray]:
        rows = self._frame[_names(uses)]
        concat: Any = dd.concat  # neither function has types
        from_pandas: Any = dd.from_pandas
        sent = delayed(work, pure=False, traverse=False)
        for number, task in enumerate(tasks):
            if len(task.added):
                rows = concat([rows, from_pandas(_integers(task.added), npartitions=1)])
            if task.by is not None:
                rows = rows.shuffle(f"x{task.by}", npartitions=task.calls, **_shuffle())
            meta = _integers([np.zeros(0, kind) for kind in task.kinds])
            chosen = uses if number == 0 else None
            rows = rows.map_partitions(_applied, sent, task, chosen, meta=meta)
        answers: Any = brought(rows.compute)
        return [answers[name].to_numpy() for name in answers]

    def distinct(self, uses: Sequence[ColumnRead]) -> list[pd.Series]:
        keys = self._frame[_names(uses)].drop_duplicates()
        return columns_of(brought(keys.compute), uses)

    def ask(self, question: Callable[[], str]) -> str:
        return str(delayed(question, pure=False)().compute())

    def finished(self, columns: Sequence[Column]) -> dd.DataFrame:
        """Answers as a frame of one partition, so that they keep their order."""
        answers = self._types.finished(columns)
        with dask.config.set({"dataframe.convert-string": False}):  # it makes objects text
            from_pandas: Any = dd.from_pandas  # it has no types
            finished: dd.DataFrame = from_pandas(answers, npartitions=1, sort=False)
        return finished


def _applied(
    rows: pd.DataFrame, work: Any, task: Task, uses: Sequence[ColumnRead] | None
) -> pd.DataFrame:
    """Run a task on a worker, for one partition."""
    columns = [rows[name].to_numpy() for name in rows] if uses is None else columns_of(rows, uses)
    parts = [_integers(part) for part in work.done(task.method, iter([columns]), task.arguments)]
    return pd.concat([_integers([np.zeros(0, kind) for kind in task.kinds]), *parts])


def _integers(columns: Sequence[AnyArray]) -> pd.DataFrame:
    return pd.DataFrame({f"x{i}": column for i, column in enumerate(columns)})


def _shuffle() -> dict[str, Any]:
    """Options of a shuffle; without a cluster it uses no disk and no other process."""
    scheduler_of: Any = dask.base.get_scheduler
    return {} if hasattr(scheduler_of(), "__self__") else {"shuffle_method": "tasks"}


def _names(uses: Sequence[ColumnRead]) -> list[str]:
    return list(dict.fromkeys(use.column for use in uses))
